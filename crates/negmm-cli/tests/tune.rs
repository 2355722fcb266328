//! `negmm tune`: killed and resumed, sharded and merged, it gives the same bytes; errors leave the journal as it is.

use crate::common;

use common::{Folder, rows};

/// A search of 18 configurations on 3 splits.
const SEARCH: [&str; 13] = [
    "tune",
    "data.csv",
    "--target",
    "y",
    "--try",
    "learning-rate=0.001,0.01,0.03",
    "--try",
    "components=1,2,3",
    "--try",
    "eta=0,0.5",
    "--folds",
    "3",
    "--quiet",
];

fn search<'a>(journal: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = SEARCH.to_vec();
    arguments.extend(["--set", "hidden=16", "--set", "epochs=60", "--journal", journal]);
    arguments.extend(more);
    arguments
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", rows(240));
    folder
}

fn finished(folder: &Folder, journal: &str) -> usize {
    let text = std::fs::read_to_string(folder.path(journal).join("trials.jsonl")).unwrap_or_default();
    text.matches('\n').count().saturating_sub(1)
}

/// The results of a search: the ranking and the model.
fn result(folder: &Folder, journal: &str) -> (Vec<u8>, Vec<u8>) {
    let read = |name: &str| std::fs::read(folder.path(journal).join(name)).unwrap();
    (read("result.json"), read("best.negmm"))
}

/// A search that the system kills within a line of the journal, by a limit on the file size.
#[test]
#[cfg(unix)]
fn a_search_killed_ten_times_gives_the_same_bytes() {
    let folder = folder();
    let search = |journal| search(journal, &["--threads", "2"]);
    folder.done(&search("whole"));
    let path = folder.path("killed").join("trials.jsonl");
    for kilobytes in 2..12 {
        let limited = format!("ulimit -c 0 -f {kilobytes} && exec \"$0\" \"$@\"");
        let program = folder.command(&search("killed"));
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &limited]).arg(program.get_program()).args(program.get_args());
        let output = bash.current_dir(folder.path("")).output().unwrap();
        assert_eq!(output.status.code(), None, "killed: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(path.metadata().unwrap().len(), 1024 * kilobytes);
    }
    assert!((1..54).contains(&finished(&folder, "killed")));
    assert!(!std::fs::read(&path).unwrap().ends_with(b"\n"), "a line was being written");
    folder.done(&[search("killed"), vec!["--json"]].concat());
    assert_eq!(finished(&folder, "killed"), 54);
    assert_eq!(result(&folder, "killed"), result(&folder, "whole"));
    // Again: nothing is left to do, and nothing changes.
    folder.done(&search("killed"));
    assert_eq!(finished(&folder, "killed"), 54);
    assert_eq!(result(&folder, "killed"), result(&folder, "whole"));
}

#[test]
fn joined_shards_give_the_same_bytes() {
    let folder = folder();
    let searches: [&[&str]; 3] =
        [&[], &["--search", "random", "--trials", "5"], &["--search", "halving", "--factor", "2", "--by", "crps"]];
    for (number, more) in searches.into_iter().enumerate() {
        let [whole, one, two, joined] = ["whole", "one", "two", "joined"].map(|name| format!("{name}-{number}"));
        folder.done(&search(&whole, more));
        let with = |extra: &[&'static str]| [more, extra].concat();
        for (journal, shard) in [(&one, "1/2"), (&two, "2/2")] {
            let outcome = folder.done(&search(journal, &with(&["--shard", shard])));
            assert!(outcome.text().contains(&format!("the trials of shard {shard}")), "{}", outcome.text());
            assert!(!folder.path(journal).join("result.json").exists());
        }
        let merge = format!("{one},{two}");
        let arguments = [search(&joined, more), vec!["--merge", &merge]].concat();
        folder.done(&arguments);
        assert_eq!(result(&folder, &joined), result(&folder, &whole), "{more:?}");
    }
}

#[test]
fn the_best_configuration_is_saved_and_heads_the_table() {
    let folder = folder();
    let outcome = folder.done(&search("j", &["--by", "rmse", "-o", "m.negmm"]));
    let text = outcome.text();
    assert!(text.contains("240 rows, target \"y\": 18 configurations on 3 splits"), "{text}");
    assert!(text.contains("… and 8 more") && text.contains("best RMSE first"), "{text}");
    folder.done(&["evaluate", "m.negmm", "data.csv"]);
    let json = folder.done(&[search("j", &["--by", "rmse", "-o", "m.negmm"]), vec!["--json"]].concat()).json();
    let ranking = json["result"]["ranking"].as_array().unwrap();
    let means: Vec<f64> = ranking.iter().map(|entry| entry["rmse"]["mean"].as_f64().unwrap()).collect();
    assert!(means.len() == 18 && means.is_sorted(), "{means:?}");
    // Another criterion selects from the same trials.
    let outcome = folder.done(&search("j", &["--by", "crps", "-o", "m.negmm"]));
    assert!(outcome.text().contains("best CRPS first"));
    // The default search space.
    folder.done(&[
        "tune",
        "data.csv",
        "--target",
        "y",
        "--journal",
        "k",
        "--trials",
        "2",
        "--folds",
        "2",
        "--set",
        "epochs=3",
    ]);
}

#[test]
fn invalid_searches_are_refused() {
    let folder = folder();
    folder.refused(&search("j", &["--by", "width"]), 2, "by must be nll, crps or rmse, found \"width\"");
    folder.refused(&search("j", &["--search", "best"]), 2, "search must be grid, random or halving, found \"best\"");
    folder.refused(
        &search("j", &["--shard", "3/2"]),
        2,
        "shard must be i/n with i from 1 to n, such as 2/4, found \"3/2\"",
    );
    folder.refused(&search("j", &["--merge", "none"]), 1, "none: there is no such folder");
    folder.refused(&search("j", &["--try", "beta=1"]), 2, "beta is not an option of ne-gmm");
    let tune = |data, target| ["tune", data, "--target", target, "--journal", "j", "--try", "eta=0,1"];
    folder.refused(&tune("none.csv", "y"), 1, "none.csv: there is no such file or folder");
    let missing = folder.run(&tune("data.csv", "z"));
    assert!(missing.err.contains("there is no column \"z\""), "{}", missing.err);
    assert_eq!(folder.names(), ["data.csv"]);

    let small = ["--set", "epochs=2", "--folds", "2"];
    folder.done(&[&tune("data.csv", "y")[..], &small].concat());
    let before = std::fs::read(folder.path("j").join("trials.jsonl")).unwrap();
    let grid = ["tune", "data.csv", "--target", "y", "--journal", "j", "--try", "eta=0,0.5"];
    let other = folder.run(&[&grid[..], &small].concat());
    assert!(
        other.err.contains(
            "another search: its grid options is [\"eta\",[\"0\",\"1\"]], and here it is [\"eta\",[\"0\",\"0.5\"]];"
        ),
        "{}",
        other.err
    );
    folder.write("data.csv", rows(241));
    let other = folder.run(&[&tune("data.csv", "y")[..], &small].concat());
    assert!(other.err.contains("this journal is of another search: its data fingerprint is"), "{}", other.err);
    assert_eq!(other.code, Some(1));
    assert_eq!(std::fs::read(folder.path("j").join("trials.jsonl")).unwrap(), before);
}
