//! `negmm completions`: shell completion scripts.

use clap_complete::generate;
use negmm::Error;

use crate::arguments::Completions;
use crate::{output, usage};

/// Runs it.
pub fn run(completions: &Completions) -> Result<(), Error> {
    let mut script = Vec::new();
    generate(completions.shell, &mut usage::command(), "negmm", &mut script);
    output::write("-", &script)
}
