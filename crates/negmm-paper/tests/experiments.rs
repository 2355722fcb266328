//! The experiments with tiny settings: reports are complete, from a run and from a journal.

#[path = "../../negmm/tests/common/external.rs"]
mod external;

use negmm::Toy;
use negmm::train::CpuEngine;
use negmm::tune::{Journal, RunOptions};
use negmm_paper::{Comparison, Effort, Entry, METHODS, Report, toy, uci};

fn toy_plan(toy: Toy, methods: &[&str], overrides: &[(&str, &str)]) -> toy::Plan {
    toy::Plan {
        toy,
        repeats: 2,
        methods: methods.iter().map(|name| name.to_string()).collect(),
        effort: Effort::Quick,
        overrides: overrides.iter().map(|(option, value)| (option.to_string(), value.to_string())).collect(),
        seed: 3,
    }
}

fn find<'a>(report: &'a Report, method: &str, metric: &str, selection: Option<&str>) -> Option<&'a Entry> {
    let fits = |entry: &&Entry| entry.method == method && entry.metric == metric && entry.selection == selection;
    report.entries.iter().find(fits)
}

#[test]
fn toys_have_every_method_metric_and_selection() {
    for toy in [Toy::Heteroscedastic, Toy::Bimodal] {
        let plan = toy_plan(toy, &METHODS, &[("epochs", "30"), ("n-estimators", "50")]);
        let mut journal = Journal::in_memory();
        let report = plan.run(&mut journal, &RunOptions::default()).unwrap().unwrap();
        for method in METHODS {
            for selection in ["oracle", "validation"] {
                let entry = |metric| find(&report, method, metric, Some(selection));
                assert_eq!(entry("m").unwrap().ours.repeats, 2);
                assert!(entry("m").unwrap().paper.is_some() && entry("s").unwrap().ours.mean > 0.0);
                let mixture = toy == Toy::Bimodal && ["mdn", "ne-gmm"].contains(&method);
                assert_eq!(entry("weight").is_some(), mixture, "{method}");
                assert_eq!(entry("component_mean").is_some() && entry("component_sd").is_some(), mixture, "{method}");
                assert_eq!(entry("s_misprint").is_some(), toy == Toy::Bimodal);
            }
        }
        // The same from the journal, without a fit; a figure per selection, and the learning curves.
        let again = plan.run(&mut journal, &RunOptions::default()).unwrap().unwrap();
        assert_eq!(again.csv(), report.csv());
        let figures = plan.figures(&journal, CpuEngine::all_cores()).unwrap();
        assert_eq!(figures.len(), 3);
        for (name, figure) in figures {
            let svg = figure.svg(negmm_draw::Style::File);
            assert!(svg.starts_with("<svg ") && !svg.contains("NaN"), "{name}");
        }
    }
}

#[test]
fn the_oracle_is_better_by_its_criterion_and_training_reduces_errors() {
    let run = |epochs| {
        let plan = toy_plan(Toy::Heteroscedastic, &["ne-gmm"], &[("epochs", epochs)]);
        plan.run(&mut Journal::in_memory(), &RunOptions::default()).unwrap().unwrap()
    };
    let (short, long) = (run("10"), run("300"));
    let m = |report: &Report, selection| find(report, "ne-gmm", "m", Some(selection)).unwrap().ours.mean;
    assert!(m(&short, "oracle") > 3.0 && m(&long, "oracle") < 0.6, "{} {}", m(&short, "oracle"), m(&long, "oracle"));
    assert!(m(&long, "oracle") <= m(&long, "validation") + 0.1);
    assert_eq!(find(&short, "ne-gmm", "m", Some("oracle")).unwrap().comparison(), Some(Comparison::Worse));
}

fn uci_plan(sets: &[&str], methods: &[&str], protocol: uci::Protocol) -> uci::Plan {
    uci::Plan {
        sets: sets.iter().map(|name| uci::Set::by_name(name).unwrap()).collect(),
        methods: methods.iter().map(|name| name.to_string()).collect(),
        protocol,
        splits: Some(2),
        effort: Effort::Quick,
        overrides: vec![("epochs".into(), "5".into()), ("n-estimators".into(), "20".into())],
        seed: 0,
    }
}

#[test]
fn uci_has_every_method_under_both_protocols() {
    let Some(data) = external::data("") else { return };
    let methods: Vec<&str> = METHODS.into_iter().chain(["constant"]).collect();
    for protocol in [uci::Protocol::Paper, uci::Protocol::Standard] {
        let plan = uci_plan(&["yacht", "energy", "energy_cooling"], &methods, protocol);
        let mut journal = Journal::in_memory();
        let report = plan.run(&data, &mut journal, &RunOptions::default()).unwrap().unwrap();
        for set in ["yacht", "energy", "energy_cooling", "energy_both"] {
            for method in &methods {
                for metric in ["rmse", "nll", "crps", "picp", "mpiw", "mpiw_standardised", "seconds"] {
                    let fits = |entry: &&Entry| entry.data == set && entry.method == *method && entry.metric == metric;
                    let entry = report.entries.iter().find(fits).unwrap_or_else(|| panic!("{set} {method} {metric}"));
                    let published =
                        *method != "constant" && set != "energy_cooling" && !["crps", "mpiw"].contains(&metric);
                    assert_eq!(entry.paper.is_some(), published, "{set} {method} {metric}");
                    assert!(entry.ours.mean.is_finite());
                }
            }
        }
        let both = find(&report, "constant", "rmse", None).unwrap();
        assert_eq!(both.ours.repeats, 2);
    }
}

#[test]
fn the_wine_sets_have_a_table_of_sd_floors() {
    let Some(data) = external::data("") else { return };
    let plan = uci_plan(&["wine_red"], &["ne-gmm"], uci::Protocol::Paper);
    let report = plan.run(&data, &mut Journal::in_memory(), &RunOptions::default()).unwrap().unwrap();
    let table = report.tables.iter().find(|table| table.title.contains("floor")).unwrap();
    assert_eq!(table.rows.len(), 4);
}

#[test]
fn standard_splits_are_from_files_and_the_papers_are_random() {
    let Some(data) = external::data("") else { return };
    let boston = uci::Set::by_name("boston").unwrap();
    let rows = boston.read(&data).unwrap().rows();
    let standard = boston.splits(&data, rows, uci::Protocol::Standard, 0).unwrap();
    assert_eq!((standard.len(), standard[0].test.len()), (20, 51));
    let drawn = boston.splits(&data, rows, uci::Protocol::Paper, 0).unwrap();
    assert_eq!((drawn.len(), drawn[0].test.len()), (20, 101));
    assert_ne!(drawn, boston.splits(&data, rows, uci::Protocol::Paper, 1).unwrap());
    assert_eq!(uci::Set::by_name("protein").unwrap().splits, 5);
}
