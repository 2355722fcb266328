//! Forecasts: a distribution for each step after the end of a series.
//!
//! A forecaster fits `auto` to a table of lag features: one row for each origin (the last known step) and step ahead,
//! with the difference from a naive forecast in units of recent changes as the target ([`SeriesTransform`]). The
//! target has thus the same scale everywhere, and one model serves many series. The networks are pooled with a
//! combination of classical methods and with the baseline of recent changes; stacking weights maximise the likelihood of
//! the last part of each series, which networks of what came before forecast ([`Forecaster`]). Intermittent series have
//! discrete distributions of their own.
//!
//! | from | to | modules |
//! |---|---|---|
//! | a table and its column roles ([`SeriesSpec`]) | [`Series`] of consecutive steps | series, [`Frequency`] |
//! | [`Series`] | a [`SeriesTransform`]: seasons, scale, naive forecast | seasons, scale, local_scale |
//! | holidays and [`Series`] | their effects, which are taken out of values and put back into forecasts | holidays |
//! | [`SeriesTransform`] and forecast points | a table of features | features |
//! | [`Series`] | forecasts by classical methods, distributions of intermittent series | classical, intermittent |
//! | that table | a [`Forecaster`]: a model, the other members, a copula | plan, fit, held_out, spread, copula |
//! | [`Series`] | the values that they can take: grids, bounds, point probabilities | supports, ends, atoms |
//! | [`Forecaster`] and a table | [`Forecasts`], at once or in batches, paths, aggregates | forecasts, batches, paths |
//! | forecasts of a hierarchy | coherent draws of all series and their sums | hierarchy, coherent, reconciliation |
//! | [`Forecasts`] and observed values | scores by step ahead, with those of baselines | backtest, step_scores |

mod adaptive;
mod atoms;
mod backtest;
mod baseline;
mod batches;
mod changes;
mod classical;
mod coherent;
mod copula;
mod ends;
mod features;
mod fit;
mod forecaster;
mod forecasts;
mod frequency;
mod held_out;
mod held_out_scores;
mod hierarchy;
mod holidays;
mod intermittent;
mod local_scale;
mod naive;
mod network_settings;
mod origin_skill;
mod own_weights;
mod parts;
mod paths;
mod plan;
mod points;
mod reconciliation;
mod scale;
mod seasons;
mod seen;
mod series;
mod shared_errors;
mod shared_support;
mod specification;
mod spread;
mod stacking;
mod step_scores;
mod supports;
mod time_style;
mod transform;

pub use adaptive::AdaptiveScores;
pub use backtest::{Backtest, BacktestOrigins, WholeScores, backtest};
pub use coherent::EnergyScores;
pub use features::ForecastPoint;
pub use fit::{FittedForecaster, SeriesWatch, fit_forecaster};
pub use forecaster::Forecaster;
pub use forecasts::{BaselineForecast, Forecasts};
pub use frequency::Frequency;
pub use held_out_scores::{Score, ScoredOrigins};
pub use hierarchy::ALL;
pub use holidays::Holiday;
pub use naive::Naive;
pub use paths::Aggregate;
pub use plan::ForecastPlan;
pub use series::{Histories, Series};
pub use specification::{MOST_HORIZON, SeriesSpec};
pub use step_scores::{STEP_PIT_BINS, StepScores};
pub use transform::SeriesTransform;
