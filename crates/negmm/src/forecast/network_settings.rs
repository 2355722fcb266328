//! Settings of the networks of forecasters, by the number of training rows and the horizon.

use crate::method::{Auto, Preset};

/// Folds of time; each consists of two blocks. With a horizon of one step there are half as many folds from
/// `FEWEST_ROWS` rows on, with two networks per fold below `FEW_ROWS` rows (at no extra cost) and one above. These
/// settings had the best held-out scores.
const FOLDS: usize = 10;
const FEWEST_ROWS: usize = 2_000;
const FEW_ROWS: usize = 3_000;
/// Dropout and embedding frequency for horizons of several steps: up to three rows have the same origin, so that networks
/// overfit more easily, and distant steps depend smoothly on the past. Both had the best held-out scores.
const DROPOUT_AHEAD: f64 = 0.2;
const FREQUENCY_AHEAD: f64 = 0.1;
/// Optimiser steps for horizons of several steps, and the number of rows from which they apply (with a fourth layer):
/// with dropout, training takes longer.
const STEPS_AHEAD: usize = 5_000;
const ROWS_AHEAD: usize = 5_000;
/// Units per layer with which the settings above were tuned.
const UNITS: usize = 128;
/// Number of rows from which batches are larger.
const MANY_ROWS: usize = 15_000;
/// Dropout for a horizon of one step with few rows; with many rows there is none.
const DROPOUT_OF_FEW: f64 = 0.1;

/// Fills in the defaults for this number of rows and horizon.
pub(super) fn sized(auto: &Auto, rows: usize, horizon: usize) -> Auto {
    let (folds, members, dropout, embedding) = match horizon {
        1 if rows < FEWEST_ROWS => (FOLDS, None, DROPOUT_OF_FEW, None),
        1 if rows < FEW_ROWS => (FOLDS / 2, Some(2), DROPOUT_OF_FEW, None),
        1 => (FOLDS / 2, None, 0.0, None),
        _ => (FOLDS / 2, None, DROPOUT_AHEAD, Some(FREQUENCY_AHEAD)),
    };
    let (layers, batch_size) = match rows {
        MANY_ROWS.. => (4, 256),
        ROWS_AHEAD.. => (4, 64),
        _ => (3, 64),
    };
    let medium = auto.preset == Preset::Medium;
    let members = match auto.preset {
        Preset::Medium => members,
        Preset::Fast => None,
        Preset::Best => Some(2),
    };
    let longer = (medium && horizon > 1 && rows >= ROWS_AHEAD).then_some(STEPS_AHEAD);
    // Blocks of time are held out once, and only networks were compared with the baselines of series.
    Auto {
        folds: auto.folds.or(Some(folds)),
        n_repeats: auto.n_repeats.or(Some(1)),
        short_networks: auto.short_networks.or(Some(false)),
        dropout_networks: auto.dropout_networks.or(Some(false)),
        linear: auto.linear.or(Some(false)),
        forest: auto.forest.or(Some(false)),
        boosted_trees: auto.boosted_trees.or(Some(false)),
        ensemble_size: auto.ensemble_size.or(members),
        hidden: auto.hidden.clone().or_else(|| Some(vec![UNITS; layers])),
        batch_size: auto.batch_size.or(Some(batch_size)),
        steps: auto.steps.or(longer),
        dropout: auto.dropout.or(Some(dropout)),
        embedding: auto.embedding.or(embedding),
        ..auto.clone()
    }
}
