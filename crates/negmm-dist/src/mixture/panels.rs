//! Integrals over the range of a mixture: the Gauss-Legendre rule on panels as wide as the components allow.

use super::Mixture;
use super::truncated_component::TruncatedComponent;
use crate::math::quadrature;

/// The width of a panel, as a multiple of the distance over which a density changes much: the rule's error is then below 1e-12.
const WIDTH: f64 = 4.0;

/// Where a function of the distribution function changes, and how fast.
pub(super) struct Panels {
    /// For each component its ends and the widest panel between them; for an atom both ends are its value.
    extents: Vec<(f64, f64, f64)>,
}

impl Panels {
    pub(super) fn new(components: impl Iterator<Item = TruncatedComponent>) -> Self {
        Self {
            extents: components
                .map(|component| component.extent())
                .map(|(low, high, scale)| (low, high, WIDTH * scale))
                .collect(),
        }
    }

    /// The panels of a mixture without bounds.
    pub(super) fn of(mixture: Mixture<'_>) -> Self {
        Self::new(mixture.parts().map(|(_, mean, sd)| match sd {
            0.0 => TruncatedComponent::atom(mean),
            _ => TruncatedComponent::new(mean, sd, f64::NEG_INFINITY, f64::INFINITY),
        }))
    }

    /// The ends of the range; the probability outside is negligible.
    pub(super) fn ends(&self) -> (f64, f64) {
        let wider = |(first, last): (f64, f64), (low, high, _): &(f64, f64, f64)| (low.min(first), high.max(last));
        self.extents.iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider)
    }

    /// ∫ f(x) dx from `low` to `high`, both finite, for a function that is as smooth as the components and jumps only at atoms.
    pub(super) fn integral(&self, low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
        let (mut x, mut sum) = (low, 0.0);
        while x < high {
            let mut end = high;
            for &(first, last, width) in &self.extents {
                // A wide component may begin or end within a panel, since it hardly changes there; a narrow one or an atom may not.
                if x < last {
                    // At least the next double: a component may be narrower than that.
                    end = end.min((x + width).max(first).max(x.next_up()));
                }
            }
            let [part] = quadrature::integral(x, end, |x| [f(x)]);
            sum += part;
            x = end;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use crate::Distribution;
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_score_is_the_integral_of_the_squared_distance() {
        // Components of very different sizes and an atom; the closed form is known.
        let mixture = Mixture {
            weights: &[0.2, 0.3, 0.1, 0.3, 0.1],
            means: &[0.0, 5.0, 5.1, -40.0, 2.0],
            sds: &[1.0, 1e-4, 30.0, 0.3, 0.0],
        };
        let panels = Panels::of(mixture);
        let (first, last) = panels.ends();
        for y in [-500.0, -40.0, 0.3, 2.0, 5.0, 100.0] {
            let below = panels.integral(first.min(y), y, |x| mixture.cdf(x) * mixture.cdf(x));
            let above = panels.integral(y, last.max(y), |x| mixture.survival(x) * mixture.survival(x));
            let expected = mixture.crps(y);
            assert!((below + above - expected).abs() < 1e-12 * mixture.sd(), "{y}: {} {expected}", below + above);
        }
    }

    #[test]
    fn many_components_of_one_size_need_few_panels() {
        let count = 400;
        let weights = vec![1.0 / f64::from(count); count as usize];
        let means: Vec<f64> = (0..count).map(|k| f64::from(k % 37) / 20.0).collect();
        let mixture = Mixture { weights: &weights, means: &means, sds: &vec![1.0; count as usize] };
        let panels = Panels::of(mixture);
        let (first, last) = panels.ends();
        let evaluations = Cell::new(0);
        let square = |probability: f64| {
            evaluations.set(evaluations.get() + 1);
            probability * probability
        };
        let below = panels.integral(first, 0.7, |x| square(mixture.cdf(x)));
        let above = panels.integral(0.7, last, |x| square(mixture.survival(x)));
        assert!((below + above - mixture.crps(0.7)).abs() < 1e-12, "{}", below + above);
        assert!(evaluations.get() < 200, "{}", evaluations.get());
    }
}
