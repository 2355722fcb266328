//! Fits a CSV file, prints the scores of held-out rows, and saves the model.
//!
//! ```text
//! cargo run --release --example fit_csv -- concrete.csv compressive_strength concrete.negmm
//! ```
//!
//! Without arguments it makes a small file of its own.

use std::path::{Path, PathBuf};

use negmm::method::{Auto, Preset};
use negmm::{FitOptions, Interval, Method, Model, Result, Table, fit_with};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (data, target, file) = match &arguments[..] {
        [data, target, file] => (PathBuf::from(data), target.as_str(), PathBuf::from(file)),
        _ => own_file()?,
    };
    let table = Table::read(&data)?;
    let method = Method::Auto(Auto::default().preset(Preset::Fast).steps(500));
    let fitted = fit_with(&table, target, &method, &FitOptions::default().seed(7))?;
    fitted.warnings.iter().for_each(|warning| println!("warning: {warning}"));
    if let (Some(ours), Some(constant)) = (&fitted.model.record().validation, &fitted.model.record().baseline) {
        println!("held-out CRPS {:.3}, constant {:.3}", ours.crps, constant.crps);
        assert!(ours.crps < constant.crps, "an input says something of the target");
    }
    std::fs::write(&file, fitted.model.to_bytes()?).map_err(|error| negmm::Error::io(&file, error))?;
    let Interval { lower, upper } = Model::load(&file)?.predict(&table)?.interval(0.9)?;
    println!("{}: the first row lies between {:.3} and {:.3} with probability 0.9", file.display(), lower[0], upper[0]);
    Ok(())
}

/// A file with noise that grows with x, and where its model goes.
fn own_file() -> Result<(PathBuf, &'static str, PathBuf)> {
    let table = negmm::Toy::Heteroscedastic.sample(300, &mut negmm::Rng::new(1, 0));
    let column = |name| table.column(name).map(numbers).unwrap_or_default();
    let (x, y) = (column("x"), column("y"));
    let rows: String = x.iter().zip(&y).map(|(x, y)| format!("{x},{y}\n")).collect();
    let data = std::env::temp_dir().join(format!("negmm-example-{}.csv", std::process::id()));
    std::fs::write(&data, format!("x,y\n{rows}")).map_err(|error| negmm::Error::io(&data, error))?;
    Ok((data.clone(), "y", Path::new(&data).with_extension("negmm")))
}

fn numbers(column: &negmm::data::Column) -> Vec<f64> {
    match column {
        negmm::data::Column::Numbers(numbers) => numbers.clone(),
        _ => Vec::new(),
    }
}
