//! Forecast verification: scores of anybody's predictive distributions, calibration tests, decompositions and comparisons.
//!
//! Names are those of scoringrules (Python) and scoringRules (R) where they have the score. Lower is better for all of them.
//!
//! | function | formula |
//! |---|---|
//! | [`quantile_score`] | (1{y < q} - level) (q - y), the pinball loss |
//! | [`interval_score`] | upper - lower + 2/α (lower - y)₊ + 2/α (y - upper)₊ |
//! | [`weighted_interval_score`] | (½ abs(y - median) + Σ α/2 interval score) / (K + ½) |
//! | [`brier_score`] | (P(Y <= t) - 1{y <= t})² |
//! | [`threshold_weighted_crps`] | ∫ (F(t) - 1{y <= t})² dt between two thresholds |
//! | [`quantile_weighted_crps`] | 2 ∫ v(u) quantile score at level u du |
//! | [`dawid_sebastiani_score`] | (y - mean)²/variance + ln variance |
//! | [`cde_loss`] | ∫ f² - 2 f(y) |
//! | [`energy_scores`] | mean ‖x - y‖ - mean ‖x - x'‖ / 2 of draws of vectors |
//! | [`variogram_of_draws`](crate::joint::variogram_of_draws) | sum over pairs of (abs(y_i - y_j)^p - mean abs(x_i - x_j)^p)² |
//! | [`Distribution::crps`](crate::Distribution::crps) | ∫ (F(t) - 1{y <= t})² dt |
//! | [`Distribution::log_score`](crate::Distribution::log_score) | -ln f(y), or of the point probability |
//!
//! [`Scorecard`] computes them for rows in chunks, with weights and groups; [`PitHistogram`] tests calibration, [`decompose`]
//! splits the CRPS into miscalibration, discrimination and uncertainty, [`murphy`] has Murphy diagrams, and [`equal_accuracy`] is a
//! test in the manner of Diebold and Mariano.

mod comparison;
mod decomposition;
mod means;
pub mod murphy;
mod pit;
mod scorecard;
mod scores;
mod vectors;
mod weighted_crps;

pub use comparison::{EqualAccuracy, equal_accuracy};
pub use decomposition::{
    Decomposition, decompose, decompose_brier, decompose_crps, isotonic_regression, threshold_grid,
};
pub use means::ScoreMeans;
pub use pit::{PitHistogram, PitTest, randomised_pit};
pub use scorecard::{ScoreSpec, ScoreSummary, Scorecard};
pub use scores::{
    brier_score, cde_loss, dawid_sebastiani_score, interval_score, quantile_score, weighted_interval_score,
};
pub use vectors::{VectorScores, dawid_sebastiani_of_draws};

pub use crate::joint::energy_scores;
pub use weighted_crps::{QuantileWeight, quantile_weighted_crps, threshold_weighted_crps};
