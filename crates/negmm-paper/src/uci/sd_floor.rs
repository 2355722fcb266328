//! The effect of the lower bound of the sds (`sigma-min`) on the wine sets: their targets are whole numbers, a mixture can put a narrow
//! component on each, and its NLL then depends on the smallest sd allowed.

use negmm::Result;
use negmm::tune::{Journal, RunOptions, Trial, run};

use super::{Fit, Loaded, Plan, Scores};
use crate::grid::{combinations, method};
use crate::report::mean_and_sd;
use crate::uci::settings;
use crate::{Effort, ResultTable};
use negmm::compare::{Summary, Task};

/// Smallest sds, in sds of the target.
const FLOORS: &str = "sigma-min=0.01,0.001,0.0001";
/// Splits, at most.
const SPLITS: usize = 5;

/// NE-GMM with one setting and several floors.
pub(super) struct SdFloors<'a> {
    plan: &'a Plan,
    loaded: &'a [Loaded],
    trials: Vec<Trial<Fit>>,
}

impl<'a> SdFloors<'a> {
    pub(super) fn of(plan: &'a Plan, loaded: &'a [Loaded]) -> Self {
        let mut floors = Self { plan, loaded, trials: Vec::new() };
        if plan.methods.iter().any(|name| name == "ne-gmm") {
            // The settings are constants, so this cannot fail.
            floors.trials = floors.list().unwrap_or_default();
        }
        floors
    }

    fn list(&self) -> Result<Vec<Trial<Fit>>> {
        let mut trials = Vec::new();
        for (at, loaded) in self.loaded.iter().enumerate().filter(|(_, loaded)| loaded.set.name.starts_with("wine")) {
            let method = method("ne-gmm", &settings(self.plan.effort, loaded.table.rows()))?;
            for configuration in
                combinations(method, &["learning-rate=0.005", "components=8", "eta=0.5", FLOORS], &Vec::new())?
            {
                for split in 0..loaded.splits.len().min(SPLITS) {
                    let name = format!("{}, floor, split {}, {configuration}", loaded.set.name, split + 1);
                    trials.push(Trial { name, work: Fit { set: at, split, configuration: configuration.clone() } });
                }
            }
        }
        Ok(trials)
    }

    pub(super) fn run(&self, tasks: &[Task<'_>], journal: &mut Journal, options: &RunOptions<'_>) -> Result<bool> {
        run(&self.trials, journal, options, &|fit| self.plan.fit(&tasks[fit.set], &self.loaded[fit.set], fit))
    }

    pub(super) fn table(&self, journal: &Journal) -> Option<ResultTable> {
        let mut rows = vec![["", "sigma-min", "nll", "crps", "rmse"].map(str::to_string).to_vec()];
        let mut groups: Vec<(usize, String, Vec<Scores>)> = Vec::new();
        for trial in &self.trials {
            let result: super::FitResult = serde_json::from_value(journal.get(&trial.name)?.result.clone()).ok()?;
            let floor = trial.work.configuration.settings.iter().find(|(option, _)| option == "sigma-min")?.1.clone();
            match groups.iter_mut().find(|(set, known, _)| *set == trial.work.set && *known == floor) {
                Some((_, _, scores)) => scores.push(result.test),
                None => groups.push((trial.work.set, floor, vec![result.test])),
            }
        }
        for (set, floor, scores) in &groups {
            let cell = |metric: &str| {
                mean_and_sd(&Summary::of(&scores.iter().map(|scores| scores.get(metric)).collect::<Vec<_>>()))
            };
            rows.push(vec![self.loaded[*set].set.name.into(), floor.clone(), cell("nll"), cell("crps"), cell("rmse")]);
        }
        let title = format!(
            "effect of the floor of the sds (sigma-min): ne-gmm, K = 8, eta = 0.5, rate 0.005{}",
            if self.plan.effort == Effort::Quick { ", quick" } else { "" }
        );
        (!groups.is_empty()).then_some(ResultTable { title, rows })
    }
}
