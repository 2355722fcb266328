//! Responsible for limits: how much one request may ask for, and how many may be under way.

use std::time::Duration;

/// The limits of a server.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `body` | 16 MiB | bytes of a request's body, at most |
/// | `rows` | 10,000 | rows of a request, at most |
/// | `numbers` | 2,000,000 | numbers of an answer (rows × columns), at most |
/// | `in_flight` | 256 | requests that are read or answered at once; one more is refused with 503 |
/// | `connections` | 1,024 | connections at once; one more waits |
/// | `time` | 10 s | for a request, from its head to its answer |
/// | `drain` | 15 s | for requests under way when the server is told to stop |
/// | `idle` | 75 s | that a connection may be silent |
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Numbers of an answer.
    pub numbers: usize,
    /// Requests under way.
    pub in_flight: usize,
    /// Connections.
    pub connections: usize,
    /// For a request.
    pub time: Duration,
    /// For the requests under way at the end.
    pub drain: Duration,
    /// That a connection may be silent.
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
    /// Says what is out of range, if something is.
    ///
    /// # Errors
    /// When a limit is 0, or a request may take longer than the server waits for it at the end.
    pub fn check(&self) -> negmm::Result<()> {
        let counts = [
            ("max-body", self.body),
            ("max-rows", self.rows),
            ("max-answers", self.numbers),
            ("max-requests", self.in_flight),
            ("max-connections", self.connections),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(negmm::Error::options(format!("{name} must be at least 1, found 0")));
        }
        if self.time.is_zero() || self.time >= self.drain {
            let (time, drain) = (self.time.as_secs_f64(), self.drain.as_secs_f64());
            return Err(negmm::Error::options(format!(
                "timeout must be above 0 and below drain, so that every request is answered: found {time} and {drain} seconds"
            )));
        }
        Ok(())
    }
}
