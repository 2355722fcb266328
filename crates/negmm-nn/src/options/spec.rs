//! Responsible for what is said of an option: its name, its heading, its meaning, its range.

use super::{Kind, Range};

/// What an option is, whatever its value. Made in constants and lists:
///
/// ```
/// use negmm::options::Spec;
///
/// let dropout = Spec::new("TrainingConfig", "dropout", "SHARE", "share of hidden units switched off").from_below(0.0, 1.0);
/// assert!(dropout.range.contains(0.5) && !dropout.range.contains(1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// The heading it stands under.
    pub group: &'static str,
    /// What it is called on the command line.
    pub name: &'static str,
    /// What its value is called in help.
    pub value_name: &'static str,
    /// One sentence, without a capital and a full stop.
    pub meaning: &'static str,
    /// The numbers that it may be.
    pub range: Range,
    /// What these numbers count.
    pub unit: &'static str,
    /// Numbers of a list, at most, and what they are.
    pub most: Option<(usize, &'static str)>,
    /// The word for no value.
    pub empty: &'static str,
    /// What it goes by where it follows from the data.
    pub follows: Option<&'static str>,
    /// Whether most people should know of it.
    pub basic: bool,
}

impl Spec {
    /// An option whose value is a number, at least 0 unless another range is given.
    pub const fn new(group: &'static str, name: &'static str, value_name: &'static str, meaning: &'static str) -> Self {
        Self {
            group,
            name,
            value_name,
            meaning,
            range: Range::AtLeast(0.0),
            unit: "",
            most: None,
            empty: "none",
            follows: None,
            basic: false,
        }
    }

    /// An option whose value is one of some words.
    pub const fn word(group: &'static str, name: &'static str, meaning: &'static str) -> Self {
        Self::new(group, name, "NAME", meaning)
    }

    /// With this range.
    pub const fn range(self, range: Range) -> Self {
        Self { range, ..self }
    }

    /// From here on.
    pub const fn at_least(self, low: f64) -> Self {
        self.range(Range::AtLeast(low))
    }

    /// Beyond.
    pub const fn above(self, low: f64) -> Self {
        self.range(Range::Above(low))
    }

    /// From `low` to `high`.
    pub const fn within(self, low: f64, high: f64) -> Self {
        self.range(Range::Within(low, high))
    }

    /// From `low`, which it may not be, to `high`.
    pub const fn above_up_to(self, low: f64, high: f64) -> Self {
        self.range(Range::AboveUpTo(low, high))
    }

    /// From `low` to `high`, which it may not be.
    pub const fn from_below(self, low: f64, high: f64) -> Self {
        self.range(Range::FromBelow(low, high))
    }

    /// Its numbers count this.
    pub const fn units(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// A list of at most so many.
    pub const fn at_most(self, most: usize, what: &'static str) -> Self {
        Self { most: Some((most, what)), ..self }
    }

    /// No value is called `auto`, and is chosen by this.
    pub const fn automatic(self, follows: &'static str) -> Self {
        Self { empty: super::automatic::AUTOMATIC, follows: Some(follows), ..self }
    }

    /// One that most people should know of.
    pub const fn basic(self) -> Self {
        Self { basic: true, ..self }
    }

    /// What a number must be.
    pub(super) fn numbers(&self, optional: bool) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let empty = if optional { format!(", or {}", self.empty) } else { String::new() };
        format!("{}{unit}{empty}", self.range)
    }

    /// All that it may be.
    pub(super) fn words(&self, kind: Kind, optional: bool) -> String {
        match kind {
            Kind::Word(words) => words.join(", "),
            Kind::Truth => "true, false".to_string(),
            Kind::List => {
                let most = self.most.map_or(String::new(), |(most, what)| format!(", at most {most} {what}"));
                let empty = if optional { format!(", or {}", self.empty) } else { String::new() };
                format!("{}{most}, or none{empty}", self.numbers(false))
            }
            Kind::Whole | Kind::Real => self.numbers(optional),
        }
    }
}
