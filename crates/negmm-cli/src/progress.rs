//! Progress on standard error, unless `--quiet`: a bar on a terminal, otherwise a line every minute.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use negmm::train::{Estimate, Progress};

use crate::arguments::Shared;
use crate::console::eprint;
use crate::format;

/// Time between lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// A bar, lines, or nothing.
pub struct Bar {
    bar: ProgressBar,
    /// Number of jobs.
    jobs: usize,
    /// Stops the lines when dropped.
    _lines: Option<Sender<()>>,
}

impl Bar {
    /// For training this many jobs.
    pub fn training(shared: &Shared, jobs: usize) -> Self {
        let bar = Self { jobs, ..Self::new(shared, "training", "") };
        bar.bar.set_style(style("{prefix} {wide_bar} {percent} %, {eta} left {msg}"));
        bar
    }

    /// For a known number of fits.
    pub fn fits(shared: &Shared, fits: usize) -> Self {
        let bar = Self::new(shared, "comparing", "fit");
        bar.bar.set_style(style("comparing {wide_bar} fit {pos} of {len}, {eta} left"));
        bar.bar.set_length(fits as u64);
        bar
    }

    /// For the trials of a search.
    pub fn trials(shared: &Shared) -> Self {
        let bar = Self::new(shared, "searching", "trial");
        bar.bar.set_style(style("searching {wide_bar} trial {pos} of {len}, {eta} left"));
        bar
    }

    /// For an unknown number of fits: counts their validation checks.
    pub fn checks(shared: &Shared) -> Self {
        let bar = Self::new(shared, "training", "validation check");
        bar.bar.set_style(style("training {spinner} {pos} validation checks, {elapsed}"));
        bar
    }

    /// For rows of a file of unknown length.
    pub fn rows(shared: &Shared) -> Self {
        let bar = Self::new(shared, "predicting", "row");
        bar.bar.set_style(style("{spinner} {pos} rows, {per_sec}"));
        bar
    }

    fn new(shared: &Shared, doing: &'static str, thing: &'static str) -> Self {
        let terminal = stderr().is_terminal();
        let bar = match terminal && !shared.quiet && !shared.json {
            true => ProgressBar::no_length(),
            false => ProgressBar::hidden(),
        };
        bar.set_prefix(doing);
        let lines = (!terminal && !shared.quiet).then(|| {
            let bar = bar.clone();
            every(LINE_INTERVAL, move |passed| eprint(&line((doing, thing), bar.position(), bar.length(), passed)))
        });
        Self { bar, jobs: 1, _lines: lines }
    }

    /// Shows an estimate of the training time and memory.
    pub fn begin(&self, estimate: &Estimate, threads: usize) {
        let networks = format::counted(estimate.networks, "network");
        let (seconds, megabytes) = (estimate.seconds(threads), estimate.megabytes(threads));
        let time = if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
        if estimate.networks == 0 {
            return;
        }
        self.bar.set_prefix(format!("training {networks} (at most about {time}, {megabytes:.0} MB)"));
    }

    /// Counts an epoch of a job.
    pub fn epoch(&self, progress: &Progress) {
        self.bar.set_length((progress.epochs * self.jobs) as u64);
        // Early stopping completes the remaining epochs.
        self.bar.inc(if progress.last { (progress.epochs - progress.epoch + 1) as u64 } else { 1 });
        if let Some(best) = progress.best {
            self.bar.set_message(format!("(best score {best:.4})"));
        }
    }

    /// `done` of `of` trials are finished. A new rung of trials starts at 0.
    pub fn at(&self, done: usize, of: usize) {
        if done == 0 {
            self.bar.reset();
            self.bar.set_length(of as u64);
        }
        self.bar.set_position(done as u64);
    }

    /// Counts more rows or fits.
    pub fn add(&self, done: usize) {
        self.bar.inc(done as u64);
    }

    /// Removes it from the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Calls `act` with the time passed at every interval, until the returned sender is dropped.
fn every(pause: Duration, mut act: impl FnMut(Duration) + Send + 'static) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut passed = pause;
        while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            act(passed);
            passed += pause;
        }
    });
    sender
}

/// A line of progress, with an estimate of the time left.
fn line((doing, thing): (&str, &str), position: u64, length: Option<u64>, passed: Duration) -> String {
    let minutes = |seconds: f64| format!("{:.0} min", seconds / 60.0);
    let passed = passed.as_secs_f64();
    let Some(length) = length.filter(|length| *length > 0) else {
        let done = if thing.is_empty() { String::new() } else { format::counted(position as usize, thing) + ", " };
        return format!("{doing}: {done}{} so far", minutes(passed));
    };
    let fraction = (position as f64 / length as f64).min(1.0);
    let done = match thing {
        "" => format!("{:.0} %", 100.0 * fraction),
        thing => format!("{} of {}", format::count(position as usize), format::counted(length as usize, thing)),
    };
    let left = match fraction > 0.0 {
        true => format!(", about {} left", minutes(passed * (1.0 - fraction) / fraction)),
        false => String::new(),
    };
    format!("{doing}: {done}, {} so far{left}", minutes(passed))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_progress_and_time_left() {
        let after = Duration::from_secs;
        assert_eq!(line(("training", ""), 25, Some(100), after(120)), "training: 25 %, 2 min so far, about 6 min left");
        assert_eq!(line(("comparing", "fit"), 0, Some(1), after(60)), "comparing: 0 of 1 fit, 1 min so far");
        assert_eq!(line(("predicting", "row"), 1200, None, after(60)), "predicting: 1,200 rows, 1 min so far");
        assert_eq!(line(("training", ""), 0, None, after(60)), "training: 1 min so far");
    }

    #[test]
    fn lines_come_at_intervals_and_end() {
        let (sender, receiver) = mpsc::channel();
        let lines = every(Duration::from_millis(5), move |passed| sender.send(passed).unwrap_or_default());
        assert_eq!(receiver.recv().unwrap(), Duration::from_millis(5));
        assert_eq!(receiver.recv().unwrap(), Duration::from_millis(10));
        drop(lines);
        // The thread ends and closes the channel.
        while receiver.recv().is_ok() {}
    }
}
