//! NGBoost against Python ngboost 0.5.11: `bench/peers/ngboost_reference.py` made the files in `reference/`.

use crate::common::external;

use std::io::Read;
use std::path::Path;

use negmm::Table;
use negmm::data::Column;
use negmm::method::NgBoost;
use negmm::ngboost::{Columns, Splits};
use negmm::train::Callbacks;

/// Columns, targets, and the test rows of the first standard split.
fn read(folder: &Path, name: &str) -> (Vec<Vec<f64>>, Vec<f64>, Vec<usize>) {
    let table = Table::read(folder.join(format!("{name}.csv.gz"))).unwrap();
    let numbers = |column: &Column| match column {
        Column::Numbers(numbers) => numbers.clone(),
        _ => panic!("{name} has only numbers"),
    };
    let mut columns: Vec<Vec<f64>> = table.columns().map(|(_, column)| numbers(column)).collect();
    let y = columns.pop().unwrap();
    let splits = std::fs::File::open(folder.join(format!("splits/{name}.txt.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(splits).read_to_string(&mut text).unwrap();
    let test = text.lines().next().unwrap().split_whitespace().map(|row| row.parse().unwrap()).collect();
    (columns, y, test)
}

fn select(columns: &[Vec<f64>], rows: &[usize]) -> Vec<Vec<f32>> {
    columns.iter().map(|column| rows.iter().map(|row| column[*row] as f32).collect()).collect()
}

#[test]
fn predictions_are_those_of_python() {
    let Some(folder) = external::data("uci") else { return };
    for (name, reference, splits) in [
        ("boston", include_str!("reference/ngboost_boston.csv"), Splits::Exact),
        ("concrete", include_str!("reference/ngboost_concrete.csv"), Splits::Exact),
        ("kin8nm", include_str!("reference/ngboost_kin8nm.csv"), Splits::Exact),
        ("kin8nm", include_str!("reference/ngboost_kin8nm.csv"), Splits::Histogram),
    ] {
        let (columns, y, test) = read(&folder, name);
        let train: Vec<usize> = (0..y.len()).filter(|row| !test.contains(row)).collect();
        let count = train.len() as f64;
        let mean = train.iter().map(|row| y[*row]).sum::<f64>() / count;
        let sd = (train.iter().map(|row| (y[*row] - mean).powi(2)).sum::<f64>() / count).sqrt();
        let standardised: Vec<f64> = train.iter().map(|row| (y[*row] - mean) / sd).collect();
        let settings = NgBoost::default().n_estimators(500).validation_fraction(0.0).splits(splits);
        let x = select(&columns, &train);
        let x = Columns::new(&x, train.len()).unwrap();
        let model = settings.fit(&x, &standardised, None, 0, &Callbacks::nothing()).unwrap();

        let expected: Vec<[f64; 3]> = reference
            .lines()
            .skip(1)
            .map(|line| {
                let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
                numbers.try_into().unwrap()
            })
            .collect();
        let rows: Vec<usize> = expected.iter().map(|row| row[0] as usize).collect();
        let x = select(&columns, &rows);
        let (means, sds) = model.predict(&Columns::new(&x, rows.len()).unwrap()).unwrap();
        let difference = |found: &dyn Fn(usize) -> f64, k: usize| {
            let sum: f64 = expected.iter().enumerate().map(|(at, row)| (found(at) - row[k] / sd).abs()).sum();
            sum / expected.len() as f64
        };
        let by_mean = difference(&|at| means[at] + mean / sd, 1);
        let by_sd = difference(&|at| sds[at], 2);
        eprintln!("{name} {splits:?}: mean {by_mean:.5}, sd {by_sd:.5} of the target's sd on average");
        let (most_mean, most_sd) = if splits == Splits::Exact { (0.01, 0.01) } else { (0.03, 0.02) };
        assert!(by_mean < most_mean && by_sd < most_sd, "{name} {splits:?}: {by_mean} {by_sd}");
    }
}
