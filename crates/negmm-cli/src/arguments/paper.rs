//! The arguments of `negmm paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::tune::PartFlags;
use super::values::{Assignment, Names, positive, whole};

/// `negmm paper`
#[derive(Debug, Args)]
pub struct Paper {
    /// Experiment: toy1, toy2, uci or finance
    #[arg(hide_possible_values = true)]
    pub experiment: ExperimentName,
    /// Folder of the data sets (uci/, stocks/) [default: the environment variable NEGMM_DATA]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Methods to run [default: the paper's six; for uci and finance also constant]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<Names>,
    /// Data sets of uci, or stocks of finance [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub sets: Option<Names>,
    /// uci: paper (random 80/20 splits, selected by validation RMSE) or standard (the benchmark's 90/10 splits, by NLL)
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub protocol: String,
    /// uci: number of splits of each set [default: 20, protein 5; with --quick 10, large sets 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = positive)]
    pub splits: Option<usize>,
    /// Repetitions of a toy problem [default: 50], or runs of a stock's selected configuration [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = positive)]
    pub repeats: Option<usize>,
    /// One or two configurations per method instead of the paper's grids; for uci also fewer splits and epochs
    #[arg(long)]
    pub quick: bool,
    /// Override an option of the paper for every method that has it, such as epochs=100; repeatable
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<Assignment>,
    /// Include the paper's grid for sample-net, which takes many times as long as everything else
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,
    /// Folder for the journal of finished trials; run the same command again to resume an experiment
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// Folder for the tables (Markdown, CSV, JSON) and figures (SVG)
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Several machines.
    #[command(flatten)]
    pub part: PartFlags,
}

/// The paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExperimentName {
    /// Noise that grows with x.
    Toy1,
    /// Two branches.
    Toy2,
    /// The UCI regression benchmark.
    Uci,
    /// Stock prices.
    Finance,
}
