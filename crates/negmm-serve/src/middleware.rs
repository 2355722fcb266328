//! The middleware around every endpoint: authentication, the concurrency limit, the timeout, request metrics.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Bytes, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;
use crate::state::AppState;

/// Endpoints that need no token: the page, which contains no data, and health checks.
const PUBLIC: [&str; 7] = ["/", "/page.css", "/page.js", "/v2/health/live", "/v2/health/ready", "/ping", "/health"];

/// Runs a request and records its metrics.
pub async fn middleware(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_string();
    let in_flight = app.metrics.in_flight();
    let response = authorized_and_limited(&app, request, next).await;
    drop(in_flight);
    app.metrics.answered(&route, response.status().as_u16(), started.elapsed());
    response
}

async fn authorized_and_limited(app: &AppState, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let authorized = app.token.as_ref().is_none_or(|token| token.is_in(request.headers()));
    if !authorized && !PUBLIC.contains(&path) {
        let message = "the header Authorization: Bearer TOKEN is needed";
        return reject(request, Failure::new(StatusCode::UNAUTHORIZED, message)).await;
    }
    // Beyond the limit a request is rejected at once; tower's concurrency limit would let it wait without end.
    let permit = match request.method() {
        &Method::POST => match app.permits.try_acquire() {
            Ok(permit) => Some(permit),
            Err(_) => {
                app.metrics.rejected();
                return reject(request, Failure::busy("too many requests in flight; retry later")).await;
            }
        },
        _ => None,
    };
    let response = tokio::time::timeout(app.limits.time, next.run(request)).await;
    drop(permit);
    response.unwrap_or_else(|_| {
        let seconds = app.limits.time.as_secs_f64();
        Failure::busy(format!("the request was not read and answered within {seconds} seconds")).into_response()
    })
}

/// Rejects a request whose body was not read. Closing a connection while the client still sends would lose the response, so the
/// body is drained first, up to a limit.
async fn reject(request: Request, failure: Failure) -> Response {
    const MAX_BYTES: usize = 1 << 20;
    const MAX_TIME: Duration = Duration::from_secs(1);
    let mut body = request.into_body();
    let drained = async {
        let mut bytes = 0;
        while bytes < MAX_BYTES {
            match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
                _ => break,
            }
        }
    };
    // A slow client may miss the response; it must not hold the server up.
    let _ = tokio::time::timeout(MAX_TIME, drained).await;
    failure.into_response()
}
