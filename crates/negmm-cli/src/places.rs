//! Responsible for keeping what a command writes apart: from what it reads, from each other, and from `--json`.

use std::path::{Path, PathBuf};

use negmm::Error;

/// Something that a command writes.
pub struct Written<'a> {
    /// What messages call it.
    pub what: &'a str,
    /// A file, or `-`.
    pub place: &'a str,
    /// What says another place.
    pub option: &'a str,
}

/// Refuses outputs that would replace an input (what it is called, and its file) or each other, or that go to standard output as
/// the object of `--json` does.
pub fn apart(json: bool, outputs: &[Written<'_>], inputs: &[(&str, &Path)]) -> Result<(), Error> {
    for (number, Written { what, place, option }) in outputs.iter().enumerate() {
        if json && *place == "-" {
            return Err(Error::options(format!(
                "the {what} and --json cannot both go to standard output: say {option}"
            )));
        }
        let same = |other: &str| if *place == "-" { other == "-" } else { other != "-" && is_same(place, other) };
        if let Some(other) = outputs[..number].iter().find(|other| same(other.place)) {
            let place = if *place == "-" { "standard output" } else { place };
            return Err(Error::options(format!(
                "the {} and the {what} would both go to {place}: say another {option}",
                other.what
            )));
        }
        if let Some((input, _)) = inputs.iter().find(|(_, path)| *place != "-" && is_same(place, path)) {
            return Err(Error::options(format!(
                "the {what} would replace the {input} in {place}: say another {option}"
            )));
        }
    }
    Ok(())
}

/// Whether two paths lead to the same file, or would; devices and pipes take whatever comes.
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
