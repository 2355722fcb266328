//! The UCI experiments: every setting of every method on every split, the best setting of each split by its validation rows, and its
//! scores on the test rows.
//!
//! The training rows of a split are divided 80 to 20 again: the larger part trains, the smaller one is for early stopping and selection
//! of the setting. There is no refit on both.

mod sd_floor;
mod sets;

use std::path::Path;

use negmm::compare::{Scored, Split, Summary, Task};
use negmm::data::ColumnRoles;
use negmm::train::JobGroup;
use negmm::tune::{Configuration, Journal, RunOptions, Trial, run};
use negmm::{Error, Method, Result, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use sets::{SETS, Set};

use crate::grid::{combinations, identity, method, real_options};
use crate::report::mean_and_sd;
use crate::select::min_by_score;
use crate::{Effort, Entry, METHODS, Overrides, Published, Report, ResultTable, Scores};

/// How data are split and settings selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The paper's: 80 to 20 at random, selected by the validation RMSE.
    Paper,
    /// The benchmark's: the fixed 90 to 10 splits, selected by the validation NLL.
    Standard,
}

impl Protocol {
    /// By its name.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "paper" => Ok(Self::Paper),
            "standard" => Ok(Self::Standard),
            _ => Err(Error::options(format!("protocol must be paper or standard, found {name:?}"))),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Standard => "standard",
        }
    }
}

/// The configuration of the experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Data sets.
    pub sets: Vec<Set>,
    /// Methods, by name.
    pub methods: Vec<String>,
    /// How data are split and settings selected.
    pub protocol: Protocol,
    /// Splits of a set at most; `None`: as many as the effort has.
    pub splits: Option<usize>,
    /// How much of the grids is searched.
    pub effort: Effort,
    /// Settings that replace the paper's.
    pub overrides: Overrides,
    /// Random seed.
    pub seed: u64,
}

/// A data set in memory.
struct Loaded {
    set: Set,
    table: Table,
    inputs: ColumnRoles,
    splits: Vec<Split>,
}

impl Loaded {
    fn task(&self) -> Result<Task<'_>> {
        Task::new(&self.table, self.set.target, &self.inputs)
    }
}

/// One fit.
struct Fit {
    set: usize,
    split: usize,
    configuration: Configuration,
}

/// The result of a fit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FitResult {
    /// RMSE and NLL of the validation rows; `None` for a method without.
    validation: Option<(f64, f64)>,
    test: Scores,
}

/// The settings of every network: the paper's architecture, batch size and epochs, and our choices where it has none.
fn settings(effort: Effort, rows: usize) -> Vec<(&'static str, String)> {
    // Training steps of the quick effort, at most.
    const QUICK_STEPS: usize = 60_000;
    let steps = (rows / 40).max(1);
    let epochs = if effort == Effort::Quick { (QUICK_STEPS / steps).clamp(10, 2000) } else { 2000 };
    vec![
        ("hidden", "50".into()),
        ("activation", "relu".into()),
        ("batch-size", "32".into()),
        ("epochs", epochs.to_string()),
        ("patience", if effort == Effort::Quick { "30" } else { "50" }.into()),
        ("validation-fraction", "0.2".into()),
        ("schedule", "constant".into()),
        ("ema-decay", "0.99".into()),
        ("select", "nll".into()),
        ("refit", "false".into()),
        ("pool", "gaussian".into()),
    ]
}

impl Plan {
    /// Everything that results depend on except the names of the trials.
    pub fn identity(&self) -> Map<String, Value> {
        let mut identity = identity("uci", settings(self.effort, 1000), &self.overrides, self.seed);
        identity.insert("protocol".into(), json!(self.protocol.name()));
        identity.insert("grid".into(), json!(if self.effort == Effort::Quick { "quick" } else { "full" }));
        identity
    }

    /// Runs the trials that are not in the journal; `None` when trials of other shards are missing.
    pub fn run(&self, data: &Path, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Report>> {
        let loaded = self.load(data)?;
        let mut trials = Vec::new();
        // The largest sets first, so that no core is left with a long fit at the end.
        let mut order: Vec<usize> = (0..loaded.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(loaded[*at].table.rows()));
        for set in order {
            for name in &self.methods {
                let configurations = self.configurations(name, &loaded[set])?;
                // Concurrent fits of one split share its encoded rows.
                for split in 0..loaded[set].splits.len() {
                    for configuration in &configurations {
                        let name = format!("{}, split {}, {configuration}", loaded[set].set.name, split + 1);
                        trials.push(Trial { name, work: Fit { set, split, configuration: configuration.clone() } });
                    }
                }
            }
        }
        let tasks = loaded.iter().map(Loaded::task).collect::<Result<Vec<_>>>()?;
        let complete = run(&trials, journal, options, &|fit| self.fit(&tasks[fit.set], &loaded[fit.set], fit))?;
        let floors = sd_floor::SdFloors::of(self, &loaded);
        let complete = floors.run(&tasks, journal, options)? && complete;
        if !complete {
            return Ok(None);
        }
        let mut report = self.report(&loaded, &trials, journal);
        report.tables.push(self.oracle(&loaded, &trials, journal));
        report.tables.extend(floors.table(journal));
        Ok(Some(report))
    }

    fn load(&self, data: &Path) -> Result<Vec<Loaded>> {
        let read = |set: &Set| {
            let table = set.read(data)?;
            let mut splits = set.splits(data, table.rows(), self.protocol, self.seed)?;
            let count = match (self.splits, self.effort, set.small) {
                (Some(splits), _, _) => splits,
                (None, Effort::Quick, true) => 10,
                (None, Effort::Quick, false) => 3,
                _ => usize::MAX,
            };
            splits.truncate(count);
            Ok(Loaded { set: *set, table, inputs: set.inputs(), splits })
        };
        self.sets.iter().map(read).collect()
    }

    /// The grid of a method.
    fn configurations(&self, name: &str, loaded: &Loaded) -> Result<Vec<Configuration>> {
        if name == "auto" {
            // As dimensions of the grid, so that they are in the name of the trial.
            let quick: &[&str] = match (self.effort, loaded.set.small) {
                (Effort::Quick, true) => &["preset=fast"],
                (Effort::Quick, false) => &["preset=fast", "steps=2000"],
                _ => &[],
            };
            return combinations(Method::by_name(name)?, quick, &self.overrides);
        }
        let method = method(name, &settings(self.effort, loaded.table.rows()))?;
        combinations(method, &real_options(name, self.effort), &self.overrides)
    }

    fn fit<'a>(&self, task: &Task<'a>, loaded: &Loaded, fit: &Fit) -> Result<JobGroup<'a, Value>> {
        let seed = self.seed.wrapping_add(fit.split as u64);
        Ok(task.job_group(&fit.configuration.method, &loaded.splits[fit.split], seed)?.map(|scored| {
            let Scored { score, model, .. } = scored?;
            let validation = model.record().validation.as_ref().map(|metrics| (metrics.rmse, metrics.nll));
            Ok(json!(FitResult { validation, test: Scores::from_score(&score, model.encoder().target().scale) }))
        }))
    }

    /// The results of each setting of a method on one split, and the seconds of its fit.
    fn results(
        &self,
        set: usize,
        name: &str,
        split: usize,
        trials: &[Trial<Fit>],
        journal: &Journal,
    ) -> Vec<(FitResult, f64)> {
        let mine = trials.iter().filter(|Trial { work, .. }| {
            work.set == set && work.split == split && work.configuration.method.name() == name
        });
        let read = |trial: &Trial<Fit>| {
            let entry = journal.get(&trial.name)?;
            Some((serde_json::from_value::<FitResult>(entry.result.clone()).ok()?, entry.seconds))
        };
        mine.filter_map(read).collect()
    }

    /// For each method the RMSE of the selected settings, and of those selected by the test rows, which is a lower bound.
    fn oracle(&self, loaded: &[Loaded], trials: &[Trial<Fit>], journal: &Journal) -> ResultTable {
        let mut rows = vec![["", "method", "selected", "oracle", "paper"].map(str::to_string).to_vec()];
        for (at, Loaded { set, splits, .. }) in loaded.iter().enumerate() {
            for name in self.methods.iter().filter(|name| METHODS.contains(&name.as_str())) {
                let (mut selected, mut best) = (Vec::new(), Vec::new());
                for split in 0..splits.len() {
                    let results = self.results(at, name, split, trials, journal);
                    best.extend(
                        min_by_score(&results, |(result, _)| result.test.rmse).map(|(result, _)| result.test.rmse),
                    );
                    selected.extend(self.selected(results).map(|(scores, _)| scores.rmse));
                }
                let cell = |numbers: &[f64]| mean_and_sd(&Summary::of(numbers));
                let paper =
                    Published::find("uci", set.name, name, "rmse").map_or("-".into(), |paper| paper.mean.to_string());
                rows.push(vec![set.name.into(), name.clone(), cell(&selected), cell(&best), paper]);
            }
        }
        let title = "RMSE of the settings selected by validation rows, and by the test rows of each split (oracle)";
        ResultTable { title: title.into(), rows }
    }

    /// The best result of one method on one split by its validation rows, and the seconds of its fit.
    fn selected(&self, results: Vec<(FitResult, f64)>) -> Option<(Scores, f64)> {
        let score = |(result, _): &(FitResult, f64)| match (result.validation, self.protocol) {
            (Some((rmse, _)), Protocol::Paper) => rmse,
            (Some((_, nll)), Protocol::Standard) => nll,
            (None, _) => f64::INFINITY,
        };
        min_by_score(results, score).map(|(result, seconds)| (result.test, seconds))
    }

    fn report(&self, loaded: &[Loaded], trials: &[Trial<Fit>], journal: &Journal) -> Report {
        let mut entries = Vec::new();
        // For each method the selected fits of the two loads.
        let mut both: Vec<Vec<Vec<(Scores, f64)>>> = vec![Vec::new(); self.methods.len()];
        for (at, Loaded { set, splits, .. }) in loaded.iter().enumerate() {
            for (number, name) in self.methods.iter().enumerate() {
                let selected: Vec<(Scores, f64)> = (0..splits.len())
                    .filter_map(|split| self.selected(self.results(at, name, split, trials, journal)))
                    .collect();
                entries.extend(Entry::of_fits("uci", set.name, name, &selected));
                if set.name.starts_with("energy") {
                    both[number].push(selected);
                }
            }
        }
        for (name, targets) in self.methods.iter().zip(&both) {
            if let [heating, cooling] = &targets[..] {
                let pairs: Vec<(Scores, f64)> = heating.iter().zip(cooling).map(|(a, b)| combined(a, b)).collect();
                // Compared with the published results of energy.
                let both = Entry::of_fits("uci", "energy", name, &pairs).into_iter();
                entries.extend(both.map(|entry| Entry { data: "energy_both".into(), ..entry }));
            }
        }
        let criterion = if self.protocol == Protocol::Paper { "RMSE" } else { "NLL" };
        let mut notes = vec![
            format!("protocol {}, {} grid; the setting of each split selected by the {criterion} of its validation rows", self.protocol.name(), self.effort.name()),
            "mean ± sd over splits; + better than the paper, = within two of our standard errors, - worse; picp by its distance from 0.95; the paper's mpiw is in sds of the target".into(),
            "seconds: one fit of the selected setting and its scoring, on one core beside others".into(),
        ];
        if entries.iter().any(|entry| entry.data == "energy_both") {
            notes.push("energy is the heating load; energy_both has both loads as independent targets: RMSE, CRPS, coverage and width averaged over them, NLL summed".into());
        }
        if self.effort == Effort::Quick && self.methods.iter().any(|name| name == "auto") {
            notes
                .push("auto: its fast preset, on the larger sets with 2000 steps, a quarter of its own or less".into());
        }
        if self.effort == Effort::Usual {
            notes.push(
                "sample-net: samples = 100 without the Sinkhorn regulariser (--full has the paper's grid)".into(),
            );
        }
        Report { title: format!("uci, protocol {}", self.protocol.name()), entries, tables: Vec::new(), notes }
    }
}

/// Two independent targets as one: as in the beta-NLL code, squared errors are averaged over targets and NLL summed.
fn combined((a, s): &(Scores, f64), (b, t): &(Scores, f64)) -> (Scores, f64) {
    let half = |metric: fn(&Scores) -> f64| 0.5 * (metric(a) + metric(b));
    let scores = Scores {
        rmse: (0.5 * (a.rmse * a.rmse + b.rmse * b.rmse)).sqrt(),
        nll: a.nll + b.nll,
        crps: half(|scores| scores.crps),
        picp: half(|scores| scores.picp),
        mpiw: half(|scores| scores.mpiw),
        mpiw_standardised: half(|scores| scores.mpiw_standardised),
    };
    (scores, s + t)
}
