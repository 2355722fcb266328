//! The Markdown files of the repository: lengths of lines, links, and the tree that `ARCHITECTURE.md` shows.

use std::path::{Path, PathBuf};

/// The longest line in characters.
const LONGEST: usize = 120;

/// The most lines of `README.md` and of `ARCHITECTURE.md`.
const MOST_LINES: usize = 200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files in `folder` and below, without builds, hidden folders and installed packages.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let skipped =
                name.starts_with('.') || name.starts_with("target") || name.contains("venv") || name == "dist";
            if !skipped && !path.join("pyvenv.cfg").exists() {
                found.extend(pages(&path));
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Longer lines are allowed in what a program printed, between fences marked `text`.
#[test]
fn no_line_is_longer_than_120_characters() {
    let mut long = Vec::new();
    for page in pages(&root()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut fence: Option<String> = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = line.trim_start().strip_prefix("```") {
                fence = if fence.is_some() { None } else { Some(mark.to_string()) };
            } else if line.chars().count() > LONGEST && fence.as_deref() != Some("text") {
                long.push(format!("{}:{}", page.display(), number + 1));
            }
        }
    }
    assert!(long.is_empty(), "lines of more than {LONGEST} characters:\n{}", long.join("\n"));
}

#[test]
fn the_first_pages_are_short() {
    for page in ["README.md", "ARCHITECTURE.md"] {
        let lines = std::fs::read_to_string(root().join(page)).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{page} has {lines} lines, {MOST_LINES} at most");
    }
}

#[test]
fn links_lead_to_files() {
    let mut broken = Vec::new();
    for page in pages(&root()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let files =
            targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
        for target in files {
            let file = target.split('#').next().unwrap();
            if !page.parent().unwrap().join(file).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links to nothing:\n{}", broken.join("\n"));
}

/// The tree in `ARCHITECTURE.md`: two spaces a level, a name, then what it is. A name may list several, `a.rs, b.rs`.
#[test]
fn every_name_in_the_tree_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let tree = text.split("```tree\n").nth(1).expect("a block marked tree").split("```").next().unwrap();
    let mut above: Vec<String> = Vec::new();
    let mut missing = Vec::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let level = (line.len() - line.trim_start().len()) / 2;
        let names = line.trim_start().split("  ").next().unwrap();
        above.truncate(level);
        assert_eq!(above.len(), level, "the indent of {line:?}");
        let folder = root().join(above.concat());
        for name in names.split(", ") {
            if !folder.join(name).exists() {
                missing.push(format!("{}{name}", above.concat()));
            }
        }
        above.push(names.to_string());
    }
    assert!(missing.is_empty(), "in the tree but not in the repository:\n{}", missing.join("\n"));
}
