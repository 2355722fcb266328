//! The arguments of `negmm monitor`.

use std::path::PathBuf;

use clap::Args;

use super::file::FileFlags;
use super::given::Given;
use super::predictions::PredictionFlags;
use super::values::{number, whole};

/// `negmm monitor`
#[derive(Debug, Args)]
pub struct Monitor {
    /// The model file
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub model: Option<PathBuf>,
    /// Table with inputs and observed targets in time order: a CSV file (plain, gzip or zstd), a Parquet file, a folder of them or
    /// a pattern such as 'sales/*.parquet'; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "predictions", conflicts_with = "predictions")]
    pub data: Option<String>,
    /// Predictions with observed targets in time order, instead of a model.
    #[command(flatten)]
    pub of_predictions: PredictionFlags,
    /// Significance level: the probability of a false alarm, however long a calibrated model is monitored
    #[arg(long, value_name = "PROBABILITY", default_value = "0.01", allow_hyphen_values = true, value_parser = number)]
    pub alpha: f64,
    /// Miscalibration to tolerate: a shift by this many predicted sds, or predicted sds wrong by this fraction
    #[arg(long, value_name = "FRACTION", default_value = "0", allow_hyphen_values = true, value_parser = number)]
    pub tolerance: f64,
    /// Resume from the state in this file, if it exists, and save the new state there
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// When the alarm is on, say which rows carry it: the categories and bins of the inputs whose coverage is off by more than
    /// chance since the change point
    #[arg(long, conflicts_with = "predictions")]
    pub explain: bool,
    /// Flags of forecasters.
    #[command(flatten)]
    pub forecaster: Given<RecentFlags>,
    /// Also plot the evidence into this SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// Random seed of the randomised PIT, for targets with point probabilities
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// Flags of `monitor` for forecasters.
#[derive(Clone, Debug, Args)]
pub struct RecentFlags {
    /// Forecasters: monitor only the last N steps; earlier ones are history [default: all that have a history]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub last: Option<usize>,
}
