//! The plot of a comparison: the scores of every method with their standard errors.

use negmm::compare::{Comparison, Metric};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use crate::text::num;

/// Draws the scores of `methods`, named in the order of the comparison.
pub fn comparison(title: &str, methods: &[String], comparison: &Comparison) -> Figure {
    // There is no CRPS of censored targets, nor of several.
    let metrics = comparison.metrics();
    let first = [(Metric::Crps, "CRPS"), (Metric::Energy, "energy score")];
    let (metric, score) =
        first.into_iter().find(|(metric, _)| metrics.contains(metric)).unwrap_or((Metric::Nll, "NLL"));
    let mean = |at: usize| num(comparison.summary(at, metric).mean);
    let scores: Vec<String> = methods.iter().enumerate().map(|(at, name)| format!("{name} {}", mean(at))).collect();
    let figure = Figure::new(format!("Methods compared on {title}"), format!("Mean {score}: {}.", scores.join(", ")))
        .columns(2)
        .panel_size(400.0, 80.0 + 24.0 * methods.len().max(3) as f64);
    metrics.into_iter().fold(figure, |figure, metric| figure.panel(panel(methods, comparison, metric)))
}

fn panel(methods: &[String], comparison: &Comparison, metric: Metric) -> Panel {
    let (title, label) = match metric {
        Metric::Rmse => ("RMSE", "lower is better"),
        Metric::Nll => ("NLL", "lower is better"),
        Metric::MassNll => ("Mass NLL", "lower is better"),
        Metric::Crps => ("CRPS", "lower is better"),
        Metric::IntegratedBrier => ("Integrated Brier score", "lower is better"),
        Metric::Concordance => ("Concordance", "higher is better, 0.5 is random"),
        Metric::Energy => ("Energy score", "lower is better"),
        Metric::Variogram => ("Variogram score", "lower is better"),
        Metric::CrpsOfSum => ("CRPS of the sum", "lower is better"),
        Metric::RegionCoverage => ("Coverage of the 90 % region", "nominal: 90 %"),
        Metric::Coverage => ("Coverage of the 95 % interval", "nominal: 95 %"),
        Metric::Width => ("Width of the 95 % interval", "lower is better at the nominal coverage"),
        Metric::Seconds => ("Seconds per fit", "lower is better"),
    };
    let summaries: Vec<_> = (0..methods.len()).map(|at| comparison.summary(at, metric)).collect();
    let positions: Vec<f64> = (0..methods.len()).map(|at| at as f64).collect();
    let means: Vec<f64> = summaries.iter().map(|summary| summary.mean).collect();
    // A single split has no standard error.
    let error = |at: usize| if summaries[at].se.is_finite() { summaries[at].se } else { 0.0 };
    let end = |sign: f64| (0..methods.len()).map(|at| means[at] + sign * error(at)).collect::<Vec<f64>>();
    let (lower, upper) = (end(-1.0), end(1.0));
    // The baseline is often so far off that the others would not be distinguishable.
    let others = |at: &usize| methods[*at] != "constant" || methods.len() < 3;
    let low = (0..methods.len()).filter(others).map(|at| lower[at]).fold(f64::INFINITY, f64::min);
    let high = (0..methods.len()).filter(others).map(|at| upper[at]).fold(f64::NEG_INFINITY, f64::max);
    let far = (0..methods.len()).find(|at| means[*at] > high + 2.0 * (high - low));
    let x = match metric {
        Metric::Coverage | Metric::RegionCoverage => Axis::new(label).percent(),
        Metric::Seconds => Axis::new(label).include(0.0),
        _ if far.is_some() && high > low => {
            Axis::new(label).range(low - 0.08 * (high - low), high + 0.08 * (high - low))
        }
        _ => Axis::new(label),
    };
    let mut panel = Panel::new(x, Axis::categories("", methods).range(methods.len() as f64 - 0.5, -0.5)).title(title);
    let nominal = match metric {
        Metric::Coverage => Some(0.95),
        Metric::RegionCoverage => Some(0.9),
        _ => None,
    };
    if let Some(nominal) = nominal {
        panel = panel.with(Mark::vertical_rule(nominal).colour(Colour::Orange).width(1.0).dashed().name("nominal"));
    }
    panel = panel
        .with(
            Mark::horizontal_ranges(&positions, &lower, &upper)
                .colour(Colour::Blue)
                .width(2.0)
                .name("mean ± standard error"),
        )
        .with(Mark::points(&means, &positions).colour(Colour::Blue).width(7.0));
    if let Some(far) = far.filter(|_| !matches!(metric, Metric::Coverage | Metric::RegionCoverage | Metric::Seconds)) {
        panel = panel.with(Mark::annotation(high, far as f64, format!("{} →", num(means[far]))));
    }
    match comparison.best(metric).filter(|_| metric != Metric::Seconds) {
        Some(best) => panel.with(
            Mark::points(&means[best..=best], &positions[best..=best])
                .colour(Colour::Orange)
                .width(9.0)
                .name("significantly best"),
        ),
        None => panel,
    }
}
