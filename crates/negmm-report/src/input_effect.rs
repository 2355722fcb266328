//! The effect of one input: the predicted distribution over its range, with all other inputs at typical values (a ceteris-paribus
//! profile; the paper's Figures 1 and 2, for any model).

use negmm::Distribution;
use negmm::data::{Column, MISSING};
use negmm::{DistributionRef, Interval, Model, Predictions, Result, Table};

use crate::diagnostics::COVERAGE;
use crate::evaluation_set::EvaluationSet;
use crate::point_probabilities::atoms;
use crate::time_axis::{TimeAxis, at_the_same_hour};

/// Columns and rows of the heat map.
const COLUMNS: usize = 120;
const ROWS: usize = 96;
/// Categories of a text input that are shown.
const MAX_CATEGORIES: usize = 8;
/// Rows that ranges and typical values are computed from.
const RANGE_ROWS: usize = 10_000;
/// The fraction of rows outside the range shown, on each side.
const TAIL: f64 = 0.005;

/// The effect of an input.
pub struct InputEffect {
    /// The input.
    pub name: String,
    /// The values of the input: numbers, 0, 1, 2 … for categories, or times in `unit`.
    pub x: Vec<f64>,
    /// The unit of `x`, for times.
    pub unit: Option<String>,
    /// The categories, for a text input.
    pub categories: Option<Vec<String>>,
    pub mean: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The range of the target that is shown.
    pub range: (f64, f64),
    /// The relative probability of each cell of the heat map, column by column, upwards.
    pub heat: Vec<f64>,
    /// Whether the target is discrete.
    pub discrete: bool,
    /// Rows of the data: their input and target.
    pub data: (Vec<f64>, Vec<f64>),
}

/// The effect of `input`; `None` where it has fewer than two different values.
pub fn input_effect(model: &Model, evaluation: &EvaluationSet, input: &str) -> Result<Option<InputEffect>> {
    let Some(table) = &evaluation.table else { return Ok(None) };
    let Some(column) = table.column(input) else { return Ok(None) };
    let truth = model.encoder().schema().columns.iter().any(|(name, of)| name == input && of.is_truth());
    let (values, categories): (Column, Option<Vec<String>>) = match column {
        // Two values, and nothing between them.
        Column::Numbers(numbers) if truth => {
            if range_of_first(numbers).is_none() {
                return Ok(None);
            }
            (Column::Numbers(vec![0.0, 1.0]), Some(vec!["false".into(), "true".into()]))
        }
        Column::Numbers(numbers) => {
            let Some((low, high)) = range_of_first(numbers) else { return Ok(None) };
            let value = |at: usize| low + (high - low) * (at as f64 + 0.5) / COLUMNS as f64;
            (Column::Numbers((0..COLUMNS).map(value).collect()), None)
        }
        Column::Times(times) => {
            let Some((low, high)) = range_of_first(times) else { return Ok(None) };
            let (step, typical) = ((high - low) / COLUMNS as f64, median(times));
            let value = |at: usize| at_the_same_hour(low + step * (at as f64 + 0.5), typical, step);
            (Column::Times((0..COLUMNS).map(value).collect()), None)
        }
        Column::Text { codes, levels } => {
            let common = common(codes, levels);
            if common.len() < 2 {
                return Ok(None);
            }
            let categories: Vec<String> = common.iter().map(|code| levels[*code as usize].clone()).collect();
            (Column::text(categories.iter().map(|name| Some(name.as_str()))), Some(categories))
        }
    };
    let count = values.len();
    let columns = table.columns().filter(|(name, _)| *name != model.encoder().target().name).map(|(name, column)| {
        let column = if name == input { values.clone() } else { typical(column, count) };
        (name, column)
    });
    let predictions = model.predict(&Table::new(columns.collect())?)?;
    let axis = match &values {
        Column::Times(times) => Some(TimeAxis::new(times[0], times[count - 1])),
        _ => None,
    };
    let shown = |numbers: &[f64]| match &axis {
        Some(axis) => numbers.iter().map(|time| axis.position(*time)).collect(),
        None => numbers.to_vec(),
    };
    let x = match &values {
        Column::Numbers(numbers) | Column::Times(numbers) => shown(numbers),
        Column::Text { .. } => (0..count).map(|at| at as f64).collect(),
    };
    let data_x: Vec<f64> = match (column, &categories) {
        (Column::Text { codes, levels }, Some(categories)) => {
            let position = |code: &u32| match code {
                &MISSING => f64::NAN,
                code => {
                    categories.iter().position(|name| *name == levels[*code as usize]).map_or(f64::NAN, |at| at as f64)
                }
            };
            codes.iter().map(position).collect()
        }
        (Column::Numbers(numbers) | Column::Times(numbers), _) => shown(numbers),
        _ => Vec::new(),
    };
    let Interval { lower, upper } = predictions.interval(COVERAGE)?;
    let y = range(evaluation.y.iter().take(RANGE_ROWS).copied().chain(outer(&predictions)?).collect());
    // The outermost values of a discrete target get full cells.
    let step = predictions.support().step;
    let margin = (0.03 * (y.1 - y.0)).max(0.5 * step.unwrap_or(0.0));
    let y = (y.0 - margin, y.1 + margin);
    Ok(Some(InputEffect {
        name: input.to_string(),
        x,
        unit: axis.map(|axis| axis.label),
        categories,
        mean: predictions.mean(),
        lower,
        upper,
        range: y,
        heat: heat(&predictions, y),
        discrete: step.is_some(),
        data: (data_x, evaluation.y.clone()),
    }))
}

/// The numbers of the first rows, without missing ones.
fn first(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().take(RANGE_ROWS).copied().filter(|x| x.is_finite()).collect()
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

/// The range of the numbers without the tails.
fn range(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let tail = (TAIL * numbers.len() as f64) as usize;
    match numbers.len() {
        0 => (0.0, 0.0),
        count => (numbers[tail], numbers[count - 1 - tail]),
    }
}

/// Outer quantiles of the predictions, which the plot includes.
fn outer(predictions: &Predictions) -> Result<impl Iterator<Item = f64>> {
    let (lower, upper) = (predictions.quantile(0.02)?, predictions.quantile(0.98)?);
    Ok(lower.into_iter().chain(upper))
}

/// The probability of each cell, relative to a high quantile of the column maxima; the square root makes low ones visible.
fn heat(predictions: &Predictions, range: (f64, f64)) -> Vec<f64> {
    let columns = predictions.each(|row| column(row, range));
    let mut largest: Vec<f64> = columns.iter().map(|(_, largest)| *largest).collect();
    largest.sort_by(f64::total_cmp);
    // Not the maximum: one narrow distribution would make all others pale.
    let full = largest[(largest.len() - 1) * 7 / 10].max(f64::MIN_POSITIVE);
    columns.into_iter().flat_map(|(cells, _)| cells).map(|mass| (mass / full).min(1.0).sqrt()).collect()
}

/// The probability of each cell of one column, upwards, and the largest of them without atoms, beside which a density would be pale.
/// Where the values of a discrete target are further apart than cells, each covers a full step.
fn column(row: DistributionRef<'_>, (low, high): (f64, f64)) -> (Vec<f64>, f64) {
    let edge = |at: usize| low + (high - low) * at as f64 / ROWS as f64;
    let largest = |cells: &[f64]| cells.iter().copied().fold(0.0, f64::max);
    if let Some(step) = row.support.step.filter(|step| *step > edge(1) - edge(0)) {
        let mass = |middle: f64| {
            let value = row.support.nearest(middle);
            if (value - middle).abs() <= 0.5 * step { row.point_probability(value) } else { 0.0 }
        };
        let cells: Vec<f64> = (0..ROWS).map(|at| mass(0.5 * (edge(at) + edge(at + 1)))).collect();
        let largest = largest(&cells);
        return (cells, largest);
    }
    let below: Vec<f64> = (0..=ROWS).map(|at| row.cdf(edge(at))).collect();
    let cells: Vec<f64> = below.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect();
    let mut rest = cells.clone();
    for (value, mass) in atoms(row).into_iter().filter(|(value, _)| low < *value) {
        // An atom belongs to the first cell whose upper edge is at or above it.
        if let Some(cell) = rest.get_mut((0..ROWS).position(|at| value <= edge(at + 1)).unwrap_or(ROWS)) {
            *cell -= mass;
        }
    }
    (cells, largest(&rest))
}

/// Codes of the most frequent categories, in descending order.
fn common(codes: &[u32], levels: &[String]) -> Vec<u32> {
    let mut counts = vec![0usize; levels.len()];
    codes.iter().filter(|code| **code != MISSING).for_each(|code| counts[*code as usize] += 1);
    let mut order: Vec<u32> = (0..levels.len() as u32).filter(|code| counts[*code as usize] > 0).collect();
    order.sort_by(|a, b| {
        counts[*b as usize].cmp(&counts[*a as usize]).then(levels[*a as usize].cmp(&levels[*b as usize]))
    });
    order.truncate(MAX_CATEGORIES);
    order
}

/// The median or the most frequent category, repeated `count` times.
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

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Support};

    fn predictions(weights: [f64; 2], sds: [f64; 2]) -> Predictions {
        Predictions::from(Mixtures::new(2, weights.to_vec(), vec![0.0, 3.0], sds.to_vec()).unwrap())
    }

    #[test]
    fn a_discrete_value_covers_a_full_step() {
        let support = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let counts = predictions([0.5, 0.5], [1.0, 1.0]).with_support(support).unwrap();
        let row = counts.row(0);
        let (cells, largest) = column(row, (-0.8, 5.2));
        // 16 cells a step: from -0.5 on there is zero, and below it nothing.
        let expected = |at: usize| row.point_probability(((at as f64 + 0.5) / 16.0 - 0.8).round());
        assert!(cells[..4].iter().all(|mass| *mass == 0.0));
        assert!((6..90).all(|at| cells[at] == expected(at)), "{cells:?}");
        assert_eq!(largest, row.point_probability(0.0).max(row.point_probability(3.0)));
    }

    #[test]
    fn an_atom_does_not_make_the_density_pale() {
        let mixed = predictions([0.9, 0.1], [0.0, 1.0]);
        let (cells, largest) = column(mixed.row(0), (-1.0, 7.0));
        assert!(cells.iter().any(|mass| *mass > 0.9));
        assert!(largest > 0.003 && largest < 0.004, "{largest}");
    }
}
