//! The three stocks: their files, the paper's periods, their volatility.

use std::path::Path;

use negmm::compare::Split;
use negmm::data::Column;
use negmm::{Error, Predictions, Result, Table};

use crate::Scores;

/// Trading days of a year.
const DAYS: f64 = 252.0;

/// A stock and its periods: dates as in the files, so that they sort as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stock {
    /// Its name in tables and the name of its file.
    pub name: &'static str,
    first: &'static str,
    /// The last day of training.
    last_train: &'static str,
    last: &'static str,
}

/// The paper's three. It does not say where the last period ends; the end of 2022 gives its volatility table.
pub const STOCKS: [Stock; 3] = [
    Stock { name: "goog", first: "2019-01-01", last_train: "2022-07-31", last: "2023-01-31" },
    Stock { name: "rcl", first: "2019-01-01", last_train: "2020-04-30", last: "2020-09-30" },
    Stock { name: "gme", first: "2020-11-01", last_train: "2022-01-31", last: "2022-12-31" },
];

/// The closing prices of a stock in its period.
#[derive(Clone, Debug)]
pub struct Prices {
    /// One column `close`, oldest first.
    pub table: Table,
    /// The dates of its rows.
    pub dates: Vec<String>,
    /// Training days and test days.
    pub split: Split,
    /// The closing price of the trading day before the period.
    before: Option<f64>,
}

/// The paper's three measures of risk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volatility {
    /// Standard deviation of daily returns, divided by n - 1.
    pub daily: f64,
    /// The same, annualised.
    pub annual: f64,
    /// The maximum drawdown.
    pub drawdown: f64,
}

impl Stock {
    /// The stock of that name.
    pub fn by_name(name: &str) -> Result<Self> {
        STOCKS
            .into_iter()
            .find(|stock| stock.name == name)
            .ok_or_else(|| Error::options(format!("there is no stock {name:?}; the stocks are goog, rcl, gme")))
    }

    /// Reads its prices from the folder of the data.
    pub fn read(&self, data: &Path) -> Result<Prices> {
        let path = data.join("stocks").join(format!("{}.csv", self.name));
        let table = Table::read(&path)?;
        let missing = |name: &str| Error::data(format!("expected a column {name:?}")).at(path.display().to_string());
        let Some(Column::Text { codes, levels }) = table.column("date") else { return Err(missing("date")) };
        let Some(Column::Numbers(close)) = table.column("close") else { return Err(missing("close")) };
        let days = codes
            .iter()
            .zip(close)
            .map(|(code, close)| (levels.get(*code as usize).cloned().unwrap_or_default(), *close));
        let days: Vec<(String, f64)> = days.collect();
        let before = days.iter().rfind(|(date, _)| date.as_str() < self.first).map(|(_, close)| *close);
        let inside = |(date, _): &(String, f64)| (self.first..=self.last).contains(&date.as_str());
        let (dates, close): (Vec<String>, Vec<f64>) = days.into_iter().filter(inside).unzip();
        let train = dates.iter().filter(|date| date.as_str() <= self.last_train).count();
        if train == 0 || train == dates.len() || !dates.is_sorted() {
            let message = format!("expected days from {} to {}, oldest first", self.first, self.last);
            return Err(Error::data(message).at(path.display().to_string()));
        }
        let split = Split { train: (0..train).collect(), test: (train..dates.len()).collect() };
        Ok(Prices { table: Table::new(vec![("close", Column::Numbers(close))])?, dates, split, before })
    }
}

impl Prices {
    /// Scores of forecasts of the test days.
    pub fn scores(&self, predictions: &Predictions) -> Result<Scores> {
        let (train, test) = self.close().split_at(self.split.train.len());
        Scores::of(predictions, test, sd(train))
    }

    /// The closing prices.
    pub fn close(&self) -> &[f64] {
        match self.table.column("close") {
            Some(Column::Numbers(close)) => close,
            _ => &[],
        }
    }

    /// Of the whole period, with the first return from the day before it: the convention that reproduces the paper's table.
    pub fn volatility(&self) -> Volatility {
        let close: Vec<f64> = self.before.into_iter().chain(self.close().iter().copied()).collect();
        let returns: Vec<f64> = close.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
        let mean = returns.iter().sum::<f64>() / returns.len() as f64;
        let squares: f64 = returns.iter().map(|change| (change - mean) * (change - mean)).sum();
        let daily = (squares / (returns.len() as f64 - 1.0)).sqrt();
        let mut peak = f64::NEG_INFINITY;
        let mut drawdown = 0f64;
        for price in close {
            peak = peak.max(price);
            drawdown = drawdown.max(1.0 - price / peak);
        }
        Volatility { daily, annual: daily * DAYS.sqrt(), drawdown }
    }
}
fn sd(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count).sqrt()
}
