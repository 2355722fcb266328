//! Responsible for progress on standard error: only on a terminal, and only when nobody asked for quiet.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};
use negmm::train::{Estimate, Progress};

use crate::arguments::Shared;
use crate::report;

/// A bar, or nothing.
pub struct Bar {
    bar: ProgressBar,
    /// What it is of.
    jobs: usize,
}

impl Bar {
    /// For training so many jobs.
    pub fn training(shared: &Shared, jobs: usize) -> Self {
        let bar = Self { jobs, ..Self::new(shared) };
        bar.bar.set_style(style("{prefix} {wide_bar} {percent} %, {eta} left {msg}"));
        bar.bar.set_prefix("training");
        bar
    }

    /// For a known number of fits.
    pub fn fits(shared: &Shared, fits: usize) -> Self {
        let bar = Self::new(shared);
        bar.bar.set_style(style("comparing {wide_bar} fit {pos} of {len}, {eta} left"));
        bar.bar.set_length(fits as u64);
        bar
    }

    /// For the trials of a search.
    pub fn trials(shared: &Shared) -> Self {
        let bar = Self::new(shared);
        bar.bar.set_style(style("searching {wide_bar} trial {pos} of {len}, {eta} left"));
        bar
    }

    /// For rows of a file whose length is not known.
    pub fn rows(shared: &Shared) -> Self {
        let bar = Self::new(shared);
        bar.bar.set_style(style("{spinner} {pos} rows, {per_sec}"));
        bar
    }

    fn new(shared: &Shared) -> Self {
        let shown = stderr().is_terminal() && !shared.quiet && !shared.json;
        Self { bar: if shown { ProgressBar::no_length() } else { ProgressBar::hidden() }, jobs: 1 }
    }

    /// What the training will take, about.
    pub fn begin(&self, estimate: &Estimate, threads: usize) {
        let networks = report::counted(estimate.networks, "network");
        let (seconds, megabytes) = (estimate.seconds(threads), estimate.megabytes(threads));
        let time = if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
        if estimate.networks == 0 {
            return;
        }
        self.bar.set_prefix(format!("training {networks} (at most about {time}, {megabytes:.0} MB)"));
    }

    /// An epoch of a job is done.
    pub fn epoch(&self, progress: &Progress) {
        self.bar.set_length((progress.epochs * self.jobs) as u64);
        // What a network that stops early does not do is done.
        self.bar.inc(if progress.last { (progress.epochs - progress.epoch + 1) as u64 } else { 1 });
        if let Some(best) = progress.best {
            self.bar.set_message(format!("(best score {best:.4})"));
        }
    }

    /// So many trials of so many are done. A new round of trials starts at 0.
    pub fn at(&self, done: usize, of: usize) {
        if done == 0 {
            self.bar.reset();
            self.bar.set_length(of as u64);
        }
        self.bar.set_position(done as u64);
    }

    /// More rows or fits are done.
    pub fn add(&self, done: usize) {
        self.bar.inc(done as u64);
    }

    /// Takes it off the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
