//! Resource usage of a child process as counted by the kernel: memory and CPU time (Linux).

use std::process::{Child, ExitStatus};
use std::time::Duration;
use std::{fs, io};

/// Resource usage up to the last sample.
#[derive(Default)]
pub struct ResourceUsage {
    /// Peak resident memory in bytes.
    pub memory: u64,
    /// CPU time of all threads.
    pub cpu_time: Duration,
}

impl ResourceUsage {
    /// Waits for a process to exit, sampling its usage.
    pub fn wait(process: &mut Child) -> io::Result<(ExitStatus, Self)> {
        let mut used = Self::default();
        loop {
            if let Some(status) = process.try_wait()? {
                return Ok((status, used));
            }
            used.sample(process.id());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reads the current usage; keeps the previous sample where the process is just exiting.
    fn sample(&mut self, process: u32) {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        self.memory = peak.map_or(self.memory, |kibibytes: u64| kibibytes * 1024);
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let nanoseconds = threads
            .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
            .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
            .sum();
        self.cpu_time = self.cpu_time.max(Duration::from_nanos(nanoseconds));
    }
}
