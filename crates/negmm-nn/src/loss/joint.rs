//! Log score and energy score by directions of a panel of mixtures over vectors in `f32` lanes, with gradients.
//!
//! The formulas are those of the reference [`negmm_dist::score::joint`]. A projection of a mixture over vectors is a mixture of one
//! variable, so the energy score along a direction is that of [`Scratch`]. Rows with unknown targets have the log score of the
//! marginal of the others: with S = A Aᵀ restricted to these (and 1 on the diagonal elsewhere), a = S⁻¹ (y - mean) and the posterior
//! weight r, dS_l / dA = r (S⁻¹ - a aᵀ) A.

#![allow(clippy::needless_range_loop)]

use super::{ObservedTargets, Scratch, Wanted};
use crate::net::{JointHead, JointPanel, MixturePanel, PANEL, PANEL_CHUNKS};
use negmm_dist::joint::{directions, draw_directions, energy_constant};
use negmm_dist::math::counter::Draws;
use negmm_dist::math::functions::{decay, ln, rsqrt};
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};

/// ln(2 pi) / 2
const HALF_LN_2_PI: f32 = 0.918_938_5;
/// Smallest pivot of a covariance of which some targets are unknown, as a fraction of the target's variance.
const LEAST_PIVOT: f32 = 1e-6;
/// Smallest squared length of a direction restricted to the known targets.
const LEAST_LENGTH: f32 = 1e-12;
/// Directions of validation scores, at least.
const VALIDATION_DIRECTIONS: usize = 8;

/// Intermediate results of a panel.
#[derive(Clone, Debug)]
pub struct JointScratch {
    head: JointHead,
    pattern: Vec<(usize, usize)>,
    /// Directions of the step, and of validation scores: directions × targets.
    directions: Vec<f32>,
    validation: Vec<f32>,
    /// Targets × panel; 0 where unknown.
    y: Vec<Chunk>,
    /// 1 where a target is known, else 0.
    known: Vec<Chunk>,
    all_known: bool,
    /// c_d and the constant of the log score for the number of known targets of each row.
    energy_constant: [Chunk; PANEL_CHUNKS],
    log_constant: [Chunk; PANEL_CHUNKS],
    one_target: Scratch,
    projected: MixturePanel,
    projected_deltas: Vec<Chunk>,
    /// A chunk of rows: components, components × targets, components × packed factors.
    posterior: Vec<Chunk>,
    z: Vec<Chunk>,
    cholesky: Vec<Chunk>,
    /// components × columns: Aᵀ u.
    v: Vec<Chunk>,
    /// targets; targets × targets.
    direction: Vec<Chunk>,
    solved: Vec<Chunk>,
    inverse: Vec<Chunk>,
    curvature: Vec<Chunk>,
    /// Derivatives with respect to (logits, means, factors), in the layout of the raw outputs.
    deltas: Vec<Chunk>,
}

fn packed(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

impl JointScratch {
    /// Buffers for mixtures of a head.
    pub fn new(head: JointHead) -> Self {
        let (d, components) = (head.targets, head.components);
        let list = |items: usize| vec![Chunk::ZERO; items];
        let single = |list: Vec<f64>| list.into_iter().map(|x| x as f32).collect();
        Self {
            head,
            pattern: head.pattern(),
            directions: Vec::new(),
            validation: single(directions(d, VALIDATION_DIRECTIONS)),
            y: list(d * PANEL_CHUNKS),
            known: list(d * PANEL_CHUNKS),
            all_known: true,
            energy_constant: [Chunk::ZERO; PANEL_CHUNKS],
            log_constant: [Chunk::ZERO; PANEL_CHUNKS],
            one_target: Scratch::new(components),
            projected: MixturePanel::new(components),
            projected_deltas: list(3 * components * PANEL_CHUNKS),
            posterior: list(components),
            z: list(components * d),
            cholesky: list(components * packed(d, 0)),
            v: list(components * head.columns()),
            direction: list(d),
            solved: list(d),
            inverse: list(d * d),
            curvature: list(d * d),
            deltas: list(head.outputs() * PANEL_CHUNKS),
        }
    }

    /// Draws the directions of a step.
    pub fn draw(&mut self, draws: &mut Draws) {
        self.directions.clear();
        self.directions.extend(draw_directions(self.head.targets, draws).into_iter().map(|x| x as f32));
    }

    /// Reads the targets of a panel: `targets` is rows × targets, in which NaN is unknown.
    pub fn read(&mut self, targets: &[f32], rows: &[u32; PANEL]) {
        let d = self.head.targets;
        self.all_known = true;
        for (at, row) in rows.iter().enumerate() {
            let (lane, column) = (at / WIDTH, at % WIDTH);
            let mut count = 0;
            for (target, y) in targets[*row as usize * d..][..d].iter().enumerate() {
                let known = !y.is_nan();
                self.y[target * PANEL_CHUNKS + lane].0[column] = if known { *y } else { 0.0 };
                self.known[target * PANEL_CHUNKS + lane].0[column] = f32::from(u8::from(known));
                count += usize::from(known);
            }
            self.all_known &= count == d;
            self.energy_constant[lane].0[column] = if count > 0 { energy_constant(count) as f32 } else { 0.0 };
            self.log_constant[lane].0[column] = HALF_LN_2_PI * count as f32;
        }
    }

    /// The sum over rows of weight · (eta · log score + (1 - eta) · energy score); its derivatives with respect to the parameters
    /// are in [`JointScratch::deltas`] afterwards.
    #[inline(always)]
    pub fn loss<L: Lanes>(&mut self, panel: &JointPanel, weights: &[Chunk; PANEL_CHUNKS], eta: f32) -> L {
        self.deltas.fill(Chunk::ZERO);
        self.projected.weights.copy_from_slice(&panel.weights);
        let directions = std::mem::take(&mut self.directions);
        let mut sum = L::splat(0.0);
        for lane in 0..PANEL_CHUNKS {
            let weight = L::load(&weights[lane]);
            if eta > 0.0 {
                let factor = weight * L::splat(eta);
                sum = self.log_score::<L>(panel, lane).mul_add(factor, sum);
                self.log_gradient::<L>(panel, lane, factor);
            }
            if eta < 1.0 {
                let factor = weight * L::splat(1.0 - eta);
                sum = self.energy_score::<L>(panel, lane, &directions, Some(factor)).mul_add(factor, sum);
            }
        }
        self.directions = directions;
        sum
    }

    /// Derivatives with respect to (logits, means, factors), after [`JointScratch::loss`].
    pub fn deltas(&self) -> &[Chunk] {
        &self.deltas
    }

    /// The sums over rows of weight · log score and of weight · energy score, by the directions of validation.
    #[inline(always)]
    pub fn scores<L: Lanes>(&mut self, panel: &JointPanel, weights: &[Chunk; PANEL_CHUNKS]) -> (L, L) {
        self.projected.weights.copy_from_slice(&panel.weights);
        let directions = std::mem::take(&mut self.validation);
        let mut sums = (L::splat(0.0), L::splat(0.0));
        for lane in 0..PANEL_CHUNKS {
            let weight = L::load(&weights[lane]);
            sums.0 = self.log_score::<L>(panel, lane).mul_add(weight, sums.0);
            sums.1 = self.energy_score::<L>(panel, lane, &directions, None).mul_add(weight, sums.1);
        }
        self.validation = directions;
        sums
    }

    /// c_d times the mean over directions of the score of the projection; adds `factor` times its derivatives, if there is one.
    #[inline(always)]
    fn energy_score<L: Lanes>(&mut self, panel: &JointPanel, lane: usize, directions: &[f32], factor: Option<L>) -> L {
        let JointHead { targets: d, components, .. } = self.head;
        let (entries, columns) = (self.head.entries(), self.head.columns());
        let size = components * PANEL_CHUNKS;
        let scale = L::load(&self.energy_constant[lane]) * L::splat(d as f32 / directions.len() as f32);
        let mut sum = L::splat(0.0);
        for direction in directions.chunks_exact(d) {
            self.restrict::<L>(direction, lane);
            let mut y = L::splat(0.0);
            for target in 0..d {
                y = L::load(&self.direction[target]).mul_add(L::load(&self.y[target * PANEL_CHUNKS + lane]), y);
            }
            let mut along = Chunk::ZERO;
            y.store(&mut along);
            for k in 0..components {
                let mut mean = L::splat(0.0);
                for target in 0..d {
                    let at = (k * d + target) * PANEL_CHUNKS + lane;
                    mean = L::load(&self.direction[target]).mul_add(L::load(&panel.means[at]), mean);
                }
                let v = &mut self.v[k * columns..][..columns];
                v.fill(Chunk::ZERO);
                for (entry, (row, column)) in self.pattern.iter().enumerate() {
                    let factor = L::load(&panel.factors[(k * entries + entry) * PANEL_CHUNKS + lane]);
                    L::load(&self.direction[*row]).mul_add(factor, L::load(&v[*column])).store(&mut v[*column]);
                }
                let mut variance = L::splat(LEAST_LENGTH);
                for v in v.iter() {
                    let v = L::load(v);
                    variance = v.mul_add(v, variance);
                }
                mean.store(&mut self.projected.means[k * PANEL_CHUNKS + lane]);
                variance.sqrt().store(&mut self.projected.sds[k * PANEL_CHUNKS + lane]);
            }
            let wanted = Wanted { log: false, energy: true };
            let known = ObservedTargets::from(&along);
            sum = sum + self.one_target.scores::<L>(&self.projected, known, lane, wanted).1;
            let Some(factor) = factor else { continue };
            let deltas = &mut self.projected_deltas;
            self.one_target.gradient::<L>(&self.projected, lane, None, Some(factor * scale), deltas);
            for k in 0..components {
                let at = k * PANEL_CHUNKS + lane;
                add::<L>(&mut self.deltas[at], L::load(&deltas[at]));
                let mean = L::load(&deltas[size + at]);
                for target in 0..d {
                    let at = size + (k * d + target) * PANEL_CHUNKS + lane;
                    add::<L>(&mut self.deltas[at], mean * L::load(&self.direction[target]));
                }
                let spread = L::load(&deltas[2 * size + at]) / L::load(&self.projected.sds[at]);
                for (entry, (row, column)) in self.pattern.iter().enumerate() {
                    let at = size * (1 + d) + (k * entries + entry) * PANEL_CHUNKS + lane;
                    let slope = L::load(&self.direction[*row]) * L::load(&self.v[k * columns + column]);
                    add::<L>(&mut self.deltas[at], spread * slope);
                }
            }
        }
        sum * scale
    }

    /// The direction for each row: restricted to the known targets, of length 1.
    #[inline(always)]
    fn restrict<L: Lanes>(&mut self, direction: &[f32], lane: usize) {
        if self.all_known {
            for (out, x) in self.direction.iter_mut().zip(direction) {
                *out = Chunk([*x; WIDTH]);
            }
            return;
        }
        let mut square = L::splat(LEAST_LENGTH);
        for (target, x) in direction.iter().enumerate() {
            let x = L::splat(*x) * L::load(&self.known[target * PANEL_CHUNKS + lane]);
            square = x.mul_add(x, square);
            x.store(&mut self.direction[target]);
        }
        let inverse = rsqrt(square);
        for out in &mut self.direction {
            (L::load(out) * inverse).store(out);
        }
    }

    /// Whether the panel's factors are the Cholesky factors of what is known.
    fn is_direct(&self) -> bool {
        self.all_known && self.head.rank.is_none()
    }

    /// -ln sum_k weight_k N(y; mean_k, S_k) over the known targets; also computes posterior weights, factors and residuals.
    #[inline(always)]
    fn log_score<L: Lanes>(&mut self, panel: &JointPanel, lane: usize) -> L {
        let JointHead { targets: d, components, .. } = self.head;
        let mut largest = L::splat(f32::NEG_INFINITY);
        for k in 0..components {
            self.factorise::<L>(panel, k, lane);
            let factor = &self.cholesky[k * packed(d, 0)..][..packed(d, 0)];
            let z = &mut self.z[k * d..][..d];
            let mut log_joint = L::load(&panel.log_weights[k * PANEL_CHUNKS + lane]);
            let mut product = L::splat(1.0);
            for row in 0..d {
                let mean = L::load(&panel.means[(k * d + row) * PANEL_CHUNKS + lane]);
                let at = row * PANEL_CHUNKS + lane;
                let mut rest = (L::load(&self.y[at]) - mean) * L::load(&self.known[at]);
                for column in 0..row {
                    rest = L::load(&factor[packed(row, column)]).neg_mul_add(L::load(&z[column]), rest);
                }
                let pivot = L::load(&factor[packed(row, row)]);
                let own = rest / pivot;
                own.store(&mut z[row]);
                log_joint = (own * own).mul_add(L::splat(-0.5), log_joint);
                product = product * pivot;
                // The logarithm of a product of a few pivots at a time, which stays in range.
                if row % 4 == 3 || row + 1 == d {
                    log_joint = log_joint - ln(product);
                    product = L::splat(1.0);
                }
            }
            log_joint.store(&mut self.posterior[k]);
            largest = log_joint.max(largest);
        }
        let mut sum = L::splat(0.0);
        for posterior in &mut self.posterior {
            let joint = decay(L::load(posterior) - largest);
            joint.store(posterior);
            sum = sum + joint;
        }
        let inverse = L::splat(1.0) / sum;
        for posterior in &mut self.posterior {
            (L::load(posterior) * inverse).store(posterior);
        }
        L::load(&self.log_constant[lane]) - largest - ln(sum)
    }

    /// The Cholesky factor of the known targets of component `k`, with 1 on the diagonal for the others.
    #[inline(always)]
    fn factorise<L: Lanes>(&mut self, panel: &JointPanel, k: usize, lane: usize) {
        let (d, entries) = (self.head.targets, self.head.entries());
        let entries = &panel.factors[k * entries * PANEL_CHUNKS..];
        let factor = &mut self.cholesky[k * packed(d, 0)..][..packed(d, 0)];
        if self.all_known && self.head.rank.is_none() {
            for (at, out) in factor.iter_mut().enumerate() {
                in_lane::<L>(entries, at, lane).store(out);
            }
            return;
        }
        let one = L::splat(1.0);
        let covariance = &mut self.inverse;
        covariance.fill(Chunk::ZERO);
        for (at, (row, column)) in self.pattern.iter().enumerate() {
            for (other, (below, same)) in self.pattern.iter().enumerate() {
                if column == same && below <= row {
                    let cell = &mut covariance[row * d + below];
                    let entry = in_lane::<L>(entries, at, lane);
                    entry.mul_add(in_lane::<L>(entries, other, lane), L::load(cell)).store(cell);
                }
            }
        }
        for row in 0..d {
            let known = in_lane::<L>(&self.known, row, lane);
            for column in 0..row {
                let both = known * in_lane::<L>(&self.known, column, lane);
                let mut rest = L::load(&covariance[row * d + column]) * both;
                for at in 0..column {
                    rest = L::load(&factor[packed(row, at)]).neg_mul_add(L::load(&factor[packed(column, at)]), rest);
                }
                (rest / L::load(&factor[packed(column, column)])).store(&mut factor[packed(row, column)]);
            }
            let variance = (L::load(&covariance[row * d + row]) - one).mul_add(known, one);
            let mut rest = variance;
            for at in 0..row {
                let own = L::load(&factor[packed(row, at)]);
                rest = own.neg_mul_add(own, rest);
            }
            rest.max(variance * L::splat(LEAST_PIVOT)).sqrt().store(&mut factor[packed(row, row)]);
        }
    }

    /// Adds `factor` times the derivatives of the log score, after [`JointScratch::log_score`].
    #[inline(always)]
    fn log_gradient<L: Lanes>(&mut self, panel: &JointPanel, lane: usize, factor: L) {
        let JointHead { targets: d, components, .. } = self.head;
        let (entries, size, direct) = (self.head.entries(), components * PANEL_CHUNKS, self.is_direct());
        for k in 0..components {
            let posterior = L::load(&self.posterior[k]);
            let weight = L::load(&panel.weights[k * PANEL_CHUNKS + lane]);
            add::<L>(&mut self.deltas[k * PANEL_CHUNKS + lane], factor * (weight - posterior));
            let scaled = factor * posterior;
            let cholesky = &self.cholesky[k * packed(d, 0)..][..packed(d, 0)];
            let z = &self.z[k * d..][..d];
            // a = L⁻ᵀ z
            for row in (0..d).rev() {
                let mut rest = L::load(&z[row]);
                for below in row + 1..d {
                    rest = L::load(&cholesky[packed(below, row)]).neg_mul_add(L::load(&self.solved[below]), rest);
                }
                (rest / L::load(&cholesky[packed(row, row)])).store(&mut self.solved[row]);
            }
            for target in 0..d {
                let at = size + (k * d + target) * PANEL_CHUNKS + lane;
                add::<L>(&mut self.deltas[at], L::splat(0.0) - scaled * L::load(&self.solved[target]));
            }
            let first = size * (1 + d) + k * entries * PANEL_CHUNKS + lane;
            if direct {
                for row in 0..d {
                    let own = L::load(&self.solved[row]);
                    for column in 0..=row {
                        let mut slope = L::splat(0.0) - own * L::load(&z[column]);
                        if row == column {
                            slope = slope + L::splat(1.0) / L::load(&cholesky[packed(row, row)]);
                        }
                        add::<L>(&mut self.deltas[first + packed(row, column) * PANEL_CHUNKS], scaled * slope);
                    }
                }
                continue;
            }
            invert::<L>(cholesky, d, &mut self.inverse);
            // The symmetric S⁻¹ - a aᵀ of the known targets.
            for row in 0..d {
                for column in 0..=row {
                    let mut entry = L::splat(0.0) - L::load(&self.solved[row]) * L::load(&self.solved[column]);
                    for at in row..d {
                        let pair = L::load(&self.inverse[at * d + row]) * L::load(&self.inverse[at * d + column]);
                        entry = entry + pair;
                    }
                    let known = |target: usize| L::load(&self.known[target * PANEL_CHUNKS + lane]);
                    let entry = entry * known(row) * known(column);
                    entry.store(&mut self.curvature[row * d + column]);
                    entry.store(&mut self.curvature[column * d + row]);
                }
            }
            for (at, (row, column)) in self.pattern.iter().enumerate() {
                let mut slope = L::splat(0.0);
                for (other, (below, same)) in self.pattern.iter().enumerate() {
                    if same == column {
                        let entry = L::load(&panel.factors[(k * entries + other) * PANEL_CHUNKS + lane]);
                        slope = L::load(&self.curvature[row * d + below]).mul_add(entry, slope);
                    }
                }
                add::<L>(&mut self.deltas[first + at * PANEL_CHUNKS], scaled * slope);
            }
        }
    }
}

/// The inverse of a packed lower triangular factor, size × size.
#[inline(always)]
fn invert<L: Lanes>(factor: &[Chunk], size: usize, inverse: &mut [Chunk]) {
    inverse.fill(Chunk::ZERO);
    for row in 0..size {
        let own = L::splat(1.0) / L::load(&factor[packed(row, row)]);
        for column in 0..row {
            let mut rest = L::splat(0.0);
            for at in column..row {
                rest = L::load(&factor[packed(row, at)]).neg_mul_add(L::load(&inverse[at * size + column]), rest);
            }
            (rest * own).store(&mut inverse[row * size + column]);
        }
        own.store(&mut inverse[row * size + row]);
    }
}

#[inline(always)]
fn add<L: Lanes>(sum: &mut Chunk, more: L) {
    (L::load(sum) + more).store(sum);
}
/// Value number `at` of a list with a panel for each, in one chunk of lanes. (A closure would not be inlined, and be compiled
/// for another instruction set.)
#[inline(always)]
fn in_lane<L: Lanes>(list: &[Chunk], at: usize, lane: usize) -> L {
    L::load(&list[at * PANEL_CHUNKS + lane])
}
