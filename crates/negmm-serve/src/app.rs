//! Responsible for what there is at which address, who may ask, and how many at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body as HttpBody, Bytes, HttpBody as _, to_bytes};
use axum::extract::{MatchedPath, Path, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value as Json, json};
use tokio::sync::{Semaphore, oneshot};

use crate::asked::of_query;
use crate::failure::Failure;
use crate::job::{Body, Job};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::{Models, Served};
use crate::token::Token;
use crate::work::{self, Queue};
use crate::written::{ARROW, CSV, Form, JSON};
use crate::{explore, observed, openapi, page, v2};

/// Everything that requests share.
pub struct App {
    pub models: Models,
    pub queue: Arc<Queue>,
    pub metrics: Arc<Metrics>,
    pub limits: Limits,
    pub token: Option<Token>,
    /// Permits of requests under way.
    pub gate: Semaphore,
    /// Whether the server was told to stop.
    pub draining: AtomicBool,
}

type Shared = State<Arc<App>>;
type Asked = Query<Vec<(String, String)>>;

/// All addresses.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/page.css", get(page::style))
        .route("/page.js", get(page::script))
        .route("/openapi.json", get(openapi::description))
        .route("/metrics", get(metrics))
        .route("/ping", get(ready))
        .route("/health", get(ready))
        .route("/version", get(|| async { env!("CARGO_PKG_VERSION") }))
        .route("/invocations", post(invocations))
        .route("/v2", get(server_metadata))
        .route("/v2/health/live", get(live))
        .route("/v2/health/ready", get(ready))
        .route("/v2/models", get(list))
        .route("/v2/models/{model}", get(metadata))
        .route("/v2/models/{model}/ready", get(model_ready))
        .route("/v2/models/{model}/infer", post(infer))
        .route("/v2/models/{model}/observe", get(observed::verdict).post(observed::observed))
        .route("/v2/models/{model}/inputs", get(explore::inputs))
        .route("/v2/models/{model}/explore", post(explore::explored))
        .fallback(|| async { Failure::not_found("there is nothing at this address; /openapi.json says what there is") })
        .method_not_allowed_fallback(|| async {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes another method; /openapi.json says which")
        })
        .layer(from_fn_with_state(app.clone(), admitted))
        .with_state(app)
}

/// Addresses that need no token: the page, which has no data in it, and what tells whether the server lives.
const OPEN: [&str; 7] = ["/", "/page.css", "/page.js", "/v2/health/live", "/v2/health/ready", "/ping", "/health"];

/// Every request goes through here: the token, the count of requests under way, the time it may take.
async fn admitted(State(app): Shared, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_string();
    let under_way = app.metrics.under_way();
    let response = admit(&app, request, next).await;
    drop(under_way);
    app.metrics.answered(&route, response.status().as_u16(), started.elapsed());
    response
}

async fn admit(app: &App, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let known = app.token.as_ref().is_none_or(|token| token.is_in(request.headers()));
    if !known && !OPEN.contains(&path) {
        let message = "the header Authorization: Bearer TOKEN is needed";
        return refused(request, Failure::new(StatusCode::UNAUTHORIZED, message)).await;
    }
    // A layer that limits a handler would have it wait for ever: what is too much is refused at once.
    let permit = match request.method() {
        &Method::POST => match app.gate.try_acquire() {
            Ok(permit) => Some(permit),
            Err(_) => {
                app.metrics.refused();
                return refused(request, Failure::busy("too many requests are under way; ask again later")).await;
            }
        },
        _ => None,
    };
    let answered = tokio::time::timeout(app.limits.time, next.run(request)).await;
    drop(permit);
    answered.unwrap_or_else(|_| {
        let seconds = app.limits.time.as_secs_f64();
        Failure::busy(format!("the request was not read and answered within {seconds} seconds")).into_response()
    })
}

/// Refuses a request that was not read. A connection that ends while a body is still coming would take the refusal along, so as much
/// of the body as most have is thrown away first.
async fn refused(request: Request, failure: Failure) -> Response {
    const MOST_BYTES: usize = 1 << 20;
    const LONGEST: Duration = Duration::from_secs(1);
    let mut body = request.into_body();
    let thrown_away = async {
        let mut bytes = 0;
        while bytes < MOST_BYTES {
            match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
                _ => break,
            }
        }
    };
    // Whoever sends slowly loses the refusal, and not the server its time.
    let _ = tokio::time::timeout(LONGEST, thrown_away).await;
    failure.into_response()
}

impl App {
    pub fn served(&self, name: &str) -> Result<Arc<Served>, Failure> {
        self.models.get(name).ok_or_else(|| {
            let names: Vec<String> = self.models.all().keys().cloned().collect();
            Failure::not_found(format!("there is no model {name:?}; there are {}", names.join(", ")))
        })
    }

    /// Whether one request alone is under way.
    fn is_idle(&self) -> bool {
        self.gate.available_permits() + 1 >= self.limits.in_flight
    }

    /// The whole body of a request.
    pub async fn body(&self, body: HttpBody) -> Result<Bytes, Failure> {
        let most = self.limits.body;
        to_bytes(body, most)
            .await
            .map_err(|_| Failure::too_large(format!("a body may have {most} bytes at most, and must be whole")))
    }

    /// Has a request predicted.
    async fn predicted(
        &self,
        served: Arc<Served>,
        (headers, body): (&HeaderMap, HttpBody),
        json: Body,
        parameters: Map<String, Json>,
    ) -> Result<Response, Failure> {
        let written_as = match essence(headers, header::CONTENT_TYPE) {
            None | Some(JSON) => json,
            Some(CSV) => Body::Csv,
            Some(ARROW) => Body::Arrow,
            Some(other) => {
                let message = format!("expected a body of the type {JSON}, {CSV} or {ARROW}, found {other}");
                return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
            }
        };
        let accepts = match essence(headers, header::ACCEPT) {
            Some(CSV) => Some(Form::Csv),
            Some(ARROW) => Some(Form::Arrow),
            Some(JSON) => Some(Form::Records),
            _ => None,
        };
        let body = self.body(body).await?;
        let (reply, answer) = oneshot::channel();
        let job = Job { served, body, written_as, parameters, accepts, reply };
        // Others that are here by now have their turn first: what is predicted together with them is predicted faster.
        tokio::task::yield_now().await;
        let answered = if self.is_idle() { work::at_once(&job, &self.limits, &self.metrics) } else { None };
        let answered = match answered {
            Some(answered) => answered,
            None => {
                self.queue.push(job);
                answer.await.unwrap_or_else(|_| work::lost())
            }
        };
        let (content_type, bytes) = answered?;
        Ok(([(header::CONTENT_TYPE, content_type)], bytes).into_response())
    }
}

/// A type without its parameters.
pub fn essence(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let text = headers.get(name)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim()).filter(|text| !text.is_empty())
}

async fn infer(
    State(app): Shared,
    Path(model): Path<String>,
    Query(query): Asked,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<Response, Failure> {
    let served = app.served(&model)?;
    app.predicted(served, (&headers, body), Body::Tensors, of_query(&query)).await
}

/// MLflow serves one model; here `?model=NAME` chooses another than the first.
async fn invocations(
    State(app): Shared,
    Query(mut query): Asked,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<Response, Failure> {
    let named = query.iter().position(|(name, _)| name == "model").map(|at| query.remove(at).1);
    let served = match named {
        Some(name) => app.served(&name)?,
        None => app.models.first().ok_or_else(|| Failure::not_found("no model is served"))?,
    };
    app.predicted(served, (&headers, body), Body::Mlflow, of_query(&query)).await
}

async fn server_metadata() -> axum::Json<Json> {
    axum::Json(json!({"name": "negmm", "version": env!("CARGO_PKG_VERSION"), "extensions": []}))
}

async fn live() -> axum::Json<Json> {
    axum::Json(json!({"live": true}))
}

async fn ready(State(app): Shared) -> Result<axum::Json<Json>, Failure> {
    match app.draining.load(Ordering::Relaxed) {
        true => Err(Failure::busy("the server is about to stop")),
        false => Ok(axum::Json(json!({"ready": true}))),
    }
}

async fn list(State(app): Shared) -> axum::Json<Json> {
    axum::Json(json!({"models": app.models.all().keys().collect::<Vec<_>>()}))
}

async fn metadata(State(app): Shared, Path(model): Path<String>) -> Result<axum::Json<Json>, Failure> {
    let served = app.served(&model)?;
    Ok(axum::Json(v2::metadata(&served.name, &served.loaded)))
}

async fn model_ready(State(app): Shared, Path(model): Path<String>) -> Result<axum::Json<Json>, Failure> {
    let served = app.served(&model)?;
    Ok(axum::Json(json!({"name": served.name, "ready": true})))
}

async fn metrics(State(app): Shared) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text() + &observed::gauges(&app.models))
        .into_response()
}
