//! A prediction task of several targets: fits of a method on the training rows of a split, scored on its test rows.

use std::time::Instant;

use super::{Score, Scores, Split};
use crate::joint::{JointMetrics, check_joint_targets, fit_joint_with};
use crate::{FitOptions, Method};
use negmm_data::{ColumnRoles, Table};
use negmm_dist::Result;
use negmm_nn::train::{CpuEngine, JobGroup};

/// Several targets and their inputs: the same for every split and method.
#[derive(Clone, Debug)]
pub struct JointTask<'a> {
    table: &'a Table,
    targets: Vec<&'a str>,
    inputs: &'a ColumnRoles,
}

impl<'a> JointTask<'a> {
    /// Predicting `targets` together.
    ///
    /// # Errors
    /// When a column is absent, has the wrong type, or depends on the others exactly.
    pub fn new(table: &'a Table, targets: &[&'a str], inputs: &'a ColumnRoles) -> Result<Self> {
        check_joint_targets(table, targets, inputs)?;
        Ok(Self { table, targets: targets.to_vec(), inputs })
    }

    /// The work that fits a method on a split's training rows; its result is the score on the test rows. The jobs of a joint fit
    /// follow from each other, so that each fit is one piece of work on one core.
    ///
    /// # Errors
    /// When the method predicts one target.
    pub fn job_group(&self, method: &Method, split: &Split, seed: u64) -> Result<JobGroup<'a, Score>> {
        method.check_several_targets()?;
        let (task, method, split) = (self.clone(), method.clone(), split.clone());
        let finish = move |_, before: f64| {
            let start = Instant::now();
            let engine = CpuEngine::new(1);
            let options = FitOptions::default().seed(seed).inputs(task.inputs.clone()).engine(&engine);
            let train = task.table.select_rows(&split.train);
            let model = fit_joint_with(&train, &task.targets, &method, &options)?.model;
            let seconds = before + start.elapsed().as_secs_f64();
            let test = task.table.select_rows(&split.test);
            let weights = match &task.inputs.weight {
                Some(name) => Some(test.sample_weights(name)?.to_vec()),
                None => None,
            };
            let (predictions, y) = (model.predict(&test)?, model.observed(&test)?);
            let metrics = JointMetrics::new(&predictions, &y, weights.as_deref())?;
            Ok(Score { scores: Scores::SeveralTargets(metrics), seconds })
        };
        Ok(JobGroup { jobs: Vec::new(), finish: Box::new(finish) })
    }
}
