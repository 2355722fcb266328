//! The ten UCI sets: row counts of their README, whole and streamed, and encoded.

use crate::common::external;

use negmm::data::split::repeated;
use negmm::data::{ColumnRoles, CsvStream};
use negmm::{Encoder, Table};

/// File, rows, inputs, target, and further targets that are not inputs.
const SETS: [(&str, usize, usize, &str, &[&str]); 10] = [
    ("boston", 506, 13, "medv", &[]),
    ("concrete", 1030, 8, "compressive_strength", &[]),
    ("energy", 768, 8, "heating_load", &["cooling_load"]),
    ("kin8nm", 8192, 8, "y", &[]),
    ("naval", 11934, 16, "gt_compressor_decay", &["gt_turbine_decay"]),
    ("protein", 45730, 9, "rmsd", &[]),
    ("superconductivity", 21263, 81, "critical_temp", &[]),
    ("wine_red", 1599, 11, "quality", &[]),
    ("wine_white", 4898, 11, "quality", &[]),
    ("yacht", 308, 6, "residuary_resistance", &[]),
];

#[test]
fn uci_sets_are_read_and_encoded() {
    let Some(folder) = external::data("uci") else { return };
    for (name, rows, inputs, target, ignore) in SETS {
        let path = folder.join(format!("{name}.csv.gz"));
        let table = Table::read(&path).unwrap();
        assert_eq!(table.rows(), rows, "{name}");
        let encoder = Encoder::fit(&table, target, &ColumnRoles::default().ignore(ignore.iter().copied())).unwrap();
        assert_eq!(encoder.inputs().len(), inputs, "{name}");
        let grid = match name {
            "wine_red" | "wine_white" => Some(1.0),
            "naval" => Some(0.001),
            _ => None,
        };
        assert_eq!(encoder.target().grid, grid, "{name}");
        // Nine tenths of the rows tell the same.
        let some: Vec<usize> = (0..rows).filter(|row| row % 10 != 3).collect();
        let fewer = Encoder::fit(&table.select_rows(&some), target, &ColumnRoles::default()).unwrap();
        assert_eq!(fewer.target().grid, grid, "{name}");
        let constant = if name == "naval" { 2 } else { 0 };
        assert_eq!(encoder.features(), inputs - constant, "{name}");
        let (whole, warnings) = encoder.encode(&table).unwrap();
        assert!(warnings.is_empty(), "{name}");
        let repeats = match name {
            "superconductivity" => 0.400,
            "wine_white" => 0.349,
            "wine_red" => 0.288,
            "protein" => 0.071,
            "concrete" => 0.055,
            _ => 0.0,
        };
        let found = repeated(&whole.equal_inputs());
        assert!((found - repeats).abs() < 0.001, "{name}: {found}");

        let mut stream = CsvStream::open(&path, &encoder.schema_with_target()).unwrap();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        while let Some(chunk) = stream.next_chunk(1000).unwrap() {
            let (set, _) = encoder.encode(&chunk.table).unwrap();
            x.extend_from_slice(set.x());
            y.extend_from_slice(set.y());
        }
        assert!(x == whole.x() && y == whole.y(), "{name}");
    }
}
