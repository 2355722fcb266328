//! Ctrl-C and SIGTERM: the program ends with 130 or 143 and leaves no incomplete file.
#![cfg(unix)]

use crate::common;

use std::io::Write;
use std::process::{Child, Command, Stdio};

use common::{Folder, rows};

/// Waits until the output has at least `bytes`, sends SIGINT, and checks the files.
fn interrupt(folder: &Folder, child: Child, bytes: u64) {
    stop(folder, child, bytes, "-INT", 130);
}

fn stop(folder: &Folder, mut child: Child, bytes: u64, signal: &str, code: i32) {
    common::wait_until("the program writes", || {
        let written = |name: &String| folder.path(name).metadata().is_ok_and(|file| file.len() >= bytes);
        folder.names().iter().any(|name| name.starts_with(".negmm-") && written(name))
    });
    assert!(child.try_wait().unwrap().is_none(), "it was to take longer");
    let stdin = child.stdin.take();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(code));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted\n");
    assert!(output.stdout.is_empty());
}

#[test]
fn during_a_fit() {
    let folder = Folder::with_model();
    let before = folder.read("ok.negmm");
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "ok.negmm", "--steps", "100000000"];
    interrupt(&folder, folder.command(&fit).spawn().unwrap(), 0);
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);
    assert_eq!(folder.read("ok.negmm"), before);
}

#[test]
fn by_a_scheduler() {
    let folder = Folder::with_model();
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "ok.negmm", "--steps", "100000000"];
    stop(&folder, folder.command(&fit).spawn().unwrap(), 0, "-TERM", 143);
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);
}

#[test]
fn while_waiting_for_data() {
    let folder = Folder::new();
    let fit = ["fit", "-", "--target", "y", "-o", "m"];
    interrupt(&folder, folder.command(&fit).stdin(Stdio::piped()).spawn().unwrap(), 0);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn during_a_predict() {
    let folder = Folder::with_model();
    let predict = ["predict", "ok.negmm", "-", "-o", "p.csv"];
    let mut child = folder.command(&predict).stdin(Stdio::piped()).spawn().unwrap();
    // Many rows, and more to come.
    child.stdin.as_mut().unwrap().write_all(rows(50_000).as_bytes()).unwrap();
    interrupt(&folder, child, 1);
    assert_eq!(folder.names(), ["ok.csv", "ok.negmm"]);

    folder.write("d.csv", rows(200_000));
    let predict = ["predict", "ok.negmm", "d.csv", "-o", "p.csv", "--draws", "50"];
    interrupt(&folder, folder.command(&predict).spawn().unwrap(), 1);
    assert_eq!(folder.names(), ["d.csv", "ok.csv", "ok.negmm"]);
}
