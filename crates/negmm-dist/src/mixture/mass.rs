//! The probability near a value, as a logarithm: what a discrete target is scored with.

use crate::math::truncated::TruncatedNormal;

/// Logarithm of the probability that a normal variable with this sd lies within `step` / 2 of the value that is `distance`
/// above its mean.
pub(crate) fn log_mass(distance: f64, step: f64, sd: f64) -> f64 {
    TruncatedNormal::new((distance - 0.5 * step) / sd, (distance + 0.5 * step) / sd, step / sd).log_mass
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::Mixture;

    // Expected values: Python mpmath, 400 digits, `mp.log(q(z - w/2) - q(z + w/2))` with `q(x) = mp.erfc(x / mp.sqrt(2)) / 2`.
    const MASSES: &[(f64, f64, f64)] = &[
        (0.0, 9.313225746154785e-10, -21.713353950003032),
        (0.0, 0.0009765625, -7.8504103785405555),
        (0.0, 0.125, -2.999030947030103),
        (0.0, 1.0, -0.9599163336956223),
        (0.0, 6.0, -0.002703447085475963),
        (0.0, 64.0, -1.090416120702479e-224),
        (0.25, 9.313225746154785e-10, -21.744603950003032),
        (0.25, 0.0009765625, -7.881660376057028),
        (0.25, 0.125, -3.0302402784453952),
        (0.25, 1.0, -0.988649153406655),
        (0.25, 6.0, -0.0035631286876664095),
        (0.25, 64.0, -1.5876181118227642e-221),
        (1.0, 9.313225746154785e-10, -22.213353950003032),
        (1.0, 0.0009765625, -8.350410338804126),
        (1.0, 0.125, -3.4983803290085556),
        (1.0, 1.0, -1.4199324821566264),
        (1.0, 6.0, -0.02304531839453513),
        (1.0, 64.0, -2.6952500812005002e-211),
        (3.0, 9.313225746154785e-10, -26.213353950003032),
        (3.0, 0.0009765625, -12.350410020912722),
        (3.0, 0.125, -7.4931814642123795),
        (3.0, 1.0, -5.119830444788221),
        (3.0, 6.0, -0.6931471825331206),
        (3.0, 64.0, -3.28978526670438e-185),
        (6.5, 9.313225746154785e-10, -42.83835395000303),
        (6.5, 0.0009765625, -28.97540869967701),
        (6.5, 0.125, -24.096688294200675),
        (6.5, 1.0, -20.73806700328247),
        (6.5, 6.0, -8.366065308344092),
        (6.5, 64.0, -9.856236518963929e-144),
        (25.0, 9.313225746154785e-10, -334.213353950003),
        (25.0, 0.0009765625, -320.35038554339604),
        (25.0, 0.125, -315.1210689128043),
        (25.0, 1.0, -304.2442707409771),
        (25.0, 6.0, -246.0120365373809),
        (25.0, 64.0, -1.279812543886654e-12),
        (40.0, 9.313225746154785e-10, -821.713353950003),
        (40.0, 0.0009765625, -807.8503468010632),
        (40.0, 0.125, -802.1155729785476),
        (40.0, 1.0, -784.7208791043175),
        (40.0, 6.0, -689.0305855768906),
        (40.0, 64.0, -35.01343715991455),
        (300.0, 9.313225746154785e-10, -45021.71335395001),
        (300.0, 0.0009765625, -45007.84683665444),
        (300.0, 0.125, -44987.87447689326),
        (300.0, 1.0, -44856.74606409869),
        (300.0, 6.0, -44111.112682008395),
        (300.0, 64.0, -35918.50993943615),
        (1e5, 9.313225746154785e-10, -5000000021.713354),
        (1e5, 0.0009765625, -4999999963.603739),
        (1e5, 0.125, -4999993762.433817),
        (1e5, 1.0, -4999950012.556859),
        (1e5, 6.0, -4999700016.931834),
        (1e5, 64.0, -4996800524.431544),
    ];

    #[test]
    fn normal_masses_agree_with_high_precision() {
        for &(z, w, expected) in MASSES {
            for sd in [1.0, 0.125, 1024.0] {
                let found = log_mass(z * sd, w * sd, sd);
                assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{z} {w}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_formulas_agree_where_one_replaces_another() {
        for z in [0.02, 0.5, 3.0, 4.0, 20.0, 300.0] {
            let w = 0.01 / (z + 1.0);
            let (below, above) = (log_mass(z, w * (1.0 - 1e-9), 1.0), log_mass(z, w * (1.0 + 1e-9), 1.0));
            assert!((above - below - 2e-9).abs() < 1e-11 * (1.0 + z * z), "{z}: {}", above - below);
        }
        let (inside, outside) = (log_mass(1.0, 2.0 * (1.0 + 1e-12), 1.0), log_mass(1.0, 2.0 * (1.0 - 1e-12), 1.0));
        assert!((inside - outside).abs() < 1e-11);
    }

    #[test]
    fn masses_of_all_steps_add_up_to_one() {
        let mixture = Mixture { weights: &[0.2, 0.5, 0.3], means: &[-3.2, 1.0, 4.4], sds: &[2.0, 0.01, 0.7] };
        let total: f64 = (-60..=60).map(|k| libm::exp(mixture.log_mass(0.5 * f64::from(k), 0.5))).sum();
        assert!((total - 1.0).abs() < 1e-14, "{total}");
        let by_cdf = mixture.cdf(1.5) - mixture.cdf(0.5);
        assert!((libm::exp(mixture.log_mass(1.0, 1.0)) - by_cdf).abs() < 1e-15);
    }

    #[test]
    fn spikes_and_tails_stay_finite() {
        let spike = Mixture { weights: &[0.25, 0.75], means: &[0.0, 5.0], sds: &[1e-300, 1e-12] };
        assert!((spike.log_mass(5.0, 1.0) - libm::log(0.75)).abs() < 1e-15);
        assert!((spike.log_mass(0.0, 1.0) - libm::log(0.25)).abs() < 1e-15);
        let far = spike.log_mass(3.0, 1.0);
        assert!(far.is_finite() && far < -1e23, "{far}");
        let one = Mixture { weights: &[1.0], means: &[0.0], sds: &[1.0] };
        assert!((one.log_mass(1e100, 1.0) / -0.5e200 - 1.0).abs() < 1e-12);
        assert_eq!(one.log_mass(1e300, 1.0), f64::NEG_INFINITY);
        assert_eq!(log_mass(7.0, 1.0, f64::MIN_POSITIVE), f64::NEG_INFINITY);
        assert_eq!(log_mass(0.2, 1.0, f64::MIN_POSITIVE), 0.0);
    }
}
