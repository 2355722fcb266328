//! Supports: which values a target can take.

use serde::{Deserialize, Serialize};

use crate::grid::Grid;
use crate::{Error, Result};

/// The values that a target can take: all numbers, those between two bounds, or those on a grid.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `lower` | none | finite | the smallest value |
/// | `upper` | none | finite, at least `lower` | the largest value |
/// | `step` | none | finite, above 0 | the distance of values on a grid; the bounds are then such values |
/// | `origin` | 0 | finite | one value of the grid, which need not be between the bounds |
///
/// A prediction with bounds is the mixture given that the target lies between them. On a grid it is the mixture rounded to the
/// nearest value and clamped to the bounds.
///
/// ```
/// use negmm_dist::{Mixtures, Predictions, Support};
///
/// let normal = Predictions::from(Mixtures::new(1, vec![1.0], vec![0.0], vec![1.0])?);
/// let positive = normal.clone().with_support(Support { lower: Some(0.0), ..Support::default() })?;
/// assert_eq!(positive.below(-1.0)?, [0.0]);
/// let counts = normal.with_support(Support { lower: Some(0.0), step: Some(1.0), ..Support::default() })?;
/// assert_eq!(counts.quantile(0.9)?, [1.0]);
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Support {
    /// The smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The distance of values on a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// A value of the grid.
    #[serde(skip_serializing_if = "is_zero")]
    pub origin: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Support {
    /// Checks the numbers.
    ///
    /// # Errors
    /// When a number is not as described above.
    pub fn check(&self) -> Result<()> {
        let bounds = [self.lower, self.upper].into_iter().flatten();
        if let Some(wrong) = bounds.clone().chain([self.origin]).find(|number| !number.is_finite()) {
            return Err(Error::options(format!("expected a support with finite numbers, found {wrong}")));
        }
        if self.bounds().0 > self.bounds().1 {
            let (lower, upper) = self.bounds();
            return Err(Error::options(format!("expected a support from low to high, found {lower} to {upper}")));
        }
        let Some(step) = self.step else { return Ok(()) };
        if !(step > 0.0 && step.is_finite()) {
            return Err(Error::options(format!("expected a step that is finite and positive, found {step}")));
        }
        let grid = Grid::new(self.origin, step, f64::NEG_INFINITY, f64::INFINITY);
        match bounds.into_iter().find(|bound| grid.index(*bound).is_none()) {
            Some(bound) => Err(Error::options(format!(
                "expected bounds that are values of the grid {} + whole number · {step}, found {bound}",
                self.origin
            ))),
            None => Ok(()),
        }
    }

    /// Whether it contains all numbers.
    pub fn is_whole_line(&self) -> bool {
        self.lower.is_none() && self.upper.is_none() && self.step.is_none()
    }

    /// The smallest and the largest value, infinite without a bound.
    pub fn bounds(&self) -> (f64, f64) {
        (self.lower.unwrap_or(f64::NEG_INFINITY), self.upper.unwrap_or(f64::INFINITY))
    }

    /// Whether it contains `y`, on a grid with a tolerance for rounding.
    pub fn contains(&self, y: f64) -> bool {
        let (lower, upper) = self.bounds();
        self.grid().map_or(lower <= y && y <= upper, |grid| grid.index(y).is_some())
    }

    /// The value of the support that is nearest to `y`.
    pub fn nearest(&self, y: f64) -> f64 {
        let (lower, upper) = self.bounds();
        self.grid().map_or(y.clamp(lower, upper), |grid| grid.rounded(y))
    }

    pub(crate) fn grid(&self) -> Option<Grid> {
        let (lower, upper) = self.bounds();
        self.step.map(|step| Grid::new(self.origin, step, lower, upper))
    }

    /// The support of y · `scale` + `shift`, for a positive `scale`.
    #[must_use]
    pub(crate) fn rescale(self, shift: f64, scale: f64) -> Self {
        let moved = |y: f64| y * scale + shift;
        let origin = if self.step.is_some() { moved(self.origin) } else { self.origin };
        let (lower, upper) = (self.lower.map(moved), self.upper.map(moved));
        Self { lower, upper, step: self.step.map(|step| step * scale), origin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn the_default_is_the_whole_line() {
        let all = Support::default();
        assert!(all.is_whole_line() && all.check().is_ok() && all.contains(-1e300));
        assert_eq!((all.bounds(), all.nearest(0.3)), ((f64::NEG_INFINITY, f64::INFINITY), 0.3));
        assert_eq!(serde_json::to_string(&all).unwrap(), "{}");
        assert_eq!(all.rescale(3.0, 2.0), all);
    }

    #[test]
    fn json_round_trip() {
        let support = Support { lower: Some(-0.5), upper: Some(2.0), step: Some(0.25), origin: 1.0 };
        let text = serde_json::to_string(&support).unwrap();
        assert_eq!(text, r#"{"lower":-0.5,"upper":2.0,"step":0.25,"origin":1.0}"#);
        assert_eq!(serde_json::from_str::<Support>(&text).unwrap(), support);
        assert!(serde_json::from_str::<Support>(r#"{"low":1}"#).is_err());
        let moved = support.rescale(10.0, 4.0);
        assert_eq!(moved, Support { lower: Some(8.0), upper: Some(18.0), step: Some(1.0), origin: 14.0 });
    }

    #[test]
    fn invalid_supports_are_refused() {
        let any = Support::default();
        let refused = [
            Support { lower: Some(f64::NAN), ..any },
            Support { upper: Some(f64::INFINITY), ..any },
            Support { lower: Some(1.0), upper: Some(0.0), ..any },
            Support { step: Some(0.0), ..any },
            Support { step: Some(-1.0), ..any },
            Support { step: Some(1.0), origin: f64::NAN, ..any },
            Support { step: Some(1.0), lower: Some(0.5), ..any },
        ];
        for support in refused {
            assert_eq!(support.check().unwrap_err().kind(), ErrorKind::Options, "{support:?}");
        }
        assert!(Support { step: Some(0.1), lower: Some(0.3), upper: Some(0.3), ..any }.check().is_ok());
    }

    #[test]
    fn the_nearest_value_is_in_the_support() {
        let support = Support { lower: Some(0.0), upper: Some(0.7), step: Some(0.1), ..Support::default() };
        for y in [-3.0, 0.04, 0.06, 0.3, 0.1 + 0.2, 0.69, 1e300, f64::NEG_INFINITY] {
            let nearest = support.nearest(y);
            assert!((0.0..=0.7).contains(&nearest) && support.contains(nearest), "{y}");
        }
        assert!(!support.contains(0.35) && !support.contains(0.8));
    }
}
