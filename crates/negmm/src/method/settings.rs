//! The interface of a method's settings, through which [`Method`] uses them.

use std::sync::Arc;

use super::fold_data::FoldData;
use super::plan::{Plan, Work};
use super::{Auto, Method, NetworkSettings, Pool, PredictorKind};
use negmm_dist::Result;
use negmm_nn::dataset::Dataset;
use negmm_nn::options::Options;
use negmm_nn::train::NetworkJob;

/// The settings of a method.
pub(super) trait MethodSettings: Options {
    /// The method's name on the command line and in files.
    fn name(&self) -> &'static str;

    /// Plans training on all rows.
    ///
    /// # Errors
    /// When the method cannot be fitted to these rows.
    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan>;

    /// Whether its models, or their parts, can have a predictor of that kind.
    fn makes(&self, kind: PredictorKind) -> bool;

    /// The settings of its networks, where they are all the same.
    fn network(&self) -> Option<&NetworkSettings> {
        None
    }

    /// As [`MethodSettings::network`], mutable.
    fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        None
    }

    /// The job that trains one network, where the method is one network.
    fn network_job(&self, _: &FoldData, _seed: u64) -> Option<NetworkJob> {
        None
    }

    /// Checks whether it supports censored targets, for which the energy score is undefined.
    ///
    /// # Errors
    /// When it does not.
    fn check_censored(&self) -> Result<()> {
        Ok(())
    }

    /// Checks whether it can learn from rows that are on disk.
    ///
    /// # Errors
    /// When it needs all of them in memory.
    fn check_on_disk(&self) -> Result<()> {
        Ok(())
    }

    /// Whether it handles missing numbers itself.
    fn keeps_missing(&self) -> bool {
        false
    }

    /// The limit of smooth clipping of numeric inputs, in sds.
    fn soft_clip(&self) -> Option<f64> {
        self.network()?.soft_clip
    }

    /// Whether numeric inputs have a second copy, quantile-transformed to a normal distribution.
    fn quantile_transform(&self) -> bool {
        self.network().is_some_and(|network| network.quantile_transform)
    }

    /// How the predictions of its networks are combined.
    fn pool(&self) -> Pool {
        Pool::Mixture
    }

    /// The settings, where the method is `auto`.
    fn as_auto(&self) -> Option<&Auto> {
        None
    }

    /// Whether it ignores the inputs.
    fn is_baseline(&self) -> bool {
        false
    }
}

/// The plan of a method that is one network.
pub(super) fn plan_one_network<S>(settings: &S, data: &Arc<Dataset>, seed: u64) -> Plan
where
    S: MethodSettings + Clone,
    Method: From<S>,
{
    let validation_fraction = settings.network().map_or(0.0, |network| network.training.validation_fraction);
    let fold_data = FoldData::split(data, validation_fraction, seed);
    let jobs = settings.network_job(&fold_data, seed).into_iter().collect();
    let work = Work::Networks { jobs, statistics: fold_data.statistics, pool: settings.pool() };
    Plan { method: settings.clone().into(), work }
}
