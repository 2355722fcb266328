//! `negmm serve`: models over HTTP; the events of the server as lines of text.

use negmm::Error;
use negmm_serve::{Event, Limits, Settings};
use serde_json::json;

use crate::arguments::serve::LimitFlags;
use crate::arguments::{Serve, Shared};
use crate::console::{eprint, print, print_json};
use crate::interrupt;

/// Runs it.
pub fn run(serve: &Serve, shared: &Shared) -> Result<(), Error> {
    let threads = shared.threads();
    let settings = Settings {
        models: serve.models.clone(),
        address: serve.address,
        token_file: serve.token_file.clone(),
        threads,
        limits: limits(&serve.limits),
    };
    let (quiet, json, token) = (shared.quiet, shared.json, serve.token_file.is_some());
    negmm_serve::run(&settings, move |event| match event {
        Event::Listening(address, names) => {
            // The server handles signals from here on, and stops by itself after running requests.
            interrupt::hand_over();
            // Nobody reads the address if the pipe is closed.
            let _ = match json {
                true => print_json(&json!({"address": address.to_string(), "models": names})),
                false => print(&format!("serving {} at http://{address}", names.join(", "))),
            };
            if !address.ip().is_loopback() && !token && !quiet {
                eprint(&format!("warning: anyone who can reach {address} can use it: consider --token-file FILE"));
            }
        }
        Event::Reloaded(errors) if errors.is_empty() && !quiet => eprint("models reloaded"),
        Event::Reloaded(errors) => {
            errors
                .iter()
                .for_each(|error| eprint(&format!("error: {error}; the previous version of the model stays in use")));
        }
        Event::Stopping if !quiet => eprint("stopping: finishing running requests"),
        Event::Stopping => {}
    })
}

fn limits(flags: &LimitFlags) -> Limits {
    let usual = Limits::default();
    Limits {
        body: flags.max_body.unwrap_or(usual.body),
        rows: flags.max_rows.unwrap_or(usual.rows),
        numbers: flags.max_answers.unwrap_or(usual.numbers),
        in_flight: flags.max_requests.unwrap_or(usual.in_flight),
        connections: flags.max_connections.unwrap_or(usual.connections),
        time: flags.timeout.unwrap_or(usual.time),
        drain: flags.drain.unwrap_or(usual.drain),
        idle: usual.idle,
    }
}
