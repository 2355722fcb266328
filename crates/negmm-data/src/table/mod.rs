//! Tables: named columns of equal length, numbers, times or text, with missing cells.

pub(crate) mod groups;
pub(crate) mod in_memory;
pub(crate) mod predicted_rows;
pub(crate) mod weights;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::message::absent_columns;
use super::{Column, ColumnType, Dialect, Kind, TimeFormat};
use crate::infer::TypedColumn;
use crate::infer::{column_numbers, time_columns};

use negmm_dist::quote::quoted;

use negmm_dist::{Error, Hint, Result};

/// Named columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Table {
    name: String,
    names: Vec<String>,
    /// Shared with copies of the table.
    columns: Vec<Arc<Column>>,
    /// The position of each column: by its name, and by its name without blanks where no other has that.
    positions: HashMap<String, usize>,
    rows: usize,
    origin: Origin,
    /// The files that the rows come from, where there are several.
    files: Option<Arc<[FileRows]>>,
    /// The inferred types of columns of a file, where they are not plain numbers or text.
    typed_columns: BTreeMap<String, TypedColumn>,
}

/// Rows of one of several files.
#[derive(Clone, Debug)]
pub(crate) struct FileRows {
    /// What messages call the file.
    pub name: String,
    /// The position of the first of them among those of all files.
    pub start: usize,
    /// Rows of the file before them.
    pub before: usize,
}

/// The positions of the rows in the file, for messages.
#[derive(Clone, Debug)]
enum Origin {
    From(usize),
    Selected(Vec<usize>),
}

impl Default for Origin {
    fn default() -> Self {
        Self::From(0)
    }
}

impl Table {
    /// A table of these columns: equally long, differently named, without infinite numbers.
    pub fn new<N: Into<String>>(columns: Vec<(N, Column)>) -> Result<Self> {
        let (names, columns): (Vec<String>, Vec<Column>) =
            columns.into_iter().map(|(name, column)| (name.into(), column)).unzip();
        check_names(&names)?;
        let rows = columns.first().map_or(0, Column::len);
        for (name, column) in names.iter().zip(&columns) {
            if column.len() != rows {
                return Err(Error::data(format!("expected {rows} rows, found {}", column.len())).in_column(name));
            }
            column.check().map_err(|error| error.in_column(name))?;
        }
        Ok(Self::of_parts("", names, columns, rows, Origin::default()))
    }

    /// Columns of `rows` rows that a reader has already checked; the first is row `before` + 1 of the file.
    pub(crate) fn of_checked(
        name: &str,
        columns: impl Iterator<Item = (String, Column)>,
        before: usize,
        rows: usize,
    ) -> Self {
        let (names, columns): (Vec<String>, Vec<Column>) = columns.unzip();
        Self::of_parts(name, names, columns, rows, Origin::From(before))
    }

    fn of_parts(name: &str, names: Vec<String>, columns: Vec<Column>, rows: usize, origin: Origin) -> Self {
        let positions = positions(&names);
        let columns = columns.into_iter().map(Arc::new).collect();
        let typed_columns = BTreeMap::new();
        Self { name: name.to_string(), names, columns, positions, rows, origin, files: None, typed_columns }
    }

    /// The same with the files that its rows come from, in order; where they are not all rows of the files, with their positions.
    pub(crate) fn with_files(mut self, files: Vec<FileRows>, rows: Option<Vec<usize>>) -> Self {
        (self.origin, self.files) = (rows.map_or_else(Origin::default, Origin::Selected), Some(files.into()));
        self
    }

    /// The same whose rows are these of a file.
    pub(crate) fn at_rows(self, rows: Vec<usize>) -> Self {
        Self { origin: Origin::Selected(rows), ..self }
    }

    /// The same with the files that its rows come from, and the position of each row in them where they do not follow each other.
    pub(crate) fn in_files(mut self, files: Option<Arc<[FileRows]>>, rows: Option<Vec<usize>>) -> Self {
        self.files = files;
        if let Some(rows) = rows {
            self.origin = Origin::Selected(rows);
        }
        self
    }

    /// The same with the inferred types of its columns.
    pub(crate) fn with_typed_columns(mut self, typed_columns: BTreeMap<String, TypedColumn>) -> Self {
        self.typed_columns = typed_columns;
        self
    }

    /// The inferred type of the column called `name`, where it is not plain numbers or text.
    pub fn typed_column(&self, name: &str) -> Option<&TypedColumn> {
        self.typed_columns.get(self.own_name(name)?)
    }

    /// The sample weights in the column of that name: finite numbers, none negative, not all zero.
    pub fn sample_weights(&self, column: &str) -> Result<Cow<'_, [f64]>> {
        weights::weights(self, column)
    }

    /// For each row the number of its group, counted from 0: rows with the same cell in this column are one. No cell may be missing.
    pub fn groups(&self, column: &str) -> Result<Vec<u32>> {
        groups::groups(self, column)
    }

    /// The same table with its text columns parsed as those of a CSV file, see [`Table::read`]: the type of each column is
    /// inferred from all its cells. Categories stay text.
    pub fn infer_types(self, dialect: &Dialect) -> Result<Self> {
        in_memory::infer_types(self, dialect)
    }

    /// The same table under a name (a file, say) for messages.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The name that messages give to the table: the path of a file, empty for a table made in code.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All columns with their names, in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Column)> + Clone {
        self.names.iter().map(String::as_str).zip(self.columns.iter().map(AsRef::as_ref))
    }

    /// The names of all columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The column called `name`, blanks around it aside.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.position(name).map(|position| self.columns[position].as_ref())
    }

    /// The column at this position, with its name.
    pub(crate) fn column_at(&self, position: usize) -> (&str, &Column) {
        (&self.names[position], &self.columns[position])
    }

    /// The table's own name of the column called `name`, which may have blanks around it.
    pub(crate) fn own_name(&self, name: &str) -> Option<&str> {
        self.position(name).map(|position| self.names[position].as_str())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).or_else(|| self.positions.get(name.trim())).copied()
    }

    /// The rows in which the column called `name`, of numbers, is not missing; all rows where there is no such column.
    pub fn rows_with(&self, name: &str) -> Result<Vec<usize>> {
        let Some(numbers) = self.numbers(name) else { return Ok((0..self.rows).collect()) };
        let numbers = numbers?;
        Ok((0..self.rows).filter(|row| !numbers[*row].is_nan()).collect())
    }

    /// The number of a row in the file, from 1; of several files they are numbered one after the other.
    pub fn row_number(&self, row: usize) -> usize {
        self.row_in_file(row) + 1
    }

    /// The numbers of the column called `name`, also where it is text that consists of numbers.
    pub fn numbers(&self, name: &str) -> Option<Result<Cow<'_, [f64]>>> {
        let numbers = column_numbers(self.column(name)?);
        Some(numbers.map_err(|(row, error)| self.at_cell(error, row, name)))
    }

    /// When each row is, by the column called `name`: seconds since 1970 where it holds dates (the flag), else its numbers.
    pub fn times(&self, name: &str, format: Option<TimeFormat>) -> Result<(Vec<f64>, bool)> {
        let column = self.column(name).ok_or_else(|| self.locate(Error::options(self.absent(&[name]))))?;
        let format = time_columns::format_of(name, column, format.map(Some))
            .map_err(|error| self.locate(error.in_column(name)))?;
        match (format, column) {
            (Some(format), _) => {
                let seconds =
                    time_columns::seconds(column, format).map_err(|(row, error)| self.at_cell(error, row, name))?;
                Ok((seconds.into_owned(), true))
            }
            (None, Column::Numbers(numbers)) => Ok((numbers.clone(), false)),
            (None, _) => {
                let hint = Hint::DateFormat { column: name.to_string(), formats: Vec::new() };
                let error = Error::options("expected dates and times, or numbers").with_hint(hint);
                Err(self.locate(error.in_column(name)))
            }
        }
    }

    /// The type of the column called `name`, where it is numbers that are not plain.
    pub(crate) fn numbers_type(&self, name: &str) -> Option<ColumnType> {
        let column_type = &self.typed_column(name)?.column_type;
        (column_type.kind() == Kind::Number && !column_type.is_plain()).then(|| column_type.clone())
    }

    /// The column called `name` converted to its type in training: numbers that were text in the file are text again where
    /// they were text in training, and text is parsed as numbers where it was numbers. And how many cells did not fit.
    pub(crate) fn column_read_as(
        &self,
        name: &str,
        column_type: &ColumnType,
    ) -> Option<Result<(Cow<'_, Column>, u64)>> {
        let column = self.column(name)?;
        let original_text = self.typed_column(name).and_then(|column_type| column_type.text.as_ref());
        Some(match (column, column_type.kind(), original_text) {
            (Column::Numbers(_), Kind::Text, Some(text)) => Ok((Cow::Borrowed(text), 0)),
            _ => column.read_as(column_type).map_err(|(row, error)| self.at_cell(error, row, name)),
        })
    }

    /// The same table with some of its columns replaced; `make` gets the position and the column, and may give its new type.
    pub(crate) fn map_columns(
        mut self,
        mut make: impl FnMut(usize, &Column) -> Result<Option<(Column, Option<TypedColumn>)>>,
    ) -> Result<Self> {
        for (position, name) in self.names.iter().enumerate() {
            let made = make(position, &self.columns[position]).map_err(|error| self.locate(error.in_column(name)))?;
            let Some((column, column_type)) = made else { continue };
            self.columns[position] = Arc::new(column);
            self.typed_columns.extend(column_type.map(|column_type| (name.clone(), column_type)));
        }
        Ok(self)
    }

    /// The same table with other names for its columns and more columns after them, which it has the rows of.
    pub fn renamed_with<N: Into<String>>(&self, names: Vec<N>, more: Self) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.names.len() || !more.names.is_empty() && more.rows != self.rows {
            return Err(Error::data(format!(
                "expected {} columns and {} rows, found {} and {}",
                self.names.len(),
                self.rows,
                names.len(),
                more.rows
            )));
        }
        let column_type = |(new, old): (&String, &String)| Some((new.clone(), self.typed_columns.get(old)?.clone()));
        let mut typed_columns: BTreeMap<_, _> = names.iter().zip(&self.names).filter_map(column_type).collect();
        typed_columns.extend(more.typed_columns);
        let names: Vec<String> = names.into_iter().chain(more.names).collect();
        check_names(&names)?;
        let positions = positions(&names);
        let columns = self.columns.iter().cloned().chain(more.columns).collect();
        Ok(Self { names, columns, positions, typed_columns, ..self.clone() })
    }

    /// The same table with this type for the column called `name`.
    #[must_use]
    pub fn with_column_type(mut self, name: &str, column_type: ColumnType) -> Self {
        self.typed_columns.insert(name.to_string(), TypedColumn::of(column_type, ""));
        self
    }

    /// A sentence about `absent` columns, and those that there are.
    pub fn absent(&self, absent: &[&str]) -> String {
        absent_columns(absent, self.names.iter().map(String::as_str))
    }

    /// A table of the columns of these names, in this order.
    ///
    /// # Errors
    /// When one is absent.
    pub fn select_columns(&self, names: &[impl AsRef<str>]) -> Result<Self> {
        let names = || names.iter().map(AsRef::as_ref);
        let absent: Vec<&str> = names().filter(|name| self.position(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(self.locate(Error::options(self.absent(&absent))));
        }
        let at: Vec<usize> = names().filter_map(|name| self.position(name)).collect();
        let names: Vec<String> = at.iter().map(|at| self.names[*at].clone()).collect();
        check_names(&names)?;
        let columns = at.iter().map(|at| self.columns[*at].clone()).collect();
        let mut typed_columns = self.typed_columns.clone();
        typed_columns.retain(|name, _| names.contains(name));
        Ok(Self { positions: positions(&names), names, columns, typed_columns, ..self.clone() })
    }

    /// A table of these rows, in this order; messages still give their numbers in the file.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| Arc::new(column.select(rows)));
        let select = |(name, column_type): (&String, &TypedColumn)| (name.clone(), column_type.select(rows));
        Self {
            name: self.name.clone(),
            names: self.names.clone(),
            columns: columns.collect(),
            positions: self.positions.clone(),
            rows: rows.len(),
            origin: Origin::Selected(rows.iter().map(|row| self.row_in_file(*row)).collect()),
            files: self.files.clone(),
            typed_columns: self.typed_columns.iter().map(select).collect(),
        }
    }

    /// The same table with these columns of numbers: in place of those of the same names, or after the others.
    ///
    /// # Errors
    /// When one does not have as many rows, or has an infinite number.
    pub fn with_columns<'a>(&self, columns: impl IntoIterator<Item = (&'a str, Column)>) -> Result<Self> {
        let mut table = self.clone();
        for (name, column) in columns {
            if column.len() != self.rows {
                let message = format!("expected {} rows, found {}", self.rows, column.len());
                return Err(Error::data(message).in_column(name));
            }
            column.check().map_err(|error| error.in_column(name))?;
            table = match table.own_name(name).map(str::to_string) {
                Some(own) => {
                    table.typed_columns.remove(&own);
                    table.with_column(&own, column)
                }
                None => {
                    let names = table.names.clone();
                    table.renamed_with(names, Self::new(vec![(name, column)])?)?
                }
            };
        }
        Ok(table)
    }

    /// The same table with the column called `name` replaced, where it has one.
    pub(crate) fn with_column(mut self, name: &str, column: Column) -> Self {
        if let Some(position) = self.names.iter().position(|other| other == name) {
            self.columns[position] = Arc::new(column);
        }
        self
    }

    pub(crate) fn row_in_file(&self, row: usize) -> usize {
        match &self.origin {
            Origin::From(before) => before + row,
            Origin::Selected(rows) => rows[row],
        }
    }

    /// Adds the table as the location of an error.
    pub fn locate(&self, error: Error) -> Error {
        if self.name.is_empty() { error } else { error.in_file(&self.name) }
    }

    /// Adds a cell of the table as the location of an error: of several files the one that has it, and the row there.
    pub fn at_cell(&self, error: Error, row: usize, column: &str) -> Error {
        let (error, row) = (error.in_column(column), self.row_in_file(row));
        match self.files.as_deref().map(|files| &files[..files.partition_point(|file| file.start <= row)]) {
            Some([.., file]) => error.at_row((row - file.start + file.before) as u64).in_file(&file.name),
            _ => self.locate(error.at_row(row as u64)),
        }
    }
}

/// The position of each column: by its name, and by its name without blanks where no other has that.
fn positions(names: &[String]) -> HashMap<String, usize> {
    let mut positions: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
    let mut twice = HashSet::new();
    for (position, name) in names.iter().enumerate().filter(|(_, name)| name.trim() != name.as_str()) {
        let trimmed = name.trim().to_string();
        match positions.get(&trimmed) {
            // One of that very name stays.
            Some(other) if names[*other] == trimmed => {}
            Some(_) => drop(twice.insert(trimmed)),
            None => drop(positions.insert(trimmed, position)),
        }
    }
    positions.retain(|name, _| !twice.contains(name));
    positions
}

/// An error when two columns have the same name.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    let mut seen = HashMap::new();
    for (position, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, position) {
            let message =
                format!("the column name {} occurs twice (columns {} and {})", quoted(name), first + 1, position + 1);
            return Err(Error::data(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MISSING;

    fn numbers(numbers: &[f64]) -> Column {
        Column::Numbers(numbers.to_vec())
    }

    fn error(columns: Vec<(&str, Column)>) -> String {
        Table::new(columns).unwrap_err().to_string()
    }

    #[test]
    fn a_table_made_in_code_is_checked() {
        assert_eq!(
            error(vec![("a", numbers(&[1.0, 2.0])), ("b", numbers(&[1.0]))]),
            "column \"b\": expected 2 rows, found 1"
        );
        assert_eq!(
            error(vec![("a", numbers(&[1.0])), ("b", numbers(&[1.0])), ("a", numbers(&[2.0]))]),
            "the column name \"a\" occurs twice (columns 1 and 3)"
        );
        assert_eq!(
            error(vec![("a", numbers(&[f64::NAN, f64::NEG_INFINITY]))]),
            "column \"a\", row 2: the number \"-inf\" is not finite"
        );
        assert_eq!(
            error(vec![("a", Column::Text { codes: vec![0, MISSING, 1], levels: vec!["x".into()] })]),
            "column \"a\", row 3: expected one of 1 levels, found code 1"
        );
        assert_eq!(
            error(vec![("a", Column::Text { codes: vec![], levels: vec!["x".into(), "x".into()] })]),
            "column \"a\": the level \"x\" occurs twice"
        );
    }

    #[test]
    fn rows_are_selected_and_keep_their_numbers() {
        let text = Column::text([Some("x"), None, Some("y"), Some("x")]);
        let table = Table::new(vec![("n", numbers(&[0.0, 1.0, 2.0, 3.0])), ("t", text)]).unwrap().with_name("f.csv");
        let twice = table.select_rows(&[3, 1, 0]).select_rows(&[1, 1, 0]);
        assert_eq!(twice.rows(), 3);
        assert!(matches!(twice.column("n"), Some(Column::Numbers(n)) if n == &[1.0, 1.0, 3.0]));
        assert!(matches!(twice.column("t"), Some(Column::Text { codes, .. }) if codes == &[MISSING, MISSING, 0]));
        let error = twice.at_cell(Error::data("wrong"), 2, "n");
        assert_eq!(error.to_string(), "f.csv, row 4, column \"n\": wrong");
    }
}
