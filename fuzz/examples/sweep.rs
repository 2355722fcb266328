//! Exercises many mutated models and continues after panics: `sweep FIRST COUNT`. Prints each panic location once, with its count and
//! the first script that triggered it; with `RUST_BACKTRACE` set, also backtraces. Exit code 1 if there was a panic.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Mutex;

use negmm_fuzz::{exercise_mutated, models, script, table};
use rayon::prelude::*;

thread_local! {
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("two whole numbers: FIRST COUNT"));
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(10_000));
    let (models, table) = (models(), table());
    std::panic::set_hook(Box::new(|information| {
        let location = information.location().map_or(String::new(), ToString::to_string);
        let payload = information.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let message: String = text.unwrap_or_default().chars().take(120).collect();
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
        }
        LOCATION.with(|last| *last.borrow_mut() = format!("{location}: {message}"));
    }));
    let found: Mutex<BTreeMap<String, (usize, u64)>> = Mutex::default();
    let loaded: usize = (first..first + count)
        .into_par_iter()
        .map(|number| {
            catch_unwind(|| usize::from(exercise_mutated(&models, &table, &script(number)))).unwrap_or_else(|_| {
                let location = LOCATION.with(|last| last.take());
                found
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .entry(location)
                    .or_insert((0, number))
                    .0 += 1;
                1
            })
        })
        .sum();
    println!("{count} scripts, {loaded} of them loaded");
    let found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    found
        .iter()
        .for_each(|(location, (times, number))| println!("{times:6} times, first by script {number}: {location}"));
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
