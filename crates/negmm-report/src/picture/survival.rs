//! Responsible for survival: the share of targets beyond every value, as predicted and as observed where some are censored.

use negmm::censored::KaplanMeier;
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture, spread};
use crate::cases::Cases;
use crate::text::{num, percent};

/// Places of the predicted curve, and steps of the observed one, at most.
const PLACES: usize = 60;
const STEPS: usize = 400;

/// The mean of the predicted curves beside the Kaplan-Meier estimate; nothing where all targets are known, or where some are
/// intervals with two ends, which the estimate cannot tell from others.
pub fn survival(cases: &Cases, target: &str) -> Option<Picture> {
    let known = cases.known.as_ref().filter(|known| known.first_interval().is_none())?;
    let observed = KaplanMeier::of_targets(known, cases.weights.as_deref());
    let ends = |(low, high): (f64, f64), y: &f64| (low.min(*y), high.max(*y));
    let (first, last) = known.lower.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let place = |number: usize| first + (last - first) * (number as f64 / (PLACES - 1) as f64);
    let places: Vec<f64> = (0..PLACES).map(place).collect();
    let rows: Vec<usize> = (0..cases.len()).collect();
    let share = |place: &f64| {
        let each = cases.predictions.each(|row| row.survival(*place));
        cases.mean(&rows, |at| each[at])
    };
    let predicted: Vec<f64> = places.iter().map(share).collect();
    let gap = |at: &usize| (predicted[*at] - observed.beyond(places[*at])).abs();
    let widest = (0..PLACES).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    let told = format!(
        "Where they are furthest apart, {} are predicted beyond {} and {} observed.",
        percent(predicted[widest]),
        num(places[widest]),
        percent(observed.beyond(places[widest]))
    );
    let table = Grid::new([target, "predicted beyond", "observed beyond"]).filled(
        (0..PLACES).map(|at| vec![num(places[at]), percent(predicted[at]), percent(observed.beyond(places[at]))]),
    );
    let (x, y) = steps(&observed, first, last);
    let panel = Panel::new(Axis::new(target), Axis::new("share of targets beyond").percent().range(0.0, 1.0))
        .with(Mark::line(&x, &y).ink(Ink::Orange).width(1.5).name("observed (Kaplan-Meier)"))
        .with(Mark::line(&places, &predicted).ink(Ink::Blue).width(2.0).name("predicted, mean of all rows"));
    Some(Picture {
        file: "survival".into(),
        reading: "The share of targets beyond every value: the steps are estimated from all rows, those among them whose target is \
            only known to be larger, and the line is the mean of the predictions. They should run together; at the right end few \
            rows are left, and the steps are rough."
            .into(),
        figure: Figure::new("Predicted and observed survival", told).panel(panel),
        table,
    })
}

/// The corners of the steps from the first place to the last, thinned out where there are many.
fn steps(observed: &KaplanMeier, first: f64, last: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut x, mut y) = (vec![first], vec![1.0]);
    for at in spread(observed.places.len(), STEPS) {
        let before = y[y.len() - 1];
        x.extend([observed.places[at]; 2]);
        y.extend([before, observed.shares[at]]);
    }
    x.push(last);
    y.push(y[y.len() - 1]);
    (x, y)
}
