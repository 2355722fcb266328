//! Ctrl-C and SIGTERM: the program ends with 130 or 143 and leaves nothing half-written, whatever it was doing.
#![cfg(unix)]

use crate::common;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Folder, rows};

/// Waits until the program has begun its output, presses Ctrl-C, and looks at what is left.
fn interrupt(folder: &Folder, child: Child) {
    stop(folder, child, "-INT", 130);
}

fn stop(folder: &Folder, mut child: Child, signal: &str, code: i32) {
    for _ in 0..1000 {
        if folder.names().iter().any(|name| name.starts_with(".negmm-")) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(folder.names().iter().any(|name| name.starts_with(".negmm-")), "{:?}", folder.names());
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "it was to take longer");
    let stdin = child.stdin.take();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(code));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: stopped before the end\n");
    assert!(output.stdout.is_empty());
}

#[test]
fn during_a_fit() {
    let folder = Folder::with_model();
    let before = folder.read("ok.negmm");
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "ok.negmm", "--steps", "100000000"];
    interrupt(&folder, folder.command(&fit).spawn().unwrap());
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);
    assert_eq!(folder.read("ok.negmm"), before);
}

#[test]
fn by_a_scheduler() {
    let folder = Folder::with_model();
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "ok.negmm", "--steps", "100000000"];
    stop(&folder, folder.command(&fit).spawn().unwrap(), "-TERM", 143);
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);
}

#[test]
fn while_waiting_for_data() {
    let folder = Folder::new();
    let fit = ["fit", "-", "--target", "y", "-o", "m"];
    interrupt(&folder, folder.command(&fit).stdin(Stdio::piped()).spawn().unwrap());
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn during_a_predict() {
    let folder = Folder::with_model();
    let predict = ["predict", "ok.negmm", "-", "-o", "p.csv"];
    let mut child = folder.command(&predict).stdin(Stdio::piped()).spawn().unwrap();
    // Many rows, and more to come.
    child.stdin.as_mut().unwrap().write_all(rows(50_000).as_bytes()).unwrap();
    interrupt(&folder, child);
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);

    folder.write("d.csv", rows(20_000));
    let predict = ["predict", "ok.negmm", "d.csv", "-o", "p.csv", "--draws", "2000"];
    interrupt(&folder, folder.command(&predict).spawn().unwrap());
    assert_eq!(folder.names(), ["d.csv", "ok.csv", "ok.negmm"]);
}
