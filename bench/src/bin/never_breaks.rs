//! Trains random configurations on hostile data and says how each ended:
//! `never_breaks [--first 0] [--trainings 10000] [--seconds 60] [--log FILE]`. Each is made by its number alone. Exit code 1 where
//! one panicked, hung for so many seconds, or predicts something that is not a number.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use negmm_bench::hostile::{End, Training};
use negmm_bench::options::Options;
use rayon::prelude::*;
use serde_json::json;

fn main() -> Result<ExitCode, String> {
    let options = Options::read(&["--first", "--trainings", "--seconds", "--log"])?;
    let (first, trainings) = (options.get("--first", 0_u64)?, options.get("--trainings", 10_000_u64)?);
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
                    println!("training {number} hangs");
                    std::process::exit(1);
                }
            }
        });
        (first..first + trainings).into_par_iter().for_each(|number| {
            let begun = Instant::now();
            running.lock().unwrap().insert(number, begun);
            let training = Training::new(number);
            let end = training.run();
            running.lock().unwrap().remove(&number);
            let (word, message) = match &end {
                End::Trained => ("trained", ""),
                End::Refused(message) => ("refused", message.as_str()),
                End::Broken(message) => ("broken", message.as_str()),
            };
            *counts.lock().unwrap().entry((training.method.name(), word)).or_default() += 1;
            if word == "broken" {
                broken.lock().unwrap().push((number, message.to_string()));
            }
            if let Some(log) = &log {
                let line = json!({
                    "number": number, "method": training.method.name(), "settings": training.settings,
                    "columns": training.columns, "end": word, "message": message,
                    "seconds": begun.elapsed().as_secs_f64(),
                });
                writeln!(log.lock().unwrap(), "{line}").expect("the log can be written");
            }
        });
        finished.store(true, Ordering::Relaxed);
    });
    for ((method, end), count) in counts.into_inner().unwrap() {
        println!("{method:12} {end:8} {count:6}");
    }
    let broken = broken.into_inner().unwrap();
    broken.iter().for_each(|(number, message)| println!("training {number} broke: {message}"));
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
