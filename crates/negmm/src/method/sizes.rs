//! Defaults of `auto` that are chosen by the number of rows, by whether they are a sequence, and by the preset.

use serde::{Deserialize, Serialize};

use super::mixture_network::bounds_to_learn;
use negmm_nn::dataset::Dataset;
use negmm_nn::forest::ForestConfig;
use negmm_nn::options::Choice;
use negmm_nn::train::Optimiser;

/// Rows from which a table is medium-sized (more steps), and large (fewer folds, larger batches).
const MIDDLING: usize = 5_000;
const LARGE: usize = 15_000;
/// Rows from which a table is very large (wider networks).
const HUGE: usize = 30_000;
/// Numeric inputs from which a table is wide; a large and wide table has still larger batches.
const WIDE: usize = 64;
/// Features from which a table is very wide: networks have no periodic embedding, which would make ten inputs of each, the
/// cross-validation is not repeated, and boosted trees, which choose inputs, are in the pool where they take seconds: up
/// to this many cells.
pub(super) const VERY_WIDE: usize = 256;
const MOST_CELLS_OF_TREES: usize = 2_000_000;
/// Steps of short networks and of those with dropout, as fractions of the steps of the others. With fewer rows than
/// `FEWER_STEPS` short networks have fewer, in proportion to the rows down to a quarter, and every second network with
/// dropout has half: of little and noisy data they learn the noise before their schedules end.
const SHORT: f64 = 0.4;
const SHORTER: [f64; 2] = [0.135, 0.0675];
const FEWER_STEPS: usize = 750;
const LEAST_SHORT: f64 = 0.25;
/// Rows above which the number of steps grows in proportion to the rows, and above which it grows with their square
/// root.
const MORE_STEPS: f64 = 20_000.0;
const FEWER_PASSES: f64 = 100_000.0;

/// How much `auto` trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// A first look: 5 folds once, a third of the steps.
    Fast,
    /// 5 folds, of tables with fewer than 30,000 rows twice.
    Medium,
    /// Best quality and slowest: 10 folds twice, from 5,000 rows on twice the steps, more trees and boosted trees.
    Best,
}

impl Choice for Preset {}

/// The defaults for some data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) folds: usize,
    /// Networks per fold.
    pub(super) ensemble_size: usize,
    /// Repeats of the cross-validation.
    pub(super) repeats: usize,
    /// Models of all rows, for each member that selects no checkpoint; they predict instead of those of the folds. 0: those of
    /// the folds predict.
    pub(super) on_all_rows: usize,
    /// Whether the pool has members of each kind.
    pub(super) short_networks: bool,
    pub(super) dropout_networks: bool,
    pub(super) linear: bool,
    pub(super) forest: bool,
    pub(super) boosted_trees: bool,
    /// Whether predictions get wide copies of themselves.
    pub(super) tails: bool,
    /// Steps of short networks, of density networks and of those with dropout, as fractions of the steps of the others;
    /// networks with dropout take theirs in turn.
    pub(super) short_part: f64,
    pub(super) density_part: f64,
    pub(super) dropout_parts: &'static [f64],
    /// Trees of the forest for each fold.
    pub(super) n_estimators: usize,
    pub(super) hidden: &'static [usize],
    /// Sds of the initial frequencies of the periodic embedding; the networks take them in turn. None: no embedding.
    pub(super) frequencies: &'static [f64],
    pub(super) batch_size: usize,
    pub(super) optimiser: Optimiser,
    pub(super) learning_rate: f64,
    pub(super) steps: usize,
    /// Validation checks of a training that is not stopped early.
    pub(super) checks: usize,
    /// Early stopping: checks without improvement; 0: off.
    pub(super) patience: usize,
}

const SMALL: Sizes = Sizes {
    folds: 5,
    ensemble_size: 1,
    repeats: 2,
    on_all_rows: 5,
    short_networks: true,
    dropout_networks: true,
    linear: true,
    forest: true,
    boosted_trees: false,
    tails: true,
    short_part: SHORT,
    density_part: SHORT,
    dropout_parts: &[SHORTER[0]],
    n_estimators: 10,
    hidden: &[64; 4],
    frequencies: &[0.1, 0.5],
    batch_size: 64,
    optimiser: Optimiser::Muon,
    learning_rate: 0.012,
    steps: 1_500,
    checks: 30,
    patience: 8,
};
const OF_MIDDLING: Sizes =
    Sizes { short_networks: false, frequencies: &[0.5, 2.0], steps: 3_500, checks: 20, patience: 5, ..SMALL };
const OF_LARGE: Sizes = Sizes {
    on_all_rows: 0,
    dropout_networks: false,
    n_estimators: 20,
    frequencies: &[2.0],
    batch_size: 128,
    steps: 2_500,
    ..OF_MIDDLING
};
const OF_WIDE: Sizes = Sizes { repeats: 1, batch_size: 256, steps: 1_500, ..OF_LARGE };
const OF_HUGE: Sizes = Sizes { repeats: 1, hidden: &[96; 4], ..OF_LARGE };
const OF_SEQUENCE: Sizes = Sizes {
    hidden: &[],
    optimiser: Optimiser::Adam,
    learning_rate: 0.005,
    steps: 2_000,
    checks: 40,
    patience: 0,
    ..SMALL
};

impl Sizes {
    /// The defaults for these rows.
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
        let medium = if rows < FEWER_STEPS { medium.of_few(rows) } else { medium };
        let sequence = data.window().is_some();
        let plain = !sequence && !data.has_censored();
        let medium = if plain { medium } else { medium.of_networks(rows) };
        let medium = if data.features() >= VERY_WIDE && !sequence { medium.very_wide(data, plain) } else { medium };
        let medium = if bounds_to_learn(data).is_none() { medium } else { medium.at_bounds() };
        match preset {
            Preset::Fast => {
                let on_all_rows = medium.on_all_rows.min(2);
                Self {
                    folds: 5,
                    repeats: 1,
                    on_all_rows,
                    short_networks: false,
                    dropout_parts: &SHORTER[..1],
                    steps: (medium.steps / 3).max(1),
                    ..medium
                }
            }
            Preset::Medium => medium,
            Preset::Best if plain => Self {
                folds: 10,
                repeats: 2,
                on_all_rows: 2 * medium.on_all_rows,
                // With fewer rows longer training is no better.
                steps: if rows < MIDDLING { medium.steps } else { 2 * medium.steps },
                boosted_trees: true,
                n_estimators: 3 * medium.n_estimators,
                ..medium
            },
            Preset::Best => {
                let ensemble_size = if sequence { 2 } else { 4 };
                Self { folds: 10, ensemble_size, steps: 2 * medium.steps, ..medium }
            }
        }
    }

    /// The same for few rows.
    fn of_few(self, rows: usize) -> Self {
        let part = (rows as f64 / FEWER_STEPS as f64).max(LEAST_SHORT);
        Self { short_part: part * self.short_part, dropout_parts: &SHORTER, ..self }
    }

    /// The same with networks of the full number of steps as the only members.
    fn of_networks(self, rows: usize) -> Self {
        Self {
            folds: if rows < LARGE { 10 } else { 5 },
            repeats: 1,
            short_networks: false,
            dropout_networks: false,
            linear: false,
            forest: false,
            tails: false,
            ..self
        }
    }

    /// The same for targets at a bound: the moments of a mixture say little of its part between bounds, and networks with
    /// strong dropout do not learn how probable the bound is.
    fn at_bounds(self) -> Self {
        Self { dropout_networks: false, tails: false, ..self }
    }

    /// The same for a very wide table.
    fn very_wide(self, data: &Dataset, plain: bool) -> Self {
        let boosted_trees = plain && data.len() * data.features() <= MOST_CELLS_OF_TREES;
        Self { frequencies: &[], repeats: 1, on_all_rows: self.on_all_rows.min(2), boosted_trees, ..self }
    }

    /// How the forest of a fold is grown.
    pub(super) fn forest_config(&self) -> ForestConfig {
        ForestConfig { n_estimators: self.n_estimators, min_samples_leaf: 2, max_features: 0.5, max_samples: 16_000 }
    }

    /// The number of steps for this number of rows.
    fn steps_for(&self, rows: f64) -> usize {
        let passes = rows.min(FEWER_PASSES) / MORE_STEPS * (rows / FEWER_PASSES).max(1.0).sqrt();
        (self.steps as f64 * passes.max(1.0)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_nn::net::Bounds;

    fn data(rows: usize, features: usize) -> Dataset {
        let mut data = Dataset::new(features);
        (0..rows).for_each(|row| data.push(&vec![0.0; features], (row % 7) as f32));
        data
    }

    /// Short networks, dropout networks, linear model, forest, boosted trees, tails.
    fn kinds(sizes: &Sizes) -> [bool; 6] {
        let Sizes { short_networks, dropout_networks, linear, forest, boosted_trees, tails, .. } = *sizes;
        [short_networks, dropout_networks, linear, forest, boosted_trees, tails]
    }

    #[test]
    fn rows_and_preset_decide_which_members_a_pool_has() {
        let of = |rows: usize, preset: Preset| kinds(&Sizes::of(&data(rows, 1), preset));
        for (rows, short, dropout) in [
            (100, true, true),
            (4_999, true, true),
            (5_000, false, true),
            (15_000, false, false),
            (30_000, false, false),
        ] {
            assert_eq!(of(rows, Preset::Medium), [short, dropout, true, true, false, true], "{rows}");
            assert_eq!(of(rows, Preset::Fast), [false, dropout, true, true, false, true], "{rows}");
            assert_eq!(of(rows, Preset::Best), [short, dropout, true, true, true, true], "{rows}");
        }
        let censored = data(60, 1).with_intervals(vec![0.0; 60], vec![f32::INFINITY; 60]);
        for preset in [Preset::Fast, Preset::Medium, Preset::Best] {
            assert_eq!(kinds(&Sizes::of(&censored, preset)), [false; 6]);
        }
    }

    #[test]
    fn few_rows_have_shorter_schedules() {
        let of = |rows: usize, preset: Preset| {
            let Sizes { short_part, density_part, dropout_parts, .. } = Sizes::of(&data(rows, 1), preset);
            (short_part, density_part, dropout_parts)
        };
        assert_eq!(of(750, Preset::Medium), (SHORT, SHORT, &SHORTER[..1]));
        assert_eq!(of(375, Preset::Medium), (SHORT / 2.0, SHORT, &SHORTER[..]));
        assert_eq!(of(20, Preset::Best), (SHORT / 4.0, SHORT, &SHORTER[..]));
        // The preset's own steps are few.
        assert_eq!(of(375, Preset::Fast).2, &SHORTER[..1]);
    }

    #[test]
    fn a_better_preset_trains_no_less() {
        for rows in [60, 1_000, 6_000, 20_000, 40_000] {
            let [fast, medium, best] =
                [Preset::Fast, Preset::Medium, Preset::Best].map(|preset| Sizes::of(&data(rows, 1), preset));
            for (less, more) in [(fast, medium), (medium, best)] {
                let work =
                    |sizes: &Sizes| [sizes.folds * sizes.repeats, sizes.steps, sizes.n_estimators, sizes.on_all_rows];
                assert!(work(&less).iter().zip(work(&more)).all(|(less, more)| *less <= more), "{rows}");
                assert!(kinds(&less).iter().zip(kinds(&more)).all(|(less, more)| *less <= more), "{rows}");
            }
        }
    }

    #[test]
    fn very_wide_tables_have_trees_where_rows_are_few_and_no_embedding() {
        let of = |rows: usize, features: usize| Sizes::of(&data(rows, features), Preset::Medium);
        let (narrow, wide, long) =
            (of(60, VERY_WIDE - 1), of(60, VERY_WIDE), of(MOST_CELLS_OF_TREES / VERY_WIDE + 1, VERY_WIDE));
        assert!(!narrow.frequencies.is_empty() && !narrow.boosted_trees && narrow.repeats == 2);
        assert!(wide.frequencies.is_empty() && wide.boosted_trees && wide.repeats == 1 && wide.on_all_rows == 2);
        assert!(long.frequencies.is_empty() && !long.boosted_trees && long.repeats == 1);
        let censored = data(60, VERY_WIDE).with_intervals(vec![0.0; 60], vec![f32::INFINITY; 60]);
        assert!(!Sizes::of(&censored, Preset::Medium).boosted_trees);
    }

    #[test]
    fn targets_at_a_bound_have_neither_dropout_networks_nor_tails() {
        let at_bound = data(60, 1).with_bounds(Bounds { lower: Some(0.0), upper: None });
        assert_eq!(kinds(&Sizes::of(&at_bound, Preset::Medium)), [true, false, true, true, false, false]);
        let beyond = data(60, 1).with_bounds(Bounds { lower: Some(-9.0), upper: None });
        assert_eq!(kinds(&Sizes::of(&beyond, Preset::Medium)), [true, true, true, true, false, true]);
    }
}
