//! Responsible for what can be typed after `negmm serve`.

use std::path::PathBuf;

use clap::Args;

/// `negmm serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Model files; each is served under its name without the ending
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Where to listen; a port of 0 takes a free one, and the address is printed
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub address: String,
    /// A file with a token that every request must carry: Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Bytes of a request's body, at most [default: 16777216]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_body: Option<String>,
    /// Rows of a request, at most [default: 10000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_rows: Option<String>,
    /// Numbers of an answer, rows times columns, at most [default: 2000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_answers: Option<String>,
    /// Requests under way at once; one more is refused with 503 [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_requests: Option<String>,
    /// Connections at once; one more waits [default: 1024]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_connections: Option<String>,
    /// Seconds for a request, from its head to its answer [default: 10]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "Limits")]
    pub timeout: Option<String>,
    /// Seconds for requests under way when the server is told to stop [default: 15]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "Limits")]
    pub drain: Option<String>,
}
