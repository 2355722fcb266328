//! Default NE-GMM, one network, on the first standard splits of real data: mean scores no worse than limits.

use crate::common::external;

use std::io::Read;
use std::path::Path;

use negmm::compare::{CompareOptions, Metric, Split, compare};
use negmm::data::ColumnRoles;
use negmm::train::CpuEngine;
use negmm::{Method, Table};

/// Set, target, column to leave out, splits, metric, and the most its mean over the splits may be.
type Case = (&'static str, &'static str, Option<&'static str>, usize, Metric, f64);

const CASES: [Case; 6] = [
    ("boston", "medv", None, 5, Metric::Nll, 2.70),
    ("concrete", "compressive_strength", None, 5, Metric::Nll, 3.25),
    ("energy", "heating_load", Some("cooling_load"), 5, Metric::Nll, 1.0),
    ("yacht", "residuary_resistance", None, 5, Metric::Nll, 1.0),
    ("kin8nm", "y", None, 2, Metric::Nll, -1.1),
    // Whole-number targets: the NLL only measures the smallest sd.
    ("wine_red", "quality", None, 5, Metric::Crps, 0.33),
];

fn test_rows(folder: &Path, name: &str) -> Vec<Vec<usize>> {
    let file = std::fs::File::open(folder.join("splits").join(format!("{name}.txt.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines().map(|line| line.split_whitespace().map(|row| row.parse().unwrap()).collect()).collect()
}

#[test]
fn default_network_on_the_standard_splits() {
    let Some(folder) = external::data("uci") else { return };
    for (name, target, ignore, splits, metric, limit) in CASES {
        let table = Table::read(folder.join(format!("{name}.csv.gz"))).unwrap();
        let splits: Vec<Split> = test_rows(&folder, name)
            .into_iter()
            .take(splits)
            .map(|test| Split::with_test(table.rows(), test))
            .collect();
        let inputs = ColumnRoles::default().ignore(ignore.iter().copied());
        let engine = CpuEngine::all_cores();
        let options = CompareOptions::new(&inputs).engine(engine);
        let method = Method::by_name("ne-gmm").unwrap();
        let comparison = compare(&table, target, &[method], &splits, &options).unwrap();
        let found = comparison.summary(0, metric);
        println!("{name}: {} {:.4} ({:.4}), at most {limit}", metric.name(), found.mean, found.se);
        assert!(found.mean <= limit, "{name}: {} {} is above {limit}", metric.name(), found.mean);
    }
}
