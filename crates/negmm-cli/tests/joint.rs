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
    assert_eq!(evaluated["scores"]["rows"], 80);
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
