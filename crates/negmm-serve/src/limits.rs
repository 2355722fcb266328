//! Limits of the server: size of a request and its response, concurrency, timeouts.

use std::time::Duration;

/// The limits of a server.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `body` | 16 MiB | bytes of a request's body, at most |
/// | `rows` | 10,000 | rows of a request, at most |
/// | `numbers` | 2,000,000 | numbers of a response (rows × columns), at most |
/// | `in_flight` | 256 | requests in flight at once; further ones are rejected with 503 |
/// | `connections` | 1,024 | connections at once; further ones wait |
/// | `time` | 10 s | timeout of a request, from its header to its response |
/// | `drain` | 15 s | time for requests in flight at shutdown |
/// | `idle` | 75 s | idle timeout of a connection |
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Numbers of a response.
    pub numbers: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Connections.
    pub connections: usize,
    /// Timeout of a request.
    pub time: Duration,
    /// Time for requests in flight at shutdown.
    pub drain: Duration,
    /// Idle timeout of a connection.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            rows: 10_000,
            numbers: 2_000_000,
            in_flight: 256,
            connections: 1024,
            time: Duration::from_secs(10),
            drain: Duration::from_secs(15),
            idle: Duration::from_secs(75),
        }
    }
}

impl Limits {
    /// Checks that all limits are in range.
    ///
    /// # Errors
    /// When a limit is 0, or the timeout of a request is not below the drain time.
    pub fn check(&self) -> negmm::Result<()> {
        let counts = [
            ("max-body", self.body),
            ("max-rows", self.rows),
            ("max-answers", self.numbers),
            ("max-requests", self.in_flight),
            ("max-connections", self.connections),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(negmm::Error::option(*name, "must be at least 1, found 0"));
        }
        if self.time.is_zero() || self.time >= self.drain {
            let (time, drain) = (self.time.as_secs_f64(), self.drain.as_secs_f64());
            return Err(negmm::Error::option(
                "timeout",
                format!(
                    "must be above 0 and below drain, so that every request is answered: found {time} and {drain} seconds"
                ),
            ));
        }
        Ok(())
    }
}
