//! One item of a query: its columns, and how they are computed from predictions.

use std::borrow::Cow;

use super::columns::{Block, Field, Scale};
use super::parameter::Number;
use crate::conformal::ConformalPredictor;
use crate::model::novelty_is_not_known;
use negmm_dist::mixture::QuantileLevel;
use negmm_dist::{HighestDensityRegion, Interval, Predictions, Result};

/// An item, which is answered by one column or by several that belong together.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Mean,
    Sd,
    Quantile(&'a Number),
    Interval(&'a Number),
    Region(&'a Number),
    Above(&'a Number),
    Below(&'a Number),
    Equal(&'a Number),
    Shortfall(&'a Number),
    VarianceParts,
    VarianceByMembers,
    Novelty,
    Components(usize),
    Draws { draws: usize, seed: u64 },
}

impl Item<'_> {
    /// Its columns.
    pub(super) fn fields(self) -> Vec<Field> {
        let float = |name: &str, source: &'static str| Field::float(name, source);
        match self {
            Self::Mean => vec![float("mean", "the predicted mean").scaled(Scale::Mean)],
            Self::Sd => vec![float("sd", "the predicted sd")],
            Self::Quantile(level) => vec![target(format!("q{}", level.text), format!("quantile {}", level.text))],
            Self::Interval(coverage) => ["lower", "upper"]
                .map(|end| {
                    target(format!("{end}_{}", coverage.text), format!("the {end} end of interval {}", coverage.text))
                })
                .into(),
            Self::Region(coverage) => {
                let (name, source) = (format!("region_{}", coverage.text), format!("region {}", coverage.text));
                let length = Field::float(format!("{name}_length"), format!("the length of {source}"));
                vec![Field::text(name, source), length]
            }
            Self::Above(value) => vec![probability("above", value)],
            Self::Below(value) => vec![probability("below", value)],
            Self::Equal(value) => vec![probability("equal", value)],
            Self::Shortfall(level) => {
                let source = format!("the mean of the lowest {}", level.text);
                vec![target(format!("shortfall_{}", level.text), source)]
            }
            Self::VarianceParts => {
                ["variance_within", "variance_between"].map(|name| float(name, "a part of the variance")).into()
            }
            Self::VarianceByMembers => {
                ["variance_aleatoric", "variance_epistemic"].map(|name| float(name, "a part of the variance")).into()
            }
            Self::Novelty => {
                vec![float("novelty", "the novelty"), Field::text("novelty_input", "the input of the novelty")]
            }
            Self::Components(count) => {
                let part = |part: &'static str| (1..=count).map(move |component| format!("{part}_{component}"));
                let names = ["weight", "mean", "sd"].into_iter().flat_map(part);
                let field = |name: String| match name.starts_with("mean") {
                    true => target(name, "a number of a component"),
                    false => Field::float(name, "a number of a component"),
                };
                names.map(field).collect()
            }
            Self::Draws { draws, .. } => {
                (1..=draws).map(|draw| target(format!("draw_{draw}"), "a random draw")).collect()
            }
        }
    }

    /// The blocks of all columns of `items`, with intervals and regions of a conformal predictor where there is one.
    pub(super) fn blocks<'p>(
        items: &[Self],
        predictions: &'p Predictions,
        first_row: u64,
        conformal: Option<ConformalPredictor<'_>>,
    ) -> Result<Vec<Block<'p>>> {
        let mut blocks = Vec::with_capacity(items.len());
        // All quantiles at once: a GPU may find them.
        let mut quantiles = predictions.quantiles(&levels(items, conformal.is_some())).into_iter();
        // A query asks for both.
        let (mut means, mut sds): (Vec<f64>, Vec<f64>) = predictions.mean_and_sd().into_iter().unzip();
        for item in items {
            blocks.extend(match (item, conformal) {
                (Item::Mean, _) => vec![Block::float(std::mem::take(&mut means))],
                (Item::Sd, _) => vec![Block::float(std::mem::take(&mut sds))],
                (Item::Interval(coverage), Some(conformal)) => {
                    let Interval { lower, upper } = conformal.intervals(predictions, coverage.value)?;
                    vec![Block::float(lower), Block::float(upper)]
                }
                (Item::Region(coverage), Some(conformal)) => {
                    of_regions(&conformal.regions(predictions, coverage.value)?)
                }
                _ => item.computed(predictions, first_row, &mut quantiles)?,
            });
        }
        Ok(blocks)
    }

    /// The blocks of its columns, quantiles taken from those that were found for all items.
    fn computed<'p>(
        &self,
        predictions: &'p Predictions,
        first_row: u64,
        quantiles: &mut impl Iterator<Item = Vec<f64>>,
    ) -> Result<Vec<Block<'p>>> {
        let one = |values: Vec<f64>| vec![Block::float(values)];
        let two = |(first, second): (Vec<f64>, Vec<f64>)| vec![Block::float(first), Block::float(second)];
        Ok(match *self {
            Self::Mean | Self::Sd => Vec::new(),
            Self::Quantile(_) => quantiles.take(1).map(Block::float).collect(),
            Self::Interval(_) => quantiles.take(2).map(Block::float).collect(),
            Self::Region(coverage) => of_regions(&predictions.hdr(coverage.value)?),
            Self::Above(threshold) => one(predictions.above(threshold.value)?),
            Self::Below(threshold) => one(predictions.below(threshold.value)?),
            Self::Equal(value) => one(predictions.point_probability(value.value)?),
            Self::Shortfall(level) => one(predictions.shortfall(level.value)?),
            Self::VarianceParts => two(predictions.variance_parts()),
            Self::VarianceByMembers => two(predictions.variance_by_members()),
            Self::Novelty => {
                let novelty = predictions.novelty().ok_or_else(novelty_is_not_known)?;
                let inputs = novelty.inputs().into_iter().map(|input| Cow::from(input.unwrap_or_default())).collect();
                vec![Block::float(novelty.distances()), Block::Text(inputs)]
            }
            Self::Components(width) => match predictions.mixtures() {
                Some(mixtures) => [mixtures.weights(), mixtures.means(), mixtures.sds()]
                    .map(|values| Block::Float { width, values: Cow::Borrowed(values) })
                    .into(),
                None => Vec::new(),
            },
            Self::Draws { draws, seed } => {
                vec![Block::Float { width: draws, values: predictions.sample(draws, seed, first_row).into() }]
            }
        })
    }
}

/// A column of values of the target.
fn target(name: impl Into<String>, source: impl Into<Cow<'static, str>>) -> Field {
    Field::float(name, source).scaled(Scale::Target)
}

/// The column of a probability at a value.
fn probability(which: &str, value: &Number) -> Field {
    Field::float(format!("p_{which}_{}", value.text), format!("the probability {which} {}", value.text))
}

/// The quantiles that items need, in their order; conformal intervals need none.
fn levels(items: &[Item<'_>], conformal: bool) -> Vec<QuantileLevel> {
    let of = |item: &Item<'_>| match item {
        Item::Quantile(level) => vec![QuantileLevel::Below(level.value)],
        Item::Interval(coverage) if !conformal => QuantileLevel::around(coverage.value).into(),
        _ => Vec::new(),
    };
    items.iter().flat_map(of).collect()
}

/// Regions as text, and their lengths.
fn of_regions<'p>(regions: &[HighestDensityRegion]) -> Vec<Block<'p>> {
    let texts = regions.iter().map(|region| Cow::from(region.to_string())).collect();
    vec![Block::Text(texts), Block::float(regions.iter().map(HighestDensityRegion::length).collect())]
}
