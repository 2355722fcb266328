//! Responsible for the distribution of one row, whichever form it has: the questions that all forms answer.

use crate::math::rng::Rng;
use crate::mixture::Mixture;
use crate::samples::SampleSet;

/// The predicted distribution of one row.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// A Gaussian mixture.
    Mixture(Mixture<'a>),
    /// Equally likely samples; for their density that of the normal distribution with the same mean and sd stands in.
    Samples(SampleSet<'a>),
}

/// The same question to either form.
macro_rules! ask {
    ($row:expr, $form:ident => $answer:expr) => {
        match $row {
            Row::Mixture($form) => $answer,
            Row::Samples($form) => $answer,
        }
    };
}

impl Row<'_> {
    /// Mean.
    pub fn mean(&self) -> f64 {
        ask!(self, row => row.mean())
    }

    /// Standard deviation.
    pub fn sd(&self) -> f64 {
        ask!(self, row => row.sd())
    }

    /// Variance.
    pub fn variance(&self) -> f64 {
        ask!(self, row => row.variance())
    }

    /// The part of the variance within the components; all of it for samples.
    pub fn variance_within(&self) -> f64 {
        match self {
            Self::Mixture(mixture) => mixture.variance_within(),
            Self::Samples(samples) => samples.variance(),
        }
    }

    /// The part of the variance between the components; none of it for samples.
    pub fn variance_between(&self) -> f64 {
        match self {
            Self::Mixture(mixture) => mixture.variance_between(),
            Self::Samples(_) => 0.0,
        }
    }

    /// The sd of the normal distribution that is most like it; positive also where all samples coincide, or all is one atom.
    pub fn normal_sd(&self) -> f64 {
        match self {
            Self::Mixture(mixture) => mixture.sd().max(f64::MIN_POSITIVE),
            Self::Samples(samples) => samples.normal_sd(),
        }
    }

    /// The value that the target stays below with probability `level`.
    pub fn quantile(&self, level: f64) -> f64 {
        ask!(self, row => row.quantile(level))
    }

    /// The value that the target exceeds with probability `level`.
    pub fn quantile_above(&self, level: f64) -> f64 {
        ask!(self, row => row.quantile_above(level))
    }

    /// The central interval that holds the target with probability `coverage`.
    pub fn interval(&self, coverage: f64) -> (f64, f64) {
        ask!(self, row => row.interval(coverage))
    }

    /// Density at `y`.
    pub fn pdf(&self, y: f64) -> f64 {
        ask!(self, row => row.pdf(y))
    }

    /// Logarithm of the density at `y`.
    pub fn log_pdf(&self, y: f64) -> f64 {
        ask!(self, row => row.log_pdf(y))
    }

    /// Logarithm of the probability of a target within `step` / 2 of `y`; for samples that of the normal distribution with
    /// their mean and sd.
    pub fn log_mass(&self, y: f64, step: f64) -> f64 {
        ask!(self, row => row.log_mass(y, step))
    }

    /// Probability of a target up to `y`.
    pub fn cdf(&self, y: f64) -> f64 {
        ask!(self, row => row.cdf(y))
    }

    /// Probability of a target above `y`.
    pub fn survival(&self, y: f64) -> f64 {
        ask!(self, row => row.survival(y))
    }

    /// Mean of the lowest `level` share of targets.
    pub fn shortfall_below(&self, level: f64) -> f64 {
        ask!(self, row => row.shortfall_below(level))
    }

    /// Mean of the highest `level` share of targets.
    pub fn shortfall_above(&self, level: f64) -> f64 {
        ask!(self, row => row.shortfall_above(level))
    }

    /// Energy score of observing `y`.
    pub fn energy_score(&self, y: f64) -> f64 {
        ask!(self, row => row.energy_score(y))
    }

    /// A random target.
    pub fn sample(&self, rng: &mut Rng) -> f64 {
        ask!(self, row => row.sample(rng))
    }
}
