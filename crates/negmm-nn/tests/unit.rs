//! The tests of this crate in one program. They use its public items, some of them hidden from its documentation, instead of
//! standing in its modules: the kernels take long to compile, and unit tests would have them compiled a second time.

mod beta_nll;
mod dataset;
mod dataset_bytes;
mod early_stopping;
mod empirical;
mod forest;
mod gradients;
mod grow;
mod histogram;
mod joint;
mod line_search;
mod linear;
mod lstm;
mod mixture_head;
mod ngboost_score;
mod optimiser;
mod sample_energy;
mod sample_scores;
mod schedule;
mod score_interval;
mod score_panel;
mod small_batch;
mod split;
mod stem_gradients;
mod target_encoding;
mod tree;

/// A file that is not in the list above would never run.
#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".rs").filter(|name| *name != "unit") else { continue };
        assert!(include_str!("unit.rs").contains(&format!("mod {name};")), "{name}.rs is not in the list");
    }
}
