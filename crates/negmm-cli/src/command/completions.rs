//! Responsible for `negmm completions`: what completes the command line in a shell.

use clap::ValueEnum;
use clap_complete::{Shell, generate};
use negmm::Error;

use crate::arguments::Completions;
use crate::{output, usage};

/// Runs it.
pub fn run(completions: &Completions) -> Result<(), Error> {
    let shell = Shell::from_str(&completions.shell, true).map_err(|_| {
        let names: Vec<String> = Shell::value_variants().iter().map(Shell::to_string).collect();
        Error::options(format!("there is no shell {:?}; there are {}", completions.shell, names.join(", ")))
    })?;
    let mut script = Vec::new();
    generate(shell, &mut usage::command(), "negmm", &mut script);
    output::write("-", &script)
}
