//! Responsible for which columns of a table are inputs.

use serde::{Deserialize, Serialize};

use super::message::quoted;
use super::times::form_of;
use super::windows::Sequence;
use super::{Column, Table, TimeForm};
use crate::{Error, Result};

/// Which columns are inputs. The default is all but the target; of a sequence, its own column alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// Only these, where given.
    pub features: Option<Vec<String>>,
    /// None of these.
    pub ignore: Vec<String>,
    /// These columns are dates and times, in a form that is given or found; without a word only text is, whose cells all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<(String, Option<TimeForm>)>,
    /// The column that says how much each row counts; it is no input.
    #[serde(default)]
    pub weight: Option<String>,
    /// Where rows are steps in time and each is predicted from those before it; then the target may be an input too.
    #[serde(default)]
    pub sequence: Option<Sequence>,
}

impl Inputs {
    /// The input columns of `table`, in its order.
    pub(super) fn choose<'a>(&self, table: &'a Table, target: &str) -> Result<Vec<(&'a str, &'a Column)>> {
        self.check(table, target)?;
        let chosen: Vec<_> = table.columns().filter(|(name, _)| self.includes(name, target)).collect();
        if chosen.is_empty() {
            let message = format!("there is no input column beside the target {}", quoted(target));
            return Err(table.blame(Error::data(message)));
        }
        Ok(chosen)
    }

    /// The form of the times of a column, where it holds times.
    pub(super) fn time_form(&self, table: &Table, name: &str, column: &Column) -> Result<Option<TimeForm>> {
        let told = self.dates.iter().find(|(date, _)| date == name).map(|(_, form)| *form);
        if told.is_none() && self.sequence_column() == Some(name) {
            return Ok(None);
        }
        form_of(column, told).map_err(|error| table.blame(error.in_column(name)))
    }

    fn sequence_column(&self) -> Option<&str> {
        self.sequence.as_ref().map(|sequence| sequence.column.as_str())
    }

    /// Whether what is asked for is there and does not contradict itself.
    fn check(&self, table: &Table, target: &str) -> Result<()> {
        let refuse = |message: String| Err(table.blame(Error::options(message)));
        let asked = self.features.iter().flatten().chain(&self.ignore).chain(&self.weight).map(String::as_str);
        let asked = asked.chain(self.dates.iter().map(|(name, _)| name.as_str()));
        let asked = asked.chain(self.sequence_column()).chain([target]);
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
        Ok(())
    }

    /// Whether a column can be a sequence: numbers, and an input.
    fn check_sequence(&self, table: &Table, name: &str) -> Result<()> {
        let refuse = |what: &str| Err(table.blame(Error::options(format!("the sequence {} {what}", quoted(name)))));
        if self.weight.as_deref() == Some(name) {
            return refuse("cannot be the weight too");
        }
        if self.ignore.iter().any(|ignored| ignored == name) {
            return refuse("cannot be ignored");
        }
        let Some(numbers) = table.numbers(name) else { return Ok(()) };
        if numbers?.iter().all(|number| number.is_nan()) {
            return Err(table.blame(Error::data(format!("the sequence {} is missing in every row", quoted(name)))));
        }
        Ok(())
    }

    fn includes(&self, name: &str, target: &str) -> bool {
        let asked = |features: &Vec<String>| features.iter().any(|feature| feature == name);
        let among = match self.sequence_column() {
            Some(sequence) => sequence == name || self.features.as_ref().is_some_and(asked),
            None => name != target && self.features.as_ref().is_none_or(asked),
        };
        among && self.weight.as_deref() != Some(name) && !self.ignore.iter().any(|ignored| ignored == name)
    }
}
