//! The specification of an option: its name, heading, help text and range.

use super::{Range, ValueKind};

/// The specification of an option.
///
/// ```
/// use negmm_nn::options::OptionSpec;
///
/// const DROPOUT: OptionSpec = OptionSpec::new("Training", "dropout", "P", "dropout probability").from_below(0.0, 1.0);
/// assert!(DROPOUT.range.contains(0.5) && !DROPOUT.range.contains(1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionSpec {
    /// The heading of help that it belongs to.
    pub group: &'static str,
    /// Its name on the command line.
    pub name: &'static str,
    /// The placeholder of its value in help.
    pub value_name: &'static str,
    /// What it does: one phrase, in lower case and without a full stop.
    pub help: &'static str,
    /// The numbers that it may be.
    pub range: Range,
    /// The unit of these numbers.
    pub unit: &'static str,
    /// The most items of a list, and what an item is.
    pub max_items: Option<(usize, &'static str)>,
    /// The word for no value.
    pub none_word: &'static str,
    /// What the value is chosen by, if no value means `auto`.
    pub chosen_by: Option<&'static str>,
    /// Whether short help shows it.
    pub basic: bool,
}

impl OptionSpec {
    /// An option whose value is a number, at least 0 unless another range is given.
    pub const fn new(group: &'static str, name: &'static str, value_name: &'static str, help: &'static str) -> Self {
        Self {
            group,
            name,
            value_name,
            help,
            range: Range::AtLeast(0.0),
            unit: "",
            max_items: None,
            none_word: "none",
            chosen_by: None,
            basic: false,
        }
    }

    /// An option whose value is one of a few words, or true or false.
    pub const fn choice(group: &'static str, name: &'static str, help: &'static str) -> Self {
        Self::new(group, name, "NAME", help)
    }

    /// With this range.
    pub const fn range(self, range: Range) -> Self {
        Self { range, ..self }
    }

    /// With the range of all numbers from `low` on.
    pub const fn at_least(self, low: f64) -> Self {
        self.range(Range::AtLeast(low))
    }

    /// With the range of all numbers above `low`.
    pub const fn above(self, low: f64) -> Self {
        self.range(Range::Above(low))
    }

    /// With the range from `low` to `high`, both included.
    pub const fn within(self, low: f64, high: f64) -> Self {
        self.range(Range::Within(low, high))
    }

    /// With the range from `low`, which is excluded, to `high`.
    pub const fn above_up_to(self, low: f64, high: f64) -> Self {
        self.range(Range::AboveUpTo(low, high))
    }

    /// With the range from `low` to `high`, which is excluded.
    pub const fn from_below(self, low: f64, high: f64) -> Self {
        self.range(Range::FromBelow(low, high))
    }

    /// With a unit of its numbers.
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// A list with a largest number of items.
    pub const fn max_items(self, most: usize, items: &'static str) -> Self {
        Self { max_items: Some((most, items)), ..self }
    }

    /// No value is called `auto`, and the value is then chosen by this.
    pub const fn automatic(self, chosen_by: &'static str) -> Self {
        Self { none_word: super::automatic::AUTOMATIC, chosen_by: Some(chosen_by), ..self }
    }

    /// An option that short help shows.
    pub const fn basic(self) -> Self {
        Self { basic: true, ..self }
    }

    /// The range in words, for messages and help.
    pub(super) fn number_text(&self, optional: bool) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        format!("{}{unit}{}", self.range, self.or_none(optional))
    }

    /// The possible values in words, for help.
    pub(super) fn range_text(&self, kind: ValueKind, optional: bool) -> String {
        match kind {
            ValueKind::Choice(words) => words.join(", "),
            ValueKind::Bool => "true, false".to_string(),
            ValueKind::IntegerList => {
                let most = self.max_items.map_or(String::new(), |(most, items)| format!(", at most {most} {items}"));
                format!("{}{most}, or none{}", self.number_text(false), self.or_none(optional))
            }
            ValueKind::Integer | ValueKind::Float => self.number_text(optional),
        }
    }

    fn or_none(&self, optional: bool) -> String {
        if optional { format!(", or {}", self.none_word) } else { String::new() }
    }
}
