//! The arguments of `negmm fit`.

use std::path::PathBuf;

use clap::Args;

use super::data::{DataFlags, ForecastFlags};
use super::method::MethodFlags;
use super::values::whole;

/// `negmm fit`
#[derive(Debug, Args)]
pub struct Fit {
    /// Table: a CSV file with a header line (plain, gzip or zstd) or a Parquet file; a folder of them, or a pattern such as
    /// 'sales/*.parquet', is read as one table; - for standard input
    pub data: String,
    /// The model file to write; - for standard output
    #[arg(long, short, value_name = "MODEL")]
    pub output: PathBuf,
    /// Also write out-of-sample predictions of the held-out rows, as CSV
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub held_out: Option<String>,
    /// TOML file that sets any of the options below by name (hidden = [64, 64]); flags take precedence
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Training rows that the model file carries for explanations, as encoded inputs without targets; 0: none [default: 32]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, value_parser = whole::<usize>)]
    pub background: Option<usize>,
    /// Fit from scratch files in this folder, with the bits of a fit in memory: for tables that do not fit there [default, for a table
    /// that is larger than --memory: the folder of temporary files]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub scratch: Option<PathBuf>,
    /// Also write an HTML report with diagnostic plots, of the held-out rows where there are any
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// What a config file may set too.
    #[command(flatten)]
    pub options: FitOptions,
}

/// The options of `fit` that a config file may set, too.
#[derive(Clone, Debug, Args)]
pub struct FitOptions {
    /// The training data.
    #[command(flatten)]
    pub data: DataFlags,
    /// What is forecast.
    #[command(flatten)]
    pub forecast: ForecastFlags,
    /// The method and its options.
    #[command(flatten)]
    pub method: MethodFlags,
}
