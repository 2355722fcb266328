//! Checks that the outputs of a command collide neither with its inputs, nor with each other, nor with `--json`.

use std::path::{Path, PathBuf};

use negmm::Error;

/// An output of a command.
pub struct OutputPath<'a> {
    /// Its name in messages.
    pub what: &'a str,
    /// A file, or `-`.
    pub path: &'a str,
    /// The flag that sets it, with its value.
    pub option: &'a str,
}

/// An error if an output would replace an input (its name in messages, and its path) or another output, or if it goes to standard
/// output together with the object of `--json`.
pub fn check_distinct(json: bool, outputs: &[OutputPath<'_>], inputs: &[(&str, &Path)]) -> Result<(), Error> {
    for (number, OutputPath { what, path, option }) in outputs.iter().enumerate() {
        if json && *path == "-" {
            return Err(Error::options(format!(
                "the {what} and --json cannot both go to standard output: use {option}"
            )));
        }
        let same = |other: &str| if *path == "-" { other == "-" } else { other != "-" && is_same(path, other) };
        if let Some(other) = outputs[..number].iter().find(|other| same(other.path)) {
            let path = if *path == "-" { "standard output" } else { path };
            return Err(Error::options(format!(
                "the {} and the {what} would both go to {path}: use another {option}",
                other.what
            )));
        }
        if let Some((input, _)) = inputs.iter().find(|(_, other)| *path != "-" && is_among(path, other)) {
            return Err(Error::options(format!(
                "the {what} would replace the {input} in {path}: use another {option}"
            )));
        }
    }
    Ok(())
}

/// Whether a path is one of the files that an input names, which may be a pattern or a folder.
fn is_among(path: &str, input: &Path) -> bool {
    // An input that cannot be found is an error when it is read.
    negmm::data::files_of(input).is_ok_and(|files| files.iter().any(|file| is_same(path, file)))
}

/// Whether two paths are the same file, or would be; devices and pipes do not collide.
fn is_same(one: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let (one, other) = (one.as_ref(), other.as_ref());
    resolved(one).is_some_and(|path| Some(path) == resolved(other))
}

fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(there) = path.canonicalize() {
        return there.is_file().then_some(there);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}
