//! Optimisers against plain f64 code and against the results of the authors' programs for the same gradients.

use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_nn::net::{Activation, Network};
use negmm_nn::train::Optimiser;
use negmm_nn::train::{Decay, OptimiserState};

/// Gradient number `at` of step `step`.
fn gradient(step: usize, at: usize) -> f64 {
    libm::sin((1 + 3 * step + 7 * at) as f64)
}

fn network(inputs: usize, hidden: &[usize], outputs: usize) -> Network {
    Network { inputs, stem: None, hidden: hidden.to_vec(), residual: false, activation: Activation::Silu, outputs }
}

/// Steps from `start` with gradients that do not depend on the weights; numbers are those of the layers, the bias of a row last.
struct Steps<'a> {
    optimiser: Optimiser,
    network: &'a Network,
    start: &'a [f64],
    rates: &'a [f64],
    decay: f64,
    /// For each number which gradient it has.
    numbering: &'a dyn Fn(usize) -> usize,
}

impl Kernel for Steps<'_> {
    /// The weights, and the average where there is one.
    type Output = (Vec<f32>, Option<Vec<f32>>);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let indices = indices(self.network);
        let mut weights = vec![Chunk::ZERO; self.network.chunks()];
        for (index, number) in indices.iter().zip(self.start) {
            floats_mut(&mut weights)[*index] = *number as f32;
        }
        let mut memory = OptimiserState::new(self.optimiser, self.network, &weights);
        for (step, rate) in self.rates.iter().enumerate() {
            let mut gradients = vec![Chunk::ZERO; weights.len()];
            for (at, index) in indices.iter().enumerate() {
                floats_mut(&mut gradients)[*index] = gradient(step, (self.numbering)(at)) as f32;
            }
            let decay = Decay { network: self.network, factor: (1.0 - rate * self.decay) as f32 };
            memory.step::<L>(&mut weights, &mut gradients, *rate, decay);
        }
        let numbers = |chunks: &[Chunk]| indices.iter().map(|index| floats(chunks)[*index]).collect();
        (numbers(&weights), memory.average().map(numbers))
    }
}

/// Where each weight and bias lies.
fn indices(network: &Network) -> Vec<usize> {
    let layers = network.layers();
    let rows = layers.iter().flat_map(|layer| (0..layer.outputs).map(move |row| (layer, row)));
    rows.flat_map(|(layer, row)| {
        let start = (layer.start + row * layer.stride) * WIDTH;
        start..=start + layer.inputs
    })
    .collect()
}

/// With every instruction set, which all give the same bits.
fn stepped(optimiser: Optimiser, network: &Network, start: &[f64], rates: &[f64], decay: f64) -> (Vec<f32>, Vec<f32>) {
    numbered(Steps { optimiser, network, start, rates, decay, numbering: &|at| at })
}

fn numbered(Steps { optimiser, network, start, rates, decay, numbering }: Steps<'_>) -> (Vec<f32>, Vec<f32>) {
    let steps = || Steps { optimiser, network, start, rates, decay, numbering };
    let found = Isa::Plain.run(steps());
    for isa in Isa::ALL {
        assert_eq!(isa.run(steps()), found, "{isa:?}");
    }
    (found.0, found.1.unwrap_or_default())
}

fn assert_close(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() < tolerance, "number {at}: {found} {expected}");
    }
}

#[test]
fn schedule_free_agrees_with_plain_f64_code() {
    // One output with 18 inputs, of whose weights and bias each is by itself.
    let network = network(18, &[], 1);
    let start: Vec<f64> = (0..19).map(|at| 0.1 * f64::from(at) - 0.7).collect();
    let rates: Vec<f64> = (0..20).map(|step| 0.012 * f64::min(1.0, f64::from(step + 1) / 6.0)).collect();
    for decay in [0.0, 0.5] {
        let (mut y, mut x, mut z, mut v) = (start.clone(), start.clone(), start.clone(), [0.0; 19]);
        let mut total = 0.0;
        for (step, rate) in rates.iter().enumerate() {
            total += rate * rate;
            for at in 0..19 {
                let g = gradient(step, at);
                v[at] = 0.999 * v[at] + 0.001 * g * g;
                let corrected = v[at] / (1.0 - libm::pow(0.999, (step + 1) as f64));
                z[at] -= rate * g / (corrected.sqrt() + 1e-8);
                // The last is the bias.
                z[at] *= if at < 18 { 1.0 - rate * decay } else { 1.0 };
                x[at] += rate * rate / total * (z[at] - x[at]);
                y[at] = 0.1 * z[at] + 0.9 * x[at];
            }
        }
        let (weights, average) = stepped(Optimiser::ScheduleFree, &network, &start, &rates, decay);
        assert_close(&weights, &y, 1e-6);
        assert_close(&average, &x, 1e-6);
    }
}

#[test]
fn schedule_free_agrees_with_the_authors_program() {
    // AdamWScheduleFree of the package schedulefree 1.4.1, lr 0.012, betas 0.9 and 0.999, two steps of warm-up, in f64.
    let (weights, average) = stepped(
        Optimiser::ScheduleFree,
        &network(3, &[], 1),
        &[0.5, -0.25, 0.125, 1.0],
        &[0.006, 0.012, 0.012, 0.012, 0.012],
        0.0,
    );
    let y = [0.499_519_989_645_05, -0.250_761_233_476_52, 0.124_166_490_099_98, 1.012_323_150_154_56];
    let x = [0.499_855_774_709_20, -0.250_237_542_548_69, 0.124_818_889_792_95, 1.013_239_211_358_55];
    assert_close(&weights, &y, 5e-7);
    assert_close(&average, &x, 5e-7);
}

#[test]
fn muon_agrees_with_pytorch() {
    // torch.optim.Muon of PyTorch 2.15, lr 0.012, three steps of Newton-Schulz, adjust_lr_fn "match_rms_adamw", made to
    // iterate in f64 where it takes bfloat16.
    let wide = [
        -0.001_109_774_3,
        0.007_315_977_4,
        0.017_062_792_9,
        0.028_255_288_5,
        0.040_306_523_2,
        0.051_355_275_5,
        0.061_128_857_6,
        0.070_346_821_1,
        0.079_394_080_8,
        0.088_739_571_2,
        0.098_660_270_6,
        0.110_643_743_1,
        0.122_310_368_1,
        0.132_839_840_4,
        0.141_971_556_1,
    ];
    let high = [
        -0.001_915_150_8,
        0.008_339_331_7,
        0.019_411_187_6,
        0.028_988_308_8,
        0.041_072_098_5,
        0.052_628_206_1,
        0.063_023_416_6,
        0.070_486_228_9,
        0.077_709_721_6,
        0.087_699_663_7,
        0.098_395_257_9,
        0.109_880_698_9,
        0.119_496_506_4,
        0.131_271_699_5,
        0.142_420_967_8,
    ];
    for (inputs, units, expected) in [(5, 3, wide), (3, 5, high)] {
        let network = network(inputs, &[units], 1);
        // Without the bias that ends each row.
        let number = |at: usize| at / (inputs + 1) * inputs + at % (inputs + 1);
        let start: Vec<f64> = (0..network.parameters()).map(|at| 0.01 * number(at) as f64).collect();
        let (found, _) = numbered(Steps {
            optimiser: Optimiser::Muon,
            network: &network,
            start: &start,
            rates: &[0.012; 3],
            decay: 0.0,
            numbering: &number,
        });
        let is_weight = |at: &usize| *at < units * (inputs + 1) && at % (inputs + 1) < inputs;
        let weights: Vec<f32> = (0..found.len()).filter(is_weight).map(|at| found[at]).collect();
        assert_close(&weights, &expected, 1e-6);
    }
}

/// X by plain f64 code for a matrix of rows.
fn orthogonalised(update: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let column = |row: &Vec<f64>, at: usize| row.iter().zip(b).map(|(a, b)| a * b[at]).sum();
        a.iter().map(|row| (0..b[0].len()).map(|at| column(row, at)).collect()).collect()
    };
    let norm = update.iter().flatten().map(|number| number * number).sum::<f64>().sqrt();
    let mut x: Vec<Vec<f64>> = update.iter().map(|row| row.iter().map(|number| number / norm).collect()).collect();
    for _ in 0..3 {
        let gram = product(&x, &transposed(&x));
        let square = product(&gram, &gram);
        let (first, third, fifth) = (&x, product(&gram, &x), product(&square, &x));
        x = (0..x.len())
            .map(|row| {
                let column = |at: usize| 3.4445 * first[row][at] - 4.775 * third[row][at] + 2.0315 * fifth[row][at];
                (0..x[0].len()).map(column).collect()
            })
            .collect();
    }
    x
}

fn transposed(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..matrix[0].len()).map(|column| matrix.iter().map(|row| row[column]).collect()).collect()
}

#[test]
fn muon_agrees_with_plain_f64_code() {
    // Wider than high, higher than wide, and across whole chunks.
    for (inputs, units) in [(5, 3), (3, 5), (16, 16), (33, 20), (20, 33), (1, 4), (256, 5), (5, 250)] {
        let network = network(inputs, &[units], 2);
        let numbers = network.parameters();
        let start: Vec<f64> = (0..numbers).map(|at| 0.01 * (at % 100) as f64 - 0.3).collect();
        let rates = [0.012, 0.01, 0.008];
        let (found, _) = stepped(Optimiser::Muon, &network, &start, &rates, 0.0);
        let (by_adam, _) = stepped(Optimiser::Adam, &network, &start, &rates, 0.0);
        let index = |unit: usize, input: usize| unit * (inputs + 1) + input;
        let mut momentum = vec![vec![0.0; inputs]; units];
        let mut expected = start.clone();
        for (step, rate) in rates.iter().enumerate() {
            let mut update = momentum.clone();
            for unit in 0..units {
                for input in 0..inputs {
                    let g = gradient(step, index(unit, input));
                    let m = &mut momentum[unit][input];
                    *m = 0.95 * *m + 0.05 * g;
                    update[unit][input] = 0.05 * g + 0.95 * *m;
                }
            }
            let x = orthogonalised(&update);
            for unit in 0..units {
                for input in 0..inputs {
                    let size = 0.2 * (inputs.max(units) as f64).sqrt();
                    expected[index(unit, input)] -= rate * size * x[unit][input];
                }
            }
        }
        // Biases and the last layer have Adam.
        for at in 0..numbers {
            if at >= units * (inputs + 1) || at % (inputs + 1) == inputs {
                expected[at] = f64::from(by_adam[at]);
            }
        }
        assert_close(&found, &expected, 3e-6);
    }
}

#[test]
fn without_a_gradient_muon_stays() {
    let network = network(3, &[4], 1);
    let steps = |rates: &[f64]| stepped(Optimiser::Muon, &network, &[0.5; 21], rates, 0.0);
    let mut memory = OptimiserState::new(Optimiser::Muon, &network, &vec![Chunk::ZERO; network.chunks()]);
    struct Still<'a>(&'a mut OptimiserState, &'a Network);
    impl Kernel for Still<'_> {
        type Output = Vec<Chunk>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<Chunk> {
            let mut weights = vec![Chunk::ZERO; self.1.chunks()];
            let mut gradient = weights.clone();
            self.0.step::<L>(&mut weights, &mut gradient, 0.1, Decay { network: self.1, factor: 1.0 });
            weights
        }
    }
    let still = Isa::best().run(Still(&mut memory, &network));
    assert!(floats(&still).iter().all(|weight| *weight == 0.0));
    assert!(steps(&[0.1]).0.iter().any(|weight| *weight != 0.5));
}
