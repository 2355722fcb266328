//! Forecasters: a series transform and a fitted model, which together forecast the steps ahead.

use std::path::Path;
use std::sync::Arc;

use super::baseline::Baseline;
use super::classical::Classical;
use super::coherent::EnergyScores;
use super::copula::Copula;
use super::parts::{ForecastParts, Rest};
use super::{Histories, Score, ScoredOrigins, SeriesTransform};
use crate::model::{bytes_of, read, read_back, save, write};
use crate::{Accelerator, Model};
use negmm_data::Table;
use negmm_dist::{Error, Result, Support};

/// A fitted forecaster: a pool of networks on lag features, of a combination of classical methods, and of the naive
/// forecast with the empirical distribution of recent changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecaster {
    pub(super) transform: SeriesTransform,
    pub(super) model: Model,
    pub(super) rest: Rest,
}

impl Forecaster {
    pub(super) fn new(transform: SeriesTransform, model: Model, rest: Rest) -> Self {
        Self { transform, model, rest }
    }

    /// The dependence between steps ahead.
    pub(super) fn copula(&self) -> Copula {
        self.rest.copula
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&bytes_of(path)?).map_err(|error| error.in_file(path))
    }

    /// Writes a model file, whole or not at all, as [`Model::save`] does.
    ///
    /// # Errors
    /// When the folder cannot be written to, or the disk is full.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(&self.to_bytes()?, path.as_ref())
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match read(bytes)? {
            (model, Some(parts)) => Self::of_parts(model, parts),
            (_, None) => Err(Error::model("this file has a model of rows, not a forecaster of series")),
        }
    }

    /// The bytes of the model file: the same forecaster gives the same bytes. They are read back before.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let parts = ForecastParts { transform: self.transform.clone(), rest: self.rest.clone() };
        read_back(write(&self.model, Some(parts))?, Self::from_bytes)
    }

    /// The forecaster from the parts of a model file, after validation.
    pub(crate) fn of_parts(model: Model, ForecastParts { transform, mut rest }: ForecastParts) -> Result<Self> {
        let damaged = |what: &str| Error::model(format!("the model file is damaged: {what}"));
        transform.check().map_err(|error| damaged(&error.to_string()))?;
        rest.support.check().map_err(|error| damaged(&error.to_string()))?;
        if !rest.is_sound(&transform) {
            return Err(damaged("a number of its forecasts is out of range"));
        }
        let baselines = rest.baselines.iter_mut().chain([&mut rest.recent]);
        let names = baselines.map(|baseline| &mut baseline.name);
        for name in names.chain(rest.scores.iter_mut().map(|score| &mut score.name)) {
            *name = Baseline::present_name(name);
        }
        Ok(Self { transform, model, rest })
    }

    /// The forecaster with an accelerator for predictions: [`Model::accelerated`].
    #[must_use]
    pub fn accelerated(mut self, accelerator: Arc<dyn Accelerator>) -> Self {
        self.model = self.model.accelerated(accelerator);
        self
    }

    /// The series transform.
    pub fn transform(&self) -> &SeriesTransform {
        &self.transform
    }

    /// The model of scaled changes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Stacking weight of the networks.
    pub fn network_weight(&self) -> f64 {
        self.rest.network_weight
    }

    /// Stacking weight of the classical combination; what the networks and it leave belongs to the naive forecast with
    /// the distribution of recent changes.
    pub fn classical_weight(&self) -> f64 {
        self.rest.classical_weight
    }

    /// The classical members with their mean weights in the combination, the largest first; empty in models of versions
    /// without them.
    pub fn classical_members(&self) -> Vec<(String, f64)> {
        self.rest.classical.as_ref().map_or_else(Vec::new, Classical::member_weights)
    }

    /// Held-out energy scores of all series and sums of a hierarchy together; `None` where there are none.
    pub fn energy_scores(&self) -> Option<EnergyScores> {
        self.rest.coherent.as_ref().and_then(|coherent| coherent.scores)
    }

    /// Whether means of a hierarchy are reconciled by MinT; otherwise sums are those of the series' own forecasts.
    pub fn is_reconciled(&self) -> bool {
        self.rest.coherent.as_ref().is_some_and(|coherent| coherent.reconciliation.is_some())
    }

    /// Where the held-out scores come from; `None` where there are none, or where an earlier version fitted the model and
    /// scored blocks of time between known ones.
    pub fn scored_origins(&self) -> Option<ScoredOrigins> {
        self.rest.scored
    }

    /// Held-out scores of the forecaster, which comes first, and of its baselines.
    pub fn scores(&self) -> &[Score] {
        &self.rest.scores
    }

    /// The baseline with the best held-out CRPS.
    pub fn best_baseline(&self) -> Option<&Score> {
        self.rest.scores.iter().skip(1).min_by(|a, b| a.crps.total_cmp(&b.crps))
    }

    /// The support of the target.
    pub fn support(&self) -> Support {
        self.rest.support
    }

    /// Whether it predicts densities also where values lie on a grid: [`TargetSpec::continuous`]. Unknown, and taken as
    /// false, in models of earlier versions.
    ///
    /// [`TargetSpec::continuous`]: negmm_data::TargetSpec::continuous
    pub fn is_continuous(&self) -> bool {
        self.rest.own_grids == Some(false)
    }

    /// The series of a table, with the frequency of the training data.
    ///
    /// # Errors
    /// When the table lacks a column, or its times are not increasing.
    pub fn histories(&self, table: &Table) -> Result<Histories> {
        Histories::read(table, &self.transform.spec, Some(self.transform.frequency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_an_earlier_version_wrote_as_null_is_missing() {
        let score: Score = serde_json::from_str(r#"{"name":"drift","crps":1.5,"nll":null}"#).unwrap();
        assert_eq!((score.crps, score.nll), (1.5, None));
        assert_eq!(serde_json::to_string(&score).unwrap(), r#"{"name":"drift","crps":1.5}"#);
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let values = (0..40).map(|step| f64::from(step).sin()).collect();
        let table = Table::new(vec![("y".to_string(), negmm_data::Column::Numbers(values))]).unwrap();
        let auto = crate::method::Auto::default().hidden(vec![4]).steps(5).folds(2);
        let spec = super::super::SeriesSpec::of("y").horizon(2);
        let fitted = super::super::fit_forecaster(&table, &spec, &auto, &crate::FitOptions::default()).unwrap();
        let mut forecaster = fitted.forecaster;
        assert!(forecaster.to_bytes().is_ok());
        forecaster.rest.spread = 0.0;
        let error = forecaster.to_bytes().unwrap_err().to_string();
        assert!(error.contains("cannot be written") && error.contains("out of range"), "{error}");
    }
}
