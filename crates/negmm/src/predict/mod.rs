//! Prediction: a [`Query`] of a model and the typed [`Columns`] that answer it, with one encoder each for CSV, JSON and Arrow.
//!
//! The program, the server, Python and the cluster adapters all read their options into a [`Query`] and write [`Columns`], so the
//! same answer has the same name, type and text everywhere.
//!
//! ```
//! use negmm::{Method, Query, Toy, fit};
//!
//! let table = Toy::Bimodal.sample(200, &mut negmm::Rng::new(1, 0));
//! let mut method = Method::default();
//! method.set("preset", "fast")?;
//! method.set("steps", "50")?;
//! let model = fit(&table, "y", &method)?;
//!
//! // As it is typed, and in code.
//! let query = Query::from_pairs([("interval", "0.9"), ("above", "20")])?;
//! assert_eq!(query, Query::default().interval([0.9]).above([20.0]));
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
mod columns;
mod conformal;
mod csv;
mod forecast;
mod item;
mod json;
mod query;

#[cfg(feature = "parquet")]
pub use arrow::schema as arrow_schema;
pub use batch::{Batch, BatchColumns};
pub use columns::{Column, Columns, Field, Value, ValueType};
pub use conformal::ConformalInputs;
pub use forecast::{ForecastOptions, ForecastQuery, MOST_PATHS};
pub use json::to_json;
pub use query::{MOST_DRAWS, Number, PARAMETERS, Parameter, Query, RENAMED};
