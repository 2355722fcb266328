//! Responsible for the ten UCI sets: their targets, their standard splits, and which test rows have inputs that training never saw.

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use negmm::Table;
use negmm::compare::Split;
use negmm::data::{Column, Inputs};
use serde_json::json;

/// What is known about a set before it is read.
#[derive(Debug)]
pub struct Set {
    /// Its file is called so.
    pub name: &'static str,
    /// The column to predict.
    pub target: &'static str,
    /// A second target, which is no input.
    leave_out: Option<&'static str>,
    /// The step of the grid that the targets lie on, where they do.
    pub step: Option<f64>,
}

/// All sets, small ones first.
pub const SETS: [Set; 10] = [
    Set { name: "boston", target: "medv", leave_out: None, step: None },
    Set { name: "concrete", target: "compressive_strength", leave_out: None, step: None },
    Set { name: "energy", target: "heating_load", leave_out: Some("cooling_load"), step: None },
    Set { name: "yacht", target: "residuary_resistance", leave_out: None, step: None },
    Set { name: "wine_red", target: "quality", leave_out: None, step: Some(1.0) },
    Set { name: "kin8nm", target: "y", leave_out: None, step: None },
    Set { name: "wine_white", target: "quality", leave_out: None, step: Some(1.0) },
    Set { name: "naval", target: "gt_compressor_decay", leave_out: Some("gt_turbine_decay"), step: Some(0.001) },
    Set { name: "protein", target: "rmsd", leave_out: None, step: None },
    Set { name: "superconductivity", target: "critical_temp", leave_out: None, step: None },
];

/// Where the sets are: `uci` in the folder `NEGMM_DATA`, else in `../shared/data`.
pub fn folder() -> PathBuf {
    std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from).join("uci")
}

impl Set {
    /// The set of that name.
    pub fn by_name(name: &str) -> Result<&'static Self, String> {
        SETS.iter().find(|set| set.name == name).ok_or_else(|| {
            let names = SETS.map(|set| set.name).join(", ");
            format!("there is no set {name:?}; the sets are {names}")
        })
    }

    /// Which columns are inputs.
    pub fn inputs(&self) -> Inputs {
        Inputs { ignore: self.leave_out.iter().map(|name| name.to_string()).collect(), ..Inputs::default() }
    }

    /// All its rows.
    pub fn read(&self) -> Result<Table, negmm::Error> {
        Table::read(folder().join(format!("{}.csv.gz", self.name)))
    }

    /// The standard splits, or tenths drawn with seed 0 where there are none; at most `most`.
    pub fn splits(&self, rows: usize, most: usize) -> Result<Vec<Split>, Box<dyn Error>> {
        let path = folder().join("splits").join(format!("{}.txt.gz", self.name));
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

    /// The columns of numbers that are inputs, with their names.
    fn input_columns<'a>(&self, table: &'a Table) -> Vec<(&'a str, &'a [f64])> {
        let is_input = |name: &str| name != self.target && Some(name) != self.leave_out;
        let numbers = |(name, column): (&'a str, &'a Column)| match column {
            Column::Numbers(numbers) if is_input(name) => Some((name, numbers.as_slice())),
            _ => None,
        };
        table.columns().filter_map(numbers).collect()
    }

    /// For each test row of the split whether its inputs are in no training row.
    pub fn new_inputs(&self, table: &Table, split: &Split) -> Vec<bool> {
        let columns = self.input_columns(table);
        let inputs = |row: &usize| columns.iter().map(|(_, numbers)| numbers[*row].to_bits()).collect::<Vec<u64>>();
        let seen: HashSet<Vec<u64>> = split.train.iter().map(inputs).collect();
        split.test.iter().map(|row| !seen.contains(&inputs(row))).collect()
    }

    /// Writes what a program elsewhere needs to do the same: `NAME.csv` (inputs, the target last) and `NAME.json` (the step of
    /// the grid, and for each split the test rows, counted from 0, and whether their inputs are new).
    pub fn export(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let table = self.read()?;
        let mut columns = self.input_columns(&table);
        let Some(Column::Numbers(target)) = table.column(self.target) else {
            return Err(format!("{}: no column of numbers {}", self.name, self.target).into());
        };
        columns.push((self.target, target));
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(fs::File::create(folder.join(format!("{}.csv", self.name)))?);
        writeln!(file, "{}", columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(","))?;
        for row in 0..table.rows() {
            let cells: Vec<String> = columns.iter().map(|(_, numbers)| numbers[row].to_string()).collect();
            writeln!(file, "{}", cells.join(","))?;
        }
        file.flush()?;
        let splits = self.splits(table.rows(), usize::MAX)?;
        let describe = |split: &Split| json!({ "test": split.test, "new": self.new_inputs(&table, split) });
        let splits: Vec<_> = splits.iter().map(describe).collect();
        let json = json!({ "set": self.name, "step": self.step, "splits": splits });
        fs::write(folder.join(format!("{}.json", self.name)), json.to_string())?;
        Ok(())
    }
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
        let set = Set::by_name("energy").unwrap();
        let split = Split::with_test(4, vec![2, 3]);
        assert_eq!(set.new_inputs(&table, &split), [true, false]);
        assert!(Set::by_name("nowhere").is_err());
    }
}
