//! Responsible for the flags that say that rows are steps in time.

use clap::Args;

/// What is forecast, as it was typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sequences")]
pub struct SequenceFlags {
    /// Rows are steps in time, oldest first: forecast this column from its past
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub sequence: Option<String>,
    /// When each step is: dates, times or numbers that rise
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// Steps ahead, each with a distribution of its own [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub horizon: Option<String>,
    /// Which of many series a row belongs to; one model forecasts all
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub series: Option<String>,
    /// Steps after which things repeat, such as 24,168 [default: found]
    #[arg(long, value_name = "N,…", allow_hyphen_values = true)]
    pub season: Option<String>,
    /// Columns that are known ahead, such as prices or holidays; --features are known up to the last step
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub known: Option<String>,
    /// Read the values themselves by an LSTM, as the paper does; what other methods than auto always do
    #[arg(long, hide_short_help = true)]
    pub levels: bool,
    /// Steps that an LSTM looks back [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true)]
    pub window: Option<String>,
}

impl SequenceFlags {
    /// Every flag that was given: its name and its text.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = [
            ("sequence", self.sequence.as_deref()),
            ("time", self.time.as_deref()),
            ("horizon", self.horizon.as_deref()),
            ("series", self.series.as_deref()),
            ("season", self.season.as_deref()),
            ("known", self.known.as_deref()),
            ("levels", self.levels.then_some("true")),
            ("window", self.window.as_deref()),
        ];
        all.into_iter().filter_map(|(name, text)| Some((name, text?)))
    }
}
