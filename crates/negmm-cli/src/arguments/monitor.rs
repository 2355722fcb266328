//! Responsible for what can be typed after `negmm monitor`.

use std::path::PathBuf;

use clap::Args;

use super::FileFlags;

/// `negmm monitor`
#[derive(Debug, Args)]
pub struct Monitor {
    /// The model file
    pub model: PathBuf,
    /// CSV file with inputs and what really happened, in the order of time, plain or gzip, or Parquet; - for standard input
    #[arg(long, value_name = "FILE")]
    pub data: String,
    /// The probability of a false alarm, however long a calibrated model is watched
    #[arg(long, value_name = "SHARE", default_value = "0.01", allow_hyphen_values = true)]
    pub alpha: String,
    /// How far off predictions may be without an alarm: moved by so many of their sds, too wide or too narrow by such a share
    #[arg(long, value_name = "SHARE", default_value = "0", allow_hyphen_values = true)]
    pub tolerance: String,
    /// Go on from what this file says was seen before, where it is there, and write into it what is seen now
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Forecasters: watch the last N steps alone, the others are their past [default: all that have a past]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub last: Option<String>,
    /// Draw the evidence into this SVG file too
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// Starts the random places of targets that have a probability of their own
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub seed: String,
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
}
