//! Runs the program in a temporary folder and inspects its output.

#![allow(dead_code)]

#[path = "../../../negmm/tests/common/external.rs"]
pub mod external;
#[cfg(all(unix, feature = "serve"))]
pub mod server;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What a run gave.
pub struct Outcome {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Outcome {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    /// Standard output as the one line of JSON it must be.
    pub fn json(&self) -> serde_json::Value {
        let text = self.text();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

/// A folder that vanishes.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With `ok.csv` (x, c, y; 60 rows) and a model of it, `ok.negmm`, which is fitted once for all tests.
    pub fn with_model() -> Self {
        static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
        let folder = Self::new();
        folder.write("ok.csv", rows(60));
        let model = MODEL.get_or_init(|| {
            folder.fit("ok.csv", "ok.negmm", &[]);
            folder.read("ok.negmm")
        });
        folder.write("ok.negmm", model);
        folder
    }

    /// Runs it to its good end; the most memory that it took, in KiB.
    #[cfg(target_os = "linux")]
    pub fn most_memory(&self, arguments: &[&str]) -> u64 {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
            peak = peak.max(kib.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(child.wait().unwrap().success());
        peak
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, about to run in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_negmm"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        // Temporary files are left in the folder, and vanish with it.
        command.env("TMPDIR", self.0.path()).env("TMP", self.0.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with_input(arguments, b"")
    }

    /// Runs with `input` on standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that does not want its input closes it.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Outcome { code: output.status.code(), out: output.stdout, err: String::from_utf8(output.stderr).unwrap() }
    }

    /// As [`Folder::run`], within this process: sooner, for everything but standard input and signals.
    pub fn call(&self, arguments: &[&str]) -> Outcome {
        // The current folder is that of all threads.
        static CURRENT: Mutex<()> = Mutex::new(());
        let typed: Vec<OsString> = std::iter::once("negmm").chain(arguments.iter().copied()).map(Into::into).collect();
        let _current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        std::env::set_current_dir(self.0.path()).unwrap();
        let captured = negmm_cli::run_captured(&typed);
        std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
        let err = String::from_utf8(captured.err).unwrap();
        Outcome { code: Some(captured.code.into()), out: captured.out, err }
    }

    /// Runs and expects success.
    pub fn done(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.err);
        outcome
    }

    /// A small fit of `y`.
    pub fn fit(&self, data: &str, model: &str, more: &[&str]) -> Outcome {
        let mut arguments = vec!["fit", data, "--target", "y", "-o", model, "--epochs", "3", "--hidden", "4"];
        if !more.contains(&"--method") {
            arguments.extend(["--method", "ne-gmm"]);
        }
        arguments.extend(more);
        self.done(&arguments)
    }

    /// Runs within this process and expects exit code `code`, `message` as the one line on standard error, nothing on standard output and no
    /// file more or less than before.
    #[track_caller]
    pub fn refused(&self, arguments: &[&str], code: i32, message: &str) {
        let before = self.names();
        let outcome = self.call(arguments);
        assert_eq!(outcome.err, format!("error: {message}\n"), "{arguments:?}");
        assert_eq!(outcome.code, Some(code), "{arguments:?}");
        assert!(outcome.out.is_empty(), "{arguments:?}: {}", outcome.text());
        assert_eq!(self.names(), before, "{arguments:?}");
    }

    /// As [`Folder::refused`], for a small fit of `y` from `data.csv` with these bytes.
    #[track_caller]
    pub fn data_refused(&self, bytes: impl AsRef<[u8]>, message: &str) {
        self.write("data.csv", bytes);
        let fit = ["fit", "data.csv", "--target", "y", "-o", "new.negmm", "--epochs", "2", "--method", "ne-gmm"];
        self.refused(&fit, 1, message);
    }
}

/// Looks again and again whether something is so; a machine under load has minutes for it.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A CSV text of x, c and y.
pub fn rows(count: usize) -> String {
    let mut text = String::from("x,c,y\n");
    for row in 0..count {
        // A cheap scatter in [0, 1).
        let x = (row as f64 * 0.618_033_988_749).fract();
        let noise = (row as f64 * 0.414_213_562_373).fract();
        let c = if row % 3 == 0 { "a" } else { "b" };
        text.push_str(&format!("{x},{c},{}\n", 2.0 * x + noise));
    }
    text
}

/// `bytes` as gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
