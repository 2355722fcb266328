//! Markdown tables of results: scores of every method, differences from a reference method, scores of rows with new inputs.

use std::collections::BTreeMap;
use std::fmt::Write;

use negmm::Method;
use negmm::compare::Summary;

use crate::datasets::DATASETS;
use crate::results::{FitScores, Line, Means, Outcome};

/// Datasets with a larger fraction of test rows that repeat inputs of training rows are in the third table.
const REPEATED_FRACTION: f64 = 0.02;

/// A score for each split that has one.
type Series = BTreeMap<usize, f64>;

/// A column of a table: its header, its score, and whether smaller is better.
type Column<T> = (&'static str, fn(&T) -> Option<f64>, bool);

const MEANS: [Column<Means>; 6] = [
    ("NLL", |means| means.nll, true),
    ("mass NLL", |means| means.mass_nll, true),
    ("CRPS", |means| Some(means.crps), true),
    ("RMSE", |means| Some(means.rmse), true),
    ("cover 95", |means| Some(means.coverage95), false),
    ("width 95", |means| Some(means.width95), false),
];

/// All methods on one dataset.
struct SetResults<'a> {
    set: &'a str,
    methods: Vec<(&'a str, BTreeMap<usize, &'a FitScores>)>,
}

impl SetResults<'_> {
    /// Each method's series of a score.
    fn series(&self, number: impl Fn(&FitScores) -> Option<f64>) -> Vec<Series> {
        let of = |scores: &BTreeMap<usize, &FitScores>| {
            scores.iter().filter_map(|(split, score)| number(score).map(|number| (*split, number))).collect()
        };
        self.methods.iter().map(|(_, scores)| of(scores)).collect()
    }

    /// The fraction of test rows whose inputs occur in no training row.
    fn fraction_new(&self) -> f64 {
        let scores = || self.methods.iter().flat_map(|(_, scores)| scores.values());
        let new: usize = scores().filter_map(|score| score.new.as_ref()).map(|means| means.rows).sum();
        new as f64 / scores().map(|score| score.all.rows).sum::<usize>() as f64
    }
}

/// The tables as Markdown, with differences from the method `reference` where there are results of it.
pub fn markdown(lines: &[Line], reference: &str) -> String {
    let sets = by_set(lines);
    let mut text = String::from("## Scores\n\n");
    score_table(&mut text, &sets);
    let compared: Vec<&SetResults<'_>> =
        sets.iter().filter(|set| set.methods.len() > 1 && position(set, reference).is_some()).collect();
    if !compared.is_empty() {
        let _ = writeln!(text, "\n## {reference} against every other\n");
        difference_table(&mut text, &compared, reference);
    }
    let repeating: Vec<&SetResults<'_>> =
        sets.iter().filter(|results| 1.0 - results.fraction_new() > REPEATED_FRACTION).collect();
    if !repeating.is_empty() {
        text += "\n## Test rows with new inputs\n\n";
        new_table(&mut text, &repeating);
    }
    let skipped = skipped(lines);
    if !skipped.is_empty() {
        text += "\nNot run:\n\n";
        text += &skipped;
    }
    text
}

/// Results in the order of datasets and methods; peers last, in the order of the files.
fn by_set(lines: &[Line]) -> Vec<SetResults<'_>> {
    let own: Vec<&str> = Method::all().iter().map(Method::name).collect();
    let rank = |name: &str| own.iter().position(|own| Some(*own) == name.split(':').next()).unwrap_or(own.len());
    let mut sets: Vec<SetResults<'_>> = Vec::new();
    for Line { set, method, split, outcome } in lines {
        let Outcome::Scored(score) = outcome else { continue };
        let at = sets.iter().position(|results| results.set == set).unwrap_or_else(|| {
            sets.push(SetResults { set, methods: Vec::new() });
            sets.len() - 1
        });
        let methods = &mut sets[at].methods;
        let at = methods.iter().position(|(name, _)| name == method).unwrap_or_else(|| {
            methods.push((method, BTreeMap::new()));
            methods.len() - 1
        });
        methods[at].1.insert(*split, score);
    }
    sets.sort_by_key(|results| DATASETS.iter().position(|set| set.name == results.set).unwrap_or(DATASETS.len()));
    sets.iter_mut().for_each(|results| results.methods.sort_by_key(|(name, _)| rank(name)));
    sets
}

fn position(results: &SetResults<'_>, method: &str) -> Option<usize> {
    results.methods.iter().position(|(name, _)| *name == method)
}

fn header(text: &mut String, columns: &[&str]) {
    let _ = writeln!(text, "| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// Per dataset and method: mean (standard error) over splits.
fn score_table(text: &mut String, sets: &[SetResults<'_>]) {
    let heads = MEANS.iter().map(|(head, ..)| *head);
    header(text, &["set", "method", "splits"].into_iter().chain(heads).chain(["seconds a fit"]).collect::<Vec<_>>());
    for results in sets {
        let mut columns: Vec<Vec<String>> = MEANS
            .iter()
            .map(|(_, number, less_is_better)| cells(&results.series(|score| number(&score.all)), *less_is_better))
            .collect();
        columns.push(cells(&results.series(|score| Some(score.seconds)), false));
        for (at, (method, scores)) in results.methods.iter().enumerate() {
            let row: Vec<&str> = columns.iter().map(|column| column[at].as_str()).collect();
            let _ = writeln!(text, "| {} | {method} | {} | {} |", results.set, scores.len(), row.join(" | "));
        }
    }
}

/// Per dataset and method: the reference against it, on the splits that both have.
fn difference_table(text: &mut String, sets: &[&SetResults<'_>], reference: &str) {
    header(text, &["set", "against", "splits", "NLL, won", "mass NLL, won", "CRPS ratio, won"]);
    for results in sets {
        let Some(ours) = position(results, reference) else { continue };
        let difference = |number: fn(&Means) -> Option<f64>, other: usize| {
            let series = results.series(|score| number(&score.all));
            let pairs = pairs(&series[ours], &series[other]);
            let summary = Summary::of(&pairs.iter().map(|(ours, other)| ours - other).collect::<Vec<_>>());
            let text = format!("{:+.3} ({:.3}), {}", summary.mean, summary.se, won(&pairs));
            if pairs.is_empty() { "-".into() } else { text }
        };
        let crps = results.series(|score| Some(score.all.crps));
        for (other, (method, _)) in results.methods.iter().enumerate().filter(|(other, _)| *other != ours) {
            let pairs = pairs(&crps[ours], &crps[other]);
            if pairs.is_empty() {
                continue;
            }
            let (sum, other_sum) =
                pairs.iter().fold((0.0, 0.0), |(sum, other_sum), (ours, other)| (sum + ours, other_sum + other));
            let [nll, mass] = [MEANS[0].1, MEANS[1].1].map(|number| difference(number, other));
            let ratio = format!("{:.3}, {}", sum / other_sum, won(&pairs));
            let _ = writeln!(text, "| {} | {method} | {} | {nll} | {mass} | {ratio} |", results.set, pairs.len());
        }
    }
}

/// Per dataset and method: scores of the test rows whose inputs are in no training row.
fn new_table(text: &mut String, sets: &[&SetResults<'_>]) {
    header(text, &["set", "fraction", "method", "splits", "NLL", "mass NLL", "CRPS", "RMSE", "cover 95"]);
    for results in sets {
        let percent = 100.0 * results.fraction_new();
        let columns: Vec<Vec<String>> = MEANS[..5]
            .iter()
            .map(|(_, number, less_is_better)| {
                cells(&results.series(|score| score.new.as_ref().and_then(number)), *less_is_better)
            })
            .collect();
        for (at, (method, scores)) in results.methods.iter().enumerate() {
            let row: Vec<&str> = columns.iter().map(|column| column[at].as_str()).collect();
            let splits = scores.values().filter(|score| score.new.is_some()).count();
            let _ = writeln!(text, "| {} | {percent:.0} % | {method} | {splits} | {} |", results.set, row.join(" | "));
        }
    }
}

/// Skipped fits with their reasons.
fn skipped(lines: &[Line]) -> String {
    let mut splits: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for line in lines {
        if let Outcome::Skipped { skipped } = &line.outcome {
            splits.entry((&line.set, &line.method, skipped)).or_default().push(line.split.to_string());
        }
    }
    let mut text = String::new();
    for ((set, method, why), splits) in splits {
        let _ = writeln!(text, "- {set}, {method}, split {}: {why}", splits.join(", "));
    }
    text
}

/// Mean (standard error) of each method; the best in bold.
fn cells(series: &[Series], less_is_better: bool) -> Vec<String> {
    let best = if less_is_better { best(series) } else { None };
    let cell = |(at, series): (usize, &Series)| {
        if series.is_empty() {
            return "-".to_string();
        }
        let summary = Summary::of(&series.values().copied().collect::<Vec<_>>());
        let digits = (3 - summary.mean.abs().max(1e-9).log10().floor() as i32).clamp(1, 7) as usize;
        let text = format!("{:.digits$} ({:.digits$})", summary.mean, summary.se);
        if best == Some(at) { format!("**{text}**") } else { text }
    };
    series.iter().enumerate().map(cell).collect()
}

/// The series that is below every other by more than two standard errors of the paired difference, on common splits.
fn best(series: &[Series]) -> Option<usize> {
    let given: Vec<usize> = (0..series.len()).filter(|at| !series[*at].is_empty()).collect();
    let ahead = |ours: usize, other: usize| {
        let differences: Vec<f64> =
            pairs(&series[ours], &series[other]).iter().map(|(ours, other)| other - ours).collect();
        let summary = Summary::of(&differences);
        summary.repeats > 1 && summary.mean > 2.0 * summary.se
    };
    let is_best = |ours: &usize| given.iter().all(|other| other == ours || ahead(*ours, *other));
    given.iter().copied().find(is_best).filter(|_| given.len() > 1)
}

/// The scores of the common splits.
fn pairs(ours: &Series, other: &Series) -> Vec<(f64, f64)> {
    ours.iter().filter_map(|(split, ours)| other.get(split).map(|other| (*ours, *other))).collect()
}

/// The number of splits on which the first is smaller.
fn won(pairs: &[(f64, f64)]) -> String {
    format!("{} of {}", pairs.iter().filter(|(ours, other)| ours < other).count(), pairs.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(set: &str, method: &str, split: usize, crps: f64, nll: Option<f64>) -> Line {
        let means = |rows| Means { rows, nll, mass_nll: None, crps, rmse: 2.0 * crps, coverage95: 0.9, width95: 1.0 };
        let score = FitScores { all: means(10), seconds: 1.0, seconds_predict: 0.1, new: Some(means(8)) };
        Line { set: set.into(), method: method.into(), split, outcome: Outcome::Scored(score) }
    }

    #[test]
    fn the_best_is_found_on_common_splits() {
        let series = |numbers: &[f64]| numbers.iter().copied().enumerate().collect::<Series>();
        let (good, bad) = (series(&[1.0, 2.0, 3.0]), series(&[1.5, 2.4, 3.6, 0.0]));
        assert_eq!(best(&[bad.clone(), good.clone(), Series::new()]), Some(1));
        assert_eq!(best(&[good.clone(), series(&[1.5, 1.4, 3.2])]), None);
        assert_eq!(best(&[good, series(&[9.0])]), None);
        assert_eq!(best(&[bad]), None);
    }

    #[test]
    fn tables_say_what_the_lines_say() {
        let mut lines = vec![];
        for (split, extra) in [0.0, 0.1, -0.1].into_iter().enumerate() {
            lines.push(line("yacht", "forest", split, 2.0, None));
            lines.push(line("yacht", "ngboost", split, 2.5, Some(3.0)));
            lines.push(line("yacht", "ne-gmm:eta=1", split, 1.0 + extra, Some(1.0 + extra)));
        }
        lines.push(line("boston", "forest", 0, 2.0, None));
        lines.push(Line {
            outcome: Outcome::Skipped { skipped: "too slow".into() },
            ..line("boston", "ngboost", 4, 0.0, None)
        });
        let text = markdown(&lines, "ne-gmm:eta=1");
        assert!(text.contains("| boston | forest | 1 | - | - | 2.000 (0.000) |"), "{text}");
        assert!(text.contains("| yacht | ne-gmm:eta=1 | 3 | **1.000 (0.058)** | - | **1.000 (0.058)** |"), "{text}");
        assert!(text.contains("| yacht | forest | 3 | - | - | 0.500, 3 of 3 |"), "{text}");
        assert!(text.contains("| yacht | ngboost | 3 | -2.000 (0.058), 3 of 3 | - | 0.400, 3 of 3 |"), "{text}");
        assert!(text.contains("| yacht | 80 % | ngboost | 3 | 3.000 (0.000) |"), "{text}");
        assert!(text.contains("- boston, ngboost, split 4: too slow"), "{text}");
        let row = |method: &str| text.find(&format!("| yacht | {method} |")).unwrap();
        assert!(row("ne-gmm:eta=1") < row("ngboost") && row("ngboost") < row("forest"));
        assert!(!markdown(&lines, "auto").contains("against"));
    }
}
