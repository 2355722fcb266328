//! The random streams of the library: one for each purpose.
//!
//! The highest byte of a stream's number is its purpose; the other bytes number the streams of one purpose. Numbers
//! below 2^56 are left to callers.
//!
//! Streams of [`Rng`](crate::Rng) are sequential. Those of [`Counter`](crate::math::counter::Counter) are drawn by number, so that
//! other engines can reproduce them.

/// The first stream of a purpose.
const fn of(purpose: u8) -> u64 {
    (purpose as u64) << 56
}

/// A network's initial parameters.
pub const PARAMETERS: u64 = of(1);
/// The order of a network's training rows, by pass. Counter.
pub const ORDER: u64 = of(2);
/// The units that dropout drops, by step. Counter.
pub const DROPOUT: u64 = of(3);
/// What an objective draws, by step. Counter.
pub const OBJECTIVE: u64 = of(4);
/// The validation rows of single networks, ensembles and trees: the same for all. Sequences validate on their last rows instead.
pub const VALIDATION: u64 = of(5);
/// The folds of `auto`.
pub const FOLDS: u64 = of(6);
/// The rows and columns of each round of boosting.
pub const BOOSTING: u64 = of(7);
/// The folds of a comparison.
pub const SPLITS: u64 = of(8);
/// The rows that each repeat of a comparison scores, one for each repeat.
pub const REPEATS: u64 = of(9);
/// The seeds of networks that are trained together, one for each.
pub const MEMBERS: u64 = of(10);
/// The configurations that a search draws.
pub const CONFIGURATIONS: u64 = of(11);
/// The rows of a rung of a search, one for each split.
pub const RUNGS: u64 = of(12);
/// Random targets of predictions, one for each row.
pub const DRAWS: u64 = of(13);
/// The folds of target encodings.
pub const STATISTICS: u64 = of(14);
/// The horizons that forecasters are trained on.
pub const HORIZONS: u64 = of(15);
/// Paths of forecasts, one for each origin.
pub const PATHS: u64 = of(16);
/// The rows of a calibration.
pub const CALIBRATION: u64 = of(17);
/// The randomised PIT of monitored targets where the distribution function jumps.
pub const JUMPS: u64 = of(18);

/// The rows and features of a forest, one for each tree.
pub const FOREST: u64 = of(19);
/// The directions and lattices of joint scores and probabilities. Counter.
pub const DIRECTIONS: u64 = of(20);
/// Random vectors of joint predictions, one for each row.
pub const JOINT_DRAWS: u64 = of(21);
/// The folds, dequantisation and expansions of joint models.
pub const JOINT_FIT: u64 = of(22);

/// The rows of the check whether neighbours in time are alike.
pub const TIME_CHECK: u64 = of(23);

/// The rows that are held out of very many.
pub const HELD_OUT: u64 = of(24);
/// The rows of a file that are read, where not all are.
pub const SAMPLE: u64 = of(25);

/// The training rows of linear models and trees, where there are very many.
pub const LEARNT: u64 = of(28);

/// The background rows of explanations.
pub const BACKGROUND: u64 = of(26);
/// The permutations of Shapley values, one for each background row.
pub const EXPLANATIONS: u64 = of(27);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_purposes_share_a_stream() {
        let all = [
            PARAMETERS,
            ORDER,
            DROPOUT,
            OBJECTIVE,
            VALIDATION,
            FOLDS,
            BOOSTING,
            SPLITS,
            REPEATS,
            MEMBERS,
            CONFIGURATIONS,
            RUNGS,
            DRAWS,
            STATISTICS,
            HORIZONS,
            PATHS,
            CALIBRATION,
            JUMPS,
            FOREST,
            DIRECTIONS,
            JOINT_DRAWS,
            JOINT_FIT,
            TIME_CHECK,
            HELD_OUT,
            SAMPLE,
            LEARNT,
            BACKGROUND,
            EXPLANATIONS,
        ];
        let purposes: std::collections::HashSet<u64> = all.iter().map(|stream| stream >> 56).collect();
        assert_eq!(purposes.len(), all.len());
        assert!(!purposes.contains(&0));
    }
}
