//! Responsible for networks: layers in one flat buffer, and heads that give their raw outputs a meaning.

mod activation;
mod atoms;
mod bounds;
mod few_rows;
mod gaussian_head;
mod head;
mod lstm;
mod lstm_pass;
mod mixture_head;
mod network;
mod parameters;
mod periodic;
mod periodic_pass;
mod placement;
mod sample_head;
mod stem;
mod stem_pass;

pub use activation::Activation;
pub use atoms::{Atom, Atoms, MOST_ATOMS};
pub use bounds::Bounds;
pub(crate) use few_rows::{FEW_ROWS, FewRows};
pub use gaussian_head::GaussianHead;
pub use head::Head;
pub use lstm::{Lstm, MOST_LSTM_LAYERS, MOST_LSTM_UNITS};
pub use mixture_head::{MOST_COMPONENTS, MixtureHead};
pub use network::Network;
pub use parameters::Parameters;
pub use periodic::{EmbeddedInput, Periodic};
pub use sample_head::{LEAST_SAMPLES, MOST_SAMPLES, SampleHead};
pub use stem::Stem;

// What works on panels of rows: for engines of this library, its benches and tests.
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;

mod internals {
    pub use super::head::MixtureOutputs;
    pub use super::mixture_head::MixturePanel;
    pub use super::network::{Dropout, Layer, PANEL, PANEL_CHUNKS, Pass};
    pub use super::placement::Placement;
    #[cfg(feature = "internals")]
    pub use super::{lstm::LstmLayer, lstm_pass::LstmPass};
}
