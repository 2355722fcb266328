//! Responsible for the page to explore a model with: its text, its style, its script. It loads nothing from anywhere else.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing may be loaded from anywhere else, whatever columns and files hold.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn answer(content_type: &'static str, text: String) -> Response {
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
    answer("text/html; charset=utf-8", PAGE.to_string())
}

/// Its style: that of reports, and what it has beside.
pub async fn style() -> Response {
    answer("text/css; charset=utf-8", format!("{}{}{STYLE}", negmm_draw::page_colours(), negmm_report::STYLE))
}

/// Its script.
pub async fn script() -> Response {
    answer("text/javascript; charset=utf-8", SCRIPT.to_string())
}
