//! Responsible for running kernels on the processor, a thread for each block: the same source, compiled by the system's C++
//! compiler. It is slow, and shows whether the bits are right where there is no card.

use std::cell::UnsafeCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::Library;

use super::{Device, Failure};
use crate::record::{EpochRecord, JobRecord};
use crate::source::Source;
use crate::stage::LEAST_SHARED;

const FLAGS: [&str; 10] = [
    "-std=c++17",
    "-O0",
    "-mfma",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-shared",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-w",
];

/// A part of a file's name that no other thread has at that time.
fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A processor that behaves like a card.
#[derive(Debug)]
pub struct Emulated {
    /// Where compiled kernels are kept.
    folder: PathBuf,
    /// Whether the items of every phase are done last to first.
    pub turned_around: bool,
    /// Bytes of shared memory that it says it has.
    pub shared_memory: usize,
    /// As many blocks can share a network.
    pub multiprocessors: usize,
    /// Bytes of memory that it says it has.
    pub memory: usize,
    taken: Arc<AtomicUsize>,
    /// After so many launches it is as if it were taken away.
    pub launches_left: AtomicUsize,
}

impl Emulated {
    /// With a folder for compiled kernels, which may be there from before; nothing without a C++ compiler.
    pub fn new(folder: &Path, turned_around: bool) -> Option<Self> {
        Command::new("c++").arg("--version").output().ok().filter(|output| output.status.success())?;
        Some(Self {
            folder: folder.into(),
            turned_around,
            shared_memory: 227 * 1024,
            multiprocessors: 1,
            memory: usize::MAX,
            taken: Arc::default(),
            launches_left: usize::MAX.into(),
        })
    }

    fn count_launch(&self) -> Result<(), Failure> {
        let fewer = |left: usize| left.checked_sub(1);
        let counted = self.launches_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        counted.map(|_| ()).map_err(|_| "the card is gone".into())
    }

    fn library(&self, source: &Source) -> Result<PathBuf, Failure> {
        let name = source.name(&FLAGS.join(" "));
        let path = self.folder.join(format!("{name}.so"));
        if path.exists() {
            return Ok(path);
        }
        let text = path.with_extension(format!("{}.cpp", unique()));
        std::fs::write(&text, &source.text).map_err(|error| error.to_string())?;
        let whole = text.with_extension("so");
        let output = Command::new("c++").args(FLAGS).arg("-o").arg(&whole).arg(&text).output();
        let output = output.map_err(|error| error.to_string())?;
        std::fs::remove_file(&text).map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        std::fs::rename(&whole, &path).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

type Run = unsafe extern "C" fn(*const u8, i32, i32);
type Train = unsafe extern "C" fn(*const JobRecord, i32, *mut EpochRecord, i32, i32);

/// Numbers aligned as vectors need them.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// Memory that kernels write to; it is counted.
pub struct Memory(Vec<UnsafeCell<Line>>, Arc<AtomicUsize>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0.len() * 64, Ordering::Relaxed);
    }
}

// SAFETY: it is written to by kernels alone, during `launch`, and each belongs to one job or is only read.
unsafe impl Sync for Memory {}

impl Device for Emulated {
    type Memory = Memory;
    /// The library and the name of its function.
    type Kernel = (Library, &'static str);
    type Queue = ();
    type Launch = ();
    const ROOM_IN_MEMORY: bool = true;

    fn shared_memory(&self) -> usize {
        self.shared_memory
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn queue(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn kernel(&self, source: &Source) -> Result<Self::Kernel, Failure> {
        if source.shared > self.shared_memory.max(LEAST_SHARED) {
            return Err("asking for shared memory failed".into());
        }
        let path = self.library(source)?;
        // SAFETY: the library was just compiled from the kernels of this crate and runs nothing when it is loaded.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        Ok((library, source.entry))
    }

    fn resident(&self, _: &Self::Kernel) -> usize {
        1
    }

    fn free_memory(&self) -> Result<usize, Failure> {
        Ok(self.memory.saturating_sub(self.taken.load(Ordering::Relaxed)))
    }

    fn memory(&self, _: &(), content: &[u8], bytes: usize) -> Result<Memory, Failure> {
        let lines = bytes.max(content.len()).div_ceil(64);
        let line = |at: usize| {
            let mut line = Line([0; 64]);
            let part = content.get(at * 64..).unwrap_or(&[]);
            let count = part.len().min(64);
            line.0[..count].copy_from_slice(&part[..count]);
            UnsafeCell::new(line)
        };
        if lines * 64 > self.free_memory()? {
            return Err("taking memory of the card failed".into());
        }
        self.taken.fetch_add(lines * 64, Ordering::Relaxed);
        Ok(Memory((0..lines).map(line).collect(), self.taken.clone()))
    }

    fn write(&self, _: &(), memory: &mut Memory, content: &[u8]) -> Result<(), Failure> {
        assert!(content.len() <= memory.0.len() * 64);
        for (line, part) in memory.0.iter_mut().zip(content.chunks(64)) {
            line.get_mut().0[..part.len()].copy_from_slice(part);
        }
        Ok(())
    }

    fn address(memory: &Memory) -> u64 {
        memory.0.as_ptr() as u64
    }

    fn read(&self, _: &(), memory: &Memory, from: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        // SAFETY: kernels write to the memory only during `launch`, which has returned; the range is checked.
        unsafe {
            assert!(from + bytes.len() <= memory.0.len() * 64);
            std::ptr::copy_nonoverlapping(memory.0.as_ptr().cast::<u8>().add(from), bytes.as_mut_ptr(), bytes.len());
        }
        Ok(())
    }

    fn launch(
        &self,
        _: &(),
        (library, entry): &Self::Kernel,
        jobs: &[JobRecord],
        board: &Memory,
        epochs: usize,
    ) -> Result<(), Failure> {
        self.count_launch()?;
        // SAFETY: `train` has this type, the records' addresses are those of memory that outlives the call, and the board has room.
        unsafe {
            let train = library.get::<Train>(entry.as_bytes()).map_err(|error| error.to_string())?;
            let board = Self::address(board) as *mut EpochRecord;
            train(jobs.as_ptr(), jobs.len() as i32, board, epochs as i32, self.turned_around.into());
        }
        Ok(())
    }

    fn run(&self, _: &(), (library, entry): &Self::Kernel, record: u64, blocks: usize) -> Result<(), Failure> {
        self.count_launch()?;
        // SAFETY: the function has this type, and the record's address and those in it are those of memory that outlives the call.
        unsafe {
            let run = library.get::<Run>(entry.as_bytes()).map_err(|error| error.to_string())?;
            run(record as *const u8, blocks as i32, self.turned_around.into());
        }
        Ok(())
    }

    fn wait(&self, _: &(), _: ()) -> Result<(), Failure> {
        Ok(())
    }
}
