//! A builder of dictionary-encoded text columns: each distinct text is stored once.

use std::collections::HashMap;

use super::missing::is_missing;
use super::{Column, MISSING};

/// A text column that is being made.
#[derive(Default)]
pub(crate) struct Dictionary {
    codes: Vec<u32>,
    levels: HashMap<String, u32>,
}

impl Dictionary {
    #[cfg(feature = "parquet")]
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    pub fn push_missing(&mut self) {
        self.codes.push(MISSING);
    }

    pub fn push(&mut self, text: &str) {
        let code = match self.levels.get(text) {
            Some(code) => *code,
            None => {
                let code = self.levels.len() as u32;
                self.levels.insert(text.to_string(), code);
                code
            }
        };
        self.codes.push(code);
    }

    /// Adds a cell as a file has it.
    pub fn push_cell(&mut self, cell: Option<&str>) {
        match cell.map(str::trim_ascii).filter(|cell| !is_missing(cell.as_bytes())) {
            Some(cell) => self.push(cell),
            None => self.push_missing(),
        }
    }

    pub fn finish(self) -> Column {
        let mut levels = vec![String::new(); self.levels.len()];
        for (level, code) in self.levels {
            levels[code as usize] = level;
        }
        Column::Text { codes: self.codes, levels }
    }
}
