//! Responsible for what can be typed after `negmm predict`, and for where forecasts start.

use std::path::PathBuf;

use clap::Args;

use super::FileFlags;

/// `negmm predict`
#[derive(Debug, Args)]
pub struct Predict {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// CSV file with a header line, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The CSV file to write, Parquet where its name ends in .parquet; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Central intervals of these coverages: lower_0.9, upper_0.9 …
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub interval: Option<String>,
    /// Smallest sets of these coverages, of one interval or several: region_0.9, such as [-3,-1] [2,4], and region_0.9_length
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub region: Option<String>,
    /// Intervals and regions that hold at least as much as they say, by the rows of `negmm calibrate`; of a sequence they adapt to
    /// what was missed before
    #[arg(long)]
    pub guaranteed: bool,
    /// Quantiles of these levels: q0.05 …
    #[arg(long, value_name = "LEVEL,…", allow_hyphen_values = true)]
    pub quantiles: Option<String>,
    /// Probability that the target is above these values: p_above_50 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub above: Option<String>,
    /// Probability that the target is below these values: p_below_50 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub below: Option<String>,
    /// Probability that the target is exactly one of these values, where it has some: p_equal_0 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub mass: Option<String>,
    /// Mean of the lowest share of outcomes (expected shortfall): shortfall_0.05 …
    #[arg(long, value_name = "SHARE,…", allow_hyphen_values = true)]
    pub shortfall: Option<String>,
    /// The variance in its two parts: variance_within (noise) and variance_between (several possible outcomes); for an ensemble
    /// also variance_aleatoric (noise that all members expect) and variance_epistemic (what they do not agree on)
    #[arg(long)]
    pub parts: bool,
    /// How far a row lies outside the ranges of the training rows: novelty (0 inside, else standard deviations) and novelty_input
    #[arg(long)]
    pub novelty: bool,
    /// The mixture itself: weight_1 …, mean_1 …, sd_1 …
    #[arg(long)]
    pub components: bool,
    /// This many random draws: draw_1 …
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub draws: Option<String>,
    /// Starts the random draws
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true)]
    pub seed: String,
    /// Columns of the data to carry over, as they stand; a name with a comma goes in quotes
    #[arg(long, value_name = "COL,…")]
    pub keep: Option<String>,
    /// Forecasts: this many joint paths through the steps ahead: path_1 …
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub paths: Option<String>,
    /// Forecasts: answer for the sum, the max or the min over the steps ahead, by paths
    #[arg(long, value_name = "WORD")]
    pub over: Option<String>,
    /// Which origins forecasts start from.
    #[command(flatten)]
    pub origins: OriginFlags,
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
}

/// Which origins forecasts start from, as it was typed.
#[derive(Debug, Args)]
pub struct OriginFlags {
    /// Forecasts: also start inside the data, so that the last N steps of each series are forecast from what came before them
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub last: Option<String>,
    /// Forecasts: steps from one such start to the next [default: as many as are forecast]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub every: Option<String>,
}
