//! All tests of these files in one program, because one is compiled and linked much sooner than one for each.

mod answers;
mod censored;
mod common;
mod dates;
mod discrete;
mod engines;
mod forecast;
mod guarantees;
mod interrupt;
mod kernels;
mod markdown;
mod monitor;
mod outputs;
mod paper;
mod parquet;
mod predict;
mod reading;
mod refusals;
mod report;
mod sequence;
mod serve;
mod serve_forecast;
mod serve_guaranteed;
mod serve_observe;
mod tune;
mod user_guide;

/// A file that is not in the list above would never run.
#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".rs").filter(|name| !["all"].contains(name)) else { continue };
        assert!(include_str!("all.rs").contains(&format!("mod {name};")), "{name}.rs is not in the list");
    }
}
