//! The command line as it was typed: flags as values of their types, before they are put together and checked against each other
//! ([`crate::config`]) or against data.

pub mod compare;
pub mod data;
pub mod explain;
pub mod file;
pub mod fit;
pub mod given;
pub mod method;
pub mod monitor;
#[cfg(feature = "paper")]
pub mod paper;
pub mod predict;
pub mod predictions;
#[cfg(feature = "serve")]
pub mod serve;
pub mod tune;
pub mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use negmm::{Error, Loaded, Toy};

pub use compare::Compare;
pub use explain::Explain;
pub use fit::Fit;
pub use monitor::Monitor;
#[cfg(feature = "paper")]
pub use paper::Paper;
pub use predict::Predict;
#[cfg(feature = "serve")]
pub use serve::Serve;
pub use tune::Tune;

use file::FileFlags;
use given::Given;
use predict::OriginFlags;
use predictions::{PredictionFlags, Recalibrate, RecalibrationFlags, Score};
use values::{threads, whole};

use crate::renamed;

/// A whole predictive distribution for every row of a data set.
#[derive(Debug, Parser)]
#[command(name = "negmm", version, about, max_term_width = 110)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Flags of every command.
    #[command(flatten)]
    pub shared: Shared,
    /// A sentence for every option that was typed by its former name.
    #[arg(skip)]
    pub notices: Vec<String>,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub struct Shared {
    /// Print JSON to standard output, and nothing else: one object, for tables of predictions one a row
    #[arg(long, global = true, help_heading = "General")]
    pub json: bool,
    /// Print nothing but errors and what was asked for: predictions and scores, but no progress, warnings, notes or summaries
    #[arg(long, short, global = true, help_heading = "General")]
    pub quiet: bool,
    /// Threads and engine, which a config file may set too.
    #[command(flatten)]
    pub engine: EngineFlags,
}

/// Threads and engine.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "General")]
pub struct EngineFlags {
    /// Number of threads, 0 for all cores; results do not depend on it [default: 0]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// Engine for training and prediction: cpu, cuda (NVIDIA GPU), or auto (GPU where it is faster); results do not depend on it
    /// [default: auto]
    #[arg(long, global = true, value_name = "ENGINE")]
    pub engine: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate the paper's example, then fit, score and plot it; needs no data
    Demo(Demo),
    /// Train a model on a CSV or Parquet file
    Fit(Box<Fit>),
    /// Predict a distribution for every row; with a forecaster, for every step ahead
    Predict(Box<Predict>),
    /// Score predictions against observed targets
    Evaluate(Evaluate),
    /// Explain predictions: what each input column contributes to the mean, the sd, a quantile or a probability
    Explain(Box<Explain>),
    /// Score anybody's predictions: quantiles, samples, distributions by their parameters
    Score(Box<Score>),
    /// Calibrate conformal prediction sets, or recalibrate predictions, on rows that the model has not seen
    Calibrate(Box<Calibrate>),
    /// Recalibrate new predictions by what `calibrate --predictions` learnt
    Recalibrate(Box<Recalibrate>),
    /// Monitor the calibration of a model in use: sequential test with change point; exit code 3 on an alarm
    Monitor(Monitor),
    /// Write diagnostic plots and explanations of a model: one HTML page, or SVG files
    Report(Report),
    /// Cross-validate methods on a data set and tabulate their scores
    Compare(Box<Compare>),
    /// Search hyperparameters by cross-validation and save the best model; can be stopped and resumed
    Tune(Box<Tune>),
    /// Reproduce the paper's experiments, beside its published results
    #[cfg(feature = "paper")]
    Paper(Box<Paper>),
    /// Describe a model and its training data
    Inspect(Inspect),
    /// Export a model as an ONNX graph, from named columns to the whole distribution
    Export(Export),
    /// Serve models over HTTP, with a web page to explore them
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// Print a shell completion script
    Completions(Completions),
    /// Print the manual page
    Man,
}

impl Arguments {
    /// The parser of the command line, which accepts former names of options too.
    pub fn parser() -> clap::Command {
        renamed::with_former_names(<Self as clap::CommandFactory>::command())
    }
}

impl Command {
    /// A notice for every `OPTION=VALUE` whose option was typed by its former name.
    pub fn notices(&self) -> Vec<String> {
        let (set, tries) = match self {
            Self::Compare(compare) => (&compare.set[..], &[][..]),
            Self::Tune(tune) => (&tune.set[..], &tune.tries[..]),
            #[cfg(feature = "paper")]
            Self::Paper(paper) => (&paper.set[..], &[][..]),
            _ => (&[][..], &[][..]),
        };
        let of_set = set.iter().filter_map(|assignment| assignment.notice.clone());
        of_set.chain(tries.iter().filter_map(|trial| trial.notice.clone())).collect()
    }
}

/// `negmm demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// Toy problem: toy1 (noise that grows with x) or toy2 (two branches)
    #[arg(default_value = "toy2", value_parser = Toy::by_name)]
    pub toy: Toy,
    /// Random seed
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Also save the data, the model and the report in this folder
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

/// `negmm evaluate`
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// Table with the target column: a CSV file (plain, gzip or zstd), a Parquet file, a folder of them or a pattern such as
    /// 'sales/*.parquet'; - for standard input
    pub data: String,
    /// Sample-weight column
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// Also score by groups: the categories of this column, or quantile bins of its numbers
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub by: Option<String>,
    /// Forecast origins.
    #[command(flatten)]
    pub origins: Given<OriginFlags>,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm calibrate`
#[derive(Debug, Args)]
pub struct Calibrate {
    /// The model file
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub model: Option<PathBuf>,
    /// Table with the target column, of rows that the model has not seen: a CSV file (plain, gzip or zstd), a Parquet file, a
    /// folder of them or a pattern such as 'sales/*.parquet'; - for standard input
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub data: Option<String>,
    /// The model file to write, which may be the same, or of --predictions the file for `negmm recalibrate`; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: String,
    /// Predictions instead of a model.
    #[command(flatten)]
    pub of_predictions: PredictionFlags,
    /// How they are recalibrated.
    #[command(flatten)]
    pub recalibration: RecalibrationFlags,
    /// Group column, for coverage in each group (Mondrian conformal prediction)
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub by: Option<String>,
    /// Likelihood-ratio column, for covariate shift (weighted conformal prediction); new rows must have it too
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weight: Option<String>,
    /// File with the inputs of rows to be predicted: estimates weights for covariate shift towards them
    #[arg(long, value_name = "FILE", conflicts_with = "weight")]
    pub towards: Option<String>,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm report`
#[derive(Debug, Args)]
pub struct Report {
    /// The model file; - for standard input
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub model: Option<PathBuf>,
    /// Table with the target column: a CSV file (plain, gzip or zstd), a Parquet file, a folder of them or a pattern such as
    /// 'sales/*.parquet'; - for standard input
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    pub data: Option<String>,
    /// Predictions instead of a model.
    #[command(flatten)]
    pub of_predictions: PredictionFlags,
    /// The HTML file to write; - for standard output
    #[arg(long, short, value_name = "FILE", required_unless_present = "svg")]
    pub output: Option<String>,
    /// Write each plot as an SVG file into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Sample-weight column
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// Forecast origins.
    #[command(flatten)]
    pub origins: Given<OriginFlags>,
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// The model file; - for standard input
    #[arg(required_unless_present = "engines")]
    pub model: Option<PathBuf>,
    /// List the engines this machine can use, and why it cannot use others
    #[arg(long, conflicts_with = "model")]
    pub engines: bool,
}

/// `negmm completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell: bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    pub shell: Shell,
}

/// `negmm export`
#[derive(Debug, Args)]
pub struct Export {
    /// The model file
    pub model: PathBuf,
    /// The ONNX file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: String,
}

impl Shared {
    /// Threads to use, 0 for all cores. Also makes them the number for everything outside training.
    pub fn threads(&self) -> usize {
        let threads = self.engine.threads.unwrap_or(0);
        // Fails only if the thread pool exists already: then it stays as it is.
        negmm::threads::limit(threads);
        threads
    }

    /// The training engine.
    pub fn trainer(&self) -> Result<crate::engine::Trainer, Error> {
        crate::engine::Trainer::new(self.engine_name(), self.threads(), self.notify())
    }

    /// The CPU engine, where no other can be used because of `reason`.
    pub fn cpu_trainer(&self, reason: &str) -> Result<crate::engine::Trainer, Error> {
        match self.engine_name() {
            "cuda" => Err(Error::options(format!("{reason}: leave out --engine cuda"))),
            _ => crate::engine::Trainer::new("cpu", self.threads(), self.notify()),
        }
    }

    /// The model with the accelerator of its predictions, if there is one.
    pub fn accelerated(&self, model: Loaded) -> Result<Loaded, Error> {
        Ok(match (model, crate::engine::accelerator(self.engine_name(), self.notify())?) {
            (model, None) => model,
            // Models of several targets predict on the CPU.
            (model @ Loaded::Joint(_), Some(_)) => model,
            (Loaded::Model(model), Some(accelerator)) => Loaded::Model(Box::new(model.accelerated(accelerator))),
            (Loaded::Forecaster(forecaster), Some(accelerator)) => {
                Loaded::Forecaster(Box::new(forecaster.accelerated(accelerator)))
            }
        })
    }

    fn engine_name(&self) -> &str {
        self.engine.engine.as_deref().unwrap_or("auto")
    }

    fn notify(&self) -> Box<dyn Fn(&str) + Sync + Send> {
        let quiet = self.quiet;
        Box::new(move |text: &str| crate::console::note(quiet, &[text.to_string()]))
    }
}
