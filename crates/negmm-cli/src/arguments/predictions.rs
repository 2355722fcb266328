//! Flags about files of anybody's predictions, and the arguments of `negmm score` and `negmm recalibrate`.

use std::path::PathBuf;

use clap::Args;
use negmm::prediction_table::FormKind;
use negmm::recalibration::RecalibrationMethod;
use negmm::verification::QuantileWeight;

use super::file::FileFlags;
use super::values::{form, number, quantile_weight, recalibration_method, whole};

/// The form of a file of predictions, and where their targets are.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Predictions")]
pub struct FormFlags {
    /// Form: quantiles, samples, normal, mixture, interval, histogram or family [default: by the names of the columns]
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub form: Option<FormKind>,
    /// Family of all rows, such as student_t or gamma, where no column family has it
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Coverage of the columns lower and upper
    #[arg(long, value_name = "COVERAGE", allow_hyphen_values = true, value_parser = number)]
    pub coverage: Option<f64>,
    /// File with the observed targets, where they are not beside the predictions; rows are found by --key
    #[arg(long, value_name = "FILE", requires = "key")]
    pub truth: Option<String>,
    /// Key column, which identifies a row in several files, whatever their order
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub key: Option<String>,
}

/// A file of predictions instead of a model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Predictions")]
pub struct PredictionFlags {
    /// File of anybody's predictions instead of a model: quantiles, samples, mean and sd, a mixture, intervals, a histogram or a
    /// family, CSV or Parquet
    #[arg(long, value_name = "FILE", requires = "target")]
    pub predictions: Option<String>,
    /// Target column of the predictions
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// Their form.
    #[command(flatten)]
    pub form: FormFlags,
}

/// `negmm score`
#[derive(Debug, Args)]
pub struct Score {
    /// File of predictions: quantiles (q0.05 …), samples (draw_1 …), mean and sd, weight_1, mean_1, sd_1 …, lower_0.9 and upper_0.9,
    /// bins (bin_0_10 …) or family with its parameters; CSV, plain or gzip, or Parquet; - for standard input
    pub predictions: String,
    /// Target column; several with commas between them, whose predictions have the name of the target before each column:
    /// price_draw_1, price_q0.5
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub target: super::values::Names,
    /// The form of the predictions.
    #[command(flatten)]
    pub form: FormFlags,
    /// Sample-weight column
    #[arg(long, value_name = "COL", allow_hyphen_values = true, help_heading = "Scores")]
    pub weight: Option<String>,
    /// Group column: scores of each group too
    #[arg(long, value_name = "COL", allow_hyphen_values = true, help_heading = "Scores")]
    pub by: Option<String>,
    /// Coverages of central intervals [default: 0.5,0.9,0.95]
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true, help_heading = "Scores")]
    pub interval: Option<String>,
    /// Levels of the quantile score and the weighted interval score [default: those of the predictions, else 23 from 0.01 to 0.99]
    #[arg(long, value_name = "LEVEL,…", allow_hyphen_values = true, help_heading = "Scores")]
    pub quantiles: Option<String>,
    /// Thresholds of Brier scores of the event that the target is at most this
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true, help_heading = "Scores")]
    pub thresholds: Option<String>,
    /// Threshold-weighted CRPS between two values, either of which may be inf or -inf
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, help_heading = "Scores")]
    pub between: Option<String>,
    /// Quantile-weighted CRPS: centre, tails, left or right
    #[arg(long, value_name = "WEIGHT", value_parser = quantile_weight, help_heading = "Scores")]
    pub quantile_weight: Option<QuantileWeight>,
    /// Distance of the values of a discrete target, for the mass log score
    #[arg(long, value_name = "STEP", allow_hyphen_values = true, value_parser = number, help_heading = "Scores")]
    pub step: Option<f64>,
    /// Order of the variogram score of several targets [default: 0.5]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = number, help_heading = "Scores")]
    pub variogram_order: Option<f64>,
    /// Divide several targets by these numbers for the scores of all together, such as their sds, so that no unit counts more
    #[arg(long, value_name = "NUMBER,…", allow_hyphen_values = true, help_heading = "Scores")]
    pub scales: Option<String>,
    /// Also write the scores of each row into this CSV file
    #[arg(long, value_name = "FILE")]
    pub rows: Option<String>,
    /// Random seed of the randomised PIT, for targets with point probabilities
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

impl Score {
    /// The targets, each once.
    pub fn targets(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in &self.target.0 {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

/// `negmm recalibrate`
#[derive(Debug, Args)]
pub struct Recalibrate {
    /// The file that `negmm calibrate --predictions` wrote
    pub recalibration: PathBuf,
    /// New predictions of the same model: CSV, plain or gzip, or Parquet; - for standard input
    pub predictions: String,
    /// The CSV file to write, Parquet where its name ends in .parquet; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Levels of the quantiles to write [default: those of the predictions, else 0.01,0.02 … 0.99; of conformal ones as far as the
    /// calibration rows allow]
    #[arg(long, value_name = "LEVEL,…", allow_hyphen_values = true)]
    pub quantiles: Option<String>,
    /// Write this many random draws instead of quantiles
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>, conflicts_with = "quantiles")]
    pub draws: Option<usize>,
    /// Random seed of the draws
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Columns to copy to the output unchanged, such as the target or a key
    #[arg(long, value_name = "COL,…")]
    pub keep: Option<super::values::Names>,
    /// The form of the predictions.
    #[command(flatten)]
    pub form: FormFlags,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// How predictions are recalibrated.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Predictions")]
pub struct RecalibrationFlags {
    /// Recalibration of predictions: pit (monotone map of the PIT), scale (factor of the spread) or conformal [default: pit]
    #[arg(long, value_name = "METHOD", value_parser = recalibration_method)]
    pub recalibration: Option<RecalibrationMethod>,
}
