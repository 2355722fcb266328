//! The report of an experiment: our results and the published ones as Markdown, CSV and JSON.

use std::fmt::Write as _;

use negmm::compare::Summary;
use serde_json::{Value, json};

use crate::{Comparison, Entry};

/// A table of text cells.
#[derive(Clone, Debug, Default)]
pub struct ResultTable {
    /// Its title.
    pub title: String,
    /// The rows, the header first.
    pub rows: Vec<Vec<String>>,
}

/// The report of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// Our results and the published ones.
    pub entries: Vec<Entry>,
    /// Further tables.
    pub tables: Vec<ResultTable>,
    /// Notes on how to read it.
    pub notes: Vec<String>,
}

impl Report {
    /// All tables: one for each data set, with a row per method and a column per metric (and selection) and published metric; then the
    /// further ones.
    pub fn all_tables(&self) -> Vec<ResultTable> {
        let mut all: Vec<ResultTable> =
            distinct(self.entries.iter().map(|entry| &entry.data)).into_iter().map(|data| self.pivot(data)).collect();
        all.extend(self.tables.iter().cloned());
        all
    }

    fn pivot(&self, data: &str) -> ResultTable {
        let entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.data == data).collect();
        let metrics = distinct(entries.iter().map(|entry| &entry.metric));
        let mut columns = Vec::new();
        let mut header = vec![String::new()];
        for metric in metrics {
            let of_metric = || entries.iter().filter(move |entry| entry.metric == *metric);
            for selection in distinct(of_metric().map(|entry| &entry.selection)) {
                columns.push((*metric, *selection, false));
                header.push(selection.map_or(metric.to_string(), |selection| format!("{metric}, {selection}")));
            }
            if of_metric().any(|entry| entry.paper.is_some()) {
                columns.push((*metric, None, true));
                header.push("paper".into());
            }
        }
        let mut rows = vec![header];
        for method in distinct(entries.iter().map(|entry| &entry.method)) {
            let cell = |(metric, selection, paper): &(&str, Option<&str>, bool)| {
                let fits = |entry: &&&Entry| {
                    entry.method == *method && entry.metric == *metric && (*paper || entry.selection == *selection)
                };
                let Some(entry) = entries.iter().find(fits) else { return "-".into() };
                match (paper, entry.paper) {
                    (false, _) => {
                        format!("{} {}", mean_and_sd(&entry.ours), entry.comparison().map_or(" ", Comparison::sign))
                    }
                    (true, Some(paper)) => match paper.spread {
                        Some(spread) => format!("{} ± {spread}", paper.mean),
                        None => paper.mean.to_string(),
                    },
                    (true, None) => "-".into(),
                }
            };
            rows.push(std::iter::once(method.clone()).chain(columns.iter().map(cell)).collect());
        }
        let repeats = entries.iter().map(|entry| entry.ours.repeats).max().unwrap_or(0);
        ResultTable { title: format!("{data}, {repeats} repeats"), rows }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for table in self.all_tables() {
            let _ = write!(text, "\n## {}\n\n", table.title);
            for (at, row) in table.rows.iter().enumerate() {
                let cells: Vec<&str> = row.iter().map(|cell| cell.trim()).collect();
                let _ = writeln!(text, "| {} |", cells.join(" | "));
                if at == 0 {
                    let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
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
                entry.comparison().map_or("", Comparison::name),
            );
        }
        text
    }

    /// As JSON, without the running time.
    pub fn json(&self) -> Value {
        let tables: Vec<Value> =
            self.tables.iter().map(|table| json!({ "title": table.title, "lines": table.rows })).collect();
        json!({
            "title": self.title,
            "table": self.entries.iter().map(Entry::json).collect::<Vec<_>>(),
            "further": tables,
            "notes": self.notes,
        })
    }
}

/// Distinct items, in the order of first occurrence.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = Vec::new();
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    list
}

/// Mean ± sd, with the same decimals.
pub(crate) fn mean_and_sd(summary: &Summary) -> String {
    let Summary { mean, sd, .. } = *summary;
    format!("{} ± {sd:.*}", number(mean), decimals(mean))
}

/// A number with the decimals of a table.
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
    fn every_format_has_every_entry() {
        let entries = vec![
            Entry::new("toy1", "toy1", "ne-gmm", "m", Some("oracle"), &[0.2, 0.3]),
            Entry::new("toy1", "toy1", "ne-gmm", "m", Some("validation"), &[0.4, 0.46]),
            Entry::new("toy1", "toy1", "constant", "m", Some("oracle"), &[4.0, 4.2]),
        ];
        let table = ResultTable { title: "more".into(), rows: vec![vec!["a".into()], vec!["1".into()]] };
        let report = Report { title: "Toys".into(), entries, tables: vec![table], notes: vec!["A note.".into()] };
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
