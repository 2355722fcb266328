//! A count of the conversions of columns, so that tests can show that each column is converted once.

use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Counts a conversion in this thread.
pub fn add() {
    COUNT.set(COUNT.get() + 1);
}

/// The conversions that `work` makes in this thread, and its result.
pub fn of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let result = work();
    (COUNT.get() - before, result)
}
