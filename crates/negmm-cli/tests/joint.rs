//! Several targets, through the program.

use crate::common::Folder;

/// x, two targets that depend on each other, and a copy and the sum of them.
fn rows() -> String {
    let mut text = String::from("x,revenue,cost,copy,sum,kind\n");
    for row in 0..80 {
        let (x, noise) = (f64::from(row % 20), f64::from(row * 37 % 101) / 50.0 - 1.0);
        let more = f64::from(row * 53 % 97) / 48.0 - 1.0;
        let (revenue, cost) = (2.0 * x + noise + more, x + noise);
        text += &format!("{x},{revenue},{cost},{revenue},{},red\n", revenue + cost);
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", rows());
    let fit = "fit t.csv --target revenue,cost --ignore copy,sum,kind --method ne-gmm --epochs 5 -o m.negmm";
    let fitted = folder.run(&fit.split(' ').collect::<Vec<_>>());
    assert_eq!(fitted.code, Some(0), "{}", fitted.err);
    assert!(fitted.text().starts_with("ne-gmm for \"revenue\", \"cost\" together from 1 input"), "{}", fitted.text());
    folder
}

#[test]
fn joint_models_are_fitted_scored_and_asked() {
    let folder = folder();
    let evaluated = folder.run(&["evaluate", "m.negmm", "t.csv", "--json"]).json();
    assert_eq!((&evaluated["scores"]["rows"], &evaluated["training_rows"]), (&80.into(), &80.into()));
    assert!(evaluated["scores"]["energy"].as_f64().unwrap() < evaluated["baseline"]["energy"].as_f64().unwrap());
    assert!(folder.run(&["inspect", "m.negmm"]).text().contains("target, mean"));
    let asked = [
        "predict",
        "m.negmm",
        "t.csv",
        "--combine",
        "profit = revenue - cost",
        "--above",
        "0",
        "--correlation",
        "--density",
        "--box",
        "revenue > 3, cost < 9",
    ];
    let text = folder.run(&asked).text();
    let header = "revenue_mean,revenue_sd,revenue_p_above_0,cost_mean,cost_sd,cost_p_above_0,profit_mean,profit_sd,\
        profit_p_above_0,correlation_revenue_cost,log_density,p_box_1,p_box_1_error";
    assert_eq!(text.lines().next(), Some(header));
    assert_eq!(text.lines().count(), 81);
    let given = folder.run(&["predict", "m.negmm", "t.csv", "--given", "revenue", "--keep", "x"]).text();
    assert_eq!(given.lines().next(), Some("x,cost_mean,cost_sd"));
    let fixed = folder.run(&["predict", "m.negmm", "t.csv", "--given", "revenue=3.2"]).text();
    assert_ne!(given.lines().nth(5), fixed.lines().nth(5));
}

#[test]
fn rows_that_were_learnt_from_are_told() {
    let folder = folder();
    let rows = rows();
    // Every second row is new.
    let change = |(number, line): (usize, &str)| match number % 2 {
        1 => line.to_string(),
        _ => line.replacen(',', ".25,", 1),
    };
    let half: Vec<String> = rows.lines().enumerate().skip(1).map(change).collect();
    folder.write("half.csv", format!("x,revenue,cost,copy,sum,kind\n{}\n", half.join("\n")));
    let seen = "40 of 80 rows were in the training data: ";
    let evaluated = folder.done(&["evaluate", "m.negmm", "half.csv"]).err;
    assert!(evaluated.contains(&format!("{seen}these scores are not of new rows")), "{evaluated}");
    let calibrated = folder.done(&["calibrate", "m.negmm", "half.csv", "-o", "c.negmm"]).err;
    assert!(calibrated.contains(&format!("{seen}coverage is guaranteed only if")), "{calibrated}");
    let monitor = || folder.run(&["monitor", "m.negmm", "--data", "half.csv", "--state", "s.json", "--json"]);
    let (first, second) = (monitor(), monitor());
    assert!(first.err.contains(seen), "{}", first.err);
    assert!(second.err.contains("80 rows were counted before and are left out"), "{}", second.err);
    assert_eq!((&first.json()["rows"], &second.json()["rows"]), (&80.into(), &80.into()));
    let calibrated = folder.done(&["evaluate", "c.negmm", "half.csv"]).err;
    assert!(calibrated.contains(seen), "a file keeps the fingerprint: {calibrated}");
}

#[test]
fn scores_of_several_targets_are_shown_by_group() {
    let folder = folder();
    let text = folder.done(&["evaluate", "m.negmm", "t.csv", "--by", "x"]).text();
    assert!(text.contains("by \"x\", target \"revenue\"") && text.contains("by \"x\", target \"cost\""), "{text}");
    let json = folder.done(&["evaluate", "m.negmm", "t.csv", "--by", "x", "--json"]).json();
    assert_eq!(json["by"]["column"], "x");
    let targets = json["by"]["targets"].as_array().unwrap();
    assert_eq!((targets.len(), &targets[1]["target"]), (2, &"cost".into()));
    let groups = targets[0]["groups"].as_array().unwrap();
    assert_eq!(groups.iter().map(|group| group["rows"].as_u64().unwrap()).sum::<u64>(), 80);
}

#[test]
fn bad_requests_have_one_clear_sentence() {
    let folder = folder();
    let fits = [
        ("revenue,revenue", "the target \"revenue\" is named twice", 2),
        ("revenue,copy", "t.csv: the targets \"revenue\" and \"copy\" are identical: leave one out", 1),
        ("revenue,cost,sum", "t.csv: the target \"sum\" is a linear combination of the other targets: leave it out", 1),
        ("revenue,kind", "t.csv, row 1, column \"kind\": expected a number, found \"red\"", 1),
    ];
    for (targets, message, code) in fits {
        let outcome = folder.run(&["fit", "t.csv", "--target", targets, "--method", "ne-gmm", "-o", "no.negmm"]);
        assert_eq!((outcome.code, outcome.err.trim()), (Some(code), &*format!("error: {message}")));
        assert!(!folder.path("no.negmm").exists());
    }
    let predicts: [(&[&str], &str); 6] = [
        (
            &["--combine", "z = revenue + q"],
            "combine \"q\" is not a target; the targets are revenue, cost, in \"z = revenue + q\"",
        ),
        (&["--given", "revenue,cost"], "all targets are given: nothing is left to predict"),
        (&["--given", "revenue,revenue"], "the target \"revenue\" is given twice"),
        (&["--given", "revenue=x"], "given must be TARGET or TARGET=NUMBER, found \"revenue=x\""),
        (&["--box", "revenue 3"], "box must be bounds such as \"a > 3, b < 2\", found \"revenue 3\""),
        (&["--novelty"], "novelty is for models of a single target"),
    ];
    for (flags, message) in predicts {
        let outcome = folder.run(&[&["predict", "m.negmm", "t.csv"], flags].concat());
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(message), "{}", outcome.err);
    }
}

#[test]
fn several_targets_are_compared_and_tuned() {
    let folder = folder();
    let compare =
        "compare t.csv --target revenue,cost --ignore copy,sum,kind --methods ne-gmm,mdn --set epochs=3 --folds 2";
    let compared = folder.run(&[&compare.split(' ').collect::<Vec<_>>()[..], &["--svg", "c.svg"]].concat());
    assert_eq!(compared.code, Some(0), "{}", compared.err);
    let text = compared.text();
    assert!(text.contains("targets \"revenue\", \"cost\", 2 splits") && text.contains("in 90 % region"), "{text}");
    assert!(String::from_utf8(folder.read("c.svg")).unwrap().contains("Energy score"));
    folder.refused(
        &["compare", "t.csv", "--target", "revenue,cost", "--methods", "ngboost"],
        2,
        "method ngboost predicts one target: for several use auto, ne-gmm, mdn or ensemble",
    );
    let tune = "tune t.csv --target revenue,cost --ignore copy,sum,kind --methods mdn --set epochs=3 --try components=1,2 \
        --folds 2 --journal j -o best.negmm --json";
    let tuned = folder.run(&tune.split_whitespace().collect::<Vec<_>>());
    assert_eq!(tuned.code, Some(0), "{}", tuned.err);
    let ranking = tuned.json()["result"]["ranking"].as_array().unwrap().clone();
    let energy = |at: usize| ranking[at]["energy"]["mean"].as_f64().unwrap();
    assert!(ranking.len() == 2 && energy(0) <= energy(1));
    assert!(folder.run(&["inspect", "best.negmm"]).text().starts_with("mdn for \"revenue\", \"cost\" together"));
    let refused = folder.run(&["tune", "t.csv", "--target", "revenue,cost", "--by", "crps", "--journal", "k"]);
    assert!(
        refused.err.contains("by must be energy, nll, crps_of_sum or variogram for several targets"),
        "{}",
        refused.err
    );
}

#[test]
fn a_fit_writes_held_out_predictions_and_a_report() {
    let folder = Folder::new();
    // The first row has none of the targets, the second one of them.
    let mut text = rows();
    let second = text.lines().nth(1).unwrap().to_string();
    text = text.replacen(&second, "0,,,1,2,red\n0,7,,1,2,red", 1);
    folder.write("t.csv", &text);
    let fit = "fit t.csv --target revenue,cost --ignore copy,sum,kind --preset fast --steps 60 --held-out h.csv \
        --report r.html -o m.negmm";
    let fitted = folder.run(&fit.split_whitespace().collect::<Vec<_>>());
    assert_eq!(fitted.code, Some(0), "{}", fitted.err);
    assert!(fitted.text().ends_with("saved m.negmm and h.csv and r.html\n"), "{}", fitted.text());
    let held_out = String::from_utf8(folder.read("h.csv")).unwrap();
    let mut lines = held_out.lines();
    let header = "row,revenue,revenue_mean,revenue_sd,revenue_pit,cost,cost_mean,cost_sd,cost_pit,log_density";
    assert_eq!(lines.next(), Some(header));
    let data: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let mut count = 0;
    for line in lines {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let row = &data[cells[0] as usize];
        assert_eq!([cells[1], cells[5]], [row[1].parse::<f64>().unwrap(), row[2].parse().unwrap()]);
        assert!((cells[1] - cells[2]).abs() < 6.0 * cells[3], "{line}");
        assert!((0.0..=1.0).contains(&cells[4]) && cells[9].is_finite());
        count += 1;
    }
    assert_eq!(count, 79);
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(page.contains("79 held-out rows of <bdi>t.csv</bdi>, each predicted by models that were not trained"));
}

#[test]
fn joint_regions_are_calibrated_predicted_and_monitored() {
    let folder = folder();
    let refused = folder.run(&["predict", "m.negmm", "t.csv", "--conformal", "--ellipsoid", "0.9"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("the model has no calibration: see `negmm calibrate`"), "{}", refused.err);
    let calibrated = folder.run(&["calibrate", "m.negmm", "t.csv", "-o", "c.negmm"]);
    assert_eq!(calibrated.code, Some(0), "{}", calibrated.err);
    let text = calibrated.text();
    assert!(text.contains("coverage of conformal ellipsoids and regions") && text.contains("(80 rows)"), "{text}");
    let asked =
        ["predict", "c.negmm", "t.csv", "--conformal", "--joint-region", "0.9", "--ellipsoid", "0.8", "--density"];
    let text = folder.run(&asked).text();
    let header = "revenue_mean,revenue_sd,cost_mean,cost_sd,log_density,joint_region_0.9_log_density,joint_region_0.9_volume,\
        joint_region_0.9_contains,ellipsoid_0.8_distance,ellipsoid_0.8_volume,ellipsoid_0.8_contains";
    assert_eq!(text.lines().next(), Some(header));
    let inside = |column: usize| {
        text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    // These are the rows of calibration themselves.
    assert!(inside(7) >= 72.0 && inside(10) >= 64.0, "{} {}", inside(7), inside(10));
    for (flags, part) in [
        (["--interval", "0.9"], "joint regions and ellipsoids: leave out the intervals of each target"),
        (["--ellipsoid", "1.5"], "expected a coverage strictly between 0 and 1, found 1.5"),
    ] {
        let refused = folder.run(&[&["predict", "c.negmm", "t.csv", "--conformal"][..], &flags].concat());
        assert!(refused.code == Some(2) && refused.err.contains(part), "{}", refused.err);
    }
    let seen = folder.run(&["monitor", "m.negmm", "--data", "t.csv", "--state", "s.json", "--json"]).json();
    assert_eq!((&seen["rows"], seen["parts"].as_array().unwrap().len()), (&serde_json::json!(80), 6));
    let (header, lines) =
        rows().split_once('\n').map(|(header, lines)| (header.to_string(), lines.to_string())).unwrap();
    let others = lines.lines().map(|line| line.replacen(',', ".5,", 1) + "\n").collect::<String>();
    folder.write("u.csv", format!("{header}\n{others}"));
    let more = folder.run(&["monitor", "m.negmm", "--data", "u.csv", "--state", "s.json", "--svg", "m.svg"]);
    assert!(more.text().starts_with("160 rows, targets \"revenue\", \"cost\""), "{} {}", more.text(), more.err);
    assert!(folder.path("m.svg").exists());
}

#[test]
fn several_targets_are_reported_and_exported() {
    let folder = folder();
    let reported = folder.run(&["report", "m.negmm", "t.csv", "-o", "r.html", "--svg", "plots"]);
    assert_eq!(reported.code, Some(0), "{}", reported.err);
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    for part in ["Pairs of targets", "Coverage of projections", "Coverage of regions", "Single rows", "energy score"] {
        assert!(page.contains(part), "{part}");
    }
    for plot in ["pair-1-2", "projections", "region-coverage"] {
        assert!(folder.path("plots").join(format!("{plot}.svg")).exists(), "{plot}");
    }
    let exported = folder.run(&["export", "m.negmm", "-o", "m.onnx", "--json"]);
    assert!(exported.code == Some(0) && exported.json()["bytes"].as_u64().unwrap() > 1000, "{}", exported.err);
    let text = String::from_utf8_lossy(&folder.read("m.onnx")).into_owned();
    assert!(["factors", "quantiles", "negmm.targets"].iter().all(|part| text.contains(part)));
    folder.write("few.csv", "x,revenue\n1,2\n");
    let missing = folder.run(&["report", "m.negmm", "few.csv", "-o", "no.html"]);
    assert!(missing.code == Some(1) && missing.err.contains("cost"), "{}", missing.err);
    assert!(!folder.path("no.html").exists());
}

#[test]
fn a_table_of_bad_targets_is_refused_in_one_sentence() {
    let folder = Folder::new();
    let constant: String = (0..40).map(|row| format!("{row},{},7\n", row * 3 % 11)).collect();
    folder.write("constant.csv", format!("x,a,b\n{constant}"));
    let scaled: String = (0..40).map(|row| format!("{row},{0},{1}\n", row * 3 % 11, 5 - 2 * (row * 3 % 11))).collect();
    folder.write("scaled.csv", format!("x,a,b\n{scaled}"));
    folder.write("few.csv", "x,a,b\n1,2,3\n2,3,1\n3,1,2\n");
    let infinite: String = (0..40).map(|row| format!("{row},{},{}\n", row * 3 % 11, row * 5 % 13)).collect();
    folder.write("infinite.csv", format!("x,a,b\n{infinite}41,inf,2\n"));
    folder.write("none.csv", format!("x,a,b\n{}", (0..40).map(|row| format!("{row},,\n")).collect::<String>()));
    for (file, part) in [
        ("constant.csv", "the target \"b\" is 7 in every row: leave it out"),
        ("scaled.csv", "the targets \"a\" and \"b\" determine each other exactly: leave one out"),
        ("few.csv", "a joint model needs at least 10 rows, found 3"),
        ("infinite.csv", "row 41"),
        ("none.csv", "none.csv"),
    ] {
        let refused = folder.run(&["fit", file, "--target", "a,b", "--method", "ne-gmm", "-o", "no.negmm"]);
        assert_eq!(refused.code, Some(1), "{file}: {} {}", refused.text(), refused.err);
        assert!(refused.err.contains(part) && refused.err.trim().lines().count() == 1, "{file}: {}", refused.err);
        assert!(!folder.path("no.negmm").exists(), "{file}");
    }
}
