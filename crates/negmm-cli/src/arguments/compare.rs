//! The arguments of `negmm compare`, and the flags about splits that it shares with `tune`.

use clap::Args;
use negmm::verification::QuantileWeight;

use super::data::{DataFlags, ForecastFlags};
use super::predictions::FormFlags;
use super::values::{Assignment, Names, number, quantile_weight, whole};

/// `negmm compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// Table: a CSV file with a header line (plain, gzip or zstd) or a Parquet file; a folder of them, or a pattern such as
    /// 'sales/*.parquet', is read as one table; - for standard input
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub data: Option<String>,
    /// Compare these files of predictions of the same rows instead of methods, by paired tests; in time order with --time
    #[arg(long, value_name = "FILE,…", requires = "target")]
    pub predictions: Option<Names>,
    /// Their form.
    #[command(flatten)]
    pub form: FormFlags,
    /// Group column of the predictions: the CRPS of each group too
    #[arg(
        long,
        value_name = "COL",
        allow_hyphen_values = true,
        requires = "predictions",
        help_heading = "Predictions"
    )]
    pub by: Option<String>,
    /// Also compare the threshold-weighted CRPS between two values, either of which may be inf or -inf
    #[arg(
        long,
        value_name = "LOW,HIGH",
        allow_hyphen_values = true,
        requires = "predictions",
        help_heading = "Predictions"
    )]
    pub between: Option<String>,
    /// Also compare a quantile-weighted CRPS: centre, tails, left or right
    #[arg(long, value_name = "WEIGHT", value_parser = quantile_weight, requires = "predictions", help_heading = "Predictions")]
    pub quantile_weight: Option<QuantileWeight>,
    /// Also compare Brier scores of the events that the target is at most these
    #[arg(
        long,
        value_name = "VALUE,…",
        allow_hyphen_values = true,
        requires = "predictions",
        help_heading = "Predictions"
    )]
    pub thresholds: Option<String>,
    /// Methods to compare [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<Names>,
    /// Train/test splits.
    #[command(flatten)]
    pub splits: SplitFlags,
    /// Also draw the scores into this SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// An option for every method that has it, such as epochs=100; repeatable
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<Assignment>,
    /// The training data.
    #[command(flatten)]
    pub data_flags: DataFlags,
    /// What is forecast.
    #[command(flatten)]
    pub forecast: ForecastFlags,
}

/// Train/test splits.
#[derive(Clone, Debug, Args)]
pub struct SplitFlags {
    /// Cross-validation folds: each is scored once by models trained on the others [default: 5]
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub folds: Option<usize>,
    /// Random train/test splits instead of folds
    #[arg(long, value_name = "N", conflicts_with = "folds", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub repeats: Option<usize>,
    /// Test fraction of each of the --repeats [default: 0.1; tune: 0.2]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true, value_parser = number)]
    pub test: Option<f64>,
}
