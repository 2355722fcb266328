//! Held-out forecasts: the stacking weight of the networks against the baseline of recent changes, and the copula.

use super::baseline::Baseline;
use super::copula::{Copula, Products, score};
use super::local_scale::LocationScale;
use super::stacking::Stacking;
use super::{ForecastPoint, SeriesTransform};
use negmm_dist::Distribution;
use negmm_dist::Mixtures;

/// Held-out forecast points with their folds.
pub(super) struct HeldOutPoints {
    pub(super) points: Vec<ForecastPoint>,
    pub(super) scaling: Vec<LocationScale>,
    pub(super) changes: Vec<f64>,
    pub(super) folds: Vec<u32>,
}

impl HeldOutPoints {
    /// For each point the distribution of the changes in the other folds.
    pub(super) fn recent_changes(&self, transform: &SeriesTransform) -> Mixtures {
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let by_fold: Vec<Mixtures> = (0..folds)
            .map(|fold| {
                let others = self.changes.iter().zip(&self.folds).filter(|(_, other)| **other != fold);
                Baseline::recent(transform, &others.map(|(change, _)| *change).collect::<Vec<_>>()).error_distribution()
            })
            .collect();
        Mixtures::concatenate_rows(self.folds.iter().map(|fold| by_fold[*fold as usize].clone()).collect())
    }

    /// The stacking weight of the networks, and the pooled out-of-fold distributions with the weights fitted on the
    /// other folds.
    pub(super) fn pooled(&self, networks: Mixtures, recent: Mixtures) -> (f64, Mixtures) {
        let likelihoods = [&networks, &recent].map(|mixtures| {
            let row = |(row, change): (usize, &f64)| mixtures.row(row).log_pdf(*change);
            self.changes.iter().enumerate().map(row).collect::<Vec<f64>>()
        });
        let stacking = Stacking::new(&likelihoods, &self.folds, &vec![1.0; self.folds.len()]);
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let without: Vec<Vec<f64>> = (0..folds).map(|fold| stacking.weights_without(fold)).collect();
        let order: Vec<usize> = (0..self.folds.len()).collect();
        let parts = [networks, recent]
            .into_iter()
            .enumerate()
            .map(|(part, mixtures)| mixtures.take(&order, |row| (without[self.folds[row] as usize][part], 1.0)));
        (stacking.weights()[0], Mixtures::concatenate_components(&parts.collect::<Vec<_>>()))
    }

    /// The copula between steps ahead of the same origin.
    pub(super) fn copula(&self, pooled: &Mixtures) -> Copula {
        let mut products = Products::default();
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_unstable_by_key(|at| (self.points[*at].series, self.points[*at].origin, self.points[*at].ahead));
        for origin in order.chunk_by(|a, b| {
            (self.points[*a].series, self.points[*a].origin) == (self.points[*b].series, self.points[*b].origin)
        }) {
            let scores =
                origin.iter().map(|at| (self.points[*at].ahead, score(pooled.row(*at).cdf(self.changes[*at]))));
            products.add(&scores.collect::<Vec<_>>());
        }
        Copula::nearest(&products)
    }
}
