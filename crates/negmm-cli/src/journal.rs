//! The part of a search that runs here: its shard, its journal, and the journals merged into it.

use std::path::{Path, PathBuf};

use negmm::Error;
use negmm::tune::{Journal, Shard};
use serde_json::{Map, Value};

use crate::arguments::tune::PartFlags;

/// A shard of all trials, and the journals to merge.
pub struct Part {
    /// The shard that runs here.
    pub shard: Shard,
    merge: Vec<PathBuf>,
}

impl Part {
    /// From flags.
    pub fn new(part: &PartFlags) -> Self {
        let merge = part.merge.clone().unwrap_or_default().0;
        Self { shard: part.shard.unwrap_or(Shard::WHOLE), merge: merge.into_iter().map(PathBuf::from).collect() }
    }

    /// Whether a flag was given that needs a journal.
    #[cfg(feature = "paper")]
    pub fn needs_journal(&self) -> bool {
        self.shard != Shard::WHOLE || !self.merge.is_empty()
    }

    /// Opens the journal and merges others into it.
    pub fn open(&self, folder: &Path, plan: &Map<String, Value>) -> Result<Journal, Error> {
        // Checked before the journal is made, so that a misspelt name leaves nothing behind.
        if let Some(missing) = self.merge.iter().find(|folder| !folder.is_dir()) {
            return Err(Error::data("there is no such folder").in_file(missing));
        }
        let mut journal = Journal::open(folder, plan, self.shard)?;
        self.merge.iter().try_for_each(|folder| journal.join(folder))?;
        Ok(journal)
    }
}
