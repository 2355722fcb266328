//! Responsible for what can be typed about how a file is written.

use clap::Args;

/// What every command that reads a file takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "File")]
pub struct FileFlags {
    /// What stands between cells: , ; | or tab [default: from the first lines]
    #[arg(long, value_name = "CHARACTER", hide_short_help = true)]
    pub separator: Option<String>,
    /// The decimal mark, . or , [default: from whole columns; for a model from the first rows, else as in training]
    #[arg(long, value_name = "MARK", hide_short_help = true)]
    pub decimal: Option<String>,
    /// Cells that are missing, beside empty ones, NA, NaN, null, None, ? and the like
    #[arg(long, value_name = "WORD,…", allow_hyphen_values = true, hide_short_help = true)]
    pub missing: Option<String>,
    /// Gigabytes of a file, unpacked, that are held in memory at most [default: half of the machine's memory]
    #[arg(long, value_name = "GB", hide_short_help = true, allow_hyphen_values = true)]
    pub memory: Option<String>,
}

/// What every command that decides what columns are takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "File")]
pub struct ReadingFlags {
    /// How the file is written.
    #[command(flatten)]
    pub file: FileFlags,
    /// Columns that are text, whatever they look like
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true, hide_short_help = true)]
    pub text: Option<String>,
    /// Columns that are numbers; cells that are none are missing
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true, hide_short_help = true)]
    pub number: Option<String>,
}

impl ReadingFlags {
    /// Every flag that was given: its name and its text.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = [
            ("separator", &self.file.separator),
            ("decimal", &self.file.decimal),
            ("missing", &self.file.missing),
            ("memory", &self.file.memory),
            ("text", &self.text),
            ("number", &self.number),
        ];
        all.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}
