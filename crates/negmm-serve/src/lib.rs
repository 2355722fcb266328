//! An HTTP server of fitted models: the Open Inference Protocol, MLflow's `/invocations`, and a page to explore a model with.
//!
//! | from | to | module |
//! |---|---|---|
//! | a connection | an accepted request | `listener`, `middleware` (authentication, concurrency limit, timeout) |
//! | a request | a job in the queue | `app` (endpoints) |
//! | bytes of a job | rows and query | `job`, `v2`, `rows`, `csv_body`, `arrow_body`, `params` |
//! | rows of several requests | predictions, on worker threads | `worker` |
//! | rows | contributions of the inputs | `explain` |
//! | predictions | bytes of the response | `job`, `forecast`, `encode` |
//!
//! No part of a request is ever used as a path of the file system: models are looked up by name in a list made at the start.

mod app;
mod arrow_body;
mod csv_body;
mod density_plot;
mod encode;
mod explain;
mod explore;
mod failure;
mod forecast;
mod job;
mod limits;
mod listener;
mod media_type;
mod metrics;
mod middleware;
mod models;
mod openapi;
mod outcomes;
mod page;
mod params;
mod rows;
mod server;
mod state;
mod token;
mod v2;
mod worker;

pub use limits::Limits;
pub use server::{Event, Settings, run};
