//! Anybody's predictions on the command line: scores, recalibration, comparison, monitoring, report.

use crate::common;

use common::Folder;
use negmm::Rng;

/// The standard normal distribution.
mod normal {
    use negmm::Distribution;
    use negmm::family::Family;

    pub fn quantile(level: f64) -> f64 {
        Family::named("normal", &[]).unwrap().quantile(level)
    }

    pub fn cdf(z: f64) -> f64 {
        Family::named("normal", &[]).unwrap().cdf(z)
    }
}

/// Levels of the quantiles.
const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Rows of targets around a known centre, with quantiles of a model whose sd is `sd` times the right one and that is off by `shift`.
fn quantiles(rows: usize, seed: u64, sd: f64, shift: f64) -> String {
    let mut rng = Rng::new(seed, 0);
    let mut text = String::from("id,g,y,q0.05,q0.25,q0.5,q0.75,q0.95\n");
    for row in 0..rows {
        let centre = 4.0 * rng.uniform();
        let y = centre + normal::quantile(rng.uniform());
        let values = LEVELS.map(|level| (centre + shift + sd * normal::quantile(level)).to_string());
        text += &format!("{row},{},{y},{}\n", ["a", "b"][row % 2], values.join(","));
    }
    text
}

fn score(json: &serde_json::Value, name: &str) -> f64 {
    json["scores"][name]["mean"].as_f64().unwrap_or_else(|| panic!("{name}: {json}"))
}

#[test]
fn every_form_of_the_same_normal_distribution_has_nearly_the_same_scores() {
    let folder = Folder::new();
    let mut rng = Rng::new(3, 0);
    let files = ["normal.csv", "mixture.csv", "family.csv", "quantiles.csv", "draws.csv", "bins.csv", "interval.csv"];
    let header = |names: Vec<String>| format!("y,{}\n", names.join(","));
    let levels: Vec<f64> = (1..100).map(|level| f64::from(level) / 100.0).collect();
    let edges: Vec<f64> = (0..=60).map(|edge| -6.0 + 0.2 * f64::from(edge)).collect();
    let bins: Vec<String> = edges.windows(2).map(|ends| format!("bin_{:.1}_{:.1}", ends[0], ends[1])).collect();
    let mut texts = vec![
        "y,mean,sd\n".to_string(),
        "y,weight_1,mean_1,sd_1,weight_2,mean_2,sd_2\n".into(),
        "y,family,loc,scale\n".into(),
        header(levels.iter().map(|level| format!("q{level}")).collect()),
        header((1..=400).map(|draw| format!("draw_{draw}")).collect()),
        header(bins),
        "y,lower_0.5,upper_0.5,lower_0.9,upper_0.9\n".into(),
    ];
    for _ in 0..200 {
        let (mean, sd) = (rng.uniform(), 0.6 + 0.4 * rng.uniform());
        let mut draw = || mean + sd * normal::quantile(rng.uniform());
        let y = draw();
        texts[0] += &format!("{y},{mean},{sd}\n");
        texts[1] += &format!("{y},0.5,{mean},{sd},0.5,{mean},{sd}\n");
        texts[2] += &format!("{y},normal,{mean},{sd}\n");
        let line =
            |values: Vec<f64>| format!("{y},{}\n", values.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
        texts[3] += &line(levels.iter().map(|level| mean + sd * normal::quantile(*level)).collect());
        texts[4] += &line((0..400).map(|_| draw()).collect());
        let cdf = |edge: f64| normal::cdf((edge - mean) / sd);
        texts[5] += &line(edges.windows(2).map(|ends| cdf(ends[1]) - cdf(ends[0])).collect());
        texts[6] += &line([0.25, 0.75, 0.05, 0.95].map(|level| mean + sd * normal::quantile(level)).to_vec());
    }
    let mut exact = None;
    for (name, text) in files.iter().zip(&texts) {
        folder.write(name, text);
        let json = folder.done(&["score", name, "--target", "y", "--json"]).json();
        let found = ["crps", "log_score", "absolute_error", "interval_score_0.9"].map(|name| score(&json, name));
        let exact = *exact.get_or_insert(found);
        let tolerance = if *name == "draws.csv" {
            0.05
        } else if *name == "interval.csv" {
            0.02
        } else {
            0.005
        };
        for (found, exact) in found.iter().zip(exact) {
            assert!((found - exact).abs() < tolerance * (1.0 + exact.abs()), "{name}: {found} {exact}");
        }
        assert!(json["pit_test"]["p_value"].as_f64().unwrap() > 1e-3, "{name}");
    }
    // The same from standard input, and by a coverage option.
    let piped = folder.run_with_input(&["score", "-", "--target", "y", "--json"], texts[0].as_bytes());
    assert_eq!(
        piped.json()["scores"],
        folder.done(&["score", "normal.csv", "--target", "y", "--json"]).json()["scores"]
    );
}

#[test]
fn groups_weights_and_rows_of_scores() {
    let folder = Folder::new();
    folder.write("p.csv", quantiles(200, 1, 1.0, 0.0));
    let outcome =
        folder.done(&["score", "p.csv", "--target", "y", "--by", "g", "--rows", "rows.csv", "--thresholds", "1,2"]);
    let text = outcome.text();
    assert!(text.starts_with("200 rows of p.csv, target \"y\": 5 quantiles, q0.05 to q0.95\n"), "{text}");
    for words in ["CRPS", "weighted interval score", "Brier score, target <= 1", "90 %", "miscalibration", "g  rows"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let rows = String::from_utf8(folder.read("rows.csv")).unwrap();
    assert!(rows.starts_with("row,target,pit,crps,log_score,") && rows.lines().count() == 201, "{rows}");
    let crps: f64 = rows.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse::<f64>().unwrap()).sum();
    let json = folder.done(&["score", "p.csv", "--target", "y", "--by", "g", "--json"]).json();
    assert!((score(&json, "crps") - crps / 200.0).abs() < 1e-12);
    let groups = json["groups"].as_array().unwrap();
    let mean = (score(&groups[0], "crps") + score(&groups[1], "crps")) / 2.0;
    assert!((mean - score(&json, "crps")).abs() < 1e-12);
    let weighted = folder.done(&["score", "p.csv", "--target", "y", "--weight", "id", "--json"]).json();
    assert!(score(&weighted, "crps") != score(&json, "crps"));
}

#[test]
fn targets_of_another_file_are_found_by_a_key_in_any_order() {
    let folder = Folder::new();
    let text = quantiles(50, 2, 1.0, 0.0);
    folder.write("p.csv", &text);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.reverse();
    let truth: String = lines
        .iter()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[0], cells[2])
        })
        .collect();
    folder.write("truth.csv", format!("id,outcome\n{truth}"));
    let by_key = ["score", "p.csv", "--target", "outcome", "--truth", "truth.csv", "--key", "id", "--json"];
    let own = folder.done(&["score", "p.csv", "--target", "y", "--json"]).json();
    assert_eq!(folder.done(&by_key).json()["scores"], own["scores"]);
    // Rows without an outcome are left out and counted.
    folder.write(
        "truth.csv",
        format!("id,outcome\n{}", truth.lines().skip(3).map(|line| format!("{line}\n")).collect::<String>()),
    );
    let outcome = folder.run(&by_key);
    assert!(outcome.err.contains("3 rows have no target \"outcome\" and are left out"), "{}", outcome.err);
    // So are outcomes without a prediction.
    folder.write("truth.csv", format!("id,outcome\n{truth}77,1.5\n78,2.5\n"));
    let outcome = folder.run(&by_key);
    assert!(
        outcome.err.contains("2 rows of the file of targets have no prediction and are not scored"),
        "{}",
        outcome.err
    );
    folder.write("truth.csv", "id,outcome\n1,2\n1,3\n");
    folder.refused(&by_key[..8], 1, "truth.csv, row 2, column \"id\": the key \"1\" occurs twice");
    folder.write("truth.csv", "id,outcome\n1,2\n");
    folder.write("p.csv", "id,mean,sd\n1,2,1\n1,3,1\n");
    let outcome = folder.done(&["score", "p.csv", "--truth", "truth.csv", "--key", "id", "--target", "outcome"]);
    assert_eq!(outcome.err, "warning: 1 row has the key of a row before: its target counts again\n");
}

#[test]
fn calibrate_report_and_monitor_find_targets_by_a_key_too() {
    let folder = Folder::new();
    let text = quantiles(120, 2, 0.6, 0.0);
    folder.write("p.csv", &text);
    let cells = |line: &str, columns: &[usize]| -> String {
        let cells: Vec<&str> = line.split(',').collect();
        columns.iter().map(|column| cells[*column]).collect::<Vec<_>>().join(",")
    };
    // Predictions without targets, and the outcomes in another order.
    let only: Vec<String> = text.lines().map(|line| cells(line, &[0, 3, 4, 5, 6, 7])).collect();
    folder.write("only.csv", only.join("\n"));
    let mut truth: Vec<String> = text.lines().skip(1).map(|line| cells(line, &[0, 2])).collect();
    truth.reverse();
    folder.write("truth.csv", format!("id,y\n{}\n", truth.join("\n")));
    for command in [
        &["calibrate", "-o", "OUT"][..],
        &["calibrate", "-o", "OUT", "--recalibration", "scale"],
        &["report", "-o", "OUT"],
        &["monitor", "--json"],
    ] {
        let of = |file: &str, more: &[&str]| {
            let given = [&command[..1], &["--predictions", file, "--target", "y"], &command[1..], more].concat();
            let outcome = folder.run(&given);
            assert!(outcome.code == Some(0) || command[0] == "monitor", "{given:?}: {}", outcome.err);
            let written = command.contains(&"OUT").then(|| folder.read("OUT"));
            (outcome.text(), written.map(|bytes| String::from_utf8_lossy(&bytes).replace(file, "FILE")))
        };
        let own = of("p.csv", &[]);
        assert_eq!(of("only.csv", &["--truth", "truth.csv", "--key", "id"]), own, "{command:?}");
    }
    // A recalibration is a map of the PIT: it takes other levels than it was learnt with, and other forms.
    folder.done(&["calibrate", "--predictions", "p.csv", "--target", "y", "-o", "cal.negmm"]);
    let tails: Vec<String> = text.lines().map(|line| cells(line, &[0, 2, 3, 5, 7])).collect();
    folder.write("tails.csv", tails.join("\n"));
    folder.done(&["recalibrate", "cal.negmm", "tails.csv", "--keep", "y", "-o", "re.csv"]);
    let after = folder.done(&["score", "re.csv", "--target", "y", "--json"]).json();
    let before = folder.done(&["score", "tails.csv", "--target", "y", "--json"]).json();
    assert!(score(&after, "crps") < score(&before, "crps"));
    assert!(score(&after, "coverage_0.9") > score(&before, "coverage_0.9") + 0.1);
}

#[test]
fn wrong_files_are_refused_with_row_and_column() {
    let folder = Folder::new();
    let refused = |text: &str, more: &[&str], code: i32, message: &str| {
        folder.write("p.csv", text);
        folder.refused(&[&["score", "p.csv", "--target", "y"], more].concat(), code, message);
    };
    refused("y,q0.1,q0.9\n1,0,2\n1,0,\n", &[], 1, "p.csv, row 2, column \"q0.9\": the number is missing");
    refused("y,q0.1,q0.9\n1,0,x\n", &[], 1, "p.csv, row 1 (line 2), column \"q0.9\": expected a number, found \"x\"");
    refused("y,mean,sd\n1,0,1\n2,0,-1\n", &[], 1, "p.csv, row 2, column \"sd\": expected an sd above 0, found -1");
    refused(
        "y,family,df\n1,student_t,0.5\n",
        &[],
        1,
        "p.csv, row 1, column \"family\": a student_t distribution needs df above 1, because otherwise there is no mean, found df 0.5, loc 0, scale 1",
    );
    refused(
        "y,lower,upper\n1,0,1\n",
        &[],
        1,
        "p.csv: the columns lower and upper need the coverage of their intervals; use --coverage 0.9",
    );
    folder.write("p.csv", "y,q0.1,q0.9\n,0,2\n");
    let outcome = folder.run(&["score", "p.csv", "--target", "y"]);
    assert!(
        outcome.err.ends_with("\nerror: expected at least 1 row with a known target, found none\n"),
        "{}",
        outcome.err
    );
    refused(
        "y,q0.1,q0.9\n1,0,2\n",
        &["--form", "samples"],
        1,
        "p.csv: expected columns of the form \"samples\"; found the columns q0.1, q0.9",
    );
    refused(
        "y,q0.1,q0.9\n1,0,2\n",
        &["--between", "2"],
        2,
        "between must be two numbers, the smaller first, such as 0,10",
    );
    // A thousand columns are no problem, and crossing quantiles are counted.
    let names: Vec<String> = (1..1000).map(|level| format!("q{}", f64::from(level) / 1000.0)).collect();
    let values: Vec<String> = (1..1000).map(|level| f64::from(1000 - level).to_string()).collect();
    folder.write("p.csv", format!("y,{}\n5,{}\n", names.join(","), values.join(",")));
    let outcome = folder.done(&["score", "p.csv", "--target", "y"]);
    assert_eq!(outcome.err, "warning: 1 row has crossing quantiles, which were sorted (rearranged)\n");
}

#[test]
fn recalibration_restores_coverage_on_fresh_rows() {
    let folder = Folder::new();
    // An overconfident and biased model.
    folder.write("old.csv", quantiles(2000, 1, 0.4, 0.3));
    folder.write("new.csv", quantiles(2000, 2, 0.4, 0.3));
    let before = folder.done(&["score", "new.csv", "--target", "y", "--json"]).json();
    assert!(score(&before, "coverage_0.9") < 0.6);
    for (method, by) in
        [("pit", None), ("scale", None), ("conformal", None), ("pit", Some("g")), ("conformal", Some("g"))]
    {
        let mut calibrate = vec![
            "calibrate",
            "--predictions",
            "old.csv",
            "--target",
            "y",
            "-o",
            "cal.negmm",
            "--recalibration",
            method,
        ];
        calibrate.extend(by.iter().flat_map(|by| ["--by", by]));
        let text = folder.done(&calibrate).text();
        assert!(text.starts_with(&format!("recalibration ({method}) of \"y\" from 2,000 rows")), "{text}");
        folder.done(&["recalibrate", "cal.negmm", "new.csv", "--keep", "y,g", "-o", "re.csv"]);
        let after = folder.done(&["score", "re.csv", "--target", "y", "--json"]).json();
        let coverage = score(&after, "coverage_0.9");
        // Three standard errors of 4,000 rows, and a little more for methods that keep the bias.
        let tolerance = if method == "pit" { 0.02 } else { 0.035 };
        assert!((coverage - 0.9).abs() < tolerance, "{method} {coverage}");
        for name in ["crps", "log_score", "weighted_interval_score"] {
            assert!(score(&after, name) < score(&before, name), "{method} {name}");
        }
    }
    // Draws of the recalibrated distributions.
    folder.done(&[
        "recalibrate",
        "cal.negmm",
        "new.csv",
        "--keep",
        "y,g",
        "--draws",
        "20",
        "-o",
        "draws.csv",
        "--quiet",
    ]);
    let text = String::from_utf8(folder.read("draws.csv")).unwrap();
    assert!(text.starts_with("y,g,draw_1,"), "{text}");
    // A group that was not there before, and another file.
    folder.write("other.csv", quantiles(3, 2, 1.0, 0.0).replace(",b,", ",c,"));
    let unknown = "other.csv, row 2: the group \"c\" was not among those of the calibration (a, b)";
    let recalibrate = ["recalibrate", "cal.negmm", "other.csv", "-o", "out.csv", "--draws", "3"];
    folder.refused(&recalibrate[..5], 1, unknown);
    folder.refused(&recalibrate, 1, unknown);
    folder.refused(
        &["recalibrate", "new.csv", "other.csv", "-o", "out.csv"],
        1,
        "new.csv: this is not a file of `negmm calibrate --predictions`",
    );
}

#[test]
fn comparisons_are_paired_and_find_rows_by_key() {
    let folder = Folder::new();
    folder.write("good.csv", quantiles(400, 1, 1.0, 0.0));
    folder.write("wide.csv", quantiles(400, 1, 2.0, 0.0));
    let text = folder.done(&["compare", "--predictions", "wide.csv,good.csv", "--target", "y"]).text();
    assert!(text.contains("wide.csv") && text.contains("worse") && text.contains("best by CRPS: good.csv"), "{text}");
    // A warning says of which file it is.
    folder.write("crossing.csv", quantiles(400, 1, 2.0, 0.0).replacen("q0.05,q0.25", "q0.25,q0.05", 1));
    let outcome = folder.done(&["compare", "--predictions", "good.csv,crossing.csv", "--target", "y"]);
    assert!(outcome.err.starts_with("warning: crossing.csv: 400 rows have crossing quantiles"), "{}", outcome.err);
    // The same rows in another order, and files whose targets differ.
    let mut lines: Vec<String> = quantiles(400, 1, 2.0, 0.0).lines().map(str::to_string).collect();
    lines[1..].reverse();
    folder.write("turned.csv", lines.join("\n"));
    let by_key = |files: &str| {
        folder
            .done(&["compare", "--predictions", files, "--target", "y", "--key", "id", "--time", "id", "--json"])
            .json()
    };
    let (straight, turned) = (by_key("good.csv,wide.csv"), by_key("good.csv,turned.csv"));
    assert_eq!(straight["files"][1]["scores"], turned["files"][1]["scores"]);
    let test = &straight["files"][1]["scores"]["crps"]["against_best"];
    assert!(test["p_value"].as_f64().unwrap() < 1e-6 && test["difference"].as_f64().unwrap() > 0.05, "{test}");
    lines[2] = lines[1].clone();
    folder.write("twice.csv", lines.join("\n"));
    for files in ["twice.csv,good.csv", "good.csv,twice.csv"] {
        let arguments = ["compare", "--predictions", files, "--target", "y", "--key", "id"];
        folder.refused(&arguments, 1, "the keys of twice.csv are not unique");
    }
    let compare = |files: &str, code: i32, message: &str| {
        folder.refused(&["compare", "--predictions", files, "--target", "y"], code, message);
    };
    let first = |text: &str| text.lines().nth(1).unwrap().split(',').nth(2).unwrap().to_string();
    let (a, b) = (first(&quantiles(400, 1, 1.0, 0.0)), first(&lines.join("\n")));
    let hint = "name the column that identifies rows with --key";
    compare(
        "good.csv,turned.csv",
        1,
        &format!("the targets of good.csv and turned.csv differ in row 1: {a} and {b}; {hint}"),
    );
    folder.write("short.csv", quantiles(30, 1, 1.0, 0.0));
    compare(
        "good.csv,short.csv",
        1,
        "the files must have the same rows: good.csv has 400 rows with a target, short.csv 30",
    );
    compare("good.csv", 2, "--predictions needs at least two files, with commas between them");
}

/// Rows in time order whose errors follow an autoregression: two files of quantiles that are off by as much, in opposite
/// directions, so that the difference of their scores is autocorrelated.
fn equally_good(folder: &Folder, rows: usize, seed: u64, correlation: f64) {
    let (mut rng, mut error) = (Rng::new(seed, 0), 0.0);
    let mut texts = [0, 1].map(|_| String::from("id,y,q0.05,q0.25,q0.5,q0.75,q0.95\n"));
    for row in 0..rows + 30 {
        error = correlation * error + (1.0 - correlation * correlation).sqrt() * normal::quantile(rng.uniform());
        for (text, shift) in texts.iter_mut().zip([0.3, -0.3]).filter(|_| row >= 30) {
            let values = LEVELS.map(|level| (shift + normal::quantile(level)).to_string());
            *text += &format!("{row},{error},{}\n", values.join(","));
        }
    }
    folder.write("a.csv", &texts[0]);
    folder.write("b.csv", &texts[1]);
}

#[test]
fn equal_models_are_no_different_in_95_percent_of_comparisons() {
    let folder = Folder::new();
    let differ = |rows: usize, correlation: f64, time: &[&str]| {
        let mut differ = 0;
        for seed in 0..100 {
            equally_good(&folder, rows, seed, correlation);
            let arguments =
                [&["compare", "--predictions", "a.csv,b.csv", "--target", "y", "--json"][..], time].concat();
            let json = folder.call(&arguments).json();
            let p = json["files"]
                .as_array()
                .unwrap()
                .iter()
                .find_map(|file| file["scores"]["crps"]["against_best"]["p_value"].as_f64());
            differ += u32::from(p.unwrap() < 0.05);
        }
        differ
    };
    // 5 of 100 expected, sd 2.2.
    for (rows, correlation, time) in [(120, 0.0, &[][..]), (120, 0.0, &["--time", "id"]), (300, 0.6, &["--time", "id"])]
    {
        let found = differ(rows, correlation, time);
        assert!(found <= 12, "{rows} {correlation} {time:?}: {found}");
    }
    // A test that ignores the order finds differences that are not there.
    assert!(differ(300, 0.6, &[]) > 15);
}

#[test]
fn monitoring_finds_when_predictions_lost_their_calibration() {
    let folder = Folder::new();
    let late: String = quantiles(800, 2, 0.6, 0.0).lines().skip(1).map(|line| format!("{line}\n")).collect();
    folder.write("good.csv", quantiles(1500, 1, 1.0, 0.0));
    folder.write("changed.csv", quantiles(1500, 1, 1.0, 0.0) + &late);
    let arguments = |file: &'static str| ["monitor", "--predictions", file, "--target", "y"];
    let text = folder.done(&arguments("good.csv")).text();
    assert!(text.starts_with("1,500 rows, target \"y\"\nno alarm") && !text.contains("baseline"), "{text}");
    let outcome = folder.run(&[&arguments("changed.csv")[..], &["--json", "--state", "state.json"]].concat());
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let since = outcome.json()["since"].as_u64().unwrap();
    assert!((1400..=1600).contains(&since), "{since}");
    // It goes on from its state, and counts no row again.
    folder.write("more.csv", quantiles(500, 3, 1.0, 0.0));
    let goes_on = |file| folder.run(&[&arguments(file)[..], &["--json", "--state", "state.json"]].concat());
    assert_eq!(goes_on("more.csv").json()["rows"], 2800);
    let again = goes_on("good.csv");
    assert_eq!(again.json()["rows"], 2800);
    assert!(again.err.contains("1,500 rows were counted before and are left out"), "{}", again.err);
    // Rows that are often equal cannot be told apart.
    let constant = String::from("q0.1,q0.5,q0.9,y\n") + &"1,2,3,2\n1,2,3,1\n".repeat(40);
    folder.write("same.csv", constant);
    let again = || folder.run(&[&arguments("same.csv")[..], &["--json", "--state", "same.json"]].concat()).json();
    assert_eq!((&again()["rows"], &again()["rows"]), (&80.into(), &160.into()));
}

/// The figures of a page: the texts of its SVG of this name.
fn plot(page: &str, name: &str) -> String {
    let start = page.find(&format!("id=\"plot-{name}\"")).unwrap_or_else(|| panic!("no plot {name}"));
    let end = start + page[start..].find("</figure>").unwrap();
    page[start..end].to_string()
}

/// Some columns of the first table of a page, as text.
fn cells(page: &str, columns: &[usize]) -> Vec<Vec<String>> {
    let text = |cell: &str| {
        let cell = &cell[cell.find('>').unwrap_or(0)..];
        cell.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect::<String>()
    };
    let body = &page[page.find("<tbody>").unwrap()..page.find("</tbody>").unwrap()];
    let rows = body.split("<tr>").skip(1).map(|row| row.split("<t").skip(1).map(text).collect::<Vec<_>>());
    rows.map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

#[test]
fn a_report_of_predictions_equals_that_of_the_model() {
    let folder = Folder::with_model();
    folder.done(&["predict", "ok.negmm", "ok.csv", "--components", "--keep", "y", "-o", "p.csv"]);
    folder.done(&["report", "ok.negmm", "ok.csv", "-o", "direct.html"]);
    let text = folder
        .done(&["report", "--predictions", "p.csv", "--target", "y", "-o", "given.html", "--svg", "plots"])
        .text();
    assert_eq!(text, "60 rows, wrote given.html and 13 plots in plots\n");
    let [direct, given] = ["direct.html", "given.html"].map(|name| String::from_utf8(folder.read(name)).unwrap());
    for name in [
        "pit",
        "coverage",
        "coverage-by-width",
        "reliability",
        "observed",
        "fan",
        "row-widest",
        "row-narrowest",
        "row-surprising",
    ] {
        assert_eq!(plot(&direct, name), plot(&given, name), "{name}");
    }
    // The scores of the model, to the digit, and its Murphy diagrams; only the baselines differ.
    let scores = |page: &str| cells(&page[page.find("<table").unwrap()..], &[0, 1]);
    let (own, read) = (scores(&direct), scores(&given));
    assert!(own.len() >= 8 && own.iter().any(|row| row[0] == "CRPS"), "{own:?}");
    assert_eq!(own, read);
    let murphy = |page: &str| cells(&plot(page, "murphy"), &[0, 1, 2]);
    let (own, read) = (murphy(&direct), murphy(&given));
    assert!(own.len() > 20 && own.iter().any(|row| row[1] == "median"), "{own:?}");
    assert_eq!(own, read);
    for words in ["Predictions of ", "climatology", "mixtures of "] {
        assert!(given.contains(words), "{words}");
    }
    // Quantiles, samples and families have pages too.
    for (file, text) in [
        ("q.csv", quantiles(60, 1, 1.0, 0.0)),
        ("n.csv", "y,family,mean\n".to_string() + &"2,poisson,1.5\n0,poisson,0.5\n".repeat(30)),
        ("d.csv", "y,draw_1,draw_2,draw_3\n".to_string() + &"1,0.5,1.5,2\n2,1,3,2.5\n".repeat(30)),
    ] {
        folder.write(file, text);
        folder.done(&["report", "--predictions", file, "--target", "y", "-o", "page.html"]);
        let page = String::from_utf8(folder.read("page.html")).unwrap();
        assert!(page.contains("PIT histogram") && !page.contains("NaN"), "{file}");
    }
}

/// Draws of two targets, `a` and `b`, whose correlation is that of the observations or 0.
fn vectors(rows: usize, draws: usize, seed: u64, joint: bool) -> String {
    let mut rng = Rng::new(seed, 0);
    let names = (1..=draws).flat_map(|draw| [format!("a_draw_{draw}"), format!("b_draw_{draw}")]);
    let mut text = format!("id,g,a,b,{}\n", names.collect::<Vec<_>>().join(","));
    for row in 0..rows {
        let mut pair = |rho: f64| {
            let (u, v) = (normal::quantile(rng.uniform()), normal::quantile(rng.uniform()));
            [u, rho * u + (1.0 - rho * rho).sqrt() * v]
        };
        let [a, b] = pair(0.9);
        let cells: Vec<String> =
            (0..draws).flat_map(|_| pair(if joint { 0.9 } else { 0.0 })).map(|cell| cell.to_string()).collect();
        text += &format!("{row},{},{a},{b},{}\n", ["x", "y"][row % 2], cells.join(","));
    }
    text
}

#[test]
fn draws_of_several_targets_have_joint_scores() {
    let folder = Folder::new();
    folder.write("joint.csv", vectors(300, 60, 1, true));
    folder.write("apart.csv", vectors(300, 60, 1, false));
    let score_of = |file: &str, more: &[&str]| {
        folder.done(&[&["score", file, "--target", "a,b", "--json"][..], more].concat()).json()
    };
    let (joint, apart) = (score_of("joint.csv", &["--by", "g"]), score_of("apart.csv", &[]));
    for name in ["energy_score", "fair_energy_score", "variogram_score", "dawid_sebastiani"] {
        assert!(score(&joint, name) < score(&apart, name), "{name}");
    }
    assert!(score(&joint, "fair_energy_score") < score(&joint, "energy_score"));
    // The scores of each target are those of a file with that target alone, and groups average to the whole.
    let text = vectors(300, 60, 1, true);
    folder.write("a.csv", text.replace("a_draw_", "draw_").replace(",b,", ",other,").replace("b_draw_", "other_draw_"));
    let single = folder.done(&["score", "a.csv", "--target", "a", "--json"]).json();
    assert_eq!(single["scores"], joint["targets"]["a"]["scores"]);
    let one = folder.done(&["score", "joint.csv", "--target", "a", "--json"]).json();
    assert_eq!(one["scores"], joint["targets"]["a"]["scores"]);
    let groups = joint["groups"].as_array().unwrap();
    let mean = (score(&groups[0], "energy_score") + score(&groups[1], "energy_score")) / 2.0;
    assert!((mean - score(&joint, "energy_score")).abs() < 1e-12);
    // Scales divide the targets; a file of rows has each score; targets may be in another file.
    let scaled = score_of("joint.csv", &["--scales", "2,2", "--rows", "rows.csv"]);
    assert!((2.0 * score(&scaled, "energy_score") - score(&joint, "energy_score")).abs() < 1e-12);
    let rows = String::from_utf8(folder.read("rows.csv")).unwrap();
    assert!(rows.starts_with("row,a,b,energy_score,fair_energy_score,variogram_score,dawid_sebastiani,a_pit,a_crps,"));
    assert_eq!(rows.lines().count(), 301);
    let mut truth: Vec<String> =
        text.lines().skip(1).map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    truth.reverse();
    folder.write("truth.csv", format!("id,g,a,b\n{}\n", truth.join("\n")));
    let by_key = score_of("joint.csv", &["--truth", "truth.csv", "--key", "id"]);
    assert_eq!(by_key["scores"], joint["scores"]);
    let shown = folder.done(&["score", "joint.csv", "--target", "a,b", "--by", "g"]).text();
    for words in
        ["300 rows of joint.csv, targets \"a\", \"b\"", "energy score", "variogram score, order 0.5", "CRPS, b"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Draws of a model of several targets are read as they are written.
    folder.write("q.csv", "a,b,a_q0.1,a_q0.9,b_mean,b_sd\n1,2,0,2,2,1\n2,2,1,3,2,1\n");
    let marginal = folder.done(&["score", "q.csv", "--target", "a,b"]).text();
    assert!(marginal.contains("Scores of all targets together need draws of each"), "{marginal}");
}

#[test]
fn wrong_files_of_several_targets_are_refused() {
    let folder = Folder::new();
    let refused = |text: &str, more: &[&str], code: i32, message: &str| {
        folder.write("p.csv", text);
        folder.refused(&[&["score", "p.csv", "--target", "a,b"], more].concat(), code, message);
    };
    refused(
        "a,b,a_draw_1,a_draw_2,b_draw_1\n1,2,1,2,3\n",
        &[],
        1,
        "p.csv: the draws of \"a\" and \"b\" differ: draws of several targets are joint, so each needs the same numbers; \"a\" has 2, \"b\" 1",
    );
    refused(
        "a,b,a_draw_1,a_draw_2\n1,2,1,2\n",
        &[],
        1,
        "p.csv: there are no predictions of \"b\": of several targets, each column has the name of its target before it, such as \
         b_draw_1 or b_q0.5",
    );
    refused(
        "a,b,a_draw_1,a_draw_2,b_draw_1,b_draw_2\n1,2,1,2,3,4\n1,2,1,2,,4\n",
        &[],
        1,
        "p.csv, row 2, column \"b_draw_1\": the number is missing",
    );
    refused("a,b,a_draw_1,b_draw_1\n1,2,1,3\n", &["--scales", "1,0"], 2, "expected scales of targets above 0, found 0");
    refused(
        "a,b,a_draw_1,b_draw_1\n1,2,1,3\n",
        &["--scales", "1"],
        2,
        "expected 2 scales, one for each target, found 1",
    );
    refused(
        "a,b,a_draw_1,b_draw_1\n1,2,1,3\n",
        &["--thresholds", "1"],
        2,
        "--step, --between and --thresholds are for one target: score each by itself",
    );
}

#[test]
fn hostile_predictions_leave_nothing_half_written() {
    let folder = Folder::new();
    // Row 3 is broken: scores of rows, recalibrated predictions and reports are not there afterwards.
    let text = "id,y,q0.1,q0.5,q0.9\n1,1,0,1,2\n2,1,0,1,2\n3,1,0,nan,2\n4,1,0,1,2\n";
    folder.write("p.csv", text);
    let message = "p.csv, row 3, column \"q0.5\": the number is missing";
    for (arguments, output) in [
        (&["score", "p.csv", "--target", "y", "--rows", "out.csv"][..], "out.csv"),
        (&["report", "--predictions", "p.csv", "--target", "y", "-o", "out.html"], "out.html"),
        (&["calibrate", "--predictions", "p.csv", "--target", "y", "-o", "out.negmm"], "out.negmm"),
    ] {
        folder.refused(arguments, 1, message);
        assert!(!folder.path(output).exists(), "{output}");
    }
    folder.write("good.csv", quantiles(200, 1, 1.0, 0.0));
    folder.done(&["calibrate", "--predictions", "good.csv", "--target", "y", "-o", "cal.negmm"]);
    // A recalibration is no model.
    let message = "cal.negmm: this is a recalibration of predictions, not a model: use it with `negmm recalibrate`";
    folder.refused(&["inspect", "cal.negmm"], 1, message);
    folder.refused(&["predict", "cal.negmm", "good.csv"], 1, message);
    let arguments = ["recalibrate", "cal.negmm", "p.csv", "-o", "out.csv"];
    folder.refused(&arguments, 1, "p.csv, row 3, column \"q0.5\": the number is missing");
    assert!(!folder.path("out.csv").exists());
    // A group that is missing.
    folder.write("p.csv", "y,g,q0.1,q0.9\n1,a,0,2\n1,,0,2\n");
    let message = "p.csv, row 2, column \"g\": the group is missing";
    folder.refused(&["score", "p.csv", "--target", "y", "--by", "g"], 1, message);
    // Certain and right: a standard error of 0 has no digits, and the score of moments is infinitely good.
    folder.write("p.csv", "y,q0.1,q0.9\n1,1,1\n2,2,2\n");
    let text = folder.done(&["score", "p.csv", "--target", "y"]).text();
    let line = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line[name.len()..].split_whitespace().collect()
    };
    assert_eq!(line("RMSE (of the mean)"), ["0.000", "-"]);
    assert_eq!(line("Dawid-Sebastiani score "), ["-inf", "-"]);
    // Infinite quantiles, and a target that is infinite.
    folder.write("p.csv", "y,q0.1,q0.9\n1,-inf,2\n");
    folder.refused(
        &["score", "p.csv", "--target", "y"],
        1,
        "p.csv, row 1 (line 2), column \"q0.1\": the number \"-inf\" is not finite",
    );
    // A level that one file has and the other lacks is no obstacle to a comparison: scores are at the same levels.
    folder.write("more.csv", quantiles(200, 1, 1.0, 0.0));
    let lacking: String = quantiles(200, 1, 1.0, 0.0)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{}\n", [&cells[..3], &cells[4..7]].concat().join(","))
        })
        .collect();
    folder.write("fewer.csv", lacking);
    let text = folder.done(&["compare", "--predictions", "more.csv,fewer.csv", "--target", "y"]).text();
    assert!(text.contains("fewer.csv") && text.contains("200 rows"), "{text}");
    // Two columns of one level, and a level beyond 1.
    for (header, message) in [
        ("y,q0.5,q0.50", "p.csv: the columns \"q0.5\" and \"q0.50\" are both quantiles of level 0.5"),
        ("y,q0.5,q50", "p.csv, column \"q50\": expected a level of a quantile from 0 to 1, found 50: name it q0.5"),
    ] {
        folder.write("p.csv", format!("{header}\n1,0,2\n"));
        folder.refused(&["score", "p.csv", "--target", "y"], 1, message);
    }
}
