//! `negmm completions`: shell completion scripts.

use clap_complete::generate;
use negmm::Error;

use crate::arguments::{Arguments, Completions};
use crate::output;

/// Runs it.
pub fn run(completions: &Completions) -> Result<(), Error> {
    let mut script = Vec::new();
    generate(completions.shell, &mut Arguments::parser(), "negmm", &mut script);
    output::write("-", &script)
}
