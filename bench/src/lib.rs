//! Shared parts of the benchmarks: command-line options, the arithmetic floor of a training step, the Python peers, the datasets and
//! the results on them.

pub mod datasets;
pub mod floor;
pub mod honesty;
pub mod options;
pub mod peers;
pub mod program;
pub mod results;
pub mod stress;
pub mod tables;
pub mod truths;
pub mod usage;

use usage::exact_cpu_seconds;

/// Seconds of processor time of the fastest of as many runs as fit into `seconds` of them, at least five.
pub fn fastest(seconds: f64, mut run: impl FnMut()) -> f64 {
    let begun = exact_cpu_seconds();
    let (mut best, mut runs) = (f64::INFINITY, 0);
    while runs < 5 || exact_cpu_seconds() - begun < seconds {
        let start = exact_cpu_seconds();
        run();
        best = best.min(exact_cpu_seconds() - start);
        runs += 1;
    }
    best
}
