//! `negmm score`: scores and calibration of anybody's predictions, chunk by chunk.

use std::collections::BTreeMap;
use std::path::Path;

use negmm::Error;
use negmm::prediction_table::{Form, PredictionChunk, PredictionColumns};
use negmm::verification::{ScoreSpec, ScoreSummary, Scorecard, randomised_pit};
use serde_json::{Map, Value, json};

use crate::arguments::Shared;
use crate::arguments::predictions::Score;
use crate::command::report::source;
use crate::command::score_decomposition::{Decompositions, Kept};
use crate::command::score_vectors;
use crate::console::{print, print_json, warn};
use crate::format::{bars, count, counted, number};
use crate::output::Output;
use crate::output_paths::{OutputPath, check_distinct};
use crate::prediction_input::{self, chunk_rows, numbers};
use crate::progress::Bar;
use crate::text_table;

/// Groups, at most.
pub const MOST_GROUPS: usize = 1_000;

/// Groups that are shown.
const GROUPS_SHOWN: usize = 20;

/// Runs it.
pub fn run(arguments: &Score, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let spec = spec(arguments)?;
    let targets = arguments.targets();
    let written =
        arguments.rows.as_deref().map(|path| OutputPath { what: "table of rows", path, option: "--rows FILE" });
    check_distinct(shared.json, written.as_slice(), &[("predictions", Path::new(&arguments.predictions))])?;
    if arguments.rows.as_deref() == Some("-") {
        return Err(Error::options("--rows needs the name of a file, not -"));
    }
    if targets.len() > 1 {
        return score_vectors::run(arguments, &targets, &spec, shared);
    }
    if arguments.scales.is_some() || arguments.variogram_order.is_some() {
        return Err(Error::options("--scales and --variogram-order are for several targets: --target a,b"));
    }
    let target = targets[0].clone();
    let columns = PredictionColumns {
        target: Some(target.clone()),
        weight: arguments.weight.clone(),
        group: arguments.by.clone(),
        ..PredictionColumns::default()
    };
    let mut reader = prediction_input::reader(&arguments.predictions, columns, &arguments.form, &arguments.file)?;
    let rows = arguments.rows.as_deref().map(Output::create).transpose()?;
    let mut all = Scored::new(&spec, rows)?;
    let (at_once, bar) = (chunk_rows(std::slice::from_ref(reader.form())), Bar::rows(shared));
    while let Some(chunk) = reader.next_chunk(at_once)? {
        all.add(&chunk)?;
        bar.add(chunk.y.len());
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::warnings(&reader, &target));
    let form = reader.form().to_string();
    let result = all.finish()?;
    if shared.json {
        return print_json(&result.json((&target, arguments.by.is_some()), &form, reader.crossing()));
    }
    let rows = result.summary.rows as usize;
    print(&format!(
        "{}\n\n{}",
        heading(rows, &arguments.predictions, &target, reader.form()),
        result.text(arguments.by.as_deref())
    ))
}

/// `1,000 rows of p.csv, target "y": 99 quantiles, q0.01 to q0.99`
fn heading(rows: usize, path: &str, target: &str, form: &Form) -> String {
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("{} {noun} of {}, target {target:?}: {form}", count(rows), source(path))
}

/// The scores that were asked for.
fn spec(arguments: &Score) -> Result<ScoreSpec, Error> {
    let list = |option: &str, text: &Option<String>| text.as_deref().map(|text| numbers(option, text)).transpose();
    let mut spec = ScoreSpec { step: arguments.step, seed: arguments.seed, ..ScoreSpec::default() };
    spec.quantile_weight = arguments.quantile_weight;
    if let Some(coverages) = list("interval", &arguments.interval)? {
        spec.coverages = coverages;
    }
    spec.levels = list("quantiles", &arguments.quantiles)?.unwrap_or_default();
    spec.thresholds = list("thresholds", &arguments.thresholds)?.unwrap_or_default();
    spec.between = arguments.between.as_deref().map(prediction_input::between).transpose()?;
    Ok(spec)
}

/// Scores under way.
struct Scored {
    spec: ScoreSpec,
    all: Scorecard,
    groups: BTreeMap<String, Scorecard>,
    rows: Option<Output>,
    seen: u64,
    kept: Kept,
}

/// All that is shown.
struct Outcome {
    summary: ScoreSummary,
    groups: Vec<(String, ScoreSummary)>,
    parts: Decompositions,
    of_groups: BTreeMap<String, Decompositions>,
}

impl Scored {
    fn new(spec: &ScoreSpec, mut rows: Option<Output>) -> Result<Self, Error> {
        let all = Scorecard::new(spec.clone())?;
        if let Some(rows) = &mut rows {
            rows.write(format!("row,target,pit,{}\n", all.names().join(",")).as_bytes())?;
        }
        let kept = Kept::default();
        Ok(Self { spec: spec.clone(), all, groups: BTreeMap::new(), rows, seen: 0, kept })
    }

    fn add(&mut self, chunk: &PredictionChunk) -> Result<(), Error> {
        let PredictionChunk { predictions, y, weights, groups, rows, .. } = chunk;
        let scores = self.all.add(predictions, y, weights.as_deref(), self.seen)?;
        for (at, scores) in scores.iter().enumerate() {
            let number = self.seen + at as u64;
            let weight = weights.as_ref().map_or(1.0, |weights| weights[at]);
            if !groups.is_empty() || self.rows.is_some() {
                let pit = randomised_pit(predictions.row(at), y[at], self.spec.seed, number);
                if let Some(group) = groups.get(at) {
                    if !self.groups.contains_key(group) {
                        self.groups.insert(group.clone(), Scorecard::new(self.spec.clone())?);
                    }
                    if let Some(card) = self.groups.get_mut(group) {
                        card.add_row(scores, pit, weight);
                    }
                }
                if let Some(file) = &mut self.rows {
                    let cells: Vec<String> = scores.iter().map(|score| format!("{score:?}")).collect();
                    file.write(format!("{},{:?},{pit:?},{}\n", rows[at], y[at], cells.join(",")).as_bytes())?;
                }
            }
            self.kept.add(number, || (predictions.select(&[at]), y[at], weight, groups.get(at).cloned()));
        }
        if self.groups.len() > MOST_GROUPS {
            return Err(Error::data(format!("there are more than {} groups", count(MOST_GROUPS))));
        }
        self.seen += y.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        let summary = self.all.finish()?;
        if let Some(rows) = self.rows {
            rows.finish()?;
        }
        let groups =
            self.groups.into_iter().map(|(name, card)| Ok((name, card.finish()?))).collect::<Result<_, Error>>()?;
        let parts = self.kept.decompositions(&self.spec.thresholds);
        let of_groups = self.kept.of_groups(&self.spec.thresholds);
        Ok(Outcome { summary, groups, parts, of_groups })
    }
}

/// The name of a score in the table.
pub fn label(name: &str) -> String {
    let fixed = match name {
        "crps" => "CRPS",
        "log_score" => "log score (NLL)",
        "mass_log_score" => "mass log score",
        "absolute_error" => "MAE (of the median)",
        "dawid_sebastiani" => "Dawid-Sebastiani score",
        "cde_loss" => "CDE loss",
        "quantile_score" => "quantile score",
        "weighted_interval_score" => "weighted interval score",
        _ => "",
    };
    if !fixed.is_empty() {
        return fixed.into();
    }
    if let Some(threshold) = name.strip_prefix("brier_") {
        return format!("Brier score, target <= {threshold}");
    }
    if let Some(ends) = name.strip_prefix("crps_between_") {
        return format!("CRPS between {}", ends.replace('_', " and "));
    }
    if let Some(weight) = name.strip_prefix("crps_quantiles_") {
        return format!("CRPS, quantile-weighted ({weight})");
    }
    name.replace('_', " ")
}

/// A standard error where there is one.
fn known(se: f64) -> String {
    if se.is_finite() { number(se) } else { "-".into() }
}

impl Outcome {
    fn text(&self, by: Option<&str>) -> String {
        let summary = &self.summary;
        let mut lines = vec![vec![String::new(), "mean".into(), "se".into()]];
        for (name, mean, se) in &summary.scores {
            let interval = ["coverage_", "width_", "interval_score_"].iter().any(|prefix| name.starts_with(prefix));
            if interval {
                continue;
            }
            if name == "squared_error" {
                let rmse = mean.sqrt();
                lines.push(vec!["RMSE (of the mean)".into(), number(rmse), known(0.5 * se / rmse)]);
                continue;
            }
            lines.push(vec![label(name), if mean.is_finite() { number(*mean) } else { mean.to_string() }, known(*se)]);
        }
        let mut text = text_table::table(&lines);
        let mut lines =
            vec![["intervals", "coverage", "se", "mean width", "interval score"].map(str::to_string).to_vec()];
        for (name, mean, se) in summary.scores.iter().filter(|(name, _, _)| name.starts_with("coverage_")) {
            let coverage = &name["coverage_".len()..];
            let of = |what: &str| summary.get(&format!("{what}_{coverage}")).map_or(String::new(), number);
            let nominal = coverage.parse::<f64>().map_or(coverage.to_string(), |own| format!("{} %", percent(own)));
            lines.push(vec![
                nominal,
                format!("{:.1} %", 100.0 * mean),
                format!("{:.1} %", 100.0 * se),
                of("width"),
                of("interval_score"),
            ]);
        }
        text += &format!("\n\n{}", text_table::table(&lines));
        if let Some(test) = summary.pit.test() {
            text += &format!(
                "\n\nPIT  {}  (flat: calibrated, U: too narrow, hump: too wide)\n     chi-squared {} with {} df, p {}; mean {} (0.5 if \
                 calibrated), dispersion {} (1 if calibrated)",
                bars(&summary.pit.bins),
                number(test.statistic),
                test.df,
                p_value(test.p_value),
                number(test.mean),
                number(test.dispersion),
            );
        }
        text += &self.parts.text(summary.rows);
        for (name, rows) in &summary.infinite {
            text += &format!("\n{}: infinite in {}", label(name), counted(*rows as usize, "row"));
        }
        if let Some(by) = by {
            text += &format!("\n\n{}", summary_table(by, &self.groups));
        }
        text
    }

    fn json(&self, (target, by): (&str, bool), form: &str, crossing: usize) -> Value {
        let mut value = summary_json(&self.summary);
        value["target"] = json!(target);
        value["form"] = json!(form);
        value["crossing_rows"] = json!(crossing);
        self.parts.write(&mut value);
        if by {
            let group = |(name, summary): &(String, ScoreSummary)| {
                let mut value = summary_json(summary);
                value["group"] = json!(name);
                if let Some(parts) = self.of_groups.get(name) {
                    parts.write(&mut value);
                }
                value
            };
            value["groups"] = json!(self.groups.iter().map(group).collect::<Vec<_>>());
        }
        value
    }
}

/// The scores of groups or targets, a line each.
pub fn summary_table(by: &str, groups: &[(String, ScoreSummary)]) -> String {
    let mut lines =
        vec![[by, "rows", "CRPS", "se", "log score", "WIS", "in 90 %", "PIT p"].map(str::to_string).to_vec()];
    for (name, summary) in groups.iter().take(GROUPS_SHOWN) {
        let find = |score: &str| summary.scores.iter().find(|(own, _, _)| own == score);
        let of = |score: &str| find(score).map_or(String::new(), |(_, mean, _)| number(*mean));
        let se = find("crps").map_or(String::new(), |(_, _, se)| if se.is_nan() { "-".into() } else { number(*se) });
        let covered = find("coverage_0.9").map_or("-".to_string(), |(_, mean, _)| format!("{:.1} %", 100.0 * mean));
        let p = summary.pit.test().map_or(String::new(), |test| p_value(test.p_value).replace("= ", ""));
        lines.push(vec![
            name.clone(),
            count(summary.rows as usize),
            of("crps"),
            se,
            of("log_score"),
            of("weighted_interval_score"),
            covered,
            p,
        ]);
    }
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    let more = if more > 0 { format!("\nand {} more", counted(more, "group")) } else { String::new() };
    text_table::table(&lines) + &more
}

pub fn summary_json(summary: &ScoreSummary) -> Value {
    let score = |(name, mean, se): &(String, f64, f64)| (name.clone(), json!({ "mean": mean, "se": se }));
    let scores: Map<String, Value> = summary.scores.iter().map(score).collect();
    let test = summary.pit.test().map(|test| {
        json!({ "statistic": test.statistic, "df": test.df, "p_value": test.p_value, "mean": test.mean, "dispersion": test.dispersion })
    });
    json!({ "rows": summary.rows, "scores": scores, "pit": summary.pit.bins, "pit_test": test })
}

/// A coverage in percent, without needless digits.
fn percent(coverage: f64) -> String {
    let text = format!("{:.3}", 100.0 * coverage);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A p-value as people write it: `= 0.0312` or `< 0.0001`.
pub fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".into() } else { format!("= {p:.4}") }
}
