//! Stress test: fits random configurations to difficult data and counts the outcomes.
//! `stress [--first 0] [--fits 10000] [--seconds 60] [--log FILE]`. Each case is determined by its number. Exit code 1 where one
//! panicked, ran longer than `--seconds`, or predicted a number that is not finite.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use negmm_bench::options::Options;
use negmm_bench::stress::{Outcome, StressCase};
use rayon::prelude::*;
use serde_json::json;

fn main() -> Result<ExitCode, String> {
    let options = Options::read(&["--first", "--fits", "--seconds", "--log"])?;
    let (first, fits) = (options.get("--first", 0_u64)?, options.get("--fits", 10_000_u64)?);
    let limit = Duration::from_secs(options.get("--seconds", 60)?);
    let log = options.text("--log").map(|path| Mutex::new(File::create(path).expect("the log can be written")));
    std::panic::set_hook(Box::new(|_| {}));
    let running: Mutex<BTreeMap<u64, Instant>> = Mutex::default();
    let finished = AtomicBool::new(false);
    let counts: Mutex<BTreeMap<(&str, &str), usize>> = Mutex::default();
    let broken: Mutex<Vec<(u64, String)>> = Mutex::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
                let hung = running.lock().unwrap().iter().find(|(_, begun)| begun.elapsed() > limit).map(|(n, _)| *n);
                if let Some(number) = hung {
                    println!("case {number} hangs");
                    std::process::exit(1);
                }
            }
        });
        (first..first + fits).into_par_iter().for_each(|number| {
            let begun = Instant::now();
            running.lock().unwrap().insert(number, begun);
            let case = StressCase::new(number);
            let outcome = case.run();
            running.lock().unwrap().remove(&number);
            let (word, message) = match &outcome {
                Outcome::Trained => ("trained", ""),
                Outcome::Refused(message) => ("refused", message.as_str()),
                Outcome::Broken(message) => ("broken", message.as_str()),
            };
            *counts.lock().unwrap().entry((case.method.name(), word)).or_default() += 1;
            if word == "broken" {
                broken.lock().unwrap().push((number, message.to_string()));
            }
            if let Some(log) = &log {
                let line = json!({
                    "number": number, "method": case.method.name(), "settings": case.settings,
                    "columns": case.columns, "outcome": word, "message": message,
                    "seconds": begun.elapsed().as_secs_f64(),
                });
                writeln!(log.lock().unwrap(), "{line}").expect("the log can be written");
            }
        });
        finished.store(true, Ordering::Relaxed);
    });
    for ((method, outcome), count) in counts.into_inner().unwrap() {
        println!("{method:12} {outcome:8} {count:6}");
    }
    let broken = broken.into_inner().unwrap();
    broken.iter().for_each(|(number, message)| println!("case {number} broke: {message}"));
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
