//! Responsible for what can be typed: the command line as text, before anything is looked up or checked.

mod method;
mod monitor;
mod predict;
mod reading;
mod search;
mod sequence;
#[cfg(feature = "serve")]
mod serve;
mod target;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use negmm::Loaded;

pub use method::MethodFlags;
pub use monitor::Monitor;
pub use predict::{OriginFlags, Predict};
pub use reading::{FileFlags, ReadingFlags};
#[cfg(feature = "paper")]
pub use search::Paper;
pub use search::{Part, Tune};
pub use sequence::SequenceFlags;
#[cfg(feature = "serve")]
pub use serve::Serve;
pub use target::TargetFlags;

/// A whole predictive distribution for every row of a data set.
#[derive(Debug, Parser)]
#[command(name = "negmm", version, about, max_term_width = 110)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub shared: Shared,
    /// A sentence for every option that was typed by its former name.
    #[arg(skip)]
    pub notices: Vec<String>,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Shared {
    /// Print one machine-readable object on standard output and nothing else there
    #[arg(long, global = true, help_heading = "General")]
    pub json: bool,
    /// No progress, no warnings
    #[arg(long, short, global = true, help_heading = "General")]
    pub quiet: bool,
    /// Threads to use, 0 for all cores; results do not depend on it [default: 0]
    #[arg(long, global = true, value_name = "N", help_heading = "General", allow_hyphen_values = true)]
    pub threads: Option<String>,
    /// What trains and predicts: cpu, cuda (an NVIDIA card), or auto, a card where it pays; results do not depend on it [default: auto]
    #[arg(long, global = true, value_name = "ENGINE", help_heading = "General")]
    pub engine: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the paper's example, fit, score, draw: the product in one command, no data needed
    Demo(Demo),
    /// Train on a CSV or Parquet file
    Fit(Box<Fit>),
    /// One row out for every row in; of a forecaster one for each step ahead
    Predict(Box<Predict>),
    /// Score predictions against known targets
    Evaluate(Evaluate),
    /// Make intervals and regions guaranteed ones, by rows that the model has not seen
    Calibrate(Calibrate),
    /// Watch a model at work: is it calibrated, did it stop to be so and when; exit code 3 when the alarm is on
    Monitor(Monitor),
    /// Explain a model by pictures: one HTML file, or an SVG file for each
    Report(Report),
    /// Cross-validate methods on one data set, one table
    Compare(Box<Compare>),
    /// Try settings, choose by validation rows, save the winner; can be stopped and continued
    Tune(Box<Tune>),
    /// The paper's experiments beside its printed numbers
    #[cfg(feature = "paper")]
    Paper(Box<Paper>),
    /// What a model is and was trained on
    Inspect(Inspect),
    /// Write a model as an ONNX graph, from named columns to the whole distribution
    Export(Export),
    /// Answer requests over HTTP, and show a page to explore a model with
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// What completes the command line in a shell, as its script
    Completions(Completions),
    /// The manual page, for man
    Man,
}

impl Command {
    /// Every `OPTION=VALUE` that was typed.
    pub fn assignments_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Compare(compare) => compare.set.iter_mut().collect(),
            Self::Tune(tune) => tune.set.iter_mut().chain(&mut tune.tries).collect(),
            Self::Paper(paper) => paper.set.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}

/// `negmm demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// toy1 (noise that grows with x) or toy2 (two branches)
    #[arg(default_value = "toy2")]
    pub toy: String,
    /// Starts all random choices
    #[arg(long, default_value = "0", value_name = "N", allow_hyphen_values = true)]
    pub seed: String,
    /// Also write the data and the model into this folder, to go on with
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

/// `negmm fit`
#[derive(Debug, Args)]
pub struct Fit {
    /// CSV file with a header line, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The model file to write; - for standard output
    #[arg(long, short, value_name = "MODEL")]
    pub output: PathBuf,
    /// Also write what is said of rows held out by networks that did not learn from them, as CSV
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub held_out: Option<String>,
    /// A TOML file with any of the options below by the same names (hidden = [64, 64]); a flag wins over it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Also explain the model by pictures in this HTML file, by its rows held out in training where there are some
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// The columns and rows, which a config file may say too.
    #[command(flatten)]
    pub data_flags: DataFlags,
    /// What is known of the target, which a config file may say too.
    #[command(flatten)]
    pub target_flags: TargetFlags,
    /// What is forecast, which a config file may say too.
    #[command(flatten)]
    pub sequence_flags: SequenceFlags,
    /// How the file is written, which a config file may say too.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// The method and its settings, which a config file may say too.
    #[command(flatten)]
    pub method: MethodFlags,
}

/// What `fit` does with the data, as it was typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct DataFlags {
    /// The column to predict; of a sequence, the sequence itself where nothing is said
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// Use only these columns as inputs [default: all but the target]
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub features: Option<String>,
    /// Do not use these columns; a name with a comma goes in quotes
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub ignore: Option<String>,
    /// These columns are dates or times, read in a form that is found, or given: ymd, dmy, mdy, named, clock, seconds or
    /// milliseconds (since 1970), such as when:dmy [default: text columns all of whose cells are dates]
    #[arg(long, value_name = "COL[:FORM],…", allow_hyphen_values = true)]
    pub date: Option<String>,
    /// The column that says how much each row counts; it is no input
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weight: Option<String>,
    /// Starts all random choices; the same seed gives the same model [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<String>,
}

impl DataFlags {
    /// Every flag that was given: its name and its text.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = [
            ("target", &self.target),
            ("features", &self.features),
            ("ignore", &self.ignore),
            ("date", &self.date),
            ("weight", &self.weight),
            ("seed", &self.seed),
        ];
        all.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

/// `negmm evaluate`
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// CSV file with the target column, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The column that says how much each row counts
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// Which origins forecasts start from.
    #[command(flatten)]
    pub origins: OriginFlags,
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm calibrate`
#[derive(Debug, Args)]
pub struct Calibrate {
    /// The model file
    pub model: PathBuf,
    /// CSV file with the target column, plain or gzip, or Parquet, of rows that the model has not seen; - for standard input
    pub data: String,
    /// The model file to write, which may be the same; - for standard output
    #[arg(long, short, value_name = "MODEL")]
    pub output: String,
    /// Guarantee it in each group of rows that have the same in this column
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub by: Option<String>,
    /// The column that says how many times as likely a row is among new rows; new rows must have it too
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weight: Option<String>,
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm report`
#[derive(Debug, Args)]
pub struct Report {
    /// The model file; - for standard input
    pub model: PathBuf,
    /// CSV file with the target column, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The HTML file to write; - for standard output
    #[arg(long, short, value_name = "FILE", required_unless_present = "svg")]
    pub output: Option<String>,
    /// Write every picture as an SVG file into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// The column that says how much each row counts
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// Which origins forecasts start from.
    #[command(flatten)]
    pub origins: OriginFlags,
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
}

/// `negmm compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// CSV file with a header line, plain or gzip, or Parquet; - for standard input
    pub data: String,
    /// The column to predict; of a sequence, the sequence itself where nothing is said
    #[arg(long, value_name = "COL", required_unless_present = "sequence")]
    pub target: Option<String>,
    /// Compare only these [default: all]
    #[arg(long, value_name = "NAME,…")]
    pub methods: Option<String>,
    /// Parts of the data, each scored once by models that learnt from the others
    #[arg(long, value_name = "K", default_value = "5", allow_hyphen_values = true)]
    pub folds: String,
    /// Instead of folds: so many times another random share is scored
    #[arg(long, value_name = "N", conflicts_with = "folds", allow_hyphen_values = true)]
    pub repeats: Option<String>,
    /// The share that --repeats scores
    #[arg(long, value_name = "SHARE", default_value = "0.1", allow_hyphen_values = true)]
    pub test: String,
    /// Draw the scores into this SVG file too
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// An option for every method that has it, such as epochs=100; may be given again
    #[arg(long, value_name = "OPTION=VALUE")]
    pub set: Vec<String>,
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
    /// Starts all random choices
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub seed: String,
    /// What is forecast.
    #[command(flatten)]
    pub sequence_flags: SequenceFlags,
    /// What is known of the target.
    #[command(flatten)]
    pub target_flags: TargetFlags,
    /// How the file is written.
    #[command(flatten)]
    pub reading: ReadingFlags,
}

/// `negmm inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// The model file; - for standard input
    #[arg(required_unless_present = "engines")]
    pub model: Option<PathBuf>,
    /// Which engines this machine can train with, and why others not
    #[arg(long, conflicts_with = "model")]
    pub engines: bool,
}

/// `negmm completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// bash, elvish, fish, powershell or zsh
    pub shell: String,
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

/// Threads at most: far more than any machine has, and few enough to start.
const MOST_THREADS: usize = 1024;

impl Shared {
    /// Threads to use, 0 for all cores; `otherwise` where no flag says it.
    /// Also makes them the number for everything outside training.
    pub fn threads(&self, otherwise: Option<&str>) -> Result<usize, negmm::Error> {
        let threads = match self.threads.as_deref().or(otherwise) {
            None => 0,
            Some(text) => super::input::number("threads", text)?,
        };
        if threads > MOST_THREADS {
            return Err(negmm::Error::options(format!("threads must be at most {MOST_THREADS}, found {threads}")));
        }
        // Fails only when the threads are already there: then they stay as they are.
        negmm::threads::limit(threads);
        Ok(threads)
    }

    /// What trains; `otherwise` says how many threads where no flag does.
    pub fn engine(&self, otherwise: Option<&str>) -> Result<crate::engine::Trainer, negmm::Error> {
        crate::engine::Trainer::new(self.engine_name(), self.threads(otherwise)?, self.tell())
    }

    /// The model with what helps it to predict.
    pub fn accelerated(&self, model: Loaded) -> Result<Loaded, negmm::Error> {
        Ok(match (model, crate::engine::accelerator(self.engine_name(), self.tell())?) {
            (model, None) => model,
            (Loaded::Model(model), Some(accelerator)) => Loaded::Model(Box::new(model.accelerated(accelerator))),
            (Loaded::Forecaster(forecaster), Some(accelerator)) => {
                Loaded::Forecaster(Box::new(forecaster.accelerated(accelerator)))
            }
        })
    }

    fn engine_name(&self) -> &str {
        self.engine.as_deref().unwrap_or("auto")
    }

    fn tell(&self) -> Box<dyn Fn(&str) + Sync + Send> {
        let quiet = self.quiet;
        Box::new(move |text: &str| {
            if !quiet {
                eprintln!("note: {text}");
            }
        })
    }
}
