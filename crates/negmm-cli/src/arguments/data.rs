//! Flags about the training data, shared by `fit`, `compare` and `tune`.

use clap::Args;

use super::file::ReadingFlags;
use super::given::Given;
use super::values::{Dates, Names, Periods, number, positive, whole, window};

/// The training data: its columns, what is known of the target, time order and the format of the file.
#[derive(Clone, Debug, Args)]
pub struct DataFlags {
    /// Columns and seed.
    #[command(flatten)]
    pub columns: ColumnFlags,
    /// What is known of the target.
    #[command(flatten)]
    pub target: TargetFlags,
    /// Time order.
    #[command(flatten)]
    pub sequence: SequenceFlags,
    /// The format of the file.
    #[command(flatten)]
    pub reading: ReadingFlags,
}

/// Columns and seed.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct ColumnFlags {
    /// Target column: the one to predict [default with --sequence: that column]; fit: several with commas between them are
    /// predicted together, as one joint distribution
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// Target columns that are predicted together; a name with a comma goes in quotes
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true, conflicts_with = "target", hide_short_help = true)]
    pub targets: Option<Names>,
    /// Input columns [default: all but the target]
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub features: Option<Names>,
    /// Date or time columns, each with an optional format: ymd, dmy, mdy, named, clock, seconds or milliseconds (since 1970), such
    /// as when:dmy [default: text columns in which every cell is a date]
    #[arg(long, value_name = "COL[:FORMAT],…", allow_hyphen_values = true)]
    pub date: Option<Dates>,
    /// Timestamp column: dates, times or numbers. Of a table: the newest rows are held out, each predicted from what came
    /// before; it is an input unless --ignore names it
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// Flags that forecasters do not have.
    #[command(flatten)]
    pub rows: Given<RowFlags>,
    /// Random seed: the same seed gives the same model [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
}

/// Flags of models of independent rows, which forecasters do not have.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct RowFlags {
    /// Columns to leave out of the inputs; a name with a comma goes in quotes
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub ignore: Option<Names>,
    /// Sample-weight column; not an input
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weight: Option<String>,
    /// Group column, such as patient or machine: rows of a group are held out together; not an input
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub group: Option<String>,
    /// Learn from this many rows, drawn at random by --seed before anything else; others are not held in memory
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = positive)]
    pub sample: Option<usize>,
}

/// What is known of the target.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetFlags {
    /// Lower bound of the target
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = number)]
    pub lower: Option<f64>,
    /// Upper bound of the target
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = number)]
    pub upper: Option<f64>,
    /// Predict a density even if the target looks discrete or has atoms (values of many rows)
    #[arg(long, value_name = "BOOL", require_equals = true, hide_possible_values = true)]
    pub continuous: Option<Option<bool>>,
    /// Predict probabilities of values on a grid even if the target does not look discrete
    #[arg(long, value_name = "BOOL", require_equals = true, hide_possible_values = true)]
    pub discrete: Option<Option<bool>>,
    /// Step of the grid of a --discrete target [default: the largest that all targets share]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// Censoring indicator: 1 = right-censored, 0 = observed, -1 = left-censored
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub censored: Option<String>,
    /// Upper-bound column for interval-censored targets, whose own column holds the lower bounds; empty = observed
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target_upper: Option<String>,
}

/// Time order.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Time series")]
pub struct SequenceFlags {
    /// Rows are time steps, oldest first: forecast this column from its past
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub sequence: Option<String>,
    /// Look-back window of the LSTM, in steps; implies --levels [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, value_parser = window)]
    pub window: Option<usize>,
}

/// What is forecast, which `fit` and `compare` have.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Time series")]
pub struct ForecastFlags {
    /// The series.
    #[command(flatten)]
    pub series: Given<SeriesFlags>,
    /// Model the values themselves with an LSTM, as in the paper; methods other than auto always do
    #[arg(long, value_name = "BOOL", require_equals = true, hide_possible_values = true, hide_short_help = true)]
    pub levels: Option<Option<bool>>,
}

/// The series of a forecast.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Time series")]
pub struct SeriesFlags {
    /// Forecast horizon: steps ahead, each with its own distribution [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub horizon: Option<usize>,
    /// Series column: the series that a row belongs to; one global model forecasts all
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub series: Option<String>,
    /// Columns by which series are summed, the coarsest first, such as region,store: the sums are forecast, too, and all
    /// forecasts add up
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub hierarchy: Option<Names>,
    /// File of holidays, with the column date, and optionally name and the series column: what they and the two days before
    /// and after them do to a series is learnt from earlier ones
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub holidays: Option<String>,
    /// Seasonal periods in steps, such as 24,168 [default: detected]
    #[arg(long, value_name = "N,…", allow_hyphen_values = true)]
    pub seasonal_periods: Option<Periods>,
    /// Future covariates: columns known ahead, such as prices or holidays; --features are past covariates
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub future_covariates: Option<Names>,
    /// Sort the rows of each series by time; without it times that decrease are refused
    #[arg(long, value_name = "BOOL", require_equals = true, hide_possible_values = true)]
    pub sort: Option<Option<bool>>,
}
