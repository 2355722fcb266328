//! Responsible for what an experiment gives: entries beside the paper's, further tables, and all of it as text.

use std::fmt::Write as _;

use negmm::compare::Summary;
use serde_json::{Value, json};

use crate::{Entry, Mark};

/// A table that has nothing of the paper beside it, or has it in its own cells.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What it shows.
    pub title: String,
    /// The heading first.
    pub lines: Vec<Vec<String>>,
}

/// What an experiment gives.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was run.
    pub title: String,
    /// Ours and the paper's.
    pub entries: Vec<Entry>,
    /// Further tables.
    pub blocks: Vec<Block>,
    /// Sentences about how to read it.
    pub notes: Vec<String>,
}

impl Report {
    /// All tables as lines of cells: one for each data set, a line a method, a column a metric (and selection), with the paper's
    /// beside ours.
    pub fn tables(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> =
            distinct(self.entries.iter().map(|entry| &entry.data)).into_iter().map(|data| self.pivot(data)).collect();
        blocks.extend(self.blocks.iter().cloned());
        blocks
    }

    fn pivot(&self, data: &str) -> Block {
        let entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.data == data).collect();
        let metrics = distinct(entries.iter().map(|entry| &entry.metric));
        let mut columns = Vec::new();
        let mut heading = vec![String::new()];
        for metric in metrics {
            let of_metric = || entries.iter().filter(move |entry| entry.metric == *metric);
            for selection in distinct(of_metric().map(|entry| &entry.selection)) {
                columns.push((*metric, *selection, false));
                heading.push(selection.map_or(metric.to_string(), |selection| format!("{metric}, {selection}")));
            }
            if of_metric().any(|entry| entry.paper.is_some()) {
                columns.push((*metric, None, true));
                heading.push("paper".into());
            }
        }
        let mut lines = vec![heading];
        for method in distinct(entries.iter().map(|entry| &entry.method)) {
            let cell = |(metric, selection, paper): &(&str, Option<&str>, bool)| {
                let fits = |entry: &&&Entry| {
                    entry.method == *method && entry.metric == *metric && (*paper || entry.selection == *selection)
                };
                let Some(entry) = entries.iter().find(fits) else { return "-".into() };
                match (paper, entry.paper) {
                    (false, _) => format!("{} {}", spread(&entry.ours), entry.mark().map_or(" ", Mark::sign)),
                    (true, Some(paper)) => match paper.spread {
                        Some(spread) => format!("{} ± {spread}", paper.mean),
                        None => paper.mean.to_string(),
                    },
                    (true, None) => "-".into(),
                }
            };
            lines.push(std::iter::once(method.clone()).chain(columns.iter().map(cell)).collect());
        }
        let repeats = entries.iter().map(|entry| entry.ours.repeats).max().unwrap_or(0);
        Block { title: format!("{data}, {repeats} repeats"), lines }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for block in self.tables() {
            let _ = write!(text, "\n## {}\n\n", block.title);
            for (at, line) in block.lines.iter().enumerate() {
                let cells: Vec<&str> = line.iter().map(|cell| cell.trim()).collect();
                let _ = writeln!(text, "| {} |", cells.join(" | "));
                if at == 0 {
                    let _ = writeln!(text, "|{}", "---|".repeat(line.len()));
                }
            }
        }
        for note in &self.notes {
            let _ = write!(text, "\n- {note}");
        }
        text + "\n"
    }

    /// The entries as CSV.
    pub fn csv(&self) -> String {
        let mut text = String::from("data,method,metric,selection,mean,sd,se,repeats,paper,paper_spread,mark\n");
        let shown = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        for entry in &self.entries {
            let ours = &entry.ours;
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{}",
                entry.data,
                entry.method,
                entry.metric,
                entry.selection.unwrap_or_default(),
                ours.mean,
                ours.sd,
                ours.se,
                ours.repeats,
                shown(entry.paper.map(|paper| paper.mean)),
                shown(entry.paper.and_then(|paper| paper.spread)),
                entry.mark().map_or("", Mark::word),
            );
        }
        text
    }

    /// As a machine reads it, without the time it took.
    pub fn json(&self) -> Value {
        let blocks: Vec<Value> =
            self.blocks.iter().map(|block| json!({ "title": block.title, "lines": block.lines })).collect();
        json!({
            "title": self.title,
            "table": self.entries.iter().map(Entry::json).collect::<Vec<_>>(),
            "further": blocks,
            "notes": self.notes,
        })
    }
}

/// Each once, in the order of their first.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = Vec::new();
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    list
}

/// A mean with its sd, which has as many decimals.
pub(crate) fn spread(summary: &Summary) -> String {
    let Summary { mean, sd, .. } = *summary;
    format!("{} ± {sd:.*}", number(mean), decimals(mean))
}

/// Digits of a table.
fn number(x: f64) -> String {
    format!("{x:.*}", decimals(x))
}

/// Three decimals for numbers from 0.1 to 100, fewer above and more below.
fn decimals(x: f64) -> usize {
    let size = if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log10().floor() as i32 };
    (3 - size.clamp(-4, 3) - i32::from(size < 0)).clamp(0, 7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_every_entry() {
        let entries = vec![
            Entry::new("toy1", "toy1", "ne-gmm", "m", Some("oracle"), &[0.2, 0.3]),
            Entry::new("toy1", "toy1", "ne-gmm", "m", Some("validation"), &[0.4, 0.46]),
            Entry::new("toy1", "toy1", "constant", "m", Some("oracle"), &[4.0, 4.2]),
        ];
        let block = Block { title: "more".into(), lines: vec![vec!["a".into()], vec!["1".into()]] };
        let report = Report { title: "Toys".into(), entries, blocks: vec![block], notes: vec!["A note.".into()] };
        assert_eq!(
            report.markdown(),
            "# Toys\n\n## toy1, 2 repeats\n\n|  | m, oracle | m, validation | paper |\n|---|---|---|---|\n\
             | ne-gmm | 0.250 ± 0.071 + | 0.430 ± 0.042 = | 0.428 ± 0.152 |\n| constant | 4.100 ± 0.141 | - | - |\n\
             \n## more\n\n| a |\n|---|\n| 1 |\n\n- A note.\n"
        );
        let csv = report.csv();
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.contains("toy1,ne-gmm,m,oracle,0.25,") && csv.contains(",2,0.428,0.152,better\n"), "{csv}");
        let json = report.json();
        assert_eq!(json["table"][1]["mark"], "equal");
        assert_eq!(json["table"][2]["paper"], Value::Null);
    }

    #[test]
    fn digits_suit_the_size() {
        assert_eq!([0.0, 0.25, 2.5, 25.0, 2500.0].map(number), ["0.000", "0.250", "2.500", "25.00", "2500"]);
        assert_eq!(number(0.0123), "0.0123");
        assert_eq!(number(-0.00012), "-0.000120");
    }
}
