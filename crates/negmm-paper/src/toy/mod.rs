//! The paper's toy experiments: how well each method recovers a known distribution.
//!
//! Each repeat draws training rows, a fifth as many validation rows and 300 test inputs. Every setting of a method is trained
//! once, checkpoints are evaluated every few epochs, and for each repeat the setting *and* the checkpoint are selected twice: by the
//! truth at the validation inputs ([`Selection::Oracle`], as in the paper), and by the CRPS of the validation rows
//! ([`Selection::Validation`], which needs no truth). The errors at the test inputs are reported.

mod checkpoints;
mod components;
mod figure;
mod learning_curves;
mod problem;
mod selection;

use negmm::train::Engine;
use negmm::tune::{Configuration, Journal, RunOptions, Trial, run};
use negmm::{Result, Toy};
use negmm_draw::Figure;
use serde_json::{Map, Value, json};

pub use checkpoints::TrainingPath;
pub use problem::Problem;
pub use selection::{Errors, Selection};

use crate::grid::{combinations, identity, method, toy_options};
use crate::select::min_by_score;
use crate::{Effort, Entry, Overrides, Report, ResultTable};
use learning_curves::LearningCurves;
use selection::Selected;

/// The settings of the paper, and our choices where it has none: no schedule, no averaging of weights, no rows held out.
pub(crate) const SETTINGS: [(&str, &str); 10] = [
    ("hidden", "50"),
    ("activation", "tanh"),
    ("batch-size", "32"),
    ("epochs", "1500"),
    ("schedule", "constant"),
    ("ema-decay", "0"),
    ("patience", "0"),
    ("validation-fraction", "0"),
    ("n-estimators", "1000"),
    ("ensemble-size", "10"),
];

/// The configuration of the experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The problem.
    pub toy: Toy,
    /// Samples of the data.
    pub repeats: usize,
    /// Methods, by name.
    pub methods: Vec<String>,
    /// How much of the grids is searched.
    pub effort: Effort,
    /// Settings that replace the paper's.
    pub overrides: Overrides,
    /// Random seed.
    pub seed: u64,
}

/// One fit.
struct Fit {
    repeat: usize,
    configuration: Configuration,
}

impl Plan {
    /// Everything that results depend on except the names of the trials.
    pub fn identity(&self) -> Map<String, Value> {
        identity(self.toy.name(), SETTINGS, &self.overrides, self.seed)
    }

    /// Runs the trials that are not in the journal; `None` when trials of other shards are missing.
    pub fn run(&self, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Report>> {
        let trials = self.trials()?;
        let curves = LearningCurves::of(self);
        let fit = |fit: &Fit| {
            let problem = Problem::sample(self.toy, fit.repeat, self.seed);
            let evaluations =
                selection::evaluate_checkpoints(problem, &fit.configuration.method, self.fit_seed(fit.repeat))?;
            Ok(evaluations.map(|evaluations| Ok(json!(selection::select(&evaluations?)))))
        };
        let complete = run(&trials, journal, options, &fit)?;
        let complete = curves.run(journal, options)? && complete;
        if !complete {
            return Ok(None);
        }
        let mut report = self.report(&trials, journal)?;
        report.tables.extend(curves.table(journal));
        Ok(Some(report))
    }

    /// The figures, by the name of their file: the predictions of each method in the first repeat, and the learning curves. The journal
    /// must have all results.
    pub fn figures(&self, journal: &Journal, engine: &dyn Engine) -> Result<Vec<(String, Figure)>> {
        let mut figures = Vec::new();
        for selection in Selection::ALL {
            let name = format!("{}-{}", self.toy.name(), selection.name());
            figures.push((name, figure::predictive(self, journal, selection, engine)?));
        }
        figures.extend(
            LearningCurves::of(self).figure(journal).map(|figure| (format!("{}-epochs", self.toy.name()), figure)),
        );
        Ok(figures)
    }

    fn trials(&self) -> Result<Vec<Trial<Fit>>> {
        let mut trials = Vec::new();
        for name in &self.methods {
            for configuration in self.configurations(name)? {
                for repeat in 0..self.repeats {
                    let configuration = configuration.clone();
                    let name = format!("{}, repeat {}, {configuration}", self.toy.name(), repeat + 1);
                    trials.push(Trial { name, work: Fit { repeat, configuration } });
                }
            }
        }
        Ok(trials)
    }

    /// The grid of a method.
    fn configurations(&self, name: &str) -> Result<Vec<Configuration>> {
        let mut method = method(name, &SETTINGS)?;
        if matches!(name, "ne-gmm" | "mdn") {
            method.set("components", components(self.toy))?;
        }
        combinations(method, &toy_options(name, self.effort), &self.overrides)
    }

    fn fit_seed(&self, repeat: usize) -> u64 {
        self.seed.wrapping_add(repeat as u64)
    }

    fn report(&self, trials: &[Trial<Fit>], journal: &Journal) -> Result<Report> {
        let name = self.toy.name();
        let mut entries = Vec::new();
        let mut selected_settings = vec![vec!["".to_string(), "oracle".into(), "validation".into()]];
        for method in &self.methods {
            let mut row = vec![method.clone()];
            for selection in Selection::ALL {
                let selected: Vec<(&Configuration, Selected)> = (0..self.repeats)
                    .filter_map(|repeat| self.selected(method, repeat, selection, trials, journal))
                    .collect();
                for metric in Errors::METRICS {
                    let numbers: Option<Vec<f64>> =
                        selected.iter().map(|(_, selected)| selected.errors.get(metric)).collect();
                    if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
                        entries.push(Entry::new(name, name, method, metric, Some(selection.name()), &numbers));
                    }
                }
                row.push(summary(&selected));
            }
            selected_settings.push(row);
        }
        // Sorted by metric, with both selections side by side.
        let position = |metric: &str| Errors::METRICS.iter().position(|other| *other == metric);
        entries.sort_by_key(|entry| position(entry.metric));
        let mut notes = vec![
            "oracle: settings and epoch of each repeat selected by the true m and s at the validation inputs, as in the paper; \
             validation: by the CRPS of the validation rows, which needs no truth"
                .to_string(),
            "mean ± sd over repeats; + better than the paper, = within two of our standard errors, - worse".into(),
        ];
        if self.effort != Effort::Full && self.methods.iter().any(|method| method == "sample-net") {
            notes.push(
                "sample-net: samples = 100 without the Sinkhorn regulariser (--full has the paper's grid)".into(),
            );
        }
        if self.toy == Toy::Bimodal {
            notes.push(
                "s by the correct variance 9 + 0.84 x⁶; s_misprint against the printed 9 + 0.138 x⁶; components are matched to the truth \
                 once for a whole curve, and weight_sorted compares the smaller weight with 0.3 and the larger with 0.7 at each x, \
                 whichever branch has it (probably as in the paper)"
                    .into(),
            );
        }
        Ok(Report {
            title: format!(
                "{name}: errors of the recovered distribution, {} repeats, {} grid",
                self.repeats,
                self.effort.name()
            ),
            entries,
            tables: vec![ResultTable {
                title: "selected settings (median epoch or round, most frequent setting)".into(),
                rows: selected_settings,
            }],
            notes,
        })
    }

    /// The best result of one method in one repeat.
    fn selected<'a>(
        &self,
        method: &str,
        repeat: usize,
        selection: Selection,
        trials: &'a [Trial<Fit>],
        journal: &Journal,
    ) -> Option<(&'a Configuration, Selected)> {
        let mine = trials
            .iter()
            .filter(|trial| trial.work.repeat == repeat && trial.work.configuration.method.name() == method);
        let results = mine.filter_map(|trial| {
            let result = journal.get(&trial.name)?.result.get(selection.name())?;
            Some((&trial.work.configuration, serde_json::from_value(result.clone()).ok()?))
        });
        min_by_score(results, |(_, selected): &(&Configuration, Selected)| selected.score)
    }
}

/// The number of components of the truth.
fn components(toy: Toy) -> &'static str {
    match toy {
        Toy::Heteroscedastic => "1",
        Toy::Bimodal => "2",
    }
}

/// The selected epochs and settings, as text.
fn summary(selected: &[(&Configuration, Selected)]) -> String {
    let mut at: Vec<usize> = selected.iter().map(|(_, selected)| selected.at).collect();
    at.sort_unstable();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (configuration, selected) in selected {
        let mut settings: Vec<String> =
            configuration.settings.iter().map(|(option, value)| format!("{option}={value}")).collect();
        settings.extend(selected.members.map(|members| format!("ensemble-size={members}")));
        let settings = settings.join(" ");
        match counts.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, count)) => *count += 1,
            None => counts.push((settings, 1)),
        }
    }
    let most = counts.iter().max_by_key(|(_, count)| *count);
    match (most, at.get(at.len() / 2)) {
        (Some((settings, count)), Some(at)) => format!("{at}; {settings} ({count} of {})", selected.len()),
        _ => "-".into(),
    }
}
