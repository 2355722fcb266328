//! Hyper-parameter search: configurations, a journal of finished trials, and a ranking by validation scores.
//!
//! A search is a list of *trials*, each with a name that contains everything it depends on. [`run`] runs those that
//! the [`Journal`] lacks and appends each result at once. A search that was killed can therefore resume, a [`Shard`]
//! of it can run elsewhere, and journals can be merged. The outcome depends on the results alone, never on their
//! order.

mod journal;
mod run;
mod rungs;
mod search;
mod shard;
mod space;

pub use journal::{Entry, Journal};
pub use run::{RunOptions, Trial, run};
pub use search::{Candidate, MetricSummary, Search, Strategy, choosers, joint_choosers};
pub use shard::Shard;
pub use space::{Configuration, Dimension, Space, Values};
