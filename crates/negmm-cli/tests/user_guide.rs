//! The user guide (`docs/`): its commands run and print what the pages show, and every page is in the table of contents.
//!
//! A block marked `sh` is run by bash, in a folder with the files of `docs/data`; the blocks of a page one after the
//! other. A block marked `text` that follows is the expected standard output: a `…` matches any text, on a line of
//! its own for any lines. `sh no-run` marks commands that install something or take hours.
//! `NEGMM_BLESS=1 cargo test -p negmm-cli --test all user_guide` writes the output into the pages.

#![cfg(unix)]

use crate::common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;

/// A fenced block: its language and the lines between its fences.
struct Block {
    language: String,
    lines: std::ops::Range<usize>,
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|own| own == ending)).collect();
    files.sort();
    files
}

fn lines(page: &Path) -> Vec<String> {
    std::fs::read_to_string(page).unwrap().lines().map(str::to_string).collect()
}

fn blocks(lines: &[String]) -> Vec<Block> {
    let fences: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].starts_with("```")).collect();
    assert!(fences.len().is_multiple_of(2), "a block without its closing fence");
    let block = |fences: &[usize]| Block { language: lines[fences[0]][3..].into(), lines: fences[0] + 1..fences[1] };
    fences.chunks(2).map(block).collect()
}

/// Whether `printed` matches `shown`, where `…` matches any lines, or within a line any text.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], _) => printed.is_empty(),
        ([first, rest @ ..], _) if first == "…" => (0..=printed.len()).any(|from| matches(rest, &printed[from..])),
        ([first, rest @ ..], [line, more @ ..]) => line_matches(first, line) && matches(rest, more),
        (_, []) => false,
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((start, end)) = shown.split_once('…') else { return shown == printed };
    let Some(rest) = printed.strip_prefix(start) else { return false };
    let mut offsets = rest.char_indices().map(|(offset, _)| offset).chain([rest.len()]);
    offsets.any(|offset| line_matches(end, &rest[offset..]))
}

/// The standard output of commands, run by bash in `folder` with the built program.
fn printed(folder: &Folder, commands: &str, location: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_negmm")).parent().unwrap().to_str().unwrap();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", commands]).env("PATH", path).current_dir(folder.path(""));
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{location}:\n{commands}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn commands_print_what_pages_show() {
    let bless = std::env::var_os("NEGMM_BLESS").is_some();
    let mut differences = Vec::new();
    for page in files(&docs(), "md") {
        let folder = Folder::new();
        for file in files(&docs().join("data"), "csv") {
            folder.write(file.file_name().unwrap().to_str().unwrap(), std::fs::read(&file).unwrap());
        }
        let (mut text, mut moved) = (lines(&page), 0isize);
        let blocks = blocks(&text);
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "sh") {
            let here = |lines: &std::ops::Range<usize>| {
                lines.start.saturating_add_signed(moved)..lines.end.saturating_add_signed(moved)
            };
            let location = format!("{}, line {}", page.display(), block.lines.start);
            let printed = printed(&folder, &text[here(&block.lines)].join("\n"), &location);
            let Some(shown) = blocks.get(number + 1).filter(|next| next.language == "text") else { continue };
            let shown = here(&shown.lines);
            if !matches(&text[shown.clone()], &printed) {
                if !bless {
                    differences.push(format!("{location} prints\n{}", printed.join("\n")));
                    continue;
                }
                moved += printed.len() as isize - shown.len() as isize;
                text.splice(shown, printed);
            }
        }
        if bless {
            std::fs::write(&page, text.join("\n") + "\n").unwrap();
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn every_command_is_run() {
    for page in files(&docs(), "md") {
        let text = lines(&page);
        for block in blocks(&text).into_iter().filter(|block| !block.language.starts_with("sh")) {
            let command = block.lines.clone().find(|line| text[*line].starts_with("negmm "));
            let line = command.map(|line| line + 1);
            assert_eq!(line, None, "{}: a command in a block not marked sh", page.display());
        }
    }
}

#[test]
fn every_page_is_in_the_contents() {
    let contents = links(&docs().join("README.md"));
    for page in files(&docs(), "md") {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || contents.iter().any(|link| link == name), "{name} is not in docs/README.md");
    }
}

/// The files that a page links to.
fn links(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
    files.map(|target| target.split('#').next().unwrap().to_string()).collect()
}

#[test]
fn ellipses_match_any_text() {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    let printed = lines("read 5 rows\na\nb\ntrained in 3.1 s");
    for shown in ["read 5 rows\na\nb\ntrained in 3.1 s", "…", "read … rows\n…\ntrained in … s", "…\nb\n…"] {
        assert!(matches(&lines(shown), &printed), "{shown}");
    }
    for shown in ["", "read 5 rows", "…\na", "read … row\n…", "read 5 rows\nb\n…"] {
        assert!(!matches(&lines(shown), &printed), "{shown}");
    }
}
