//! The arguments of `negmm serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::{address, seconds, whole};

/// `negmm serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Model files; each is served under its file name without the extension
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Address to listen at; port 0 picks a free port, and the address is printed
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    pub address: SocketAddr,
    /// File with the token that every request must carry: Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Limits.
    #[command(flatten)]
    pub limits: LimitFlags,
}

/// The limits of a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Largest request body in bytes [default: 16777216]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub max_body: Option<usize>,
    /// Most rows in a request [default: 10000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub max_rows: Option<usize>,
    /// Most values in a response, rows times columns [default: 2000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub max_answers: Option<usize>,
    /// Most concurrent requests; others are refused with status 503 [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub max_requests: Option<usize>,
    /// Most concurrent connections; others wait [default: 1024]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = whole::<usize>)]
    pub max_connections: Option<usize>,
    /// Timeout of a request in seconds, from its headers to its response [default: 10]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Seconds to finish running requests at shutdown [default: 15]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = seconds)]
    pub drain: Option<Duration>,
}
