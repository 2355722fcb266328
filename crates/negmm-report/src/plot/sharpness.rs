//! Plots of sharpness: interval widths, and the decomposition of the predicted variance.

use negmm::Distribution;
use negmm::Predictions;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::calibration::group_axis;
use super::{Plot, TextTable};
use crate::diagnostics::{COVERAGE, Diagnostics};
use crate::evaluation_set::EvaluationSet;
use crate::text::{count, num, percent};

/// Bins of the histogram.
const BINS: usize = 30;

/// Interval widths, the decomposition of the variance, and for ensembles its epistemic fraction.
pub fn sharpness(
    target: &str,
    baseline: &Predictions,
    evaluation: &EvaluationSet,
    diagnostics: &Diagnostics,
) -> Vec<Plot> {
    let mut plots = vec![widths(target, baseline, evaluation, diagnostics)];
    if evaluation.predictions.mixtures().is_some_and(|mixtures| mixtures.components() > 1) {
        plots.push(decomposition(
            evaluation,
            diagnostics,
            &|at| diagnostics.rows[at].between,
            Decomposition {
                name: "variance",
                title: "Variance within and between components",
                caption: "The decomposition of the predicted variance: within the components (noise), and between components, \
                    which means several different outcomes.",
                rest: "within components (noise)",
                part: "between components (several outcomes)",
            },
        ));
    }
    if !diagnostics.epistemic.is_empty() {
        plots.push(decomposition(
            evaluation,
            diagnostics,
            &|at| diagnostics.epistemic[at],
            Decomposition {
                name: "epistemic",
                title: "Aleatoric and epistemic variance",
                caption: "The epistemic part is the variance between the members of the ensemble: \
                    more data would reduce it, while the aleatoric part (noise) stays.",
                rest: "aleatoric (within members)",
                part: "epistemic (between members)",
            },
        ));
    }
    plots
}

fn widths(target: &str, baseline: &Predictions, evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Plot {
    let widths: Vec<f64> = diagnostics.rows.iter().map(|row| row.width()).collect();
    let mut sorted = widths.clone();
    sorted.sort_by(f64::total_cmp);
    let quantile = |level: f64| sorted[((sorted.len() - 1) as f64 * level).round() as usize];
    // The widest 1 % is cut off, so that the others remain visible.
    let (low, high) = (sorted[0], if sorted.len() > 200 { quantile(0.99) } else { quantile(1.0) });
    let same = high - low <= 1e-9 * high.abs();
    let (low, high, bins) = if same { (0.5 * low, 1.5 * low, 1) } else { (low, high, BINS.min(sorted.len()).max(5)) };
    let edges: Vec<f64> = (0..=bins).map(|edge| low + (high - low) * edge as f64 / bins as f64).collect();
    let mut heights = vec![0.0; bins];
    let total: f64 = (0..evaluation.len()).map(|row| evaluation.weight(row)).sum();
    for (row, width) in widths.iter().enumerate().filter(|(_, width)| **width <= high) {
        let bin = if same { 0 } else { ((width - low) / (high - low) * bins as f64) as usize };
        heights[bin.min(bins - 1)] += evaluation.weight(row) / total;
    }
    let mut table = TextTable::new(["from", "to", "fraction of rows"]);
    for (bin, height) in edges.windows(2).zip(&heights) {
        table.push([num(bin[0]), num(bin[1]), percent(*height)]);
    }
    let constant = baseline.row(0).interval(COVERAGE).width();
    let panel = Panel::new(
        Axis::new(format!("width of the 90 % interval of {target}")).include(0.0),
        Axis::new("fraction of rows").percent().include(0.0),
    )
    .with(Mark::histogram(&edges, &heights).colour(Colour::Blue).name("rows"));
    let panel = if same || constant > 3.0 * high {
        panel
    } else {
        panel.with(Mark::vertical_rule(constant).colour(Colour::Orange).dashed().name("constant baseline"))
    };
    Plot {
        name: "widths".into(),
        caption:
            "Narrow intervals are sharp, which is good if they are calibrated; a wide range of widths means that the \
            model distinguishes easy rows from hard ones."
                .into(),
        figure: Figure::new(
            "Interval widths",
            format!(
                "The median width of the 90 % intervals is {}; that of the constant baseline is {}.",
                num(quantile(0.5)),
                num(constant)
            ),
        )
        .panel(panel),
        table,
    }
}

/// The texts of a decomposition plot.
struct Decomposition {
    name: &'static str,
    title: &'static str,
    caption: &'static str,
    rest: &'static str,
    part: &'static str,
}

/// Stacked bars over groups of rows: the fraction of a part of the variance, and the rest.
fn decomposition(
    evaluation: &EvaluationSet,
    diagnostics: &Diagnostics,
    fraction: &dyn Fn(usize) -> f64,
    texts: Decomposition,
) -> Plot {
    // Fractions of the total variance of the group: rows are weighted by their variance.
    let variance = |at: usize| diagnostics.rows[at].sd * diagnostics.rows[at].sd;
    let of_group = |group: &[usize]| {
        let all = evaluation.mean(group, variance);
        let part = evaluation.mean(group, |at| fraction(at) * variance(at));
        if all > 0.0 && (part / all).is_finite() { part / all } else { evaluation.mean(group, fraction) }
    };
    let fractions: Vec<f64> = diagnostics.groups.iter().map(|group| of_group(group)).collect();
    let rest: Vec<f64> = fractions.iter().map(|fraction| 1.0 - fraction).collect();
    let all_rows: Vec<usize> = (0..evaluation.len()).collect();
    let mut table = TextTable::new(["group", "rows", texts.rest, texts.part]);
    for (at, group) in diagnostics.groups.iter().enumerate() {
        table.push([count(at + 1), count(group.len()), percent(rest[at]), percent(fractions[at])]);
    }
    let panel =
        Panel::new(group_axis(fractions.len()), Axis::new("fraction of the variance").percent().range(0.0, 1.0))
            .with(Mark::bars(&vec![0.0; fractions.len()], &rest).colour(Colour::Sky).name(texts.rest))
            .with(Mark::bars(&rest, &vec![1.0; fractions.len()]).colour(Colour::Orange).name(texts.part));
    Plot {
        name: texts.name.into(),
        caption: texts.caption.into(),
        figure: Figure::new(
            texts.title,
            format!(
                "Over all rows: {}, {}.",
                labelled(texts.part, of_group(&all_rows)),
                labelled(texts.rest, 1.0 - of_group(&all_rows))
            ),
        )
        .panel(panel),
        table,
    }
}

fn labelled(label: &str, fraction: f64) -> String {
    format!("{} {label}", percent(fraction))
}
