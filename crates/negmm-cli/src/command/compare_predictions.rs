//! `negmm compare --predictions`: the scores of several files of predictions of the same rows, paired.

use std::collections::{BTreeMap, HashMap};

use negmm::Error;
use negmm::prediction_table::PredictionColumns;
use negmm::verification::{EqualAccuracy, ScoreSpec, Scorecard, equal_accuracy};
use serde_json::json;

use crate::arguments::{Compare, Shared};
use crate::command::report::source;
use crate::command::score::{label, p_value};
use crate::console::{print, print_json, warn};
use crate::format::{count, counted, number};
use crate::prediction_input::{self, chunk_rows, numbers};
use crate::progress::Bar;
use crate::text_table;

/// The scores that are always compared: name and heading.
const SCORES: [(&str, &str); 4] =
    [("crps", "CRPS"), ("log_score", "log score"), ("weighted_interval_score", "WIS"), ("absolute_error", "MAE")];

/// Groups that are shown.
const GROUPS_SHOWN: usize = 20;

/// The level at which a difference is called one.
const LEVEL: f64 = 0.05;

/// The scores of one file.
struct Scored {
    name: String,
    form: String,
    keys: Vec<String>,
    times: Vec<String>,
    y: Vec<f64>,
    groups: Vec<String>,
    weights: Option<Vec<f64>>,
    /// Rows × scores.
    scores: Vec<Vec<f64>>,
    covered: Vec<f64>,
}

/// The scores that are compared: the names and headings of those always compared and those asked for.
fn asked(arguments: &Compare) -> Result<(ScoreSpec, Vec<(String, String)>), Error> {
    // The same levels for all files, so that their scores can be compared.
    let spec = ScoreSpec {
        coverages: vec![0.9],
        levels: ScoreSpec::usual_levels(),
        between: arguments.between.as_deref().map(prediction_input::between).transpose()?,
        quantile_weight: arguments.quantile_weight,
        thresholds: arguments
            .thresholds
            .as_deref()
            .map(|text| numbers("thresholds", text))
            .transpose()?
            .unwrap_or_default(),
        ..ScoreSpec::default()
    };
    let usual = SCORES.iter().map(|(name, heading)| (name.to_string(), heading.to_string()));
    let more = spec.names().into_iter().filter(|name| name.starts_with("crps_") || name.starts_with("brier_"));
    let scores = usual.chain(more.map(|name| (name.clone(), label(&name)))).collect();
    Ok((spec, scores))
}

/// Runs it.
pub fn run(arguments: &Compare, files: &[String], shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let Some(target) = arguments.data_flags.columns.target.clone() else {
        return Err(Error::options("--predictions needs --target: the column of the observed values"));
    };
    if files.len() < 2 {
        return Err(Error::options("--predictions needs at least two files, with commas between them"));
    }
    let (spec, scores) = asked(arguments)?;
    let mut scored: Vec<Scored> = Vec::new();
    for path in files {
        scored.push(read(arguments, path, &target, (&spec, &scores), shared)?);
    }
    for at in 1..scored.len() {
        let (first, rest) = scored.split_at_mut(at);
        align(&first[0], &mut rest[0])?;
    }
    let time = arguments.data_flags.columns.time.as_deref();
    if time.is_some() {
        in_order(&mut scored)?;
    }
    let best = best(&scored);
    let of = |own: &Scored| (0..scores.len()).map(|score| test(own, &scored[best], score, time.is_some())).collect();
    let tests: Vec<Vec<Option<EqualAccuracy>>> = scored.iter().map(of).collect();
    if shared.json {
        return print_json(&json((&scored, &scores), best, &tests, time));
    }
    let mut text = text((&scored, &scores), &target, best, &tests, time);
    if let Some(by) = &arguments.by {
        text += &format!("\n\n{}", group_table(by, &scored));
    }
    print(&text)
}

fn read(
    arguments: &Compare,
    path: &str,
    target: &str,
    (spec, scores): (&ScoreSpec, &[(String, String)]),
    shared: &Shared,
) -> Result<Scored, Error> {
    let columns = PredictionColumns {
        target: Some(target.to_string()),
        weight: arguments.data_flags.columns.rows.flags.weight.clone(),
        time: arguments.data_flags.columns.time.clone(),
        group: arguments.by.clone(),
        ..PredictionColumns::default()
    };
    let file = &arguments.data_flags.reading.file;
    let mut reader = prediction_input::reader(path, columns, &arguments.form, file)?;
    let card = Scorecard::new(spec.clone())?;
    let at = |name: &str| card.names().iter().position(|own| own == name).unwrap_or(0);
    let positions: Vec<usize> = scores.iter().map(|(name, _)| at(name)).collect();
    let covered = at("coverage_0.9");
    let form = reader.form().to_string();
    let mut scored = Scored {
        name: source(path),
        form,
        keys: Vec::new(),
        times: Vec::new(),
        y: Vec::new(),
        groups: Vec::new(),
        weights: None,
        scores: Vec::new(),
        covered: Vec::new(),
    };
    let (bar, at_once) = (Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())));
    while let Some(chunk) = reader.next_chunk(at_once)? {
        for row in card.scores(&chunk.predictions, &chunk.y)? {
            scored.scores.push(positions.iter().map(|position| row[*position]).collect());
            scored.covered.push(row[covered]);
        }
        bar.add(chunk.y.len());
        scored.keys.extend(chunk.keys);
        scored.times.extend(chunk.times);
        scored.groups.extend(chunk.groups);
        scored.y.extend(chunk.y);
        if let Some(weights) = chunk.weights {
            scored.weights.get_or_insert_default().extend(weights);
        }
    }
    bar.clear();
    let warnings = prediction_input::warnings(&reader, target);
    warn(shared.quiet, &warnings.iter().map(|warning| format!("{path}: {warning}")).collect::<Vec<_>>());
    if scored.y.is_empty() {
        return Err(Error::data("expected at least 1 row with a known target, found none").in_file(path));
    }
    Ok(scored)
}

/// The position of each key.
fn positions<'a>(name: &str, keys: &'a [String]) -> Result<HashMap<&'a str, usize>, Error> {
    let positions: HashMap<&str, usize> = keys.iter().map(String::as_str).zip(0..).collect();
    match positions.len() < keys.len() {
        true => Err(Error::data(format!("the keys of {name} are not unique"))),
        false => Ok(positions),
    }
}

/// Puts the rows of `other` into the order of `first`: by key where there is one. Their targets must be the same.
fn align(first: &Scored, other: &mut Scored) -> Result<(), Error> {
    let (one, two) = (first.name.clone(), other.name.clone());
    if first.y.len() != other.y.len() {
        return Err(Error::data(format!(
            "the files must have the same rows: {one} has {} with a target, {two} {}",
            counted(first.y.len(), "row"),
            other.y.len()
        )));
    }
    if !first.keys.is_empty() {
        positions(&one, &first.keys)?;
        let positions = positions(&two, &other.keys)?;
        let order: Vec<usize> = first
            .keys
            .iter()
            .map(|key| {
                positions
                    .get(key.as_str())
                    .copied()
                    .ok_or_else(|| Error::data(format!("{two} has no row with the key {key:?} of {one}")))
            })
            .collect::<Result<_, _>>()?;
        other.reorder(&order);
    }
    match first.y.iter().zip(&other.y).position(|(a, b)| a != b) {
        Some(row) => {
            let (a, b) = (first.y[row], other.y[row]);
            let hint = if first.keys.is_empty() { "; name the column that identifies rows with --key" } else { "" };
            Err(Error::data(format!("the targets of {one} and {two} differ in row {}: {a} and {b}{hint}", row + 1)))
        }
        None => Ok(()),
    }
}

/// Sorts all rows by time.
fn in_order(scored: &mut [Scored]) -> Result<(), Error> {
    let times = &scored[0].times;
    let numbers: Option<Vec<f64>> = times.iter().map(|time| time.parse().ok()).collect();
    // Dates as text sort only if the year comes first.
    let is_date = |time: &String| {
        let bytes = time.as_bytes();
        let digits =
            |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
        digits(0..4)
            && bytes.get(4) == Some(&b'-')
            && digits(5..7)
            && (bytes.len() < 8 || bytes[7] == b'-' && digits(8..10))
    };
    if let Some(row) = times.iter().position(|time| numbers.is_none() && !is_date(time)) {
        let message = format!(
            "expected a number or a date such as 2024-05-31 as the time of row {}, found {:?}",
            row + 1,
            times[row]
        );
        return Err(Error::data(message).in_file(&scored[0].name));
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    match numbers {
        Some(numbers) => order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
        None => order.sort_by(|a, b| times[*a].cmp(&times[*b])),
    }
    scored.iter_mut().for_each(|own| own.reorder(&order));
    Ok(())
}

impl Scored {
    fn reorder(&mut self, order: &[usize]) {
        let pick = |list: &[f64]| order.iter().map(|at| list[*at]).collect::<Vec<f64>>();
        let texts = |list: &[String]| {
            if list.is_empty() { Vec::new() } else { order.iter().map(|at| list[*at].clone()).collect() }
        };
        (self.keys, self.times, self.groups) = (texts(&self.keys), texts(&self.times), texts(&self.groups));
        (self.y, self.covered, self.weights) = (pick(&self.y), pick(&self.covered), self.weights.as_deref().map(pick));
        self.scores = order.iter().map(|at| self.scores[*at].clone()).collect();
    }

    fn mean(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.mean_of(0..self.y.len(), value)
    }

    fn mean_of(&self, rows: impl Iterator<Item = usize> + Clone, value: impl Fn(usize) -> f64) -> f64 {
        let weight = |row: usize| self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        rows.clone().map(|row| weight(row) * value(row)).sum::<f64>() / rows.map(weight).sum::<f64>()
    }
}

/// The file with the smallest mean CRPS.
fn best(scored: &[Scored]) -> usize {
    let crps = |at: &usize| scored[*at].mean(|row| scored[*at].scores[row][0]);
    (0..scored.len()).min_by(|a, b| crps(a).total_cmp(&crps(b))).unwrap_or(0)
}

fn test(own: &Scored, best: &Scored, score: usize, ordered: bool) -> Option<EqualAccuracy> {
    let differences: Vec<f64> = own.scores.iter().zip(&best.scores).map(|(a, b)| a[score] - b[score]).collect();
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    equal_accuracy(&differences, best.weights.as_deref(), ordered)
}

/// A mean.
fn cell(mean: f64) -> String {
    match mean {
        _ if mean.is_nan() => "-".into(),
        _ if mean.is_infinite() => "inf".into(),
        _ => number(mean),
    }
}

/// The CRPS of each file in each group.
fn group_table(by: &str, scored: &[Scored]) -> String {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, group) in scored[0].groups.iter().enumerate() {
        groups.entry(group).or_default().push(row);
    }
    let mut header = vec![by.to_string(), "rows".into()];
    header.extend(scored.iter().map(|own| format!("CRPS, {}", own.name)));
    let mut lines = vec![header];
    for (group, rows) in groups.iter().take(GROUPS_SHOWN) {
        let mut line = vec![group.to_string(), count(rows.len())];
        line.extend(scored.iter().map(|own| cell(own.mean_of(rows.iter().copied(), |row| own.scores[row][0]))));
        lines.push(line);
    }
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    text_table::table(&lines) + &if more > 0 { format!("\nand {} more", counted(more, "group")) } else { String::new() }
}

fn text(
    (scored, scores): (&[Scored], &[(String, String)]),
    target: &str,
    best: usize,
    tests: &[Vec<Option<EqualAccuracy>>],
    time: Option<&str>,
) -> String {
    let headings = scores.iter().map(|(_, heading)| heading.clone());
    let mut lines =
        vec![["file".to_string()].into_iter().chain(headings).chain(["in 90 %".to_string()]).collect::<Vec<_>>()];
    for own in scored {
        let mut line = vec![own.name.clone()];
        line.extend((0..scores.len()).map(|score| cell(own.mean(|row| own.scores[row][score]))));
        line.push(format!("{:.1} %", 100.0 * own.mean(|row| own.covered[row])));
        lines.push(line);
    }
    let mut text = format!("{}, target {target:?}\n\n{}", counted(scored[0].y.len(), "row"), text_table::table(&lines));
    let mut lines = vec![["CRPS minus that of the best", "difference", "se", "p", ""].map(str::to_string).to_vec()];
    for (own, tests) in scored.iter().zip(tests).enumerate().filter(|(at, _)| *at != best).map(|(_, pair)| pair) {
        let Some(test) = tests[0] else {
            lines.push(vec![own.name.clone(), "-".into(), "-".into(), "-".into(), "too few rows".into()]);
            continue;
        };
        let verdict = if test.p_value < LEVEL { "worse" } else { "no difference" };
        let p = p_value(test.p_value).replace("= ", "");
        lines.push(vec![own.name.clone(), number(test.difference), number(test.se), p, verdict.into()]);
    }
    text += &format!("\n\n{}", text_table::table(&lines));
    let test = match time {
        Some(time) => format!("Diebold-Mariano test in the order of {time:?}, robust to autocorrelation"),
        None => "paired t test of independent rows; use --time COL where rows are in time order".into(),
    };
    text + &format!("\n\nbest by CRPS: {} ({}); {test}", scored[best].name, scored[best].form)
}

fn json(
    (scored, scores): (&[Scored], &[(String, String)]),
    best: usize,
    tests: &[Vec<Option<EqualAccuracy>>],
    time: Option<&str>,
) -> serde_json::Value {
    let file = |(at, own): (usize, &Scored)| {
        let of = |score: usize| {
            let test = tests[at][score].filter(|_| at != best).map(
                |test| json!({ "difference": test.difference, "se": test.se, "df": test.df, "p_value": test.p_value }),
            );
            (scores[score].0.clone(), json!({ "mean": own.mean(|row| own.scores[row][score]), "against_best": test }))
        };
        let means: serde_json::Map<String, serde_json::Value> = (0..scores.len()).map(of).collect();
        json!({ "file": own.name, "form": own.form, "scores": means, "coverage_0.9": own.mean(|row| own.covered[row]), "best": at == best })
    };
    json!({ "rows": scored[0].y.len(), "time": time, "files": scored.iter().enumerate().map(file).collect::<Vec<_>>() })
}
