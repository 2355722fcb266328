//! The shared state of the request handlers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::body::{Body as HttpBody, Bytes, to_bytes};
use tokio::sync::Semaphore;

use crate::failure::Failure;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::{Models, ServedModel};
use crate::token::Token;
use crate::worker::Queue;

/// Models, queue, metrics and limits.
pub struct AppState {
    pub models: Models,
    pub queue: Arc<Queue>,
    pub metrics: Arc<Metrics>,
    pub limits: Limits,
    pub token: Option<Token>,
    /// Permits for requests in flight.
    pub permits: Semaphore,
    /// Whether the server is shutting down.
    pub draining: AtomicBool,
}

impl AppState {
    /// The model of that name.
    pub fn served(&self, name: &str) -> Result<Arc<ServedModel>, Failure> {
        self.models.get(name).ok_or_else(|| {
            let names: Vec<String> = self.models.all().keys().cloned().collect();
            Failure::not_found(format!("there is no model {name:?}; there are {}", names.join(", ")))
        })
    }

    /// Whether no other request is in flight.
    pub fn is_idle(&self) -> bool {
        self.permits.available_permits() + 1 >= self.limits.in_flight
    }

    /// The whole body of a request.
    pub async fn body(&self, body: HttpBody) -> Result<Bytes, Failure> {
        let max = self.limits.body;
        to_bytes(body, max)
            .await
            .map_err(|_| Failure::too_large(format!("a body may have {max} bytes at most, and must be complete")))
    }
}
