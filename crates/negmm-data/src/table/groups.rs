//! Groups of rows that must stay together in splits.

use std::collections::HashMap;

use crate::{Column, MISSING, Table};
use negmm_dist::{Error, Result};

/// For each row the number of its group, counted from 0 in the order in which groups come: rows with the same cell in this column are
/// one.
pub(crate) fn groups(table: &Table, name: &str) -> Result<Vec<u32>> {
    let absent = || table.locate(Error::options(table.absent(&[name])));
    let cells: Vec<Option<u64>> = match table.column(name).ok_or_else(absent)? {
        // Both zeros are one number.
        Column::Numbers(numbers) | Column::Times(numbers) => {
            numbers.iter().map(|number| (!number.is_nan()).then(|| (number + 0.0).to_bits())).collect()
        }
        Column::Text { codes, .. } => codes.iter().map(|code| (*code != MISSING).then_some(u64::from(*code))).collect(),
    };
    let mut numbers_of_groups = HashMap::new();
    let mut numbers = Vec::with_capacity(cells.len());
    for (row, cell) in cells.into_iter().enumerate() {
        let missing = || table.at_cell(Error::data("the group is missing"), row, name);
        let next = numbers_of_groups.len() as u32;
        numbers.push(*numbers_of_groups.entry(cell.ok_or_else(missing)?).or_insert(next));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_are_one_group() {
        let numbers = Column::Numbers(vec![3.0, -0.0, 3.0, 0.0]);
        let text = Column::Text { codes: vec![1, 1, 0, MISSING], levels: vec!["a".into(), "b".into()] };
        let table = Table::new(vec![("patient", numbers), ("ward", text)]).unwrap();
        assert_eq!(groups(&table, "patient").unwrap(), [0, 1, 0, 1]);
        let message = groups(&table, "ward").unwrap_err().to_string();
        assert!(message.contains("the group is missing") && message.contains("ward"), "{message}");
        assert!(groups(&table, "nobody").is_err());
    }
}
