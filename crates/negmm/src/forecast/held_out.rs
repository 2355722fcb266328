//! Held-out forecasts: the stacking weight of the networks against the baseline of recent changes, and the copula.

use super::baseline::Baseline;
use super::copula::{Copula, Products, score};
use super::local_scale::Frame;
use super::{ForecastPoint, SeriesTransform};
use crate::method::Stacking;
use negmm_dist::Distribution;
use negmm_dist::Mixtures;

/// Held-out forecast points with their folds.
pub(super) struct Held {
    pub(super) places: Vec<ForecastPoint>,
    pub(super) frames: Vec<Frame>,
    pub(super) changes: Vec<f64>,
    pub(super) folds: Vec<u32>,
}

impl Held {
    /// For each point the distribution of the changes in the other folds.
    pub(super) fn by_law(&self, recipe: &SeriesTransform) -> Mixtures {
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let laws: Vec<Mixtures> = (0..folds)
            .map(|fold| {
                let others = self.changes.iter().zip(&self.folds).filter(|(_, other)| **other != fold);
                Baseline::recent(recipe, &others.map(|(change, _)| *change).collect::<Vec<_>>()).law()
            })
            .collect();
        Mixtures::concatenate_rows(self.folds.iter().map(|fold| laws[*fold as usize].clone()).collect())
    }

    /// The stacking weight of the networks, and the pooled out-of-fold distributions with the weights fitted on the
    /// other folds.
    pub(super) fn pooled(&self, networks: Mixtures, law: Mixtures) -> (f64, Mixtures) {
        let likelihoods = [&networks, &law].map(|mixtures| {
            let row = |(row, change): (usize, &f64)| mixtures.row(row).log_pdf(*change);
            self.changes.iter().enumerate().map(row).collect::<Vec<f64>>()
        });
        let stacking = Stacking::new(&likelihoods, &self.folds, &vec![1.0; self.folds.len()]);
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let without: Vec<Vec<f64>> = (0..folds).map(|fold| stacking.shares_without(fold)).collect();
        let order: Vec<usize> = (0..self.folds.len()).collect();
        let parts = [networks, law]
            .into_iter()
            .enumerate()
            .map(|(part, mixtures)| mixtures.take(&order, |row| (without[self.folds[row] as usize][part], 1.0)));
        (stacking.shares()[0], Mixtures::concatenate_components(&parts.collect::<Vec<_>>()))
    }

    /// The copula between steps ahead of the same origin.
    pub(super) fn copula(&self, pooled: &Mixtures) -> Copula {
        let mut products = Products::default();
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_unstable_by_key(|at| (self.places[*at].series, self.places[*at].origin, self.places[*at].ahead));
        for origin in order.chunk_by(|a, b| {
            (self.places[*a].series, self.places[*a].origin) == (self.places[*b].series, self.places[*b].origin)
        }) {
            let scores =
                origin.iter().map(|at| (self.places[*at].ahead, score(pooled.row(*at).cdf(self.changes[*at]))));
            products.add(&scores.collect::<Vec<_>>());
        }
        Copula::nearest(&products)
    }
}
