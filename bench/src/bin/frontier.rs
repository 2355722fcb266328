//! Accuracy against cost: relative CRPS (to the best method) against CPU seconds of a fit, one point per method, as table and plot.
//!
//! ```text
//! frontier --results FILE,FILE [--methods a,b:option=value] [--sets a,b] [--svg FILE]
//! ```
//!
//! The files are those of `quality --results` and of its peers (`bench/peers/quality.py`), each fit of which had one core to itself. A
//! dataset counts if every method has been run on it, with the splits that all of them have. The height of a point is the geometric mean
//! over datasets of the mean CRPS over splits, divided by that of the best method; its seconds are the mean over datasets of a fit.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use negmm_bench::datasets::BenchDataset;
use negmm_bench::options::Options;
use negmm_bench::results::{self, FitScores, Line, Outcome};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel, Style};

/// Powers of ten that the axis of seconds may show.
const POWERS: std::ops::RangeInclusive<i32> = -2..=4;

/// Accuracy and cost of a method.
struct Point {
    method: String,
    /// Geometric mean over datasets of the CRPS relative to the best.
    relative: f64,
    /// Mean over datasets of the seconds of a fit.
    seconds: f64,
    /// Number of datasets on which it is best.
    first: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--results", "--methods", "--sets", "--svg"])?;
    let lines = results::read_all(&options.list("--results", vec![])?)?;
    let there: BTreeSet<&str> = lines.iter().map(|line| line.method.as_str()).collect();
    let methods: Vec<String> =
        options.list("--methods", there.iter().map(|method| method.to_string()).collect::<Vec<_>>())?;
    if let Some(unknown) = methods.iter().find(|method| !there.contains(method.as_str())) {
        return Err(format!("no file has a method {unknown:?}; there are {}", Vec::from_iter(there).join(", ")).into());
    }
    let names: Vec<String> = options.list("--sets", vec!["uci".into(), "tables".into()])?;
    let sets = names.iter().map(|name| BenchDataset::by_names(name)).collect::<Result<Vec<_>, _>>()?.concat();
    let common: Vec<(&str, Vec<(f64, f64)>)> =
        sets.iter().filter_map(|set| Some((set.name, on_set(&lines, set.name, &methods)?))).collect();
    if common.is_empty() {
        return Err("there is no set that all of these methods were run on".into());
    }
    let points = points(&methods, &common);
    print!("{}", markdown(&points, &common));
    if let Some(file) = options.text("--svg") {
        std::fs::write(file, svg(&points, common.len()))?;
    }
    Ok(())
}

/// For each method the mean CRPS and the mean seconds over the splits of a set that all of them have, if there are any.
fn on_set(lines: &[Line], set: &str, methods: &[String]) -> Option<Vec<(f64, f64)>> {
    let of_method = |method: &String| -> BTreeMap<usize, &FitScores> {
        let own = lines.iter().filter(|line| line.set == set && line.method == *method);
        own.filter_map(|line| match &line.outcome {
            Outcome::Scored(score) => Some((line.split, score)),
            Outcome::Skipped { .. } => None,
        })
        .collect()
    };
    let scores: Vec<_> = methods.iter().map(of_method).collect();
    let common: Vec<usize> =
        scores.first()?.keys().copied().filter(|split| scores.iter().all(|own| own.contains_key(split))).collect();
    let mean = |own: &BTreeMap<usize, &FitScores>, number: fn(&FitScores) -> f64| {
        common.iter().map(|split| number(own[split])).sum::<f64>() / common.len() as f64
    };
    let means = |own| (mean(own, |score| score.all.crps), mean(own, |score| score.seconds));
    (!common.is_empty()).then(|| scores.iter().map(means).collect())
}

fn points(methods: &[String], common: &[(&str, Vec<(f64, f64)>)]) -> Vec<Point> {
    let best = |scores: &[(f64, f64)]| scores.iter().map(|(crps, _)| *crps).fold(f64::INFINITY, f64::min);
    let count = common.len() as f64;
    let point = |(at, method): (usize, &String)| Point {
        method: method.clone(),
        relative: (common.iter().map(|(_, scores)| (scores[at].0 / best(scores)).ln()).sum::<f64>() / count).exp(),
        seconds: common.iter().map(|(_, scores)| scores[at].1).sum::<f64>() / count,
        first: common.iter().filter(|(_, scores)| scores[at].0 == best(scores)).count(),
    };
    let mut points: Vec<Point> = methods.iter().enumerate().map(point).collect();
    points.sort_by(|a, b| a.relative.total_cmp(&b.relative));
    points
}

fn markdown(points: &[Point], common: &[(&str, Vec<(f64, f64)>)]) -> String {
    let names: Vec<&str> = common.iter().map(|(name, _)| *name).collect();
    let mut text = format!("{} sets: {}\n\n", names.len(), names.join(", "));
    text += "| method | CRPS beside the best | best on | seconds of a fit |\n|---|---|---|---|\n";
    for Point { method, relative, seconds, first } in points {
        text += &format!("| {method} | {relative:.3} | {first} | {seconds:.1} |\n");
    }
    text
}

fn svg(points: &[Point], sets: usize) -> String {
    let ticks = POWERS.map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect();
    let seconds = Axis::new("CPU seconds of a fit, mean over datasets").ticks(ticks);
    // Margin for the labels beside the points.
    let logs = points.iter().map(|point| point.seconds.log10());
    let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(log), high.max(log)));
    let (first, last) = (low - 0.2, high + 0.8);
    let panel = Panel::new(seconds.range(first, last), Axis::new("CRPS beside the best").include(1.0));
    let worst = points.iter().map(|point| point.relative).fold(1.0, f64::max);
    let marks = points.iter().flat_map(|point| {
        let (x, y) = (point.seconds.log10(), point.relative);
        // A label goes below its point where it would cover the next one.
        let line = 0.05 * (worst - 1.0);
        let crowded = points.iter().any(|other| {
            let right = other.seconds.log10() - x;
            0.0 < right && right < 0.7 && (other.relative - y).abs() < line
        });
        let words = if crowded { y - line } else { y };
        // Labels in the right part of the plot end at their anchor, others begin there.
        let aside = if x > first + 0.58 * (last - first) { x - 0.05 } else { x + 0.05 };
        let ours = ["auto", "ne-gmm"].iter().any(|own| point.method.starts_with(own));
        let colour = if ours { Colour::Blue } else { Colour::Muted };
        let name = point.method.replace("auto:preset=", "negmm ").replace("auto", "negmm medium");
        [Mark::points(&[x], &[y]).colour(colour).width(8.0), Mark::annotation(aside, words, name).colour(Colour::Text)]
    });
    let description =
        format!("CRPS beside the best method's, geometric mean over {sets} sets, against seconds of one core.");
    Figure::new("What methods give for what they take", description).panel(panel.with_all(marks)).svg(Style::File)
}
