//! The scale of recent changes of a series at each step.

use serde::{Deserialize, Serialize};

use super::Series;

/// Candidates: decay of the moving average, and its weight against the mean over the whole past.
const DECAYS: [f64; 5] = [0.8, 0.9, 0.95, 0.975, 0.99];
const BLENDS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Degrees of freedom of the Student t distributions for the likelihood, and their scale relative to the rms.
const STUDENT: [(f64, f64); 3] = [(4.0, 0.7), (8.0, 0.87), (30.0, 0.97)];
/// Scaled changes are clipped at this value.
pub(super) const FAR: f64 = 12.0;
/// The first 1/WARM_UP_PART of a series, at most LONGEST_WARM_UP steps, does not count in the likelihood.
const WARM_UP_PART: usize = 4;
const LONGEST_WARM_UP: usize = 30;
/// Maximum numbers of steps and series used for estimation.
const MOST_STEPS: usize = 5_000;
const MOST_SERIES: usize = 50;
/// Smallest scale relative to the size of the values.
const LEAST: f64 = 1e-9;

/// The scale of changes over `lag` steps: `unit` · recent^blend · whole^(1 - blend), with the root mean squares of
/// the recent and the whole past. Where `relative`, changes are divided by the value they start from, and the scale
/// is multiplied by the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Scale {
    /// Steps that a change spans.
    pub(super) lag: usize,
    /// Whether changes are relative to the value they start from.
    pub(super) relative: bool,
    /// Decay of the moving average per step.
    pub(super) decay: f64,
    /// Weight of the recent past.
    pub(super) blend: f64,
    /// Normalises the rms of scaled changes to 1.
    pub(super) unit: f64,
}

impl Scale {
    /// The maximum-likelihood scale of changes over `lag` steps.
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

    /// The mean log density of the changes under a Student t distribution, in the target's unit, and the rms of
    /// scaled changes.
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
        let by = |(freedom, ratio): (f64, f64)| {
            let width = unit * ratio;
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

    /// The factor of the scale for a value of this level.
    pub(super) fn level(self, value: f64) -> f64 {
        if self.relative { value.abs().max(f64::MIN_POSITIVE) } else { 1.0 }
    }

    /// The same scale, constant in time.
    pub(super) fn of_all_times(self) -> Self {
        Self { blend: 0.0, unit: 1.0, ..self }
    }

    /// Whether the parameters are in range.
    pub(super) fn is_sound(self) -> bool {
        let in_unit_range = |number: f64| (0.0..=1.0).contains(&number);
        self.lag > 0
            && in_unit_range(self.decay)
            && in_unit_range(self.blend)
            && self.unit.is_finite()
            && self.unit > 0.0
    }

    /// The scale at each step, from that step and those before it; without the factor for the level.
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
                // There is no change yet: use the size of the value.
                size.max(1.0)
            };
            scales.push(self.unit * scale);
        }
        scales
    }
}
