//! Error responses: a status and one sentence, as JSON.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use negmm::{ErrorKind, Wording};
use serde_json::json;

/// The wording of the server: rows of a request count from 0.
struct Requests;

impl Wording for Requests {
    fn first_row(&self) -> u64 {
        0
    }
}

/// An error response.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    message: String,
}

impl Failure {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The request is at fault.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The request is too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// There is no such endpoint or model.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The server is overloaded, or the request timed out.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// A bug.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error; the server goes on")
    }
}

impl From<negmm::Error> for Failure {
    fn from(error: negmm::Error) -> Self {
        let message = error.worded(&Requests);
        match error.kind() {
            ErrorKind::Data | ErrorKind::Options => Self::bad(message),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(json!({"error": self.message}))).into_response();
        let headers = response.headers_mut();
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            StatusCode::UNAUTHORIZED => headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => None,
        };
        response
    }
}
