//! Responsible for threads: how many there are, and which work is done on how many of them.
//!
//! Every thread that the library starts is started here.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Error, Result};

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

/// Runs `work` on so many threads at once, each with the large answers that it computes to itself: all threads are busy. A
/// single one is the caller's own, and shares its answers as the caller does.
///
/// # Errors
/// When the system has not even one more thread.
pub fn side_by_side(threads: usize, work: impl Fn() + Sync) -> Result<()> {
    if threads <= 1 {
        work();
        return Ok(());
    }
    let mut alone = vec![pool(1)?];
    alone.extend((1..threads).map_while(|_| pool(1).ok()));
    std::thread::scope(|scope| alone.iter().for_each(|pool| drop(scope.spawn(|| pool.install(&work)))));
    Ok(())
}
