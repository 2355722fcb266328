//! Log score and energy score of a panel of mixtures in `f32` lanes, with gradients.
//!
//! The formulas are those of the references [`negmm_dist::score::log`], [`negmm_dist::score::interval`] and
//! [`negmm_dist::score::energy`], arranged for speed: rows are lanes; each pair of components is visited once; its exponential and its
//! normal cdf have a common argument.

use super::ObservedTargets;
use crate::net::{MixturePanel, PANEL_CHUNKS};
use negmm_dist::math::functions::{centred_cdf, decay, ln, rsqrt};
use negmm_dist::math::lanes::{Chunk, Lanes};
use negmm_dist::math::truncated::TruncatedNormal;

/// sqrt(2 / pi)
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
/// 2 / sqrt(pi)
const TWO_OVER_SQRT_PI: f32 = std::f32::consts::FRAC_2_SQRT_PI;
/// ln(2 pi) / 2
const HALF_LN_2_PI: f32 = 0.918_938_5;

/// Intermediate results of the two scores: components × one chunk of rows.
#[derive(Clone, Debug)]
pub struct Scratch {
    components: Vec<Component>,
    /// Whether the logarithmic score was of intervals; its gradient then uses `pull` and `curve`.
    intervals: bool,
}

#[derive(Clone, Copy, Debug)]
struct Component {
    weight: Chunk,
    mean: Chunk,
    variance: Chunk,
    /// 1 / sqrt(variance + variance of the current component).
    pair_inverse: Chunk,
    /// Posterior weight of the component (log score).
    posterior: Chunk,
    /// (y - mean) / sd and 1 / sd.
    z: Chunk,
    inverse_sd: Chunk,
    /// For censored targets: the means of z and 1 - z² in the interval (log score).
    pull: Chunk,
    curve: Chunk,
    /// A = E|X_k - y|, its cdf and density factors.
    distance: Chunk,
    cdf: Chunk,
    density: Chunk,
    /// sums over the other components, weighted: of B, of its cdf, of its density over its sd.
    pair_distance: Chunk,
    pair_cdf: Chunk,
    pair_density: Chunk,
}

impl Scratch {
    /// Buffers for mixtures of `components`.
    pub fn new(components: usize) -> Self {
        let zero = Chunk::ZERO;
        let component = Component {
            weight: zero,
            mean: zero,
            variance: zero,
            pair_inverse: zero,
            posterior: zero,
            z: zero,
            inverse_sd: zero,
            pull: zero,
            curve: zero,
            distance: zero,
            cdf: zero,
            density: zero,
            pair_distance: zero,
            pair_cdf: zero,
            pair_density: zero,
        };
        Self { components: vec![component; components], intervals: false }
    }

    /// Logarithmic and energy score of each row in lane `lane` of the panel; a score that is not `wanted` is zero.
    #[inline(always)]
    pub fn scores<L: Lanes>(
        &mut self,
        panel: &MixturePanel,
        known: ObservedTargets<'_>,
        lane: usize,
        wanted: Wanted,
    ) -> (L, L) {
        let log = if wanted.log { self.log_score::<L>(panel, known, lane) } else { L::splat(0.0) };
        let energy = if wanted.energy {
            if !wanted.log {
                self.standardise::<L>(panel, known.y, lane);
            }
            self.energy_score::<L>(panel, known.y, lane)
        } else {
            L::splat(0.0)
        };
        (log, energy)
    }

    #[inline(always)]
    fn standardise<L: Lanes>(&mut self, panel: &MixturePanel, y: &Chunk, lane: usize) {
        let y = L::load(y);
        for (k, component) in self.components.iter_mut().enumerate() {
            let at = k * PANEL_CHUNKS + lane;
            let inverse_sd = L::splat(1.0) / L::load(&panel.sds[at]);
            inverse_sd.store(&mut component.inverse_sd);
            ((y - L::load(&panel.means[at])) * inverse_sd).store(&mut component.z);
        }
    }

    /// -ln sum_k weight_k N(y; mean_k, sd_k), by log-sum-exp; also computes the posterior weights.
    #[inline(always)]
    fn log_score<L: Lanes>(&mut self, panel: &MixturePanel, known: ObservedTargets<'_>, lane: usize) -> L {
        let (largest, sum) = self.log_joints::<L>(panel, known, lane, 1.0);
        let inverse_sum = L::splat(1.0) / sum;
        for component in &mut self.components {
            (L::load(&component.posterior) * inverse_sum).store(&mut component.posterior);
        }
        L::splat(HALF_LN_2_PI) - largest - ln(sum)
    }

    /// The logarithmic score with all sds times `factor`.
    #[inline(always)]
    pub fn scaled_log_score<L: Lanes>(
        &mut self,
        panel: &MixturePanel,
        known: ObservedTargets<'_>,
        lane: usize,
        factor: f32,
    ) -> L {
        let (largest, sum) = self.log_joints::<L>(panel, known, lane, factor);
        L::splat(HALF_LN_2_PI + libm::logf(factor)) - largest - ln(sum)
    }

    /// The largest of j_k = ln weight_k - ln sd_k - (z_k / factor)² / 2, and the sum of e^(j_k - largest), whose terms are the
    /// unnormalised posterior weights.
    #[inline(always)]
    fn log_joints<L: Lanes>(
        &mut self,
        panel: &MixturePanel,
        known: ObservedTargets<'_>,
        lane: usize,
        factor: f32,
    ) -> (L, L) {
        self.standardise::<L>(panel, known.y, lane);
        let curve = -0.5 / (factor * factor);
        let mut largest = L::splat(f32::NEG_INFINITY);
        for (k, component) in self.components.iter_mut().enumerate() {
            let at = k * PANEL_CHUNKS + lane;
            let z = L::load(&component.z);
            let log_joint =
                (z * z).mul_add(L::splat(curve), L::load(&panel.log_weights[at]) - ln(L::load(&panel.sds[at])));
            log_joint.store(&mut component.posterior);
            largest = log_joint.max(largest);
        }
        self.intervals = known.intervals.is_some();
        if let Some([lower, upper]) = known.intervals {
            largest = self.interval_joints::<L>(panel, (lower, upper), lane, factor);
        }
        if panel.atoms > 0 {
            largest = self.atom_joints::<L>(panel, known, lane, factor);
        }
        let mut sum = L::splat(0.0);
        for component in &mut self.components {
            let joint = decay(L::load(&component.posterior) - largest);
            joint.store(&mut component.posterior);
            sum = sum + joint;
        }
        (largest, sum)
    }

    /// For rows with an interval j_k = ln weight_k + ln P_k instead, minus the constant of the score; returns the largest of all.
    #[inline(always)]
    fn interval_joints<L: Lanes>(
        &mut self,
        panel: &MixturePanel,
        (lower, upper): (&Chunk, &Chunk),
        lane: usize,
        factor: f32,
    ) -> L {
        let (zero, one, inverse) = (L::splat(0.0), L::splat(1.0), L::splat(1.0 / factor));
        let constant = L::splat(HALF_LN_2_PI + libm::logf(factor));
        let (lower, upper) = (L::load(lower), L::load(upper));
        let (width, is_interval) = (upper - lower, upper.gt(lower));
        let mut largest = L::splat(f32::NEG_INFINITY);
        for (k, component) in self.components.iter_mut().enumerate() {
            let at = k * PANEL_CHUNKS + lane;
            let (mean, inverse_sd) = (L::load(&panel.means[at]), L::load(&component.inverse_sd) * inverse);
            let TruncatedNormal { log_mass, mean: pull, excess } =
                TruncatedNormal::lanes((lower - mean) * inverse_sd, (upper - mean) * inverse_sd, width * inverse_sd);
            let z = L::load(&component.z);
            let log_joint = (L::load(&panel.log_weights[at]) + log_mass + constant)
                .select(is_interval, L::load(&component.posterior));
            log_joint.store(&mut component.posterior);
            largest = log_joint.max(largest);
            pull.select(is_interval, z).store(&mut component.pull);
            (zero - excess).select(is_interval, z.neg_mul_add(z, one)).store(&mut component.curve);
        }
        largest
    }

    /// The terms of atoms, which have a probability instead of a density. For a row at an atom j is ln weight of the atom, minus the
    /// constant of the score, and no other component counts; for other values no atom counts; for an interval the atoms inside count.
    /// Sd factors have no effect on atoms. Returns the largest of all.
    #[inline(always)]
    fn atom_joints<L: Lanes>(
        &mut self,
        panel: &MixturePanel,
        known: ObservedTargets<'_>,
        lane: usize,
        factor: f32,
    ) -> L {
        let (zero, never) = (L::splat(0.0), L::splat(f32::NEG_INFINITY));
        let constant = L::splat(HALF_LN_2_PI + libm::logf(factor));
        let [lower, upper] = known.intervals.unwrap_or([known.y; 2]);
        let (lower, upper) = (L::load(lower), L::load(upper));
        let (gaussians, atoms) = self.components.split_at_mut(panel.means.len() / PANEL_CHUNKS - panel.atoms);
        let mut largest = never;
        // The distance of the row from the nearest atom; 0 or negative if one lies in its interval.
        let mut apart = L::splat(f32::INFINITY);
        for (number, component) in atoms.iter_mut().enumerate() {
            let at = (gaussians.len() + number) * PANEL_CHUNKS + lane;
            let value = L::load(&panel.means[at]);
            let outside = (lower - value).max(value - upper);
            let log_joint = never.select(outside.gt(zero), L::load(&panel.log_weights[at]) + constant);
            log_joint.store(&mut component.posterior);
            largest = log_joint.max(largest);
            apart = outside.min(apart);
        }
        let dense = apart.max(upper - lower).gt(zero);
        for component in gaussians {
            let log_joint = L::load(&component.posterior).select(dense, never);
            log_joint.store(&mut component.posterior);
            largest = log_joint.max(largest);
        }
        largest
    }

    /// sum_k weight_k A_k - 1/2 sum_kl weight_k weight_l B_kl; also computes the terms of the gradient.
    #[inline(always)]
    fn energy_score<L: Lanes>(&mut self, panel: &MixturePanel, y: &Chunk, lane: usize) -> L {
        let y = L::load(y);
        let factor = L::splat(SQRT_2_OVER_PI);
        let minus_half = L::splat(-0.5);
        for k in 0..self.components.len() {
            let at = k * PANEL_CHUNKS + lane;
            let (before, rest) = self.components.split_at_mut(k);
            let component = &mut rest[0];
            let (weight, mean, sd) = (L::load(&panel.weights[at]), L::load(&panel.means[at]), L::load(&panel.sds[at]));
            let (z, inverse_sd) = (L::load(&component.z), L::load(&component.inverse_sd));
            let density = decay(z * z * minus_half);
            let cdf = centred_cdf(L::splat(0.0) - z);
            (factor * sd).mul_add(density, (mean - y) * cdf).store(&mut component.distance);
            density.store(&mut component.density);
            cdf.store(&mut component.cdf);
            let variance = sd * sd;
            weight.store(&mut component.weight);
            mean.store(&mut component.mean);
            variance.store(&mut component.variance);
            // B_kk = 2 sd / sqrt(pi); its density over its sd is 1 / (sqrt(2) sd).
            let mut pair_distance = weight * sd * L::splat(TWO_OVER_SQRT_PI);
            let mut pair_cdf = L::splat(0.0);
            let mut pair_density = weight * inverse_sd * L::splat(std::f32::consts::FRAC_1_SQRT_2);
            // Computed ahead of the loop that needs them: this halves the chain of dependent instructions.
            for other in before.iter_mut() {
                rsqrt(variance + L::load(&other.variance)).store(&mut other.pair_inverse);
            }
            for other in before {
                let other_weight = L::load(&other.weight);
                let spread = variance + L::load(&other.variance);
                let inverse = L::load(&other.pair_inverse);
                let apart = mean - L::load(&other.mean);
                let w = apart * inverse;
                let density = decay(w * w * minus_half);
                let cdf = centred_cdf(w);
                let distance = (factor * spread * inverse).mul_add(density, apart * cdf);
                let density = density * inverse;
                pair_distance = distance.mul_add(other_weight, pair_distance);
                pair_cdf = cdf.mul_add(other_weight, pair_cdf);
                pair_density = density.mul_add(other_weight, pair_density);
                distance.mul_add(weight, L::load(&other.pair_distance)).store(&mut other.pair_distance);
                cdf.neg_mul_add(weight, L::load(&other.pair_cdf)).store(&mut other.pair_cdf);
                density.mul_add(weight, L::load(&other.pair_density)).store(&mut other.pair_density);
            }
            pair_distance.store(&mut component.pair_distance);
            pair_cdf.store(&mut component.pair_cdf);
            pair_density.store(&mut component.pair_density);
        }
        let mut score = L::splat(0.0);
        for component in &self.components {
            let inner = L::load(&component.pair_distance).mul_add(minus_half, L::load(&component.distance));
            score = inner.mul_add(L::load(&component.weight), score);
        }
        score
    }

    /// Derivatives of log_factor · (log score) + energy_factor · (energy score), after [`Scratch::scores`], with respect to
    /// (logits, means, sds); `deltas` is 3 K × panel. There is one factor for each row; `None` if that score is not wanted.
    ///
    /// ```text
    /// log:     weight_k - posterior_k            -posterior_k z_k / sd_k             posterior_k (1 - z_k²) / sd_k
    ///          for an interval z_k and z_k² are their means in the interval
    /// energy:  weight_k (g_k - sum weight g)     weight_k (cdf_k - pair cdf_k)       weight_k sqrt(2/pi) (density_k - sd_k pair density_k)
    /// ```
    #[inline(always)]
    pub fn gradient<L: Lanes>(
        &self,
        panel: &MixturePanel,
        lane: usize,
        log_factor: Option<L>,
        energy_factor: Option<L>,
        deltas: &mut [Chunk],
    ) {
        let size = self.components.len() * PANEL_CHUNKS;
        let zero = L::splat(0.0);
        let mut average = zero;
        if energy_factor.is_some() {
            for component in &self.components {
                let slope = L::load(&component.distance) - L::load(&component.pair_distance);
                average = slope.mul_add(L::load(&component.weight), average);
            }
        }
        for (k, component) in self.components.iter().enumerate() {
            let at = k * PANEL_CHUNKS + lane;
            let (mut logit, mut mean, mut sd) = (zero, zero, zero);
            if let Some(factor) = log_factor {
                let (posterior, z) = (L::load(&component.posterior), L::load(&component.z));
                let (pull, curve) = if self.intervals {
                    (L::load(&component.pull), L::load(&component.curve))
                } else {
                    (z, z.neg_mul_add(z, L::splat(1.0)))
                };
                let scaled = factor * posterior * L::load(&component.inverse_sd);
                logit = factor * (L::load(&panel.weights[at]) - posterior);
                mean = zero - scaled * pull;
                sd = scaled * curve;
            }
            if let Some(factor) = energy_factor {
                let weight = factor * L::load(&component.weight);
                let slope = L::load(&component.distance) - L::load(&component.pair_distance);
                let cdf = L::load(&component.cdf) - L::load(&component.pair_cdf);
                let density =
                    L::load(&component.pair_density).neg_mul_add(L::load(&panel.sds[at]), L::load(&component.density));
                logit = weight.mul_add(slope - average, logit);
                mean = weight.mul_add(cdf, mean);
                sd = (weight * L::splat(SQRT_2_OVER_PI)).mul_add(density, sd);
            }
            logit.store(&mut deltas[at]);
            mean.store(&mut deltas[size + at]);
            sd.store(&mut deltas[2 * size + at]);
        }
    }
}

/// Which scores to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The logarithmic score.
    pub log: bool,
    /// The energy score.
    pub energy: bool,
}
