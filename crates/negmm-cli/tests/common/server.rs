//! `negmm serve` in a test: a server on its own port, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::Value;

use super::Folder;

/// A server that ends with the test.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Of `ok.negmm`.
    pub fn start(folder: &Folder, more: &[&str]) -> Self {
        Self::of(folder, &[&["ok.negmm"], more].concat())
    }

    /// Of the models that are named, with more options.
    pub fn of(folder: &Folder, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--address", "127.0.0.1:0", "--json"];
        arguments.extend(more);
        let mut child = folder.command(&arguments).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{line:?} {text}")
        });
        // Its messages must not fill the pipe.
        let mut messages = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut messages, &mut std::io::sink()));
        Self { child, address: listening["address"].as_str().unwrap().parse().unwrap() }
    }

    pub fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits until this number of requests is in flight, without the one that reads it.
    pub fn wait_for_requests(&self, count: usize) {
        let expected = format!("negmm_in_flight {}\n", count + 1);
        super::wait_until("requests are under way", || self.get("/metrics").text().contains(&expected));
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// CSV there, and as CSV back.
    pub fn csv(&self, path: &str, body: &str) -> Reply {
        self.ask("POST", path, &[("content-type", "text/csv")], body.as_bytes())
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        send(&mut stream, method, path, headers, body);
        Reply::read(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(stream: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    // A server that refuses a body may close before it has all of it.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(b"\r\n"))
        .and_then(|()| stream.write_all(body));
}

/// What came back.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn read(mut stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len().saturating_sub(4));
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The body as text, of an answer that is good.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        assert_eq!(self.status, 200, "{text}");
        text
    }

    #[track_caller]
    pub fn refused(&self, status: u16, part: &str) {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        assert!(self.json()["error"].as_str().unwrap().contains(part), "{body}");
    }
}
