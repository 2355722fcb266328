//! The program `negmm`: predictive distributions from CSV files.

mod arguments;
mod chart;
mod command;
mod config;
mod input;
mod interrupt;
mod journal;
mod output;
mod progress;
mod report;
mod usage;

use std::process::ExitCode;

use negmm::{Error, ErrorKind};

use arguments::{Arguments, Command};

/// The data or the model is at fault.
const DATA_FAULT: u8 = 1;
/// The command line is at fault.
const COMMAND_FAULT: u8 = 2;
/// Stopped by Ctrl-C, as shells count it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    match usage::parse().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(match error.kind() {
                ErrorKind::Options => COMMAND_FAULT,
                ErrorKind::Cancelled => INTERRUPTED,
                _ => DATA_FAULT,
            })
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    interrupt::watch();
    let shared = &arguments.shared;
    match &arguments.command {
        Command::Demo(demo) => command::demo::run(demo, shared),
        Command::Fit(fit) => command::fit::run(fit, shared),
        Command::Predict(predict) => command::predict::run(predict, shared),
        Command::Evaluate(evaluate) => command::evaluate::run(evaluate, shared),
        Command::Report(report) => command::report::run(report, shared),
        Command::Compare(compare) => command::compare::run(compare, shared),
        Command::Tune(tune) => command::tune::run(tune, shared),
        Command::Paper(paper) => command::paper::run(paper, shared),
        Command::Inspect(inspect) => command::inspect::run(inspect, shared),
    }
}
