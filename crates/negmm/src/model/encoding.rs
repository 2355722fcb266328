//! Encoding of training tables, with a cache: concurrent fits of the same rows with the same preprocessing use the same one.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Method;
use negmm_data::{ColumnRoles, EncodedTable, Encoder, EncoderOptions, ScratchTable, Table};
use negmm_dist::{Hint, Result, Warning};

/// Fraction of rows with repeated inputs above which there is a warning, if there are more inputs than FEW_INPUTS.
const FEW_REPEATS: f64 = 0.05;
const FEW_INPUTS: usize = 3;

/// The preprocessing that a method needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PreprocessingConfig {
    encoder: EncoderOptions,
    /// Whether the method can be fitted to a single row.
    guesses: bool,
}

/// The encoded tables of fits in progress.
#[derive(Debug, Default)]
pub(crate) struct EncodingCache(Mutex<Vec<CacheEntry>>);

/// Rows of a table, and their encoding while a fit uses it.
#[derive(Debug)]
struct CacheEntry {
    rows: Vec<usize>,
    config: PreprocessingConfig,
    encoded: Weak<EncodedTable>,
}

impl PreprocessingConfig {
    pub(crate) fn of(method: &Method, roles: &ColumnRoles) -> Self {
        let not_sequence = roles.sequence.is_none();
        let encoder = EncoderOptions::default()
            .keeps_missing(method.keeps_missing())
            .soft_clip(method.soft_clip().filter(|_| not_sequence))
            .quantile_transform(not_sequence && method.quantile_transform());
        Self { encoder, guesses: method.as_auto().is_some() }
    }
}

/// Encodes a training table, with warnings about the data.
pub(crate) fn encode(
    table: &Table,
    target: &str,
    roles: &ColumnRoles,
    config: PreprocessingConfig,
) -> Result<EncodedTable> {
    let mut encoded = Encoder::fit_transform(table, target, roles, config.encoder)?;
    let warnings = warnings(&encoded, target, roles, config);
    encoded.warnings.extend(warnings);
    Ok(encoded)
}

/// As [`encode`], for a table on disk.
pub(crate) fn encode_scratch(
    table: &ScratchTable,
    target: &str,
    roles: &ColumnRoles,
    config: PreprocessingConfig,
) -> Result<EncodedTable> {
    let mut encoded = EncodedTable::of_scratch(table, target, roles, config.encoder)?;
    let warnings = warnings(&encoded, target, roles, config);
    encoded.warnings.extend(warnings);
    Ok(encoded)
}

/// Warnings about tables from which little can be learnt, and about repeated rows.
fn warnings(encoded: &EncodedTable, target: &str, roles: &ColumnRoles, config: PreprocessingConfig) -> Vec<Warning> {
    let EncodedTable { encoder, data, .. } = encoded;
    let mut warnings = Vec::new();
    let guessed = encoded.rows == 1 && config.guesses;
    if guessed {
        warnings
            .push(Warning::new("a single row says nothing of the spread: the sd is a guess, the target's own size"));
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
    // With fewer inputs, rows are equal by chance.
    if roles.group.is_none() && roles.sequence.is_none() && encoder.inputs().len() > FEW_INPUTS {
        let repeats = data.repeated_inputs();
        if repeats > FEW_REPEATS {
            let message = format!("{:.0} % of the rows have the same inputs as another row", 100.0 * repeats);
            let hint =
                Hint::NameColumn { option: "group" }.when("to hold out rows of one person, machine or batch together");
            warnings.push(Warning::new(message).with_hint(hint));
        }
    }
    warnings
}

impl EncodingCache {
    /// The encoding of these rows, which is computed unless a fit in progress has it.
    pub(crate) fn find(
        &self,
        rows: &[usize],
        config: PreprocessingConfig,
        encode: impl FnOnce() -> Result<EncodedTable>,
    ) -> Result<Arc<EncodedTable>> {
        let cached = || {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|entry| entry.encoded.strong_count() > 0);
            let same = |entry: &&CacheEntry| entry.config == config && entry.rows == rows;
            all.iter().find(same).and_then(|entry| entry.encoded.upgrade())
        };
        if let Some(encoded) = cached() {
            return Ok(encoded);
        }
        // Two fits that need it at the same time both compute it, without waiting.
        let encoded = Arc::new(encode()?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(CacheEntry { rows: rows.to_vec(), config, encoded: Arc::downgrade(&encoded) });
        Ok(encoded)
    }
}
