//! The ten UCI data sets: files, targets, ignored columns and splits.

use std::io::Read;
use std::path::Path;

use negmm::compare::Split;
use negmm::data::{ColumnRoles, TargetSpec};
use negmm::{Error, Result, Table};

use super::Protocol;

/// A data set and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// Its name in tables.
    pub name: &'static str,
    file: &'static str,
    /// The column to predict.
    pub target: &'static str,
    ignore: Option<&'static str>,
    /// Train-test splits at most.
    pub splits: usize,
    /// Whether many splits take little time.
    pub small: bool,
}

const fn set(name: &'static str, target: &'static str, small: bool) -> Set {
    Set { name, file: name, target, ignore: None, splits: 20, small }
}

/// The paper's ten sets, and the second target of energy.
pub const SETS: [Set; 11] = [
    set("boston", "medv", true),
    set("concrete", "compressive_strength", true),
    Set { ignore: Some("cooling_load"), ..set("energy", "heating_load", true) },
    Set { file: "energy", ignore: Some("heating_load"), ..set("energy_cooling", "cooling_load", true) },
    set("kin8nm", "y", false),
    Set { ignore: Some("gt_turbine_decay"), ..set("naval", "gt_compressor_decay", false) },
    Set { splits: 5, ..set("protein", "rmsd", false) },
    set("superconductivity", "critical_temp", false),
    set("wine_red", "quality", true),
    set("wine_white", "quality", false),
    set("yacht", "residuary_resistance", true),
];

impl Set {
    /// The set of that name.
    pub fn by_name(name: &str) -> Result<Self> {
        SETS.into_iter().find(|set| set.name == name).ok_or_else(|| {
            let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
            Error::options(format!("there is no set {name:?}; the sets are {}", names.join(", ")))
        })
    }

    /// Reads it from the folder of the data.
    pub fn read(&self, data: &Path) -> Result<Table> {
        let table = Table::read(data.join("uci").join(format!("{}.csv.gz", self.file)))?;
        if table.column(self.target).is_none() {
            let message = format!("expected a column {:?}, found none", self.target);
            return Err(Error::data(message).at(table.name().to_string()));
        }
        Ok(table)
    }

    /// The columns that are inputs.
    pub fn inputs(&self) -> ColumnRoles {
        // The paper predicts densities only.
        let outcome = TargetSpec::default().continuous(true);
        ColumnRoles::default().ignore(self.ignore.iter().copied()).target_spec(outcome)
    }

    /// Its splits: at random 80 to 20 (`paper`), or the fixed ones of the benchmark, 90 to 10 at random where there are none
    /// (`standard`).
    pub fn splits(&self, data: &Path, rows: usize, protocol: Protocol, seed: u64) -> Result<Vec<Split>> {
        if protocol == Protocol::Paper {
            return Split::repeats(rows, self.splits, 0.2, seed);
        }
        let path = data.join("uci").join("splits").join(format!("{}.txt.gz", self.file));
        if !path.exists() {
            return Split::repeats(rows, self.splits, 0.1, seed);
        }
        let mut text = String::new();
        let file = std::fs::File::open(&path).map_err(|error| Error::io(&path, error))?;
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(|error| Error::io(&path, error))?;
        let read = |(number, line): (usize, &str)| {
            let rows: Option<Vec<usize>> =
                line.split_whitespace().map(|word| word.parse().ok().filter(|row| *row < rows)).collect();
            rows.filter(|rows| !rows.is_empty()).ok_or_else(|| {
                Error::data("expected the numbers of rows of the data set").at(format!(
                    "{}, line {}",
                    path.display(),
                    number + 1
                ))
            })
        };
        text.lines().enumerate().map(|line| Ok(Split::with_test(rows, read(line)?))).collect()
    }
}
