//! The arguments of `negmm tune`, and the flags about several machines that it shares with `paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use negmm::tune::Shard;

use super::compare::SplitFlags;
use super::data::DataFlags;
use super::values::{Assignment, Names, Trial, positive, whole};

/// `negmm tune`
#[derive(Debug, Args)]
pub struct Tune {
    /// Table: a CSV file with a header line (plain, gzip or zstd) or a Parquet file; a folder of them, or a pattern such as
    /// 'sales/*.parquet', is read as one table; - for standard input
    pub data: String,
    /// Folder for the journal of finished trials; run the same command again to resume a search
    #[arg(long, value_name = "DIR")]
    pub journal: PathBuf,
    /// The model file of the best configuration, refitted to all rows [default: best.negmm in the journal's folder]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Methods to try [default: ne-gmm]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<Names>,
    /// Search space: an option and its values, such as eta=0,0.5,1, hidden=64/64,64 (lists, separated by /), components=2..16 or
    /// learning-rate=1e-4..1e-2:log; repeatable [default: the options that usually matter most]
    #[arg(long = "try", value_name = "OPTION=VALUES")]
    pub tries: Vec<Trial>,
    /// A fixed option for every method that has it, such as epochs=100; repeatable
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<Assignment>,
    /// Search strategy: grid (all combinations), random, or halving (successive halving: many configurations on few rows, the best
    /// of them on more) [default: grid; random if a range or --trials is given]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    pub search: Option<SearchName>,
    /// Configurations to draw, for random and halving [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = positive)]
    pub trials: Option<usize>,
    /// Reduction factor of halving: each rung has this many times fewer configurations and more rows
    #[arg(long, value_name = "N", default_value = "3", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub factor: usize,
    /// Validation score to optimise: nll, crps or rmse; for censored targets nll or integrated_brier; for several targets energy,
    /// nll, crps_of_sum or variogram [default: nll, for several targets energy]
    #[arg(long, value_name = "SCORE")]
    pub by: Option<String>,
    /// Train/validation splits.
    #[command(flatten)]
    pub splits: SplitFlags,
    /// The training data.
    #[command(flatten)]
    pub data_flags: DataFlags,
    /// Several machines.
    #[command(flatten)]
    pub part: PartFlags,
}

/// Search strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchName {
    /// All combinations.
    Grid,
    /// Random draws.
    Random,
    /// Successive halving.
    Halving,
}

/// Which part of the trials runs here, and which journals are merged.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several machines")]
pub struct PartFlags {
    /// Run only the i-th of n shards of the trials
    #[arg(long, value_name = "i/n")]
    pub shard: Option<Shard>,
    /// Merge the journals of these folders first
    #[arg(long, value_name = "DIR,…")]
    pub merge: Option<Names>,
}
