//! The persistence baseline: a normal distribution around the last price.

use negmm::{Mixtures, Predictions, Result};

use super::Prices;

/// For each test day the price of the day before, with the sd of the daily changes in training.
pub(super) fn predictions(prices: &Prices) -> Result<Predictions> {
    let close = prices.close();
    let days = prices.split.train.len();
    let changes: Vec<f64> = close[..days].windows(2).map(|pair| pair[1] - pair[0]).collect();
    let sd = (changes.iter().map(|change| change * change).sum::<f64>() / changes.len() as f64).sqrt();
    let means = close[days - 1..close.len() - 1].to_vec();
    let count = means.len();
    Ok(Mixtures::new(1, vec![1.0; count], means, vec![sd; count])?.into())
}
