//! The program `negmm` as a library, for its `main` and for tests that call it many times.

mod arguments;
mod chart;
mod column_summary;
mod command;
mod config;
mod config_file;
mod conformal_notes;
mod console;
mod counted_rows;
mod engine;
mod format;
mod input;
mod interrupt;
mod journal;
mod metrics_json;
mod output;
mod output_paths;
mod parse;
mod prediction_input;
mod predictions;
mod progress;
mod renamed;
mod row_notes;
mod text_table;
mod training_table;
mod usage_error;
mod without_target;
mod wording;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use negmm::Error;

use arguments::Command;

pub use command::inspect::{object as inspected, text as described};

/// The exit code of an alarm.
const ALARM: u8 = 3;

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(run_program(&std::env::args_os().collect::<Vec<OsString>>()))
}

/// Runs a command line as the program does: signals end the process. Returns its exit code.
pub fn run_program(typed: &[OsString]) -> u8 {
    interrupt::watch();
    let code = run_and_report(typed);
    // A process that is not Rust's does not do this when it ends.
    let _ = std::io::stdout().flush();
    code
}

/// Runs a command line, prints its error if there is one, and returns its exit code.
fn run_and_report(typed: &[OsString]) -> u8 {
    run(typed).unwrap_or_else(|error| {
        console::print_error(&error, parse::wants_json(typed));
        wording::exit_code(error.kind())
    })
}

/// The outcome of a run of the program.
#[derive(Debug)]
pub struct Captured {
    /// Its exit code.
    pub code: u8,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error.
    pub err: Vec<u8>,
}

/// Runs a command line within this process and captures what this thread prints, for tests that run many. Signals are ignored.
pub fn run_captured(typed: &[OsString]) -> Captured {
    let (code, [out, err]) = console::capture(|| run_and_report(typed));
    Captured { code, out, err }
}

/// Parses a command line and the config file that it names, without running it.
///
/// # Errors
/// As [`run`].
pub fn understand(typed: &[OsString]) -> Result<(), Error> {
    match parse::parse(typed)?.map(|arguments| arguments.command) {
        Some(Command::Fit(fit)) => config::FitConfig::new(&fit.options).map(drop),
        _ => Ok(()),
    }
}

/// Runs a command line, whose first word is the name of the program, and returns its exit code.
///
/// # Errors
/// One sentence for people, with the kind of error and where it is.
pub fn run(typed: &[OsString]) -> Result<u8, Error> {
    let Some(arguments) = parse::parse(typed)? else { return Ok(0) };
    let shared = &arguments.shared;
    console::note(shared.quiet, &arguments.notices);
    let done = match &arguments.command {
        Command::Monitor(monitor) => {
            let alarm = command::monitor::run(monitor, shared)?;
            return Ok(if alarm { ALARM } else { 0 });
        }
        Command::Demo(demo) => command::demo::run(demo, shared),
        Command::Fit(fit) => command::fit::run(fit, shared),
        Command::Predict(predict) => command::predict::run(predict, shared),
        Command::Evaluate(evaluate) => command::evaluate::run(evaluate, shared),
        Command::Explain(explain) => command::explain::run(explain, shared),
        Command::Score(score) => command::score::run(score, shared),
        Command::Recalibrate(recalibrate) => command::recalibrate::run(recalibrate, shared),
        Command::Calibrate(calibrate) => command::calibrate::run(calibrate, shared),
        Command::Report(report) => command::report::run(report, shared),
        Command::Compare(compare) => command::compare::run(compare, shared),
        Command::Tune(tune) => command::tune::run(tune, shared),
        #[cfg(feature = "paper")]
        Command::Paper(paper) => command::paper::run(paper, shared),
        Command::Inspect(inspect) => command::inspect::run(inspect, shared),
        Command::Export(export) => command::export::run(export, shared),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => command::serve::run(serve, shared),
        Command::Completions(completions) => command::completions::run(completions),
        Command::Man => command::man::run(),
    };
    done.map(|()| 0)
}
