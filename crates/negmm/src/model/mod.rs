//! Models: a fitted encoder and predictor with the record of their training, and their file.

mod background;
mod drift;
mod encoding;
mod file;
mod fingerprint;
mod fit;
mod notes;
mod plan;
mod record;
mod slopes;
mod tensors;
mod time_check;
mod update;

use std::path::Path;
use std::sync::Arc;

pub use background::{BACKGROUND, Background, MOST_BACKGROUND};
pub use drift::{Drift, InputDrift};
pub(crate) use encoding::{EncodingCache, PreprocessingConfig, encode};
pub(crate) use file::{
    Document, JOINT_FORMAT, all_bytes, bytes_of, document, read, read_back, save, write, write_document,
};
pub use fingerprint::SeenRows;
pub use fit::{FitOptions, fit, fit_with};
pub use plan::{FitPlan, Fitted, HeldOut, plan, plan_scratch, plan_validated};
pub use record::Record;
pub(crate) use tensors::{
    Shape as PredictorShape, read as read_predictor, read_statistics, write as write_predictor, write_statistics,
};

pub use update::UpdateOptions;

use crate::accelerator::{Accelerator, Helper};
use crate::conformal::Calibration;
use crate::method::{Method, Predictor, Standardised};
pub(crate) use fingerprint::{Fingerprint, FingerprintShape};
use negmm_data::{Encoder, Extrapolation, Table, Warnings};
use negmm_dist::Novelty;
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Error, Hint, Predictions, Result};
use negmm_nn::dataset::Dataset;

/// Batch size of [`Model::predict_in_batches`]: a few megabytes of distributions, and work for many threads.
const BATCH: usize = 16_384;
/// Rows in a block of [`Model::predict_in_blocks`]: with 400 components each, half a megabyte.
const BLOCK: usize = 48;

/// A fitted model: everything needed to predict, with its training record.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    method: Method,
    encoder: Encoder,
    predictor: Predictor,
    record: Record,
    /// The conformal calibration, if there is one.
    calibration: Option<Calibration>,
    /// The hashes of the training rows; models of older versions have none.
    fingerprint: Option<Fingerprint>,
    /// Rows that explanations compare with; models of older versions have none.
    background: Option<Background>,
    helper: Helper,
}

impl Model {
    /// One distribution for each row of `table`, in the target's unit.
    ///
    /// For a sequence with window w, a table of n rows has n - w + 1 predictions: for the rows from the w-th (counted
    /// from 0) to the last, and for the step after the last row. Each uses the w rows before its own.
    pub fn predict(&self, table: &Table) -> Result<Predictions> {
        self.predict_with_warnings(table).map(|(predictions, _)| predictions)
    }

    /// As [`Model::predict`], with warnings about the rows: new categories, missing cells where training had none.
    pub fn predict_with_warnings(&self, table: &Table) -> Result<(Predictions, Warnings)> {
        self.predict_data(self.encoder.encode_features(table)?)
    }

    /// As [`Model::predict`], for the rows whose target [`Encoder::targets`] gives: without the step after the last
    /// row.
    pub fn predict_known(&self, table: &Table) -> Result<(Predictions, Warnings)> {
        self.predict_data(match self.encoder.sequence() {
            Some(_) => self.encoder.encode(table)?,
            None => self.encoder.encode_features(table)?,
        })
    }

    /// As [`Model::predict_with_warnings`], in batches of bounded memory: `see` gets the index of the first row of a
    /// batch and its predictions.
    ///
    /// # Errors
    /// When the table cannot be encoded, or `see` fails.
    pub fn predict_in_batches(
        &self,
        table: &Table,
        mut see: impl FnMut(usize, &Predictions) -> Result<()>,
    ) -> Result<Warnings> {
        let (data, warnings) = self.encoded_features(table)?;
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        for (batch, rows) in rows.chunks(BATCH).enumerate() {
            see(batch * BATCH, &self.predict_encoded(&data.select(rows))?)?;
        }
        Ok(warnings)
    }

    fn predict_data(&self, (data, mut warnings): (Dataset, Warnings)) -> Result<(Predictions, Warnings)> {
        if let Some(novelty) = data.novelty() {
            warnings.count_outside(novelty);
        }
        Ok((self.predict_encoded(&data)?, warnings))
    }

    /// The model with a fingerprint of what it was fitted to.
    pub(crate) fn with_fingerprint(self, fingerprint: Fingerprint) -> Self {
        Self { fingerprint: Some(fingerprint), ..self }
    }

    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref()
    }

    /// How many rows of a table, with their targets, the model was fitted to; `None` for models of older versions.
    ///
    /// # Errors
    /// When the table cannot be encoded.
    pub fn seen_rows(&self, table: &Table) -> Result<Option<SeenRows>> {
        self.fingerprint.as_ref().map(|print| Ok(print.seen(&self.row_hashes(table)?))).transpose()
    }

    /// The same of a table without the column of the target: `y` has the target of each row that has a prediction.
    ///
    /// # Errors
    /// When the table cannot be encoded, or there is not one target for each row.
    pub fn seen_rows_of(&self, table: &Table, y: &[f64]) -> Result<Option<SeenRows>> {
        let Some(print) = &self.fingerprint else { return Ok(None) };
        let (data, _) = self.encoder.encode(table)?;
        if data.len() != y.len() {
            return Err(Error::options(format!("expected {} targets, found {}", data.len(), y.len())));
        }
        Ok(Some(print.seen(&data.row_hashes(y))))
    }

    /// A hash of each row of a table that has a prediction and a target.
    ///
    /// # Errors
    /// When the table cannot be encoded.
    pub fn row_hashes(&self, table: &Table) -> Result<Vec<u64>> {
        let (data, _) = self.encoder.encode(table)?;
        Ok(data.row_hashes(&self.encoder.targets(table)?))
    }

    /// How far each predicted row lies outside the training ranges, and by which input.
    ///
    /// # Errors
    /// When the model was fitted by a version that did not store the ranges, or the table cannot be encoded.
    pub fn novelty(&self, table: &Table) -> Result<Novelty> {
        let (data, _) = self.encoder.encode_features(table)?;
        data.novelty().cloned().ok_or_else(novelty_is_not_known)
    }

    /// As [`Model::predict`], for rows that [`Model::encoder`] has encoded.
    ///
    /// # Errors
    /// When they have other features.
    pub fn predict_encoded(&self, data: &Dataset) -> Result<Predictions> {
        let predictions = self.predictor.predict_on(self.helper.accelerator(), data, Isa::best())?;
        Ok(self.finished(predictions, data.novelty().cloned()))
    }

    /// As [`Model::predict_encoded`], in order and where it can in blocks of rows whose distributions stay in a cache: `see` gets a
    /// block's first row and its predictions.
    ///
    /// # Errors
    /// When the rows have other features, or `see` fails.
    pub fn predict_in_blocks(
        &self,
        data: &Dataset,
        mut see: impl FnMut(usize, &Predictions) -> Result<()>,
    ) -> Result<()> {
        let accelerator = self.helper.accelerator();
        // A device gets all rows at once.
        let block = if accelerator.is_some() { usize::MAX } else { BLOCK };
        self.predictor.in_blocks(accelerator, data, (Isa::best(), block), |first, predictions| {
            let novelty = data.novelty().map(|novelty| novelty.select(first..first + predictions.len()));
            see(first, &self.finished(predictions, novelty))
        })
    }

    /// Predictions in the target's unit, wider where inputs lie outside the ranges of training.
    fn finished(&self, mut predictions: Standardised, novelty: Option<Novelty>) -> Predictions {
        if let Some(novelty) = &novelty {
            predictions = predictions.widened(novelty);
        }
        self.helper.accelerating(self.in_target_unit(predictions).with_novelty(novelty))
    }

    /// The encoded inputs of a table, with warnings about the rows: new categories, missing cells where training had none, values
    /// outside the ranges of training.
    ///
    /// # Errors
    /// When the table cannot be encoded.
    pub fn encoded_features(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        let (data, mut warnings) = self.encoder.encode_features(table)?;
        if let Some(novelty) = data.novelty() {
            warnings.count_outside(novelty);
        }
        Ok((data, warnings))
    }

    /// The model with another extrapolation outside the training ranges, see [`Encoder::extrapolating`].
    #[must_use]
    pub fn extrapolating(mut self, extrapolation: Option<Extrapolation>) -> Self {
        self.encoder = self.encoder.extrapolating(extrapolation);
        self
    }

    /// The model with an accelerator for predictions and queries on them. Results are bit-identical.
    #[must_use]
    pub fn accelerated(mut self, accelerator: Arc<dyn Accelerator>) -> Self {
        self.helper = Helper::new(accelerator);
        self
    }

    pub(crate) fn helper(&self) -> &Helper {
        &self.helper
    }

    fn in_target_unit(&self, predictions: Standardised) -> Predictions {
        self.without_support(predictions).with_sound_support(self.encoder.target().support)
    }

    /// Predictions in the target's unit, without truncation to the support.
    fn without_support(&self, predictions: Standardised) -> Predictions {
        let target = self.encoder.target();
        let atoms = target.atoms.as_ref().map_or(&[][..], |atoms| &atoms.values);
        predictions.in_unit(target.mean, target.scale).with_atoms_at(atoms)
    }

    /// The constant baseline for this number of rows: the empirical distribution of the training targets.
    pub fn baseline(&self, rows: usize) -> Predictions {
        let target = self.encoder.target();
        let atoms = target.atoms.as_ref().map_or(&[][..], |atoms| &atoms.values);
        let predictions = Predictions::from(target.marginal_distribution().repeated(rows));
        target.baseline(predictions.with_atoms_at(atoms))
    }

    /// The method and its settings.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Number of mixture components, if it predicts mixtures.
    pub fn components(&self) -> Option<usize> {
        self.predictor.components()
    }

    /// Number of members that remain distinguishable in its predictions.
    pub fn members(&self) -> usize {
        self.predictor.members()
    }

    /// The encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The predictor.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// The training record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The rows that explanations compare with: a small sample of the training rows.
    pub fn background(&self) -> Option<&Background> {
        self.background.as_ref()
    }

    /// The conformal calibration: from a calibration set, or with `auto` from out-of-fold predictions.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The conformal calibration, or an error with a hint.
    ///
    /// # Errors
    /// When there is none.
    pub fn known_calibration(&self) -> Result<&Calibration> {
        self.calibration.as_ref().ok_or_else(|| {
            Error::model("the model is not calibrated, so it has no conformal sets").with_hint(Hint::Calibrate)
        })
    }

    /// The model with a conformal calibration.
    #[must_use]
    pub fn calibrated(mut self, calibration: Calibration) -> Self {
        self.calibration = Some(calibration);
        self
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        file::load(path.as_ref())
    }

    /// Writes a model file, whole or not at all: under another name in the same folder first, which then becomes `path`.
    ///
    /// # Errors
    /// When the folder cannot be written to, or the disk is full; nothing is left then, and a file that was there stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save(&self.to_bytes()?, path.as_ref())
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        file::from_bytes(bytes)
    }

    /// The bytes of the model file: the same model gives the same bytes. They are read back before.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = file::to_bytes(self)?;
        file::read_back(bytes, Self::from_bytes)
    }
}

/// The error of a model without ranges.
pub(crate) fn novelty_is_not_known() -> Error {
    Error::model(
        "novelty is not known for this model: it was fitted by a version that did not store the training ranges",
    )
}
