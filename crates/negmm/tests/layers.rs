//! The order of the layers: which crate and which module may use which. Every `use` and every path of the sources is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates from the lowest layer to the highest. A crate may use those on lines above its own.
const LAYERS: [&[&str]; 7] = [
    &["negmm_dist", "negmm_draw"],
    &["negmm_nn"],
    &["negmm_data"],
    &["negmm"],
    &["negmm_cuda", "negmm_onnx", "negmm_report", "negmm_paper"],
    &["negmm_serve"],
    &["negmm_cli"],
];

/// A module of a crate, by its outermost name.
type Module = (String, String);

/// Who uses whom, and in which file.
type Uses = BTreeMap<(Module, Module), BTreeSet<String>>;

#[test]
fn crates_use_those_of_lower_layers_alone() {
    let layer = |name: &str| LAYERS.iter().position(|names| names.contains(&name));
    let wrong: Vec<String> = uses()
        .into_iter()
        .filter(|(((from, _), (to, _)), _)| from != to && layer(from) <= layer(to))
        .map(|(((from, _), (to, _)), files)| format!("{from} uses {to}: {files:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_a_crate_have_no_cycles() {
    let uses = uses();
    let wrong: Vec<String> = uses
        .keys()
        .filter(|(from, to)| from != to && from.0 == to.0 && reaches(&uses, to, from))
        .map(|edge| format!("{}: {} uses {}: {:?}", edge.0.0, edge.0.1, edge.1.1, uses[edge]))
        .collect();
    assert!(wrong.is_empty(), "in cycles:\n{}", wrong.join("\n"));
}

/// Whether `to` can be reached from `from`.
fn reaches(uses: &Uses, from: &Module, to: &Module) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        let next = uses.keys().filter(|(from, _)| from == module).map(|(_, to)| to);
        open.extend(next.filter(|to| seen.insert(to)));
    }
    false
}

/// All edges between modules of the crates of this repository.
fn uses() -> Uses {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut uses = Uses::new();
    for name in LAYERS.concat() {
        let source = crates.join(name.replace('_', "-")).join("src");
        let exports = exports(&code(&source.join("lib.rs")));
        for file in files(&source) {
            let within: Vec<String> = within(&source, &file);
            let Some(own) = within.first() else { continue };
            for path in paths(&code(&file)) {
                let Some((to, module)) = target(&path, name, &within, &exports) else { continue };
                let edge = ((name.to_string(), own.clone()), (to, module));
                uses.entry(edge).or_default().insert(file.strip_prefix(crates).unwrap().display().to_string());
            }
        }
    }
    assert!(uses.len() > 100, "the sources were not read: {} edges", uses.len());
    uses
}

/// The files of a folder and of those in it, tests left out.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.file_stem().unwrap().to_string_lossy().ends_with("tests")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The path of the module that a file is, below the crate.
fn within(source: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(source).unwrap().with_extension("");
    let mut names: Vec<String> = below.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib" || name == "main") {
        names.pop();
    }
    names
}

/// The text of a file without comments, strings and unit tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut code = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '/' if characters.peek() == Some(&'/') => {
                characters.by_ref().find(|character| *character == '\n');
                code.push('\n');
            }
            // A string; quotes as characters are '"' alone.
            '"' if !code.ends_with('\'') => {
                while let Some(inner) = characters.next() {
                    match inner {
                        '\\' => drop(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                code.push_str("\"\"");
            }
            _ => code.push(character),
        }
    }
    code
}

/// All paths that `use` names or that begin with `crate`, `super` or a crate of this repository.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let words = statement.trim_start();
        if let Some(at) = words.rfind("use ").filter(|at| *at == 0 || words[..*at].ends_with(char::is_whitespace)) {
            leaves("", &words[at + 4..], &mut paths);
        }
    }
    let boundary = |character: char| !(character.is_alphanumeric() || character == '_' || character == ':');
    for path in code.split(boundary).filter(|path| path.contains("::")) {
        paths.push(path.split("::").map(str::to_string).collect());
    }
    paths
}

/// The paths of a tree of `use`.
fn leaves(prefix: &str, tree: &str, paths: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = format!("{prefix}{}", tree.split(" as ").next().unwrap());
        return paths.push(path.split("::").map(|name| name.trim().to_string()).collect());
    };
    let (prefix, inner) =
        (format!("{prefix}{}", &tree[..open]), &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let (mut depth, mut start) = (0, 0);
    for (at, character) in inner.char_indices().chain([(inner.len(), ',')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    leaves(&prefix, &inner[start..at], paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// What the root of a crate has by which module: modules by themselves, re-exported items by theirs.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in root.split(';').map(str::trim) {
        if let Some((_, name)) = statement.rsplit_once("mod ") {
            exports.insert(name.to_string(), name.to_string());
        }
        if let Some((_, tree)) = statement.rsplit_once("use ") {
            let mut paths = Vec::new();
            leaves("", tree, &mut paths);
            for path in paths {
                let path: Vec<&String> = path.iter().filter(|name| *name != "crate" && *name != "self").collect();
                if let [module, .., item] = path[..] {
                    exports.entry(item.clone()).or_insert(module.clone());
                }
            }
        }
    }
    exports
}

/// The crate and the module that a path of the module `within` of the crate `own` leads to.
fn target(
    path: &[String],
    own: &str,
    within: &[String],
    exports: &BTreeMap<String, String>,
) -> Option<(String, String)> {
    let of_own = |name: &String| {
        let module = exports.get(name)?;
        (!module.starts_with("negmm")).then(|| (own.to_string(), module.clone()))
    };
    match path.first()?.as_str() {
        "crate" => of_own(path.get(1)?),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let base = within.len().checked_sub(up)?;
            of_own(within[..base].iter().chain(&path[up..]).next()?)
        }
        name if LAYERS.concat().contains(&name) && name != own => Some((name.to_string(), path.get(1)?.clone())),
        _ => None,
    }
}
