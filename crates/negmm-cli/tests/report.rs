//! Reports and plots on the command line.

use crate::common;

use common::{Folder, gzip, rows};

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

#[test]
fn the_page_and_its_plots_are_reproducible() {
    let folder = Folder::with_model();
    let outcome = folder.done(&["report", "ok.negmm", "ok.csv", "-o", "r.html", "--svg", "pictures"]);
    assert_eq!(outcome.err, "");
    let pictures = std::fs::read_dir(folder.path("pictures")).unwrap().count();
    assert_eq!(outcome.text(), format!("60 rows, wrote r.html and {pictures} plots in pictures\n"));
    assert!(pictures >= 15, "{pictures}");
    let page = text(&folder, "r.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("Scores are of the 60 rows in <bdi>ok.csv</bdi>"));
    assert!(text(&folder, "pictures/pit.svg").starts_with("<svg "));
    folder.done(&["report", "ok.negmm", "ok.csv", "-o", "again.html", "--threads", "1"]);
    assert!(folder.read("again.html") == folder.read("r.html"));
    let printed = folder.run_with_input(&["report", "ok.negmm", "-", "-o", "-"], &gzip(rows(60).as_bytes()));
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""));
    assert_eq!(printed.text().replace("standard input", "ok.csv"), page);
    let json = folder.done(&["report", "ok.negmm", "ok.csv", "--svg", "more", "--json"]).json();
    assert_eq!((&json["rows"], &json["sample"], &json["report"]), (&60.into(), &60.into(), &serde_json::Value::Null));
    assert_eq!(json["pictures"].as_array().unwrap().len(), pictures);
}

#[test]
fn fit_writes_a_report() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let outcome = folder.fit("ok.csv", "m", &["--report", "m.html"]);
    assert!(outcome.text().ends_with("\nsaved m and m.html\n"), "{}", outcome.text());
    let page = text(&folder, "m.html");
    assert!(page.contains("Scores are of the 9 rows in <bdi>ok.csv</bdi> that were held out in training"));
    folder.fit("ok.csv", "m", &["--report", "m.html", "--validation-fraction", "0"]);
    assert!(text(&folder, "m.html").contains("<b>The model was trained on these rows</b>"));
    let json = folder.fit("ok.csv", "m", &["--report", "m.html", "--json"]).json();
    assert_eq!(json["report"], "m.html");
    assert_eq!(folder.fit("ok.csv", "m", &["--json"]).json()["report"], serde_json::Value::Null);
}

#[test]
fn compare_draws_its_scores() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let compare =
        ["compare", "ok.csv", "--target", "y", "--methods", "mdn,constant", "--folds", "2", "--set", "epochs=2"];
    folder.done(&[&compare[..], &["--svg", "c.svg"]].concat());
    let svg = text(&folder, "c.svg");
    assert!(svg.contains("<title>Methods compared on ok: target y</title>") && svg.contains(">mdn</text>"), "{svg}");
    folder.refused(
        &[&compare[..], &["--svg", "ok.csv"]].concat(),
        2,
        "the plot would replace the data in ok.csv: use another --svg FILE",
    );
    let standard = [&compare[..], &["--svg", "-"]].concat();
    folder.refused(&standard, 2, "--svg needs the name of a file, not -");
}

#[test]
fn reports_that_are_refused() {
    let folder = Folder::with_model();
    let page = ["-o", "r.html"];
    let report = |more: &[&'static str]| [&["report", "ok.negmm"], more].concat();
    folder.refused(&report(&["ok.csv"]), 2, "missing required argument --output <FILE>; see --help");
    folder.refused(
        &report(&["ok.csv", "-o", "ok.csv"]),
        2,
        "the report would replace the data in ok.csv: use another -o FILE",
    );
    folder.refused(
        &report(&["ok.csv", "-o", "ok.negmm"]),
        2,
        "the report would replace the model in ok.negmm: use another -o FILE",
    );
    let both = "the report and --json cannot both go to standard output: use -o FILE";
    let outcome = folder.run(&report(&["ok.csv", "-o", "-", "--json"]));
    assert_eq!((outcome.code, outcome.json()["error"].as_str()), (Some(2), Some(both)));
    folder.refused(&report(&["none.csv", "-o", "r.html"]), 1, "none.csv: there is no such file or folder");
    folder.refused(&report(&["ok.csv", "-o", "none/r.html"]), 1, "none/r.html: the folder none does not exist");
    folder.write("head.csv", "x,c,y\n");
    folder.refused(&[&report(&["head.csv"])[..], &page].concat(), 1, "head.csv: there is a header but no row of data");
    folder.write("gap.csv", "x,c,y\n0.5,a,\n0.5,a,\n");
    let missing = "gap.csv, row 1, column \"y\": the target is missing";
    folder.refused(&[&report(&["gap.csv"])[..], &page].concat(), 1, missing);
    folder.refused(
        &["fit", "ok.csv", "--target", "y", "-o", "m", "--report", "-"],
        2,
        "--report needs the name of a file, not -",
    );
    folder.refused(
        &["fit", "ok.csv", "--target", "y", "-o", "m", "--report", "m"],
        2,
        "the model and the report would both go to m: use another --report FILE",
    );
}
