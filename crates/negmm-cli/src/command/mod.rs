//! The commands, one file each.

mod alarm_groups;
pub mod calibrate;
pub mod compare;
mod compare_predictions;
pub mod completions;
pub mod demo;
pub mod evaluate;
pub mod evaluate_joint;
pub mod explain;
mod explain_acquire;
mod explain_global;
pub mod export;
pub mod fit;
pub mod forecast;
pub mod held_out;
pub mod inspect;
pub mod joint;
pub mod man;
pub mod monitor;
mod monitor_joint;
mod monitor_predictions;
#[cfg(feature = "paper")]
pub mod paper;
pub mod predict;
pub mod recalibrate;
pub mod report;
mod report_predictions;
pub mod score;
mod score_decomposition;
mod score_vectors;
#[cfg(feature = "serve")]
pub mod serve;
pub mod tune;
mod verdict;
