//! The form of a table of predictions: what its columns are.

use std::fmt;

/// A form, as it is called in options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// A parametric family and its parameters.
    Family,
    /// Weights, means and sds of a Gaussian mixture.
    Mixture,
    /// Quantiles.
    Quantiles,
    /// Samples.
    Samples,
    /// Probabilities of bins.
    Histogram,
    /// Lower and upper ends of central intervals.
    Interval,
    /// Mean and sd of a normal distribution.
    Normal,
}

impl FormKind {
    /// All, in the order in which they are looked for.
    pub const ALL: [Self; 7] =
        [Self::Family, Self::Mixture, Self::Quantiles, Self::Samples, Self::Histogram, Self::Interval, Self::Normal];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Family => "family",
            Self::Mixture => "mixture",
            Self::Quantiles => "quantiles",
            Self::Samples => "samples",
            Self::Histogram => "histogram",
            Self::Interval => "interval",
            Self::Normal => "normal",
        }
    }

    /// The form of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// What is known about the form, where the names of the columns do not say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormHints {
    /// The form, where a table has columns of several.
    pub form: Option<FormKind>,
    /// The family of all rows, where no column says it.
    pub family: Option<String>,
    /// The coverage of the columns `lower` and `upper`.
    pub coverage: Option<f64>,
    /// Columns that are not predictions: the target, keys, groups.
    pub other: Vec<String>,
}

/// The form of a table of predictions, with the names of its columns.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Quantiles: level and column of each, by level.
    Quantiles(Vec<(f64, String)>),
    /// Ends of central intervals, as quantiles: level and column of each, by level.
    Intervals(Vec<(f64, String)>),
    /// The columns of the samples.
    Samples(Vec<String>),
    /// The columns of mean and sd.
    Normal {
        /// Means.
        mean: String,
        /// Standard deviations.
        sd: String,
    },
    /// The columns of weight, mean and sd of each component.
    Mixture(Vec<[String; 3]>),
    /// Lower and upper edge and column of each bin, in order.
    Histogram(Vec<(f64, f64, String)>),
    /// A family, by name or by column, and the columns of its parameters with their names.
    Family {
        /// The family of all rows, or the column with the family of each.
        family: FamilyName,
        /// The name of each parameter, and its column.
        parameters: Vec<(String, String)>,
    },
}

/// Where the name of a family is.
#[derive(Clone, Debug, PartialEq)]
pub enum FamilyName {
    /// The same for all rows.
    Given(String),
    /// A column.
    Column(String),
}

/// `99 quantiles, q0.01 to q0.99`
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |parameters: &[(String, String)]| {
            parameters.iter().map(|(_, column)| column.as_str()).collect::<Vec<_>>().join(", ")
        };
        let ends = |columns: &[(f64, String)]| match columns {
            [(_, one)] => format!("1 quantile, {one}"),
            [(_, first), .., (_, last)] => format!("{} quantiles, {first} to {last}", columns.len()),
            [] => "no quantiles".into(),
        };
        match self {
            Self::Quantiles(columns) => f.write_str(&ends(columns)),
            Self::Intervals(columns) => {
                let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
                write!(f, "central intervals, {}", names.join(", "))
            }
            Self::Samples(columns) => {
                let (first, last) = (&columns[0], &columns[columns.len() - 1]);
                write!(f, "{} samples, {first} to {last}", columns.len())
            }
            Self::Normal { mean, sd } => write!(f, "normal distributions, {mean} and {sd}"),
            Self::Mixture(components) => write!(f, "mixtures of {} Gaussians", components.len()),
            Self::Histogram(bins) => {
                let (low, high) = (bins[0].0, bins[bins.len() - 1].1);
                write!(f, "histograms of {} bins from {low} to {high}", bins.len())
            }
            Self::Family { family: FamilyName::Given(name), parameters } => {
                write!(f, "{name} distributions, {}", names(parameters))
            }
            Self::Family { family: FamilyName::Column(column), parameters } => {
                write!(f, "families of column {column:?}, {}", names(parameters))
            }
        }
    }
}
