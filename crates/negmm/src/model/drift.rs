//! Drift: how the oldest and the newest tenth of the rows differ, in their inputs and in the target given the inputs.

use std::fmt;
use std::ops::Range;

use negmm_data::{EncodedTable, Encoding, Input, TimeOrder};
use negmm_nn::dataset::{Dataset, VERY_MANY};
use serde::Serialize;

/// Inputs that are reported at most.
const MOST_INPUTS: usize = 5;
/// The smallest difference that is reported, in sds or as a total variation distance, if it is beyond chance.
const LEAST: f64 = 0.2;
/// Standard errors beyond which a difference is not chance.
const CLEAR: f64 = 4.0;

/// How the oldest and the newest tenth of the rows differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The column of times.
    pub time: String,
    /// Rows of each tenth.
    pub rows: usize,
    /// The inputs that differ most.
    pub inputs: Vec<InputDrift>,
    /// By how many sds of the residuals the target of the newest is higher than that of the oldest with the same inputs,
    /// where that is not chance.
    pub target: Option<f64>,
}

/// The difference of one input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputDrift {
    /// The input.
    pub name: String,
    /// By how many sds the mean of the newest is higher, where the input is a number.
    pub shift: Option<f64>,
    /// The total variation distance of the categories, where it is text.
    pub distance: Option<f64>,
}

impl InputDrift {
    fn size(&self) -> f64 {
        self.shift.map_or(0.0, f64::abs) + self.distance.unwrap_or(0.0)
    }
}

impl Drift {
    /// Of rows in the order of time, with the residuals of every k-th of them; `None` where nothing differs.
    pub(super) fn measured(
        encoded: &EncodedTable,
        order: &TimeOrder,
        rows: &[u32],
        residuals: Vec<f64>,
    ) -> Option<Self> {
        let tenth = rows.len() / 10;
        // Of very many rows every k-th.
        let every = rows.len().div_ceil(VERY_MANY);
        let (oldest, newest) = (&rows[..tenth], &rows[rows.len() - tenth..]);
        let chosen: Vec<u32> = oldest.iter().step_by(every).chain(newest.iter().step_by(every)).copied().collect();
        let data = encoded.data.select(&chosen);
        let (oldest, newest) = (0..chosen.len() / 2, chosen.len() / 2..chosen.len());
        let mut inputs = Vec::new();
        let mut first = 0;
        for input in encoded.encoder.inputs() {
            let features = first..first + input.encoding.features();
            // Other times drift as a matter of course.
            if !matches!(input.encoding, Encoding::Time(_)) && input.name != order.name && !features.is_empty() {
                inputs.extend(of_input(&data, input, features.clone(), (oldest.clone(), newest.clone())));
            }
            first = features.end;
        }
        inputs.sort_by(|a, b| b.size().total_cmp(&a.size()));
        inputs.truncate(MOST_INPUTS);
        let tenth_of_residuals = residuals.len() / 10;
        let (old, new) = (&residuals[..tenth_of_residuals], &residuals[residuals.len() - tenth_of_residuals..]);
        let target = shift(old, new);
        let drift = Self { time: order.name.clone(), rows: tenth, inputs, target };
        (!drift.inputs.is_empty() || drift.target.is_some()).then_some(drift)
    }
}

/// The drift of one input, if it is more than chance. Numbers are compared by their standardised feature, the first of
/// the input; categories by all their features of 0 and 1.
fn of_input(
    data: &Dataset,
    input: &Input,
    features: Range<usize>,
    (oldest, newest): (Range<usize>, Range<usize>),
) -> Option<InputDrift> {
    let feature = |rows: &Range<usize>, feature: usize| {
        rows.clone().map(|row| f64::from(data.x()[row * data.stride() + feature])).collect::<Vec<f64>>()
    };
    let name = input.name.clone();
    if data.numbers().contains(&features.start) {
        let shift = shift(&feature(&oldest, features.start), &feature(&newest, features.start))?;
        return Some(InputDrift { name, shift: Some(shift), distance: None });
    }
    let mean = |rows: &Range<usize>, at: usize| feature(rows, at).iter().sum::<f64>() / rows.len() as f64;
    let levels = features.clone().filter(|at| !data.numbers().contains(at));
    let pairs: Vec<(f64, f64)> = levels.map(|at| (mean(&oldest, at), mean(&newest, at))).collect();
    // The category without a feature has what is missing to 1.
    let rest = pairs.iter().fold((1.0, 1.0), |(old, new), pair| (old - pair.0, new - pair.1));
    let distance = pairs.iter().chain([&rest]).map(|(old, new)| (old - new).abs()).sum::<f64>() / 2.0;
    // Mean distance of two samples of one distribution: at most sqrt(levels / (pi n)).
    let chance = ((pairs.len() + 1) as f64 / (std::f64::consts::PI * oldest.len() as f64)).sqrt();
    (distance > LEAST + 2.0 * chance).then_some(InputDrift { name, shift: None, distance: Some(distance) })
}

/// The difference of two means in sds, if it is large and more than chance.
fn shift(old: &[f64], new: &[f64]) -> Option<f64> {
    let moments = |list: &[f64]| {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        (mean, list.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / list.len() as f64)
    };
    let ((old_mean, old_variance), (new_mean, new_variance)) = (moments(old), moments(new));
    let sd = (0.5 * (old_variance + new_variance)).sqrt();
    let shift = (new_mean - old_mean) / sd;
    let error = (2.0 / old.len() as f64).sqrt();
    (sd > 0.0 && shift.abs() > LEAST && shift.abs() > CLEAR * error).then_some(shift)
}

impl fmt::Display for Drift {
    /// One sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = |shift: f64| format!("{:.1} sd {}", shift.abs(), if shift > 0.0 { "higher" } else { "lower" });
        let mut parts: Vec<String> = Vec::new();
        if let Some(shift) = self.target {
            parts.push(format!("the target is {} given the inputs", direction(shift)));
        }
        parts.extend(self.inputs.iter().map(|input| match (input.shift, input.distance) {
            (Some(shift), _) => format!("{:?} is {}", input.name, direction(shift)),
            (None, distance) => {
                format!("{:?} has other categories in {:.0} % of the rows", input.name, 100.0 * distance.unwrap_or(0.0))
            }
        }));
        let rows = self.rows;
        write!(f, "drift by {:?}, newest tenth ({rows} rows) against oldest tenth: {}", self.time, parts.join(", "))
    }
}
