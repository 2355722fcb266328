//! The memory limit for reading a file: a small file may unpack to more than the machine has.

use std::fs;
use std::io::Read;

use super::read_error;
use negmm_dist::{Error, Hint, Result};

const GIGABYTE: u64 = 1 << 30;
/// The assumed memory where the machine's is not known.
const USUAL_MEMORY: u64 = 16 * GIGABYTE;

/// How many bytes of files may be held in memory.
pub(crate) struct MemoryLimit {
    /// In gigabytes, where it was set.
    most: Option<u64>,
    limit: u64,
    used: u64,
}

impl MemoryLimit {
    /// `most` gigabytes, or half of the machine's memory.
    pub fn new(most: Option<u64>) -> Self {
        let limit = most.map_or_else(|| memory() / 2, |gigabytes| gigabytes.saturating_mul(GIGABYTE));
        Self { most, limit, used: 0 }
    }

    /// All bytes of a reader, within what is left of the limit.
    pub fn read_all(&mut self, reader: impl Read, name: &str) -> Result<Vec<u8>> {
        let left = self.limit.saturating_sub(self.used);
        let mut bytes = Vec::new();
        let read = reader.take(left.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| read_error(name, error))?;
        if bytes.len() as u64 > left {
            let found = match self.most {
                Some(gigabytes) => format!("{gigabytes} GB"),
                None => format!("{:.1} GB (half of this machine's memory)", self.limit as f64 / GIGABYTE as f64),
            };
            let what = if self.used == 0 { "the file is" } else { "this file and those before it are" };
            let error = Error::data(format!("{what} larger than {found} unpacked"));
            return Err(error.with_hint(Hint::RaiseOption { option: "memory" }).in_file(name));
        }
        self.used += bytes.len() as u64;
        Ok(bytes)
    }
}

/// The bytes of memory that a command may use: so many gigabytes, or half of the machine's memory.
pub fn memory_limit(gigabytes: Option<u64>) -> u64 {
    MemoryLimit::new(gigabytes).limit
}

/// The bytes of memory that this process may use.
fn memory() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(group).min().unwrap_or(USUAL_MEMORY)
}

/// The memory of the whole machine, from `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_the_limit_is_refused() {
        let read = |most: Option<u64>| MemoryLimit::new(most).read_all(&b"abc"[..], "f.csv");
        assert_eq!(read(None).unwrap(), b"abc");
        let error = read(Some(0)).unwrap_err().to_string();
        assert_eq!(error, "f.csv: the file is larger than 0 GB unpacked; raise memory");
        let mut limit = MemoryLimit { most: Some(1), limit: 5, used: 0 };
        assert!(limit.read_all(&b"abc"[..], "a.csv").is_ok());
        let error = limit.read_all(&b"abc"[..], "b.csv").unwrap_err().to_string();
        assert_eq!(error, "b.csv: this file and those before it are larger than 1 GB unpacked; raise memory");
        assert_eq!(total("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert!(memory() > 0);
    }
}
