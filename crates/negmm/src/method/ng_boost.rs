//! NGBoost as a method.

use std::sync::Arc;

use super::fold_data::FoldData;
use super::plan::{Plan, Work};
use super::settings::MethodSettings;
use super::{NgBoost, PredictorKind};
use negmm_dist::{Error, Hint, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::ngboost::BoostingScore;
use negmm_nn::train::TreesJob;

impl MethodSettings for NgBoost {
    fn name(&self) -> &'static str {
        "ngboost"
    }

    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        let FoldData { data, train, validation, statistics } = FoldData::split(data, self.validation_fraction, seed);
        let job = TreesJob { settings: self.clone(), data, train, validation, cross_fitting_split: 0, seed };
        Ok(Plan { method: self.clone().into(), work: Work::Trees { job, statistics } })
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind == PredictorKind::Trees
    }

    fn check_censored(&self) -> Result<()> {
        if self.score != BoostingScore::Log {
            let error = Error::options("ngboost with the CRPS score cannot learn from censored targets");
            return Err(error.with_hint(Hint::set("score", "log")));
        }
        Ok(())
    }

    fn check_on_disk(&self) -> Result<()> {
        Err(Error::options(
            "ngboost needs all rows in memory, not in a scratch file: learn from a sample of them, or use auto",
        ))
    }

    fn keeps_missing(&self) -> bool {
        true
    }
}
