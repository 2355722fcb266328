//! Notes of a fit for the user: a model no better than the constant baseline, probability outside the natural bounds.

use super::HeldOut;
use negmm_data::Target;
use negmm_dist::{Hint, Result, Warning};

/// Probability beyond a natural bound above which there is a note.
const BEYOND: f64 = 1e-3;

/// Notes on held-out predictions, with each row's score and that of the baseline.
pub(super) fn remarks(held_out: &HeldOut, scores: [&[f64]; 2], target: &Target) -> Result<Vec<Warning>> {
    let mut remarks = Vec::new();
    if !beats(held_out, scores) {
        remarks.push(Warning::new(format!(
            "no better than the constant baseline: the inputs say nothing of {:?} that {} held-out rows could show",
            target.name,
            held_out.y.len()
        )));
    }
    remarks.extend(beyond(held_out, target)?);
    Ok(remarks)
}

/// Whether the predictions' scores are lower than the baseline's by more than the standard error of the difference;
/// true without rows.
fn beats(held_out: &HeldOut, [ours, theirs]: [&[f64]; 2]) -> bool {
    let weight = |row: usize| held_out.sample_weights.as_ref().map_or(1.0, |weights| weights[row]);
    let saved = |row: usize| theirs[row] - ours[row];
    let sum = |of: &dyn Fn(usize) -> f64| (0..ours.len()).map(|row| weight(row) * of(row)).sum::<f64>();
    let total = sum(&|_| 1.0);
    if total == 0.0 {
        return true;
    }
    let mean = sum(&saved) / total;
    let variance = sum(&|row| (saved(row) - mean) * (saved(row) - mean)) / total;
    mean > (variance / ours.len() as f64).sqrt() || mean.is_nan()
}

/// A note where all targets are on one side of 0, or also of 1, and predictions are not.
fn beyond(held_out: &HeldOut, target: &Target) -> Result<Option<Warning>> {
    let (least, most) =
        held_out.y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), y| (least.min(*y), most.max(*y)));
    let (lower, upper) = target.support.bounds();
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len().max(1) as f64;
    let below = |bound: f64| held_out.predictions.below(bound).map(mean);
    let above = |bound: f64| held_out.predictions.above(bound).map(mean);
    let fraction = least >= 0.0 && most <= 1.0;
    let (outside, range, bounds) = match () {
        _ if target.constant || held_out.y.is_empty() => return Ok(None),
        _ if fraction && lower < 0.0 && upper > 1.0 => {
            (below(0.0)? + above(1.0)?, "outside 0 to 1", vec![("lower", "0"), ("upper", "1")])
        }
        _ if least >= 0.0 && lower < 0.0 => (below(0.0)?, "below 0", vec![("lower", "0")]),
        _ if most <= 0.0 && upper > 0.0 => (above(0.0)?, "above 0", vec![("upper", "0")]),
        _ => return Ok(None),
    };
    Ok((outside > BEYOND).then(|| {
        let message = format!(
            "{:.1} % of the predicted probability lies {range}, where no target of training is",
            100.0 * outside
        );
        let settings = bounds.into_iter().map(|(option, bound)| (option, bound.to_string())).collect();
        Warning::new(message).with_hint(Hint::SetOptions { settings }.when("if none can be there"))
    }))
}
