//! Few rows have the bits of a panel.

use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, floats};
use negmm_dist::math::rng::Rng;
use negmm_nn::net::{
    Activation, EmbeddedInput, FEW_ROWS, Lstm, Network, PANEL, Parameters, Periodic, SmallBatch, Stem, Workspace,
};

struct BothWays<'a>(&'a Network, &'a Parameters, &'a [f32], usize, usize);

impl Kernel for BothWays<'_> {
    type Output = [Vec<u32>; 2];

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let Self(network, parameters, x, stride, count) = self;
        let mut pass = Workspace::new(network);
        pass.read::<L>(x, stride, &std::array::from_fn(|at| at.min(count - 1) as u32));
        pass.forward::<L>(network.activation, parameters.chunks(), None);
        let rows = |outputs: &[Chunk]| -> Vec<u32> {
            let outputs = floats(outputs).chunks_exact(PANEL);
            outputs.flat_map(|output| &output[..count]).map(|value| value.to_bits()).collect()
        };
        let mut few = SmallBatch::new(network);
        [rows(pass.outputs()), rows(few.forward::<L>(x, stride, count, parameters))]
    }
}

#[test]
fn few_rows_have_the_bits_of_a_panel() {
    let embedded =
        vec![EmbeddedInput { input: 1, low: -1.0, high: 1.0 }, EmbeddedInput { input: 4, low: -2.0, high: 2.0 }];
    let stems = [
        None,
        Some(Stem::Periodic(Periodic { inputs: 6, frequency: 1.0, embedded })),
        Some(Stem::Lstm(Lstm { channels: 2, window: 3, hidden: 5, layers: 2 })),
    ];
    let shapes = [
        (vec![], false, Activation::Relu, 1),
        (vec![16, 16, 15], true, Activation::Silu, 16),
        (vec![33, 33, 33, 7], true, Activation::Tanh, 24),
    ];
    let (stride, mut rng) = (16, Rng::new(3, 0));
    for stem in stems {
        for (hidden, residual, activation, outputs) in shapes.clone() {
            let network = Network { inputs: 6, stem: stem.clone(), hidden, residual, activation, outputs };
            let parameters = Parameters::from(network.initial_parameters(&mut rng));
            for count in 1..=FEW_ROWS {
                let x: Vec<f32> = (0..count * stride)
                    .map(|at| if at % stride < 6 { 4.0 * rng.uniform() as f32 - 2.0 } else { 0.0 })
                    .collect();
                for isa in Isa::ALL {
                    let [panel, few] = isa.run(BothWays(&network, &parameters, &x, stride, count));
                    assert_eq!(few, panel, "{network:?} {count} {isa:?}");
                }
            }
        }
    }
}
