//! All tests of these files in one program, because one is compiled and linked much sooner than one for each. `model_file.rs` is apart: it counts what is allocated.

// Before those that use its macro.
#[macro_use]
mod common;

mod atoms;
mod auto;
mod censored;
mod conformal;
mod contract;
mod data_csv;
mod data_encode;
mod data_parquet;
mod data_reading;
mod data_time;
mod data_uci;
mod engine_contract;
mod engine_elsewhere;
mod extrapolation;
mod forecast;
mod forecast_portions;
mod layers;
mod levels;
mod lstm;
mod mixture_properties;
mod mixture_quadrature;
mod mixture_quantile;
mod monitor;
mod ngboost;
mod ngboost_reference;
mod options;
mod quality;
mod regions;
mod sample_net;
mod sample_scores;
mod sample_sets;
mod score_gradients;
mod score_interval;
mod score_panel;
mod score_theory;
mod sequence;
mod target_support;
mod targets;
mod tune;

/// A file that is not in the list above would never run.
#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".rs").filter(|name| !["all", "model_file"].contains(name)) else {
            continue;
        };
        assert!(include_str!("all.rs").contains(&format!("mod {name};")), "{name}.rs is not in the list");
    }
}
