//! The arguments of `negmm predict`, and the flags about forecast origins that it shares with `evaluate` and `report`.

use std::path::PathBuf;

use clap::Args;

use negmm::forecast::Aggregate;

use super::file::FileFlags;
use super::given::Given;
use super::values::{Names, digits, over, paths, whole};

/// `negmm predict`
#[derive(Debug, Args)]
pub struct Predict {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// Table: a CSV file with a header line (plain, gzip or zstd) or a Parquet file; a folder of them, or a pattern such as
    /// 'sales/*.parquet', is read as one table; - for standard input
    pub data: String,
    /// The file to write, in the format of its name: CSV (.csv, .tsv), JSON (.json, .jsonl), each also with .gz, Parquet (.parquet)
    /// or Arrow (.arrow, .feather); - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Significant digits of numbers in CSV and JSON; values of the target have as many as their sd [default: 4 on a terminal; in
    /// files and pipes all, so that numbers read back as the same]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = digits)]
    pub digits: Option<usize>,
    /// Central intervals of these coverages: lower_0.9, upper_0.9 …
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub interval: Option<String>,
    /// Highest-density regions of these coverages, of one interval or several: region_0.9, such as [-3,-1] [2,4], and
    /// region_0.9_length
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub region: Option<String>,
    /// Make intervals and regions (of several targets: joint regions and ellipsoids) conformal prediction sets: by the rows of
    /// `negmm calibrate`, or adaptive along a sequence
    #[arg(long)]
    pub conformal: bool,
    /// Quantiles of these levels: q0.05 …
    #[arg(long, value_name = "LEVEL,…", allow_hyphen_values = true)]
    pub quantiles: Option<String>,
    /// Probability that the target is above these values, P(Y > v): p_above_50 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub above: Option<String>,
    /// Probability that the target is below these values, P(Y < v): p_below_50 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub below: Option<String>,
    /// Point probability of these values, P(Y = v): p_equal_0 …
    #[arg(long, value_name = "VALUE,…", allow_hyphen_values = true)]
    pub equal: Option<String>,
    /// Mean of the lowest fraction of outcomes (expected shortfall): shortfall_0.05 …
    #[arg(long, value_name = "FRACTION,…", allow_hyphen_values = true)]
    pub shortfall: Option<String>,
    /// Decomposition of the variance: variance_within and variance_between the components; for an ensemble also
    /// variance_aleatoric (noise) and variance_epistemic (disagreement of the members)
    #[arg(long)]
    pub parts: bool,
    /// How far a row lies outside the ranges of the training rows: novelty (0 inside, else standard deviations) and novelty_input
    #[arg(long)]
    pub novelty: bool,
    /// The mixture itself, before bounds and a grid of the target: weight_1 …, mean_1 …, sd_1 …
    #[arg(long)]
    pub components: bool,
    /// Number of random draws: draw_1 …
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub draws: Option<usize>,
    /// Random seed of the draws and sample paths
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Columns of the data to copy to the output unchanged; a name with a comma goes in quotes. Forecasts have the cell of
    /// their step where the data have it, else the one that all rows of their series share
    #[arg(long, value_name = "COL,…")]
    pub keep: Option<Names>,
    /// Questions about several targets.
    #[command(flatten)]
    pub joint: Given<JointFlags>,
    /// Sample paths and aggregates of forecasters.
    #[command(flatten)]
    pub futures: Given<FutureFlags>,
    /// Forecast origins.
    #[command(flatten)]
    pub origins: Given<OriginFlags>,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// Questions about several targets.
#[derive(Clone, Debug, Args)]
pub struct JointFlags {
    /// Several targets: also predict a linear combination of them, such as "profit = revenue - cost"; may be repeated
    #[arg(long, value_name = "NAME = SUM", allow_hyphen_values = true)]
    pub combine: Vec<String>,
    /// Several targets: the distribution of the others when these are known, in every row (cost=3.2) or from the data (cost)
    #[arg(long, value_name = "TARGET[=VALUE],…", allow_hyphen_values = true)]
    pub given: Option<Names>,
    /// Several targets: their correlations: correlation_revenue_cost …
    #[arg(long)]
    pub correlation: bool,
    /// Several targets: logarithm of the joint density of the row's own targets, log_density
    #[arg(long)]
    pub density: bool,
    /// Several targets: probability of a box, such as "revenue > 100, cost < 50", p_box_1, with its standard error; may be
    /// repeated
    #[arg(long = "box", value_name = "BOUNDS", allow_hyphen_values = true)]
    pub boxes: Vec<String>,
    /// Several targets: highest-density regions of all of them together: joint_region_0.9_log_density, the border, and its volume;
    /// with --density also whether the row's own targets lie inside
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub joint_region: Option<String>,
    /// Several targets: ellipsoids around the mean, along the covariance: ellipsoid_0.9_distance, the Mahalanobis distance of the
    /// border, and its volume
    #[arg(long, value_name = "COVERAGE,…", allow_hyphen_values = true)]
    pub ellipsoid: Option<String>,
}

/// Sample paths and aggregates of forecasters.
#[derive(Clone, Debug, Args)]
pub struct FutureFlags {
    /// Forecasters: number of joint sample paths over the horizon: path_1 …
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = paths)]
    pub paths: Option<usize>,
    /// Forecasters: predict an aggregate over the horizon, sum, max or min, from sample paths
    #[arg(long, value_name = "AGGREGATE", value_parser = over)]
    pub over: Option<Aggregate>,
}

/// Forecast origins.
#[derive(Clone, Debug, Args)]
pub struct OriginFlags {
    /// Forecasters: backtest over the last N steps of each series, with forecast origins inside the data
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub test_size: Option<usize>,
    /// Forecasters: stride between such origins, in steps [default: the horizon]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub stride: Option<usize>,
}
