//! Beta-NLL of intervals.

use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH};
use negmm_dist::math::truncated::TruncatedNormal;
use negmm_nn::loss::ObservedTargets;
use negmm_nn::loss::beta_nll::panel;
use negmm_nn::net::{MixturePanel, PANEL_CHUNKS};

/// Of a panel of equal rows: score, and its derivatives with respect to mean and sd.
struct OneGaussian {
    mean: f32,
    sd: f32,
    interval: [f32; 2],
    beta: f32,
}

impl Kernel for OneGaussian {
    type Output = [f32; 3];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [f32; 3] {
        let mut gaussians = MixturePanel::new(1);
        gaussians.means.fill(Chunk([self.mean; WIDTH]));
        gaussians.sds.fill(Chunk([self.sd; WIDTH]));
        let [lower, upper] = self.interval.map(|end| Chunk([end; WIDTH]));
        let known = ObservedTargets { y: &lower, intervals: Some([&lower, &upper]) };
        let (mut deltas, mut score) = (vec![Chunk::ZERO; 3 * PANEL_CHUNKS], Chunk::ZERO);
        panel::<L>(&gaussians, known, 0, self.beta, L::splat(1.0), &mut deltas).store(&mut score);
        [score.0[0], deltas[PANEL_CHUNKS].0[0], deltas[2 * PANEL_CHUNKS].0[0]]
    }
}

#[test]
fn an_interval_has_the_same_weight() {
    for interval in [[0.5, 0.75], [0.5, f32::INFINITY]] {
        for beta in [0.0, 0.5, 1.0] {
            let found = Isa::best().run(OneGaussian { mean: 0.25, sd: 0.5, interval, beta });
            let [a, b] = interval.map(|end| (f64::from(end) - 0.25) / 0.5);
            let within = TruncatedNormal::new(a, b, b - a);
            let weight = libm::pow(0.25, f64::from(beta));
            let expected = [-within.log_mass, -within.mean / 0.5, -within.excess / 0.5];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((f64::from(found) - weight * expected).abs() < 1e-5, "{interval:?} {beta}: {found}");
            }
        }
    }
}
