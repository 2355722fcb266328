//! The program `negmm`, run as users run it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs the program in a folder; its JSON, and what it printed to standard error.
///
/// # Errors
/// When the program cannot be run, fails, or prints no JSON.
pub fn called(program: &str, folder: &Path, arguments: &[&str]) -> Result<(Value, String), String> {
    let program = std::fs::canonicalize(program).map_err(|error| format!("{program}: {error}"))?;
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| error.to_string())?;
    let warnings = String::from_utf8_lossy(&output.stderr).to_string();
    if !output.status.success() {
        return Err(format!("{arguments:?}: {warnings}"));
    }
    let value = serde_json::from_slice(&output.stdout).map_err(|error| format!("{arguments:?}: {error}"))?;
    Ok((value, warnings))
}
