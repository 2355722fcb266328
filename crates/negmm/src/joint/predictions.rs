//! Joint predictions: one mixture over all targets for each row, in their units.

use std::sync::Arc;

use super::combination::Combination;
use negmm_data::Target;
use negmm_dist::{Error, JointMixtures, Predictions, Result, Rng, streams};

/// A joint distribution of all targets for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPredictions {
    mixtures: JointMixtures,
    targets: Arc<[Target]>,
}

impl JointPredictions {
    /// Mixtures over these targets, in their units.
    ///
    /// # Panics
    /// When their number is another.
    pub fn new(mixtures: JointMixtures, targets: Arc<[Target]>) -> Self {
        assert_eq!(mixtures.targets(), targets.len(), "one target for each variable");
        Self { mixtures, targets }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.mixtures.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.mixtures.is_empty()
    }

    /// The targets.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The names of the targets.
    pub fn names(&self) -> Vec<&str> {
        self.targets.iter().map(|target| target.name.as_str()).collect()
    }

    /// The index of the target of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn target(&self, name: &str) -> Result<usize> {
        find(&self.names(), name)
    }

    /// The mixtures.
    pub fn mixtures(&self) -> &JointMixtures {
        &self.mixtures
    }

    /// The exact distribution of one target in each row: on its grid and within its bounds, as that of a single target.
    ///
    /// # Panics
    /// When there is no such target.
    pub fn marginal(&self, target: usize) -> Predictions {
        let own = &self.targets[target];
        let atoms = own.atoms.as_ref().map_or(&[][..], |atoms| &atoms.values);
        let marginal = Predictions::from(self.mixtures.marginal(target));
        let marginal = if atoms.is_empty() { marginal } else { marginal.with_atoms_at(atoms) };
        marginal.with_sound_support(own.support)
    }

    /// The exact distribution of a linear combination of the targets in each row.
    ///
    /// # Panics
    /// When it is one of other targets.
    pub fn combination(&self, combination: &Combination) -> Predictions {
        self.mixtures.linear(&combination.coefficients, combination.offset).into()
    }

    /// The joint distribution of the other targets when those of `given` have these values, rows × given.
    ///
    /// # Errors
    /// When all targets are given, one twice, or a value is not finite or impossible.
    pub fn conditional(&self, given: &[usize], values: &[f64]) -> Result<Self> {
        if let Some(at) = (1..given.len()).find(|at| given[..*at].contains(&given[*at])) {
            return Err(Error::options(format!("the target {:?} is given twice", self.targets[given[at]].name)));
        }
        if given.len() == self.targets.len() {
            return Err(Error::options("all targets are given: nothing is left to predict"));
        }
        let mixtures = self.mixtures.conditional(given, values)?;
        let rest = (0..self.targets.len()).filter(|target| !given.contains(target));
        Ok(Self { mixtures, targets: rest.map(|target| self.targets[target].clone()).collect() })
    }

    /// Random vectors of each row: rows × draws × targets, on the grids and within the bounds of the targets. `first_row` rows come
    /// before these, so that draws do not depend on batches.
    pub fn sample(&self, draws: usize, seed: u64, first_row: u64) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.len() * draws * self.targets.len());
        for (row, mixture) in self.mixtures.rows().enumerate() {
            let rng = &mut Rng::new(seed, streams::JOINT_DRAWS + first_row + row as u64);
            let own = mixture.samples(draws, rng);
            let target = |at: usize| self.targets[at % self.targets.len()].support;
            all.extend(own.iter().enumerate().map(|(at, y)| target(at).nearest(*y)));
        }
        all
    }

    /// Some of the rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { mixtures: self.mixtures.select(rows), targets: self.targets.clone() }
    }
}

/// The index of a name.
pub(crate) fn find(names: &[&str], name: &str) -> Result<usize> {
    names.iter().position(|target| *target == name).ok_or_else(|| {
        let similar = negmm_dist::suggestion(name, names.iter().copied());
        let similar = similar.map_or(String::new(), |similar| format!(" (did you mean {similar}?)"));
        Error::options(format!("{name:?} is not a target of the model{similar}; its targets are {}", names.join(", ")))
    })
}
