//! Decomposition of scores into miscalibration, discrimination and uncertainty, by isotonic regression (CORP).
//!
//! At a threshold t the probabilities p = F(t) of the event Y <= t are recalibrated by the isotonic regression p' of the outcomes
//! on them (Dimitriadis, Gneiting and Jordan, 2021). With the event's frequency p0 and mean Brier scores S,
//!
//! ```text
//! miscalibration = S(p) - S(p'),   discrimination = S(p0) - S(p'),   uncertainty = S(p0)
//! S(p) = miscalibration - discrimination + uncertainty
//! ```
//!
//! The CRPS is the integral of the Brier score over all thresholds, and so are its three parts (Arnold, Walz, Ziegel and
//! Gneiting, 2024). It is taken here over a grid of thresholds.

/// The parts of a mean score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decomposition {
    /// The mean score.
    pub score: f64,
    /// Miscalibration: what recalibration would gain; 0 is best.
    pub miscalibration: f64,
    /// Discrimination: what recalibrated predictions gain over the constant one; larger is better.
    pub discrimination: f64,
    /// Uncertainty: the score of the constant prediction of the observed frequencies.
    pub uncertainty: f64,
}

/// Thresholds for [`decompose`]: `count` equally spaced values from the smallest to the largest of `y`, and the width that each
/// stands for. The decomposition is the integral over that range.
pub fn threshold_grid(y: &[f64], count: usize) -> (Vec<f64>, f64) {
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(*y), high.max(*y)));
    if low >= high || count == 0 {
        return (Vec::new(), 0.0);
    }
    let width = (high - low) / count as f64;
    ((0..count).map(|at| low + width * (at as f64 + 0.5)).collect(), width)
}

/// Thresholds of [`decompose_crps`].
const THRESHOLDS: usize = 100;

/// The decomposition of the CRPS within the range of the targets, by 100 thresholds; none where all targets are equal or all weights
/// are 0. `cdf` is the predicted cdf of a row at a threshold.
pub fn decompose_crps(cdf: impl Fn(usize, f64) -> f64, y: &[f64], weights: Option<&[f64]>) -> Option<Decomposition> {
    let (thresholds, width) = threshold_grid(y, THRESHOLDS);
    let some = weights.is_none_or(|weights| weights.iter().sum::<f64>() > 0.0) && !thresholds.is_empty();
    some.then(|| decompose(&cdf_at(cdf, y.len(), &thresholds), y, weights, &thresholds, width))
}

/// The decomposition of the Brier score of the event Y <= `threshold`; none where all weights are 0.
pub fn decompose_brier(
    cdf: impl Fn(usize, f64) -> f64,
    y: &[f64],
    weights: Option<&[f64]>,
    threshold: f64,
) -> Option<Decomposition> {
    let some = weights.is_none_or(|weights| weights.iter().sum::<f64>() > 0.0) && !y.is_empty();
    some.then(|| decompose(&cdf_at(cdf, y.len(), &[threshold]), y, weights, &[threshold], 1.0))
}

/// P(Y <= threshold), rows × thresholds.
fn cdf_at(cdf: impl Fn(usize, f64) -> f64, rows: usize, thresholds: &[f64]) -> Vec<f64> {
    (0..rows)
        .flat_map(|row| thresholds.iter().map(move |threshold| (row, *threshold)))
        .map(|(row, at)| cdf(row, at))
        .collect()
}

/// The decomposition of the score integrated over `thresholds`, each of which stands for `width`: `cdf` is rows × thresholds, the
/// predicted P(Y <= threshold).
///
/// # Panics
/// When the numbers of rows differ.
pub fn decompose(cdf: &[f64], y: &[f64], weights: Option<&[f64]>, thresholds: &[f64], width: f64) -> Decomposition {
    assert_eq!(cdf.len(), y.len() * thresholds.len(), "one probability for each row and threshold");
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..y.len()).map(weight).sum();
    let mut sum = Decomposition::default();
    for (at, threshold) in thresholds.iter().enumerate() {
        let mut rows: Vec<(f64, f64, f64)> = (0..y.len())
            .map(|row| (cdf[row * thresholds.len() + at], f64::from(u8::from(y[row] <= *threshold)), weight(row)))
            .collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let fitted = isotonic_regression(&rows);
        let frequency = rows.iter().map(|(_, event, weight)| event * weight).sum::<f64>() / total;
        let mean = |score: &dyn Fn(usize) -> f64| {
            rows.iter().enumerate().map(|(at, row)| row.2 * score(at)).sum::<f64>() / total
        };
        let square = |difference: f64| difference * difference;
        let score = mean(&|at| square(rows[at].0 - rows[at].1));
        let recalibrated = mean(&|at| square(fitted[at] - rows[at].1));
        let uncertainty = mean(&|at| square(frequency - rows[at].1));
        sum.score += width * score;
        sum.miscalibration += width * (score - recalibrated);
        sum.discrimination += width * (uncertainty - recalibrated);
        sum.uncertainty += width * uncertainty;
    }
    sum
}

/// Isotonic regression by pooling adjacent violators: the non-decreasing fit of least squares to `rows` of (x, y, weight), which
/// are sorted by x; rows of equal x get one value.
pub fn isotonic_regression(rows: &[(f64, f64, f64)]) -> Vec<f64> {
    // Blocks: sum of weighted values, weight, rows.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    let mut last = f64::NAN;
    for (x, y, weight) in rows {
        if *x == last
            && let Some(block) = blocks.last_mut()
        {
            *block = (block.0 + y * weight, block.1 + weight, block.2 + 1);
        } else {
            blocks.push((y * weight, *weight, 1));
        }
        last = *x;
        while let [.., a, b] = blocks[..] {
            if a.0 * b.1 < b.0 * a.1 {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push((a.0 + b.0, a.1 + b.1, a.2 + b.2));
        }
    }
    blocks
        .iter()
        .flat_map(|(sum, weight, rows)| std::iter::repeat_n(if *weight > 0.0 { sum / weight } else { 0.0 }, *rows))
        .collect()
}
