//! The journal: an append-only log of finished trials, one per line.
//!
//! A journal is a folder of files `*.jsonl`. The first line of a file identifies the search; each other line is one
//! finished trial. A run appends to the file of its shard and reads all files. An incomplete last line, left by a
//! killed run, is ignored, and cut off before the next line is written.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Shard;
use negmm_dist::{Error, Result};
use negmm_nn::options::current_name;

/// The version of the journal's format.
const FORMAT: u64 = 1;
/// Upper limits for a trial: 30 years of run time, and results whose square is still finite.
const MOST_SECONDS: f64 = 1e9;
const LARGEST_RESULT: f64 = 1e150;

/// A finished trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub trial: String,
    /// Its run time.
    pub seconds: f64,
    /// Its result, which depends on the trial alone.
    pub result: Value,
}

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    journal: u64,
    negmm: String,
    /// Everything that results depend on beside the trials' names.
    plan: Map<String, Value>,
}

impl Header {
    fn new(plan: &Map<String, Value>) -> Self {
        Self { journal: FORMAT, negmm: env!("CARGO_PKG_VERSION").into(), plan: plan.clone() }
    }

    /// Explains how `found` differs from this search, if it does.
    fn check(&self, found: &Self) -> Result<()> {
        if found.journal != self.journal {
            return Err(Error::data(format!(
                "expected a journal of format {}, found format {}; choose another folder",
                self.journal, found.journal
            )));
        }
        if found.negmm != self.negmm {
            return Err(Error::data(format!(
                "this journal is of negmm {} and this is negmm {}: their numbers may differ; choose another folder",
                found.negmm, self.negmm
            )));
        }
        match difference(&found.plan, &self.plan) {
            Some((name, theirs, ours)) => Err(Error::data(format!(
                "this journal is of another search: its {name} is {}, and here it is {}; choose another folder",
                shortened(theirs),
                shortened(ours)
            ))),
            None => Ok(()),
        }
    }
}

/// The innermost key at which two plans differ, with both values.
fn difference<'a>(a: &'a Map<String, Value>, b: &'a Map<String, Value>) -> Option<(String, &'a Value, &'a Value)> {
    let name = a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name))?;
    let (mut a, mut b) = (a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null));
    // A list of one item counts as that item.
    while let (Value::Array(one), Value::Array(other)) = (a, b) {
        let ([one], [other]) = (&one[..], &other[..]) else { break };
        (a, b) = (one, other);
    }
    let inner = match (a, b) {
        (Value::Object(a), Value::Object(b)) => difference(a, b),
        _ => None,
    };
    Some(match inner {
        Some((inside, a, b)) => (format!("{name} {inside}"), a, b),
        None => (name.clone(), a, b),
    })
}

/// A value, shortened for a message.
fn shortened(value: &Value) -> String {
    const MOST: usize = 120;
    let text = if value.is_null() { "none".into() } else { value.to_string() };
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The finished trials of one search, and the file for further ones.
#[derive(Debug)]
pub struct Journal {
    header: Header,
    file: Option<(File, PathBuf)>,
    entries: HashMap<String, Entry>,
}

impl Journal {
    /// A journal in memory only.
    pub fn in_memory() -> Self {
        Self { header: Header::new(&Map::new()), file: None, entries: HashMap::new() }
    }

    /// Opens the journal in `folder`, which is created if absent. `plan` is everything that results depend on beside
    /// the trials' names; a journal of another plan or format version is refused.
    pub fn open(folder: &Path, plan: &Map<String, Value>, shard: Shard) -> Result<Self> {
        let mut journal = Self { header: Header::new(plan), file: None, entries: HashMap::new() };
        let own = folder.join(shard.file_name());
        let files = if folder.exists() { files(folder)? } else { Vec::new() };
        for path in files.iter().filter(|path| **path != own) {
            journal.take_in(path)?;
        }
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        journal.file = Some((journal.open_own(&own)?, own));
        Ok(journal)
    }

    /// Adds the trials of the journal in another folder.
    pub fn join(&mut self, folder: &Path) -> Result<()> {
        let files = files(folder)?;
        if files.is_empty() {
            return Err(Error::data("there is no journal in this folder").in_file(folder));
        }
        let mut other = Self { header: self.header.clone(), file: None, entries: HashMap::new() };
        for path in files {
            other.take_in(&path)?;
        }
        // In the order of names, so that merging the same journals gives the same file.
        let mut entries: Vec<Entry> = other.entries.into_values().collect();
        entries.sort_unstable_by(|a, b| a.trial.cmp(&b.trial));
        for entry in entries {
            match self.entries.get(&entry.trial) {
                Some(known) => agree(known, &entry).map_err(|error| error.in_file(folder))?,
                None => self.append(entry)?,
            }
        }
        Ok(())
    }

    /// The result of a trial, if it is finished.
    pub fn get(&self, trial: &str) -> Option<&Entry> {
        self.entries.get(trial)
    }

    /// Appends a finished trial.
    pub fn append(&mut self, entry: Entry) -> Result<()> {
        if let Some((file, path)) = &mut self.file {
            let line = line(&entry)?;
            file.write_all(line.as_bytes()).map_err(|error| Error::io(path, error))?;
        }
        self.entries.insert(entry.trial.clone(), entry);
        Ok(())
    }

    /// Reads the trials of a file to which other processes may be writing.
    fn take_in(&mut self, path: &Path) -> Result<()> {
        let bytes = std::fs::read(path).map_err(|error| Error::io(path, error))?;
        self.take_in_lines(&bytes).map(drop).map_err(|error| error.in_file(path))
    }

    /// Reads the lines of a file; returns the length of its complete lines.
    fn take_in_lines(&mut self, bytes: &[u8]) -> Result<usize> {
        let expected = line(&self.header)?;
        let mut lines = whole_lines(bytes);
        let Some((_, first)) = lines.next() else {
            // The run was killed while it wrote the first line, provided that it belongs to this search.
            return if expected.as_bytes().starts_with(bytes) { Ok(0) } else { Err(not_a_journal()) };
        };
        let mut found: Header = serde_json::from_slice(first).map_err(|error| not_a_journal().with_source(error))?;
        name_options_in_plan(&mut found.plan);
        self.header.check(&found)?;
        let mut length = first.len() + 1;
        let mut lines = lines.enumerate().peekable();
        while let Some((number, (end, text))) = lines.next() {
            let entry: Entry = match serde_json::from_slice::<Entry>(text) {
                Ok(entry) => checked(Entry { trial: with_current_names(&entry.trial), ..entry })
                    .map_err(|error| error.at_line(number as u64 + 2))?,
                // Left at the end by a crash of the machine.
                Err(_) if lines.peek().is_none() => break,
                Err(error) => {
                    let message = format!("expected a finished trial ({error})");
                    return Err(Error::data(message).at_line(number as u64 + 2).with_source(error));
                }
            };
            if let Some(known) = self.entries.get(&entry.trial) {
                agree(known, &entry).map_err(|error| error.at_line(number as u64 + 2))?;
            }
            self.entries.insert(entry.trial.clone(), entry);
            length = end;
        }
        Ok(length)
    }

    /// Opens the file for appending, with its first line present and any incomplete last line removed.
    fn open_own(&mut self, path: &Path) -> Result<File> {
        let failed = |error: std::io::Error| Error::io(path, error);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(Error::data("another run is writing this journal").in_file(path));
            }
            // Some file systems have no locks; write without one.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let length = self.take_in_lines(&bytes).map_err(|error| error.in_file(path))?;
        if length < bytes.len() {
            file.set_len(length as u64).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
        }
        if length == 0 {
            file.write_all(line(&self.header)?.as_bytes()).map_err(failed)?;
        }
        Ok(file)
    }
}

/// Replaces former option names by current ones in the plan of a journal: searched or changed options, as pairs of a
/// name and values, and fixed settings, as keys.
fn name_options_in_plan(plan: &mut Map<String, Value>) {
    let rename_pairs = |pairs: Option<&mut Value>| {
        for pair in pairs.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::String(name)) = pair.get_mut(0) {
                *name = current_name(name).to_string();
            }
        }
    };
    rename_pairs(plan.get_mut("grid").and_then(|grid| grid.get_mut("options")));
    rename_pairs(plan.get_mut("changed"));
    if let Some(Value::Object(settings)) = plan.get_mut("settings") {
        *settings = std::mem::take(settings)
            .into_iter()
            .map(|(name, value)| (current_name(&name).to_string(), value))
            .collect();
    }
}

/// The name of a trial, in which settings are words `option=value`, with current option names.
fn with_current_names(trial: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((option, value)) => format!("{}={value}", current_name(option)),
        None => word.to_string(),
    };
    trial.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn not_a_journal() -> Error {
    Error::data("this is no journal of negmm; choose another folder")
}

/// The trial, if its numbers are ones that a run can write.
fn checked(entry: Entry) -> Result<Entry> {
    let out_of_range = |what: &str| Error::data(format!("{what} of the trial {:?} is out of range", entry.trial));
    if !(0.0..=MOST_SECONDS).contains(&entry.seconds) {
        return Err(out_of_range("the time"));
    }
    if !is_in_range(&entry.result) {
        return Err(out_of_range("a result"));
    }
    Ok(entry)
}

fn is_in_range(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= LARGEST_RESULT),
        Value::Array(values) => values.iter().all(is_in_range),
        Value::Object(values) => values.values().all(is_in_range),
        _ => true,
    }
}

/// Repeated entries of a trial must have the same result.
fn agree(known: &Entry, found: &Entry) -> Result<()> {
    if known.result == found.result {
        return Ok(());
    }
    Err(Error::data(format!(
        "two journals do not agree about the trial {:?}: were they made by different builds or data?",
        found.trial
    )))
}

fn line(value: &impl Serialize) -> Result<String> {
    let failed = |error| Error::data(format!("cannot be written as JSON: {error}")).with_source(error);
    Ok(serde_json::to_string(value).map_err(failed)? + "\n")
}

/// The lines that end with a newline, each with the offset behind it.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.scan(0, |start, end| {
        let text = &bytes[*start..end - 1];
        *start = end;
        Some((end, text))
    })
}

/// The files of a journal, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| Error::io(folder, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
