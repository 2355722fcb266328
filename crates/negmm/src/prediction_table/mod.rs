//! Tables of anybody's predictions: which form they have, and the distributions that they describe.
//!
//! ```
//! use negmm::Table;
//! use negmm::prediction_table::{Form, FormHints};
//!
//! let columns = [("q0.1", 1.0), ("q0.5", 2.0), ("q0.9", 4.0)];
//! let columns = columns.map(|(name, number)| (name, negmm::data::Column::Numbers(vec![number])));
//! let table = Table::new(columns.to_vec())?;
//! let form = Form::infer(table.names(), &FormHints::default())?;
//! assert_eq!(form.to_string(), "3 quantiles, q0.1 to q0.9");
//! assert_eq!(form.predictions(&table)?.quantile(0.5)?, [2.0]);
//! # Ok::<(), negmm::Error>(())
//! ```

mod distributions;
mod form;
mod infer;
mod reader;
mod targets;
mod vectors;

pub use form::{Form, FormHints, FormKind};
pub use reader::{PredictionChunk, PredictionColumns, PredictionReader};
pub use targets::Targets;
pub use vectors::{VectorChunk, VectorReader};
