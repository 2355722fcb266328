//! The arithmetic floor of a training step: a lower bound on its time, from the operations of its formulas at peak throughput.
//!
//! Peak throughput is measured: [`peak`] runs independent chains of fused multiply-adds in registers, without memory access.
//! An operation is one addition, multiplication or fused multiply-add of one `f32`, all at that one rate. A division and
//! a square root also count as one, though every CPU takes several times as long for them. Nothing else counts:
//! comparisons, bit operations, loads, stores, transposes, shuffling and gathering rows are free. So the ratio to the floor
//! bounds what could still be gained without changing the formulas, but for one thing: a core that has adders beside its
//! multiply-add units can do the additions at the same time.

use std::hint::black_box;

use negmm::net::{Activation, Network, Stem};
use negmm::train::Optimiser;
use negmm_dist::math::lanes::{Isa, Kernel, Lanes, WIDTH};

/// e^x: range reduction 3, polynomial of degree 6 with 7, scaling 1.
const EXP: usize = 11;
/// ln x: polynomial of degree 10 with 12, putting the exponent back 2.
const LN: usize = 14;
/// softplus and its derivative: e^x, a polynomial of degree 10 with 10, 4 more.
const SOFTPLUS: usize = EXP + 14;
/// 2 cdf(x) - 1 of the normal distribution: polynomials of degrees 6 and 5 in x², 3 more.
const CENTRED_CDF: usize = 14;
/// 1 / sqrt(x) from an integer guess: a step of second order with 5, one of first with 4.
const RSQRT: usize = 9;
/// sin and cos of an angle in turns: its fraction 2, polynomials of degree 6 in its square 13, one more.
const SIN_COS: usize = 16;
/// One frequency of a periodic embedding: angle 1, sine and cosine, three outputs and their gradients 6, derivative 4, phase and
/// frequency 2.
const FREQUENCY: usize = SIN_COS + 13;
/// Adam: two moments 2 + 3, the root and its correction 2, quotient and step 2.
const ADAM: usize = 9;
/// Schedule-free Adam: one moment 3, the root and its correction 2, quotient and step 2, average and mean of both 4.
const SCHEDULE_FREE: usize = 11;
/// Muon beside its products: momentum and update 4, norm 2, scaling 1, the step 1.
const MUON: usize = 8;

/// Operations of one training step on `batch` rows.
///
/// With W weights and biases, W' weights behind the first layer, K components and P = K (K - 1) / 2 pairs, a row costs
///
/// ```text
/// forward                          W
/// weight gradient                  W
/// gradient of hidden units         W'
/// activation and its derivative    2 a unit; tanh 14, SiLU 17
/// softmax                          K (exp + 4)
/// sds                              K (softplus + 2)
/// log score and its gradient       K (exp + ln + 16)
/// energy score, its gradient       K (exp + cdf + 26) + P (rsqrt + exp + cdf + 16)
/// periodic embedding               16 (sin and cos + 13) an input; W is then without, W' with the first layer
/// ```
///
/// a residual layer one addition a unit and row more in each direction, and the step W times the optimiser; Muon has its products
/// besides (`Optimiser::multiplications`), the polynomials between them are free.
pub fn operations(network: &Network, components: usize, batch: usize, optimiser: Optimiser) -> usize {
    let layers = network.layers();
    let weights: usize = layers.iter().map(|layer| (layer.inputs + 1) * layer.outputs).sum();
    let (skipped, frequencies) = match &network.stem {
        Some(Stem::Periodic(periodic)) => (0, periodic.embedded.len() * WIDTH),
        _ => (1, 0),
    };
    let back: usize = layers.iter().skip(skipped).map(|layer| layer.inputs * layer.outputs).sum();
    let units: usize = network.hidden.iter().sum();
    let unit = match network.activation {
        Activation::Relu => 2,
        Activation::Tanh => 14,
        Activation::Silu => EXP + 6,
    };
    let pairs = components * (components - 1) / 2;
    let component = (EXP + 4) + (SOFTPLUS + 2) + (EXP + LN + 16) + (EXP + CENTRED_CDF + 26);
    let pair = RSQRT + EXP + CENTRED_CDF + 16;
    let added: usize = layers.iter().filter(|layer| layer.residual).map(|layer| 2 * layer.outputs).sum();
    let row =
        2 * weights + back + units * unit + added + components * component + pairs * pair + frequencies * FREQUENCY;
    let parameters = network.parameters();
    let step = match optimiser {
        Optimiser::ScheduleFree => parameters * SCHEDULE_FREE,
        Optimiser::Muon => {
            let hidden = &layers[..network.hidden.len()];
            let matrices: usize = hidden.iter().map(|layer| layer.inputs * layer.outputs).sum();
            matrices * MUON + (parameters - matrices) * ADAM
        }
        _ => parameters * ADAM,
    };
    batch * row + step + optimiser.multiplications(network)
}

/// Independent chains: more than the FMA units of any core times their latency in cycles.
const CHAINS: usize = 12;
const STEPS: usize = 20_000;

/// A chain is sum = sum * factor + 1.
struct MultiplyAdds {
    factor: f32,
}

impl Kernel for MultiplyAdds {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let factor = L::splat(self.factor);
        // Sixteen lanes take two registers where vectors are short: half as many chains then fill as many registers.
        let sum = if L::WIDE { chains::<L, CHAINS>(factor) } else { chains::<L, { CHAINS / 2 }>(factor) };
        sum.sum()
    }
}

/// `STEPS * CHAINS` multiply-adds of sixteen lanes, in `N` chains with different starting values, or the compiler would merge them.
#[inline(always)]
fn chains<L: Lanes, const N: usize>(factor: L) -> L {
    let one = L::splat(1.0);
    let mut sums = [one; N];
    for at in 1..N {
        sums[at] = sums[at - 1] + one;
    }
    for _ in 0..STEPS * CHAINS / N {
        for sum in &mut sums {
            *sum = sum.mul_add(factor, one);
        }
    }
    let mut total = L::splat(0.0);
    for sum in sums {
        total = total + sum;
    }
    total
}

/// Fused multiply-adds of `f32` a second on one core: the best over instruction sets and many runs.
pub fn peak() -> f64 {
    [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.available()).map(peak_of).fold(0.0, f64::max)
}

/// The same with one instruction set: the best of many runs.
pub fn peak_of(isa: Isa) -> f64 {
    let seconds = crate::fastest(0.05, || _ = black_box(isa.run(MultiplyAdds { factor: black_box(0.5) })));
    (STEPS * CHAINS * WIDTH) as f64 / seconds
}
