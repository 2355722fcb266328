//! Forecasts on the command line: from a file of series to probabilistic forecasts.

use crate::common;

use common::Folder;
use negmm::forecast::{Aggregate, BacktestOrigins, Forecaster};
use negmm::{Predictions, Query, Table};

/// Hours of two days, again and again, with a little noise.
fn hours(count: usize) -> String {
    let mut text = String::from("when,load,price\n");
    for hour in 0..count {
        let noise = (hour as f64 * 0.618_033_988_75).fract() - 0.5;
        let load = 100.0 + 30.0 * (std::f64::consts::TAU * hour as f64 / 24.0).sin() + 4.0 * noise;
        text.push_str(&format!("2024-01-{:02} {:02}:00,{load:.4},{}\n", 1 + hour / 24, hour % 24, hour % 7));
    }
    text
}

const QUICK: [&str; 4] = ["--hidden", "16", "--steps", "200"];

#[test]
fn steps_ahead_have_times_and_distributions() {
    let folder = Folder::new();
    folder.write("h.csv", hours(24 * 14));
    let fit = ["fit", "h.csv", "--sequence", "load", "--time", "when", "--horizon", "24", "-o", "h.negmm"];
    let text = folder.done(&[&fit[..], &QUICK].concat()).text();
    assert!(text.starts_with("forecasts of \"load\", 24 steps ahead\nevery hour, seasonal period 24"), "{text}");
    assert!(
        text.contains("origins in the last 84 steps of the series, by models of what came before:")
            && text.contains("seasonal naive (24)"),
        "{text}"
    );
    let out = folder.done(&["predict", "h.negmm", "h.csv", "--interval", "0.9", "--paths", "2"]).text();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (25, "when,step,mean,sd,lower_0.9,upper_0.9,path_1,path_2"));
    assert!(lines[1].starts_with("2024-01-15,1,"), "{}", lines[1]);
    assert!(lines[24].starts_with("2024-01-15 23:00,24,"), "{}", lines[24]);
    let sum = folder.done(&["predict", "h.negmm", "h.csv", "--over", "sum"]).text();
    let lines: Vec<&str> = sum.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "when,mean,sd"));
    let total: f64 = lines[1].split(',').nth(1).unwrap().parse().unwrap();
    assert!((total - 2400.0).abs() < 60.0, "{total}");
    let inside = folder.done(&["predict", "h.negmm", "h.csv", "--test-size", "48", "--stride", "24"]).text();
    let lines: Vec<&str> = inside.lines().collect();
    assert_eq!((lines.len(), lines[0]), (49, "origin,when,step,mean,sd"));
    let scores = folder.done(&["evaluate", "h.negmm", "h.csv", "--test-size", "72", "--json"]).json();
    assert_eq!((&scores["origins"], &scores["scores"][0]["rows"]), (&3.into(), &72.into()));
    let crps = |at: usize| scores["scores"][at]["crps"].as_f64().unwrap();
    assert!(crps(0) < 2.5 && crps(1) > 10.0, "{scores}");
    assert_eq!(scores["steps"].as_array().unwrap().len(), 24);
    assert!(scores["skill"]["se"].as_f64().unwrap() > 0.0 && scores["scores"][0]["coverage90"].as_f64().unwrap() > 0.5);
    assert_eq!(scores["training_rows"], 72);
    let outcome = folder.done(&["evaluate", "h.negmm", "h.csv", "--test-size", "72"]);
    let seen = "72 of 72 steps were in the training data: these scores are not of the future";
    assert!(outcome.err.contains(seen), "{}", outcome.err);
    let text = outcome.text();
    assert!(text.contains("of the best baseline") || text.contains("no better than"), "{text}");
    assert!(text.contains("by step ahead:"), "{text}");
    assert!(folder.done(&["inspect", "h.negmm"]).text().starts_with("forecasts of \"load\""));
    folder.done(&["report", "h.negmm", "h.csv", "--test-size", "72", "-o", "h.html", "--svg", "pictures"]);
    let page = String::from_utf8(folder.read("h.html")).unwrap();
    assert!(page.contains("Forecast of") && page.contains("Seasonal periods found: 24 steps."), "no fan");
    assert!(folder.path("pictures/fan-1.svg").is_file() && folder.path("pictures/pit-by-step.svg").is_file());
}

#[test]
fn many_series_have_one_model() {
    let folder = Folder::new();
    let mut text = String::from("id,y\n");
    for step in 0..60 {
        for (series, size) in [("a", 1.0), ("b", 100.0)] {
            let noise = (f64::from(step) * 0.618_033_988_75 + size).fract();
            text.push_str(&format!("{series},{}\n", size * (5.0 + f64::from(step % 4) + noise)));
        }
    }
    folder.write("m.csv", text);
    let fit = [
        "fit",
        "m.csv",
        "--sequence",
        "y",
        "--series",
        "id",
        "--horizon",
        "2",
        "--seasonal-periods",
        "4",
        "-o",
        "m.negmm",
    ];
    let text = folder.done(&[&fit[..], &QUICK].concat()).text();
    assert!(text.contains("2 steps ahead for many series") && text.contains("seasonal period 4"), "{text}");
    let out = folder.done(&["predict", "m.negmm", "m.csv"]).text();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (5, "id,step,mean,sd"));
    assert!(lines[1].starts_with("a,1,") && lines[4].starts_with("b,2,"), "{out}");
}

/// A series with a season of 12 steps.
fn long(steps: usize) -> String {
    let value = |step: usize| {
        let noise = (step as f64 * 0.618_033_988_75).fract() - 0.5;
        50.0 + 9.0 * (std::f64::consts::TAU * step as f64 / 12.0).sin() + 4.0 * noise
    };
    (0..steps).fold(String::from("y\n"), |text, step| text + &format!("{:.4}\n", value(step)))
}

/// A folder with a forecaster of it.
fn folder_of_long() -> Folder {
    let folder = Folder::new();
    folder.write("short.csv", long(200));
    let fit = ["fit", "short.csv", "--sequence", "y", "--horizon", "24", "--seasonal-periods", "12", "-o", "l.negmm"];
    folder.done(&[&fit[..], &QUICK].concat());
    folder
}

#[test]
fn long_series_are_forecast_in_batches() {
    let folder = folder_of_long();
    folder.write("long.csv", long(500));
    let forecaster = Forecaster::load(folder.path("l.negmm")).unwrap();
    let table = Table::read(folder.path("long.csv")).unwrap();
    let histories = forecaster.histories(&table).unwrap();
    let points = forecaster.points(&histories, BacktestOrigins::default().stride(1));
    let all = forecaster.predict(&table, &histories, points).unwrap();
    let draws = |predictions: &Predictions| {
        Query::default().draws(1).columns(predictions, 0).unwrap().floats("draw_1").unwrap()
    };
    let column = |more: &[&str], name: &str| -> Vec<f64> {
        let predict = ["predict", "l.negmm", "long.csv", "--stride", "1", "--draws", "1"];
        let text = folder.done(&[&predict, more].concat()).text();
        let at = text.lines().next().unwrap().split(',').position(|other| other == name).unwrap();
        text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    assert_eq!(column(&[], "draw_1"), draws(&all.predictions));
    assert_eq!(column(&["--paths", "1"], "path_1"), forecaster.paths(&all, 1, 0).unwrap());
    let sums = forecaster.over(&all, Aggregate::Sum, 5, 0).unwrap();
    assert_eq!(column(&["--over", "sum", "--paths", "5"], "draw_1"), draws(&sums.predictions));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_forecasts() {
    const MOST_KIB: u64 = 200 << 10;
    let folder = folder_of_long();
    folder.write("long.csv", long(3_000));
    let peak = folder.most_memory(&["predict", "l.negmm", "long.csv", "--stride", "1", "-o", "p.csv", "--quiet"]);
    assert!(peak > 0 && peak < MOST_KIB, "{peak} KiB");
    assert_eq!(String::from_utf8(folder.read("p.csv")).unwrap().lines().count(), 1 + 24 * (3_000 - 24 - 27));
}

#[test]
fn invalid_series_and_options_are_refused() {
    let folder = Folder::new();
    folder.write("h.csv", hours(24 * 4));
    let fit = |more: &[&'static str]| [&["fit", "h.csv", "-o", "x.negmm"], more].concat();
    let horizon = "horizon must be from 1 to 1000, found 0";
    folder.refused(&fit(&["--sequence", "load", "--horizon", "0"]), 2, horizon);
    let alone = "--horizon is for forecasts: add --sequence COL";
    folder.refused(&fit(&["--target", "load", "--horizon", "2"]), 2, alone);
    let other = "--horizon is for forecasts, which are made by auto without --levels and --window";
    folder.refused(&fit(&["--sequence", "load", "--horizon", "2", "--method", "ne-gmm"]), 2, other);
    folder.refused(&fit(&["--sequence", "load", "--weight", "price"]), 2, "--weight cannot be used with forecasts");
    folder.refused(
        &fit(&["--sequence", "load", "--time", "load"]),
        2,
        "column \"load\" is named twice: the sequence, its time, its series, features and known columns are different ones",
    );
    folder.done(&[&fit(&["--sequence", "load", "--future-covariates", "price"])[..], &QUICK].concat());
    let ahead = "h.csv: \"price\" must be known 1 steps ahead, and the rows end 0 steps after the last known value: add rows whose \
                 \"load\" is empty";
    folder.refused(&["predict", "x.negmm", "h.csv"], 1, ahead);
    folder.refused(
        &["predict", "x.negmm", "h.csv", "--over", "mean"],
        2,
        "over must be sum, max or min, found \"mean\"",
    );
    folder.done(&["fit", "h.csv", "--target", "load", "--preset", "fast", "--steps", "20", "-o", "rows.negmm"]);
    let rows = "--paths is for forecasters, and this model is not one";
    folder.refused(&["predict", "rows.negmm", "h.csv", "--paths", "3"], 2, rows);
}

#[test]
fn times_go_on_as_they_were_written() {
    let folder = Folder::new();
    let hour = |at: usize| format!("2024-03-{:02}T{:02}:00:00+02:00,{}\n", 1 + at / 24, at % 24, 50 + (at * 7) % 24);
    folder.write("h.csv", format!("step,y\n{}", (0..72).map(hour).collect::<String>()));
    let fit = ["fit", "h.csv", "--sequence", "y", "--time", "step", "--horizon", "2", "-o", "h.negmm"];
    folder.done(&[&fit[..], &QUICK].concat());
    let out = folder.done(&["predict", "h.negmm", "h.csv"]).text();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "step,step_ahead,mean,sd");
    assert!(lines[1].starts_with("2024-03-04T00:00+02:00,1,"), "{}", lines[1]);
    // A test part shorter than the horizon, and rows that are not in order.
    let scores = folder.done(&["evaluate", "h.negmm", "h.csv", "--test-size", "1"]).text();
    assert!(scores.starts_with("1 forecast from 1 origin\n"), "{scores}");
    assert!(!scores.contains("within 100.0 %"), "{scores}");
    folder.write("back.csv", format!("step,y\n{}", (0..72).rev().map(hour).collect::<String>()));
    let mut back = fit;
    back[1] = "back.csv";
    let sorted = folder.done(&[&back[..], &QUICK, &["--sort"]].concat()).text();
    assert!(sorted.contains("saved h.negmm"), "{sorted}");
}

#[test]
fn a_hierarchy_adds_up_and_columns_are_kept() {
    let folder = Folder::new();
    let (mut text, mut days) = (String::from("region,shop,manager,day,y\n"), String::from("date,name,shop\n"));
    for (number, (region, shop)) in [("north", "a"), ("north", "b"), ("south", "c")].into_iter().enumerate() {
        for day in 0..84 {
            let noise = (f64::from(day) * 0.618_033_988_75 + number as f64 * 0.3).fract();
            let (month, date) =
                [(2, 0), (3, 28), (4, 59)].into_iter().rfind(|(_, first)| day >= *first).unwrap_or((2, 0));
            let date = day - date + 1;
            let fair = shop == "a" && (day == 20 || day == 62);
            let value = if fair { 3.0 } else { 1.0 } * (10.0 + f64::from(day % 7) + noise);
            text.push_str(&format!("{region},{shop},m{number},2026-{month:02}-{date:02},{value}\n"));
            if fair {
                days.push_str(&format!("2026-{month:02}-{date:02},fair,a\n"));
            }
        }
    }
    folder.write("s.csv", text);
    folder.write("days.csv", days);
    let fit = ["fit", "s.csv", "--sequence", "y", "--time", "day", "--hierarchy", "region,shop", "--horizon", "2"];
    let more = ["--holidays", "days.csv", "-o", "s.negmm"];
    let said = folder.done(&[&fit[..], &more, &QUICK].concat()).text();
    assert!(said.contains("energy score of all series and sums together"), "{said}");
    let out = folder.done(&["predict", "s.negmm", "s.csv", "--keep", "manager", "--paths", "3"]).text();
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..6], ["region", "shop", "day", "step", "manager", "mean"]);
    assert_eq!(
        (lines.len(), &lines[1][..2], &lines[3][..2]),
        (1 + 6 * 2, &["(all)", "(all)"][..], &["north", "(all)"][..])
    );
    assert_eq!((lines[1][4], lines[7][4], lines[11][4]), ("", "m0", "m2"));
    let number = |line: usize, column: usize| lines[line][column].parse::<f64>().unwrap();
    for column in [5, 7, 8, 9] {
        let parts = number(7, column) + number(9, column) + number(11, column);
        // Numbers are rounded where they are written.
        assert!((number(1, column) - parts).abs() < 2e-3 * parts.abs(), "{out}");
    }
    let scores = folder.done(&["evaluate", "s.negmm", "s.csv", "--test-size", "8"]).text();
    assert!(scores.contains("energy score of all series and sums together, from 4 origins"), "{scores}");
    let refused = folder.call(&["predict", "s.negmm", "s.csv", "--keep", "absent"]);
    assert!(refused.code != Some(0) && refused.err.contains("\"absent\""), "{}", refused.err);
}

#[test]
fn steps_after_the_training_are_new() {
    let folder = Folder::new();
    let series = |steps: usize| -> String {
        let value = |step: usize| 10.0 + (step * step % 17) as f64 + (step % 5) as f64;
        format!("y\n{}", (0..steps).map(|step| format!("{}\n", value(step))).collect::<String>())
    };
    folder.write("train.csv", series(120));
    folder.write("all.csv", series(140));
    let fit = ["fit", "train.csv", "--sequence", "y", "--horizon", "4", "-o", "m"];
    let text = folder.done(&[&fit[..], &QUICK].concat()).text();
    assert!(text.contains("skill"), "{text}");
    let new = folder.done(&["evaluate", "m", "all.csv", "--test-size", "20", "--json"]);
    assert!(!new.err.contains("training data") && new.json()["training_rows"] == 0, "{}", new.err);
    let half = folder.done(&["evaluate", "m", "all.csv", "--test-size", "40", "--json"]);
    assert!(half.err.contains("20 of 40 steps were in the training data"), "{}", half.err);
    assert_eq!(half.json()["training_rows"], 20);
}

#[test]
fn series_that_are_too_short_have_no_scores() {
    let folder = Folder::new();
    folder.write("s.csv", "y\n3\n5\n4\n");
    let outcome =
        folder.done(&[&["fit", "s.csv", "--sequence", "y", "--horizon", "3", "-o", "m"][..], &QUICK].concat());
    let warned = "no series is long enough to hold out its end: forecasts 3 steps ahead were not scored";
    assert!(outcome.err.contains(warned), "{}", outcome.err);
    assert!(outcome.text().contains("no scores: the series are too short to hold out their end"), "{}", outcome.text());
}
