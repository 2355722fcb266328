//! Responsible for sharpness: how wide the intervals are, and what the width is made of.

use negmm::Model;
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::calibration::group_axis;
use super::{Grid, Picture};
use crate::answers::{Answers, COVERAGE};
use crate::cases::Cases;
use crate::text::{count, name, num, percent};

/// Bars of the histogram.
const BARS: usize = 30;

/// Interval widths, the parts of the variance, and for ensembles the epistemic share.
pub fn sharpness(model: &Model, cases: &Cases, answers: &Answers) -> Vec<Picture> {
    let mut pictures = vec![widths(model, cases, answers)];
    if cases.predictions.mixtures().is_some_and(|mixtures| mixtures.components() > 1) {
        pictures.push(parts(
            cases,
            answers,
            &|at| answers.rows[at].between,
            Parts {
                file: "variance",
                title: "Noise against several possible outcomes",
                reading: "What the predicted variance is made of: noise within the components, or components that lie apart, \
                    which means several quite different outcomes.",
                rest: "within components (noise)",
                part: "between components (several outcomes)",
            },
        ));
    }
    if !answers.epistemic.is_empty() {
        pictures.push(parts(
            cases,
            answers,
            &|at| answers.epistemic[at],
            Parts {
                file: "epistemic",
                title: "Noise against what the members do not agree on",
                reading: "The epistemic share is the part of the variance that the members of the ensemble disagree about: \
                    more data would lower it, while noise stays.",
                rest: "aleatoric (noise that all expect)",
                part: "epistemic (disagreement)",
            },
        ));
    }
    pictures
}

fn widths(model: &Model, cases: &Cases, answers: &Answers) -> Picture {
    let widths: Vec<f64> = answers.rows.iter().map(|row| row.width()).collect();
    let mut sorted = widths.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    // The widest hundredth would leave no room for the others.
    let (low, high) = (sorted[0], if sorted.len() > 200 { at(0.99) } else { at(1.0) });
    let same = high - low <= 1e-9 * high.abs();
    let (low, high, bars) = if same { (0.5 * low, 1.5 * low, 1) } else { (low, high, BARS.min(sorted.len()).max(5)) };
    let edges: Vec<f64> = (0..=bars).map(|edge| low + (high - low) * edge as f64 / bars as f64).collect();
    let mut heights = vec![0.0; bars];
    let total: f64 = (0..cases.len()).map(|row| cases.weight(row)).sum();
    for (row, width) in widths.iter().enumerate().filter(|(_, width)| **width <= high) {
        let bar = if same { 0 } else { ((width - low) / (high - low) * bars as f64) as usize };
        heights[bar.min(bars - 1)] += cases.weight(row) / total;
    }
    let mut table = Grid::new(["from", "to", "share of rows"]);
    for (ends, share) in edges.windows(2).zip(&heights) {
        table.push([num(ends[0]), num(ends[1]), percent(*share)]);
    }
    let baseline = model.baseline(1).row(0).interval(COVERAGE);
    let constant = baseline.1 - baseline.0;
    let panel = Panel::new(
        Axis::new(format!("width of the 90 % interval of {}", name(&model.encoder().target().name))).include(0.0),
        Axis::new("share of rows").percent().include(0.0),
    )
    .with(Mark::histogram(&edges, &heights).ink(Ink::Blue).name("rows"));
    let panel = if same || constant > 3.0 * high {
        panel
    } else {
        panel.with(Mark::upright_rule(constant).ink(Ink::Orange).dashed().name("constant baseline"))
    };
    Picture {
        file: "widths".into(),
        reading:
            "Narrow is sharp, and good if calibration holds; a wide spread of widths means that the model tells easy \
            rows from hard ones."
                .into(),
        figure: Figure::new(
            "Interval widths",
            format!(
                "Half of the 90 % intervals are narrower than {}; those of the constant baseline are {} wide.",
                num(at(0.5)),
                num(constant)
            ),
        )
        .panel(panel),
        table,
    }
}

/// The words of a picture of two parts.
struct Parts {
    file: &'static str,
    title: &'static str,
    reading: &'static str,
    rest: &'static str,
    part: &'static str,
}

/// Stacked bars over groups of rows: the mean share of a part of the variance, and the rest.
fn parts(cases: &Cases, answers: &Answers, share: &dyn Fn(usize) -> f64, words: Parts) -> Picture {
    // Shares of the variance of the whole group: rows count as much as their variance.
    let variance = |at: usize| answers.rows[at].sd * answers.rows[at].sd;
    let of_group = |group: &[usize]| {
        let all = cases.mean(group, variance);
        let part = cases.mean(group, |at| share(at) * variance(at));
        if all > 0.0 && (part / all).is_finite() { part / all } else { cases.mean(group, share) }
    };
    let shares: Vec<f64> = answers.groups.iter().map(|group| of_group(group)).collect();
    let rest: Vec<f64> = shares.iter().map(|share| 1.0 - share).collect();
    let everything: Vec<usize> = (0..cases.len()).collect();
    let mut table = Grid::new(["group", "rows", words.rest, words.part]);
    for (at, group) in answers.groups.iter().enumerate() {
        table.push([count(at + 1), count(group.len()), percent(rest[at]), percent(shares[at])]);
    }
    let panel = Panel::new(group_axis(shares.len()), Axis::new("share of the variance").percent().range(0.0, 1.0))
        .with(Mark::bars(&vec![0.0; shares.len()], &rest).ink(Ink::Sky).name(words.rest))
        .with(Mark::bars(&rest, &vec![1.0; shares.len()]).ink(Ink::Orange).name(words.part));
    Picture {
        file: words.file.into(),
        reading: words.reading.into(),
        figure: Figure::new(
            words.title,
            format!(
                "Over all rows: {}, {}.",
                share_words(words.part, of_group(&everything)),
                share_words(words.rest, 1.0 - of_group(&everything))
            ),
        )
        .panel(panel),
        table,
    }
}

fn share_words(what: &str, share: f64) -> String {
    format!("{} {what}", percent(share))
}
