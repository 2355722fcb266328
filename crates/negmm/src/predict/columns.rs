//! Typed columns of predictions: a name, a type and a value for each row.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;

use serde::{Serialize, Serializer};

use crate::{Error, Result};
use negmm_data::KeptColumn;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// Numbers, f64.
    Float,
    /// Whole numbers, i64.
    Integer,
    /// Text, empty where it is missing.
    Text,
}

impl ValueType {
    /// Its name: `float`, `integer` or `text`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Integer => "integer",
            Self::Text => "text",
        }
    }
}

/// Name and type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name.
    pub name: String,
    /// What its values are.
    pub value_type: ValueType,
    /// What the column is, for messages.
    source: Cow<'static, str>,
    /// What it is to the rounding of its numbers.
    pub(super) scale: Scale,
}

/// What a column of numbers is to their rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Its own size counts.
    Own,
    /// The mean: what follows has the unit of the target, and the next column is its sd.
    Mean,
    /// A value of the target: digits below those of the sd do not count.
    Target,
}

impl Field {
    fn new(name: impl Into<String>, value_type: ValueType, source: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), value_type, source: source.into(), scale: Scale::Own }
    }

    pub(super) fn float(name: impl Into<String>, source: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, ValueType::Float, source)
    }

    pub(super) fn integer(name: impl Into<String>, source: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, ValueType::Integer, source)
    }

    pub(super) fn text(name: impl Into<String>, source: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, ValueType::Text, source)
    }

    /// The same with another scale.
    pub(super) fn scaled(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }
}

impl Field {
    /// The same with a prefix and an underscore before its name.
    pub(super) fn prefixed(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}_{}", self.name), ..self }
    }
}

/// Refuses two columns of one name.
pub(super) fn unique(fields: &[Field]) -> Result<()> {
    let mut seen: HashMap<&str, &Field> = HashMap::with_capacity(fields.len());
    for field in fields {
        if let Some(other) = seen.insert(&field.name, field) {
            return Err(Error::options(format!(
                "two columns of the output would be called {:?}: {} and {}",
                field.name, other.source, field.source
            )));
        }
    }
    Ok(())
}

/// A value of a column in one row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A number.
    Float(f64),
    /// A whole number.
    Integer(i64),
    /// Text, empty where it is missing.
    Text(Cow<'a, str>),
}

impl Serialize for Value<'_> {
    /// A number, text, or null for a number that is not finite and for text that is missing.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Float(value) if !value.is_finite() => serializer.serialize_none(),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Text(text) if text.is_empty() => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Columns that are stored together.
#[derive(Clone, Debug)]
pub(super) enum Block<'a> {
    /// rows × width.
    Float { width: usize, values: Cow<'a, [f64]> },
    /// One column.
    Integer(Vec<i64>),
    /// One column.
    Text(Vec<Cow<'a, str>>),
    /// One column of the data from a row on; missing after its last row.
    Kept { column: &'a KeptColumn, first: usize },
}

impl<'a> Block<'a> {
    /// One column of numbers.
    pub(super) fn float(values: Vec<f64>) -> Self {
        Self::Float { width: 1, values: values.into() }
    }

    /// The same, with values of its own.
    pub(super) fn into_owned<'b>(self) -> Block<'b> {
        match self {
            Self::Float { width, values } => Block::Float { width, values: Cow::Owned(values.into_owned()) },
            Self::Integer(values) => Block::Integer(values),
            Self::Text(texts) => Block::Text(texts.into_iter().map(|text| Cow::Owned(text.into_owned())).collect()),
            Self::Kept { column, first } => {
                Block::Text(column.cells().skip(first).map(|text| Cow::Owned(text.into_owned())).collect())
            }
        }
    }

    /// Adds rows of the same columns.
    pub(super) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Float { values, .. }, Self::Float { values: more, .. }) => values.to_mut().extend_from_slice(&more),
            (Self::Integer(values), Self::Integer(more)) => values.extend(more),
            (Self::Text(texts), Self::Text(more)) => texts.extend(more),
            _ => unreachable!("columns have one type"),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Float { width, .. } => *width,
            Self::Integer(_) | Self::Text(_) | Self::Kept { .. } => 1,
        }
    }
}

/// Named and typed columns with a value for each row of a batch of predictions.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    rows: usize,
    fields: Vec<Field>,
    pub(super) blocks: Vec<Block<'a>>,
}

impl<'a> Columns<'a> {
    /// The columns of these blocks.
    ///
    /// # Errors
    /// When two have one name.
    pub(super) fn new(rows: usize, fields: Vec<Field>, blocks: Vec<Block<'a>>) -> Result<Self> {
        unique(&fields)?;
        Ok(Self { rows, fields, blocks })
    }

    /// No rows of these columns, for a header alone.
    ///
    /// # Errors
    /// When two have one name.
    pub fn empty(fields: Vec<Field>) -> Result<Self> {
        let block = |field: &Field| match field.value_type {
            ValueType::Float => Block::float(Vec::new()),
            ValueType::Integer => Block::Integer(Vec::new()),
            ValueType::Text => Block::Text(Vec::new()),
        };
        let blocks = fields.iter().map(block).collect();
        Self::new(0, fields, blocks)
    }

    /// Kept columns, then columns of numbers with these names: `values` is rows × names.
    ///
    /// # Errors
    /// When two have one name.
    pub fn of_numbers(kept: &'a [KeptColumn], names: &[String], values: Vec<f64>) -> Result<Self> {
        let rows = values.len() / names.len().max(1);
        let mut fields: Vec<Field> = kept.iter().map(|column| Field::text(column.name(), "the kept column")).collect();
        fields.extend(names.iter().map(|name| Field::float(name, "a column of the output")));
        let mut blocks: Vec<Block<'a>> = kept.iter().map(|column| Block::Kept { column, first: 0 }).collect();
        blocks.push(Block::Float { width: names.len(), values: values.into() });
        Self::new(rows, fields, blocks)
    }

    /// The same with a column of text after the others.
    ///
    /// # Errors
    /// When there is such a column already.
    pub fn with_text(self, name: &str, cells: Vec<String>) -> Result<Self> {
        let block = Block::Text(cells.into_iter().map(Cow::from).collect());
        self.between(Vec::new(), (vec![Field::text(name, "a column of the output")], vec![block]))
    }

    /// The same after a column of text.
    ///
    /// # Errors
    /// When there is such a column already.
    pub fn labelled(self, name: &str, cells: Vec<String>) -> Result<Self> {
        let block = Block::Text(cells.into_iter().map(Cow::from).collect());
        self.between(vec![(Field::text(name, "a column of the output"), block)], (Vec::new(), Vec::new()))
    }

    /// The same after a column `row` with these numbers.
    ///
    /// # Errors
    /// When there is such a column already.
    pub fn numbered(self, numbers: Vec<i64>) -> Result<Self> {
        let row = (Field::integer("row", "the number of the row"), Block::Integer(numbers));
        self.between(vec![row], (Vec::new(), Vec::new()))
    }

    /// The columns of `before`, these, and those of `after`.
    ///
    /// # Errors
    /// When two have one name.
    pub(super) fn between(
        self,
        before: Vec<(Field, Block<'a>)>,
        (more, after): (Vec<Field>, Vec<Block<'a>>),
    ) -> Result<Self> {
        let (mut fields, mut blocks): (Vec<_>, Vec<_>) = before.into_iter().unzip();
        fields.extend(self.fields.into_iter().chain(more));
        blocks.extend(self.blocks.into_iter().chain(after));
        Self::new(self.rows, fields, blocks)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Name and type of each column.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// All columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = Column<'_>> {
        let at = self.blocks.iter().flat_map(|block| (0..block.width()).map(move |at| (block, at)));
        self.fields.iter().zip(at).map(|(field, (block, at))| Column { field, block, at, rows: self.rows })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<Column<'_>> {
        self.iter().find(|column| column.field.name == name)
    }

    /// The numbers of the column of that name, where its type is [`ValueType::Float`].
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.column(name)?.floats()
    }

    /// The values of a row, in the order of the columns.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Value<'_>> {
        assert!(row < self.rows, "there are {} rows", self.rows);
        self.iter().map(move |column| column.value(row))
    }

    /// The values of all rows, one row after the other.
    pub(super) fn by_rows(&self) -> Rows<'_> {
        Rows { cursors: self.blocks.iter().map(Cursor::new).collect(), next: 0, rows: self.rows }
    }
}

/// One of [`Columns`].
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    field: &'a Field,
    block: &'a Block<'a>,
    at: usize,
    rows: usize,
}

impl<'a> Column<'a> {
    /// Name and type.
    pub fn field(&self) -> &'a Field {
        self.field
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        &self.field.name
    }

    /// The values from the first row to the last.
    pub fn values(self) -> Box<dyn Iterator<Item = Value<'a>> + 'a> {
        match self.block {
            Block::Kept { column, first } => {
                let cells = column.cells().skip(*first).chain(iter::repeat(Cow::Borrowed("")));
                Box::new(cells.take(self.rows).map(Value::Text))
            }
            _ => Box::new((0..self.rows).map(move |row| self.value(row))),
        }
    }

    /// The numbers, where its type is [`ValueType::Float`].
    pub fn floats(self) -> Option<Vec<f64>> {
        match self.block {
            Block::Float { width, values } => Some(values.iter().skip(self.at).step_by(*width).copied().collect()),
            _ => None,
        }
    }

    /// Its name and type, and its values.
    pub(super) fn owned<'b>(self) -> (Field, Block<'b>) {
        let block = match self.block {
            Block::Integer(values) => Block::Integer(values.clone()),
            _ => match self.floats() {
                Some(values) => Block::float(values),
                None => {
                    let text = |value: Value<'_>| match value {
                        Value::Text(text) => Cow::Owned(text.into_owned()),
                        _ => Cow::Borrowed(""),
                    };
                    Block::Text(self.values().map(text).collect())
                }
            },
        };
        (self.field.clone(), block)
    }

    #[cfg(feature = "parquet")]
    pub(super) fn block(&self) -> &'a Block<'a> {
        self.block
    }

    fn value(&self, row: usize) -> Value<'a> {
        match self.block {
            Block::Float { width, values } => Value::Float(values[row * width + self.at]),
            Block::Integer(values) => Value::Integer(values[row]),
            Block::Text(texts) => Value::Text(Cow::Borrowed(&texts[row])),
            Block::Kept { column, first } => Value::Text(column.cells().nth(first + row).unwrap_or_default()),
        }
    }
}

impl Serialize for Column<'_> {
    /// The list of its values.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.values())
    }
}

/// A walk over rows.
pub(super) struct Rows<'a> {
    cursors: Vec<Cursor<'a>>,
    next: usize,
    rows: usize,
}

enum Cursor<'a> {
    Block(&'a Block<'a>),
    Kept(Box<dyn Iterator<Item = Cow<'a, str>> + 'a>),
}

impl<'a> Cursor<'a> {
    fn new(block: &'a Block<'a>) -> Self {
        match block {
            Block::Kept { column, first } => Self::Kept(Box::new(column.cells().skip(*first))),
            other => Self::Block(other),
        }
    }
}

impl<'a> Rows<'a> {
    /// The values of the next row.
    pub(super) fn next(&mut self) -> Option<impl Iterator<Item = Value<'a>>> {
        let row = self.next;
        self.next += 1;
        let values = move |cursor: &mut Cursor<'a>| {
            let (floats, other) = match cursor {
                Cursor::Block(Block::Float { width, values }) => (&values[row * width..][..*width], None),
                Cursor::Block(Block::Integer(values)) => (&[][..], Some(Value::Integer(values[row]))),
                Cursor::Block(Block::Text(texts)) => (&[][..], Some(Value::Text(Cow::Borrowed(&*texts[row])))),
                Cursor::Block(Block::Kept { .. }) => (&[][..], None),
                Cursor::Kept(cells) => (&[][..], Some(Value::Text(cells.next().unwrap_or_default()))),
            };
            floats.iter().copied().map(Value::Float).chain(other)
        };
        (row < self.rows).then(|| self.cursors.iter_mut().flat_map(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_have_the_same_values() {
        let fields = vec![
            Field::integer("step", "the step"),
            Field::float("a_1", "a"),
            Field::float("a_2", "a"),
            Field::text("word", "the word"),
        ];
        let blocks = vec![
            Block::Integer(vec![1, 2]),
            Block::Float { width: 2, values: vec![0.5, 1.0, 1.5, 2.0].into() },
            Block::Text(vec!["".into(), "b".into()]),
        ];
        let columns = Columns::new(2, fields, blocks).unwrap();
        let mut rows = columns.by_rows();
        for row in 0..2 {
            let walked: Vec<Value<'_>> = rows.next().unwrap().collect();
            assert_eq!(walked, columns.row(row).collect::<Vec<_>>());
            let of_columns: Vec<_> = columns.iter().map(|column| column.values().nth(row).unwrap()).collect();
            assert_eq!(walked, of_columns);
        }
        assert!(rows.next().is_none());
        assert_eq!(columns.floats("a_2"), Some(vec![1.0, 2.0]));
        assert_eq!(columns.column("step").unwrap().floats(), None);
        assert_eq!(columns.column("word").unwrap().field().value_type.name(), "text");
    }

    #[test]
    fn both_columns_of_one_name_are_named() {
        let fields = vec![Field::text("step", "the time column"), Field::integer("step", "the step ahead")];
        let error = unique(&fields).unwrap_err().to_string();
        assert_eq!(error, "two columns of the output would be called \"step\": the time column and the step ahead");
    }
}
