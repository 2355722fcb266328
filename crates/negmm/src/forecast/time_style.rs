//! How times are written: whole months, and the offset from UTC of each series.

use super::Frequency;
use negmm_data::infer::datetime::iso;
use negmm_data::{Column, MISSING, Table};

/// The length of `2012-10`.
const MONTH_LENGTH: usize = 7;

/// How the times of a table are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TimeStyle {
    /// `2012-10`, without a day.
    months: bool,
    /// The offset from UTC of each series at its last row, in seconds and as it was written.
    offsets: Vec<Option<(f64, String)>>,
    /// Whether times are those of the clock on the wall already.
    local: bool,
}

impl TimeStyle {
    /// The style of the column `name`; `last_rows` has the last row of each series.
    pub(super) fn of(table: &Table, name: &str, last_rows: impl Iterator<Item = usize>) -> Self {
        let Some(Column::Text { codes, levels }) = table.column(name) else { return Self::default() };
        let is_month = |level: &String| level.trim().len() == MONTH_LENGTH && level.trim().as_bytes()[4] == b'-';
        let offset = |row: usize| match codes[row] {
            MISSING => None,
            code => offset_of(&levels[code as usize]),
        };
        let months = !levels.is_empty() && levels.iter().all(is_month);
        Self { months, offsets: last_rows.map(offset).collect(), local: false }
    }

    /// For times of the clock on the wall.
    pub(super) fn local(self, local: bool) -> Self {
        Self { local, ..self }
    }

    /// The text of a time of a series.
    pub(super) fn text(&self, series: usize, time: f64, frequency: Frequency) -> String {
        if !frequency.has_dates() {
            return number_text(time);
        }
        match self.offsets.get(series) {
            Some(Some((seconds, written))) => {
                let local = iso(if self.local { time } else { time + seconds });
                let local = if local.contains(' ') { local.replacen(' ', "T", 1) } else { format!("{local}T00:00") };
                format!("{local}{written}")
            }
            _ if self.months => iso(time).chars().take(MONTH_LENGTH).collect(),
            _ => iso(time),
        }
    }
}

/// The offset from UTC of each row in seconds, 0 where none is written; `None` where no row has one.
pub(super) fn row_offsets(table: &Table, name: &str) -> Option<Vec<f64>> {
    let Some(Column::Text { codes, levels }) = table.column(name) else { return None };
    let of_levels: Vec<Option<f64>> = levels.iter().map(|level| offset_of(level).map(|(seconds, _)| seconds)).collect();
    let of_row = |code: &u32| of_levels.get(*code as usize).copied().flatten();
    let is_written = codes.iter().any(|code| of_row(code).is_some());
    is_written.then(|| codes.iter().map(|code| of_row(code).unwrap_or(0.0)).collect())
}

/// A number of a time column without the rounding errors of sums: twelve digits.
fn number_text(time: f64) -> String {
    let rounded: f64 = format!("{time:.11e}").parse().unwrap_or(time);
    rounded.to_string()
}

/// The offset from UTC at the end of a time: `Z`, `+02:00`, `-0530`.
fn offset_of(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let clock = text.find(['T', 't', ' ']).map(|at| &text[at..])?;
    if clock.ends_with(['Z', 'z']) {
        return Some((0.0, "Z".into()));
    }
    let at = clock.rfind(['+', '-'])?;
    let digits: String = clock[at + 1..].chars().filter(char::is_ascii_digit).collect();
    let hours: f64 = digits.get(..2)?.parse().ok()?;
    let minutes: f64 = digits.get(2..4).map_or(Some(0.0), |minutes| minutes.parse().ok())?;
    let sign = if clock[at..].starts_with('-') { -1.0 } else { 1.0 };
    Some((sign * (hours * 3600.0 + minutes * 60.0), clock[at..].to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_found_at_the_end() {
        let offset = |text: &str| offset_of(text).map(|(seconds, _)| seconds);
        assert_eq!(offset("2024-03-30T23:00:00+02:00"), Some(7200.0));
        assert_eq!(offset("2024-03-30 23:00 -0530"), Some(-19_800.0));
        assert_eq!(
            (offset("2024-03-30T23:00Z"), offset("2024-03-30 23:00"), offset("2024-03-30")),
            (Some(0.0), None, None)
        );
    }
}
