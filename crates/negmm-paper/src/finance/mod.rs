//! Responsible for the financial experiments: tomorrow's closing price of three stocks from the last thirty, with an LSTM.
//!
//! Every setting of a method is fitted once; the one with the smallest RMSE on the last tenth of the training period is
//! fitted ten times from different seeds. Rows that every forecaster will ask for stand beside the paper's methods: persistence
//! (tomorrow is today, give or take past changes), constant, GARCH(1,1) with Student's law, and what this program forecasts by default.

mod figure;
mod forecast;
mod garch;
mod persistence;
mod stock;

use std::path::Path;

use negmm::Result;
use negmm::compare::Task;
use negmm::data::{self, ColumnRoles, Sequence};
use negmm::train::JobGroup;
use negmm::tune::{Configuration, Journal, RunOptions, Trial, run};
use negmm_draw::Figure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use stock::{Prices, STOCKS, Stock, Volatility};

use crate::grid::{combinations, identity, method, real_options};
use crate::select::smallest;
use crate::{Block, Effort, Entry, Overrides, Report, Scores};

/// Days that a forecast looks back.
const WINDOW: usize = 30;

/// The paper's volatility table: daily, a year, largest drawdown.
const PRINTED_VOLATILITY: [(&str, [f64; 3]); 3] =
    [("goog", [0.0203, 0.3216, 0.4460]), ("rcl", [0.0522, 0.8284, 0.8347]), ("gme", [0.1248, 1.9807, 0.8832])];

/// What the paper fixes (two layers) and what it leaves open.
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

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Stocks.
    pub stocks: Vec<Stock>,
    /// Methods, by name.
    pub methods: Vec<String>,
    /// Fits of the chosen setting.
    pub runs: usize,
    /// How much of the grids.
    pub effort: Effort,
    /// Settings that are not the paper's.
    pub overrides: Overrides,
    /// Starts all random choices.
    pub seed: u64,
}

/// One fit.
#[derive(Clone)]
struct Fit {
    stock: usize,
    run: usize,
    configuration: Configuration,
}

/// What a fit gives.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Outcome {
    /// RMSE of the last tenth of the training period.
    validation: Option<f64>,
    test: Scores,
}

impl Plan {
    /// All that results depend on beside the trials' names.
    pub fn identity(&self) -> Map<String, Value> {
        identity("finance", SETTINGS, &self.overrides, self.seed)
    }

    /// Runs what is not in the journal yet; nothing when trials of other shards are missing.
    pub fn run(&self, data: &Path, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Report>> {
        let prices: Vec<Prices> = self.stocks.iter().map(|stock| stock.read(data)).collect::<Result<_>>()?;
        let sequence = Some(Sequence { column: "close".into(), window: WINDOW });
        let outcome = data::TargetSpec { continuous: true, ..data::TargetSpec::default() };
        let inputs = ColumnRoles { sequence, outcome, ..ColumnRoles::default() };
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

    /// The pictures, by the name of their file.
    pub fn figures(&self, data: &Path) -> Result<Vec<(String, Figure)>> {
        let prices: Vec<Prices> = self.stocks.iter().map(|stock| stock.read(data)).collect::<Result<_>>()?;
        Ok(vec![("finance-trends".into(), figure::trends(&self.stocks, &prices))])
    }

    fn trial(&self, fit: Fit) -> Trial<Fit> {
        let name = format!("{}, run {}, {}", self.stocks[fit.stock].name, fit.run + 1, fit.configuration);
        Trial { name, work: fit }
    }

    /// The settings of a method that are tried.
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
        Ok(task.undertake(method, &prices.split, seed)?.map(|scored| {
            let (score, model) = scored?;
            let validation = model.record().validation.as_ref().map(|metrics| metrics.rmse);
            Ok(json!(Outcome { validation, test: Scores::from_score(&score, model.encoder().target().scale) }))
        }))
    }

    /// The setting with the smallest validation RMSE.
    fn best(&self, stock: usize, name: &str, tried: &[Trial<Fit>], journal: &Journal) -> Option<Fit> {
        let mine =
            tried.iter().filter(|trial| trial.work.stock == stock && trial.work.configuration.method.name() == name);
        let score = |trial: &&Trial<Fit>| {
            let outcome = journal.get(&trial.name).map(|entry| serde_json::from_value::<Outcome>(entry.result.clone()));
            outcome.and_then(|outcome| outcome.ok()?.validation).unwrap_or(f64::INFINITY)
        };
        smallest(mine, score).map(|trial| trial.work.clone())
    }

    fn report(&self, prices: &[Prices], again: &[Trial<Fit>], journal: &Journal) -> Result<Report> {
        let mut entries = Vec::new();
        let mut chosen = vec![["", "method", "chosen setting"].map(str::to_string).to_vec()];
        for (at, stock) in self.stocks.iter().enumerate() {
            for name in &self.methods {
                let mine = again
                    .iter()
                    .filter(|trial| trial.work.stock == at && trial.work.configuration.method.name() == name);
                let mut outcomes = Vec::new();
                for trial in mine {
                    let Some(entry) = journal.get(&trial.name) else { continue };
                    let Ok(outcome) = serde_json::from_value::<Outcome>(entry.result.clone()) else { continue };
                    outcomes.push((outcome.test, entry.seconds));
                    if trial.work.run == 0 {
                        chosen.push(vec![stock.name.into(), name.clone(), trial.work.configuration.to_string()]);
                    }
                }
                entries.extend(Entry::of_fits("finance", stock.name, name, &outcomes));
            }
            let rivals = [
                ("persistence", persistence::predictions(&prices[at])?),
                ("garch-t", garch::predictions(&prices[at])?),
                ("forecast", forecast::predictions(&prices[at], self.effort, self.seed)?),
            ];
            for (name, predictions) in rivals {
                entries.extend(Entry::of_fits("finance", stock.name, name, &[(prices[at].scores(&predictions)?, 0.0)]));
            }
        }
        Ok(Report {
            title: format!("finance, {} grid, {} runs of the chosen setting", self.effort.name(), self.runs),
            entries,
            blocks: vec![self.volatility(prices), Block { title: "what was chosen by the validation RMSE".into(), lines: chosen }],
            notes: vec![
                "mean ± sd over runs (the paper's ± is a standard error); + better than the paper, = within two of our standard errors, - worse".into(),
                "persistence: tomorrow's price is today's, with the sd of the daily changes of the training period".into(),
                "garch-t: GARCH(1,1) of daily changes with Student's law; forecast: what `negmm fit --sequence close` learns from the training period".into(),
                "the paper does not say where GME's test period ends; 2022-12-30 is the end that gives its volatility table".into(),
            ],
        })
    }

    fn volatility(&self, prices: &[Prices]) -> Block {
        let heading = ["", "daily sd", "paper", "annual", "paper", "largest drawdown", "paper"];
        let mut lines = vec![heading.map(str::to_string).to_vec()];
        for (stock, prices) in self.stocks.iter().zip(prices) {
            let Volatility { daily, annual, drawdown } = prices.volatility();
            let printed = PRINTED_VOLATILITY.iter().find(|(name, _)| *name == stock.name);
            let mut line = vec![stock.name.to_string()];
            for (at, ours) in [daily, annual, drawdown].into_iter().enumerate() {
                line.push(format!("{ours:.4}"));
                line.push(printed.map_or("-".into(), |(_, printed)| format!("{:.4}", printed[at])));
            }
            lines.push(line);
        }
        Block { title: "volatility".into(), lines }
    }
}
