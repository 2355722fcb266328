//! `negmm paper`: its files, its journal and its errors.
#![cfg(feature = "paper")]

use crate::common;

use common::Folder;

const SMALL: [&str; 8] = ["--quick", "--repeats", "2", "--methods", "mdn,ngboost", "--set", "epochs=20", "--quiet"];

fn toy1<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["paper", "toy1"][..], &SMALL, more].concat()
}

#[test]
fn tables_and_figures_are_written() {
    let folder = Folder::new();
    let text = folder.done(&toy1(&["-o", "out"])).text();
    assert!(text.starts_with("toy1: errors of the recovered distribution, 2 repeats, quick grid"), "{text}");
    assert!(text.contains("m, oracle") && text.contains("m, validation") && text.contains("paper"), "{text}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["toy1-epochs.svg", "toy1-oracle.svg", "toy1-validation.svg", "toy1.csv", "toy1.json", "toy1.md"]
    );
    let json = folder.done(&toy1(&["--json"])).json();
    let first = &json["table"][0];
    assert_eq!((first["data"].as_str(), first["selection"].as_str()), (Some("toy1"), Some("oracle")));
    assert_eq!((first["metric"].as_str(), first["repeats"].as_u64()), (Some("m"), Some(2)));
    assert!(first["mean"].is_f64() && first["se"].is_f64() && first["paper"].is_f64() && json["seconds"].is_f64());
}

#[test]
fn joined_shards_give_the_same_table() {
    let folder = Folder::new();
    folder.done(&toy1(&["-o", "whole"]));
    for shard in ["1/2", "2/2"] {
        let journal = if shard == "1/2" { "a" } else { "b" };
        let outcome = folder.done(&toy1(&["--journal", journal, "--shard", shard]));
        assert!(outcome.text().contains(&format!("shard {shard}")), "{}", outcome.text());
    }
    folder.done(&toy1(&["--journal", "c", "--merge", "a,b", "-o", "joined"]));
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(read("joined/toy1.csv"), read("whole/toy1.csv"));
    assert_eq!(read("joined/toy1-oracle.svg"), read("whole/toy1-oracle.svg"));
    // A journal of another grid of settings.
    let other = folder.run(&["paper", "toy1", "--journal", "c", "--set", "epochs=21"]);
    assert!(other.err.contains("this journal is of another search: its changed is"), "{}", other.err);
    assert_eq!(other.code, Some(1));
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = Folder::new();
    folder.refused(&["paper", "toy3"], 2, "<EXPERIMENT> must be toy1, toy2, uci or finance, found \"toy3\"");
    folder.refused(&["paper", "uci", "--data", "nowhere"], 1, "nowhere: there is no such folder; use --data DIR");
    folder.refused(&["paper", "finance", "--data", "nowhere"], 1, "nowhere: there is no such folder; use --data DIR");
    folder.refused(&["paper", "uci", "--sets", "iris", "--data", "."], 2, "there is no set \"iris\"; the sets are boston, concrete, energy, energy_cooling, kin8nm, naval, protein, superconductivity, wine_red, wine_white, yacht");
    folder.refused(
        &["paper", "uci", "--sets", "boston", "--data", "."],
        1,
        "./uci/boston.csv.gz: there is no such file or folder",
    );
    folder.refused(&["paper", "toy1", "--splits", "3"], 2, "--splits is for uci");
    folder.refused(&["paper", "toy1", "--set", "volume=11"], 2, "there is no option \"volume\"");
    folder.refused(&["paper", "toy1", "--repeats", "0"], 2, "repeats must be at least 1, found 0");
    folder.refused(&["paper", "toy1", "--shard", "1/2"], 2, "--shard and --merge need --journal DIR");
    std::fs::create_dir(folder.path("uci")).unwrap();
    folder.write("uci/boston.csv.gz", common::gzip(b"a,b\n1,2\n3,4\n"));
    folder.refused(
        &["paper", "uci", "--sets", "boston", "--data", "."],
        1,
        "./uci/boston.csv.gz: expected a column \"medv\", found none",
    );
}
