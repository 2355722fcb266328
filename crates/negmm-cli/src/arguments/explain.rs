//! The arguments of `negmm explain`.

use std::path::PathBuf;

use clap::Args;

use super::file::FileFlags;
use super::values::{Names, digits, positive, whole};

/// `negmm explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// Table of the rows to explain: a CSV file with a header line (plain, gzip or zstd) or a Parquet file; a folder of them, or a
    /// pattern such as 'sales/*.parquet', is read as one table; - for standard input
    pub data: String,
    /// What to explain: mean, sd, q0.95, lower_0.9, upper_0.9, width_0.9, p_above_50, p_below_50, p_equal_50, shortfall_0.05,
    /// epistemic, aleatoric, entropy, novelty, region_0.9_length, variance_… as `predict --parts` calls them, and of rows with
    /// targets crps and nll [default: mean,sd; with --global mean,sd,q0.95]
    #[arg(long, value_name = "ANSWER,…", conflicts_with = "acquire", allow_hyphen_values = true)]
    pub of: Option<String>,
    /// The file to write, in the format of its name: CSV (.csv, .tsv), JSON (.json, .jsonl), each also with .gz, Parquet (.parquet)
    /// or Arrow (.arrow, .feather); - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// A sentence for each row with its K largest contributions: printed, or in a file beside the numbers
    #[arg(long, value_name = "K", conflicts_with_all = ["global", "acquire"], allow_hyphen_values = true, value_parser = positive)]
    pub top: Option<usize>,
    /// Explain N rows that are drawn at random
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = positive)]
    pub sample: Option<usize>,
    /// Explain the table as a whole: which columns matter for each answer, the scores that are lost without them, interactions,
    /// dependence along columns, and where more rows would help
    #[arg(long, conflicts_with = "acquire")]
    pub global: bool,
    /// Instead choose the N rows whose targets would be most worth a measurement, as a batch
    #[arg(long, value_name = "N", conflicts_with = "sample", allow_hyphen_values = true, value_parser = positive)]
    pub acquire: Option<usize>,
    /// With --acquire: the rows whose predictions are to become better [default: those of the table itself]
    #[arg(long, value_name = "FILE", requires = "acquire")]
    pub towards: Option<String>,
    /// Rows to compare with, instead of the training rows that the model carries
    #[arg(long, value_name = "FILE", conflicts_with = "acquire")]
    pub background: Option<String>,
    /// With --background: the number of rows that are drawn from a larger file; the time is proportional to it
    #[arg(long, value_name = "N", default_value = "100", requires = "background", allow_hyphen_values = true, value_parser = positive)]
    pub background_rows: usize,
    /// Permutations of the columns for each background row, each walked in both directions [default: by the number of rows, and
    /// exact for few rows of up to 10 columns]
    #[arg(long, value_name = "N", conflicts_with_all = ["exact", "acquire"], allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub permutations: Option<usize>,
    /// Exact contributions by all subsets of the columns, possible for up to 16
    #[arg(long, conflicts_with = "acquire")]
    pub exact: bool,
    /// Also write the standard error of each contribution
    #[arg(long, conflicts_with_all = ["global", "acquire"])]
    pub errors: bool,
    /// Columns of the data to copy to the output unchanged; a name with a comma goes in quotes
    #[arg(long, value_name = "COL,…", conflicts_with = "global")]
    pub keep: Option<Names>,
    /// Significant digits of numbers in CSV and JSON [default: 4 on a terminal; in files and pipes all, so that numbers
    /// read back as the same]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = digits)]
    pub digits: Option<usize>,
    /// Random seed of permutations and of rows that are drawn
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}
