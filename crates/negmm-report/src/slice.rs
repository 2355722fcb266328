//! Responsible for the prediction along one input, all others held at typical values: the paper's Figures 1 and 2, for any
//! model.

use negmm::data::{Column, MISSING};
use negmm::{Model, Predictions, Result, Table};

use crate::answers::COVERAGE;
use crate::cases::Cases;
use crate::time_axis::{TimeAxis, at_the_same_hour};

/// Columns and rows of the heat map.
const COLUMNS: usize = 120;
const ROWS: usize = 96;
/// Levels of a text input that are shown.
const MOST_LEVELS: usize = 8;
/// Rows that are looked at for ranges and typical values.
const LOOKED_AT: usize = 10_000;
/// The share of the rows that may lie outside the range shown, on each side.
const OUTSIDE: f64 = 0.005;

/// The prediction along an input.
pub struct Slice {
    /// The input.
    pub name: String,
    /// Where it is predicted: values of a number, 0, 1, 2 … for words, a number that `unit` explains for times.
    pub x: Vec<f64>,
    /// What the numbers are, for times.
    pub unit: Option<String>,
    /// The words, for a text input.
    pub words: Option<Vec<String>>,
    pub mean: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The range of the target that is shown.
    pub range: (f64, f64),
    /// The share of the largest usual probability in each cell, as a heat map wants it: place after place, upwards.
    pub heat: Vec<f64>,
    /// Rows of the data: their input and target.
    pub data: (Vec<f64>, Vec<f64>),
}

/// The prediction along `input`; none where it has fewer than two different values.
pub fn slice(model: &Model, cases: &Cases, input: &str) -> Result<Option<Slice>> {
    let Some(table) = &cases.table else { return Ok(None) };
    let Some(column) = table.column(input) else { return Ok(None) };
    let (places, words): (Column, Option<Vec<String>>) = match column {
        Column::Numbers(numbers) => {
            let Some((low, high)) = range_of_first(numbers) else { return Ok(None) };
            let place = |at: usize| low + (high - low) * (at as f64 + 0.5) / COLUMNS as f64;
            (Column::Numbers((0..COLUMNS).map(place).collect()), None)
        }
        Column::Times(times) => {
            let Some((low, high)) = range_of_first(times) else { return Ok(None) };
            let (step, typical) = ((high - low) / COLUMNS as f64, median(times));
            let place = |at: usize| at_the_same_hour(low + step * (at as f64 + 0.5), typical, step);
            (Column::Times((0..COLUMNS).map(place).collect()), None)
        }
        Column::Text { codes, levels } => {
            let common = common(codes, levels);
            if common.len() < 2 {
                return Ok(None);
            }
            let words: Vec<String> = common.iter().map(|code| levels[*code as usize].clone()).collect();
            (Column::text(words.iter().map(|word| Some(word.as_str()))), Some(words))
        }
    };
    let count = places.len();
    let columns = table.columns().filter(|(name, _)| *name != model.encoder().target().name).map(|(name, column)| {
        let column = if name == input { places.clone() } else { typical(column, count) };
        (name, column)
    });
    let predictions = model.predict(&Table::new(columns.collect())?)?;
    let axis = match &places {
        Column::Times(times) => Some(TimeAxis::new(times[0], times[count - 1])),
        _ => None,
    };
    let shown = |numbers: &[f64]| match &axis {
        Some(axis) => numbers.iter().map(|time| axis.shown(*time)).collect(),
        None => numbers.to_vec(),
    };
    let x = match &places {
        Column::Numbers(numbers) | Column::Times(numbers) => shown(numbers),
        Column::Text { .. } => (0..count).map(|at| at as f64).collect(),
    };
    let data_x: Vec<f64> = match (column, &words) {
        (Column::Text { codes, levels }, Some(words)) => {
            let place = |code: &u32| match code {
                &MISSING => f64::NAN,
                code => words.iter().position(|word| *word == levels[*code as usize]).map_or(f64::NAN, |at| at as f64),
            };
            codes.iter().map(place).collect()
        }
        (Column::Numbers(numbers) | Column::Times(numbers), _) => shown(numbers),
        _ => Vec::new(),
    };
    let (lower, upper) = predictions.interval(COVERAGE)?;
    let y = range(cases.y.iter().take(LOOKED_AT).copied().chain(outer(&predictions)?).collect());
    let margin = 0.03 * (y.1 - y.0);
    let y = (y.0 - margin, y.1 + margin);
    Ok(Some(Slice {
        name: input.to_string(),
        x,
        unit: axis.map(|axis| axis.label),
        words,
        mean: predictions.mean(),
        lower,
        upper,
        range: y,
        heat: heat(&predictions, y),
        data: (data_x, cases.y.clone()),
    }))
}

/// The first rows that have the number.
fn first(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().take(LOOKED_AT).copied().filter(|x| x.is_finite()).collect()
}

/// The range of the first rows, none where they are all the same.
fn range_of_first(numbers: &[f64]) -> Option<(f64, f64)> {
    Some(range(first(numbers))).filter(|(low, high)| low < high)
}

/// The median of the first rows, NaN where there is none.
fn median(numbers: &[f64]) -> f64 {
    let mut numbers = first(numbers);
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// All but the outermost of the numbers.
fn range(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let outside = (OUTSIDE * numbers.len() as f64) as usize;
    match numbers.len() {
        0 => (0.0, 0.0),
        count => (numbers[outside], numbers[count - 1 - outside]),
    }
}

/// The quantiles that the picture should reach.
fn outer(predictions: &Predictions) -> Result<impl Iterator<Item = f64>> {
    let (lower, upper) = (predictions.quantile(0.02)?, predictions.quantile(0.98)?);
    Ok(lower.into_iter().chain(upper))
}

/// The probability of each cell, as a share of the usual largest; a little lifted, so that the faint is seen.
fn heat(predictions: &Predictions, range: (f64, f64)) -> Vec<f64> {
    let edge = |at: usize| range.0 + (range.1 - range.0) * at as f64 / ROWS as f64;
    let columns = predictions.each(|row| {
        let below: Vec<f64> = (0..=ROWS).map(|at| row.cdf(edge(at))).collect();
        below.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect::<Vec<f64>>()
    });
    let mut largest: Vec<f64> = columns.iter().map(|column| column.iter().copied().fold(0.0, f64::max)).collect();
    largest.sort_by(f64::total_cmp);
    // Not the very largest: one narrow place would leave all others pale.
    let full = largest[(largest.len() - 1) * 7 / 10].max(f64::MIN_POSITIVE);
    columns.into_iter().flatten().map(|mass| (mass / full).min(1.0).sqrt()).collect()
}

/// The most frequent levels, the most frequent first.
fn common(codes: &[u32], levels: &[String]) -> Vec<u32> {
    let mut counts = vec![0usize; levels.len()];
    codes.iter().filter(|code| **code != MISSING).for_each(|code| counts[*code as usize] += 1);
    let mut order: Vec<u32> = (0..levels.len() as u32).filter(|code| counts[*code as usize] > 0).collect();
    order.sort_by(|a, b| {
        counts[*b as usize].cmp(&counts[*a as usize]).then(levels[*a as usize].cmp(&levels[*b as usize]))
    });
    order.truncate(MOST_LEVELS);
    order
}

/// `count` times the median or the most frequent text.
fn typical(column: &Column, count: usize) -> Column {
    match column {
        Column::Numbers(numbers) => Column::Numbers(vec![median(numbers); count]),
        Column::Times(times) => Column::Times(vec![median(times); count]),
        Column::Text { codes, levels } => {
            let most = common(codes, levels).first().map(|code| levels[*code as usize].as_str());
            Column::text(std::iter::repeat_n(most, count))
        }
    }
}
