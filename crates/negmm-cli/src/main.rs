//! The program `negmm`: predictive distributions from CSV and Parquet files.

mod arguments;
mod chart;
mod command;
mod config;
mod input;
mod interrupt;
mod journal;
mod output;
mod predictions;
mod progress;
mod read_as;
mod report;
mod usage;
mod without_target;

use std::process::ExitCode;

use negmm::Error;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    match usage::parse().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.kind().exit_code())
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
