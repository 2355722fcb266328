//! A periodic embedding: the layout of its weights in one flat buffer.
//!
//! A number x is mapped to four: x itself and three linear combinations ("mixes") of sixteen cosines, all of whose parameters are
//! trained (after Gorishniy, Rubachev & Babenko, 2022, "On embeddings for numerical features in tabular deep learning"):
//!
//! ```text
//! mix_m(x) = sum_k c_mk cos(2 pi w_k x + b_k) + d_m       k = 1 … 16, m = 1 … 3
//! w_k ~ N(0, frequency²)    b_k ~ U(-pi, pi)    c_mk ~ U(-1/4, 1/4)    d_m = 0      at the start
//! ```
//!
//! Each input has its own parameters. The argument of the cosines is clamped to the range of the training rows, since cosines do not
//! extrapolate; x itself is not clamped.

use serde::{Deserialize, Serialize};

use super::ParameterView;
use negmm_dist::math::lanes::{Chunk, WIDTH};
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result};

/// Mixes of the sixteen cosines of an input.
pub(super) const MIXES: usize = 3;
/// Chunks of one input's weights: frequencies, phases, the mixes, and their offsets (three of sixteen lanes).
pub(super) const BLOCK: usize = 3 + MIXES;
/// Where the parts of a block begin, in chunks.
pub(super) const PHASES: usize = 1;
pub(super) const MIX: usize = 2;
pub(super) const OFFSETS: usize = 2 + MIXES;

/// The architecture of a periodic embedding: its outputs are the `inputs` numbers of a row and three mixes for each of `embedded`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Periodic {
    /// Numbers in a row.
    pub inputs: usize,
    /// Standard deviation of the initial frequencies, in turns per unit of an input.
    pub frequency: f32,
    /// The inputs that are embedded.
    #[serde(rename = "waved")]
    pub embedded: Vec<EmbeddedInput>,
}

/// An embedded input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedInput {
    /// Its index in the row.
    pub input: usize,
    /// Its smallest value in training.
    pub low: f32,
    /// Its largest value in training.
    pub high: f32,
}

impl Periodic {
    /// Checks the range of every field.
    pub fn check(&self) -> Result<()> {
        let in_order = self.embedded.windows(2).all(|pair| pair[0].input < pair[1].input);
        let inside = self.embedded.last().is_none_or(|last| last.input < self.inputs);
        let ranges = self
            .embedded
            .iter()
            .all(|embedded| embedded.low.is_finite() && embedded.low <= embedded.high && embedded.high.is_finite());
        if in_order && inside && ranges && self.frequency.is_finite() {
            Ok(())
        } else {
            Err(Error::model("an embedding does not fit its inputs"))
        }
    }

    /// The number of outputs: the inputs, then the mixes of the first embedded input, of the second …
    pub fn outputs(&self) -> usize {
        self.inputs + MIXES * self.embedded.len()
    }

    /// Chunks in the flat buffer.
    pub fn chunks(&self) -> usize {
        BLOCK * self.embedded.len()
    }

    /// The initial parameters.
    pub fn initial_parameters(&self, rng: &mut Rng) -> Vec<Chunk> {
        let mut weights = vec![Chunk::ZERO; self.chunks()];
        for block in weights.chunks_exact_mut(BLOCK) {
            let mut symmetric = |bound: f64| (bound * (2.0 * rng.uniform() - 1.0)) as f32;
            block[PHASES].0.fill_with(|| symmetric(std::f64::consts::PI));
            for mix in &mut block[MIX..OFFSETS] {
                mix.0.fill_with(|| symmetric(0.25));
            }
            block[0].0.fill_with(|| (normal::quantile(rng.uniform()) * f64::from(self.frequency)) as f32);
        }
        weights
    }

    /// Its tensors: one row for each embedded input.
    pub fn tensors(&self) -> Vec<ParameterView> {
        let inputs = self.embedded.len();
        let tensor = |name: &str, part: usize, shape: &[usize], decays: bool| {
            let mut strides = vec![BLOCK * WIDTH];
            strides.extend([WIDTH, 1].iter().skip(3 - shape.len()));
            ParameterView {
                name: format!("periodic.{name}"),
                shape: shape.to_vec(),
                decays,
                strides,
                start: part * WIDTH,
            }
        };
        vec![
            tensor("frequency", 0, &[inputs, WIDTH], false),
            tensor("phase", PHASES, &[inputs, WIDTH], false),
            tensor("mix", MIX, &[inputs, MIXES, WIDTH], true),
            tensor("offset", OFFSETS, &[inputs, MIXES], false),
        ]
    }
}
