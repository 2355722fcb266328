//! Responsible for what a process uses, as the kernel counts it: memory and processor time (Linux).

use std::process::{Child, ExitStatus};
use std::time::Duration;
use std::{fs, io};

/// What a process used up to the last look.
#[derive(Default)]
pub struct Used {
    /// The high-water mark of resident memory, in bytes.
    pub memory: u64,
    /// Processor time of all threads.
    pub processor: Duration,
}

impl Used {
    /// Waits for the end of a process and watches it.
    pub fn until_the_end(process: &mut Child) -> io::Result<(ExitStatus, Self)> {
        let mut used = Self::default();
        loop {
            if let Some(status) = process.try_wait()? {
                return Ok((status, used));
            }
            used.look(process.id());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A process that is just ending has nothing to see: then the look before stays.
    fn look(&mut self, process: u32) {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        self.memory = peak.map_or(self.memory, |kibibytes: u64| kibibytes * 1024);
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let nanoseconds = threads
            .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
            .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
            .sum();
        self.processor = self.processor.max(Duration::from_nanos(nanoseconds));
    }
}
