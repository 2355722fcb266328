//! Responsible for the part of a search that runs here: its journal, its shard, the journals that join it.

use std::path::{Path, PathBuf};

use negmm::Error;
use negmm::tune::{Journal, Shard};
use serde_json::{Map, Value};

use crate::{arguments, input};

/// What was asked for.
pub struct Part {
    /// The part of all trials.
    pub shard: Shard,
    merge: Vec<PathBuf>,
}

impl Part {
    /// From what was typed.
    pub fn new(part: &arguments::Part) -> Result<Self, Error> {
        let shard = part.shard.as_deref().map_or(Ok(Shard::WHOLE), str::parse)?;
        let merge = part.merge.as_deref().map_or(Vec::new(), input::names);
        Ok(Self { shard, merge: merge.into_iter().map(PathBuf::from).collect() })
    }

    /// Whether anything was asked for that needs a journal.
    #[cfg(feature = "paper")]
    pub fn needs_journal(&self) -> bool {
        self.shard != Shard::WHOLE || !self.merge.is_empty()
    }

    /// Opens the journal, with all that joins it.
    pub fn open(&self, folder: &Path, plan: &Map<String, Value>) -> Result<Journal, Error> {
        // Looked at before the journal is made: a slip of the keyboard should leave nothing behind.
        if let Some(missing) = self.merge.iter().find(|folder| !folder.is_dir()) {
            return Err(Error::data("there is no such folder").in_file(missing));
        }
        let mut journal = Journal::open(folder, plan, self.shard)?;
        self.merge.iter().try_for_each(|folder| journal.join(folder))?;
        Ok(journal)
    }
}
