//! Prediction: a [`Query`] and its typed [`Columns`], with one encoder each for CSV, JSON and Arrow.
//!
//! The program, the server, Python and the cluster adapters all build a [`Query`] and write [`Columns`], so the same
//! column has the same name, type and text everywhere.
//!
//! ```
//! use negmm::method::{Auto, Preset};
//! use negmm::{Method, Query, Toy, fit};
//!
//! let table = Toy::Bimodal.sample(200, &mut negmm::Rng::new(1, 0));
//! let method = Method::Auto(Auto::default().preset(Preset::Fast).steps(50));
//! let model = fit(&table, "y", &method)?;
//!
//! let query = Query::default().interval([0.9]).above([20.0]);
//! // The same from text.
//! assert_eq!(query, Query::from_pairs([("interval", "0.9"), ("above", "20")])?);
//! assert_eq!(query.names(&model)?, ["mean", "sd", "lower_0.9", "upper_0.9", "p_above_20"]);
//! let predictions = model.predict(&table)?;
//! let columns = query.columns(&predictions, 0)?;
//! assert_eq!(columns.floats("mean"), Some(predictions.mean()));
//! assert!(columns.to_csv()?.starts_with(b"mean,sd,lower_0.9,upper_0.9,p_above_20\n"));
//! # Ok::<(), negmm::Error>(())
//! ```

#[cfg(feature = "parquet")]
mod arrow;
mod batch;
mod build;
mod columns;
mod conformal;
mod csv;
mod forecast;
mod item;
mod joint;
mod json;
mod kept_cells;
mod parameter;
mod query;
mod rounding;

#[cfg(feature = "parquet")]
pub use arrow::schema as arrow_schema;
pub use batch::{Batch, BatchColumns};
pub use columns::{Column, Columns, Field, Value, ValueType};
pub use conformal::ConformalInputs;
pub use forecast::{ForecastOptions, ForecastQuery, MOST_PATHS};
pub use joint::{GivenTarget, JOINT_PARAMETERS, JointQuery, TargetBox};
pub use json::to_json;
pub use parameter::{Number, PARAMETERS, Parameter, RENAMED};
pub use query::{MOST_DRAWS, Query};
