//! Data and tools that come from outside the repository. A test that finds one missing says so and is skipped; where `CI` is set it
//! fails, so that nothing is left out unseen. Only the data as a whole may be missing there too: not everybody has them.

#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// A file or folder of the real data (`""`: all of it), which are in `NEGMM_DATA`, else in `../shared/data` beside the repository.
#[track_caller]
pub fn data(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("NEGMM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: there is no folder of data at {}", folder.display());
        return None;
    }
    let found = folder.join(path);
    tool(&format!("{}", found.display()), found.exists().then(|| found.clone()))
}

/// What was found of something that a test needs; `name` is for the note or the failure.
#[track_caller]
pub fn tool<T>(name: &str, found: Option<T>) -> Option<T> {
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{name} is missing, and with CI set nothing is skipped");
        eprintln!("skipped: there is no {name}");
    }
    found
}
