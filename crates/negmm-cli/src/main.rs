//! The program `negmm`: predictive distributions from CSV and Parquet files.

use std::process::ExitCode;

fn main() -> ExitCode {
    negmm_cli::main()
}
