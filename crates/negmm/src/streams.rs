//! Responsible for every random stream of the library: which number of a seed's streams serves which purpose.

/// A network's initial weights.
pub(crate) const WEIGHTS: u64 = 0;
/// The order in which a network sees its training rows.
pub(crate) const ORDER: u64 = 1;
/// The units that dropout switches off.
pub(crate) const DROPOUT: u64 = 2;
/// The validation rows, the same for every method.
pub(crate) const VALIDATION: u64 = 3;
/// What an objective draws in each step.
pub(crate) const OBJECTIVE: u64 = 4;
/// The folds of `auto`.
pub(crate) const FOLDS: u64 = 5;
/// The rows and columns of each round of boosting.
pub(crate) const BOOSTING: u64 = 5;
/// The parts of training rows that get the statistics of the others.
pub(crate) const STATISTICS: u64 = 6;
/// The folds of a comparison.
pub(crate) const SPLITS: u64 = 0;
/// The seeds of the members of an ensemble, from here on.
pub(crate) const MEMBERS: u64 = 1000;
/// The configurations that a search draws.
pub(crate) const CONFIGURATIONS: u64 = 2000;
/// The rows of a rung of a search, from here on, one for each split.
pub(crate) const RUNGS: u64 = 3000;
