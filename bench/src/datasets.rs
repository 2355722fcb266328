//! Benchmark datasets, ten from UCI and twelve tables with text, dates and missing values: their targets and splits, and which test rows
//! have inputs unseen in training.

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use negmm::Table;
use negmm::compare::Split;
use negmm::data::{Column, ColumnRoles, MISSING};
use serde_json::json;

/// A benchmark dataset.
#[derive(Debug)]
pub struct BenchDataset {
    /// Name, also of its file.
    pub name: &'static str,
    /// The column to predict.
    pub target: &'static str,
    /// A second target, excluded from the inputs.
    leave_out: Option<&'static str>,
    /// Step of the grid on which the targets lie, if they do.
    pub step: Option<f64>,
    /// Folder of its file within the data.
    folder: &'static str,
    /// Date columns with their formats, for the peers.
    dates: &'static [(&'static str, &'static str)],
}

/// All datasets: the ten from UCI, small ones first, then the tables.
pub const DATASETS: [BenchDataset; 22] = [
    uci("boston", "medv"),
    uci("concrete", "compressive_strength"),
    BenchDataset { leave_out: Some("cooling_load"), ..uci("energy", "heating_load") },
    uci("yacht", "residuary_resistance"),
    BenchDataset { step: Some(1.0), ..uci("wine_red", "quality") },
    uci("kin8nm", "y"),
    BenchDataset { step: Some(1.0), ..uci("wine_white", "quality") },
    BenchDataset { leave_out: Some("gt_turbine_decay"), step: Some(0.001), ..uci("naval", "gt_compressor_decay") },
    uci("protein", "rmsd"),
    uci("superconductivity", "critical_temp"),
    table("insurance", "charges"),
    table("life", "Life expectancy"),
    table("ames", "price"),
    BenchDataset { step: Some(1.0), ..table("abalone", "Rings") },
    table("cardekho", "selling_price"),
    BenchDataset {
        dates: &[("pickup", "%Y-%m-%d %H:%M:%S"), ("dropoff", "%Y-%m-%d %H:%M:%S")],
        ..table("taxis", "fare")
    },
    BenchDataset { step: Some(1.0), dates: &[("dteday", "%Y-%m-%d")], ..table("bikehour", "cnt") },
    BenchDataset { dates: &[("last_review", "%d-%m-%Y")], ..table("airbnb", "price") },
    table("california", "median_house_value"),
    table("diamonds", "price"),
    BenchDataset { step: Some(1.0), ..table("flights", "arr_delay") },
    BenchDataset { dates: &[("date_time", "%Y-%m-%d %H:%M")], ..table("metro", "traffic_volume") },
];

/// A numeric dataset with a continuous target.
const fn uci(name: &'static str, target: &'static str) -> BenchDataset {
    BenchDataset { name, target, leave_out: None, step: None, folder: "uci", dates: &[] }
}

/// A table of mixed column types with a continuous target.
const fn table(name: &'static str, target: &'static str) -> BenchDataset {
    BenchDataset { folder: "tables", ..uci(name, target) }
}

impl BenchDataset {
    /// The dataset of that name.
    pub fn by_name(name: &str) -> Result<&'static Self, String> {
        DATASETS.iter().find(|set| set.name == name).ok_or_else(|| {
            let names = DATASETS.map(|set| set.name).join(", ");
            format!("there is no dataset {name:?}; the datasets are {names}")
        })
    }

    /// The datasets of a folder (`uci`, `tables`), or the one of that name.
    pub fn by_names(name: &str) -> Result<Vec<&'static Self>, String> {
        let all: Vec<&Self> = DATASETS.iter().filter(|set| set.folder == name).collect();
        if all.is_empty() { Self::by_name(name).map(|set| vec![set]) } else { Ok(all) }
    }

    /// Column roles: all columns but a second target are inputs.
    pub fn inputs(&self) -> ColumnRoles {
        ColumnRoles::default().ignore(self.leave_out.iter().copied())
    }

    /// Folder of its file and splits: in `NEGMM_DATA`, else in `../shared/data`.
    fn folder(&self) -> PathBuf {
        std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from).join(self.folder)
    }

    /// All its rows.
    pub fn read(&self) -> Result<Table, negmm::Error> {
        Table::read(self.folder().join(format!("{}.csv.gz", self.name)))
    }

    /// The standard splits, or ten folds with seed 0 where there are none; at most `most`.
    pub fn splits(&self, rows: usize, most: usize) -> Result<Vec<Split>, Box<dyn Error>> {
        let path = self.folder().join("splits").join(format!("{}.txt.gz", self.name));
        let mut splits = Vec::new();
        if path.exists() {
            let mut text = String::new();
            flate2::read::GzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
            for line in text.lines() {
                let test = line.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>()?;
                splits.push(Split::with_test(rows, test));
            }
        } else {
            splits = Split::folds(rows, 10, 0)?;
        }
        splits.truncate(most);
        Ok(splits)
    }

    /// Ten folds with seed 0 of the training rows of the first split; at most `most`.
    pub fn inner_splits(&self, rows: usize, most: usize) -> Result<Vec<Split>, Box<dyn Error>> {
        let outer = self.splits(rows, 1)?.remove(0).train;
        let of_outer = |inner: Vec<usize>| inner.into_iter().map(|at| outer[at]).collect();
        let inner = Split::folds(outer.len(), 10, 0)?.into_iter().take(most);
        Ok(inner.map(|Split { train, test }| Split { train: of_outer(train), test: of_outer(test) }).collect())
    }

    /// The columns that are inputs, with their names.
    fn input_columns<'a>(&self, table: &'a Table) -> Vec<(&'a str, &'a Column)> {
        table.columns().filter(|(name, _)| *name != self.target && Some(*name) != self.leave_out).collect()
    }

    /// For each test row of a split, whether its inputs occur in no training row.
    pub fn new_inputs(&self, table: &Table, split: &Split) -> Vec<bool> {
        let columns = self.input_columns(table);
        let bits = |column: &Column, row: usize| match column {
            Column::Numbers(numbers) | Column::Times(numbers) => numbers[row].to_bits(),
            Column::Text { codes, .. } => codes[row].into(),
        };
        let inputs = |row: &usize| columns.iter().map(|(_, column)| bits(column, *row)).collect::<Vec<u64>>();
        let seen: HashSet<Vec<u64>> = split.train.iter().map(inputs).collect();
        split.test.iter().map(|row| !seen.contains(&inputs(row))).collect()
    }

    /// Exports rows and splits for the peers: `NAME.csv` (inputs, then the target; missing cells are empty) and `NAME.json` (the step of
    /// the grid, text and date columns, and for each split the test rows, counted from 0, and whether their inputs are new).
    pub fn export(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let table = self.read()?;
        let mut columns = self.input_columns(&table);
        let text: Vec<&str> =
            columns.iter().filter(|(_, column)| matches!(column, Column::Text { .. })).map(|(name, _)| *name).collect();
        match table.columns().find(|(name, _)| *name == self.target) {
            Some(target @ (_, Column::Numbers(_))) => columns.push(target),
            _ => return Err(format!("{}: no column of numbers {}", self.name, self.target).into()),
        }
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(fs::File::create(folder.join(format!("{}.csv", self.name)))?);
        writeln!(file, "{}", columns.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(","))?;
        for row in 0..table.rows() {
            let cells: Vec<String> = columns.iter().map(|(_, column)| cell(column, row)).collect();
            writeln!(file, "{}", cells.join(","))?;
        }
        file.flush()?;
        let splits = self.splits(table.rows(), usize::MAX)?;
        let describe = |split: &Split| json!({ "test": split.test, "new": self.new_inputs(&table, split) });
        let splits: Vec<_> = splits.iter().map(describe).collect();
        let dates: serde_json::Map<_, _> =
            self.dates.iter().map(|(name, format)| (name.to_string(), json!(format))).collect();
        let json = json!({ "set": self.name, "step": self.step, "text": text, "dates": dates, "splits": splits });
        fs::write(folder.join(format!("{}.json", self.name)), json.to_string())?;
        Ok(())
    }
}

/// A cell as CSV text.
fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Numbers(numbers) | Column::Times(numbers) if numbers[row].is_nan() => String::new(),
        Column::Numbers(numbers) | Column::Times(numbers) => numbers[row].to_string(),
        Column::Text { codes, .. } if codes[row] == MISSING => String::new(),
        Column::Text { codes, levels } => quoted(&levels[codes[row] as usize]),
    }
}

/// Text in quotes where CSV needs them.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_new_when_no_training_row_has_all_of_them() {
        let numbers = |numbers: [f64; 4]| Column::Numbers(numbers.to_vec());
        let columns = vec![
            ("a", numbers([1.0, 1.0, 2.0, 1.0])),
            ("cooling_load", numbers([1.0, 2.0, 3.0, 4.0])),
            ("b", numbers([5.0, 6.0, 5.0, 5.0])),
            ("heating_load", numbers([1.0, 2.0, 3.0, 4.0])),
        ];
        let table = Table::new(columns).unwrap();
        let set = BenchDataset::by_name("energy").unwrap();
        let split = Split::with_test(4, vec![2, 3]);
        assert_eq!(set.new_inputs(&table, &split), [true, false]);
        assert!(BenchDataset::by_name("nowhere").is_err());
    }
}
