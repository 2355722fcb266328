//! Columns of the data beside forecasts: the cell of a step that is in the data, else that which all rows of its series
//! share.

use super::columns::{Block, Field};
use crate::forecast::{ForecastPoint, Histories};
use crate::{Error, Result, Table};
use negmm_data::infer::datetime::iso;
use negmm_data::{Column, MISSING};

/// A column that is carried over to forecasts.
#[derive(Clone, Debug)]
pub(super) struct KeptCells<'a> {
    name: &'a str,
    column: &'a Column,
    /// For each series a row whose cell is that of all its rows, where they are the same.
    common: Vec<Option<usize>>,
}

/// Fields of columns that are kept; their types follow from the data.
pub(super) fn kept_fields(kept: &[KeptCells<'_>]) -> Vec<Field> {
    let field = |kept: &KeptCells<'_>| match kept.column {
        Column::Numbers(_) => Field::float(kept.name, "a kept column"),
        _ => Field::text(kept.name, "a kept column"),
    };
    kept.iter().map(field).collect()
}

impl<'a> KeptCells<'a> {
    /// The columns of these names.
    ///
    /// # Errors
    /// When one is not in the table.
    pub(super) fn of(names: &'a [String], table: &'a Table, histories: &Histories) -> Result<Vec<Self>> {
        let absent: Vec<&str> = names.iter().map(String::as_str).filter(|name| table.column(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(table.locate(Error::options(table.absent(&absent))));
        }
        let found = names.iter().filter_map(|name| table.column(name).map(|column| (name.as_str(), column)));
        let each = found.map(|(name, column)| {
            let own = |series: &crate::forecast::Series| {
                let mut rows = series.rows.iter().copied();
                let first = rows.next()?;
                rows.all(|row| column.same_cell(first, row)).then_some(first)
            };
            let common = histories.series.iter().map(|series| match series.parts.split_first() {
                None => own(series),
                Some((first, others)) => {
                    let row = own(&histories.series[*first])?;
                    let shared =
                        |part: &usize| own(&histories.series[*part]).is_some_and(|other| column.same_cell(row, other));
                    others.iter().all(shared).then_some(row)
                }
            });
            Self { name, column, common: common.collect() }
        });
        Ok(each.collect())
    }

    /// The cells of these points.
    pub(super) fn block<'p>(&self, histories: &Histories, points: &[ForecastPoint]) -> Block<'p> {
        let row = |point: &ForecastPoint| {
            let series = &histories.series[point.series];
            let step = point.step();
            // Missing steps have the row before them.
            let is_there = series.parts.is_empty()
                && step < series.rows.len()
                && (step == 0 || series.rows[step] != series.rows[step - 1]);
            if is_there { Some(series.rows[step]) } else { self.common[point.series] }
        };
        let text = |of: &dyn Fn(usize) -> String| {
            Block::Text(points.iter().map(|point| row(point).map_or_else(String::new, of).into()).collect())
        };
        match self.column {
            Column::Numbers(numbers) => {
                Block::float(points.iter().map(|point| row(point).map_or(f64::NAN, |row| numbers[row])).collect())
            }
            Column::Text { codes, levels } => text(&|row| match codes[row] {
                MISSING => String::new(),
                code => levels[code as usize].clone(),
            }),
            Column::Times(times) => text(&|row| if times[row].is_nan() { String::new() } else { iso(times[row]) }),
        }
    }
}
