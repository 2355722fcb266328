//! Flags about the format of data files.

use clap::Args;

use super::values::{Names, character, delimiter, whole};

/// Flags of every command that reads a data file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "File")]
pub struct FileFlags {
    /// Field delimiter: , ; | or tab [default: detected]
    #[arg(long, value_name = "CHARACTER", hide_short_help = true, value_parser = delimiter)]
    pub separator: Option<char>,
    /// Decimal mark: . or , [default: detected; with a model, detected from the first rows, else as in training]
    #[arg(long, value_name = "MARK", hide_short_help = true, value_parser = character)]
    pub decimal: Option<char>,
    /// More markers of missing values, besides empty cells, NA, NaN, null, None, ? and the like
    #[arg(long, value_name = "WORD,…", allow_hyphen_values = true, hide_short_help = true)]
    pub missing: Option<Names>,
    /// Memory limit in GB: of the uncompressed file or files to load; a larger table is fitted from scratch files on disk
    /// [default: half of the machine's memory]
    #[arg(long, value_name = "GB", hide_short_help = true, allow_hyphen_values = true, value_parser = whole::<u64>)]
    pub memory: Option<u64>,
}

/// Flags of every command that infers column types.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "File")]
pub struct ReadingFlags {
    /// The format of the file.
    #[command(flatten)]
    pub file: FileFlags,
    /// Text columns (categorical), whatever their cells look like
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true, hide_short_help = true)]
    pub text: Option<Names>,
    /// Numeric columns; cells that are not numbers count as missing
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true, hide_short_help = true)]
    pub number: Option<Names>,
}
