//! Parametric families: location and scale of a standard shape, with scores in closed form.
//!
//! With F the cdf of a shape, m(z) = E[Z; Z <= z] and g = E|Z - Z'| / 2,
//!
//! ```text
//! E|Z - z| = z (2 F(z) - 1) + E Z - 2 m(z),     CRPS(z) = E|Z - z| - g
//! ```
//!
//! so a family needs only these functions; m and g are known in closed form for all of them (Jordan, Krüger and Lerch, 2019).
//!
//! | family | parameters | m(z), in standard units | g |
//! |---|---|---|---|
//! | `normal` | loc, scale | -φ(z) | 1/√π |
//! | `student_t` | df > 1, loc, scale | -f(z) (df + z²) / (df - 1) | 2 √df B(1/2, df - 1/2) / ((df - 1) B(1/2, df/2)²) |
//! | `logistic` | loc, scale | z F(z) - ln(1 + e^z) | 1 |
//! | `laplace` | loc, scale | -(1 + abs z) e^(-abs z) / 2 | 3/4 |
//! | `gumbel` | loc, scale | by quadrature | ln 2 |
//! | `uniform` | min, max | z²/2 | 1/6 |
//! | `exponential` | rate | 1 - (1 + z) e^-z | 1/2 |
//! | `gamma` | shape k, rate or scale | k F(z; k + 1) | 1 / B(1/2, k) |
//! | `lognormal` | mulog, sigmalog σ | E Z Φ(ln z / σ - σ) | E Z (2 Φ(σ/√2) - 1) |
//! | `weibull` | shape k, scale | E Z P(1 + 1/k, z^k) | E Z (1 - 2^(-1/k)) |
//! | `beta` | a, b, lower, upper | a/(a+b) F(z; a + 1, b) | 2 B(2a, 2b) / ((a+b) B(a, b)²) |
//! | `poisson` | mean λ | λ F(z - 1) | λ e^(-2λ) (I0(2λ) + I1(2λ)) |
//! | `negative_binomial` | n, prob p or mu | E Z F(z - 1; n + 1, p) | n (1-p)/p² 2F1(n + 1, 1/2; 2; -4(1-p)/p²) |
//!
//! ```
//! use negmm_dist::{Distribution, Family};
//!
//! let t = Family::named("student_t", &[("df", 5.0), ("loc", 1.0), ("scale", 2.0)])?;
//! assert!((t.cdf(t.quantile(0.9)) - 0.9).abs() < 1e-14);
//! assert!(t.crps(1.0) < t.crps(4.0));
//! # Ok::<(), negmm_dist::Error>(())
//! ```

mod count;
mod parameters;
mod region;
mod shape;
mod solve;

use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::rng::Rng;
pub use parameters::FAMILIES;
pub use shape::Shape;

/// A distribution of a parametric family: Y = loc + scale Z with Z of a standard shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    shape: Shape,
    loc: f64,
    scale: f64,
}

impl Family {
    /// The standard shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its location.
    pub fn loc(&self) -> f64 {
        self.loc
    }

    /// Its scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// (y - loc) / scale.
    fn z(&self, y: f64) -> f64 {
        (y - self.loc) / self.scale
    }

    /// The distribution of `y * scale + shift`, for a positive `scale`.
    pub(crate) fn rescale(self, shift: f64, scale: f64) -> Self {
        Self { loc: self.loc * scale + shift, scale: self.scale * scale, ..self }
    }

    /// ∫ f(y)² dy, of counts the sum of their squared probabilities.
    pub(crate) fn squared_density(&self) -> f64 {
        if self.shape.is_discrete() { self.shape.squared_density() } else { self.shape.squared_density() / self.scale }
    }

    /// The probability of all values that are at most as likely as `y`.
    pub(crate) fn region_tail(&self, y: f64) -> f64 {
        self.shape.region_tail(self.z(y))
    }
}

impl Distribution for Family {
    fn mean(&self) -> f64 {
        self.loc + self.scale * self.shape.mean()
    }

    fn variance(&self) -> f64 {
        self.scale * self.scale * self.shape.variance()
    }

    fn sd(&self) -> f64 {
        self.scale * self.shape.variance().sqrt()
    }

    fn cdf(&self, y: f64) -> f64 {
        self.shape.cdf(self.z(y))
    }

    fn survival(&self, y: f64) -> f64 {
        self.shape.survival(self.z(y))
    }

    fn point_probability(&self, y: f64) -> f64 {
        self.shape.point_probability(self.z(y))
    }

    fn below(&self, y: f64) -> f64 {
        (self.cdf(y) - self.point_probability(y)).max(0.0)
    }

    fn pdf(&self, y: f64) -> f64 {
        libm::exp(self.log_pdf(y))
    }

    fn log_pdf(&self, y: f64) -> f64 {
        self.shape.log_pdf(self.z(y)) - libm::log(self.scale)
    }

    fn log_likelihood(&self, y: f64) -> f64 {
        if self.shape.is_discrete() { self.shape.log_point_probability(self.z(y)) } else { self.log_pdf(y) }
    }

    fn log_between(&self, low: f64, high: f64) -> f64 {
        let below = self.cdf(low);
        let between = if below < 0.5 { self.cdf(high) - below } else { self.survival(low) - self.survival(high) };
        libm::log(between.max(0.0))
    }

    fn quantile(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        self.loc + self.scale * self.shape.quantile(level)
    }

    fn quantile_above(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        self.loc + self.scale * self.shape.quantile_above(level)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        let step = if self.shape.is_discrete() { self.scale } else { 0.0 };
        let ends = |(low, high): (f64, f64)| (self.loc + self.scale * low, self.loc + self.scale * high);
        HighestDensityRegion::new(self.shape.region(coverage).into_iter().map(ends).collect(), step)
    }

    fn shortfall_below(&self, level: f64) -> f64 {
        self.loc + self.scale * self.shape.shortfall_below(level)
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        self.loc + self.scale * self.shape.shortfall_above(level)
    }

    fn crps(&self, y: f64) -> f64 {
        self.scale * self.shape.crps(self.z(y))
    }

    fn sample(&self, rng: &mut Rng) -> f64 {
        self.quantile(rng.uniform())
    }
}
