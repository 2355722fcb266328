//! Asks so many hostile models and goes on after what it finds: `sweep FIRST COUNT`. Prints each place of a panic once, with how
//! often it was met and the script that showed it first; with `RUST_BACKTRACE` set, also how it was reached. Exit code 1 where there was one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Mutex;

use negmm_fuzz::{ask_hostile, models, script, table};
use rayon::prelude::*;

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("two whole numbers: FIRST COUNT"));
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(10_000));
    let (models, table) = (models(), table());
    std::panic::set_hook(Box::new(|information| {
        let place = information.location().map_or(String::new(), ToString::to_string);
        let payload = information.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let message: String = text.unwrap_or_default().chars().take(120).collect();
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
        }
        PLACE.with(|kept| *kept.borrow_mut() = format!("{place}: {message}"));
    }));
    let found: Mutex<BTreeMap<String, (usize, u64)>> = Mutex::default();
    let asked: usize = (first..first + count)
        .into_par_iter()
        .map(|number| {
            catch_unwind(|| usize::from(ask_hostile(&models, &table, &script(number)))).unwrap_or_else(|_| {
                let place = PLACE.with(|kept| kept.take());
                found.lock().unwrap_or_else(|held| held.into_inner()).entry(place).or_insert((0, number)).0 += 1;
                1
            })
        })
        .sum();
    println!("{count} scripts, {asked} of them read");
    let found = found.into_inner().unwrap_or_else(|held| held.into_inner());
    found.iter().for_each(|(place, (times, number))| println!("{times:6} times, first by script {number}: {place}"));
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
