//! Scores mixtures of one's own, wherever they come from: exact answers, proper scores, calibration.

use negmm::score::{energy, hybrid, log};
use negmm::{Metrics, Mixtures, Predictions, Result};

fn main() -> Result<()> {
    // Two rows, two components each: weights, means and sds row after row.
    let mixtures = Mixtures::new(2, vec![0.3, 0.7, 0.5, 0.5], vec![-2.0, 1.0, 0.0, 4.0], vec![0.5, 0.8, 1.0, 0.3])?;
    let y = [0.9, 4.2];
    for (row, y) in mixtures.rows().zip(y) {
        let (nll, crps) = (log::value(row, y), energy::value(row, y));
        println!("y = {y}: NLL {nll:.4}, CRPS {crps:.4}, both halves {:.4}", hybrid::value(row, y, 0.5));
        assert!((hybrid::value(row, y, 0.5) - 0.5 * (nll + crps)).abs() < 1e-12);
        println!("  gradient of the CRPS with respect to the means: {:?}", energy::gradient(row, y).means);
    }
    let predictions = Predictions::from(mixtures);
    println!("medians {:?}", predictions.quantile(0.5)?);
    println!("probability above 3: {:?}", predictions.above(3.0)?);
    let metrics = Metrics::of(&predictions, &y)?;
    println!(
        "mean CRPS {:.4}, RMSE {:.4}, in the 90 % interval {}",
        metrics.crps,
        metrics.rmse,
        metrics.coverage.get(0.9).unwrap_or(f64::NAN)
    );
    Ok(())
}
