//! The financial experiments: one-day-ahead closing prices of three stocks from the last thirty, with an LSTM.
//!
//! Every setting of a method is fitted once; the one with the lowest RMSE on the last tenth of the training period is
//! fitted ten times with different seeds. Baselines are reported beside the paper's methods: persistence, constant, GARCH(1,1) with
//! Student's t innovations, and the default forecaster of negmm.

mod figure;
mod forecast;
mod garch;
mod persistence;
mod stock;

use std::path::Path;

use negmm::Result;
use negmm::compare::{Scored, Task};
use negmm::data::{self, ColumnRoles, Sequence};
use negmm::train::JobGroup;
use negmm::tune::{Configuration, Journal, RunOptions, Trial, run};
use negmm_draw::Figure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use stock::{Prices, STOCKS, Stock, Volatility};

use crate::grid::{combinations, identity, method, real_options};
use crate::select::min_by_score;
use crate::{Effort, Entry, Overrides, Report, ResultTable, Scores};

/// The window of a forecast, in days.
const WINDOW: usize = 30;

/// The paper's volatility table: daily, annual, maximum drawdown.
const PUBLISHED_VOLATILITY: [(&str, [f64; 3]); 3] =
    [("goog", [0.0203, 0.3216, 0.4460]), ("rcl", [0.0522, 0.8284, 0.8347]), ("gme", [0.1248, 1.9807, 0.8832])];

/// The settings of the paper (two layers), and our choices where it has none.
const SETTINGS: [(&str, &str); 12] = [
    ("lstm-layers", "2"),
    ("lstm-hidden", "64"),
    ("batch-size", "32"),
    ("epochs", "300"),
    ("patience", "30"),
    ("validation-fraction", "0.1"),
    ("schedule", "constant"),
    ("ema-decay", "0.99"),
    ("select", "nll"),
    ("refit", "false"),
    ("pool", "gaussian"),
    ("hidden", "none"),
];

/// The configuration of the experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Stocks.
    pub stocks: Vec<Stock>,
    /// Methods, by name.
    pub methods: Vec<String>,
    /// Fits of the selected setting.
    pub runs: usize,
    /// How much of the grids is searched.
    pub effort: Effort,
    /// Settings that replace the paper's.
    pub overrides: Overrides,
    /// Random seed.
    pub seed: u64,
}

/// One fit.
#[derive(Clone)]
struct Fit {
    stock: usize,
    run: usize,
    configuration: Configuration,
}

/// The result of a fit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FitResult {
    /// RMSE of the last tenth of the training period.
    validation: Option<f64>,
    test: Scores,
}

impl Plan {
    /// Everything that results depend on except the names of the trials.
    pub fn identity(&self) -> Map<String, Value> {
        identity("finance", SETTINGS, &self.overrides, self.seed)
    }

    /// Runs the trials that are not in the journal; `None` when trials of other shards are missing.
    pub fn run(&self, data: &Path, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Report>> {
        let prices: Vec<Prices> = self.stocks.iter().map(|stock| stock.read(data)).collect::<Result<_>>()?;
        let sequence = Sequence { column: "close".into(), window: WINDOW };
        let outcome = data::TargetSpec::default().continuous(true);
        let inputs = ColumnRoles::default().sequence(sequence).target_spec(outcome);
        let work = |fit: &Fit| self.fit((&prices[fit.stock], &inputs), fit);
        let mut tried = Vec::new();
        for stock in 0..prices.len() {
            for name in &self.methods {
                for configuration in self.configurations(name)? {
                    tried.push(self.trial(Fit { stock, run: 0, configuration }));
                }
            }
        }
        if !run(&tried, journal, options, &work)? {
            return Ok(None);
        }
        let mut again = Vec::new();
        for stock in 0..prices.len() {
            for name in &self.methods {
                let Some(best) = self.best(stock, name, &tried, journal) else { continue };
                again.extend((0..self.runs).map(|run| self.trial(Fit { run, ..best.clone() })));
            }
        }
        if !run(&again, journal, options, &work)? {
            return Ok(None);
        }
        self.report(&prices, &again, journal).map(Some)
    }

    /// The figures, by the name of their file.
    pub fn figures(&self, data: &Path) -> Result<Vec<(String, Figure)>> {
        let prices: Vec<Prices> = self.stocks.iter().map(|stock| stock.read(data)).collect::<Result<_>>()?;
        Ok(vec![("finance-trends".into(), figure::trends(&self.stocks, &prices))])
    }

    fn trial(&self, fit: Fit) -> Trial<Fit> {
        let name = format!("{}, run {}, {}", self.stocks[fit.stock].name, fit.run + 1, fit.configuration);
        Trial { name, work: fit }
    }

    /// The grid of a method.
    fn configurations(&self, name: &str) -> Result<Vec<Configuration>> {
        let mut options = real_options(name, self.effort);
        if name != "constant" {
            options.push(if self.effort == Effort::Quick { "dropout=0.1" } else { "dropout=0.05,0.1,0.15,0.2" });
        }
        combinations(method(name, &SETTINGS)?.for_sequences(), &options, &self.overrides)
    }

    fn fit<'a>(&self, (prices, inputs): (&'a Prices, &'a ColumnRoles), fit: &Fit) -> Result<JobGroup<'a, Value>> {
        let seed = self.seed.wrapping_add(fit.run as u64);
        let method = &fit.configuration.method;
        let task = Task::new(&prices.table, "close", inputs)?;
        Ok(task.job_group(method, &prices.split, seed)?.map(|scored| {
            let Scored { score, model, .. } = scored?;
            let validation = model.record().validation.as_ref().map(|metrics| metrics.rmse);
            Ok(json!(FitResult { validation, test: Scores::from_score(&score, model.encoder().target().scale) }))
        }))
    }

    /// The setting with the lowest validation RMSE.
    fn best(&self, stock: usize, name: &str, tried: &[Trial<Fit>], journal: &Journal) -> Option<Fit> {
        let mine =
            tried.iter().filter(|trial| trial.work.stock == stock && trial.work.configuration.method.name() == name);
        let score = |trial: &&Trial<Fit>| {
            let outcome =
                journal.get(&trial.name).map(|entry| serde_json::from_value::<FitResult>(entry.result.clone()));
            outcome.and_then(|outcome| outcome.ok()?.validation).unwrap_or(f64::INFINITY)
        };
        min_by_score(mine, score).map(|trial| trial.work.clone())
    }

    fn report(&self, prices: &[Prices], again: &[Trial<Fit>], journal: &Journal) -> Result<Report> {
        let mut entries = Vec::new();
        let mut selected = vec![["", "method", "selected setting"].map(str::to_string).to_vec()];
        for (at, stock) in self.stocks.iter().enumerate() {
            for name in &self.methods {
                let mine = again
                    .iter()
                    .filter(|trial| trial.work.stock == at && trial.work.configuration.method.name() == name);
                let mut outcomes = Vec::new();
                for trial in mine {
                    let Some(entry) = journal.get(&trial.name) else { continue };
                    let Ok(outcome) = serde_json::from_value::<FitResult>(entry.result.clone()) else { continue };
                    outcomes.push((outcome.test, entry.seconds));
                    if trial.work.run == 0 {
                        selected.push(vec![stock.name.into(), name.clone(), trial.work.configuration.to_string()]);
                    }
                }
                entries.extend(Entry::of_fits("finance", stock.name, name, &outcomes));
            }
            let baselines = [
                ("persistence", persistence::predictions(&prices[at])?),
                ("garch-t", garch::predictions(&prices[at])?),
                ("forecast", forecast::predictions(&prices[at], self.effort, self.seed)?),
            ];
            for (name, predictions) in baselines {
                entries.extend(Entry::of_fits("finance", stock.name, name, &[(prices[at].scores(&predictions)?, 0.0)]));
            }
        }
        Ok(Report {
            title: format!("finance, {} grid, {} runs of the selected setting", self.effort.name(), self.runs),
            entries,
            tables: vec![self.volatility(prices), ResultTable { title: "settings selected by the validation RMSE".into(), rows: selected }],
            notes: vec![
                "mean ± sd over runs (the paper's ± is a standard error); + better than the paper, = within two of our standard errors, - worse".into(),
                "persistence: the price of the day before, with the sd of the daily changes in training".into(),
                "garch-t: GARCH(1,1) of daily changes with Student's t innovations; forecast: `negmm fit --sequence close` on the training period".into(),
                "the paper does not say where GME's test period ends; 2022-12-30 is the end that gives its volatility table".into(),
            ],
        })
    }

    fn volatility(&self, prices: &[Prices]) -> ResultTable {
        let header = ["", "daily sd", "paper", "annual", "paper", "maximum drawdown", "paper"];
        let mut rows = vec![header.map(str::to_string).to_vec()];
        for (stock, prices) in self.stocks.iter().zip(prices) {
            let Volatility { daily, annual, drawdown } = prices.volatility();
            let published = PUBLISHED_VOLATILITY.iter().find(|(name, _)| *name == stock.name);
            let mut row = vec![stock.name.to_string()];
            for (at, ours) in [daily, annual, drawdown].into_iter().enumerate() {
                row.push(format!("{ours:.4}"));
                row.push(published.map_or("-".into(), |(_, published)| format!("{:.4}", published[at])));
            }
            rows.push(row);
        }
        ResultTable { title: "volatility".into(), rows }
    }
}
