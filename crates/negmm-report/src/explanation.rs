//! What makes predictions sure or unsure: contributions of the inputs to the mean, the sd and the upper tail of some rows, and the
//! dependence of the sd and of quantiles along the inputs that matter most.

use negmm::data::Column;
use negmm::explain::{Answer, BACKGROUND, Background, Dependence, Effort, Explainer, Explanation, dependence};
use negmm::{Model, Result, Table};

use crate::evaluation_set::EvaluationSet;
use crate::reservoir::sample;

/// Predictions of all rows together, about: they bound the time.
const EVALUATIONS: usize = 120_000;
/// Rows whose contributions are shown.
const ROWS: (usize, usize) = (10, 100);
/// Inputs whose dependence is shown.
const CURVES: usize = 3;
/// The answers whose contributions are shown, and those along an input.
const OF_ROWS: &str = "mean,sd,q0.95";
const ALONG: &str = "sd,q0.05,q0.5,q0.95";

/// Contributions and curves.
pub struct Explained {
    /// Contributions to the mean, to the sd and to the 95 % quantile.
    pub contributions: Explanation,
    /// The explained rows.
    pub table: Table,
    /// Their numbers in the file.
    pub numbers: Vec<usize>,
    /// Rows that they are compared with.
    pub background: usize,
    /// The inputs that matter most for any of them, the first ones first.
    pub order: Vec<usize>,
    /// For the first of them the sd and quantiles along them.
    pub curves: Vec<Dependence>,
}

/// Explains some of the rows; `None` where rows are steps, or there is no input.
pub fn explained(model: &Model, evaluation: &EvaluationSet) -> Result<Option<Explained>> {
    let Some(table) = &evaluation.table else { return Ok(None) };
    let columns = model.encoder().column_blocks().names().len();
    if columns == 0 || table.rows() == 0 {
        return Ok(None);
    }
    let background = match model.background() {
        Some(background) => background.clone(),
        // Of models of older versions the rows themselves.
        None => Background::of_table(model, table, BACKGROUND, 0)?.0,
    };
    let each = background.rows() * 2 * columns.saturating_sub(1).max(1);
    let rows = (EVALUATIONS / each).clamp(ROWS.0, ROWS.1);
    let rows = sample(table.rows(), rows);
    let numbers = rows.iter().map(|row| evaluation.numbers[*row]).collect();
    let chosen = table.select_rows(&rows);
    let explainer = Explainer::new(model, background.clone(), Answer::list(OF_ROWS)?)?;
    let explainer = match explainer.effort_for(chosen.rows()) {
        Effort::Permutations(_) => explainer.with_effort(Effort::Permutations(1))?,
        _ => explainer,
    };
    let (contributions, _) = explainer.explain(&chosen)?;
    let part = |column: usize| {
        let of = |answer: usize| {
            let all = contributions.mean_absolute(answer, None);
            all[column] / all.iter().sum::<f64>().max(f64::MIN_POSITIVE)
        };
        (0..contributions.answers().len()).map(of).fold(0.0, f64::max)
    };
    let parts: Vec<f64> = (0..columns).map(part).collect();
    let mut order: Vec<usize> = (0..columns).filter(|column| parts[*column] > 0.0).collect();
    order.sort_by(|a, b| parts[*b].total_cmp(&parts[*a]));
    if order.is_empty() {
        return Ok(None);
    }
    let along = Explainer::new(model, background.clone(), Answer::list(ALONG)?)?;
    let mut curves = Vec::new();
    for column in order.iter().take(CURVES) {
        let curve = dependence(&along, table, &contributions.columns()[*column])?;
        if curve.values.len() > 1 {
            curves.push(curve);
        }
    }
    Ok(Some(Explained { table: chosen, numbers, contributions, background: background.rows(), order, curves }))
}

impl Explained {
    /// The cells of an input as ranks from 0 to 1; `None` for text, which has no order.
    pub fn ranks(&self, column: usize) -> Option<Vec<f64>> {
        let numbers = match self.table.column(&self.contributions.columns()[column])? {
            Column::Numbers(numbers) | Column::Times(numbers) => numbers,
            Column::Text { .. } => return None,
        };
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1).max(1) as f64;
        // Equal numbers have the middle of their ranks.
        let rank = |number: &f64| {
            let (below, up_to) = (sorted.partition_point(|x| x < number), sorted.partition_point(|x| x <= number));
            if number.is_finite() { (0.5 * (below + up_to - 1) as f64 / last).min(1.0) } else { f64::NAN }
        };
        Some(numbers.iter().map(rank).collect())
    }
}
