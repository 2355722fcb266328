//! Predicts a whole distribution for every row of a data set: a neural network maps the row to a Gaussian mixture and is
//! trained with the logarithmic score and the closed-form energy score. Mean, sd, quantiles, intervals, tail probabilities
//! and samples of the prediction are exact.
//!
//! ```
//! use negmm::{Method, Model, Toy, fit};
//!
//! // One input, two branches: y is near x³ or near -x³.
//! let table = Toy::Bimodal.sample(500, &mut negmm::Rng::new(1, 0));
//! let mut method = Method::default(); // auto, a calibrated pool of NE-GMMs
//! method.set("preset", "fast")?;
//! method.set("steps", "200")?;
//! let model = fit(&table, "y", &method)?;
//!
//! let predictions = model.predict(&table)?;
//! let (lower, upper) = predictions.interval(0.9)?;
//! let probability_above_20 = predictions.above(20.0)?;
//! let crps = predictions.crps(&model.encoder().targets(&table)?)?;
//!
//! let again = Model::from_bytes(&model.to_bytes()?)?;
//! assert_eq!(predictions.quantile(0.95)?, again.predict(&table)?.quantile(0.95)?);
//! # let _ = (lower, upper, probability_above_20, crps);
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! The way of a number, and the rooms it goes through:
//!
//! | from | to | room |
//! |---|---|---|
//! | a CSV or Parquet file | [`Table`] | [`data`] |
//! | [`Table`] | [`data::Dataset`], by an [`Encoder`] that is kept | [`data`] |
//! | [`data::Dataset`] | [`train::Job`]s, by a [`Method`] | [`method`] |
//! | [`train::Job`]s | trained weights, by an [`train::Engine`] with [`net`] and [`score`] | [`train`] |
//! | weights and encoder | [`Model`] and its file | [`model`] |
//! | [`Table`] and [`Model`] | [`Predictions`]: exact [`Mixtures`] or [`samples`] in the target's own unit | [`mixture`] |
//! | [`Predictions`] and [`Query`] | [`Columns`]: names, types and values, as CSV, JSON or Arrow | [`predict`] |
//! | [`Predictions`] and targets | [`Metrics`] | [`metrics`]; of targets that are not all known [`censored`] |
//! | a [`Table`] of series and their [`forecast::SeriesSpec`] | a distribution for each step ahead | [`forecast`] |
//! | settings to try | the best of them, by a journal of trials | [`tune`] |

mod accelerator;
pub mod compare;
pub mod conformal;
pub mod forecast;
pub mod method;
pub mod model;
pub mod monitor;
pub mod predict;
mod standardised;
mod toy;
pub mod tune;

pub use negmm_data as data;
#[doc(hidden)]
pub use negmm_dist::suggestion;
pub use negmm_dist::{censored, metrics, mixture, samples, score};
pub use negmm_nn::{net, ngboost, options, threads, train};

pub use accelerator::Accelerator;
pub use method::Method;
pub use model::{FitOptions, Loaded, Model, fit, fit_with};
pub use negmm_data::{Encoder, Table};
pub use negmm_dist::{
    Distribution, DistributionKind, DistributionRef, Error, ErrorKind, HighestDensityRegion, Hint, Location,
    LocationPart, Metrics, Mixture, Mixtures, Predictions, QuantileAccelerator, Result, Rng, Support, TailQuantile,
    Warning, Wording,
};
pub use predict::{Columns, Query};
pub use toy::Toy;
