//! Responsible for the sizes of `auto`: what follows from the number of rows, from whether they are a sequence, and from the preset.

use serde::{Deserialize, Serialize};

use negmm_nn::dataset::Dataset;
use negmm_nn::options::Choice;
use negmm_nn::train::Optimiser;

/// From so many rows on there are more steps, and from so many on fewer networks, and steps of more rows.
const MIDDLING: usize = 5_000;
const LARGE: usize = 15_000;
/// From so many rows on networks are wider.
const HUGE: usize = 30_000;
/// From so many numbers a row on a step of a large table is of more rows.
const WIDE: usize = 64;
/// Beyond so many rows steps grow with the rows, and beyond so many with their square root.
const MORE_STEPS: f64 = 20_000.0;
const FEWER_PASSES: f64 = 100_000.0;

/// How much `auto` trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// For a look: 5 folds, one network each, a third of the steps.
    Fast,
    /// One network for each fold, of which a small table has 10, a large one 5.
    Medium,
    /// For who can wait: 10 folds, four networks (of a sequence two) and boosted trees each, twice the steps.
    Best,
}

impl Choice for Preset {}

/// What follows from the data where nobody says something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) folds: usize,
    /// Networks of a fold.
    pub(super) ensemble_size: usize,
    /// Whether each fold has trees too.
    pub(super) trees: bool,
    pub(super) hidden: &'static [usize],
    /// Frequencies of the networks of a fold, in turn.
    pub(super) frequencies: &'static [f64],
    pub(super) batch_size: usize,
    pub(super) optimiser: Optimiser,
    pub(super) learning_rate: f64,
    pub(super) steps: usize,
    /// Validation checks of a training that runs to the end.
    pub(super) checks: usize,
    /// Checks without a better score before it stops.
    pub(super) patience: usize,
}

const SMALL: Sizes = Sizes {
    folds: 10,
    ensemble_size: 1,
    trees: false,
    hidden: &[64; 4],
    frequencies: &[0.1, 0.5],
    batch_size: 64,
    optimiser: Optimiser::Muon,
    learning_rate: 0.012,
    steps: 1_500,
    checks: 30,
    patience: 0,
};
const OF_MIDDLING: Sizes = Sizes { frequencies: &[0.5, 2.0], steps: 3_500, checks: 20, patience: 5, ..SMALL };
const OF_LARGE: Sizes = Sizes { folds: 5, frequencies: &[2.0], batch_size: 128, steps: 2_500, ..OF_MIDDLING };
const OF_WIDE: Sizes = Sizes { batch_size: 256, steps: 1_500, ..OF_LARGE };
const OF_HUGE: Sizes = Sizes { hidden: &[96; 4], ..OF_LARGE };
const OF_SEQUENCE: Sizes =
    Sizes { hidden: &[], optimiser: Optimiser::Adam, learning_rate: 0.005, steps: 2_000, checks: 40, ..SMALL };

impl Sizes {
    /// Those of these rows.
    pub(super) fn of(data: &Dataset, preset: Preset) -> Self {
        let rows = data.len();
        let medium = match rows {
            _ if data.window().is_some() => OF_SEQUENCE,
            LARGE.. if data.numbers().len() >= WIDE => OF_WIDE,
            HUGE.. => OF_HUGE,
            LARGE.. => OF_LARGE,
            MIDDLING.. => OF_MIDDLING,
            _ => SMALL,
        };
        let medium = Self { steps: medium.steps_for(rows as f64), ..medium };
        match preset {
            Preset::Fast => Self { folds: 5, steps: (medium.steps / 3).max(1), ..medium },
            Preset::Medium => medium,
            Preset::Best => {
                let sequence = data.window().is_some();
                let ensemble_size = if sequence { 2 } else { 4 };
                Self { folds: 10, ensemble_size, trees: !sequence, steps: 2 * medium.steps, ..medium }
            }
        }
    }

    /// Steps for so many rows.
    fn steps_for(&self, rows: f64) -> usize {
        let passes = rows.min(FEWER_PASSES) / MORE_STEPS * (rows / FEWER_PASSES).max(1.0).sqrt();
        (self.steps as f64 * passes.max(1.0)) as usize
    }
}
