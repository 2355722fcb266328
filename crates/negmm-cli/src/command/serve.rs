//! Responsible for `negmm serve`: what was typed as the settings of a server, and what it says as lines of text.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use negmm::Error;
use negmm_serve::{Event, Limits, Settings};
use serde_json::json;

use crate::arguments::{Serve, Shared};
use crate::say::{say, say_json, tell};
use crate::{input, interrupt};

/// Runs it.
pub fn run(serve: &Serve, shared: &Shared) -> Result<(), Error> {
    let threads = shared.threads(None)?;
    let settings = Settings {
        models: serve.models.clone(),
        address: address(&serve.address)?,
        token_file: serve.token_file.clone(),
        threads,
        limits: limits(serve)?,
    };
    let (quiet, json, token) = (shared.quiet, shared.json, serve.token_file.is_some());
    negmm_serve::run(&settings, move |event| match event {
        Event::Listening(address, names) => {
            // It has heard of signals by now, and ends by itself when it has answered what is under way.
            interrupt::hand_over();
            // Whoever closed the pipe does not want the address.
            let _ = match json {
                true => say_json(&json!({"address": address.to_string(), "models": names})),
                false => say(&format!("serving {} at http://{address}", names.join(", "))),
            };
            if !address.ip().is_loopback() && !token && !quiet {
                tell(&format!("warning: everybody who reaches {address} may ask: say --token-file FILE"));
            }
        }
        Event::Reloaded(errors) if errors.is_empty() && !quiet => tell("models loaded again"),
        Event::Reloaded(errors) => {
            errors.iter().for_each(|error| tell(&format!("error: {error}; the model that was loaded before goes on")));
        }
        Event::Stopping if !quiet => tell("stopping: requests under way are answered"),
        Event::Stopping => {}
    })
}

/// Where to listen.
fn address(text: &str) -> Result<SocketAddr, Error> {
    let found = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| Error::options(format!("address must be HOST:PORT such as 127.0.0.1:8080, found {text:?}")))
}

fn limits(serve: &Serve) -> Result<Limits, Error> {
    let usual = Limits::default();
    let or =
        |name: &str, text: Option<&str>, otherwise: usize| text.map_or(Ok(otherwise), |text| input::number(name, text));
    let seconds = |name: &str, text: Option<&str>, otherwise: Duration| {
        let Some(text) = text else { return Ok(otherwise) };
        let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.ok_or_else(|| Error::options(format!("{name} must be a number of seconds, found {text:?}")))
    };
    Ok(Limits {
        body: or("max-body", serve.max_body.as_deref(), usual.body)?,
        rows: or("max-rows", serve.max_rows.as_deref(), usual.rows)?,
        numbers: or("max-answers", serve.max_answers.as_deref(), usual.numbers)?,
        in_flight: or("max-requests", serve.max_requests.as_deref(), usual.in_flight)?,
        connections: or("max-connections", serve.max_connections.as_deref(), usual.connections)?,
        time: seconds("timeout", serve.timeout.as_deref(), usual.time)?,
        drain: seconds("drain", serve.drain.as_deref(), usual.drain)?,
        idle: usual.idle,
    })
}
