//! Scores by groups of rows: the categories of a column, or the quantile bins of its numbers or dates.

use std::collections::BTreeMap;

use negmm_data::{Column, Input, Table};
use negmm_dist::COVERAGES;
use negmm_dist::math::normal;
use negmm_dist::{Error, Predictions, Result};
use serde::Serialize;

use crate::Model;

/// Quantile bins of a column of numbers.
const BINS: usize = 5;
/// Different numbers up to which a column is taken as categories.
const FEW_NUMBERS: usize = 10;
/// Groups at most; the rows of the smallest others are one.
const MOST_GROUPS: usize = 50;
/// The name of those, and of rows without a cell.
const OTHERS: &str = "(others)";
const MISSING: &str = "(missing)";
/// The probability that a calibrated model has a group whose coverage is reported as off.
const FALSE_ALARM: f64 = 0.05;
/// The smallest deviation of a coverage that is reported.
const LEAST_OFF: f64 = 0.02;

/// The cells of each input of a model as text, dates as year, month and day: what rows are grouped by.
///
/// # Errors
/// When the table lacks an input, or a cell is no time where training had times.
pub fn input_cells(model: &Model, table: &Table) -> Result<Vec<(String, Vec<String>)>> {
    let table = model.encoder().with_times(table.clone())?;
    let of = |input: &Input| {
        let absent = || table.locate(Error::data(table.absent(&[&input.name])));
        let column = table.column(&input.name).ok_or_else(absent)?;
        Ok((input.name.clone(), (0..table.rows()).map(|row| cell(column, row)).collect()))
    };
    model.encoder().inputs().iter().filter(|input| input.encoding.features() > 0).map(of).collect()
}

/// A cell as text, empty where it is missing.
pub(crate) fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Numbers(numbers) if numbers[row].is_nan() => String::new(),
        Column::Numbers(numbers) => numbers[row].to_string(),
        Column::Times(seconds) if seconds[row].is_nan() => String::new(),
        Column::Times(seconds) => negmm_data::time::iso(seconds[row]),
        Column::Text { codes, levels } => levels.get(codes[row] as usize).cloned().unwrap_or_default(),
    }
}

/// The scores of one row.
#[derive(Clone, Copy, Debug)]
struct RowScores {
    weight: f64,
    crps: f64,
    baseline: f64,
    /// Whether the target is inside the central interval of each of [`COVERAGES`].
    inside: [bool; COVERAGES.len()],
}

/// Scores of rows, to be summed by group. Rows may be added in chunks.
#[derive(Clone, Debug, Default)]
pub struct ScoresByGroup {
    cells: Vec<String>,
    rows: Vec<RowScores>,
}

/// The scores of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupScores {
    /// A category, or the range of a bin.
    pub group: String,
    /// Rows.
    pub rows: usize,
    /// Mean CRPS.
    pub crps: f64,
    /// 1 - CRPS / the baseline's.
    pub skill: Option<f64>,
    /// Fraction of targets inside the central interval of each of [`COVERAGES`].
    pub coverage: [f64; COVERAGES.len()],
    /// Whether each coverage is off by more than chance.
    pub off: [bool; COVERAGES.len()],
}

impl GroupScores {
    /// The widest interval whose coverage is off by more than chance: its nominal and its empirical coverage.
    pub fn worst(&self) -> Option<(f64, f64)> {
        let at = (0..COVERAGES.len()).rev().find(|at| self.off[*at])?;
        Some((COVERAGES[at], self.coverage[at]))
    }
}

impl ScoresByGroup {
    /// Adds rows: the cells of the column, the predictions and those of the baseline, targets and weights.
    ///
    /// # Errors
    /// When there is not one of each for every row.
    pub fn add(
        &mut self,
        cells: impl IntoIterator<Item = String>,
        (predictions, baseline): (&Predictions, &Predictions),
        y: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<()> {
        let (crps, baseline) = (predictions.crps(y)?, baseline.crps(y)?);
        let intervals = COVERAGES.iter().map(|coverage| predictions.interval(*coverage)).collect::<Result<Vec<_>>>()?;
        self.rows.extend((0..y.len()).map(|row| RowScores {
            weight: weights.map_or(1.0, |weights| weights[row]),
            crps: crps[row],
            baseline: baseline[row],
            inside: std::array::from_fn(|at| intervals[at].lower[row] <= y[row] && y[row] <= intervals[at].upper[row]),
        }));
        self.cells.extend(cells);
        Ok(())
    }

    /// The scores of each group that has rows with weight, bins in their order, categories by name.
    pub fn finish(&self) -> Vec<GroupScores> {
        self.of_cells(&self.cells)
    }

    /// The same by the cells of another column; none where there is not one for each row.
    pub fn of_cells(&self, cells: &[String]) -> Vec<GroupScores> {
        self.among(cells, 1)
    }

    /// The groups of several columns, each with the cells of all rows, whose coverage is off by more than chance even
    /// though all of them are looked at; the clearest first.
    pub fn off_in(&self, columns: &[(String, Vec<String>)]) -> Vec<(String, GroupScores)> {
        Self::off(&self.of_columns(columns))
    }

    /// The scores by each of several columns; coverage counts as off only if it is so although there are several.
    pub fn of_columns(&self, columns: &[(String, Vec<String>)]) -> Vec<(String, Vec<GroupScores>)> {
        columns.iter().map(|(name, cells)| (name.clone(), self.among(cells, columns.len()))).collect()
    }

    /// Those of the groups whose coverage is off, the clearest first.
    pub fn off(columns: &[(String, Vec<GroupScores>)]) -> Vec<(String, GroupScores)> {
        let named = |(name, groups): &(String, Vec<GroupScores>)| {
            let off = groups.iter().filter(|scores| scores.worst().is_some());
            off.map(|scores| (name.clone(), scores.clone())).collect::<Vec<_>>()
        };
        let mut off: Vec<(String, GroupScores)> = columns.iter().flat_map(named).collect();
        let clear = |scores: &GroupScores| {
            scores.worst().map_or(0.0, |(nominal, covered)| {
                (covered - nominal).abs() / (nominal * (1.0 - nominal) / scores.rows as f64).sqrt()
            })
        };
        off.sort_by(|a, b| clear(&b.1).total_cmp(&clear(&a.1)));
        off
    }

    /// Leaves out the first `rows` rows.
    pub fn leave_out(&mut self, rows: usize) {
        self.rows.drain(..rows.min(self.rows.len()));
        self.cells.drain(..rows.min(self.cells.len()));
    }

    /// The scores by a column that is one of `columns`.
    fn among(&self, cells: &[String], columns: usize) -> Vec<GroupScores> {
        if cells.len() != self.rows.len() {
            return Vec::new();
        }
        let groups = groups(cells);
        let mut scores: Vec<GroupScores> =
            groups.into_iter().filter_map(|(group, rows)| self.scores(group, &rows)).collect();
        // Bonferroni over groups, coverages and columns.
        let tests = (scores.len() * COVERAGES.len() * columns).max(1) as f64;
        let z = -normal::quantile(0.5 * FALSE_ALARM / tests);
        for scores in &mut scores {
            for (at, nominal) in COVERAGES.iter().enumerate() {
                let deviation = (scores.coverage[at] - nominal).abs();
                let error = (nominal * (1.0 - nominal) / scores.rows as f64).sqrt();
                scores.off[at] = deviation > z * error + 0.5 / scores.rows as f64 && deviation > LEAST_OFF;
            }
        }
        scores
    }

    fn scores(&self, group: String, rows: &[usize]) -> Option<GroupScores> {
        let sum = |of: &dyn Fn(&RowScores) -> f64| {
            rows.iter().map(|row| &self.rows[*row]).map(|row| row.weight * of(row)).sum::<f64>()
        };
        let total = sum(&|_| 1.0);
        let (crps, baseline) = (sum(&|row| row.crps) / total, sum(&|row| row.baseline) / total);
        let coverage = std::array::from_fn(|at| sum(&|row| f64::from(u8::from(row.inside[at]))) / total);
        let skill = Some(1.0 - crps / baseline).filter(|skill| skill.is_finite());
        let rows = rows.len();
        (total > 0.0).then_some(GroupScores { group, rows, crps, skill, coverage, off: [false; COVERAGES.len()] })
    }
}

/// The rows of each group.
pub(crate) fn groups(cells: &[String]) -> Vec<(String, Vec<usize>)> {
    let numbers: Vec<Option<f64>> = cells.iter().map(|cell| cell.trim().parse().ok()).collect();
    let is_number = cells.iter().zip(&numbers).all(|(cell, number)| cell.trim().is_empty() || number.is_some());
    let mut different: Vec<f64> = numbers.iter().copied().flatten().filter(|number| !number.is_nan()).collect();
    different.sort_by(f64::total_cmp);
    let sorted = different.clone();
    different.dedup();
    if is_number && different.len() > FEW_NUMBERS {
        return bins(&numbers, &sorted);
    }
    let mut dates: Vec<&str> = cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    if dates.iter().all(|cell| is_date(cell)) {
        dates.sort_unstable();
        dates.dedup();
        if dates.len() > FEW_NUMBERS {
            return bins_of_dates(cells, &dates);
        }
    }
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, cell) in cells.iter().enumerate() {
        by_name.entry(cell.trim()).or_default().push(row);
    }
    let name = |name: &str| if name.is_empty() { MISSING.to_string() } else { name.to_string() };
    let mut groups: Vec<(String, Vec<usize>)> = by_name.into_iter().map(|(key, rows)| (name(key), rows)).collect();
    if is_number {
        groups.sort_by(|a, b| a.0.parse().unwrap_or(f64::INFINITY).total_cmp(&b.0.parse().unwrap_or(f64::INFINITY)));
    }
    if groups.len() > MOST_GROUPS {
        let mut sizes: Vec<usize> = groups.iter().map(|(_, rows)| rows.len()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes[MOST_GROUPS - 1];
        let (kept, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, rows)| rows.len() > least);
        groups = kept;
        groups.push((OTHERS.into(), others.into_iter().flat_map(|(_, rows)| rows).collect()));
    }
    groups
}

/// The rows of each quantile bin, and those without a number.
fn bins(numbers: &[Option<f64>], sorted: &[f64]) -> Vec<(String, Vec<usize>)> {
    let mut edges: Vec<f64> = (1..BINS).map(|bin| sorted[bin * sorted.len() / BINS]).collect();
    edges.dedup();
    let mut groups = vec![Vec::new(); edges.len() + 1];
    let mut missing = Vec::new();
    for (row, number) in numbers.iter().enumerate() {
        match number.filter(|number| !number.is_nan()) {
            Some(number) => groups[edges.partition_point(|edge| *edge <= number)].push(row),
            None => missing.push(row),
        }
    }
    let name = |at: usize| match (at.checked_sub(1).map(|at| edges[at]), edges.get(at)) {
        (None, Some(high)) => format!("below {}", short(*high)),
        (Some(low), Some(high)) => format!("{} to {}", short(low), short(*high)),
        (Some(low), None) => format!("from {}", short(low)),
        (None, None) => String::new(),
    };
    let mut named: Vec<(String, Vec<usize>)> = groups
        .into_iter()
        .enumerate()
        .map(|(at, rows)| (name(at), rows))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if !missing.is_empty() {
        named.push((MISSING.into(), missing));
    }
    named
}

/// Whether a cell begins as a date such as 2024-12-31, whose order is that of its text.
fn is_date(cell: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| cell.as_bytes()[range].iter().all(u8::is_ascii_digit);
    cell.len() >= 10
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && cell.as_bytes()[4] == b'-'
        && cell.as_bytes()[7] == b'-'
}

/// The rows of each quantile bin of dates, and those without one.
fn bins_of_dates(cells: &[String], different: &[&str]) -> Vec<(String, Vec<usize>)> {
    let rank = |cell: &str| different.binary_search(&cell.trim()).ok().map(|rank| rank as f64);
    let ranks: Vec<Option<f64>> = cells.iter().map(|cell| rank(cell)).collect();
    let mut sorted: Vec<f64> = ranks.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    let named = |(name, rows): (String, Vec<usize>)| {
        let mut own: Vec<&str> = rows.iter().map(|row| cells[*row].trim()).collect();
        own.sort_unstable();
        let range = own.first().zip(own.last()).filter(|_| name != MISSING);
        (range.map_or(name, |(first, last)| format!("{first} to {last}")), rows)
    };
    bins(&ranks, &sorted).into_iter().map(named).collect()
}

/// Four significant digits at most.
fn short(number: f64) -> String {
    format!("{number:.3e}").parse().map_or_else(|_| number.to_string(), |short: f64| short.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::{Mixtures, Rng};

    /// Standard normal predictions of targets with the sd of their group.
    fn scored(cells: &[&str], sd: impl Fn(usize) -> f64) -> Vec<GroupScores> {
        let rows = cells.len();
        let normal =
            |sd: f64| Predictions::from(Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![sd; rows]).unwrap());
        let mut rng = Rng::new(4, 0);
        let y: Vec<f64> = (0..rows).map(|row| sd(row) * normal::quantile(rng.uniform())).collect();
        let mut scores = ScoresByGroup::default();
        scores.add(cells.iter().map(ToString::to_string), (&normal(1.0), &normal(3.0)), &y, None).unwrap();
        scores.finish()
    }

    #[test]
    fn the_group_whose_coverage_is_off_is_named() {
        let cells: Vec<&str> = (0..1200).map(|row| ["a", "b", ""][row % 3]).collect();
        let scores = scored(&cells, |row| if row % 3 == 1 { 1.5 } else { 1.0 });
        let names: Vec<&str> = scores.iter().map(|scores| scores.group.as_str()).collect();
        assert_eq!(names, ["(missing)", "a", "b"]);
        assert_eq!(scores.iter().map(|scores| scores.off).collect::<Vec<_>>(), [[false; 3], [false; 3], [true; 3]]);
        assert!(scores.iter().all(|scores| scores.rows == 400 && scores.skill.unwrap() > 0.0));
        assert!(scores[2].crps > 1.3 * scores[1].crps);
    }

    #[test]
    fn numbers_are_binned_and_many_categories_are_joined() {
        let numbers: Vec<String> = (0..1000).map(|row| (row % 100).to_string()).collect();
        let cells: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let scores = scored(&cells, |_| 1.0);
        let names: Vec<&str> = scores.iter().map(|scores| scores.group.as_str()).collect();
        assert_eq!(names, ["below 20", "20 to 40", "40 to 60", "60 to 80", "from 80"]);
        assert!(scores.iter().all(|scores| scores.rows == 200 && scores.off == [false; 3]));
        let names: Vec<String> = (0..1000).map(|row| format!("n{}", if row < 500 { row % 10 } else { row })).collect();
        let scores = scored(&names.iter().map(String::as_str).collect::<Vec<_>>(), |_| 1.0);
        assert_eq!((scores.len(), &scores[10].group[..], scores[10].rows), (11, OTHERS, 500));
    }

    #[test]
    fn dates_are_binned() {
        let dates: Vec<String> = (0..500)
            .map(|row| if row == 7 { String::new() } else { format!("2024-01-{:02} 12:00", 1 + row % 25) })
            .collect();
        let scores = scored(&dates.iter().map(String::as_str).collect::<Vec<_>>(), |_| 1.0);
        let names: Vec<&str> = scores.iter().map(|scores| scores.group.as_str()).collect();
        assert_eq!((names.len(), names[0], names[5]), (6, "2024-01-01 12:00 to 2024-01-04 12:00", MISSING));
        assert!(!is_date("2024-1-1") && !is_date("north") && !is_date("2024/01/01"));
    }

    #[test]
    fn calibrated_predictions_are_seldom_off() {
        let cells: Vec<String> = (0..6000).map(|row| format!("g{}", row % 20)).collect();
        let scores = scored(&cells.iter().map(String::as_str).collect::<Vec<_>>(), |_| 1.0);
        assert_eq!(scores.iter().flat_map(|scores| scores.off).filter(|off| *off).count(), 0);
    }
}
