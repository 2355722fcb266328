//! Responsible for the distribution of one row, whichever form it has: the questions that all forms answer.

use crate::math::rng::Rng;
use crate::mixture::{Matched, Mixture, Rounded, Truncated};
use crate::samples::SampleSet;
use crate::support::Support;

/// The predicted distribution of one row: a law on a support.
#[derive(Clone, Copy, Debug)]
pub struct DistributionRef<'a> {
    /// What was predicted. Samples are possible values already; a mixture need not lie on the support, and answers are of what
    /// the support makes of it.
    pub law: DistributionKind<'a>,
    /// The values that the target can take.
    pub support: Support,
}

/// What a prediction is made of.
#[derive(Clone, Copy, Debug)]
pub enum DistributionKind<'a> {
    /// A Gaussian mixture.
    Mixture(Mixture<'a>),
    /// Equally likely samples; for their density that of the normal distribution with the same mean and sd stands in.
    Samples(SampleSet<'a>),
}

/// What the support makes of the law.
enum Form<'a> {
    Mixture(Mixture<'a>),
    Truncated(Truncated<'a>),
    Rounded(Rounded<'a>),
    Samples(SampleSet<'a>),
}

/// The same question to every form; samples may have an answer of their own.
macro_rules! ask {
    ($row:expr, $form:ident => $answer:expr) => {
        ask!($row, $form => $answer, $form => $answer)
    };
    ($row:expr, $form:ident => $answer:expr, $samples:ident => $other:expr) => {
        match $row.form() {
            Form::Mixture($form) => $answer,
            Form::Truncated($form) => $answer,
            Form::Rounded($form) => $answer,
            Form::Samples($samples) => $other,
        }
    };
}

impl<'a> DistributionRef<'a> {
    #[inline]
    fn form(&self) -> Form<'a> {
        match (self.law, self.support.grid()) {
            (DistributionKind::Samples(samples), _) => Form::Samples(samples),
            (DistributionKind::Mixture(mixture), Some(grid)) => Form::Rounded(Rounded { mixture, grid }),
            (DistributionKind::Mixture(mixture), None) if self.support.is_whole_line() => Form::Mixture(mixture),
            (DistributionKind::Mixture(mixture), None) => {
                let (lower, upper) = self.support.bounds();
                Form::Truncated(Truncated::new(mixture, lower, upper))
            }
        }
    }

    /// Mean.
    pub fn mean(&self) -> f64 {
        ask!(self, row => row.mean())
    }

    /// Standard deviation.
    pub fn sd(&self) -> f64 {
        ask!(self, row => row.variance().sqrt(), samples => samples.sd())
    }

    /// Variance.
    pub fn variance(&self) -> f64 {
        ask!(self, row => row.variance())
    }

    /// The part of the variance within the components; all of it for samples.
    pub fn variance_within(&self) -> f64 {
        ask!(self, row => row.variance_within(), samples => samples.variance())
    }

    /// The part of the variance between the components; none of it for samples.
    pub fn variance_between(&self) -> f64 {
        ask!(self, row => row.variance_between(), _samples => 0.0)
    }

    /// The sd of the normal distribution that is most like it; positive also where all samples coincide, or all is one atom.
    pub fn normal_sd(&self) -> f64 {
        ask!(self, row => row.variance().sqrt().max(f64::MIN_POSITIVE), samples => samples.normal_sd())
    }

    /// The value that the target stays below with probability `level`; on a grid the smallest up to which there is so much.
    pub fn quantile(&self, level: f64) -> f64 {
        match self.law {
            DistributionKind::Samples(samples) if self.support.step.is_some() => samples.smallest_up_to(level),
            _ => ask!(self, row => row.quantile(level)),
        }
    }

    /// The value that the target exceeds with probability `level`; on a grid the smallest beyond which there is no more.
    pub fn quantile_above(&self, level: f64) -> f64 {
        match self.law {
            DistributionKind::Samples(samples) if self.support.step.is_some() => samples.smallest_up_to(1.0 - level),
            _ => ask!(self, row => row.quantile_above(level)),
        }
    }

    /// The central interval that holds the target with probability `coverage`; on a grid with at least that.
    pub fn interval(&self, coverage: f64) -> (f64, f64) {
        let outside = 0.5 * (1.0 - coverage);
        (self.quantile(outside), self.quantile_above(outside))
    }

    /// Density at `y` of all but the atoms; on a grid that of the mixture which is rounded.
    pub fn pdf(&self, y: f64) -> f64 {
        ask!(self, row => row.pdf(y))
    }

    /// Logarithm of that density.
    pub fn log_pdf(&self, y: f64) -> f64 {
        ask!(self, row => row.log_pdf(y))
    }

    /// Probability of exactly `y`: positive on a grid, at an atom and where a sample is.
    pub fn mass(&self, y: f64) -> f64 {
        ask!(self, row => row.mass(y), samples => samples.mass(self.meant(y)))
    }

    /// Logarithm of the likelihood of `y`: of its probability on a grid and at an atom, elsewhere of its density. For samples
    /// the normal distribution with their mean and sd stands in.
    pub fn log_likelihood(&self, y: f64) -> f64 {
        match self.form() {
            Form::Mixture(mixture) => mixture.log_likelihood(y),
            Form::Truncated(truncated) => truncated.log_likelihood(y),
            Form::Samples(samples) if self.support.step.is_none() => samples.log_pdf(y),
            _ if self.support.contains(y) => self.log_mass(y, 0.0),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Logarithmic score of `y`: minus the logarithm of its likelihood; on a grid that of the mixture which is rounded, so that
    /// it is a density's there too. The score of a grid is minus [`DistributionRef::log_mass`].
    pub fn nll(&self, y: f64) -> f64 {
        match self.law {
            DistributionKind::Mixture(mixture) if self.support.step.is_some() => -mixture.log_likelihood(y),
            DistributionKind::Mixture(_) => -self.log_likelihood(y),
            DistributionKind::Samples(samples) => -samples.log_pdf(y),
        }
    }

    /// Logarithmic score of a target that is known to lie between two ends: that of its value where both are the same, else minus
    /// [`DistributionRef::log_between`].
    pub fn known_nll(&self, lower: f64, upper: f64) -> f64 {
        if lower == upper { self.nll(lower) } else { -self.log_between(lower, upper) }
    }

    /// Logarithm of the probability of a target within `step` / 2 of `y`, or, where the support is a grid, of the value that is
    /// nearest to `y`. For samples that of the normal distribution with their mean and sd.
    pub fn log_mass(&self, y: f64, step: f64) -> f64 {
        match self.form() {
            Form::Mixture(mixture) => mixture.log_mass(y, step),
            Form::Truncated(truncated) => truncated.log_mass(y, step),
            Form::Rounded(rounded) => rounded.log_mass(y),
            Form::Samples(samples) => match self.support.grid() {
                Some(grid) => samples.log_between(grid.ends(grid.cell(y))),
                None => samples.log_mass(y, step),
            },
        }
    }

    /// Logarithm of the probability of a target above `low` and up to `high`, each of which may be infinite. For samples that of the
    /// normal distribution with their mean and sd.
    pub fn log_between(&self, low: f64, high: f64) -> f64 {
        match (self.form(), self.support.grid()) {
            (Form::Mixture(mixture), _) => mixture.log_between((low, high)),
            (Form::Truncated(truncated), _) => truncated.log_between(low, high),
            (Form::Rounded(rounded), _) => rounded.log_between(low, high),
            (Form::Samples(samples), Some(grid)) => samples.log_between(grid.edges_between(low, high)),
            (Form::Samples(samples), None) => samples.log_between((low, high)),
        }
    }

    /// Probability of a target up to `y`.
    pub fn cdf(&self, y: f64) -> f64 {
        ask!(self, row => row.cdf(y), samples => samples.cdf(self.meant(y)))
    }

    /// Probability of a target above `y`.
    pub fn survival(&self, y: f64) -> f64 {
        ask!(self, row => row.survival(y), samples => samples.survival(self.meant(y)))
    }

    /// Probability integral transform of `y`: the probability of a target up to it. Where `y` itself has a probability, on a grid
    /// or at an atom, half of that counts, so that the histogram is as fair as that of a density.
    pub fn pit(&self, y: f64) -> f64 {
        let jumps = matches!(self.law, DistributionKind::Mixture(_)) || self.support.step.is_some();
        let mass = if jumps { self.mass(y) } else { 0.0 };
        if mass > 0.0 { (self.cdf(y) - 0.5 * mass).max(0.0) } else { self.cdf(y) }
    }

    /// Mean of the lowest `level` share of targets; of all at 1.
    pub fn shortfall_below(&self, level: f64) -> f64 {
        if level >= 1.0 { self.mean() } else { ask!(self, row => row.shortfall_below(level)) }
    }

    /// Mean of the highest `level` share of targets.
    pub fn shortfall_above(&self, level: f64) -> f64 {
        if level >= 1.0 { self.mean() } else { ask!(self, row => row.shortfall_above(level)) }
    }

    /// Energy score of observing `y`.
    pub fn energy_score(&self, y: f64) -> f64 {
        ask!(self, row => row.energy_score(y))
    }

    /// A random target.
    pub fn sample(&self, rng: &mut Rng) -> f64 {
        ask!(self, row => row.sample(rng))
    }

    /// As many random targets as there is room for.
    pub fn fill(&self, draws: &mut [f64], rng: &mut Rng) {
        ask!(self, row => draws.iter_mut().for_each(|draw| *draw = row.sample(rng)));
    }

    /// Logarithm of the probability that the law gives to the support, where the answers are of that part of it.
    pub(crate) fn log_inside(&self) -> f64 {
        if let Form::Truncated(truncated) = self.form() { truncated.log_inside } else { 0.0 }
    }

    /// The value of the grid that is meant by a `y` which is one but for rounding.
    fn meant(&self, y: f64) -> f64 {
        if self.support.step.is_some() && self.support.contains(y) { self.support.nearest(y) } else { y }
    }
}
