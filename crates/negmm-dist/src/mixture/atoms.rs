//! Atoms: the components of a mixture that have all their weight at one value.

use super::Mixture;

impl Mixture<'_> {
    /// (weight, mean, sd) of the components that have a density.
    #[inline]
    pub(crate) fn gaussians(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.parts().filter(|&(_, _, sd)| sd > 0.0)
    }

    /// (weight, value) of the atoms.
    #[inline]
    pub(crate) fn atoms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.parts().filter(|&(_, _, sd)| sd == 0.0).map(|(weight, value, _)| (weight, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::Mixtures;
    use crate::math::rng::Rng;

    /// Two atoms, one of them in two parts, and a Gaussian between them.
    const MIXED: Mixture<'static> =
        Mixture { weights: &[0.125, 0.5, 0.25, 0.125], means: &[0.0, 1.0, 3.0, 0.0], sds: &[0.0, 0.5, 0.0, 0.0] };

    /// Three atoms, not in order.
    const ATOMS: Mixture<'static> = Mixture { weights: &[0.25, 0.5, 0.25], means: &[4.0, -1.0, 2.0], sds: &[0.0; 3] };

    #[test]
    fn mass_is_of_one_value_and_density_of_the_others() {
        assert_eq!([-1.0, 0.0, 1.0, 3.0].map(|y| MIXED.point_probability(y)), [0.0, 0.25, 0.0, 0.25]);
        assert_eq!(MIXED.log_likelihood(0.0), libm::log(0.25));
        assert_eq!(MIXED.log_likelihood(0.1), MIXED.log_pdf(0.1));
        assert_eq!(MIXED.pdf(0.0), MIXED.component_pdf(1, 0.0));
        assert_eq!(MIXED.component_pdf(0, 0.0), 0.0);
        assert_eq!((ATOMS.pdf(2.0), ATOMS.log_likelihood(1.0)), (0.0, f64::NEG_INFINITY));
        let near = MIXED.log_mass(3.0, 0.5);
        assert!((libm::exp(near) - (MIXED.cdf(3.25) - MIXED.cdf(2.75))).abs() < 1e-15);
        // The atom half way between two values is that of the lower one.
        assert_eq!((ATOMS.log_mass(1.5, 1.0), ATOMS.log_mass(2.5, 1.0)), (libm::log(0.25), f64::NEG_INFINITY));
    }

    #[test]
    fn zero_is_never_negative_zero() {
        let gaussian = Mixture { weights: &[1.0], means: &[0.0], sds: &[1.0] };
        for zero in [gaussian.point_probability(0.0), MIXED.point_probability(0.5), ATOMS.pdf(2.0)] {
            assert_eq!(zero.to_bits(), 0.0_f64.to_bits());
        }
    }

    #[test]
    fn the_distribution_function_jumps_at_an_atom() {
        assert_eq!([-2.0, -1.0, 1.9, 2.0, 4.0].map(|y| ATOMS.cdf(y)), [0.0, 0.5, 0.5, 0.75, 1.0]);
        assert_eq!([-2.0, -1.0, 1.9, 2.0, 4.0].map(|y| ATOMS.survival(y)), [1.0, 0.5, 0.5, 0.25, 0.0]);
        assert_eq!(MIXED.cdf(0.0) - MIXED.cdf(-1e-300), 0.25);
    }

    #[test]
    fn a_quantile_in_a_jump_is_the_atom() {
        let levels = [1e-300, 0.3, 0.5, 0.500_001, 0.75, 0.750_001, 1.0 - 1e-15];
        assert_eq!(levels.map(|level| ATOMS.quantile(level)), [-1.0, -1.0, -1.0, 2.0, 2.0, 4.0, 4.0]);
        assert_eq!(levels.map(|level| ATOMS.quantile_above(level)), [4.0, 2.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
        assert_eq!(ATOMS.interval(0.5), crate::Interval { lower: -1.0, upper: 2.0 });
        // Below the first atom of the mixture there is only a tail of the Gaussian.
        let below = MIXED.cdf(-1e-300);
        for level in [0.1 * below, 0.5 * below] {
            assert!(MIXED.quantile(level) < 0.0 && (MIXED.cdf(MIXED.quantile(level)) / level - 1.0).abs() < 1e-12);
        }
        for level in [below + 1e-9, 0.2, 0.25 + 0.5 * below] {
            assert_eq!(MIXED.quantile(level), 0.0, "{level}");
        }
        assert_eq!((MIXED.quantile(0.75), MIXED.quantile(0.99), MIXED.quantile_above(0.2)), (3.0, 3.0, 3.0));
        assert!((MIXED.cdf(MIXED.quantile(0.5)) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn an_atom_at_the_quantile_counts_in_a_tail_as_far_as_the_level_allows() {
        assert_eq!(ATOMS.shortfall_below(0.25), -1.0);
        assert!((ATOMS.shortfall_below(0.6) - (-0.5 + 0.1 * 2.0) / 0.6).abs() < 1e-15);
        assert!((ATOMS.shortfall_above(0.6) - (1.0 + 0.5 - 0.1) / 0.6).abs() < 1e-15);
        assert!((ATOMS.shortfall_below(1.0 - 1e-15) - ATOMS.mean()).abs() < 1e-14);
        // E[Y; Y < 0] of the Gaussian's tail, by its own shortfall.
        let gaussian = Mixture { weights: &[1.0], means: &[1.0], sds: &[0.5] };
        let tail = gaussian.cdf(0.0);
        let expected = 0.5 * tail * gaussian.shortfall_below(tail) / 0.2;
        assert!((MIXED.shortfall_below(0.2) - expected).abs() < 1e-15);
    }

    #[test]
    fn the_energy_score_of_atoms_is_that_of_samples() {
        let score = |y: f64| {
            let distance =
                |a: Mixture<'_>, y: f64| a.atoms().map(|(weight, value)| weight * (value - y).abs()).sum::<f64>();
            distance(ATOMS, y) - 0.5 * ATOMS.atoms().map(|(weight, value)| weight * distance(ATOMS, value)).sum::<f64>()
        };
        for y in [-3.0, -1.0, 0.0, 2.0, 4.0, 9.0] {
            assert!((ATOMS.crps(y) - score(y)).abs() < 1e-15, "{y}");
        }
    }

    #[test]
    fn atoms_are_what_very_narrow_gaussians_tend_to() {
        let sds: Vec<f64> = MIXED.sds.iter().map(|sd| sd.max(1e-9)).collect();
        let narrow = Mixture { sds: &sds, ..MIXED };
        assert!((MIXED.variance() - narrow.variance()).abs() < 1e-15);
        for y in [-0.5, 0.0, 0.7, 1.0, 3.0, 5.0] {
            assert!((MIXED.crps(y) - narrow.crps(y)).abs() < 1e-9, "{y}");
            assert!((MIXED.cdf(y + 1e-6) - narrow.cdf(y + 1e-6)).abs() < 1e-15, "{y}");
        }
        // The probability of so narrow a Gaussian below its quantile is only as exact as the next double.
        for level in [0.01, 0.1, 0.2, 0.4, 0.6, 0.8, 0.99] {
            assert!((MIXED.quantile(level) - narrow.quantile(level)).abs() < 1e-8, "{level}");
            assert!((MIXED.shortfall_below(level) - narrow.shortfall_below(level)).abs() < 1e-6, "{level}");
            assert!((MIXED.shortfall_above(level) - narrow.shortfall_above(level)).abs() < 1e-6, "{level}");
        }
    }

    #[test]
    fn atoms_stay_atoms() {
        let mut mixtures = Mixtures::new(2, vec![0.5; 2], vec![1.0, 2.0], vec![0.0, 1.0]).unwrap();
        mixtures.widen([(0, 3.0)].into_iter());
        assert_eq!(mixtures.sds(), [0.0, 2.0]);
        let moved = mixtures.rescale(10.0, 3.0);
        assert_eq!((moved.means(), moved.sds()), (&[13.0, 16.0][..], &[0.0, 6.0][..]));
        let mut rng = Rng::new(1, 0);
        let draws: Vec<f64> = (0..1000).map(|_| moved.row(0).sample(&mut rng)).collect();
        let exact = draws.iter().filter(|draw| **draw == 13.0).count();
        assert!((400..600).contains(&exact), "{exact}");
    }
}
