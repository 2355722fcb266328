//! Serves fitted models over HTTP: the Open Inference Protocol, MLflow's `/invocations`, and a page to explore a model with.
//!
//! | from | to | room |
//! |---|---|---|
//! | a connection | a request that may be read | `listener`, `app` (the token, how many at once, how long) |
//! | a request | bytes in a queue | `app` |
//! | bytes | rows and questions | `job`, `v2`, `rows`, `csv_body`, `arrow_body`, `asked` |
//! | rows of several requests | predictions, on threads of their own | `work` |
//! | predictions | bytes that go back | `job`, `guaranteed`, `series`, `written` |
//!
//! Nothing that a request says ever becomes a path of the file system: models are found by name in a list that is made at the start.

mod app;
mod arrow_body;
mod asked;
mod csv_body;
mod explore;
mod failure;
mod guaranteed;
mod job;
mod limits;
mod listener;
mod metrics;
mod models;
mod observed;
mod openapi;
mod page;
mod picture;
mod rows;
mod series;
mod server;
mod token;
mod v2;
mod work;
mod written;

pub use limits::Limits;
pub use server::{Event, Settings, run};
