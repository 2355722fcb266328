//! The default forecaster of negmm: `auto` on scaled changes.

use negmm::data::{Column, Table};
use negmm::forecast::{BacktestOrigins, SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::{FitOptions, Predictions, Result};

use super::Prices;
use crate::Effort;

/// Training steps of the quick effort.
const QUICK_STEPS: usize = 100;

/// One-step forecasts of the test days, by a forecaster trained on the training period.
pub(super) fn predictions(prices: &Prices, effort: Effort, seed: u64) -> Result<Predictions> {
    let close = prices.close();
    let days = prices.split.train.len();
    let table = |close: &[f64]| Table::new(vec![("close", Column::Numbers(close.to_vec()))]);
    let auto = match effort {
        Effort::Quick => Auto::default().steps(QUICK_STEPS),
        _ => Auto::default(),
    };
    let options = FitOptions::default().seed(seed);
    let forecaster = fit_forecaster(&table(&close[..days])?, &SeriesSpec::of("close"), &auto, &options)?.forecaster;
    let all = table(close)?;
    let histories = forecaster.histories(&all)?;
    let points = forecaster.points(&histories, BacktestOrigins::default().test_size(close.len() - days).stride(1));
    Ok(forecaster.predict(&all, &histories, points)?.predictions)
}
