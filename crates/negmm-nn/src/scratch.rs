//! Scratch files: what does not fit into memory, in files of a folder that have no name and vanish with the process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use negmm_dist::{Error, Result};

const GIGABYTE: f64 = (1_u64 << 30) as f64;

/// A folder for scratch files.
#[derive(Clone, Debug)]
pub struct Scratch {
    folder: Arc<Path>,
}

impl Scratch {
    /// Scratch files in this folder.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder: PathBuf = folder.into();
        match folder.is_dir() {
            true => Ok(Self { folder: folder.into() }),
            false => Err(Error::data("the scratch folder does not exist").in_file(folder)),
        }
    }

    /// Scratch files in the folder that the system has for temporary files.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn in_temporary_folder() -> Result<Self> {
        Self::in_folder(std::env::temp_dir())
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Free bytes of the disk, where they are known.
    #[cfg(unix)]
    pub fn free(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&*self.folder).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// Free bytes of the disk, where they are known.
    #[cfg(not(unix))]
    pub fn free(&self) -> Option<u64> {
        None
    }

    /// An error unless the disk has this many free bytes.
    ///
    /// # Errors
    /// When it has fewer.
    pub fn require(&self, bytes: u64) -> Result<()> {
        match self.free() {
            Some(free) if free < bytes => {
                let [bytes, free] = [bytes, free].map(|bytes| bytes as f64 / GIGABYTE);
                let message = format!("the scratch folder needs {bytes:.2} GB, and {free:.2} GB are free");
                Err(Error::data(message).in_file(&self.folder))
            }
            _ => Ok(()),
        }
    }

    /// A new file. On Unix it has no name, and is gone with the process however that ends; elsewhere the system removes it when it is
    /// closed.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn file(&self) -> Result<ScratchFile> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        Ok(ScratchFile {
            file: Positioned::new(file),
            folder: self.folder.clone(),
            end: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }
}

/// A file that is written at its end and read at any position, by any number of threads.
#[derive(Debug)]
pub struct ScratchFile {
    file: Positioned,
    folder: Arc<Path>,
    end: AtomicU64,
    /// The first failure of a reader that could not return it.
    failure: OnceLock<Error>,
}

impl ScratchFile {
    /// Writes bytes after all others, and returns their position.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let position = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write(bytes, position).map_err(|error| self.unwritten(error))?;
        Ok(position)
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the bytes at a position.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn read(&self, bytes: &mut [u8], position: u64) -> Result<()> {
        self.file.read(bytes, position).map_err(|error| Error::io(&self.folder, error))
    }

    /// As [`ScratchFile::read`] where no error can be returned: zeros, and [`ScratchFile::check`] has the error.
    pub fn read_or_note(&self, bytes: &mut [u8], position: u64) {
        if let Err(error) = self.read(bytes, position) {
            bytes.fill(0);
            let _ = self.failure.set(error);
        }
    }

    /// The first error of [`ScratchFile::read_or_note`].
    ///
    /// # Errors
    /// When there was one.
    pub fn check(&self) -> Result<()> {
        self.failure.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn unwritten(&self, error: io::Error) -> Error {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => {
                let written = self.len() as f64 / GIGABYTE;
                let message = format!("no space is left in the scratch folder for {written:.2} GB");
                Error::data(message).with_source(error).in_file(&self.folder)
            }
            _ => Error::io(&self.folder, error),
        }
    }
}

#[cfg(unix)]
#[derive(Debug)]
struct Positioned(File);

#[cfg(unix)]
impl Positioned {
    fn new(file: File) -> Self {
        Self(file)
    }

    fn read(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, bytes, position)
    }

    fn write(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, position)
    }
}

/// Where files have no positioned reads, one thread at a time moves to the position.
#[cfg(not(unix))]
#[derive(Debug)]
struct Positioned(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl Positioned {
    fn new(file: File) -> Self {
        Self(std::sync::Mutex::new(file))
    }

    fn at(&self, position: u64) -> io::Result<std::sync::MutexGuard<'_, File>> {
        use io::Seek;
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(io::SeekFrom::Start(position))?;
        Ok(file)
    }

    fn read(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        io::Read::read_exact(&mut *self.at(position)?, bytes)
    }

    fn write(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        io::Write::write_all(&mut *self.at(position)?, bytes)
    }
}
