//! Forecasts: what follows the end of a series, as a distribution for each step ahead.
//!
//! A series is forecast by what `auto` learns from a table of its past: one row for each origin (the last step that is known)
//! and step ahead, whose target is how far the series goes from a naive forecast, in units of its recent changes
//! ([`SeriesTransform`]). So what is predicted has the same size everywhere, one model serves many series, and a network that has learnt
//! nothing says "as the naive forecast, as far off as it lately was". The pool of networks counts beside that very law by
//! the likelihood of blocks of time that neither has seen ([`Forecaster`]).
//!
//! | from | to | room |
//! |---|---|---|
//! | a table and what its columns are ([`SeriesSpec`]) | [`Series`], one step after the other | [`Frequency`] says how steps follow |
//! | [`Series`] | a [`SeriesTransform`]: seasons, scale, naive forecast | seasons, scale |
//! | [`SeriesTransform`] and places in time | a table of the past | lags |
//! | that table | a [`Forecaster`]: a model, the law of changes, the dependence between steps | copula |
//! | [`Forecaster`] and a table | [`Forecasts`], at once or in portions, paths, totals | portions |
//! | [`Forecasts`] and what came | scores by step, beside naive forecasts | rolling, step_scores |

mod adaptive;
mod backtest;
mod baseline;
mod batches;
mod changes;
mod copula;
mod features;
mod fit;
mod forecaster;
mod frequency;
mod held_out;
mod local_scale;
mod naive;
mod paths;
mod points;
mod scale;
mod seasons;
mod series;
mod specification;
mod step_scores;
mod transform;

pub use adaptive::AdaptiveScores;
pub use backtest::{Backtest, BacktestOrigins, backtest};
pub use features::ForecastPoint;
pub use fit::{FittedForecaster, ForecastPlan, fit_forecaster};
pub(crate) use forecaster::ForecastParts;
pub use forecaster::{Forecaster, Forecasts, Score};
pub use frequency::Frequency;
pub use naive::Naive;
pub use paths::Aggregate;
pub use series::{Histories, Series};
pub use specification::{MOST_HORIZON, SeriesSpec};
pub use step_scores::{STEP_PIT_BINS, StepScores};
pub use transform::SeriesTransform;
