//! What the program `negmm` does, for its `main` and for tests that call it many times.

mod arguments;
mod chart;
mod command;
mod config;
mod engine;
mod guarantees;
mod input;
mod interrupt;
mod journal;
mod lines;
mod output;
mod places;
mod predictions;
mod progress;
mod read_as;
mod renamed;
mod report;
mod say;
mod usage;
mod without_target;

use std::ffi::OsString;
use std::process::ExitCode;

use negmm::Error;

use arguments::Command;

pub use command::inspect::{object as inspected, text as described};

/// What a shell is told when the alarm is on.
const ALARM: u8 = 3;

/// Does what the command line says, and tells the shell how it went.
pub fn main() -> ExitCode {
    interrupt::watch();
    let typed: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run_and_report(&typed))
}

/// Does what these words say and prints what went wrong; gives the exit code.
fn run_and_report(typed: &[OsString]) -> u8 {
    run(typed).unwrap_or_else(|error| {
        say::failure(&error, usage::wants_json(typed));
        error.kind().exit_code()
    })
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct Captured {
    /// Its exit code.
    pub code: u8,
    /// What it printed to standard output.
    pub out: Vec<u8>,
    /// What it printed to standard error.
    pub err: Vec<u8>,
}

/// Does what these words say as the program would, within this process, and keeps what it prints from this thread: for tests that
/// call it many times. Signals are not listened to.
pub fn run_captured(typed: &[OsString]) -> Captured {
    let (code, [out, err]) = say::captured(|| run_and_report(typed));
    Captured { code, out, err }
}

/// Whether these words are understood, a config file too; nothing is done.
///
/// # Errors
/// As [`run`].
pub fn understand(typed: &[OsString]) -> Result<(), Error> {
    match usage::parse(typed)?.map(|arguments| arguments.command) {
        Some(Command::Fit(fit)) => fit.config().map(drop),
        _ => Ok(()),
    }
}

/// Does what these words say; the first is the name of the program. Gives the exit code.
///
/// # Errors
/// One for a person, with what kind of thing is at fault and where.
pub fn run(typed: &[OsString]) -> Result<u8, Error> {
    let Some(arguments) = usage::parse(typed)? else { return Ok(0) };
    let shared = &arguments.shared;
    say::note(shared.quiet, &arguments.notices);
    let done = match &arguments.command {
        Command::Monitor(monitor) => {
            let alarm = command::monitor::run(monitor, shared)?;
            return Ok(if alarm { ALARM } else { 0 });
        }
        Command::Demo(demo) => command::demo::run(demo, shared),
        Command::Fit(fit) => command::fit::run(fit, shared),
        Command::Predict(predict) => command::predict::run(predict, shared),
        Command::Evaluate(evaluate) => command::evaluate::run(evaluate, shared),
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
