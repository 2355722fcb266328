//! A summary of the columns of a training table: their types, categories and missing values.

use negmm::data::{Column, ColumnRoles, ColumnType, Encoding, Input, Kind, MISSING};
use negmm::{Error, Model, Table};
use serde_json::{Value, json};

use crate::training_table::TrainingTable;
use crate::{format, text_table};

/// Columns to list.
const LISTED: usize = 12;
/// Unused columns to name.
const NAMED: usize = 5;

/// A column of the training table.
struct ColumnSummary {
    name: String,
    column_type: ColumnType,
    note: String,
    /// Number of categories.
    levels: Option<usize>,
    /// Rare categories that are pooled in one feature.
    pooled: usize,
    /// Whether they have a target encoding.
    target_encoding: bool,
    missing: usize,
    /// Cells that are not of the column's type and count as missing.
    not_numeric: u64,
    /// Whether it is an input, the target or has another role.
    used: bool,
}

impl ColumnSummary {
    fn new(name: &str, column: &Column, table: &Table, input: Option<&Input>, other_use: bool) -> Self {
        let read = table.typed_column(name);
        let (levels, missing) = match column {
            Column::Numbers(numbers) | Column::Times(numbers) => {
                (None, numbers.iter().filter(|number| number.is_nan()).count())
            }
            Column::Text { codes, levels } => {
                let mut present = vec![false; levels.len()];
                codes.iter().filter(|code| **code != MISSING).for_each(|code| present[*code as usize] = true);
                let count = present.iter().filter(|present| **present).count();
                (Some(count), codes.iter().filter(|code| **code == MISSING).count())
            }
        };
        // Categories with their own feature, whether they have a target encoding, and whether the text is dates.
        let (own, target_encoding, time) = match input.map(|input| &input.encoding) {
            Some(Encoding::Text(encoding)) if encoding.statistics.is_empty() => (encoding.levels.len(), false, None),
            Some(Encoding::Text(_)) => (usize::MAX, true, None),
            Some(Encoding::Time(encoding)) => (usize::MAX, false, Some(ColumnType::from(Kind::Time(encoding.format)))),
            _ => (usize::MAX, false, None),
        };
        let levels = levels.filter(|_| time.is_none());
        let otherwise = || if levels.is_some() { ColumnType::text() } else { ColumnType::number() };
        Self {
            name: name.to_string(),
            column_type: time.unwrap_or_else(|| read.map_or_else(otherwise, |read| read.column_type.clone())),
            note: read.map_or(String::new(), |read| read.note.clone()),
            levels,
            pooled: levels.map_or(0, |levels| levels.saturating_sub(own)),
            target_encoding,
            missing,
            not_numeric: read.map_or(0, |read| read.odd.iter().map(|(_, count)| count).sum()),
            used: other_use || input.is_some_and(|input| input.encoding.features() > 0),
        }
    }

    /// Whether its cells are plain numbers.
    fn is_plain_number(&self) -> bool {
        self.column_type.is_plain() && self.levels.is_none()
    }

    /// Whether something was inferred that may be wrong.
    fn is_decided(&self) -> bool {
        !self.column_type.is_plain() || !self.note.is_empty() || self.pooled > 0 || self.target_encoding
    }

    fn text(&self) -> String {
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{} {what}", format::count(n)));
        let mut parts = vec![self.column_type.to_string()];
        parts.extend(self.levels.map(counted_categories));
        parts.extend(count(self.pooled, "of them pooled"));
        parts.extend(self.target_encoding.then(|| "target encoding".to_string()));
        parts.extend(Some(self.note.clone()).filter(|note| !note.is_empty()));
        parts.extend(count(self.missing, "missing"));
        // Of a target they are not among the missing ones: such rows are left out.
        let not_numeric = if self.missing > 0 { "of them not numeric" } else { "left out as not numeric" };
        parts.extend(count(self.not_numeric as usize, not_numeric));
        parts.join(", ")
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.column_type.to_string(),
            "column_type": self.column_type,
            "categories": self.levels,
            "pooled": self.pooled,
            "target_encoding": self.target_encoding,
            "missing": self.missing,
            "not_numeric": self.not_numeric,
            "used": self.used,
        })
    }
}

/// One column after the other, so that those of a table on disk are not in memory together.
fn summaries(model: &Model, table: &TrainingTable, inputs: &ColumnRoles) -> Result<Vec<ColumnSummary>, Error> {
    let encoder = model.encoder();
    let used: std::collections::HashMap<&str, &Input> =
        encoder.inputs().iter().map(|input| (input.name.as_str(), input)).collect();
    let header = table.header();
    let mut summaries = Vec::with_capacity(header.names().len());
    for name in header.names() {
        let own = table.column(name)?;
        let Some(column) = own.column(name) else { continue };
        let other_use = name == &encoder.target().name || inputs.other_columns().any(|other| other.trim() == name);
        summaries.push(ColumnSummary::new(name, column, &own, used.get(name.as_str()).copied(), other_use));
    }
    Ok(summaries)
}

/// A list of the columns to check: those that are not plain numbers, and those that are not used. Empty if there are none.
pub fn text(model: &Model, table: &TrainingTable, inputs: &ColumnRoles) -> Result<String, Error> {
    let columns = summaries(model, table, inputs)?;
    let (used, unused): (Vec<_>, Vec<_>) = columns.iter().partition(|column| column.used);
    let (plain, others): (Vec<_>, Vec<_>) =
        used.into_iter().partition(|column: &&ColumnSummary| column.is_plain_number());
    let mut listed: Vec<&&ColumnSummary> = others.iter().filter(|column| column.is_decided()).take(LISTED).collect();
    let left = LISTED - listed.len();
    listed.extend(others.iter().filter(|column| !column.is_decided()).take(left));
    let named: Vec<Vec<String>> = listed.iter().map(|column| vec![column.name.clone(), column.text()]).collect();
    let mut lines: Vec<String> = if named.is_empty() { Vec::new() } else { vec![text_table::left_aligned(&named)] };
    let more = [(others.len() - listed.len(), "other column"), (plain.len(), "plain number")];
    let more = more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format::counted(*count, what));
    if !lines.is_empty() {
        lines.extend(
            Some(more.collect::<Vec<_>>().join(" and "))
                .filter(|more| !more.is_empty())
                .map(|more| format!("  and {more}")),
        );
    }
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().take(NAMED).map(|column| column.name.as_str()).collect();
        let rest = unused.len() - names.len();
        let rest = if rest > 0 { format!(" and {} more", format::count(rest)) } else { String::new() };
        lines.push(format!("  not used: {}{rest}", names.join(", ")));
    }
    Ok(if lines.is_empty() { String::new() } else { format!("columns\n{}\n", lines.join("\n")) })
}

/// All columns as JSON.
pub fn json(model: &Model, table: &TrainingTable, inputs: &ColumnRoles) -> Result<Vec<Value>, Error> {
    Ok(summaries(model, table, inputs)?.iter().map(ColumnSummary::json).collect())
}

/// `1 category`, `3 categories`.
pub fn counted_categories(count: usize) -> String {
    format!("{} {}", format::count(count), if count == 1 { "category" } else { "categories" })
}
