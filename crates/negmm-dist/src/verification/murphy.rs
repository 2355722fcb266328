//! Murphy diagrams: mean elementary scores over a parameter θ (Ehm, Gneiting, Jordan and Krüger, 2016).
//!
//! Every consistent score of a quantile or mean is a mixture of elementary scores, so a prediction whose curve is nowhere above
//! another's is better by all of them.

/// The elementary score at θ of the prediction `x` of the quantile of this level: scaled so that the integral over θ is the
/// quantile score.
pub fn elementary_quantile_score(x: f64, y: f64, level: f64, theta: f64) -> f64 {
    if y <= theta && theta < x {
        1.0 - level
    } else if x <= theta && theta < y {
        level
    } else {
        0.0
    }
}

/// The elementary score at θ of the prediction `x` of the mean: |y - θ| where θ lies between both.
pub fn elementary_mean_score(x: f64, y: f64, theta: f64) -> f64 {
    if x.min(y) <= theta && theta < x.max(y) { (y - theta).abs() } else { 0.0 }
}

/// The curve of a Murphy diagram: the mean elementary score at each θ, of quantiles of a level, or of means.
///
/// # Panics
/// When the numbers of predictions, targets and weights differ.
pub fn murphy_curve(x: &[f64], y: &[f64], weights: Option<&[f64]>, level: Option<f64>, thetas: &[f64]) -> Vec<f64> {
    assert_eq!(x.len(), y.len(), "one prediction for each target");
    assert!(weights.is_none_or(|weights| weights.len() == y.len()), "one weight for each target");
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..y.len()).map(weight).sum();
    let mean = |theta: &f64| {
        let of = |(row, (x, y)): (usize, (&f64, &f64))| {
            weight(row)
                * match level {
                    Some(level) => elementary_quantile_score(*x, *y, level, *theta),
                    None => elementary_mean_score(*x, *y, *theta),
                }
        };
        x.iter().zip(y).enumerate().map(of).sum::<f64>() / total
    };
    thetas.iter().map(mean).collect()
}
