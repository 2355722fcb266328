//! Which rows carry an alarm of the monitor: the categories and bins of inputs whose coverage is off by more than chance.

use negmm::by_group::{GroupScores, ScoresByGroup, input_cells};
use negmm::monitor::MonitorStatus;
use negmm::{Error, Loaded, Model, Predictions, Table};
use serde_json::{Value, json};

use crate::format::{count, counted, number};

/// Rows that are kept at most: the last ones.
const MOST_ROWS: usize = 50_000;
/// Groups that are named at most.
const NAMED: usize = 10;

/// Monitored rows with their scores and the cells of all inputs.
pub struct AlarmGroups {
    scores: ScoresByGroup,
    cells: Vec<(String, Vec<String>)>,
    /// The number of monitored rows before the first of these.
    before: u64,
}

/// The groups of an alarm.
pub struct OffGroups {
    groups: Vec<(String, GroupScores)>,
    /// The first row that was looked at, and how many there are; none without an alarm.
    rows: Option<(u64, usize)>,
    inputs: usize,
}

/// An error where the rows of a model have no groups.
pub fn check(loaded: Option<&Loaded>) -> Result<(), Error> {
    match loaded {
        Some(Loaded::Model(model)) if model.encoder().sequence().is_none() => Ok(()),
        _ => Err(Error::options(
            "--explain groups the rows of a table by the inputs of a model of one target, and there are none here",
        )),
    }
}

impl AlarmGroups {
    /// No rows, after so many that were monitored before.
    pub fn after(rows: u64) -> Self {
        Self { scores: ScoresByGroup::default(), cells: Vec::new(), before: rows }
    }

    /// Adds monitored rows.
    pub fn add(
        &mut self,
        model: &Model,
        table: &Table,
        predictions: (&Predictions, &Predictions),
        y: &[f64],
    ) -> Result<(), Error> {
        let cells = input_cells(model, table)?;
        if self.cells.is_empty() {
            self.cells = cells.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
        }
        self.cells.iter_mut().zip(cells).for_each(|((_, all), (_, more))| all.extend(more));
        self.scores.add(vec![String::new(); y.len()], predictions, y, None)?;
        self.leave_out(self.rows().saturating_sub(MOST_ROWS));
        Ok(())
    }

    fn rows(&self) -> usize {
        self.cells.first().map_or(0, |(_, cells)| cells.len())
    }

    fn leave_out(&mut self, rows: usize) {
        self.scores.leave_out(rows);
        self.cells.iter_mut().for_each(|(_, cells)| drop(cells.drain(..rows)));
        self.before += rows as u64;
    }

    /// The groups whose coverage is off since the change point.
    pub fn of(mut self, verdict: &MonitorStatus) -> OffGroups {
        let inputs = self.cells.len();
        let Some(alarm) = verdict.alarm else { return OffGroups { groups: Vec::new(), rows: None, inputs } };
        // Rows are numbered from 1.
        let earlier = alarm.since.saturating_sub(1).saturating_sub(self.before) as usize;
        self.leave_out(earlier.min(self.rows()));
        let groups = self.scores.off_in(&self.cells);
        OffGroups { groups, rows: Some((self.before + 1, self.rows())), inputs }
    }
}

impl OffGroups {
    /// As JSON: a list, or null without an alarm.
    pub fn json(&self) -> Value {
        let group = |(column, scores): &(String, GroupScores)| {
            let mut value = json!(scores);
            value["column"] = json!(column);
            value
        };
        self.rows.map_or(Value::Null, |_| self.groups.iter().map(group).collect())
    }

    /// As text; nothing without an alarm.
    pub fn words(&self) -> Option<String> {
        let (first, rows) = self.rows?;
        let of = format!("among {} from row {} on", counted(rows, "row"), count(first as usize));
        if self.groups.is_empty() {
            let inputs = counted(self.inputs, "input");
            return Some(format!(
                "{of}, coverage is off by more than chance in no category or bin of the {inputs}: the alarm is of all rows alike, \
                 or of too few"
            ));
        }
        let line = |(column, scores): &(String, GroupScores)| {
            let (nominal, covered) = scores.worst()?;
            Some(format!(
                "  {column} {}: {:.0} % intervals cover {:.1} % of {}, CRPS {}",
                scores.group,
                100.0 * nominal,
                100.0 * covered,
                counted(scores.rows, "row"),
                number(scores.crps),
            ))
        };
        let mut lines: Vec<String> = self.groups.iter().take(NAMED).filter_map(line).collect();
        if self.groups.len() > NAMED {
            lines.push(format!("  and {} more", count(self.groups.len() - NAMED)));
        }
        Some(format!("coverage is off by more than chance {of}, the clearest first\n{}", lines.join("\n")))
    }
}
