//! Rows of interest: the widest, narrowest, most surprising and most bimodal predictions.

use negmm::Distribution;
use negmm::{DistributionKind, DistributionRef};

use crate::diagnostics::Diagnostics;
use crate::evaluation_set::EvaluationSet;

/// Rows of each highlight.
const ROWS: usize = 5;
/// Rows searched for two modes: those with the largest fraction of variance between components.
const CANDIDATES: usize = 200;
/// Grid intervals of the search for modes.
const STEPS: usize = 256;
/// The smallest dip between two modes that counts, as a fraction of the higher mode.
const MIN_DIP: f64 = 0.05;

/// Why a row is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    Widest,
    Narrowest,
    Surprising,
    Bimodal,
}

impl Highlight {
    pub const ALL: [Self; 4] = [Self::Widest, Self::Narrowest, Self::Surprising, Self::Bimodal];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Widest => "Widest",
            Self::Narrowest => "Narrowest",
            Self::Surprising => "Most surprising",
            Self::Bimodal => "Most bimodal",
        }
    }

    /// The name of its plot.
    pub fn name(self) -> &'static str {
        match self {
            Self::Widest => "row-widest",
            Self::Narrowest => "row-narrowest",
            Self::Surprising => "row-surprising",
            Self::Bimodal => "row-bimodal",
        }
    }

    /// Its meaning, for a caption.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Widest => "the prediction with the widest 90 % interval",
            Self::Narrowest => "the prediction with the narrowest 90 % interval",
            Self::Surprising => "the target that is least likely under its prediction, relative to the sd",
            Self::Bimodal => "the prediction with the deepest dip between two modes",
        }
    }
}

/// The positions of the rows of each highlight, the most extreme first. The list of bimodal rows may be empty.
pub fn highlights(evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Vec<(Highlight, Vec<usize>)> {
    let top = |count: usize, key: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..evaluation.len()).collect();
        // Ties in the order of rows.
        order.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then(a.cmp(b)));
        order.truncate(count);
        order
    };
    let rows = &diagnostics.rows;
    let list = |highlight: Highlight| match highlight {
        Highlight::Widest => top(ROWS, &|at| rows[at].width()),
        Highlight::Narrowest => top(ROWS, &|at| -rows[at].width()),
        Highlight::Surprising => top(ROWS, &|at| rows[at].surprise),
        Highlight::Bimodal => {
            let candidates = top(CANDIDATES, &|at| rows[at].between);
            let dips = candidates.into_iter().map(|at| (dip(evaluation.predictions.row(at)), at));
            let mut dips: Vec<(f64, usize)> = dips.filter(|(dip, _)| *dip >= MIN_DIP).collect();
            dips.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            dips.into_iter().take(ROWS).map(|(_, at)| at).collect()
        }
    };
    Highlight::ALL.map(|highlight| (highlight, list(highlight))).into()
}

/// The deepest dip of the density between two modes, measured from the lower one, as a fraction of the highest: 0 for one mode.
pub fn dip(row: DistributionRef<'_>) -> f64 {
    // Samples have no density, and that of quantiles jumps.
    if matches!(row.kind, DistributionKind::Samples(_) | DistributionKind::Quantiles(_)) {
        return 0.0;
    }
    let (low, high) = (row.quantile(0.001), row.quantile(0.999));
    let step = (high - low) / STEPS as f64;
    let heights: Vec<f64> = (0..=STEPS).map(|at| row.pdf(low + at as f64 * step)).collect();
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // Running maxima from both sides.
    let mut left = heights.clone();
    (1..left.len()).for_each(|at| left[at] = left[at].max(left[at - 1]));
    let mut right = heights.clone();
    (0..right.len() - 1).rev().for_each(|at| right[at] = right[at].max(right[at + 1]));
    let dips = heights.iter().zip(left.iter().zip(&right)).map(|(here, (left, right))| left.min(*right) - here);
    dips.fold(0.0, f64::max) / highest
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Predictions};

    #[test]
    fn a_dip_needs_two_modes() {
        let weights = vec![0.5, 0.5, 0.5, 0.5, 0.8, 0.2];
        let means = vec![-3.0, 3.0, -0.5, 0.5, -10.0, 10.0];
        let predictions = Predictions::from(Mixtures::new(2, weights, means, vec![1.0; 6]).unwrap());
        assert!(dip(predictions.row(0)) > 0.9);
        assert!(dip(predictions.row(1)) < 1e-9);
        assert!((dip(predictions.row(2)) - 0.25).abs() < 0.01);
    }
}
