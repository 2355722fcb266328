//! Hyper-parameter search: configurations, a journal of finished trials, the best by
//! validation rows.
//!
//! A search is a list of *trials*, each with a name that says all it depends on. [`run`] does those that the [`Journal`] does
//! not have yet and appends each result at once; so a search that was killed continues where it was, a
//! [`Shard`] of it can run elsewhere, and journals can be joined. What comes out depends on the results alone, never on
//! the order in which they came.

mod journal;
mod run;
mod rungs;
mod search;
mod shard;
mod space;

pub use journal::{Entry, Journal};
pub use run::{RunOptions, Trial, run};
pub use search::{Candidate, Search, Strategy, choosers};
pub use shard::Shard;
pub use space::{Configuration, Dimension, Space, Values};
