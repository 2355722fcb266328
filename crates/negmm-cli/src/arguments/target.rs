//! Responsible for the flags that say what is known of the target, which several commands have.

use clap::Args;

/// What is known of the target and of which rows belong together, as it was typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetFlags {
    /// The target cannot be smaller than this
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub lower: Option<String>,
    /// The target cannot be larger than this
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub upper: Option<String>,
    /// Predict a density, also where the target looks like whole numbers or has values that many rows share
    #[arg(long)]
    pub continuous: bool,
    /// The column that says with 1 that the target is only known to be larger than what stands there (censored), with 0 that it is that
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub censored: Option<String>,
    /// The column of upper ends, where the target is only known to lie between its own column and this one; empty: it is known
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub target_upper: Option<String>,
    /// The column that says which rows belong together (one patient, one machine): they are held out together; it is no input
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub group: Option<String>,
}

impl TargetFlags {
    /// Every flag that was given: its name and its text.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = [
            ("lower", self.lower.as_deref()),
            ("upper", self.upper.as_deref()),
            ("continuous", self.continuous.then_some("true")),
            ("censored", self.censored.as_deref()),
            ("target-upper", self.target_upper.as_deref()),
            ("group", self.group.as_deref()),
        ];
        all.into_iter().filter_map(|(name, text)| Some((name, text?)))
    }
}
