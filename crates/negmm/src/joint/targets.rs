//! Several target columns: checked against each other, standardised, with unknown cells.

use std::sync::Arc;

use crate::method::Method;
use crate::model::{PreprocessingConfig, encode};
use negmm_data::{ColumnRoles, Encoder, Table, Target};
use negmm_dist::math::counter::Counter;
use negmm_dist::quote::quoted;
use negmm_dist::{Error, JointMixtures, Result, Warning, streams};
use negmm_nn::dataset::Dataset;
use negmm_nn::net::{Bounds, MAX_TARGETS};

/// Targets whose absolute correlation is at least 1 minus this are refused: they determine each other.
const DEPENDENT: f64 = 1e-10;
/// A target that fewer rows have is refused.
const LEAST_WITH_TARGET: usize = 2;

/// A training table with several targets, encoded.
pub(super) struct EncodedTargets {
    /// The rows that have at least one target.
    pub(super) table: Table,
    /// Their numbers in the table that was given, from 0.
    pub(super) given_rows: Vec<usize>,
    pub(super) encoder: Encoder,
    /// Features and standardised targets; targets on a grid are dequantised.
    pub(super) data: Arc<Dataset>,
    pub(super) targets: Vec<Target>,
    /// Rows × targets in their units, NaN where unknown.
    pub(super) y: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) warnings: Vec<Warning>,
}

/// The numbers of all targets, rows × targets; NaN where unknown.
///
/// # Errors
/// When a column is absent or has a cell that is not a number.
pub(super) fn values(table: &Table, names: &[impl AsRef<str>]) -> Result<Vec<f64>> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let name = name.as_ref();
        let absent = || table.locate(Error::data(table.absent(&[name])));
        columns.push(table.numbers(name).ok_or_else(absent)??);
    }
    Ok((0..table.rows()).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

/// Checks the names of several targets.
pub(super) fn check_names(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Err(Error::options("a joint model has at least 1 target"));
    }
    if names.len() > MAX_TARGETS {
        return Err(Error::options(format!("a joint model has at most {MAX_TARGETS} targets, found {}", names.len())));
    }
    match (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        Some(at) => Err(Error::options(format!("the target {} is named twice", quoted(&names[at])))),
        None => Ok(()),
    }
}

/// Checks that several columns can be the targets of a joint model.
///
/// # Errors
/// As a fit would have.
pub(crate) fn check_joint_targets(table: &Table, targets: &[&str], roles: &ColumnRoles) -> Result<()> {
    let names: Vec<String> = targets.iter().map(|name| name.to_string()).collect();
    EncodedTargets::new(table, &names, &Method::default(), roles, 0).map(drop)
}

impl EncodedTargets {
    /// The encoded table of a fit.
    ///
    /// # Errors
    /// When a column cannot be a target, or the targets determine each other.
    pub(super) fn new(
        table: &Table,
        names: &[String],
        method: &Method,
        roles: &ColumnRoles,
        seed: u64,
    ) -> Result<Self> {
        let encoded = Self::unchecked(table, names, method, roles, seed)?;
        encoded.check()?;
        Ok(encoded)
    }

    /// The training rows of a fold; `None` where they are too few or too much alike to learn from, as a whole table must not be.
    pub(super) fn of_fold(
        table: &Table,
        names: &[String],
        method: &Method,
        roles: &ColumnRoles,
        seed: u64,
    ) -> Result<Option<Self>> {
        let all = values(table, names)?;
        let count = |target: usize| all.iter().skip(target).step_by(names.len()).filter(|y| !y.is_nan()).count();
        if (0..names.len()).any(|target| count(target) < LEAST_WITH_TARGET) {
            return Ok(None);
        }
        Self::unchecked(table, names, method, roles, seed).map(|own| own.check().is_ok().then_some(own))
    }

    fn unchecked(table: &Table, names: &[String], method: &Method, roles: &ColumnRoles, seed: u64) -> Result<Self> {
        check_names(names)?;
        check_roles(roles)?;
        let all = values(table, names)?;
        let d = names.len();
        let known = |row: &usize| all[row * d..][..d].iter().any(|y| !y.is_nan());
        let rows: Vec<usize> = (0..table.rows()).filter(known).collect();
        if rows.is_empty() {
            return Err(table.locate(Error::data("no row has a target")));
        }
        let mut warnings = Vec::new();
        let table = if rows.len() == table.rows() { table.clone() } else { table.select_rows(&rows) };
        let y = if rows.len() * d == all.len() { all } else { values(&table, names)? };
        let count = |target: usize| y.iter().skip(target).step_by(d).filter(|y| !y.is_nan()).count();
        let least = (0..d).find(|target| count(*target) < LEAST_WITH_TARGET);
        if let Some(target) = least {
            let message = format!("fewer than {LEAST_WITH_TARGET} rows have the target {}", quoted(&names[target]));
            return Err(table.locate(Error::data(message)));
        }
        let config = PreprocessingConfig::of(method, roles);
        let mut encoded = Vec::with_capacity(d);
        for (target, name) in names.iter().enumerate() {
            let others = names.iter().filter(|other| *other != name).cloned();
            let roles = roles.clone().ignore(roles.ignore.iter().cloned().chain(others));
            let own =
                if count(target) == table.rows() { table.clone() } else { table.select_rows(&table.rows_with(name)?) };
            encoded.push(encode(&own, name, &roles, config)?);
        }
        // Features are learnt beside a target that all rows have, where there is one.
        let first = (0..d).find(|target| encoded[*target].rows == table.rows());
        let of_features = &encoded[first.unwrap_or(0)];
        let encoder = of_features.encoder.clone();
        let mut data = match first {
            Some(_) => of_features.data.without_intervals(),
            None => encoder.encode_features(&table)?.0,
        };
        let weights =
            roles.weight.as_deref().map(|name| table.sample_weights(name).map(|list| list.to_vec())).transpose()?;
        if let (None, Some(weights)) = (first, &weights) {
            data = data.with_sample_weights(weights);
        }
        if let (None, Some(group)) = (first, &roles.group) {
            data = data.with_groups(table.groups(group)?.into_iter());
        }
        warnings.extend(of_features.warnings.iter().cloned());
        for (target, other) in encoded.iter().enumerate().filter(|(target, _)| *target != first.unwrap_or(0)) {
            let own = |warning: &&Warning| warning.to_string().contains(&names[target]);
            warnings.extend(other.warnings.iter().filter(own).cloned());
        }
        let targets: Vec<Target> = encoded.iter().map(|encoded| encoded.encoder.target().clone()).collect();
        let missing = (0..table.rows()).filter(|row| y[row * d..][..d].iter().any(|y| y.is_nan())).count();
        if missing > 0 {
            warnings.push(Warning::new(format!(
                "{missing} of {} rows lack some targets: what they have is learnt from by its marginal distribution",
                table.rows()
            )));
        }
        let data = data
            .with_bounds(Bounds::NONE)
            .with_atoms(Vec::new())
            .with_joint_targets(d, standardised(&targets, &y, seed));
        Ok(Self { table, given_rows: rows, encoder, data: Arc::new(data), targets, y, weights, warnings })
    }

    /// Refuses constant targets, and targets that determine each other.
    fn check(&self) -> Result<()> {
        check_targets(&self.table, &self.targets, &self.y)?;
        match self.covariance_of_complete_rows() {
            Some(covariance) => check_combinations(&self.table, &self.targets, &covariance),
            None => Ok(()),
        }
    }

    /// The covariance of the standardised targets of the rows that have all of them; `None` where these are too few to show
    /// that a target follows from the others.
    fn covariance_of_complete_rows(&self) -> Option<Vec<f64>> {
        let d = self.targets.len();
        let rows: Vec<Vec<f64>> =
            (0..self.table.rows()).filter(|row| self.is_complete(*row)).map(|row| self.scaled(row)).collect();
        let count = rows.len() as f64;
        let mean = |target: usize| rows.iter().map(|row| row[target]).sum::<f64>() / count;
        let means: Vec<f64> = (0..d).map(mean).collect();
        let entry = |at: usize| {
            let product = |row: &Vec<f64>| (row[at / d] - means[at / d]) * (row[at % d] - means[at % d]);
            rows.iter().map(product).sum::<f64>() / count
        };
        (rows.len() > d + 1).then(|| (0..d * d).map(entry).collect())
    }

    /// The names of the targets.
    pub(super) fn names(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.clone()).collect()
    }

    /// Whether a row has all targets.
    pub(super) fn is_complete(&self, row: usize) -> bool {
        let d = self.targets.len();
        self.y[row * d..][..d].iter().all(|y| !y.is_nan())
    }

    /// Rows that have all targets.
    pub(super) fn complete_rows(&self) -> usize {
        (0..self.table.rows()).filter(|row| self.is_complete(*row)).count()
    }

    /// The standardised targets of a row.
    pub(super) fn scaled(&self, row: usize) -> Vec<f64> {
        let d = self.targets.len();
        self.targets.iter().zip(&self.y[row * d..][..d]).map(|(target, y)| target.scaled(*y)).collect()
    }

    /// Mixtures of standardised targets in their units.
    pub(super) fn in_units(&self, mixtures: JointMixtures) -> JointMixtures {
        let (shifts, scales): (Vec<f64>, Vec<f64>) =
            self.targets.iter().map(|target| (target.mean, target.scale)).unzip();
        mixtures.rescale(&shifts, &scales)
    }

    /// Mixtures in the units of the targets, standardised.
    pub(super) fn standardise(&self, mixtures: JointMixtures) -> JointMixtures {
        standardise(&self.targets, mixtures)
    }

    /// The covariance of the standardised targets in training, from the rows that have both of a pair.
    pub(super) fn covariance(&self) -> Vec<f64> {
        let d = self.targets.len();
        let scaled = |row: usize, target: usize| self.targets[target].scaled(self.y[row * d + target]);
        let entry = |at: usize| {
            let (mut sum, mut count) = (0.0, 0.0f64);
            for row in 0..self.y.len() / d {
                let product = scaled(row, at / d) * scaled(row, at % d);
                if !product.is_nan() {
                    sum += product;
                    count += 1.0;
                }
            }
            sum / count.max(1.0)
        };
        (0..d * d).map(entry).collect()
    }
}

/// Mixtures in the units of targets, standardised.
pub(super) fn standardise(targets: &[Target], mixtures: JointMixtures) -> JointMixtures {
    let (shifts, scales): (Vec<f64>, Vec<f64>) =
        targets.iter().map(|target| (-target.mean / target.scale, 1.0 / target.scale)).unzip();
    mixtures.rescale(&shifts, &scales)
}

/// Roles that several targets do not have.
fn check_roles(roles: &ColumnRoles) -> Result<()> {
    let refuse = |what: &str| Err(Error::options(format!("{what} is for a single target")));
    match () {
        () if roles.sequence.is_some() => refuse("a sequence"),
        () if roles.time.is_some() => {
            let message = "a column of times is for a single target: fit the older rows, and evaluate the newest ones";
            Err(Error::options(message))
        }
        () if roles.target_spec.is_censored() => refuse("censoring"),
        () if roles.target_spec.discrete => refuse("a stated grid"),
        () if roles.target_spec.lower.is_some() || roles.target_spec.upper.is_some() => refuse("a bound"),
        () => Ok(()),
    }
}

/// Refuses constant targets, and pairs that determine each other.
fn check_targets(table: &Table, targets: &[Target], y: &[f64]) -> Result<()> {
    let d = targets.len();
    if let Some(target) = targets.iter().find(|target| target.constant) {
        let message = format!("the target {} is {} in every row: leave it out", quoted(&target.name), target.mean);
        return Err(table.locate(Error::data(message)));
    }
    for first in 0..d {
        for second in 0..first {
            let (mut sums, mut count) = ([0.0; 5], 0.0);
            for row in y.chunks_exact(d) {
                let (a, b) = (targets[first].scaled(row[first]), targets[second].scaled(row[second]));
                if !(a * b).is_nan() {
                    let add = [a, b, a * a, b * b, a * b];
                    sums.iter_mut().zip(add).for_each(|(sum, more)| *sum += more);
                    count += 1.0;
                }
            }
            if count < 3.0 {
                continue;
            }
            let [a, b, aa, bb, ab] = sums.map(|sum| sum / count);
            let spread = ((aa - a * a) * (bb - b * b)).sqrt();
            if spread > 0.0 && ((ab - a * b) / spread).abs() >= 1.0 - DEPENDENT {
                let (one, other) = (quoted(&targets[second].name), quoted(&targets[first].name));
                let same = y.chunks_exact(d).all(|row| row[first] == row[second]);
                let what = if same { "are identical" } else { "determine each other exactly" };
                let message = format!("the targets {one} and {other} {what}: leave one out");
                return Err(table.locate(Error::data(message)));
            }
        }
    }
    Ok(())
}

/// Refuses a target that is a linear combination of those before it; `covariance` is that of the standardised targets.
fn check_combinations(table: &Table, targets: &[Target], covariance: &[f64]) -> Result<()> {
    let d = targets.len();
    let one = JointMixtures::from_covariances(d, 1, vec![1.0], vec![0.0; d], covariance)?;
    let left = |target: usize| one.factors()[target * (target + 3) / 2];
    match (0..d).find(|target| left(*target) * left(*target) < DEPENDENT * covariance[target * (d + 1)]) {
        Some(target) => {
            let message = format!(
                "the target {} is a linear combination of the other targets: leave it out",
                quoted(&targets[target].name)
            );
            Err(table.locate(Error::data(message)))
        }
        None => Ok(()),
    }
}

/// Standardised targets. A target on a grid is spread uniformly over its cell: else its density would learn spikes.
fn standardised(targets: &[Target], y: &[f64], seed: u64) -> Vec<f32> {
    let d = targets.len();
    let counter = Counter::new(seed, streams::JOINT_FIT);
    let value = |(at, y): (usize, &f64)| {
        let target = &targets[at % d];
        let jitter = match target.grid {
            Some(step) => step * (counter.step(at as u64).uniform() - 0.5),
            None => 0.0,
        };
        if y.is_nan() { f32::NAN } else { target.scaled(y + jitter) as f32 }
    };
    y.iter().enumerate().map(value).collect()
}
