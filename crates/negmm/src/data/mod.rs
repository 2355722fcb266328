//! Responsible for what comes in: tables with named columns, and how they become numbers a network can use.

mod dataset;

pub use dataset::{Dataset, ROW_ALIGN};
