//! Progress on standard error, unless `--quiet`: a bar on a terminal, otherwise a line every minute.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use negmm::train::{Estimate, Progress};

use crate::arguments::Shared;
use crate::console::eprint;
use crate::format;

/// Time to the first line of progress …
const FIRST_LINE: Duration = Duration::from_secs(10);
/// … and between further ones.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// Time between the turns of a spinner that counts nothing.
const TICK: Duration = Duration::from_millis(200);

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
        bar.bar.set_style(style("{prefix} {bar:20} {percent} %{left}{msg}"));
        bar
    }

    /// For a known number of fits.
    pub fn fits(shared: &Shared, fits: usize) -> Self {
        let bar = Self::new(shared, "comparing", "fit");
        bar.bar.set_style(style("comparing {bar:30} fit {pos}{of}{left}"));
        bar.bar.set_length(fits as u64);
        bar
    }

    /// For the trials of a search.
    pub fn trials(shared: &Shared) -> Self {
        let bar = Self::new(shared, "searching", "trial");
        bar.bar.set_style(style("searching {bar:30} trial {pos}{of}{left}"));
        bar
    }

    /// For the series of a forecaster, before networks are trained.
    pub fn series(shared: &Shared) -> Self {
        let bar = Self::new(shared, "classical methods", "series");
        bar.bar.set_style(style("classical methods {wide_bar} {pos} of {len} series, {eta} left"));
        bar
    }

    /// So many are done.
    pub fn done(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        // Threads may call in another order.
        self.bar.set_position(self.bar.position().max(done as u64));
    }

    /// For an unknown number of fits: counts their validation checks.
    pub fn checks(shared: &Shared) -> Self {
        let bar = Self::new(shared, "training", "validation check");
        bar.bar.set_style(style("training {spinner} {count} validation checks, {elapsed}"));
        bar
    }

    /// For rows of a file of unknown length.
    pub fn rows(shared: &Shared) -> Self {
        let bar = Self::new(shared, "predicting", "row");
        bar.bar.set_style(style("{spinner} {count} rows{rate}"));
        bar
    }

    /// For rows that are explained, as many as there are where that is known.
    pub fn explained(shared: &Shared, rows: Option<usize>) -> Self {
        let bar = Self::new(shared, "explaining", "row");
        match rows {
            Some(rows) => {
                bar.bar.set_style(style("explaining {bar:30} {count} of {len} rows{left}"));
                bar.bar.set_length(rows as u64);
            }
            None => bar.bar.set_style(style("explaining {spinner} {count} rows{rate}, {elapsed}")),
        }
        bar
    }

    /// For a table that is explained as a whole.
    pub fn whole(shared: &Shared) -> Self {
        let bar = Self::new(shared, "explaining", "");
        bar.bar.set_style(style("explaining {spinner} {elapsed}"));
        if bar.bar.is_hidden() {
            return bar;
        }
        bar.bar.enable_steady_tick(TICK);
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
            every(FIRST_LINE, LINE_INTERVAL, move |passed| {
                eprint(&line((doing, thing), bar.position(), bar.length(), passed))
            })
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
        self.bar.println(format!("training {networks}, at most about {time} and {megabytes:.0} MB"));
        self.bar.set_prefix(networks);
    }

    /// Counts an epoch of a job.
    pub fn epoch(&self, progress: &Progress) {
        self.bar.set_length((progress.epochs * self.jobs) as u64);
        // Early stopping completes the remaining epochs.
        self.bar.inc(if progress.last { (progress.epochs - progress.epoch + 1) as u64 } else { 1 });
        if let Some(best) = progress.best {
            self.bar.set_message(format!(", best score {}", format::number(best)));
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

/// Calls `act` with the time passed after a first time and then at every interval, until the returned sender is dropped.
fn every(first: Duration, pause: Duration, mut act: impl FnMut(Duration) + Send + 'static) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut passed, mut wait) = (first, first);
        while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            act(passed);
            wait = pause;
            passed += pause;
        }
    });
    sender
}

/// A line of progress, with an estimate of the time left.
fn line((doing, thing): (&str, &str), position: u64, length: Option<u64>, passed: Duration) -> String {
    let minutes = |seconds: f64| match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    };
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

/// A style with keys of our own: a total that is shown once it is known, a time that is shown once there is an estimate, counts
/// with commas and rates in whole rows.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Writing to memory does not fail.
    style
        .with_key("of", |state: &ProgressState, to: &mut dyn Write| {
            let _ = state.len().filter(|len| *len > 0).map_or(Ok(()), |len| write!(to, " of {len}"));
        })
        .with_key("left", |state: &ProgressState, to: &mut dyn Write| {
            let known = state.pos() > 0 && state.len().is_some_and(|len| len > 0);
            let _ = if known { write!(to, ", {} left", clock(state.eta())) } else { Ok(()) };
        })
        .with_key("count", |state: &ProgressState, to: &mut dyn Write| {
            let _ = to.write_str(&format::count(state.pos() as usize));
        })
        .with_key("rate", |state: &ProgressState, to: &mut dyn Write| {
            let rate = state.per_sec();
            let _ = if rate >= 1.0 { write!(to, ", {}/s", format::count(rate as usize)) } else { Ok(()) };
        })
}

/// A length of time in few letters: `45 s`, `12 min`, `3 h`.
fn clock(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    #[test]
    fn lines_have_progress_and_time_left() {
        let after = Duration::from_secs;
        assert_eq!(line(("training", ""), 25, Some(100), after(120)), "training: 25 %, 2 min so far, about 6 min left");
        assert_eq!(line(("comparing", "fit"), 0, Some(1), after(10)), "comparing: 0 of 1 fit, 10 s so far");
        assert_eq!(line(("predicting", "row"), 1200, None, after(70)), "predicting: 1,200 rows, 70 s so far");
        assert_eq!(line(("training", ""), 0, None, after(130)), "training: 2 min so far");
    }

    #[test]
    fn lines_come_at_intervals_and_end() {
        let (sender, receiver) = mpsc::channel();
        let (first, pause) = (Duration::from_millis(5), Duration::from_millis(7));
        let lines = every(first, pause, move |passed| sender.send(passed).unwrap_or_default());
        assert_eq!(receiver.recv().unwrap(), Duration::from_millis(5));
        assert_eq!(receiver.recv().unwrap(), Duration::from_millis(12));
        drop(lines);
        // The thread ends and closes the channel.
        while receiver.recv().is_ok() {}
    }

    /// A terminal of 80 columns that remembers the line it shows.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> std::io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> std::io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What a bar of this style shows at this position.
    fn shown(template: &str, length: Option<u64>, position: u64) -> String {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let bar = ProgressBar::with_draw_target(length, target);
        bar.set_style(style(template));
        bar.set_prefix("1,200 networks");
        bar.set_message(", best score -1.234e-10");
        bar.set_position(position);
        bar.tick();
        std::thread::sleep(Duration::from_millis(2));
        bar.force_draw();
        screen.0.lock().unwrap().trim_end().to_string()
    }

    #[test]
    fn bars_fit_80_columns_and_show_no_total_that_is_unknown() {
        let training = shown("{prefix} {bar:20} {percent} %{left}{msg}", Some(1000), 990);
        assert!(training.contains("99 %") && training.contains('█'), "{training}");
        assert!(training.chars().count() <= 80, "{training}");
        assert_eq!(shown("trial {pos}{of}", None, 0), "trial 0");
        assert_eq!(shown("trial {pos}{of}", Some(0), 0), "trial 0");
        assert_eq!(shown("trial {pos}{of}", Some(3), 2), "trial 2 of 3");
        let rows = shown("{count} rows{rate}", None, 31_112);
        assert!(rows.starts_with("31,112 rows") && !rows.contains('.'), "{rows}");
        assert_eq!(clock(Duration::from_secs(7300)), "2 h");
    }
}
