//! Thread pools: how many threads there are, and how work is shared among them.
//!
//! Every thread that the library starts is started here.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use negmm_dist::{Error, Result};

/// So many threads, 0 meaning as many as there are cores.
pub fn count(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => threads,
    }
}

/// Threads that share the rows of large answers (0: as many as there are cores).
///
/// # Errors
/// When the system has no more threads.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::options(format!("the threads cannot be started: {error}")))
}

/// Makes so many threads (0: as many as there are cores) the ones that share the rows of large answers wherever nothing else
/// is said. The first who says it decides.
pub fn limit(threads: usize) {
    let _ = ThreadPoolBuilder::new().num_threads(threads).build_global();
}

/// Runs `work` on so many threads at once. A thread whose work is done helps the others with what they share by
/// [`for_each`] and with large answers. A single one is the caller's own, and shares its answers as the caller does.
///
/// # Errors
/// When the system has not even one more thread.
pub fn broadcast(threads: usize, work: impl Fn() + Sync) -> Result<()> {
    if threads <= 1 {
        work();
        return Ok(());
    }
    let pool = (1..=threads).rev().find_map(|threads| pool(threads).ok()).map_or_else(|| pool(1), Ok)?;
    pool.broadcast(|_| work());
    Ok(())
}

/// Does something with each of some parts, on threads that have nothing else to do where [`broadcast`] has such.
pub fn for_each<T: Send>(parts: &mut [T], act: impl Fn(usize, &mut T) + Sync) {
    // Outside of such threads rayon would start some of its own.
    if rayon::current_thread_index().is_none() || parts.len() < 2 {
        return parts.iter_mut().enumerate().for_each(|(at, part)| act(at, part));
    }
    parts.par_iter_mut().with_max_len(1).enumerate().for_each(|(at, part)| act(at, part));
}
