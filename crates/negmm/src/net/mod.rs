//! Responsible for networks: layers in one flat buffer, and heads that give their raw outputs a meaning.

mod activation;
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
pub use gaussian_head::GaussianHead;
pub use head::{Head, MixtureOutputs};
pub use lstm::{Lstm, LstmLayer, MOST_LSTM_LAYERS, MOST_LSTM_UNITS};
pub use lstm_pass::LstmPass;
pub use mixture_head::{MOST_COMPONENTS, MixtureHead, MixturePanel};
pub use network::{Dropout, Layer, Network, PANEL, PANEL_CHUNKS, Pass};
pub use parameters::Parameters;
pub use periodic::{Periodic, Waved};
pub use placement::Placement;
pub use sample_head::{LEAST_SAMPLES, MOST_SAMPLES, SampleHead};
pub use stem::Stem;
