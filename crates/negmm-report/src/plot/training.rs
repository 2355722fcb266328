//! Learning curves: training loss and validation scores over epochs, and the best epoch.

use negmm::Model;
use negmm::train::{Epoch, History};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::text::{count, counted, num};

/// Points of a line.
const POINTS: usize = 250;
/// Networks shown, at most.
const LINES: usize = 20;

/// Learning curves; empty for a model without epochs.
pub fn training(model: &Model) -> Vec<Plot> {
    let histories: Vec<&History> =
        model.record().histories.iter().filter(|history| !history.epochs.is_empty()).collect();
    if histories.is_empty() {
        return Vec::new();
    }
    let step = match model.method().name() {
        "ngboost" => "round",
        // Validation happens at intervals of steps.
        "auto" => "validation",
        _ => "epoch",
    };
    let curves = [
        Curve { name: "loss", title: "Training loss", label: "loss", value: &|epoch| epoch.loss },
        Curve {
            name: "validation-nll",
            title: "Validation: log score",
            label: "validation NLL",
            value: &|epoch| epoch.validation.and_then(|validation| validation.nll),
        },
        Curve {
            name: "validation-crps",
            title: "Validation: CRPS",
            label: "validation CRPS",
            value: &|epoch| epoch.validation.and_then(|validation| validation.crps),
        },
    ];
    let calibrated = Curve {
        name: "validation-calibrated",
        title: "Validation: calibrated log score",
        label: "calibrated validation NLL",
        value: &|epoch| epoch.validation.and_then(|validation| validation.calibrated),
    };
    curves.iter().chain([&calibrated]).filter_map(|curve| curve.plot(&histories, step)).collect()
}

/// A learning curve.
struct Curve<'a> {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    value: &'a dyn Fn(&Epoch) -> Option<f64>,
}

impl Curve<'_> {
    fn plot(&self, histories: &[&History], step: &str) -> Option<Plot> {
        let value = |epoch: &Epoch| (self.value)(epoch).filter(|value| value.is_finite()).unwrap_or(f64::NAN);
        if !histories.iter().any(|history| history.epochs.iter().any(|epoch| value(epoch).is_finite())) {
            return None;
        }
        let many = histories.len() > 1;
        let mut panel = Panel::new(Axis::new(step).include(1.0), Axis::new(self.label));
        let legend = if many { "each network" } else { self.label };
        let (width, opacity) = if many { (1.0, 0.55) } else { (1.8, 1.0) };
        for history in histories.iter().take(LINES) {
            let shown = evenly_spaced(history.epochs.len(), POINTS);
            let x: Vec<f64> = shown.iter().map(|at| (at + 1) as f64).collect();
            let y: Vec<f64> = shown.iter().map(|at| value(&history.epochs[*at])).collect();
            panel = panel.with(Mark::line(&x, &y).colour(Colour::Blue).width(width).opacity(opacity).name(legend));
        }
        let best = |history: &&&History| {
            let epoch = history.epochs.get(history.best_epoch)?;
            Some(((history.best_epoch + 1) as f64, value(epoch)))
        };
        let (x, y): (Vec<f64>, Vec<f64>) = histories.iter().take(LINES).filter_map(|history| best(&history)).unzip();
        panel = panel.with(Mark::points(&x, &y).colour(Colour::Orange).width(7.0).name("best"));
        let skipped: usize = histories.iter().map(|history| history.skipped()).sum();
        let table = TextTable::new(["network", step, self.label, ""]).filled(histories.iter().enumerate().flat_map(
            |(network, history)| {
                evenly_spaced(history.epochs.len(), if many { 5 } else { 30 }).into_iter().map(move |at| {
                    let best = if at == history.best_epoch { "best" } else { "" };
                    vec![count(network + 1), count(at + 1), num(value(&history.epochs[at])), best.into()]
                })
            },
        ));
        let networks = if many { format!(", {} networks", count(histories.len())) } else { String::new() };
        let steps = histories.iter().map(|history| history.epochs.len()).max().unwrap_or(0);
        Some(Plot {
            name: self.name.into(),
            caption: match self.name {
                "loss" => format!(
                    "The training loss, in units of the standardised target: it should \
                     decrease and level off. {}",
                    match skipped {
                        0 => "No step was skipped.".into(),
                        _ => format!("{} skipped, because they were not finite.", counted(skipped, "step")),
                    }
                ),
                _ => format!(
                    "The score on validation rows, in units of the standardised target: where it stops decreasing the network \
                     begins to overfit; the point is the {step} whose weights were kept."
                ),
            },
            figure: Figure::new(
                self.title,
                format!(
                    "Over {}{networks}; best {step} {}.",
                    counted(steps, step),
                    x.iter().map(|x| count(*x as usize)).take(5).collect::<Vec<_>>().join(", ")
                ),
            )
            .panel(panel),
            table,
        })
    }
}
