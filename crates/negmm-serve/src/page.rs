//! The page to explore a model with: HTML, style and script. It loads nothing from other hosts.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing may be loaded from other hosts, whatever columns and files contain.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn response(content_type: &'static str, text: String) -> Response {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}

/// The page.
pub async fn page() -> Response {
    response("text/html; charset=utf-8", PAGE.to_string())
}

/// Its style sheet: the one of reports, and its own.
pub async fn style() -> Response {
    response("text/css; charset=utf-8", format!("{}{}{STYLE}", negmm_draw::page_colours(), negmm_report::STYLE))
}

/// Its script.
pub async fn script() -> Response {
    response("text/javascript; charset=utf-8", SCRIPT.to_string())
}
