//! The scores that comparisons report, and their summary over splits.

use super::Scores;

/// A score of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Root mean squared error of the mean.
    Rmse,
    /// Logarithmic score.
    Nll,
    /// Logarithmic score of the probability within half a step, for a discrete target.
    MassNll,
    /// Energy score.
    Crps,
    /// Integrated Brier score, where targets may be censored.
    IntegratedBrier,
    /// Concordance index of the medians, where targets may be censored.
    Concordance,
    /// Energy score of several targets, each divided by its sd in training.
    Energy,
    /// Variogram score of several targets, of order 0.5.
    Variogram,
    /// CRPS of the sum of several standardised targets.
    CrpsOfSum,
    /// Empirical coverage of the 90 % highest-density region of several targets.
    RegionCoverage,
    /// Empirical coverage of the central 95 % interval.
    Coverage,
    /// Mean width of the 95 % interval.
    Width,
    /// Seconds of one fit, on one core while others run.
    Seconds,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Energy,
        Self::Rmse,
        Self::Nll,
        Self::MassNll,
        Self::Crps,
        Self::IntegratedBrier,
        Self::Concordance,
        Self::Variogram,
        Self::CrpsOfSum,
        Self::RegionCoverage,
        Self::Coverage,
        Self::Width,
        Self::Seconds,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rmse => "rmse",
            Self::Nll => "nll",
            Self::MassNll => "mass_nll",
            Self::Crps => "crps",
            Self::IntegratedBrier => "integrated_brier",
            Self::Concordance => "concordance",
            Self::Energy => "energy",
            Self::Variogram => "variogram",
            Self::CrpsOfSum => "crps_of_sum",
            Self::RegionCoverage => "region_coverage",
            Self::Coverage => "picp",
            Self::Width => "mpiw",
            Self::Seconds => "seconds",
        }
    }

    /// Whether less is better; coverage and width are to be read together, and of concordance more is better.
    pub fn less_is_better(self) -> bool {
        !matches!(self, Self::Coverage | Self::RegionCoverage | Self::Width | Self::Concordance)
    }

    /// Whether these scores have it; a censored target has only scores over all rows.
    pub(super) fn is_of(self, scores: &Scores) -> bool {
        let Scores::OneTarget(metrics) = scores else {
            return matches!(
                self,
                Self::Energy | Self::Nll | Self::Variogram | Self::CrpsOfSum | Self::RegionCoverage | Self::Seconds
            );
        };
        let censored = metrics.censored.as_ref();
        match self {
            Self::Nll | Self::Seconds => true,
            Self::MassNll => metrics.mass_nll.is_some(),
            Self::IntegratedBrier => censored.is_some_and(|censored| censored.integrated_brier.is_some()),
            Self::Concordance => censored.is_some_and(|censored| censored.concordance.is_some()),
            Self::Rmse | Self::Crps | Self::Coverage | Self::Width => censored.is_none(),
            Self::Energy | Self::Variogram | Self::CrpsOfSum | Self::RegionCoverage => false,
        }
    }
}

/// Mean and spread over splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation (divided by n - 1; 0 for one split).
    pub sd: f64,
    /// Standard error: sd / sqrt(n). Splits overlap, so it is a little too small.
    pub se: f64,
    /// Splits.
    pub repeats: usize,
}

impl Summary {
    /// Of these numbers.
    pub fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
        let sd = (squares / (count - 1.0).max(1.0)).sqrt();
        Self { mean, sd, se: sd / count.sqrt(), repeats: numbers.len() }
    }
}
