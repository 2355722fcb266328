//! The kinds of members of a pool.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a member of a pool, by the name that files and tables use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MemberKind {
    /// Networks of the full number of steps; each keeps its best checkpoint.
    Networks,
    /// Short networks for a target on a grid, trained on the density at the values instead of the probability of cells.
    DensityNetworks,
    /// Networks with a short annealed schedule.
    ShortNetworks,
    /// Networks with a still shorter annealed schedule and strong dropout.
    DropoutNetworks,
    /// Ridge regression with the distribution of its errors.
    Linear,
    /// A random forest with the distribution of the targets in its leaves.
    Forest,
    /// Boosted trees.
    BoostedTrees,
    /// The empirical distribution of the targets.
    Constant,
}

impl MemberKind {
    /// The name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Networks => "networks",
            Self::DensityNetworks => "density networks",
            Self::ShortNetworks => "short networks",
            Self::DropoutNetworks => "dropout networks",
            Self::Linear => "linear",
            Self::Forest => "forest",
            Self::BoostedTrees => "boosted trees",
            Self::Constant => "constant",
        }
    }
}

impl fmt::Display for MemberKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
