//! Responsible for what can be typed after `tune` and `paper`: the commands that run many trials.

use std::path::PathBuf;

use clap::Args;

use super::{ReadingFlags, TargetFlags};

/// `negmm tune`
#[derive(Debug, Args)]
pub struct Tune {
    /// CSV file with a header line, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The column to predict
    #[arg(long, value_name = "COL")]
    pub target: String,
    /// The folder that keeps every finished trial; the same command continues a search that was stopped
    #[arg(long, value_name = "DIR")]
    pub journal: PathBuf,
    /// The model file for the winner, fitted again to all rows [default: best.negmm in the journal's folder]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Methods to try [default: ne-gmm]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<String>,
    /// An option and its values: eta=0,0.5,1 or hidden=64/64,64 (a value with commas) or components=2..16 or
    /// learning-rate=1e-4..1e-2:log; may be given again [default: the options that most often matter]
    #[arg(long = "try", value_name = "OPTION=VALUES")]
    pub tries: Vec<String>,
    /// An option that stays as it is, for every method that has it, such as epochs=100; may be given again
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<String>,
    /// grid (all combinations), random, or halving (many on few rows, the best of them on more) [default: grid; random where
    /// there is a range]
    #[arg(long, value_name = "NAME")]
    pub search: Option<String>,
    /// Configurations that random and halving draw [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub trials: Option<String>,
    /// How many times fewer configurations and more rows each round of halving has
    #[arg(long, value_name = "N", default_value = "3", allow_hyphen_values = true)]
    pub factor: String,
    /// nll, crps or rmse of the validation rows, nll or integrated_brier where targets may be censored: what chooses
    #[arg(long, value_name = "SCORE", default_value = "nll")]
    pub by: String,
    /// Parts of the data, each validated once by models that learnt from the others
    #[arg(long, value_name = "K", default_value = "5", allow_hyphen_values = true)]
    pub folds: String,
    /// Instead of folds: so many times another random share is validated
    #[arg(long, value_name = "N", conflicts_with = "folds", allow_hyphen_values = true)]
    pub repeats: Option<String>,
    /// The share that --repeats validates
    #[arg(long, value_name = "SHARE", default_value = "0.2", allow_hyphen_values = true)]
    pub test: String,
    /// Use only these columns as inputs [default: all but the target]
    #[arg(long, value_name = "COL,…")]
    pub features: Option<String>,
    /// Do not use these columns
    #[arg(long, value_name = "COL,…")]
    pub ignore: Option<String>,
    /// These columns are dates or times, read in a form that is found, or given, such as when:dmy
    #[arg(long, value_name = "COL[:FORM],…")]
    pub date: Option<String>,
    /// The column that says how much each row counts; it is no input
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// Rows are steps in time, oldest first: each fold learns from the rows before it
    #[arg(long, value_name = "COL")]
    pub sequence: Option<String>,
    /// Steps that a prediction of a sequence looks back [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub window: Option<String>,
    /// Starts all random choices
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub seed: String,
    /// What is known of the target.
    #[command(flatten)]
    pub target_flags: TargetFlags,
    /// How the file is written.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// Where and how trials run.
    #[command(flatten)]
    pub part: Part,
}

/// Which part of the trials runs here, and which journals are joined.
#[derive(Debug, Args)]
pub struct Part {
    /// Run only the i-th of n parts of all trials, for several machines
    #[arg(long, value_name = "i/n", help_heading = "Several machines")]
    pub shard: Option<String>,
    /// Take in the journals of these folders first
    #[arg(long, value_name = "DIR,…", help_heading = "Several machines")]
    pub merge: Option<String>,
}

/// `negmm paper`
#[cfg(feature = "paper")]
#[derive(Debug, Args)]
pub struct Paper {
    /// toy1, toy2, uci or finance
    pub experiment: String,
    /// The folder with the data sets (uci/, stocks/) [default: the environment's NEGMM_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Methods to run [default: the paper's six, and for uci and finance constant]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<String>,
    /// Data sets of uci, or stocks of finance [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub sets: Option<String>,
    /// uci: paper (random 80/20 splits, chosen by validation RMSE) or standard (the benchmark's 90/10 splits, by NLL)
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub protocol: String,
    /// uci: the first so many splits of each set [default: 20, of protein 5; with --quick 10, of large sets 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub splits: Option<String>,
    /// Draws of a toy problem [default: 50], or runs of a stock's chosen setting [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub repeats: Option<String>,
    /// One or two settings a method instead of the paper's grids, and for uci fewer splits and steps
    #[arg(long)]
    pub quick: bool,
    /// A setting other than the paper's, such as epochs=100, for every method that has it; may be given again
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<String>,
    /// The paper's grid of sample-net, too, which takes many times as long as all else together
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,
    /// A folder that keeps every finished trial; the same command continues an experiment that was stopped
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// A folder for the tables (Markdown, CSV, JSON) and figures (SVG)
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Starts all random choices
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub seed: String,
    /// Where and how trials run.
    #[command(flatten)]
    pub part: Part,
}
