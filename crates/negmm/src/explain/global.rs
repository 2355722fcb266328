//! Global explanation: how much each column matters for each answer over many rows, the loss by permutation,
//! interactions, and dependence along columns, from one call.

use serde::Serialize;

use super::dependence::{Dependence, dependence};
use super::importance::{PermutationLoss, permutation_losses};
use super::interactions::{Interaction, interactions};
use super::regions::{Region, regions};
use super::{Effort, Explainer};
use crate::{Result, Rng};
use negmm_data::{Table, Warnings};
use negmm_dist::streams;

/// Options of a global explanation.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `rows` | 200 | rows whose contributions are averaged |
/// | `permuted_rows` | 2000 | rows whose scores are compared with those of permuted columns, where there is a target |
/// | `repeats` | 3 | permutations of each column |
/// | `interaction_rows` | 30 | rows of interactions; 0: none |
/// | `curves` | 8 | columns with dependence: those that matter most for any answer |
/// | `seed` | 0 | random seed of samples and permutations |
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalOptions {
    /// Rows whose contributions are averaged.
    pub rows: usize,
    /// Rows whose scores are compared with those of permuted columns.
    pub permuted_rows: usize,
    /// Permutations of each column.
    pub repeats: usize,
    /// Rows of interactions.
    pub interaction_rows: usize,
    /// Columns with dependence.
    pub curves: usize,
    /// Random seed.
    pub seed: u64,
}

impl Default for GlobalOptions {
    fn default() -> Self {
        Self { rows: 200, permuted_rows: 2000, repeats: 3, interaction_rows: 30, curves: 8, seed: 0 }
    }
}

/// How much columns matter over many rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GlobalExplanation {
    /// Rows whose contributions were averaged.
    pub rows: usize,
    /// Background rows.
    pub background: usize,
    /// The columns.
    pub columns: Vec<String>,
    /// The answers.
    pub answers: Vec<String>,
    /// For each answer its mean over the background.
    pub base: Vec<f64>,
    /// For each answer and each column the mean |contribution|.
    pub contributions: Vec<Vec<f64>>,
    /// For each answer the typical standard error of a contribution of one row.
    pub errors: Vec<f64>,
    /// The loss by permutation, where the table has the target.
    pub permutation: Option<Vec<PermutationLoss>>,
    /// The interactions of the strongest columns.
    pub interactions: Vec<Interaction>,
    /// The dependence of the answers on the columns that matter most.
    pub dependence: Vec<Dependence>,
    /// What would narrow the predictions, by regions of the columns that matter most; empty where the model has one member.
    pub regions: Vec<Region>,
}

/// Explains a table as a whole.
///
/// # Errors
/// When the table cannot be encoded, or an answer is a score.
pub fn explain_globally(
    explainer: &Explainer<'_>,
    table: &Table,
    options: &GlobalOptions,
) -> Result<(GlobalExplanation, Warnings)> {
    let table = &explainer.model().encoder().with_times(table.clone())?;
    let part = |rows: usize| table.select_rows(&sample(table.rows(), rows, options.seed));
    let chosen = part(options.rows);
    let explainer = match explainer.effort_for(chosen.rows()) {
        Effort::Permutations(pairs) => explainer.clone().with_effort(Effort::Permutations(pairs.min(2)))?,
        _ => explainer.clone(),
    };
    let (explanation, warnings) = explainer.explain(&chosen)?;
    let answers = explanation.answers().len();
    let contributions: Vec<Vec<f64>> = (0..answers).map(|answer| explanation.mean_absolute(answer, None)).collect();
    let target = explainer.model().encoder().target();
    let scored = table.column(&target.name).is_some() && !target.is_censored();
    let permutation = match scored {
        true => {
            let known = table.select_rows(&table.rows_with(&target.name)?);
            let rows = sample(known.rows(), options.permuted_rows, options.seed);
            let known = known.select_rows(&rows);
            let losses = permutation_losses(explainer.model(), &known, None, options.repeats, options.seed);
            (known.rows() > 1).then_some(losses).transpose()?.map(|(losses, _)| losses)
        }
        false => None,
    };
    let pairs = match options.interaction_rows {
        0 => Vec::new(),
        rows => interactions(&explainer, &explanation, &part(rows))?,
    };
    // What matters most for any answer: its part of all contributions to that answer.
    let columns = explanation.columns().len();
    let part_of = |column: usize| {
        let of = |own: &Vec<f64>| own[column] / own.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        contributions.iter().map(of).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..columns).filter(|column| part_of(*column) > 0.0).collect();
    order.sort_by(|a, b| part_of(*b).total_cmp(&part_of(*a)));
    order.truncate(options.curves);
    let names: Vec<&str> = order.iter().map(|column| explanation.columns()[*column].as_str()).collect();
    let dependence = names.iter().map(|name| dependence(&explainer, table, name)).collect::<Result<Vec<_>>>()?;
    let regions = regions(explainer.model(), &part(options.permuted_rows), &names)?;
    Ok((
        GlobalExplanation {
            rows: explanation.rows(),
            background: explainer.background().rows(),
            columns: explanation.columns().to_vec(),
            answers: explanation.answers().to_vec(),
            base: (0..answers).map(|answer| explanation.base(0, answer)).collect(),
            contributions,
            errors: (0..answers).map(|answer| explanation.typical_error(answer)).collect(),
            permutation,
            interactions: pairs,
            dependence,
            regions,
        },
        warnings,
    ))
}

/// Some of `rows` rows, in order.
fn sample(rows: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..rows).collect();
    if count < rows {
        Rng::new(seed, streams::BACKGROUND.wrapping_add(1)).shuffle(&mut chosen);
        chosen.truncate(count);
        chosen.sort_unstable();
    }
    chosen
}
