//! Levels of text columns, which are held in memory up to a limit.

use std::collections::HashMap;
use std::sync::Arc;

use super::cells::CellWriter;
use crate::MISSING;
use negmm_dist::{Error, Hint, Result};

/// Bytes of a level beside its text, about.
const BESIDE_TEXT: usize = 64;

/// How many bytes the different texts of all columns may take.
pub(super) struct LevelLimit {
    left: usize,
}

impl LevelLimit {
    pub fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// The code of a text.
    pub fn code(&mut self, known: &mut HashMap<String, u32>, text: &str) -> Result<u32> {
        if let Some(code) = known.get(text) {
            return Ok(*code);
        }
        let bytes = text.len() + BESIDE_TEXT;
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            let message = format!("has {} different texts and more, which do not fit into memory", known.len());
            Error::data(message).with_hint(Hint::RaiseOption { option: "memory" })
        })?;
        let code = known.len() as u32;
        known.insert(text.to_string(), code);
        Ok(code)
    }

    /// Adds cells that have codes of their own.
    pub fn extend(
        &mut self,
        writer: &mut CellWriter<u32>,
        known: &mut HashMap<String, u32>,
        codes: &[u32],
        levels: &[String],
    ) -> Result<()> {
        let mut translation = vec![MISSING; levels.len()];
        for code in codes {
            let code = match translation.get_mut(*code as usize) {
                None => MISSING,
                Some(new) => {
                    if *new == MISSING {
                        *new = self.code(known, &levels[*code as usize])?;
                    }
                    *new
                }
            };
            writer.push(code)?;
        }
        Ok(())
    }
}

/// The texts in the order of their codes.
pub(super) fn in_order(known: HashMap<String, u32>) -> Arc<[String]> {
    let mut levels = vec![String::new(); known.len()];
    for (level, code) in known {
        levels[code as usize] = level;
    }
    levels.into()
}
