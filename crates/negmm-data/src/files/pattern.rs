//! Patterns of file names: `*`, `?` and `[a-z]` inside a name, `**` for folders at any depth.

use std::fs;
use std::path::{Component, Path, PathBuf};

use negmm_dist::{Error, Result};

/// Any number of folders.
const DEEP: &str = "**";

/// Whether a path has characters that make it a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.contains(['*', '?', '[']))
}

/// The files that a pattern matches, in the order of their names. Names that begin with a dot or an underscore are matched only
/// where the pattern begins with it too.
pub(super) fn matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let mut files = Vec::new();
    descend(PathBuf::new(), &parts, &mut files)?;
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

fn descend(base: PathBuf, parts: &[Component<'_>], files: &mut Vec<PathBuf>) -> Result<()> {
    let Some((first, rest)) = parts.split_first() else {
        if base.is_file() {
            files.push(base);
        }
        return Ok(());
    };
    match first.as_os_str().to_str().filter(|_| matches!(first, Component::Normal(_))) {
        Some(DEEP) => {
            descend(base.clone(), rest, files)?;
            for folder in entries(&base)?.into_iter().filter(|entry| entry.is_folder && !is_hidden(&entry.name)) {
                descend(base.join(&folder.name), parts, files)?;
            }
        }
        Some(pattern) if is_pattern(Path::new(pattern)) => {
            let characters: Vec<char> = pattern.chars().collect();
            for entry in entries(&base)?.into_iter().filter(|entry| !is_hidden(&entry.name) || is_hidden(pattern)) {
                if name_matches(&characters, &entry.name.chars().collect::<Vec<_>>()) {
                    descend(base.join(&entry.name), rest, files)?;
                }
            }
        }
        _ => descend(base.join(first), rest, files)?,
    }
    Ok(())
}

/// All files below a folder but hidden ones, in the order of their names.
pub(super) fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in entries(folder)?.into_iter().filter(|entry| !is_hidden(&entry.name)) {
        let path = folder.join(&entry.name);
        if entry.is_folder { files.extend(below(&path)?) } else { files.push(path) }
    }
    files.sort_unstable();
    Ok(files)
}

/// Programs write notes and unfinished files under such names: `_SUCCESS`, `.part-0.crc`.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

struct Entry {
    name: String,
    /// A folder itself, not a link to one: links may lead round in circles.
    is_folder: bool,
}

/// What is in a folder; nothing where it is none. Names that are not Unicode match no pattern.
fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !shown.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error| Error::io(shown, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(shown).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        entries.extend(entry.file_name().into_string().ok().map(|name| Entry { name, is_folder }));
    }
    Ok(entries)
}

/// Whether a name matches a pattern.
fn name_matches(pattern: &[char], name: &[char]) -> bool {
    // The last star, and the rest of the name that it does not cover yet: only it needs to be tried again.
    let (mut at, mut star) = (0, None);
    let mut read = 0;
    loop {
        let one = match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, read));
                at += 1;
                continue;
            }
            None if read == name.len() => return true,
            None => None,
            Some(_) if read == name.len() => None,
            Some('?') => Some(1),
            Some('[') => class(&pattern[at..], name[read]).map_or(
                // Without an end a bracket is one.
                (name[read] == '[').then_some(1),
                |(matches, length)| matches.then_some(length),
            ),
            Some(character) => (*character == name[read]).then_some(1),
        };
        match (one, star) {
            (Some(length), _) => {
                at += length;
                read += 1;
            }
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                (at, read) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Whether a character is of the class that a pattern begins with, `[abc]`, `[a-z]` or `[!a]`, and how long the class is.
fn class(pattern: &[char], character: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let start = if negated { 2 } else { 1 };
    // A bracket that comes first is one.
    let end = start + 1 + pattern.get(start + 1..)?.iter().position(|other| *other == ']')?;
    let (mut at, mut found) = (start, false);
    while at < end {
        if at + 2 < end && pattern[at + 1] == '-' {
            found |= (pattern[at]..=pattern[at + 2]).contains(&character);
            at += 3;
        } else {
            found |= pattern[at] == character;
            at += 1;
        }
    }
    Some((found != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        let matches = |pattern: &str, name: &str| {
            name_matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        for (pattern, yes, no) in [
            ("*.csv", "a.csv", "a.csv.gz"),
            ("*", "", "nothing/is/refused"),
            ("a*b*c", "axxbyybzc", "axxbyybz"),
            ("?.csv", "é.csv", "ab.csv"),
            ("[a-c]?", "bz", "dz"),
            ("[!a-c]*", "dz", "az"),
            ("[]x]", "]", "y"),
            ("[ab", "[ab", "a"),
            ("part-*.c000.*", "part-0-1.c000.parquet", "part-0.c001.parquet"),
            ("*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ] {
            assert!(matches(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "*" || !matches(pattern, no), "{pattern} {no}");
        }
    }
}
