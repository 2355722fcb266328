//! Media types of requests and responses.

use axum::http::{HeaderMap, header};

/// The media type of Arrow streams.
pub const ARROW: &str = "application/vnd.apache.arrow.stream";
/// The media type of CSV.
pub const CSV: &str = "text/csv";
/// The media type of JSON.
pub const JSON: &str = "application/json";

/// The media type of a header, without its parameters.
pub fn media_type(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let text = headers.get(name)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim()).filter(|text| !text.is_empty())
}
