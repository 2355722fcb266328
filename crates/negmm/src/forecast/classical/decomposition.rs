//! Classical decomposition: seasonal indices around a centred moving average.

/// How a season acts on the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeasonKind {
    None,
    Additive,
    Multiplicative,
}

/// Two-sided 90 % quantile of the standard normal distribution: the test of a seasonal autocorrelation.
const SIGNIFICANT: f64 = 1.645;
/// Smallest multiplicative index.
pub(super) const LEAST_INDEX: f64 = 1e-3;

/// Seasonal indices of a history, by step % period.
#[derive(Clone, Debug)]
pub(super) struct Season {
    pub(super) kind: SeasonKind,
    pub(super) indices: Vec<f64>,
}

impl Season {
    /// The mean difference from the centred moving average (or ratio to it) by phase; neutral for less than two periods.
    pub(super) fn of(history: &[f64], period: usize, kind: SeasonKind) -> Self {
        let neutral = f64::from(u8::from(kind == SeasonKind::Multiplicative));
        if kind == SeasonKind::None || history.len() < 2 * period {
            let period = if kind == SeasonKind::None { 1 } else { period };
            return Self { kind, indices: vec![neutral; period] };
        }
        let half = period / 2;
        let ends = if period.is_multiple_of(2) { 0.5 } else { 1.0 };
        let mut sums = vec![(0.0, 0.0); period];
        let mut inner: f64 = history[1..2 * half].iter().sum();
        for step in half..history.len() - half {
            let average = (inner + ends * (history[step - half] + history[step + half])) / period as f64;
            inner += history[step + half] - history[step - half + 1];
            let index = match kind {
                SeasonKind::Multiplicative if average > 0.0 => history[step] / average,
                SeasonKind::Multiplicative => 1.0,
                _ => history[step] - average,
            };
            let (sum, count) = &mut sums[step % period];
            (*sum, *count) = (*sum + index, *count + 1.0);
        }
        let index = |(sum, count): &(f64, f64)| if *count > 0.0 { sum / count } else { neutral };
        let mut indices: Vec<f64> = sums.iter().map(index).collect();
        let mean = indices.iter().sum::<f64>() / period as f64;
        for index in &mut indices {
            *index = match kind {
                SeasonKind::Multiplicative if mean > 0.0 => (*index / mean).max(LEAST_INDEX),
                SeasonKind::Multiplicative => 1.0,
                _ => *index - mean,
            };
        }
        Self { kind, indices }
    }

    /// The history without the season.
    pub(super) fn removed(&self, history: &[f64]) -> Vec<f64> {
        let each = history.iter().enumerate();
        each.map(|(step, value)| match (self.kind, self.indices[step % self.indices.len()]) {
            (SeasonKind::None, _) => *value,
            (SeasonKind::Additive, index) => value - index,
            (SeasonKind::Multiplicative, index) => value / index,
        })
        .collect()
    }

    /// Adds the season to a forecast that begins at step `first`.
    pub(super) fn added(&self, first: usize, path: &mut [f64]) {
        for (ahead, value) in path.iter_mut().enumerate() {
            let index = self.indices[(first + ahead) % self.indices.len()];
            match self.kind {
                SeasonKind::None => {}
                SeasonKind::Additive => *value += index,
                SeasonKind::Multiplicative => *value *= index,
            }
        }
    }
}

/// Whether the autocorrelation at the period differs from zero at the 90 % level (the test of the Theta method).
pub(super) fn is_seasonal(history: &[f64], period: usize) -> bool {
    if period < 2 || history.len() < 3 * period {
        return false;
    }
    let steps = history.len() as f64;
    let mean = history.iter().sum::<f64>() / steps;
    let variance: f64 = history.iter().map(|value| (value - mean) * (value - mean)).sum();
    if variance <= 0.0 {
        return false;
    }
    let correlation = |lag: usize| {
        let products = history[lag..].iter().zip(history).map(|(later, earlier)| (later - mean) * (earlier - mean));
        products.sum::<f64>() / variance
    };
    let squares: f64 = (1..period).map(correlation).map(|correlation| correlation * correlation).sum();
    correlation(period).abs() > SIGNIFICANT * ((1.0 + 2.0 * squares) / steps).sqrt()
}

/// Mean and slope of the line through the values, by least squares; the mean is that of the middle step.
pub(super) fn line(values: &[f64]) -> (f64, f64) {
    let steps = values.len() as f64;
    let (middle, mean) = ((steps - 1.0) / 2.0, values.iter().sum::<f64>() / steps);
    let (mut products, mut squares) = (0.0, 0.0);
    for (step, value) in values.iter().enumerate() {
        let distance = step as f64 - middle;
        products += distance * (value - mean);
        squares += distance * distance;
    }
    (mean, if squares > 0.0 { products / squares } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_on_a_line_is_separated_from_it() {
        let pattern = [3.0, -1.0, -4.0, 2.0];
        let additive: Vec<f64> = (0..24).map(|step| 10.0 + 0.5 * step as f64 + pattern[step % 4]).collect();
        let season = Season::of(&additive, 4, SeasonKind::Additive);
        for (index, truth) in season.indices.iter().zip(pattern) {
            assert!((index - truth).abs() < 1e-9, "{season:?}");
        }
        let flat = season.removed(&additive);
        let (mean, slope) = line(&flat);
        assert!((slope - 0.5).abs() < 1e-9 && (mean - 10.0 - 0.5 * 11.5).abs() < 1e-9);
        let mut path = vec![22.0, 22.5];
        season.added(24, &mut path);
        assert!((path[0] - 25.0).abs() < 1e-9 && (path[1] - 21.5).abs() < 1e-9);
        let ratios = [1.5, 0.5, 1.2, 0.8, 1.0];
        let multiplied: Vec<f64> = (0..25).map(|step| 8.0 * ratios[step % 5]).collect();
        let season = Season::of(&multiplied, 5, SeasonKind::Multiplicative);
        assert!(season.indices.iter().zip(ratios).all(|(index, truth)| (index - truth).abs() < 1e-9), "{season:?}");
        assert!(is_seasonal(&multiplied, 5) && !is_seasonal(&[1.0; 30], 5) && !is_seasonal(&multiplied, 12));
    }
}
