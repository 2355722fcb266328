//! Thread pools. All threads of the library are started here.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use negmm_dist::{Error, Result};

/// The number of threads, where 0 means the number of cores.
pub fn count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => threads,
    }
}

/// A thread pool for computations over many rows (0 threads: as many as there are cores).
///
/// # Errors
/// When no thread can be started.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::options(format!("the threads cannot be started: {error}")))
}

/// Sets the number of threads (0: as many as there are cores) of the default pool for computations over many rows. Only the first call
/// has an effect.
pub fn limit(threads: usize) {
    let _ = ThreadPoolBuilder::new().num_threads(threads).build_global();
}

/// Runs `work` once on each of `threads` threads. Threads that are done help the others with [`for_each`] and with computations over
/// many rows. With one thread `work` runs on the caller's.
///
/// # Errors
/// When no thread can be started.
pub fn broadcast(threads: usize, work: impl Fn() + Sync) -> Result<()> {
    if threads <= 1 {
        work();
        return Ok(());
    }
    let pool = (1..=threads).rev().find_map(|threads| pool(threads).ok()).map_or_else(|| pool(1), Ok)?;
    pool.broadcast(|_| work());
    Ok(())
}

/// Calls `act` with each part, also on idle threads of [`broadcast`].
pub fn for_each<T: Send>(parts: &mut [T], act: impl Fn(usize, &mut T) + Sync) {
    // Outside of such a pool rayon would start its default pool.
    if rayon::current_thread_index().is_none() || parts.len() < 2 {
        return parts.iter_mut().enumerate().for_each(|(at, part)| act(at, part));
    }
    parts.par_iter_mut().with_max_len(1).enumerate().for_each(|(at, part)| act(at, part));
}
