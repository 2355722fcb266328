//! Several targets at once: one joint distribution for each row.
//!
//! A joint model pools forms of the joint distribution, each a Gaussian mixture over vectors: networks that learn all targets
//! together, a chain of models of single targets (y₁ | x, then y₂ | x, y₁ …), a Gaussian copula over models of single
//! targets, a forest, a linear model and the constant. Marginals, conditionals, linear combinations and densities of the pool are in closed form.
//!
//! ```
//! use negmm::joint::{Combination, fit_joint};
//! use negmm::method::NeGmm;
//! use negmm::{Method, Table, data::Column};
//!
//! let x: Vec<f64> = (0..200).map(|row| f64::from(row % 20)).collect();
//! let noise: Vec<f64> = (0..200).map(|row| f64::from(row * 37 % 101) / 50.0 - 1.0).collect();
//! let sum = |a: &[f64], b: &[f64], c: f64| a.iter().zip(b).map(|(a, b)| a + c * b).collect::<Vec<f64>>();
//! let table = Table::new(vec![
//!     ("revenue", Column::Numbers(sum(&x, &noise, 2.0))),
//!     ("cost", Column::Numbers(sum(&x, &noise, 1.0))),
//!     ("x", Column::Numbers(x)),
//! ])?;
//! let mut method = Method::from(NeGmm::default()).for_several_targets();
//! method.set("epochs", "5")?;
//! let model = fit_joint(&table, &["revenue", "cost"], &method)?;
//! let predictions = model.predict(&table)?;
//! let profit = predictions.combination(&Combination::parse("profit = revenue - cost", &predictions.names())?);
//! assert_eq!(profit.mean().len(), 200);
//! let cost = predictions.conditional(&[0], &vec![12.0; 200])?.marginal(0);
//! assert_eq!(cost.interval(0.9)?.lower.len(), 200);
//! # Ok::<(), negmm::Error>(())
//! ```

mod chain;
mod combination;
mod copula;
mod file;
mod fit;
mod forest;
mod linear;
mod metrics;
mod networks;
mod nodes;
mod pool;
mod predictions;
mod record;
mod regions;
mod scales;
mod stacking;
mod targets;

use std::path::Path;
use std::sync::Arc;

pub use chain::Chain;
pub use combination::Combination;
pub use copula::Copula;
pub use fit::{FittedJoint, fit_joint, fit_joint_with};
pub use linear::JointLinear;
pub use metrics::{JointMetrics, REGION_COVERAGES, SCORE_DRAWS};
pub use negmm_dist::joint::directions;
pub use predictions::JointPredictions;
pub(crate) use predictions::find as find_target;
pub use record::JointRecord;
pub use regions::{JointRegion, RegionKind};
pub(crate) use targets::check_joint_targets;

use crate::conformal::Calibration;
use crate::method::{Member, Method, Predictor};
use crate::model::{Fingerprint, SeenRows};
use negmm_data::{Encoder, Table, Target, Warnings};
use negmm_dist::{Error, JointMixtures, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::forest::JointForest;
use negmm_nn::net::{Head, JointHead};
use scales::Scales;

/// A fitted model of several targets.
#[derive(Clone, Debug, PartialEq)]
pub struct JointModel {
    method: Method,
    encoder: Encoder,
    targets: Arc<[Target]>,
    /// The forms and their weights, which sum to 1.
    parts: Vec<JointPart>,
    /// The covariance of the standardised targets in training: the constant baseline.
    covariance: Vec<f64>,
    /// The factors of sds.
    scales: Scales,
    record: JointRecord,
    /// The calibration of regions, where there is one.
    calibration: Option<Calibration>,
    /// The fingerprint of the training rows; `None` in models of older versions.
    fingerprint: Option<Fingerprint>,
}

/// A form of the joint distribution, and its weight in the pool.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPart {
    /// Its stacking weight.
    pub weight: f64,
    /// The form.
    pub form: JointForm,
}

/// A form of the joint distribution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointForm {
    /// Networks of all targets, pooled with equal weights.
    Networks {
        /// One or more.
        members: Vec<Member>,
        /// Their head.
        head: JointHead,
    },
    /// A Gaussian copula over models of single targets.
    Copula(Copula),
    /// A chain of models of single targets.
    Chain(Chain),
    /// A linear model.
    Linear(JointLinear),
    /// One Gaussian for every row, around the means of the targets in training.
    Constant {
        /// The covariance of the standardised targets, targets × targets.
        covariance: Vec<f64>,
    },
    /// A random forest whose leaves are Gaussians over vectors.
    Forest {
        /// The forest.
        forest: JointForest,
        /// The target encoding of its inputs.
        statistics: Arc<TargetEncoding>,
    },
}

impl JointForm {
    /// Its name, as messages have it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Networks { .. } => "joint networks",
            Self::Copula(_) => "copula",
            Self::Chain(_) => "chain",
            Self::Linear(_) => "linear",
            Self::Constant { .. } => "constant",
            Self::Forest { .. } => "forest",
        }
    }

    /// The mixtures of each row, in units of the standardised targets.
    fn predict(&self, targets: &[Target], table: &Table, data: &Dataset) -> Result<JointMixtures> {
        match self {
            Self::Networks { members, head } => networks::predict(members, head, data),
            Self::Copula(copula) => Ok(targets::standardise(targets, copula.predict(table)?)),
            Self::Chain(chain) => Ok(targets::standardise(targets, chain.predict(table)?)),
            Self::Linear(linear) => linear.predict(data),
            Self::Constant { covariance } => {
                linear::around(targets.len(), vec![0.0; targets.len() * data.len()], covariance)
            }
            Self::Forest { forest, statistics } => forest::predict(forest, statistics, data),
        }
    }
}

impl JointModel {
    /// One joint distribution for each row of `table`.
    pub fn predict(&self, table: &Table) -> Result<JointPredictions> {
        self.predict_with_warnings(table).map(|(predictions, _)| predictions)
    }

    /// As [`JointModel::predict`], with warnings about the rows.
    pub fn predict_with_warnings(&self, table: &Table) -> Result<(JointPredictions, Warnings)> {
        let (data, mut warnings) = self.encoder.encode_features(table)?;
        if let Some(novelty) = data.novelty() {
            warnings.count_outside(novelty);
        }
        let of_part = |part: &JointPart| part.form.predict(&self.targets, table, &data);
        let parts = self.parts.iter().map(of_part).collect::<Result<Vec<_>>>()?;
        let weighted: Vec<_> = self.parts.iter().zip(&parts).map(|(part, mixtures)| (part.weight, mixtures)).collect();
        let mut pool = self.scales.apply(JointMixtures::pool(&weighted));
        if self.method.is_moment_matched() {
            pool = pool.moment_matched();
        }
        Ok((self.in_units(pool), warnings))
    }

    /// Standardised mixtures in the units of the targets.
    fn in_units(&self, mixtures: JointMixtures) -> JointPredictions {
        let (shifts, scales): (Vec<f64>, Vec<f64>) =
            self.targets.iter().map(|target| (target.mean, target.scale)).unzip();
        JointPredictions::new(mixtures.rescale(&shifts, &scales), self.targets.clone())
    }

    /// The constant baseline for this number of rows: one Gaussian with the mean and covariance of the training targets.
    pub fn baseline(&self, rows: usize) -> JointPredictions {
        let d = self.targets.len();
        let one = JointMixtures::from_covariances(d, 1, vec![1.0], vec![0.0; d], &self.covariance);
        // The covariance was checked when the model was made.
        let one = one.unwrap_or_else(|_| unreachable!("a covariance of finite numbers"));
        self.in_units(one.select(&vec![0; rows]))
    }

    /// The targets of each row in their units, rows × targets; NaN where unknown.
    ///
    /// # Errors
    /// When a column is absent, or a cell is not a number.
    pub fn observed(&self, table: &Table) -> Result<Vec<f64>> {
        targets::values(table, &self.names())
    }

    /// A hash of each row of a table: of its inputs and of all its targets.
    ///
    /// # Errors
    /// When the table cannot be encoded, or lacks a target.
    pub fn row_hashes(&self, table: &Table) -> Result<Vec<u64>> {
        Ok(self.encoder.encode_features(table)?.0.row_hashes(&self.observed(table)?))
    }

    /// How many rows of a table, with their targets, the model was fitted to; `None` for models of older versions.
    ///
    /// # Errors
    /// When the table cannot be encoded, or lacks a target.
    pub fn seen_rows(&self, table: &Table) -> Result<Option<SeenRows>> {
        self.fingerprint.as_ref().map(|print| Ok(print.seen(&self.row_hashes(table)?))).transpose()
    }

    /// The same of a table without the columns of the targets: `y` has them, rows × targets.
    ///
    /// # Errors
    /// When the table cannot be encoded, or rows lack a target.
    pub fn seen_rows_of(&self, table: &Table, y: &[f64]) -> Result<Option<SeenRows>> {
        let Some(print) = &self.fingerprint else { return Ok(None) };
        let expected = table.rows() * self.targets.len();
        if y.len() != expected {
            return Err(Error::options(format!("expected {expected} targets, found {}", y.len())));
        }
        Ok(Some(print.seen(&self.encoder.encode_features(table)?.0.row_hashes(y))))
    }

    /// The method and its settings.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The encoder of the inputs.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The targets.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The names of the targets.
    pub fn names(&self) -> Vec<&str> {
        self.targets.iter().map(|target| target.name.as_str()).collect()
    }

    /// The forms of the pool.
    pub fn parts(&self) -> &[JointPart] {
        &self.parts
    }

    /// The same with other forms, whose weights must sum to 1.
    ///
    /// # Errors
    /// When they do not.
    pub fn with_parts(&self, parts: Vec<JointPart>) -> Result<Self> {
        let total: f64 = parts.iter().map(|part| part.weight).sum();
        if !parts.iter().all(|part| part.weight > 0.0) || (total - 1.0).abs() > 1e-9 {
            return Err(Error::options("the weights of the forms must be above 0 and sum to 1"));
        }
        Ok(Self { parts, ..self.clone() })
    }

    /// The factor of the sds of each target.
    pub fn sigma_scales(&self) -> &[f64] {
        &self.scales.of_targets
    }

    /// The matrix A (targets × targets) with which the covariances S of standardised targets become A S Aᵀ after that: factors of
    /// the sds along the main directions of the errors. `None` where they are 1.
    pub fn direction_scales(&self) -> Option<&[f64]> {
        self.scales.of_directions.as_deref()
    }

    /// The calibration of conformal regions.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The same with a calibration: see [`JointPredictions::add_to`].
    #[must_use]
    pub fn calibrated(self, calibration: Calibration) -> Self {
        Self { calibration: Some(calibration), ..self }
    }

    /// Components of a prediction at most.
    pub fn most_components(&self) -> usize {
        let of_form = |form: &JointForm| match form {
            JointForm::Networks { members, head } => members.len() * head.components,
            JointForm::Copula(_) | JointForm::Chain(_) => nodes::NODES,
            JointForm::Linear(_) | JointForm::Constant { .. } => 1,
            JointForm::Forest { forest, .. } => forest.trees.len(),
        };
        self.parts.iter().map(|part| of_form(&part.form)).sum()
    }

    /// The training record.
    pub fn record(&self) -> &JointRecord {
        &self.record
    }

    /// Number of parameters: weights and biases.
    pub fn parameters(&self) -> usize {
        let of_form = |form: &JointForm| match form {
            JointForm::Networks { members, .. } => {
                members.iter().map(|member| member.network.parameters()).sum::<usize>()
            }
            JointForm::Copula(Copula { models, .. }) | JointForm::Chain(Chain { links: models }) => {
                models.iter().map(|model| model.predictor().parameters()).sum()
            }
            JointForm::Linear(linear) => linear.coefficients.len() + linear.intercepts.len(),
            JointForm::Constant { .. } => 0,
            JointForm::Forest { forest, .. } => forest.leaves(),
        };
        self.parts.iter().map(|part| of_form(&part.form)).sum()
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&crate::model::bytes_of(path)?).map_err(|error| error.in_file(path))
    }

    /// Writes a model file, whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written to, or the disk is full.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        crate::model::save(&self.to_bytes()?, path.as_ref())
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        file::read(bytes)?.ok_or_else(|| Error::model("this file holds a model of one target or a forecaster"))
    }

    /// The bytes of the model file: the same model gives the same bytes. They are read back before.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        crate::model::read_back(file::write(self)?, Self::from_bytes)
    }
}

/// The predictor of networks, as the model file has it.
fn predictor(members: &[Member], head: JointHead) -> Predictor {
    Predictor::Networks { members: members.to_vec(), head: Head::Joint(head), pool: crate::method::Pool::Mixture }
}
