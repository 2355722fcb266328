//! All tests of the program in one binary, which compiles and links faster than one for each file.

mod censored;
mod commands;
mod common;
mod conformal;
mod dates;
mod discrete;
mod engines;
mod explain;
mod files;
mod forecast;
mod front_ends;
mod given_predictions;
mod interrupt;
mod joint;
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
mod scores;
mod scratch;
mod scratch_parquet;
mod sequence;
mod serve;
mod serve_conformal;
mod serve_forecast;
mod serve_outcomes;
mod time;
mod tune;
mod user_guide;

/// A file that is not listed above would never run.
#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".rs").filter(|name| !["all"].contains(name)) else { continue };
        assert!(include_str!("all.rs").contains(&format!("mod {name};")), "{name}.rs is not in the list");
    }
}
