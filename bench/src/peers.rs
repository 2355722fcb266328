//! The peers: Python scripts in `bench/peers`, run on the same core.

use std::path::Path;
use std::process::Command;

/// A script with its arguments.
#[derive(Debug)]
pub struct Peer {
    /// Name in tables.
    pub name: &'static str,
    script: &'static str,
    arguments: &'static [&'static str],
}

/// Straightforward JAX, JAX tuned by hand after profiling, PyTorch without compilation.
pub const PEERS: [Peer; 3] = [
    Peer { name: "JAX, jit and scan over epochs", script: "jax_step.py", arguments: &["--variant", "plain"] },
    Peer { name: "JAX, loss tuned by hand", script: "jax_step.py", arguments: &["--variant", "tuned"] },
    Peer { name: "PyTorch, eager", script: "torch_step.py", arguments: &["--variant", "plain"] },
];

impl Peer {
    /// Whether its script accepts `--embedding`.
    pub fn embeds(&self) -> bool {
        self.script == "jax_step.py"
    }

    /// Microseconds per step of a fresh and of a converged network.
    pub fn run(&self, python: &str, arguments: &[String]) -> Result<[f64; 2], String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(self.script);
        let output = Command::new(python)
            .arg(&script)
            .args(self.arguments)
            .args(arguments)
            .output()
            .map_err(|error| format!("{python}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{}: {}", script.display(), String::from_utf8_lossy(&output.stderr)));
        }
        let line: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("{}: {error}", script.display()))?;
        let number = |name: &str| line[name].as_f64().ok_or(format!("{}: no {name}", script.display()));
        Ok([number("fresh_us")?, number("converged_us")?])
    }
}

/// Pins this process and its future children to one core; returns whether that worked.
pub fn pin(core: usize) -> bool {
    let process = std::process::id().to_string();
    let taskset = Command::new("taskset").args(["-cp", &core.to_string(), &process]).output();
    taskset.is_ok_and(|output| output.status.success())
}
