//! Column roles: which columns of a table are features, weights, groups and dates.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::windows::Sequence;
use super::{Column, Table, TargetSpec, TimeFormat};
use crate::infer::time_columns::format_of;
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

/// Which columns are inputs. The default is all but the target; of a sequence, its own column alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnRoles {
    /// Only these, where given.
    pub features: Option<Vec<String>>,
    /// None of these.
    pub ignore: Vec<String>,
    /// Columns of dates and times, with a format or one to detect. Other columns are dates only where they are text whose cells
    /// all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<(String, Option<TimeFormat>)>,
    /// The column of sample weights; it is no input.
    #[serde(default)]
    pub weight: Option<String>,
    /// The column of groups, such as patients or machines, whose rows are held out together; it is no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The column of times, dates or numbers, of rows that are not independent: the newest rows are held out. It is an
    /// input too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The target specification.
    #[serde(rename = "outcome", default)]
    pub target_spec: TargetSpec,
    /// Where rows are steps in time and each is predicted from those before it; then the target may be an input too.
    #[serde(default)]
    pub sequence: Option<Sequence>,
}

/// Setters.
impl ColumnRoles {
    /// Sets `features`.
    #[must_use]
    pub fn features(self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { features: Some(features.into_iter().map(Into::into).collect()), ..self }
    }

    /// Sets `ignore`.
    #[must_use]
    pub fn ignore(self, ignore: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { ignore: ignore.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `dates`.
    #[must_use]
    pub fn dates(self, dates: Vec<(String, Option<TimeFormat>)>) -> Self {
        Self { dates, ..self }
    }

    /// Sets `weight`.
    #[must_use]
    pub fn weight(self, weight: impl Into<String>) -> Self {
        Self { weight: Some(weight.into()), ..self }
    }

    /// Sets `group`.
    #[must_use]
    pub fn group(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Sets `time`.
    #[must_use]
    pub fn time(self, time: impl Into<String>) -> Self {
        Self { time: Some(time.into()), ..self }
    }

    /// Sets `outcome`.
    #[must_use]
    pub fn target_spec(self, target_spec: TargetSpec) -> Self {
        Self { target_spec, ..self }
    }

    /// Sets `sequence`.
    #[must_use]
    pub fn sequence(self, sequence: impl Into<Option<Sequence>>) -> Self {
        Self { sequence: sequence.into(), ..self }
    }
}

impl ColumnRoles {
    /// The same with the table's own names, which may differ by blanks around them.
    pub(crate) fn named_as_in(&self, table: &Table) -> Self {
        let own = |name: &String| table.own_name(name).unwrap_or(name).to_string();
        let sequence = |sequence: &Sequence| Sequence { column: own(&sequence.column), window: sequence.window };
        Self {
            features: self.features.as_ref().map(|names| names.iter().map(own).collect()),
            ignore: self.ignore.iter().map(own).collect(),
            dates: self.dates.iter().map(|(name, format)| (own(name), *format)).collect(),
            weight: self.weight.as_ref().map(own),
            group: self.group.as_ref().map(own),
            time: self.time.as_ref().map(own),
            target_spec: self.target_spec.named_as_in(table),
            sequence: self.sequence.as_ref().map(sequence),
        }
    }

    /// The input columns of `table`, in its order.
    pub(crate) fn choose<'a>(&self, table: &'a Table, target: &str) -> Result<Vec<(&'a str, &'a Column)>> {
        self.check(table, target)?;
        let features: Option<HashSet<&str>> =
            self.features.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let ignore: HashSet<&str> = self.ignore.iter().map(String::as_str).collect();
        let others: Vec<&str> = self.other_columns().map(String::as_str).collect();
        let asked = |name: &str| features.as_ref().map(|features| features.contains(name));
        let includes = |name: &str| {
            let among = match self.sequence_column() {
                Some(sequence) => sequence == name || asked(name) == Some(true),
                None => name != target && asked(name) != Some(false),
            };
            among && !others.contains(&name) && !ignore.contains(name)
        };
        let chosen: Vec<_> = table.columns().filter(|(name, _)| includes(name)).collect();
        if chosen.is_empty() {
            let message = format!("there is no input column beside the target {}", quoted(target));
            return Err(table.locate(Error::data(message)));
        }
        Ok(chosen)
    }

    /// The format of the times of a column, where it has times.
    pub(crate) fn time_format(&self, table: &Table, name: &str, column: &Column) -> Result<Option<TimeFormat>> {
        let declared = self.dates.iter().find(|(date, _)| date == name).map(|(_, format)| *format);
        if declared.is_none() && self.sequence_column() == Some(name) {
            return Ok(None);
        }
        format_of(name, column, declared).map_err(|error| table.locate(error.in_column(name)))
    }

    /// The time of each row, by the column of times: seconds since 1970 where it holds dates, else its numbers.
    ///
    /// # Errors
    /// When the column is absent, holds neither, or a cell is missing.
    pub fn times(&self, table: &Table) -> Result<Option<Vec<f64>>> {
        let Some(name) = &self.time else { return Ok(None) };
        let format = self.dates.iter().find(|(date, _)| date == name).and_then(|(_, format)| *format);
        let (times, _) = table.times(name, format)?;
        match times.iter().position(|time| time.is_nan()) {
            Some(row) => Err(table.at_cell(Error::data("the time is missing"), row, name)),
            None if times.windows(2).all(|pair| pair[0] == pair[1]) => {
                let error = Error::data("the time is the same in every row, so that no row is newer than others");
                Err(table.locate(error.in_column(name)))
            }
            None => Ok(Some(times)),
        }
    }

    /// Columns that are neither inputs nor the target: the weight, the group, and those that describe censoring.
    pub fn other_columns(&self) -> impl Iterator<Item = &String> {
        self.weight.iter().chain(&self.group).chain(self.target_spec.columns())
    }

    fn sequence_column(&self) -> Option<&str> {
        self.sequence.as_ref().map(|sequence| sequence.column.as_str())
    }

    /// An error where a named column is absent, or roles contradict each other.
    fn check(&self, table: &Table, target: &str) -> Result<()> {
        let refuse = |message: String| Err(table.locate(Error::options(message)));
        let asked = self.features.iter().flatten().chain(&self.ignore).chain(self.other_columns()).map(String::as_str);
        let asked = asked.chain(self.dates.iter().map(|(name, _)| name.as_str()));
        let asked = asked.chain(self.time.as_deref()).chain(self.sequence_column()).chain([target]);
        let absent: Vec<&str> = asked.filter(|name| table.column(name).is_none()).collect();
        if !absent.is_empty() {
            return refuse(table.absent(&absent));
        }
        if let Some(sequence) = self.sequence_column() {
            self.check_sequence(table, sequence)?;
        } else if self.features.iter().flatten().any(|name| name == target) {
            return refuse(format!("the target {} cannot be an input too", quoted(target)));
        }
        if self.weight.as_deref() == Some(target) {
            return refuse(format!("the target {} cannot be the weight too", quoted(target)));
        }
        if self.group.as_deref() == Some(target) {
            return refuse(format!("the target {} cannot be the group too", quoted(target)));
        }
        if self.time.as_deref() == Some(target) {
            return refuse(format!("the target {} cannot be the time too", quoted(target)));
        }
        if self.target_spec.columns().any(|name| name == target) {
            return refuse(format!("the target {} cannot say of itself whether it is censored", quoted(target)));
        }
        if self.target_spec.is_censored() && self.sequence.is_some() {
            return refuse("the steps of a sequence cannot be censored".into());
        }
        self.target_spec.check()?;
        if self.group.is_some() && self.sequence.is_some() {
            return refuse("rows of a sequence are held out in time: they have no group".into());
        }
        if self.time.is_some() && self.sequence.is_some() {
            return refuse("rows of a sequence are in the order of time: they need no column of times".into());
        }
        if self.time.is_some() && self.group.is_some() {
            return refuse("rows are held out either by time or by group: leave out one of them".into());
        }
        Ok(())
    }

    /// Whether a column can be a sequence: numbers, and an input.
    fn check_sequence(&self, table: &Table, name: &str) -> Result<()> {
        let refuse = |what: &str| Err(table.locate(Error::options(format!("the sequence {} {what}", quoted(name)))));
        if self.weight.as_deref() == Some(name) {
            return refuse("cannot be the weight too");
        }
        if self.ignore.iter().any(|ignored| ignored == name) {
            return refuse("cannot be ignored");
        }
        let Some(numbers) = table.numbers(name) else { return Ok(()) };
        if numbers?.iter().all(|number| number.is_nan()) {
            return Err(table.locate(Error::data(format!("the sequence {} is missing in every row", quoted(name)))));
        }
        Ok(())
    }
}
