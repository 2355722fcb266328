//! Resource usage of a child process and CPU time of this one, as counted by the kernel (Linux).

use std::process::{Child, ExitStatus};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
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
        self.memory = peak_memory(&process.to_string()).unwrap_or(self.memory);
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let nanoseconds = threads
            .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
            .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
            .sum();
        self.cpu_time = self.cpu_time.max(Duration::from_nanos(nanoseconds));
    }
}

/// The largest resident memory of this process in bytes; 0 elsewhere than on Linux.
pub fn own_peak_memory() -> u64 {
    peak_memory("self").unwrap_or(0)
}

fn peak_memory(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next())?;
    Some(kibibytes.parse::<u64>().ok()? * 1024)
}

/// Kernel ticks a second in `/proc`.
const TICKS: f64 = 100.0;

/// Seconds of the wall clock since this was first asked for.
pub fn wall_seconds() -> f64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// CPU seconds of all threads of this process since it began; elsewhere than on Linux, those of the wall clock.
pub fn own_cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name in brackets; user and system time are the 14th and 15th of all.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2));
    let ticks: Option<Vec<f64>> = fields.map(|fields| fields.filter_map(|field| field.parse().ok()).collect());
    match ticks.as_deref() {
        Some([user, system]) => (user + system) / TICKS,
        _ => wall_seconds(),
    }
}

/// CPU seconds of all threads of this process to the nanosecond; elsewhere than on Unix, those of the wall clock.
pub fn exact_cpu_seconds() -> f64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
    #[cfg(not(unix))]
    wall_seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let start = own_cpu_seconds();
        let mut sum = 0_u64;
        for round in 0..100_000_u64 {
            sum = (0..10_000).fold(sum, |sum, k| std::hint::black_box(sum.wrapping_mul(31) ^ (k + round)));
            if own_cpu_seconds() - start >= 0.05 {
                break;
            }
        }
        assert!(own_cpu_seconds() - start >= 0.05, "{sum}");
        // Ticks and nanoseconds are of one clock.
        assert!((own_cpu_seconds() - exact_cpu_seconds()).abs() < 0.5);
    }
}
