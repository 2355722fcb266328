//! A truncated component: one normal component between two bounds.

use super::distribution::SAFE_VARIANCES;
use crate::math::normal_interval::{self, MOST_MOMENTS, decay};
use crate::math::{normal, quadrature};

/// Beyond this many sds from the base the probability is below the rounding error of 1.
pub(super) const FAR: f64 = 9.0;

/// The width of a panel of a quadrature, as a multiple of the distance over which the density changes much.
const PANEL: f64 = 4.0;

/// A component given that it lies between two bounds: an interval of a normal distribution, or an atom.
///
/// All distances are from the base, the point between the bounds that is nearest to the component's mean, where the density is
/// highest. One interval extends from there to the left and one to the right; both begin `a` sds from the mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct TruncatedComponent {
    /// The base; the value of an atom.
    pub base: f64,
    /// Mean and sd of the whole component; the sd is 0 for an atom.
    mean: f64,
    pub sd: f64,
    a: f64,
    /// Widths in sds, and probabilities as multiples of the density at the base.
    left: f64,
    right: f64,
    left_mass: f64,
    right_mass: f64,
}

impl TruncatedComponent {
    /// The component with this mean and positive sd, between two bounds that may be infinite.
    pub(super) fn new(mean: f64, sd: f64, lower: f64, upper: f64) -> Self {
        let base = mean.clamp(lower, upper);
        let (a, left, right) = (((base - mean) / sd).abs(), (base - lower) / sd, (upper - base) / sd);
        let half = normal::MILLS_AT_0;
        let whole = Self { base, mean, sd, a, left, right, left_mass: half, right_mass: half };
        if whole.is_inside() {
            return whole;
        }
        Self { left_mass: normal_interval::mass(a, left), right_mass: normal_interval::mass(a, right), ..whole }
    }

    /// An atom between the bounds.
    pub(super) fn atom(value: f64) -> Self {
        Self { base: value, mean: value, sd: 0.0, a: 0.0, left: 0.0, right: 0.0, left_mass: 0.0, right_mass: 0.0 }
    }

    /// The same component between other bounds; not for atoms.
    pub(super) fn between(&self, lower: f64, upper: f64) -> Self {
        Self::new(self.mean, self.sd, lower, upper)
    }

    /// Logarithm of the component's probability between the bounds.
    pub(super) fn log_mass(&self) -> f64 {
        // So far out that the logarithm of the density overflows.
        if self.a.is_infinite() {
            return f64::NEG_INFINITY;
        }
        (normal::log_pdf(self.a) + libm::log(self.total())).min(0.0)
    }

    /// The component's probability between the bounds; 0 where it underflows.
    pub(super) fn probability(&self) -> f64 {
        if self.is_inside() || self.sd == 0.0 { 1.0 } else { normal::pdf(self.a) * self.total() }
    }

    /// Whether the bounds are so far away that its probability between them is 1 to the last bit.
    pub(super) fn is_inside(&self) -> bool {
        self.a == 0.0 && self.left > FAR && self.right > FAR
    }

    fn total(&self) -> f64 {
        self.left_mass + self.right_mass
    }

    /// Mean and variance.
    pub(super) fn moments(&self) -> (f64, f64) {
        self.moments_by(&mut |x| normal_interval::far_tails(&[x])[0])
    }

    /// The same; `far` gives the moments of the tails that [`Self::needed_far_tails`] lists, in its order.
    fn moments_by(&self, far: &mut impl FnMut(f64) -> [f64; 3]) -> (f64, f64) {
        if self.total() == 0.0 {
            return (self.base, 0.0);
        }
        let mut of_side = |width: f64| normal_interval::moments_by(self.a, width, far);
        let (left, right) = match self.is_inside() {
            true => {
                let half = of_side(f64::INFINITY);
                (half, half)
            }
            false => (of_side(self.left), of_side(self.right)),
        };
        let (first, second) = ((right[1] - left[1]) / self.total(), (right[2] + left[2]) / self.total());
        (self.base + self.sd * first, self.sd * self.sd * (second - first * first).max(0.0))
    }

    /// Adds where the tails begin of which [`Self::mean_and_sd_by`] needs the moments.
    pub(super) fn needed_far_tails(&self, list: &mut Vec<f64>) {
        if self.total() != 0.0 && !self.is_inside() {
            normal_interval::needed_far_tails(self.a, self.left, list);
            normal_interval::needed_far_tails(self.a, self.right, list);
        }
    }

    /// Mean and sd, also where the variance would underflow or overflow; `far` gives the moments of the tails that
    /// [`Self::needed_far_tails`] lists, in its order.
    pub(super) fn mean_and_sd_by(&self, far: &mut impl FnMut(f64) -> [f64; 3]) -> (f64, f64) {
        let (mean, variance) = self.moments_by(far);
        if SAFE_VARIANCES.contains(&variance) || self.sd == 0.0 {
            return (mean, variance.sqrt());
        }
        let (_, unit) = Self { sd: 1.0, ..*self }.moments();
        (mean, self.sd * unit.sqrt())
    }

    /// E Yⁿ: of a component that the bounds do not cut by E Yⁿ = mean E Yⁿ⁻¹ + (n - 1) sd² E Yⁿ⁻², of one whose mean is inside or
    /// near from the moments about the base, else by quadrature.
    pub(super) fn raw_moment(&self, order: u32) -> f64 {
        let power = |y: f64| (0..order).fold(1.0, |product, _| product * y);
        if self.sd == 0.0 || self.total() == 0.0 {
            return power(self.base);
        }
        match order {
            1 => return self.moments().0,
            2 => {
                let (mean, variance) = self.moments();
                return mean * mean + variance;
            }
            _ => {}
        }
        if self.is_whole() {
            let (mut before, mut moment) = (0.0, 1.0);
            for n in 0..order {
                (before, moment) = (moment, self.mean * moment + f64::from(n) * self.sd * self.sd * before);
            }
            return moment;
        }
        if let Some(moment) = self.moment_about_base(order) {
            return moment;
        }
        let (low, high, scale) = self.extent();
        let panels = ((high - low) / (PANEL * scale)).ceil().max(1.0) as usize;
        let end = |at: usize| low + (high - low) * at as f64 / panels as f64;
        let (mut sum, mut mass) = (0.0, 0.0);
        for at in 0..panels {
            let [part, probability] = quadrature::integral(end(at), end(at + 1), |y| {
                let density = self.pdf(y);
                [density * power(y), density]
            });
            (sum, mass) = (sum + part, mass + probability);
        }
        // What lies beyond the extent is negligible; divided by its probability even less is lost.
        sum / mass
    }

    /// E Yⁿ = sum_k (n over k) baseⁿ⁻ᵏ sdᵏ M_k with the moments M_k of (Y - base) / sd; `None` where they have no closed form with all
    /// digits, or the order is too high.
    fn moment_about_base(&self, order: u32) -> Option<f64> {
        let order = (order as usize <= MOST_MOMENTS).then_some(order as usize)?;
        let right = normal_interval::raw_moments(self.a, self.right, self.right_mass, order)?;
        let left = normal_interval::raw_moments(self.a, self.left, self.left_mass, order)?;
        let (mut sum, mut factor) = (0.0, 1.0);
        for k in 0..=order {
            // Horner's rule in the base: after the last k each term has been multiplied by the base n - k times.
            let about = right[k] + if k % 2 == 0 { left[k] } else { -left[k] };
            sum = sum * self.base + factor * about;
            factor *= self.sd * (order - k) as f64 / (k + 1) as f64;
        }
        Some(sum / self.total())
    }

    /// The distance of `y` from the base, in sds; 0 for an atom.
    pub(super) fn sds_from_base(&self, y: f64) -> f64 {
        if self.sd == 0.0 { 0.0 } else { (y - self.base) / self.sd }
    }

    /// Probability up to `y`.
    pub(super) fn below(&self, y: f64) -> f64 {
        if self.sd == 0.0 {
            return f64::from(self.base <= y);
        }
        let t = ((y - self.base) / self.sd).clamp(-self.left, self.right);
        if t > FAR {
            return 1.0;
        }
        let below = if t < 0.0 {
            decay(self.a, -t) * normal_interval::mass(self.a - t, self.left + t)
        } else {
            self.left_mass + normal_interval::mass(self.a, t)
        };
        (below / self.total()).min(1.0)
    }

    /// Probability above `y`: 1 - below without its cancellation.
    pub(super) fn above(&self, y: f64) -> f64 {
        if self.sd == 0.0 {
            return f64::from(self.base > y);
        }
        let t = ((y - self.base) / self.sd).clamp(-self.left, self.right);
        if t < -FAR {
            return 1.0;
        }
        let above = if t < 0.0 {
            self.right_mass + normal_interval::mass(self.a, -t)
        } else {
            decay(self.a, t) * normal_interval::mass(self.a + t, self.right - t)
        };
        (above / self.total()).min(1.0)
    }

    /// Probability of exactly `y`.
    pub(super) fn mass(&self, y: f64) -> f64 {
        f64::from(self.sd == 0.0 && self.base == y)
    }

    /// Density at a `y` between the bounds; 0 for an atom.
    pub(super) fn pdf(&self, y: f64) -> f64 {
        if self.sd == 0.0 { 0.0 } else { decay(self.a, ((y - self.base) / self.sd).abs()) / (self.sd * self.total()) }
    }

    /// Whether what the bounds cut off is negligible in a score.
    pub(super) fn is_whole(&self) -> bool {
        self.sd == 0.0 || self.a == 0.0 && self.left.min(self.right) > self.reach()
    }

    /// The distance in sds from the base to where the density has fallen by the factor exp(-24), a t + t²/2 = 24. The probability
    /// beyond is 2e-12, and its square negligible.
    fn reach(&self) -> f64 {
        const NEGLIGIBLE: f64 = 24.0;
        2.0 * NEGLIGIBLE / (self.a + (self.a * self.a + 2.0 * NEGLIGIBLE).sqrt())
    }

    /// The ends of the part that counts in a score, and the distance over which the density changes much.
    pub(super) fn extent(&self) -> (f64, f64, f64) {
        let (left, right) = (self.left.min(self.reach()), self.right.min(self.reach()));
        (self.base - self.sd * left, self.base + self.sd * right, self.sd / self.a.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_and_moments_agree_with_sums() {
        const CELLS: usize = 20_000;
        let bounds = [(-1.0, 2.0), (0.5, 9.0), (3.0, 3.5), (30.0, 40.0), (-300.0, -299.99), (-0.1, 0.2), (-7.0, 1.0)];
        for (lower, upper) in bounds {
            let (mean, sd) = (0.25, 1.5);
            let component = TruncatedComponent::new(mean, sd, lower, upper);
            let width = (upper - lower) / CELLS as f64;
            let middles: Vec<f64> = (0..CELLS).map(|cell| lower + (cell as f64 + 0.5) * width).collect();
            // Relative to the highest density, so that nothing underflows.
            let highest = normal::log_pdf((component.base - mean) / sd);
            let density = |y: f64| libm::exp(normal::log_pdf((y - mean) / sd) - highest);
            let total: f64 = middles.iter().map(|y| density(*y)).sum();
            let average = middles.iter().map(|y| density(*y) * y).sum::<f64>() / total;
            let variance = middles.iter().map(|y| density(*y) * (y - average) * (y - average)).sum::<f64>() / total;
            let moments = component.moments();
            let spread = variance.sqrt();
            assert!((moments.0 - average).abs() < 1e-5 * spread, "{lower} {upper}: {} {average}", moments.0);
            assert!((moments.1 / variance - 1.0).abs() < 1e-5, "{lower} {upper}: {} {variance}", moments.1);
            let log_mass = highest + libm::log(total * width / sd);
            assert!(
                (component.log_mass() - log_mass).abs() < 1e-5,
                "{lower} {upper}: {} {log_mass}",
                component.log_mass()
            );
            for cell in [0, 1, 777, CELLS / 2, CELLS - 3] {
                let y = lower + cell as f64 * width;
                let below = middles[..cell].iter().map(|y| density(*y)).sum::<f64>() / total;
                assert!((component.below(y) - below).abs() < 1e-5, "{lower} {upper} {y}");
                assert!((component.below(y) + component.above(y) - 1.0).abs() < 1e-14, "{lower} {upper} {y}");
                assert!((component.pdf(y) * width * total / density(y) - 1.0).abs() < 1e-5, "{lower} {upper} {y}");
            }
            assert_eq!((component.below(lower), component.above(upper)), (0.0, 0.0));
            assert_eq!((component.below(upper), component.above(lower)), (1.0, 1.0));
        }
    }

    #[test]
    fn unbounded_tails_agree_with_the_normal_distribution() {
        let component = TruncatedComponent::new(0.0, 1.0, 5.0, f64::INFINITY);
        assert!((component.log_mass() - libm::log(normal::cdf(-5.0))).abs() < 1e-14);
        assert!((component.moments().0 - (5.0 + normal::mean_depth_below(-5.0))).abs() < 1e-14);
        assert!((component.above(6.0) / (normal::cdf(-6.0) / normal::cdf(-5.0)) - 1.0).abs() < 1e-14);
        let all = TruncatedComponent::new(3.0, 2.0, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!((all.moments(), all.is_whole()), ((3.0, 4.0), true));
        assert!(all.log_mass().abs() < 1e-15 && (all.below(2.0) - normal::cdf(-0.5)).abs() < 1e-16);
        // So far out that the logarithm overflows.
        assert_eq!(TruncatedComponent::new(0.0, 1e-300, 1e10, 1e11).log_mass(), f64::NEG_INFINITY);
    }
}
