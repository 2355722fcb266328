//! Type inference of all text columns of a table together: they have one decimal mark.

use std::collections::BTreeMap;

use crate::infer::{
    CellReader, CellType, Inference, Levels, MissingWords, NumberFormat, TypeHint, TypedColumn, is_mark_in_text,
};
use crate::{Column, ColumnType, Dialect, MISSING};
use negmm_dist::{Error, Hint, Result};

/// Type inference of a table's columns, with hints.
pub(crate) struct TypeInference<'a> {
    dialect: &'a Dialect,
    words: MissingWords,
    /// The hint of each column.
    pub hints: Vec<TypeHint>,
    /// Field delimiter.
    separator: u8,
}

impl<'a> TypeInference<'a> {
    /// For columns of these names.
    pub fn new(dialect: &'a Dialect, names: &[String], separator: u8) -> Result<Self> {
        Ok(Self { dialect, words: MissingWords::new(&dialect.missing), hints: dialect.hints(names)?, separator })
    }

    /// The inferred types of these columns, by their positions.
    pub fn decide<'c>(&self, texts: impl Iterator<Item = (usize, &'c Column)>) -> BTreeMap<usize, Inference> {
        let decide = |(position, column): (usize, &Column)| {
            let Column::Text { codes, levels } = column else { return (position, Inference::Text) };
            (position, Levels::new(codes, levels).decide(&self.words, self.hints[position]))
        };
        texts.map(decide).collect()
    }

    /// Whether decimal commas are so likely that plain numbers with a point must be inferred again: the point may separate thousands.
    pub fn has_commas(&self, inferences: &BTreeMap<usize, Inference>) -> bool {
        let commas = inferences.values().any(|inference| match inference {
            Inference::Number(format) => format.decimal == ',',
            Inference::Either { example, .. } => example.is_some() && self.separator != b',',
            _ => false,
        });
        commas && self.dialect.decimal.is_none() || self.dialect.decimal == Some(',')
    }

    /// The file's decimal mark: the declared one, else that of all columns that fit only one.
    pub fn decimal(&self, inferences: &BTreeMap<usize, Inference>) -> Option<char> {
        let certain = |mark: char| {
            inferences
                .values()
                .any(|inference| matches!(inference, Inference::Number(format) if format.decimal == mark))
        };
        match (self.dialect.decimal, certain('.'), certain(',')) {
            (Some(decimal), ..) => Some(decimal),
            (None, true, false) => Some('.'),
            (None, false, true) => Some(','),
            _ => None,
        }
    }

    /// The stored type of a column of plain numbers without a point.
    pub fn plain_type(&self, decimal: Option<char>) -> Option<TypedColumn> {
        let format = NumberFormat { decimal: decimal.unwrap_or('.'), ..NumberFormat::default() };
        self.typed(
            ColumnType { cells: CellType::Number(format), ..ColumnType::number() },
            String::new(),
            Vec::new(),
            None,
        )
    }

    /// A column parsed as its inferred type, with the decimal mark of all columns, and the type to store; `plain` are its
    /// numbers, where all cells are plain ones.
    pub fn finish(
        &self,
        plain: Option<Vec<f64>>,
        text: Column,
        inference: Inference,
        decimal: Option<char>,
    ) -> Result<(Column, Option<TypedColumn>)> {
        Ok(self.finish_as(plain, text, resolved(inference, decimal, self.separator)?))
    }

    fn finish_as(&self, plain: Option<Vec<f64>>, text: Column, inference: Inference) -> (Column, Option<TypedColumn>) {
        let Column::Text { codes, levels } = text else { return (text, None) };
        let note = if inference == Inference::Codes { "leading zeros" } else { "" };
        let cells = match inference {
            Inference::Number(format) if format.is_plain() && plain.is_some() => {
                return (Column::Numbers(plain.unwrap_or_default()), self.plain_type(None));
            }
            Inference::Number(format) => CellType::Number(format),
            Inference::Truth => CellType::Truth,
            Inference::Duration => CellType::Duration,
            _ => return self.finish_text(codes, levels, note),
        };
        let truth = cells == CellType::Truth;
        let column_type = ColumnType { cells, missing: self.dialect.missing.clone(), odd_are_missing: true };
        let reader = CellReader::new(&column_type);
        let present = Levels::new(&codes, &levels);
        let fits = |cell: &str| reader.number(cell.as_bytes()).is_some_and(f64::is_finite);
        let note = present.present().map(|(cell, _)| cell).find(|cell| fits(cell) && cell.parse::<f64>().is_err());
        let note = note.map_or(String::new(), |cell| format!("such as {}", negmm_dist::quote::quoted(cell)));
        let odd = |(cell, _): &(&str, u64)| reader.number(cell.as_bytes()).is_none_or(f64::is_infinite);
        let mut odd: Vec<(String, u64)> =
            present.present().filter(odd).map(|(cell, count)| (cell.to_string(), count)).collect();
        odd.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let numbers = reader.numbers(&codes, &levels).map_or_else(|_| Vec::new(), |(numbers, _)| numbers);
        // Cells of new data that are no truth values are missing, not errors.
        let column_type = ColumnType { odd_are_missing: truth || !odd.is_empty(), missing: Vec::new(), ..column_type };
        let column_type = self.typed(column_type, note, odd, Some(Column::Text { codes, levels }));
        (Column::Numbers(numbers), column_type)
    }

    fn finish_text(&self, mut codes: Vec<u32>, levels: Vec<String>, note: &str) -> (Column, Option<TypedColumn>) {
        let present = Levels::new(&codes, &levels);
        let marks: Vec<String> = present
            .present()
            .map(|(cell, _)| cell)
            .filter(|cell| is_mark_in_text(cell.as_bytes()))
            .map(String::from)
            .collect();
        if !marks.is_empty() || !self.words.is_empty() {
            let missing: Vec<bool> =
                levels.iter().map(|level| marks.contains(level) || self.words.has(level)).collect();
            for code in &mut codes {
                if missing.get(*code as usize) == Some(&true) {
                    *code = MISSING;
                }
            }
        }
        let typed = self.typed(ColumnType::text().with_missing(marks), note.to_string(), Vec::new(), None);
        (Column::Text { codes, levels }, typed)
    }

    /// The type to store; `None` where it is plain.
    fn typed(
        &self,
        column_type: ColumnType,
        note: String,
        odd: Vec<(String, u64)>,
        text: Option<Column>,
    ) -> Option<TypedColumn> {
        let column_type = column_type.with_missing(self.dialect.missing.iter().cloned());
        (!column_type.is_plain() || !note.is_empty()).then_some(TypedColumn { column_type, note, odd, text })
    }
}

/// An inferred type with one decimal mark.
fn resolved(inference: Inference, decimal: Option<char>, separator: u8) -> Result<Inference> {
    match inference {
        Inference::NoNumber => Err(Error::options("declared as numbers, but no cell is a number")),
        Inference::Either { point, comma, example } => match (decimal, example) {
            (Some(','), _) => Ok(Inference::Number(comma)),
            (Some(_), _) | (None, None) => Ok(Inference::Number(point)),
            // Programs write points, and a comma that separates cells is no decimal mark.
            (None, Some(_)) if point.is_plain() || separator == b',' => Ok(Inference::Number(point)),
            (None, Some(cell)) => {
                let [a, b] = [&point, &comma].map(|format| format.read(&cell).unwrap_or(f64::NAN));
                let cell = negmm_dist::quote::quoted(&cell);
                let marks = Hint::ChooseValue { option: "decimal", values: vec![".".into(), ",".into()] };
                Err(Error::data(format!("{cell} may be {a} or {b}")).with_hint(marks))
            }
        },
        other => Ok(other),
    }
}
