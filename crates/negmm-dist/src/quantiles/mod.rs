//! Predictions that are quantiles or histograms: a piecewise linear cdf for each row, with normal tails beyond the outer levels.
//!
//! Between two given quantiles the cdf is linear, so the density is constant there. Where levels 0 and 1 are not given, the tail
//! beyond the lowest (highest) level is that of the normal distribution through the two lowest (highest) quantiles: with
//! z = Φ⁻¹(level),
//!
//! ```text
//! sd = (q1 - q0) / (z1 - z0),   mean = q0 - sd z0,   cdf(y) = Φ((y - mean) / sd)   for y < q0
//! ```
//!
//! Quantiles of a normal distribution thus have exactly its tails, and the tail mass is the outer level. Equal quantiles are an
//! atom: a point mass of the difference of their levels. A tail whose two quantiles are equal, or a single level, is a point mass
//! at the outer quantile. A histogram is the same with levels that begin at 0 and end at 1.
//!
//! ```
//! use negmm_dist::quantiles::QuantileSets;
//! use negmm_dist::{Distribution, Metrics, Predictions};
//!
//! let levels = vec![0.05, 0.25, 0.5, 0.75, 0.95];
//! let sets = QuantileSets::new(levels, vec![-1.6, -0.7, 0.0, 0.7, 1.6])?;
//! assert_eq!(sets.row(0).quantile(0.25), -0.7);
//! assert!((sets.row(0).cdf(0.35) - 0.625).abs() < 1e-15);
//! let metrics = Metrics::of(&Predictions::from(sets), &[0.3])?;
//! assert!(metrics.crps > 0.0);
//! # Ok::<(), negmm_dist::Error>(())
//! ```

mod density;
mod quantile_set;

use std::sync::Arc;

use crate::math::normal;
use crate::{Error, Result, Support};
pub use quantile_set::QuantileSet;

/// A piecewise linear cdf for each row: quantiles at given levels, or histograms.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantileSets {
    knots: usize,
    levels: Levels,
    /// Quantiles, rows × knots; those of a row in ascending order.
    values: Vec<f64>,
    tails: [Tail; 2],
    crossing: usize,
}

/// Levels of the knots.
#[derive(Clone, Debug, PartialEq)]
enum Levels {
    /// The same for all rows.
    Shared(Arc<[f64]>),
    /// Rows × knots.
    Own(Vec<f64>),
}

/// What depends on the levels alone of a normal tail, in standard units, seen from its own side: the upper tail is mirrored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tail {
    /// Its probability.
    pub mass: f64,
    /// z = Φ⁻¹(mass), and the distance to the z of the next level.
    pub z: f64,
    pub gap: f64,
    /// ∫ Φ² up to z.
    pub energy: f64,
}

impl Tail {
    /// No tail: the outer level is 0 or 1.
    pub const NONE: Self = Self { mass: 0.0, z: f64::NEG_INFINITY, gap: f64::INFINITY, energy: 0.0 };

    fn new(outer: f64, next: Option<f64>) -> Self {
        if outer <= 0.0 {
            return Self::NONE;
        }
        let z = normal::quantile(outer);
        let gap = next.map_or(f64::INFINITY, |next| normal::quantile(next) - z);
        Self { mass: outer, z, gap, energy: squared_cdf_integral(z) }
    }

    /// The sd of the tail, from the distance of the two outer quantiles; 0: all its mass is at the outer quantile.
    pub fn sd(&self, distance: f64) -> f64 {
        if self.mass > 0.0 { distance / self.gap } else { 0.0 }
    }
}

/// ∫ Φ(t)² dt up to `z`: z Φ² + 2 φ Φ - Φ(z √2) / √π.
pub(crate) fn squared_cdf_integral(z: f64) -> f64 {
    if z == f64::NEG_INFINITY {
        return 0.0;
    }
    let cdf = normal::cdf(z);
    let value = z * cdf * cdf + 2.0 * normal::pdf(z) * cdf
        - normal::cdf(z * std::f64::consts::SQRT_2) / std::f64::consts::PI.sqrt();
    value.max(0.0)
}

impl QuantileSets {
    /// Quantiles at `levels`, which increase within [0, 1]: `values` is rows × levels. Quantiles of a row that are not in order
    /// (crossing quantiles) are rearranged: sorted, which never makes the quantile score worse (Chernozhukov, Fernández-Val and
    /// Galichon, 2010); [`QuantileSets::crossing`] counts such rows.
    ///
    /// # Errors
    /// When there is no level, the levels do not increase within [0, 1], there is not one value for each row and level, or a value
    /// is not finite.
    pub fn new(levels: Vec<f64>, mut values: Vec<f64>) -> Result<Self> {
        check_levels(&levels)?;
        let knots = levels.len();
        if !values.len().is_multiple_of(knots) {
            return Err(Error::data(format!("expected {knots} quantiles for each row, found {} values", values.len())));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, level) = (at / knots, levels[at % knots]);
            let message = format!("expected a quantile of level {level} that is finite, found {}", values[at]);
            return Err(Error::data(message).at_row(row as u64));
        }
        let mut crossing = 0;
        for row in values.chunks_exact_mut(knots) {
            if !row.is_sorted() {
                crossing += 1;
                row.sort_unstable_by(f64::total_cmp);
            }
        }
        let last = knots - 1;
        let next = |at: usize| (knots > 1).then(|| levels[at]);
        let lower = Tail::new(levels[0], next(1.min(last)));
        let upper = Tail::new(1.0 - levels[last], next(last.saturating_sub(1)).map(|level| 1.0 - level));
        Ok(Self { knots, levels: Levels::Shared(levels.into()), values, tails: [lower, upper], crossing })
    }

    /// Histograms: `edges` increase, and `probabilities` is rows × bins, divided by the sum of each row.
    ///
    /// # Errors
    /// When there is no bin, the edges do not increase or are not finite, or a row's probabilities are negative, not finite or all 0.
    pub fn of_histograms(edges: &[f64], probabilities: &[f64]) -> Result<Self> {
        if edges.len() < 2 || !edges.is_sorted_by(|a, b| a < b) || edges.iter().any(|edge| !edge.is_finite()) {
            return Err(Error::data("expected at least 2 finite edges of bins in ascending order"));
        }
        let (knots, bins) = (edges.len(), edges.len() - 1);
        if !probabilities.len().is_multiple_of(bins) {
            let found = probabilities.len();
            return Err(Error::data(format!("expected {bins} probabilities for each row, found {found} values")));
        }
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        for (row, bins) in probabilities.chunks_exact(bins).enumerate() {
            let total: f64 = bins.iter().sum();
            if bins.iter().any(|part| !(part.is_finite() && *part >= 0.0)) || !(total > 0.0 && total.is_finite()) {
                let message = "expected probabilities of bins that are at least 0 and not all 0";
                return Err(Error::data(message).at_row(row as u64));
            }
            let mut sum = 0.0;
            levels.push(0.0);
            levels.extend(bins.iter().map(|part| {
                sum += part;
                (sum / total).min(1.0)
            }));
            if let Some(last) = levels.last_mut() {
                *last = 1.0;
            }
            values.extend_from_slice(edges);
        }
        Ok(Self { knots, levels: Levels::Own(levels), values, tails: [Tail::NONE; 2], crossing: 0 })
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.knots
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Quantiles of each row.
    pub fn knots(&self) -> usize {
        self.knots
    }

    /// The levels, if they are the same for all rows.
    pub fn levels(&self) -> Option<&[f64]> {
        match &self.levels {
            Levels::Shared(levels) => Some(levels),
            Levels::Own(_) => None,
        }
    }

    /// Quantiles, rows × knots, in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many rows had crossing quantiles, which were rearranged.
    pub fn crossing(&self) -> usize {
        self.crossing
    }

    /// The distribution of one row.
    ///
    /// # Panics
    /// When there is no row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> QuantileSet<'_> {
        let knots = row * self.knots..(row + 1) * self.knots;
        let levels = match &self.levels {
            Levels::Shared(levels) => levels,
            Levels::Own(levels) => &levels[knots.clone()],
        };
        QuantileSet { levels, values: &self.values[knots], tails: self.tails }
    }

    /// Adds rows with the same levels, or histograms with as many bins; whether they are such.
    pub(crate) fn append(&mut self, more: &Self) -> bool {
        let fits = self.knots == more.knots && self.tails == more.tails;
        match (&mut self.levels, &more.levels) {
            (Levels::Shared(levels), Levels::Shared(others)) if fits && levels == others => {}
            (Levels::Own(levels), Levels::Own(others)) if fits => levels.extend_from_slice(others),
            _ => return false,
        }
        self.values.extend_from_slice(&more.values);
        self.crossing += more.crossing;
        true
    }

    /// These rows, in this order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let pick = |values: &[f64]| crate::mixture::rows_of(values, self.knots, rows);
        let levels = match &self.levels {
            Levels::Shared(levels) => Levels::Shared(levels.clone()),
            Levels::Own(levels) => Levels::Own(pick(levels)),
        };
        Self { levels, values: pick(&self.values), ..*self }
    }

    /// The distributions of `y * scale + shift`, for a positive `scale`.
    pub(crate) fn rescale(mut self, shift: f64, scale: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value = (*value * scale + shift).clamp(f64::MIN, f64::MAX));
        self
    }

    /// Moves each quantile to the nearest value of the support.
    pub(crate) fn restrict(&mut self, support: &Support) {
        self.values.iter_mut().for_each(|value| *value = support.nearest(*value));
    }
}

/// Checks levels of quantiles.
fn check_levels(levels: &[f64]) -> Result<()> {
    if levels.is_empty() {
        return Err(Error::options("expected at least 1 level of quantiles, found none"));
    }
    if let Some(level) = levels.iter().find(|level| !(0.0..=1.0).contains(*level)) {
        return Err(Error::options(format!("expected levels of quantiles from 0 to 1, found {level}")));
    }
    match levels.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            let message =
                format!("expected levels of quantiles in ascending order, found {} before {}", pair[0], pair[1]);
            Err(Error::options(message))
        }
        None => Ok(()),
    }
}
