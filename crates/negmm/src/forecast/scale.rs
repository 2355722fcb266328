//! The scale of recent changes of a series at each step.

use serde::{Deserialize, Serialize};

use super::Series;

/// What is tried: how fast the past is forgotten, and how much of the recent past counts beside all of it.
const DECAYS: [f64; 5] = [0.8, 0.9, 0.95, 0.975, 0.99];
const BLENDS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Degrees of freedom of Student's law by which they are judged, and the share of the rms that is its scale.
const STUDENT: [(f64, f64); 3] = [(4.0, 0.7), (8.0, 0.87), (30.0, 0.97)];
/// Changes larger than so many scales count as so many.
pub(super) const FAR: f64 = 12.0;
/// The first of so many parts of a series only warms the scale up, of so many steps at most.
const WARM_UP_PART: usize = 4;
const LONGEST_WARM_UP: usize = 30;
/// Steps and series that choose, at most.
const MOST_STEPS: usize = 5_000;
const MOST_SERIES: usize = 50;
/// A scale is at least this share of the size of the values.
const LEAST: f64 = 1e-9;

/// The scale of changes over `lag` steps: root mean squares, recent^blend · whole^(1 - blend), times `unit`; where `relative`, of
/// changes as shares of the value they start from, times the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Scale {
    /// Steps of a change.
    pub(super) lag: usize,
    /// Whether changes are shares of the value that they start from.
    pub(super) relative: bool,
    /// How much of the recent mean square is left after a step.
    pub(super) decay: f64,
    /// How much the recent past counts.
    pub(super) blend: f64,
    /// Makes the changes' own rms 1.
    pub(super) unit: f64,
}

impl Scale {
    /// The one by which the changes over `lag` steps are most likely.
    pub(super) fn best(series: &[Series], lag: usize) -> Self {
        let positive = series.iter().all(|series| series.filled.iter().all(|value| *value > 0.0));
        let every = series.len().div_ceil(MOST_SERIES).max(1);
        let mut best: Option<(f64, Self)> = None;
        for relative in [false, true].into_iter().take(1 + usize::from(positive)) {
            for decay in DECAYS {
                for blend in BLENDS {
                    let scale = Self { lag, relative, decay, blend, unit: 1.0 };
                    let Some((score, unit)) = scale.likelihood(series.iter().step_by(every)) else { continue };
                    if best.is_none_or(|(found, _)| score > found) {
                        best = Some((score, Self { unit, ..scale }));
                    }
                }
            }
        }
        best.map_or(Self { lag, relative: false, decay: 0.95, blend: 0.5, unit: 1.0 }, |(_, scale)| scale)
    }

    /// The mean logarithm of the changes' density by Student's law, in the target's unit, and the rms of scaled changes.
    fn likelihood<'a>(self, series: impl Iterator<Item = &'a Series>) -> Option<(f64, f64)> {
        let mut scaled: Vec<(f64, f64)> = Vec::new();
        for series in series {
            let scales = self.at_each(series);
            let from = (series.len() / WARM_UP_PART).min(LONGEST_WARM_UP) + self.lag;
            let from = from.max(series.len().saturating_sub(MOST_STEPS));
            for step in from.max(self.lag)..series.len() {
                let origin = step - self.lag;
                if !series.values[step].is_nan() && !series.values[origin].is_nan() {
                    let scale = scales[origin] * self.level(series.filled[origin]);
                    scaled.push(((series.values[step] - series.values[origin]) / scale, libm::log(scale)));
                }
            }
        }
        if scaled.is_empty() {
            return None;
        }
        let count = scaled.len() as f64;
        let square = scaled.iter().map(|(change, _)| (change * change).min(FAR * FAR)).sum::<f64>() / count;
        let unit = square.sqrt().max(f64::MIN_POSITIVE);
        let logs = scaled.iter().map(|(_, log)| log).sum::<f64>() / count;
        let by = |(freedom, share): (f64, f64)| {
            let width = unit * share;
            let half = 0.5 * (freedom + 1.0);
            let constant = libm::lgamma(half)
                - libm::lgamma(0.5 * freedom)
                - 0.5 * libm::log(freedom * std::f64::consts::PI)
                - libm::log(width);
            let kernel = |change: f64| half * libm::log1p(change * change / (width * width * freedom));
            constant - scaled.iter().map(|(change, _)| kernel(*change)).sum::<f64>() / count - logs
        };
        Some((STUDENT.into_iter().map(by).fold(f64::NEG_INFINITY, f64::max), unit))
    }

    /// What a value of this size multiplies the scale by.
    pub(super) fn level(self, value: f64) -> f64 {
        if self.relative { value.abs().max(f64::MIN_POSITIVE) } else { 1.0 }
    }

    /// The same without regard to when.
    pub(super) fn of_all_times(self) -> Self {
        Self { blend: 0.0, unit: 1.0, ..self }
    }

    /// Whether its numbers can be.
    pub(super) fn is_sound(self) -> bool {
        let share = |number: f64| (0.0..=1.0).contains(&number);
        self.lag > 0 && share(self.decay) && share(self.blend) && self.unit.is_finite() && self.unit > 0.0
    }

    /// The scale after each step, from that step and those before it; without the level.
    pub(super) fn at_each(self, series: &Series) -> Vec<f64> {
        let (mut recent, mut recent_weight, mut whole, mut count, mut size) = (0.0, 0.0, 0.0, 0.0, 0.0_f64);
        let mut scales = Vec::with_capacity(series.len());
        for (step, value) in series.filled.iter().enumerate() {
            size = size.max(value.abs() / self.level(*value));
            let origin = step.checked_sub(self.lag).filter(|_| !series.values[step].is_nan());
            if let Some(origin) = origin {
                let from = series.filled[origin];
                let change = (value - from) / self.level(from);
                recent = self.decay * recent + (1.0 - self.decay) * change * change;
                recent_weight = self.decay * recent_weight + (1.0 - self.decay);
                whole += change * change;
                count += 1.0;
            }
            let least = LEAST * size.max(f64::MIN_POSITIVE.sqrt());
            let scale = if count > 0.0 {
                let (recent, whole) = ((recent / recent_weight).sqrt().max(least), (whole / count).sqrt().max(least));
                libm::pow(recent, self.blend) * libm::pow(whole, 1.0 - self.blend)
            } else {
                // A single value says nothing of changes: as large as itself.
                size.max(1.0)
            };
            scales.push(self.unit * scale);
        }
        scales
    }
}
