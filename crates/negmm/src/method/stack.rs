//! The predictions of a stack: those of its parts, pooled row by row with their weights.
//!
//! Parts predict all rows at once: a forest reads its trees once for many rows. They are pooled in ranges of rows, so that
//! whoever needs a few numbers of each row never has all distributions in memory.

use std::ops::Range;

use super::predictor::{Part, Predictor};
use super::tails::{Tail, with_tails};
use super::tilt::Tilt;
use super::truncated_pool::pool_of_truncated;
use crate::accelerator::Accelerator;
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::Isa;
use negmm_dist::mixture::Mixtures;
use negmm_dist::predictive::Predictions;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;

/// What the parts of a stack predict, not yet pooled.
pub(super) struct StackedParts<'a> {
    parts: Vec<Stacked<'a>>,
    /// The components of each member.
    sizes: Vec<usize>,
    tilt: Option<&'a Tilt>,
    tails: &'a [Tail],
    bounds: Option<[f64; 2]>,
}

/// The predictions of one part.
struct Stacked<'a> {
    /// Its stacking weight.
    weight: f64,
    components: Components<'a>,
}

enum Components<'a> {
    Own(Mixtures),
    /// The weights of a forest, rows × components; all rows have the same components.
    Shared {
        weights: Vec<f64>,
        components: &'a [[f64; 2]],
    },
}

impl Components<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Own(mixtures) => mixtures.components(),
            Self::Shared { components, .. } => components.len(),
        }
    }

    /// Appends weights times `factor`, means and sds of a row.
    fn extend(&self, row: usize, factor: f64, [weights, means, sds]: [&mut Vec<f64>; 3]) {
        match self {
            Self::Own(mixtures) => {
                let own = mixtures.row(row);
                weights.extend(own.weights.iter().map(|weight| weight * factor));
                means.extend_from_slice(own.means);
                sds.extend_from_slice(own.sds);
            }
            Self::Shared { weights: all, components } => {
                let own = &all[row * components.len()..][..components.len()];
                weights.extend(own.iter().map(|weight| weight * factor));
                means.extend(components.iter().map(|component| component[0]));
                sds.extend(components.iter().map(|component| component[1]));
            }
        }
    }
}

impl<'a> StackedParts<'a> {
    /// The predictions of all parts of a stack; `None` of another predictor.
    pub(super) fn of(
        predictor: &'a Predictor,
        accelerator: Option<&dyn Accelerator>,
        data: &Dataset,
        isa: Isa,
    ) -> Result<Option<Self>> {
        let Predictor::Stack { parts, tilt, tails, bounds } = predictor else { return Ok(None) };
        let (mut stacked, mut sizes) = (Vec::with_capacity(parts.len()), Vec::new());
        for Part { weight, predictor, .. } in parts {
            let components = match predictor {
                Predictor::Forest { forest, statistics } => Components::Shared {
                    weights: forest.predict(statistics.of_rows(data)?.as_ref())?,
                    components: &forest.components,
                },
                _ => {
                    let predictions = predictor.predict_on(accelerator, data, isa)?;
                    let own = predictions.into_mixtures().ok_or_else(|| Error::model("a stack predicts mixtures"))?;
                    Components::Own(own)
                }
            };
            sizes.extend(vec![components.len() / predictor.members(); predictor.members()]);
            stacked.push(Stacked { weight: *weight, components });
        }
        Ok(Some(Self { parts: stacked, sizes, tilt: tilt.as_ref(), tails, bounds: *bounds }))
    }

    /// The pool of some rows.
    pub(super) fn pooled(&self, rows: Range<usize>) -> Standardised {
        let own: usize = self.sizes.iter().sum();
        let room = || Vec::with_capacity(rows.len() * own);
        let (mut weights, mut means, mut sds) = (room(), room(), room());
        for row in rows {
            for part in &self.parts {
                part.components.extend(row, part.weight, [&mut weights, &mut means, &mut sds]);
            }
        }
        let mut pooled = Mixtures::from_parts_unchecked(own, weights, means, sds);
        let mut sizes = self.sizes.clone();
        if let Some(bounds) = self.bounds {
            pooled = pool_of_truncated(pooled, &sizes, bounds);
        }
        if let Some(tilt) = self.tilt {
            pooled = Tilt::applied(&pooled, &sizes, |_| Some(tilt));
            sizes.iter_mut().for_each(|size| *size *= 2);
        }
        sizes.extend(vec![1; self.tails.len()]);
        let pooled = with_tails(pooled, self.tails.len(), |_| self.tails);
        Standardised::new(Predictions::from(pooled).of_members_of(sizes), Pool::Mixture)
    }
}
