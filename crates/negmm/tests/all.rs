//! All tests of the library in one binary, which compiles and links faster than one for each file. `model_file.rs` is separate: it counts
//! allocations.

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
mod data_files;
mod data_parquet;
mod data_reading;
mod data_time;
mod data_uci;
mod engine_bytes;
mod engine_contract;
mod explain;
mod explain_acquire;
mod explain_global;
mod extrapolation;
mod forecast;
mod forecast_batches;
mod forecast_hierarchy;
mod forecast_supports;
mod highest_density_regions;
mod joint;
mod layers;
mod mixture_properties;
mod mixture_quadrature;
mod mixture_quantile;
mod monitor;
mod ngboost;
mod ngboost_reference;
mod options;
mod quality;
mod sample_net;
mod sample_sets;
mod score_gradients;
mod score_theory;
mod sequence;
mod simulated_targets;
mod target_encoding;
mod target_support;
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
