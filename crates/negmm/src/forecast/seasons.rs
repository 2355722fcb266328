//! Detection of seasonal periods.

use super::{Frequency, Series};

/// Minimum autocorrelation of changes at a seasonal lag.
const LEAST: f64 = 0.15;
/// The same where no frequency gives candidate periods.
const LEAST_WITHOUT_DATES: f64 = 0.3;
/// The same for the mean over many series, in which noise averages out.
const LEAST_OF_MANY: f64 = 0.15;
const MANY: usize = 10;
/// A longer season must exceed the autocorrelation at neighbouring multiples by BETTER, and is less than
/// MOST_MULTIPLES times the shorter.
const BETTER: f64 = 0.01;
const MOST_MULTIPLES: usize = 12;
/// The first peak may be lower than the highest by this much.
const NEARLY: f64 = 0.1;
/// Minimum number of seasons in a series.
const REPEATS: usize = 2;
/// Maximum numbers of steps and series used for detection.
const MOST_STEPS: usize = 20_000;
const MOST_SERIES: usize = 100;
/// Longest season considered without a frequency.
const LONGEST_WITHOUT_CANDIDATES: usize = 400;

/// The seasonal periods of these series, shortest first: lags with autocorrelated changes. Where the frequency has
/// dates, only its candidate periods are considered.
pub(super) fn found(series: &[Series], frequency: Frequency) -> Vec<usize> {
    let candidates = frequency.seasons();
    let longest = match candidates.iter().max() {
        Some(longest) => *longest,
        None => LONGEST_WITHOUT_CANDIDATES,
    };
    let correlation = mean_correlation(series, longest + 1);
    let at = |lag: usize| correlation.get(lag).copied().unwrap_or(0.0);
    if frequency.has_dates() {
        return candidates.into_iter().filter(|lag| at(*lag) >= LEAST).collect();
    }
    // The changes over a season sum to zero, so that some autocorrelation is negative. Noise in the values lowers the
    // first autocorrelation of a smooth series, which makes the second a peak, but leaves it positive.
    let opposed = (1..correlation.len()).find(|lag| at(*lag) < 0.0).unwrap_or(correlation.len());
    let least = if series.len() >= MANY { LEAST_OF_MANY } else { LEAST_WITHOUT_DATES };
    let is_peak = |lag: &usize| at(*lag) >= least && at(*lag) >= at(lag - 1) && at(*lag) > at(lag + 1);
    let peaks: Vec<usize> = (opposed + 1..correlation.len()).filter(is_peak).collect();
    let highest = peaks.iter().map(|lag| at(*lag)).fold(0.0, f64::max);
    // The first peak nearly as high as the highest, and the first of its multiples that exceeds its neighbours.
    let Some(first) = peaks.iter().copied().find(|lag| at(*lag) >= highest - NEARLY) else { return Vec::new() };
    let steps: usize = series.iter().map(|series| series.len().min(MOST_STEPS)).sum();
    let chance = 2.0 / (steps as f64).sqrt();
    let stands_out = |multiple: &usize| {
        let [before, own, after] = [multiple - 1, *multiple, multiple + 1].map(|multiple| at(multiple * first));
        own >= least && own > before.max(after) + BETTER + chance
    };
    let second = (2..MOST_MULTIPLES).find(stands_out).map(|multiple| multiple * first);
    [first].into_iter().chain(second).collect()
}

/// Autocorrelation of changes by lag, averaged over the series; up to `longest`, and as far as each series has two
/// seasons.
pub(super) fn mean_correlation(series: &[Series], longest: usize) -> Vec<f64> {
    let every = series.len().div_ceil(MOST_SERIES).max(1);
    let (mut sums, mut counts) = (vec![0.0; longest + 1], vec![0.0; longest + 1]);
    for series in series.iter().step_by(every) {
        let values = &series.filled[series.len().saturating_sub(MOST_STEPS)..];
        let mut changes: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
        changes.iter_mut().for_each(|change| *change -= mean);
        let square: f64 = changes.iter().map(|change| change * change).sum();
        if square == 0.0 {
            continue;
        }
        for lag in 1..=longest.min(changes.len() / REPEATS) {
            let products = changes[lag..].iter().zip(&changes).map(|(later, earlier)| later * earlier);
            sums[lag] += products.sum::<f64>() / square * changes.len() as f64 / (changes.len() - lag) as f64;
            counts[lag] += 1.0;
        }
    }
    sums.iter().zip(counts).map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    /// A series with this noise level.
    fn seasons(noise: f64, value: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut rng = Rng::new(1, 2);
        let mut noisy = |step: usize| value(step) + noise * normal::quantile(rng.uniform());
        let values: Vec<f64> = (0..3000).map(&mut noisy).collect();
        let rows = (0..values.len()).collect();
        found(&[Series { rows, filled: values.clone(), values, ..Series::default() }], Frequency::Rows)
    }

    #[test]
    fn a_season_is_found_through_noise() {
        let wave = |step: usize, length: f64| (std::f64::consts::TAU * step as f64 / length).sin();
        // Noise accounts for between none and more than half of the variance of changes.
        for noise in [0.0, 0.05, 0.1, 0.15] {
            assert_eq!(seasons(noise, |step| wave(step, 24.0)), [24], "{noise}");
        }
        for length in [2, 3, 7] {
            assert_eq!(seasons(0.1, |step| f64::from(u8::from(step % length == 0))), [length]);
        }
        assert_eq!(seasons(1.0, |_| 0.0), [0; 0]);
    }
}
