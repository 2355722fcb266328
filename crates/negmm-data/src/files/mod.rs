//! Several files as one table: a pattern, a folder or a list of paths, in the order of names.

mod partitions;
mod pattern;
pub(crate) mod sample;
pub(crate) mod whole;

use std::path::{Path, PathBuf};

use negmm_dist::{Error, Result};

/// How the names of tables end, in small letters; before that of a compression.
const TABLES: [&str; 5] = [".csv", ".tsv", ".txt", ".parquet", ".pq"];
const COMPRESSIONS: [&str; 2] = [".gz", ".zst"];

/// One of several files.
#[derive(Clone, Debug)]
pub(crate) struct TableFile {
    pub path: PathBuf,
    /// What messages call it.
    pub name: String,
    /// The columns of its folders, see [`partitions`]; only those that files do not have themselves.
    pub partitions: Vec<(String, Option<String>)>,
}

/// Several files.
#[derive(Clone, Debug)]
pub(crate) struct TableFiles {
    /// What messages call all of them.
    pub name: String,
    /// In order, and at least one.
    pub files: Vec<TableFile>,
}

impl TableFiles {
    /// The files of a pattern or a folder; `None` where the path is one file.
    ///
    /// # Errors
    /// When there are none, or a folder has a file that is no table.
    pub fn of_path(path: &Path) -> Result<Option<Self>> {
        if path.is_dir() {
            let files = pattern::below(path)?;
            if let Some(other) = files.iter().find(|file| !is_table(file)) {
                let found = other.strip_prefix(path).unwrap_or(other).display();
                let message = format!(
                    "expected CSV and Parquet files in this folder, found {found}: name files by a pattern such as {}",
                    path.join("*.csv").display()
                );
                return Err(Error::data(message).in_file(path));
            }
            if files.is_empty() {
                return Err(Error::data("there is no CSV or Parquet file in this folder").in_file(path));
            }
            return Self::new(path.display().to_string(), files).map(Some);
        }
        if !pattern::is_pattern(path) || path.exists() {
            return Ok(None);
        }
        let files = pattern::matching(path)?;
        if files.is_empty() {
            return Err(Error::data("no file has a name of this pattern").in_file(path));
        }
        Self::new(path.display().to_string(), files).map(Some)
    }

    /// The files of a list of paths, patterns and folders, in the order of the list.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_paths(paths: &[impl AsRef<Path>]) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            match Self::of_path(path)? {
                Some(several) => files.extend(several.files.into_iter().map(|file| file.path)),
                None => files.push(path.to_path_buf()),
            }
        }
        if let ([path], [file]) = (paths, &files[..])
            && path.as_ref() == file
        {
            // Of a single file the columns are its own.
            let (path, name) = (file.clone(), file.display().to_string());
            return Ok(Self { files: vec![TableFile { path, name: name.clone(), partitions: Vec::new() }], name });
        }
        let Some(first) = files.first() else { return Err(Error::data("expected at least one file, found none")) };
        let name = match files.len() {
            1 => first.display().to_string(),
            more => format!("{} and {} more", first.display(), more - 1),
        };
        Self::new(name, files)
    }

    fn new(name: String, paths: Vec<PathBuf>) -> Result<Self> {
        let file = |path: PathBuf| {
            let partitions = partitions::partitions(&path)?;
            Ok(TableFile { name: path.display().to_string(), path, partitions })
        };
        Ok(Self { name, files: paths.into_iter().map(file).collect::<Result<_>>()? })
    }

    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }
}

/// The files that a path names: of a pattern or a folder those of [`crate::Table::read`], else the path itself.
///
/// # Errors
/// When a pattern or a folder has none, or a folder has a file that is no table.
pub fn files_of(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let path = path.as_ref();
    let several = TableFiles::of_path(path)?;
    Ok(several.map_or_else(|| vec![path.to_path_buf()], |files| files.paths().map(Path::to_path_buf).collect()))
}

/// Whether the name of a file is that of a table.
fn is_table(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_ascii_lowercase());
    let plain = COMPRESSIONS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    TABLES.iter().any(|ending| plain.ends_with(ending))
}
