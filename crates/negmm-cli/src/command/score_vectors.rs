//! `negmm score` of several targets: scores of draws of vectors, and of each target.

use std::collections::BTreeMap;
use std::path::Path;

use negmm::prediction_table::{Form, PredictionColumns, VectorChunk};
use negmm::verification::{ScoreMeans, ScoreSpec, ScoreSummary, Scorecard, VectorScores, randomised_pit};
use negmm::{Error, Predictions};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::arguments::Shared;
use crate::arguments::predictions::Score;
use crate::command::report::source;
use crate::command::score::{MOST_GROUPS, summary_json, summary_table};
use crate::console::{print, print_json, warn};
use crate::format::{count, counted, number};
use crate::output::Output;
use crate::output_paths::check_distinct;
use crate::prediction_input::{self, chunk_rows, numbers};
use crate::progress::Bar;
use crate::text_table;

/// Groups that are shown.
const GROUPS_SHOWN: usize = 20;

/// Runs it.
pub fn run(arguments: &Score, targets: &[String], spec: &ScoreSpec, shared: &Shared) -> Result<(), Error> {
    let order = arguments.variogram_order.unwrap_or(VectorScores::default().order);
    let scales = arguments.scales.as_deref().map(|text| numbers("scales", text)).transpose()?.unwrap_or_default();
    let joint = VectorScores { order, scales };
    joint.check(targets.len())?;
    if arguments.step.is_some() || arguments.between.is_some() || arguments.thresholds.is_some() {
        return Err(Error::options("--step, --between and --thresholds are for one target: score each by itself"));
    }
    check_distinct(shared.json, &[], &[("predictions", Path::new(&arguments.predictions))])?;
    let columns = PredictionColumns {
        weight: arguments.weight.clone(),
        group: arguments.by.clone(),
        ..PredictionColumns::default()
    };
    let flags = (&arguments.form, &arguments.file);
    let mut reader = prediction_input::vector_reader(&arguments.predictions, targets, columns, flags.0, flags.1)?;
    let rows = arguments.rows.as_deref().map(Output::create).transpose()?;
    let has_draws = reader.forms().iter().all(|form| matches!(form, Form::Samples(_)));
    let mut all = Scored::new((targets, has_draws), spec, joint, rows)?;
    let (at_once, bar) = (chunk_rows(reader.forms()), Bar::rows(shared));
    while let Some(chunk) = reader.next_chunk(at_once)? {
        all.add(&chunk)?;
        bar.add(chunk.rows.len());
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::vector_warnings(&reader));
    let outcome = all.finish()?;
    if shared.json {
        return print_json(&outcome.json(targets, reader.forms(), (reader.crossing(), arguments.by.is_some())));
    }
    let rows = counted(outcome.all.rows() as usize, "row");
    let names: Vec<String> = targets.iter().map(|target| format!("{target:?}")).collect();
    let mut text = format!("{rows} of {}, targets {}", source(&arguments.predictions), names.join(", "));
    for (target, form) in targets.iter().zip(reader.forms()) {
        text += &format!("\n{target}: {form}");
    }
    print(&format!("{text}\n\n{}", outcome.text(order, arguments.by.as_deref())?))
}

/// The scores of some rows: of the vectors, and of each target.
struct Cards {
    vectors: ScoreMeans,
    targets: Vec<Scorecard>,
}

impl Cards {
    fn new(targets: usize, has_draws: bool, spec: &ScoreSpec) -> Result<Self, Error> {
        let names = if has_draws { VectorScores::names().map(str::to_string).to_vec() } else { Vec::new() };
        let targets = (0..targets).map(|_| Scorecard::new(spec.clone())).collect::<Result<_, _>>()?;
        Ok(Self { vectors: ScoreMeans::new(names), targets })
    }

    fn rows(&self) -> u64 {
        self.vectors.rows()
    }

    fn summaries(&self, names: &[String]) -> Result<Vec<(String, ScoreSummary)>, Error> {
        names.iter().zip(&self.targets).map(|(name, card)| Ok((name.clone(), card.finish()?))).collect()
    }
}

/// Scores under way.
struct Scored {
    names: Vec<String>,
    has_draws: bool,
    spec: ScoreSpec,
    joint: VectorScores,
    all: Cards,
    groups: BTreeMap<String, Cards>,
    rows: Option<Output>,
    seen: u64,
}

impl Scored {
    fn new(
        (names, has_draws): (&[String], bool),
        spec: &ScoreSpec,
        joint: VectorScores,
        mut rows: Option<Output>,
    ) -> Result<Self, Error> {
        let all = Cards::new(names.len(), has_draws, spec)?;
        if let Some(rows) = &mut rows {
            let mut header = vec!["row".to_string()];
            header.extend(names.iter().map(|name| csv_cell(name)));
            header.extend(all.vectors.names().iter().cloned());
            for (name, card) in names.iter().zip(&all.targets) {
                header.push(csv_cell(&format!("{name}_pit")));
                header.extend(card.names().iter().map(|score| csv_cell(&format!("{name}_{score}"))));
            }
            rows.write(format!("{}\n", header.join(",")).as_bytes())?;
        }
        Ok(Self {
            names: names.to_vec(),
            has_draws,
            spec: spec.clone(),
            joint,
            all,
            groups: BTreeMap::new(),
            rows,
            seen: 0,
        })
    }

    fn add(&mut self, chunk: &VectorChunk) -> Result<(), Error> {
        let (size, rows) = (self.names.len(), chunk.rows.len());
        let vectors: Vec<Vec<f64>> = match &chunk.draws {
            Some(draws) => {
                let each = draws.par_chunks_exact(draws.len() / rows).zip(chunk.y.par_chunks_exact(size));
                each.map(|(draws, y)| self.joint.score(draws, y).to_vec()).collect()
            }
            None => vec![Vec::new(); rows],
        };
        let y = |target: usize| chunk.y.iter().skip(target).step_by(size).copied().collect::<Vec<f64>>();
        let scored = |(target, card): (usize, &Scorecard)| card.scores(&chunk.predictions[target], &y(target));
        let singles: Vec<Vec<Vec<f64>>> = self.all.targets.iter().enumerate().map(scored).collect::<Result<_, _>>()?;
        for at in 0..rows {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[at]);
            let of = |(target, predictions): (usize, &Predictions)| {
                randomised_pit(predictions.row(at), chunk.y[at * size + target], self.spec.seed, self.seen)
            };
            let pits: Vec<f64> = chunk.predictions.iter().enumerate().map(of).collect();
            let group = chunk.groups.get(at);
            if let Some(group) = group.filter(|group| !self.groups.contains_key(*group)) {
                self.groups.insert(group.clone(), Cards::new(size, self.has_draws, &self.spec)?);
            }
            let of_group = group.and_then(|group| self.groups.get_mut(group));
            for cards in [&mut self.all].into_iter().chain(of_group) {
                cards.vectors.add(&vectors[at], weight);
                for (target, card) in cards.targets.iter_mut().enumerate() {
                    card.add_row(&singles[target][at], pits[target], weight);
                }
            }
            if let Some(file) = &mut self.rows {
                let mut line: Vec<f64> = chunk.y[at * size..][..size].to_vec();
                line.extend(&vectors[at]);
                for (pit, scores) in pits.iter().zip(&singles) {
                    line.push(*pit);
                    line.extend(&scores[at]);
                }
                let cells: Vec<String> = line.iter().map(|cell| format!("{cell:?}")).collect();
                file.write(format!("{},{}\n", chunk.rows[at], cells.join(",")).as_bytes())?;
            }
            self.seen += 1;
        }
        if self.groups.len() > MOST_GROUPS {
            return Err(Error::data(format!("there are more than {} groups", count(MOST_GROUPS))));
        }
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        let vectors = self.all.vectors.means()?;
        let targets = self.all.summaries(&self.names)?;
        if let Some(rows) = self.rows {
            rows.finish()?;
        }
        Ok(Outcome { vectors, targets, all: self.all.vectors, groups: self.groups, names: self.names })
    }
}

fn csv_cell(name: &str) -> String {
    let quoted = name.contains([',', '"', '\n', '\r']);
    if quoted { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

/// All that is shown.
struct Outcome {
    vectors: Vec<(String, f64, f64)>,
    targets: Vec<(String, ScoreSummary)>,
    all: ScoreMeans,
    groups: BTreeMap<String, Cards>,
    names: Vec<String>,
}

/// A mean or a standard error.
fn cell(x: f64) -> String {
    match x {
        _ if x.is_nan() => "-".into(),
        _ if x.is_infinite() => "inf".into(),
        _ => number(x),
    }
}

impl Outcome {
    fn text(&self, order: f64, by: Option<&str>) -> Result<String, Error> {
        let mut text = String::new();
        if self.vectors.is_empty() {
            text += "Scores of all targets together need draws of each (NAME_draw_1 …); these are scores of each target alone.\n\n";
        } else {
            let label = |name: &str| match name {
                "energy_score" => "energy score".to_string(),
                "fair_energy_score" => "fair energy score".into(),
                "variogram_score" => format!("variogram score, order {order}"),
                _ => "Dawid-Sebastiani score".into(),
            };
            let mut lines = vec![["all targets", "mean", "se"].map(str::to_string).to_vec()];
            lines.extend(self.vectors.iter().map(|(name, mean, se)| vec![label(name), cell(*mean), cell(*se)]));
            text += &format!("{}\n\n", text_table::table(&lines));
        }
        text += &summary_table("target", &self.targets);
        for (name, rows) in self.all.infinite() {
            text += &format!("\n{}: infinite in {}", name.replace('_', " "), counted(rows as usize, "row"));
        }
        if let Some(by) = by {
            text += &format!("\n\n{}", self.group_table(by)?);
        }
        Ok(text)
    }

    fn group_table(&self, by: &str) -> Result<String, Error> {
        let mut header = vec![by.to_string(), "rows".into()];
        if !self.vectors.is_empty() {
            header.extend(["energy score", "se", "variogram", "Dawid-Seb."].map(str::to_string));
        }
        header.extend(self.names.iter().map(|name| format!("CRPS, {name}")));
        let mut lines = vec![header];
        for (name, cards) in self.groups.iter().take(GROUPS_SHOWN) {
            let mut line = vec![name.clone(), count(cards.rows() as usize)];
            if let [(_, energy, se), _, (_, variogram, _), (_, moments, _)] = &cards.vectors.means()?[..] {
                line.extend([energy, se, variogram, moments].map(|x| cell(*x)));
            }
            line.extend(
                cards.summaries(&self.names)?.iter().map(|(_, own)| own.get("crps").map_or(String::new(), cell)),
            );
            lines.push(line);
        }
        let more = self.groups.len().saturating_sub(GROUPS_SHOWN);
        let more = if more > 0 { format!("\nand {} more", counted(more, "group")) } else { String::new() };
        Ok(text_table::table(&lines) + &more)
    }

    fn json(&self, names: &[String], forms: &[Form], (crossing, by): (usize, bool)) -> Value {
        let vectors = |scores: &[(String, f64, f64)]| -> Map<String, Value> {
            scores.iter().map(|(name, mean, se)| (name.clone(), json!({ "mean": mean, "se": se }))).collect()
        };
        let singles = |summaries: &[(String, ScoreSummary)]| -> Map<String, Value> {
            summaries.iter().map(|(name, own)| (name.clone(), summary_json(own))).collect()
        };
        let forms: Map<String, Value> =
            names.iter().zip(forms).map(|(name, form)| (name.clone(), json!(form.to_string()))).collect();
        let mut value = json!({
            "rows": self.all.rows(), "target": names, "form": forms, "crossing_rows": crossing,
            "scores": vectors(&self.vectors), "targets": singles(&self.targets),
        });
        if by {
            let group = |(name, cards): (&String, &Cards)| {
                let means = cards.vectors.means().unwrap_or_default();
                let targets = cards.summaries(names).unwrap_or_default();
                json!({ "group": name, "rows": cards.rows(), "scores": vectors(&means), "targets": singles(&targets) })
            };
            value["groups"] = self.groups.iter().map(group).collect();
        }
        value
    }
}
