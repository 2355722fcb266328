//! The LSTM against a plain f64 reference, central differences and PyTorch; on every instruction set the same bits.

use negmm_dist::Rng;
use negmm_dist::math::counter::Counter;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_nn::net::{Dropout, LstmLayer, LstmWorkspace, PANEL, PANEL_CHUNKS};
use negmm_nn::net::{Lstm, Stem};
use serde::Deserialize;

/// Forward and backward of one panel.
struct Both<'a> {
    workspace: &'a mut LstmWorkspace,
    rows: &'a [Chunk],
    weights: &'a [Chunk],
    dropout: Option<Dropout<'a>>,
    deltas: &'a [Chunk],
    gradient: &'a mut [Chunk],
}

impl Kernel for Both<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<f32> {
        self.workspace.forward::<L>(self.rows, self.weights, self.dropout);
        self.workspace.backward::<L>(self.deltas, self.weights, self.gradient);
        floats(self.workspace.outputs()).to_vec()
    }
}

/// A panel with everything the LSTM is given; the loss is the sum of coefficient · output.
struct Case {
    lstm: Lstm,
    weights: Vec<Chunk>,
    rows: Vec<Chunk>,
    coefficients: Vec<Chunk>,
}

impl Case {
    /// Random numbers; the coefficients of rows that are not `counted` are zero.
    fn random(lstm: Lstm, counted: &[usize]) -> Self {
        let mut rng = Rng::new(11, 0);
        let weights = lstm.initial_parameters(&mut rng);
        let mut panel = |units: usize| -> Vec<Chunk> {
            let mut draw = || (4.0 * rng.uniform() - 2.0) as f32;
            (0..units * PANEL_CHUNKS).map(|_| Chunk(std::array::from_fn(|_| draw()))).collect()
        };
        let (rows, mut coefficients) = (panel(lstm.inputs()), panel(lstm.hidden));
        for (at, coefficient) in floats_mut(&mut coefficients).iter_mut().enumerate() {
            if !counted.contains(&(at % PANEL)) {
                *coefficient = 0.0;
            }
        }
        Self { lstm, weights, rows, coefficients }
    }

    /// Outputs and gradient.
    fn run(&self, isa: Isa, workspace: &mut LstmWorkspace, dropout: Option<Dropout<'_>>) -> (Vec<f32>, Vec<Chunk>) {
        let mut gradient = vec![Chunk::ZERO; self.lstm.chunks()];
        let (rows, weights, deltas) = (&self.rows, &self.weights, &self.coefficients);
        let outputs = isa.run(Both { workspace, rows, weights, dropout, deltas, gradient: &mut gradient });
        (outputs, gradient)
    }

    /// The numbers of one row of the panel.
    fn row(&self, row: usize) -> Vec<f64> {
        floats(&self.rows).iter().skip(row).step_by(PANEL).map(|&x| f64::from(x)).collect()
    }
}

/// A layer's weight_hh, weight_ih and bias as a framework has them.
struct Reference {
    inputs: usize,
    hidden: usize,
    tensors: [Vec<f64>; 3],
}

fn reference(lstm: &Lstm, weights: &[Chunk]) -> Vec<Reference> {
    let layer = |layer: LstmLayer| Reference {
        inputs: layer.inputs,
        hidden: layer.hidden,
        tensors: layer.tensors().map(|tensor| tensor.read(weights).map(f64::from).collect()),
    };
    lstm.layout(0).into_iter().map(layer).collect()
}

/// The last layer's hidden state after the last step for one row, with loops.
fn outputs(layers: &[Reference], window: usize, row: &[f64]) -> Vec<f64> {
    let mut sequence: Vec<Vec<f64>> = row.chunks(row.len() / window).map(<[f64]>::to_vec).collect();
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    for layer in layers {
        let (n, m) = (layer.hidden, layer.inputs);
        let [weight_hh, weight_ih, bias] = &layer.tensors;
        let (mut h, mut c) = (vec![0.0; n], vec![0.0; n]);
        for x in &mut sequence {
            let z: Vec<f64> = (0..4 * n)
                .map(|gate| {
                    let own: f64 = (0..n).map(|unit| weight_hh[gate * n + unit] * h[unit]).sum();
                    let given: f64 = (0..m).map(|input| weight_ih[gate * m + input] * x[input]).sum();
                    own + given + bias[gate]
                })
                .collect();
            for unit in 0..n {
                let (i, f) = (sigmoid(z[unit]), sigmoid(z[n + unit]));
                let (g, o) = (z[2 * n + unit].tanh(), sigmoid(z[3 * n + unit]));
                c[unit] = f * c[unit] + i * g;
                h[unit] = o * c[unit].tanh();
            }
            x.clone_from(&h);
        }
    }
    sequence.pop().unwrap()
}

fn shapes() -> impl Iterator<Item = Lstm> {
    let all = |layers| [1, 3].map(|channels| (layers, channels));
    [1, 2].into_iter().flat_map(all).flat_map(|(layers, channels)| {
        [1, 2, 7]
            .into_iter()
            .flat_map(move |window| [3, 16, 20].map(|hidden| Lstm { channels, window, hidden, layers }))
    })
}

#[test]
fn forward_equals_the_plain_reference() {
    for lstm in shapes() {
        let case = Case::random(lstm, &[]);
        let (found, _) = case.run(Isa::best(), &mut LstmWorkspace::new(&lstm), None);
        let layers = reference(&lstm, &case.weights);
        for row in 0..PANEL {
            for (unit, expected) in outputs(&layers, lstm.window, &case.row(row)).into_iter().enumerate() {
                let found = f64::from(found[unit * PANEL + row]);
                assert!((found - expected).abs() < 1e-6, "{lstm:?}, row {row}, unit {unit}: {found} {expected}");
            }
        }
    }
}

#[test]
fn gradients_equal_central_differences() {
    const STEP: f64 = 1e-5;
    // One row in each vector of a panel.
    let counted = [3, 28];
    for lstm in shapes() {
        let case = Case::random(lstm, &counted);
        let (_, gradient) = case.run(Isa::best(), &mut LstmWorkspace::new(&lstm), None);
        let rows: Vec<Vec<f64>> = counted.iter().map(|&row| case.row(row)).collect();
        let loss = |layers: &[Reference]| -> f64 {
            let mut sum = 0.0;
            for (x, &row) in rows.iter().zip(&counted) {
                for (unit, h) in outputs(layers, lstm.window, x).into_iter().enumerate() {
                    sum += h * f64::from(floats(&case.coefficients)[unit * PANEL + row]);
                }
            }
            sum
        };
        let mut layers = reference(&lstm, &case.weights);
        for (index, layer) in lstm.layout(0).into_iter().enumerate() {
            for (kind, tensor) in layer.tensors().into_iter().enumerate() {
                for (at, found) in tensor.read(&gradient).enumerate() {
                    let kept = layers[index].tensors[kind][at];
                    let mut moved = |step: f64| {
                        layers[index].tensors[kind][at] = kept + step;
                        loss(&layers)
                    };
                    let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                    layers[index].tensors[kind][at] = kept;
                    let error = (f64::from(found) - expected).abs();
                    assert!(
                        error < 4e-6 * (1.0 + expected.abs()),
                        "{lstm:?}, layer {index}, {} {at}: {found} {expected}",
                        tensor.name
                    );
                }
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let all: Vec<usize> = (0..PANEL).collect();
    for lstm in shapes().chain([Lstm { channels: 1, window: 12, hidden: 64, layers: 3 }]) {
        let case = Case::random(lstm, &all);
        let run = |isa: Isa| {
            let draws = &mut Counter::new(5, 0).step(0);
            let (outputs, gradient) = case.run(isa, &mut LstmWorkspace::new(&lstm), Some(Dropout { rate: 0.2, draws }));
            let bits = outputs.iter().chain(floats(&gradient)).map(|x| x.to_bits());
            bits.collect::<Vec<u32>>()
        };
        let plain = run(Isa::Plain);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.available()) {
            assert!(run(isa) == plain, "{lstm:?} {isa:?}");
        }
    }
}

#[test]
fn dropout_acts_between_layers_only() {
    let all: Vec<usize> = (0..PANEL).collect();
    let rate = 0.5;
    for layers in [1, 2] {
        let lstm = Lstm { channels: 2, window: 5, hidden: 8, layers };
        let case = Case::random(lstm, &all);
        let workspace = &mut LstmWorkspace::new(&lstm);
        let before = case.run(Isa::best(), workspace, None);
        let dropped = case.run(Isa::best(), workspace, Some(Dropout { rate, draws: &mut Counter::new(5, 0).step(0) }));
        assert_eq!(before == dropped, layers == 1);
        assert!(case.run(Isa::best(), workspace, None) == before, "dropout of an earlier workspace is left behind");
    }
}

#[test]
fn gradient_with_dropout_is_the_slope_of_the_loss() {
    const STEP: f32 = 1e-2;
    let all: Vec<usize> = (0..PANEL).collect();
    let lstm = Lstm { channels: 2, window: 5, hidden: 8, layers: 3 };
    let mut case = Case::random(lstm, &all);
    let (weights, workspace) = (case.weights.clone(), &mut LstmWorkspace::new(&lstm));
    let mut run = |case: &Case| {
        case.run(Isa::best(), workspace, Some(Dropout { rate: 0.4, draws: &mut Counter::new(5, 0).step(0) }))
    };
    let gradient = run(&case).1;
    // The step follows the gradient itself, so that the slope is its squared length.
    let length = floats(&gradient).iter().map(|g| g * g).sum::<f32>().sqrt();
    let mut loss = |step: f32| -> f64 {
        for ((moved, weight), g) in
            floats_mut(&mut case.weights).iter_mut().zip(floats(&weights)).zip(floats(&gradient))
        {
            *moved = weight + step / length * g;
        }
        let outputs = run(&case).0;
        outputs.iter().zip(floats(&case.coefficients)).map(|(h, k)| f64::from(*h) * f64::from(*k)).sum()
    };
    let slope = (loss(STEP) - loss(-STEP)) / (2.0 * f64::from(STEP));
    assert!((slope / f64::from(length) - 1.0).abs() < 2e-3, "{slope} {length}");
}

#[test]
fn outputs_are_finite_for_any_finite_input() {
    let lstm = Lstm { channels: 3, window: 6, hidden: 5, layers: 2 };
    let mut case = Case::random(lstm, &[0]);
    let values = [f32::MAX, -f32::MAX, 1e30, -1e10, 0.0, f32::MIN_POSITIVE];
    for (at, x) in floats_mut(&mut case.rows).iter_mut().enumerate() {
        *x = values[(at * 7 + at / PANEL) % values.len()];
    }
    for weight in floats_mut(&mut case.weights) {
        *weight *= 100.0;
    }
    let (outputs, _) = case.run(Isa::best(), &mut LstmWorkspace::new(&lstm), None);
    assert!(outputs.iter().all(|h| h.abs() <= 1.0), "{outputs:?}");
}

#[test]
fn a_long_window_leaves_no_denormals() {
    let lstm = Lstm { channels: 1, window: 600, hidden: 4, layers: 1 };
    let mut case = Case::random(lstm, &[0, 20]);
    // Closed forget gates: the past fades fast. Only the oldest steps have an input, so its gradient fades with them.
    for weight in floats_mut(&mut case.weights) {
        *weight *= 0.1;
    }
    case.rows[20 * PANEL_CHUNKS..].fill(Chunk::ZERO);
    let (_, gradient) = case.run(Isa::best(), &mut LstmWorkspace::new(&lstm), None);
    assert!(floats(&gradient).iter().all(|g| *g == 0.0 || g.is_normal()));
    assert!(lstm.layout(0)[0].tensors()[1].read(&gradient).all(|g| g == 0.0));
}

#[test]
fn tensors_read_what_was_written_and_nothing_else() {
    let lstm = Lstm { channels: 3, window: 2, hidden: 5, layers: 2 };
    let start = 7;
    let mut weights = vec![Chunk([f32::NAN; WIDTH]); start + lstm.chunks()];
    let mut next = 0.0;
    let mut count = 0;
    for layer in lstm.layout(start) {
        for tensor in layer.tensors() {
            let values: Vec<f32> = (0..tensor.shape.iter().product()).map(|at: usize| next + at as f32).collect();
            next += values.len() as f32;
            count += values.len();
            tensor.write(&mut weights, &values);
        }
    }
    assert_eq!(count, Stem::Lstm(lstm).parameters());
    assert_eq!(floats(&weights).iter().filter(|x| !x.is_nan()).count(), count);
    let tensors = lstm.layout(start).into_iter().flat_map(|layer| layer.tensors());
    let read: Vec<f32> = tensors.flat_map(|tensor| tensor.read(&weights).collect::<Vec<_>>()).collect();
    assert!(read.iter().enumerate().all(|(at, &x)| x == at as f32));
    assert!(Lstm { window: 0, ..lstm }.check().is_err() && lstm.check().is_ok());
}

#[derive(Deserialize)]
struct Saved {
    lstm: Lstm,
    rows: usize,
    x: Vec<f32>,
    coefficients: Vec<f32>,
    outputs: Vec<f32>,
    layers: Vec<SavedLayer>,
}

#[derive(Deserialize)]
struct SavedLayer {
    #[serde(flatten)]
    weights: Tensors,
    gradient: Tensors,
}

#[derive(Deserialize)]
struct Tensors {
    weight_hh: Vec<f32>,
    weight_ih: Vec<f32>,
    bias: Vec<f32>,
}

impl Tensors {
    fn by_name(&self, name: &str) -> &[f32] {
        match name {
            "weight_hh" => &self.weight_hh,
            "weight_ih" => &self.weight_ih,
            _ => &self.bias,
        }
    }
}

/// Numbers from `bench/peers/lstm_reference.py`.
#[test]
fn outputs_and_gradients_equal_those_of_pytorch() {
    let saved: Saved = serde_json::from_str(include_str!("reference/lstm.json")).unwrap();
    let lstm = saved.lstm;
    let mut case = Case::random(lstm, &[]);
    for (row, x) in saved.x.chunks(lstm.inputs()).enumerate() {
        for (at, &x) in x.iter().enumerate() {
            floats_mut(&mut case.rows)[at * PANEL + row] = x;
        }
    }
    for (at, &coefficient) in saved.coefficients.iter().enumerate() {
        floats_mut(&mut case.coefficients)[at % lstm.hidden * PANEL + at / lstm.hidden] = coefficient;
    }
    for (layer, saved) in lstm.layout(0).iter().zip(&saved.layers) {
        for tensor in layer.tensors() {
            tensor.write(&mut case.weights, saved.weights.by_name(&tensor.name));
        }
    }
    let (outputs, gradient) = case.run(Isa::best(), &mut LstmWorkspace::new(&lstm), None);
    assert_eq!(saved.outputs.len(), saved.rows * lstm.hidden);
    for (at, expected) in saved.outputs.iter().enumerate() {
        let found = outputs[at % lstm.hidden * PANEL + at / lstm.hidden];
        assert!((found - expected).abs() < 1e-5, "output {at}: {found} {expected}");
    }
    for (index, (layer, saved)) in lstm.layout(0).iter().zip(&saved.layers).enumerate() {
        for tensor in layer.tensors() {
            let expected = saved.gradient.by_name(&tensor.name);
            assert_eq!(expected.len(), tensor.shape.iter().product::<usize>());
            for (at, (found, expected)) in tensor.read(&gradient).zip(expected).enumerate() {
                let error = (found - expected).abs();
                assert!(error < 1e-5, "layer {index} {} {at}: {found} {expected}", tensor.name);
            }
        }
    }
}
