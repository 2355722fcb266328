//! Networks: layers in one flat buffer, stems before them and heads after them.

mod activation;
mod atoms;
mod bounds;
mod gaussian_head;
mod head;
mod joint_head;
mod lstm;
mod lstm_workspace;
mod mixture_head;
mod network;
mod parameter_view;
mod parameters;
mod periodic;
mod periodic_workspace;
mod sample_head;
mod small_batch;
mod stem;
mod stem_workspace;

pub use activation::Activation;
pub use atoms::{Atom, Atoms, MAX_ATOMS};
pub use bounds::Bounds;
pub use gaussian_head::GaussianHead;
pub use head::Head;
pub use joint_head::{JointHead, MAX_TARGETS};
pub use lstm::{Lstm, MAX_LSTM_LAYERS, MAX_LSTM_UNITS};
pub use mixture_head::{MAX_COMPONENTS, MixtureHead};
pub use network::Network;
pub use parameters::Parameters;
pub use periodic::{EmbeddedInput, Periodic};
pub use sample_head::{MAX_SAMPLES, MIN_SAMPLES, SampleHead};
pub use small_batch::{FEW_ROWS, SmallBatch};
pub use stem::Stem;

// Computations on panels of rows.
pub use head::MixtureOutputs;
pub use joint_head::JointPanel;
pub use lstm::LstmLayer;
pub use lstm_workspace::LstmWorkspace;
pub use mixture_head::MixturePanel;
pub use network::{Dropout, Layer, PANEL, PANEL_CHUNKS, Workspace};
pub use parameter_view::ParameterView;
