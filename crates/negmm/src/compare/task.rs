//! A prediction task: fits of a method on the training rows of a split, scored on its test rows.

use std::sync::Arc;
use std::time::Instant;

use super::{Score, Scores, Split};
use crate::model::{EncodingCache, FitPlan, PreprocessingConfig, encode};
use crate::{Method, Model};
use negmm_data::{ColumnRoles, Encoder, Table};
use negmm_dist::{Metrics, Result};
use negmm_nn::train::JobGroup;

/// A fitted model and its score.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scored {
    /// The score on the test rows.
    pub score: Score,
    /// The model.
    pub model: Model,
}

/// A target, its inputs and how it is scored: the same for every split and method.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    table: &'a Table,
    target: &'a str,
    inputs: &'a ColumnRoles,
    /// The step of a discrete target, inferred from all rows so that every split is scored in the same way.
    grid: Option<f64>,
    encoded: Arc<EncodingCache>,
}

impl<'a> Task<'a> {
    /// Predicting `target`.
    ///
    /// # Errors
    /// When a column is absent or has the wrong type.
    pub fn new(table: &'a Table, target: &'a str, inputs: &'a ColumnRoles) -> Result<Self> {
        let encoder = Encoder::fit(table, target, inputs)?;
        encoder.targets(table)?;
        Ok(Self { table, target, inputs, grid: encoder.target().grid, encoded: Arc::default() })
    }

    /// The jobs that fit a method on a split's training rows; their result is its score on the test rows.
    ///
    /// For a sequence the windows of the first test rows include the rows before them.
    ///
    /// # Errors
    /// When the data or the method's settings are invalid.
    pub fn job_group(&self, method: &Method, split: &Split, seed: u64) -> Result<JobGroup<'a, Scored>> {
        let (task, test) = (self.clone(), split.test.clone());
        let Self { table, target, inputs, .. } = *self;
        let plan = FitPlan::of(table, method, seed, || {
            let config = PreprocessingConfig::of(method, inputs);
            let encode = || encode(&table.select_rows(&split.train), target, inputs, config);
            self.encoded.find(&split.train, config, encode)
        })?;
        let jobs = plan.jobs();
        let finish = move |trained, before: f64| {
            let start = Instant::now();
            let model = plan.finish(trained)?.model;
            let seconds = before + start.elapsed().as_secs_f64();
            let metrics = task.metrics(&model, &test)?;
            Ok(Scored { score: Score { scores: Scores::OneTarget(metrics), seconds }, model })
        };
        Ok(JobGroup { jobs, finish: Box::new(finish) })
    }

    fn metrics(&self, model: &Model, test: &[usize]) -> Result<Metrics> {
        let before = test.first().map(|first| model.encoder().predicted_rows(self.table.rows()).before(*first));
        let rows: Vec<usize> = before.into_iter().flatten().chain(test.iter().copied()).collect();
        let test = self.table.select_rows(&rows);
        let weights = model.encoder().sample_weights(&test, self.inputs.weight.as_deref())?;
        let (predictions, _) = model.predict_known(&test)?;
        let targets = model.encoder().targets(&test)?;
        match model.encoder().censored_targets(&test, &targets)? {
            Some(censored) => Metrics::of_known(&predictions, &censored, weights.as_deref(), self.grid),
            None => Metrics::weighted(&predictions, &targets, weights.as_deref(), self.grid),
        }
    }
}
