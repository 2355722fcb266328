//! Responsible for the rows that are worth a look: the widest, the narrowest, the most surprising and the most bimodal.

use negmm::{Law, Row};

use crate::answers::Answers;
use crate::cases::Cases;

/// Rows of each kind.
const EACH: usize = 5;
/// Rows looked at for two peaks: those with the largest share of variance between components.
const CANDIDATES: usize = 200;
/// Steps of the search for peaks.
const STEPS: usize = 256;
/// A dip between two peaks that is shallower than this share of the higher peak is none.
const LEAST_DIP: f64 = 0.05;

/// Why a row is worth a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Widest,
    Narrowest,
    Surprising,
    Bimodal,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Widest, Self::Narrowest, Self::Surprising, Self::Bimodal];

    /// For a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Widest => "Widest",
            Self::Narrowest => "Narrowest",
            Self::Surprising => "Most surprising",
            Self::Bimodal => "Most bimodal",
        }
    }

    /// For a file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Widest => "row-widest",
            Self::Narrowest => "row-narrowest",
            Self::Surprising => "row-surprising",
            Self::Bimodal => "row-bimodal",
        }
    }

    /// What it means.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Widest => "the row the model is least sure about",
            Self::Narrowest => "the row the model is surest about",
            Self::Surprising => "the row whose target is least likely under its prediction, allowing for its spread",
            Self::Bimodal => "the row whose prediction has the deepest dip between two peaks",
        }
    }
}

/// The positions of the rows of each kind, the most notable first. No row has two peaks: that list is empty.
pub fn notable(cases: &Cases, answers: &Answers) -> Vec<(Kind, Vec<usize>)> {
    let top = |count: usize, key: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        // The first of equals comes first.
        order.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then(a.cmp(b)));
        order.truncate(count);
        order
    };
    let rows = &answers.rows;
    let list = |kind: Kind| match kind {
        Kind::Widest => top(EACH, &|at| rows[at].width()),
        Kind::Narrowest => top(EACH, &|at| -rows[at].width()),
        Kind::Surprising => top(EACH, &|at| rows[at].surprise),
        Kind::Bimodal => {
            let candidates = top(CANDIDATES, &|at| rows[at].between);
            let dips = candidates.into_iter().map(|at| (dip(cases.predictions.row(at)), at));
            let mut dips: Vec<(f64, usize)> = dips.filter(|(dip, _)| *dip >= LEAST_DIP).collect();
            dips.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            dips.into_iter().take(EACH).map(|(_, at)| at).collect()
        }
    };
    Kind::ALL.map(|kind| (kind, list(kind))).into()
}

/// The deepest dip of the density between two peaks, measured from the lower peak, as a share of the highest: 0 for one peak.
pub fn dip(row: Row<'_>) -> f64 {
    if matches!(row.law, Law::Samples(_)) {
        return 0.0;
    }
    let (low, high) = (row.quantile(0.001), row.quantile(0.999));
    let step = (high - low) / STEPS as f64;
    let heights: Vec<f64> = (0..=STEPS).map(|at| row.pdf(low + at as f64 * step)).collect();
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // The highest point on each side of every point.
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
    fn a_dip_needs_two_peaks() {
        let weights = vec![0.5, 0.5, 0.5, 0.5, 0.8, 0.2];
        let means = vec![-3.0, 3.0, -0.5, 0.5, -10.0, 10.0];
        let predictions = Predictions::from(Mixtures::new(2, weights, means, vec![1.0; 6]).unwrap());
        assert!(dip(predictions.row(0)) > 0.9);
        assert!(dip(predictions.row(1)) < 1e-9);
        assert!((dip(predictions.row(2)) - 0.25).abs() < 0.01);
    }
}
