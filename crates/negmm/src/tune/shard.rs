//! Shards: trials distributed over machines.

use std::fmt;
use std::str::FromStr;

use negmm_dist::{Error, Result};

/// One of several equal parts of all trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

impl Shard {
    /// All trials.
    pub const WHOLE: Self = Self { part: 1, of: 1 };

    /// Whether the trial at this index belongs to the shard.
    pub fn contains(self, index: usize) -> bool {
        index % self.of == self.part - 1
    }

    /// The journal file that it writes.
    pub fn file_name(self) -> String {
        match self {
            Self::WHOLE => "trials.jsonl".into(),
            Self { part, of } => format!("trials-{part}-of-{of}.jsonl"),
        }
    }
}

impl FromStr for Shard {
    type Err = Error;

    /// From text such as `2/4`.
    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let (part, of) = text.split_once('/')?;
            let shard = Self { part: part.trim().parse().ok()?, of: of.trim().parse().ok()? };
            (1..=shard.of).contains(&shard.part).then_some(shard)
        };
        read().ok_or_else(|| {
            Error::option("shard", format!("must be i/n with i from 1 to n, such as 2/4, found {text:?}"))
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trial_is_in_one_shard() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"].iter().map(|text| text.parse().unwrap()).collect();
        for index in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.contains(index)).count(), 1);
            assert!(Shard::WHOLE.contains(index));
        }
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
