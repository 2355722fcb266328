//! The order of rows in time: by the column that is given for it, or by one that looks like it.

use super::{Encoding, Input, ParsedColumn};
use crate::{ColumnRoles, Table};
use negmm_dist::Result;
use negmm_nn::dataset::split::ranks;

/// Different times that a column must have to be taken for an order without being asked for.
const LEAST_TIMES: usize = 20;

/// The order of rows in time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TimeOrder {
    /// The column.
    pub name: String,
    /// The rank of each row's time, from 0 for the oldest; equal times have one rank.
    pub ranks: Vec<u32>,
    /// Whether the column was given as the time, see [`ColumnRoles::time`].
    pub is_given: bool,
}

impl TimeOrder {
    /// By the column that is given; else by the input that has dates, most of them different, or by whole numbers that
    /// never fall from row to row. Neither a sequence nor groups have such an order.
    pub(super) fn of(
        table: &Table,
        roles: &ColumnRoles,
        inputs: &[Input],
        columns: &[ParsedColumn<'_>],
    ) -> Result<Option<Self>> {
        if let (Some(name), Some(times)) = (&roles.time, roles.times(table)?) {
            return Ok(Some(Self { name: name.clone(), ranks: ranks(&times), is_given: true }));
        }
        if roles.sequence.is_some() || roles.group.is_some() {
            return Ok(None);
        }
        let mut best = None;
        inputs.iter().zip(columns).for_each(|(input, column)| Self::consider(&mut best, input, column));
        Ok(best.map(|candidate| candidate.order))
    }

    /// Considers one more input: dates go before numbers, then the column with more times, then the first.
    pub(crate) fn consider(best: &mut Option<Candidate>, input: &Input, column: &ParsedColumn<'_>) {
        let times = match &input.encoding {
            Encoding::Time(_) => column.numbers(),
            Encoding::Number(_) if rises(column.numbers()) => column.numbers(),
            _ => return,
        };
        if times.iter().any(|time| time.is_nan()) {
            return;
        }
        let ranks = ranks(times);
        let count = ranks.iter().max().map_or(0, |last| *last as usize + 1);
        let is_date = matches!(input.encoding, Encoding::Time(_));
        let least = if is_date { LEAST_TIMES } else { LEAST_TIMES.max(times.len() / 2) };
        let key = (is_date, count);
        if count >= least && best.as_ref().is_none_or(|best| key > best.key) {
            *best = Some(Candidate { key, order: Self { name: input.name.clone(), ranks, is_given: false } });
        }
    }
}

/// The best order among the columns so far.
pub(crate) struct Candidate {
    /// Whether it is by dates, and how many times there are.
    key: (bool, usize),
    pub order: TimeOrder,
}

/// Whether these are whole numbers that never fall.
fn rises(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.fract() == 0.0) && numbers.is_sorted()
}

#[cfg(test)]
mod tests {
    use crate::{Column, ColumnRoles, Encoder, EncoderOptions, Table};

    /// The column that rows of this table are ordered by.
    fn order(columns: Vec<(&str, Column)>, roles: &ColumnRoles) -> Option<(String, bool)> {
        let table = Table::new(columns).unwrap();
        let encoded = Encoder::fit_transform(&table, "y", roles, EncoderOptions::default()).unwrap();
        assert_eq!(encoded.data.times().is_some(), roles.time.is_some());
        encoded.time.map(|time| (time.name, time.is_given))
    }

    #[test]
    fn dates_and_rising_numbers_are_orders() {
        let numbers = |number: fn(usize) -> f64| Column::Numbers((0..60).map(number).collect());
        let dates: Vec<String> = (0..60).map(|day| format!("2024-{:02}-{:02}", 1 + day % 12, 1 + day / 12)).collect();
        let dates = || Column::text(dates.iter().map(|date| Some(date.as_str())));
        let y = || ("y", numbers(|row| (row as f64).sin()));
        let index = || ("index", numbers(|row| row as f64));
        let roles = ColumnRoles::default();
        let name = |name: &str, is_given: bool| Some((name.to_string(), is_given));
        assert_eq!(order(vec![index(), y(), ("day", dates())], &roles), name("day", false));
        assert_eq!(order(vec![("x", numbers(|row| (row as f64).cos())), index(), y()], &roles), name("index", false));
        // Sorted inputs and a few levels are none.
        let sorted = ("x", numbers(|row| (row as f64).sqrt()));
        assert_eq!(order(vec![sorted, ("level", numbers(|row| (row / 30) as f64)), y()], &roles), None);
        let grouped = roles.clone().group("level");
        assert_eq!(order(vec![index(), ("level", numbers(|row| (row % 7) as f64)), y()], &grouped), None);
        assert_eq!(order(vec![index(), y(), ("day", dates())], &roles.clone().time("index")), name("index", true));
    }
}
