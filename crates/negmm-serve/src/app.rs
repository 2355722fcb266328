//! The endpoints of the server and their handlers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value as Json, json};
use tokio::sync::oneshot;

use crate::encode::ResponseFormat;
use crate::failure::Failure;
use crate::job::{BodyFormat, Encoded, Job};
use crate::media_type::{ARROW, CSV, JSON, media_type};
use crate::middleware::middleware;
use crate::models::ServedModel;
use crate::params::of_query_string;
use crate::state::AppState;
use crate::worker;
use crate::{explain, explore, openapi, outcomes, page, v2};

type Shared = State<Arc<AppState>>;
type Params = Query<Vec<(String, String)>>;

/// All endpoints.
pub fn router(app: Arc<AppState>) -> Router {
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
        .route("/v2/models/{model}/observe", get(outcomes::status).post(outcomes::report))
        .route("/v2/models/{model}/inputs", get(explore::inputs))
        .route("/v2/models/{model}/explore", post(explore::explore))
        .route("/v2/models/{model}/explain", post(explain::explain))
        .fallback(|| async { Failure::not_found("there is no such endpoint; /openapi.json lists all") })
        .method_not_allowed_fallback(|| async {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this endpoint takes another method; /openapi.json says which")
        })
        .layer(from_fn_with_state(app.clone(), middleware))
        .with_state(app)
}

impl AppState {
    /// Predicts the rows of a request: at once where the server is idle, else through the queue.
    async fn predict(
        &self,
        served: Arc<ServedModel>,
        (headers, body): (&HeaderMap, HttpBody),
        json: BodyFormat,
        parameters: Map<String, Json>,
    ) -> Result<Response, Failure> {
        let format = match media_type(headers, header::CONTENT_TYPE) {
            None | Some(JSON) => json,
            Some(CSV) => BodyFormat::Csv,
            Some(ARROW) => BodyFormat::Arrow,
            Some(other) => {
                let message = format!("expected a body of the type {JSON}, {CSV} or {ARROW}, found {other}");
                return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
            }
        };
        let accepts = match media_type(headers, header::ACCEPT) {
            Some(CSV) => Some(ResponseFormat::Csv),
            Some(ARROW) => Some(ResponseFormat::Arrow),
            Some(JSON) => Some(ResponseFormat::Records),
            _ => None,
        };
        let body = self.body(body).await?;
        let (reply, response) = oneshot::channel();
        let job = Job { served, body, format, parameters, accepts, reply };
        // Lets other requests that have arrived run first: rows predicted in one batch are predicted faster.
        tokio::task::yield_now().await;
        let immediate = if self.is_idle() { worker::try_inline(&job, &self.limits, &self.metrics) } else { None };
        let response = match immediate {
            Some(response) => response,
            None => {
                self.queue.push(job);
                response.await.unwrap_or_else(|_| Err(Failure::internal()))
            }
        };
        let Encoded { content_type, bytes, notices } = response?;
        let mut response = ([(header::CONTENT_TYPE, content_type)], bytes).into_response();
        // A miscellaneous persistent warning, as a client may show it.
        let warnings = notices.iter().filter_map(|notice| HeaderValue::from_str(&format!("299 - \"{notice}\"")).ok());
        for warning in warnings {
            response.headers_mut().append(header::WARNING, warning);
        }
        Ok(response)
    }
}

async fn infer(
    State(app): Shared,
    Path(model): Path<String>,
    Query(query): Params,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<Response, Failure> {
    let served = app.served(&model)?;
    app.predict(served, (&headers, body), BodyFormat::Tensors, of_query_string(&query)).await
}

/// MLflow's endpoint has no model name; `?model=NAME` selects another than the first.
async fn invocations(
    State(app): Shared,
    Query(mut query): Params,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<Response, Failure> {
    let named = query.iter().position(|(name, _)| name == "model").map(|at| query.remove(at).1);
    let served = match named {
        Some(name) => app.served(&name)?,
        None => app.models.first().ok_or_else(|| Failure::not_found("no model is served"))?,
    };
    app.predict(served, (&headers, body), BodyFormat::Mlflow, of_query_string(&query)).await
}

async fn server_metadata() -> axum::Json<Json> {
    axum::Json(json!({"name": "negmm", "version": env!("CARGO_PKG_VERSION"), "extensions": []}))
}

async fn live() -> axum::Json<Json> {
    axum::Json(json!({"live": true}))
}

async fn ready(State(app): Shared) -> Result<axum::Json<Json>, Failure> {
    match app.draining.load(Ordering::Relaxed) {
        true => Err(Failure::busy("the server is shutting down")),
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
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text() + &outcomes::gauges(&app.models))
        .into_response()
}
