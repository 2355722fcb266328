//! Encoded tables, cached: concurrent fits of the same rows with the same preprocessing use the same one.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Method;
use negmm_data::{ColumnRoles, Encoder, PredictedRows, Table};
use negmm_dist::{CensoredTargets, Hint, Result, Warning};
use negmm_nn::dataset::Dataset;
use negmm_nn::dataset::split::repeated;

/// Fraction of rows with repeated inputs above which there is a warning, if there are more inputs than FEW_INPUTS.
const FEW_REPEATS: f64 = 0.05;
const FEW_INPUTS: usize = 3;

/// The preprocessing that a method needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PreprocessingConfig {
    soft_clip: Option<f64>,
    normal_scores: bool,
    keeps_missing: bool,
    /// Whether it can be fitted to a single row.
    guesses: bool,
}

/// Encoded training rows.
#[derive(Debug)]
pub(crate) struct EncodedTable {
    /// The encoded rows.
    pub(super) data: Arc<Dataset>,
    pub(super) encoder: Encoder,
    /// Number of rows of the table.
    pub(super) rows: usize,
    /// The rows that are encoded.
    pub(super) predicted: PredictedRows,
    /// Targets of the encoded rows, in the original unit.
    pub(super) targets: Vec<f64>,
    /// Censoring intervals of the targets, where some are censored.
    pub(super) known: Option<CensoredTargets>,
    /// Row weights, where they are not all equal.
    pub(super) weights: Option<Vec<f64>>,
    pub(super) warnings: Vec<Warning>,
}

/// The encoded tables of fits in progress.
#[derive(Debug, Default)]
pub(crate) struct EncodingCache(Mutex<Vec<Preparation>>);

/// Rows of a table, and their encoding while a fit uses it.
#[derive(Debug)]
struct Preparation {
    rows: Vec<usize>,
    manner: PreprocessingConfig,
    prepared: Weak<EncodedTable>,
}

impl PreprocessingConfig {
    pub(crate) fn of(method: &Method, inputs: &ColumnRoles) -> Self {
        let alone = inputs.sequence.is_none();
        Self {
            soft_clip: method.soft_clip().filter(|_| alone),
            normal_scores: alone && method.quantile_transform(),
            keeps_missing: method.keeps_missing(),
            guesses: method.as_auto().is_some(),
        }
    }
}

impl EncodedTable {
    pub(crate) fn new(table: &Table, target: &str, inputs: &ColumnRoles, manner: PreprocessingConfig) -> Result<Self> {
        let mut encoder =
            Encoder::fit(table, target, inputs)?.keeping_missing(manner.keeps_missing).soft_clipping(manner.soft_clip);
        if manner.normal_scores {
            encoder = encoder.adding_normal_scores(table, inputs)?;
        }
        let (targets, known) = (encoder.targets(table)?.into_owned(), encoder.known(table)?);
        let mut warnings = encoder.oddities(table);
        let guessed = table.rows() == 1 && manner.guesses;
        if guessed {
            warnings.push(Warning::new(
                "a single row says nothing of the spread: the sd is a guess, the target's own size",
            ));
        }
        if encoder.target().constant && !guessed {
            warnings.push(Warning::new(format!(
                "the target {target:?} is {} in every row: every prediction will be that, with a tiny sd",
                encoder.target().mean
            )));
        }
        if encoder.features() == 0 {
            warnings.push(Warning::new("no input column varies: every row will get the same prediction"));
        }
        let weights = encoder.sample_weights(table, inputs.weight.as_deref())?.map(|weights| weights.into_owned());
        let (mut data, _) = encoder.encode(table)?;
        data = data.with_atoms(encoder.target().scaled_atoms()).with_bounds(encoder.target().scaled_bounds());
        if let Some((lower, upper)) = encoder.target().intervals(&targets, known.as_ref()) {
            data = data.with_intervals(lower, upper);
        }
        if let Some(weights) = &weights {
            data = data.with_sample_weights(weights);
        }
        if let Some(group) = &inputs.group {
            data = data.with_groups(table.groups(group)?.into_iter());
        } else if inputs.sequence.is_none() && encoder.inputs().len() > FEW_INPUTS {
            // With fewer inputs, rows are equal by chance.
            let repeats = repeated(&data.equal_inputs());
            if repeats > FEW_REPEATS {
                let message = format!("{:.0} % of the rows have the inputs of another row", 100.0 * repeats);
                let hint = Hint::NameColumn { option: "group" }
                    .when("to hold out rows of one person, machine or batch together");
                warnings.push(Warning::new(message).with_hint(hint));
            }
        }
        let (rows, predicted) = (table.rows(), encoder.predicted_rows(table.rows()));
        Ok(Self { data: Arc::new(data), encoder, rows, predicted, targets, known, weights, warnings })
    }
}

impl EncodingCache {
    /// The encoding of these rows, which is computed unless a fit in progress has it.
    pub(crate) fn find(
        &self,
        rows: &[usize],
        manner: PreprocessingConfig,
        make: impl FnOnce() -> Result<EncodedTable>,
    ) -> Result<Arc<EncodedTable>> {
        let known = || {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|one| one.prepared.strong_count() > 0);
            let same = |one: &&Preparation| one.manner == manner && one.rows == rows;
            all.iter().find(same).and_then(|one| one.prepared.upgrade())
        };
        if let Some(prepared) = known() {
            return Ok(prepared);
        }
        // Two fits that need it at the same time both compute it, without waiting.
        let prepared = Arc::new(make()?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Preparation { rows: rows.to_vec(), manner, prepared: Arc::downgrade(&prepared) });
        Ok(prepared)
    }
}
