//! The survival plot of censored targets: mean predicted survival and the Kaplan-Meier estimate.

use negmm::Distribution;
use negmm::censored::KaplanMeier;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::evaluation_set::EvaluationSet;
use crate::text::{num, percent};

/// Points of the predicted curve, and steps of the observed one, at most.
const POINTS: usize = 60;
const STEPS: usize = 400;

/// The mean of the predicted survival functions and the Kaplan-Meier estimate; `None` where no target is censored, or where some are
/// interval-censored, which the estimate does not cover.
pub fn survival(evaluation: &EvaluationSet, target: &str) -> Option<Plot> {
    let known = evaluation.known.as_ref().filter(|known| known.first_interval().is_none())?;
    let observed = KaplanMeier::of_targets(known, evaluation.weights.as_deref());
    let ends = |(low, high): (f64, f64), y: &f64| (low.min(*y), high.max(*y));
    let (first, last) = known.lower.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let point = |number: usize| first + (last - first) * (number as f64 / (POINTS - 1) as f64);
    let points: Vec<f64> = (0..POINTS).map(point).collect();
    let rows: Vec<usize> = (0..evaluation.len()).collect();
    let survival = |x: &f64| {
        let each = evaluation.predictions.each(|row| row.survival(*x));
        evaluation.mean(&rows, |at| each[at])
    };
    let predicted: Vec<f64> = points.iter().map(survival).collect();
    let gap = |at: &usize| (predicted[*at] - observed.beyond(points[*at])).abs();
    let widest = (0..POINTS).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    let description = format!(
        "At the largest difference, {} are predicted above {} and {} observed.",
        percent(predicted[widest]),
        num(points[widest]),
        percent(observed.beyond(points[widest]))
    );
    let table = TextTable::new([target, "predicted survival", "observed survival"]).filled(
        (0..POINTS).map(|at| vec![num(points[at]), percent(predicted[at]), percent(observed.beyond(points[at]))]),
    );
    let (x, y) = steps(&observed, first, last);
    let panel = Panel::new(Axis::new(target), Axis::new("survival").percent().range(0.0, 1.0))
        .with(Mark::line(&x, &y).colour(Colour::Orange).width(1.5).name("observed (Kaplan-Meier)"))
        .with(Mark::line(&points, &predicted).colour(Colour::Blue).width(2.0).name("predicted, mean of all rows"));
    Some(Plot {
        name: "survival".into(),
        caption: "The fraction of targets above every value: the Kaplan-Meier estimate from all rows, censored ones included, and the \
            mean of the predictions. They should agree; at the right end few rows are left, and the estimate is rough."
            .into(),
        figure: Figure::new("Predicted and observed survival", description).panel(panel),
        table,
    })
}

/// The corners of the step function from `first` to `last`, thinned out where there are many.
fn steps(observed: &KaplanMeier, first: f64, last: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut x, mut y) = (vec![first], vec![1.0]);
    for at in evenly_spaced(observed.times.len(), STEPS) {
        let before = y[y.len() - 1];
        x.extend([observed.times[at]; 2]);
        y.extend([before, observed.survival[at]]);
    }
    x.push(last);
    y.push(y[y.len() - 1]);
    (x, y)
}
