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

use std::time::Instant;

/// Seconds of the fastest of as many runs as fit into `seconds`, at least five.
pub fn fastest(seconds: f64, mut run: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let (mut best, mut runs) = (f64::INFINITY, 0);
    while runs < 5 || begun.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}
