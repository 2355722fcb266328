//! Dates from file to report: their formats, the model's features, and predictions in the format of training.

use crate::common;

use common::Folder;

/// Rides that begin at any hour of 60 days, day first; the price follows their length.
fn rides(mark: &str) -> String {
    let mut text = String::from("pickup,dropoff,y\n");
    for row in 0..60 {
        let (day, month, hour) = (row % 28 + 1, row / 28 % 3 + 1, row * 7 % 23);
        let (minute, length) = (row * 11 % 20, row % 30 + 1);
        let date = format!("{day:02}{mark}{month:02}{mark}2019");
        text.push_str(&format!("{date} {hour:02}:{minute:02},{date} {hour:02}:{:02},{length}\n", minute + length));
    }
    text
}

#[test]
fn a_column_of_dates_is_found_and_shown() {
    let folder = Folder::new();
    folder.write("f.csv", rides("/"));
    folder.fit("f.csv", "m", &["--report", "r.html"]);
    let text = folder.done(&["inspect", "m"]).text();
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_string();
    assert!(line("pickup").contains("time (dmy), mean 2019-0"), "{text}");
    assert!(line("pickup").ends_with("time of year, day of week, time of day"), "{text}");
    assert!(line("dropoff - pickup").contains("difference, mean 15.50 minutes, sd"), "{text}");
    let features = folder.done(&["inspect", "m", "--json"]).json()["features"].to_string();
    assert!(features.contains("pickup (Monday)") && features.contains("dropoff - pickup"), "{features}");
    folder.done(&["report", "m", "f.csv", "-o", "again.html"]);
    let pages = ["r.html", "again.html"].map(|page| String::from_utf8(folder.read(page)).unwrap());
    for page in pages {
        assert!(page.contains("days since 2019-01-"), "no axis of days");
        // Cells of the row selector.
        assert!(page.contains("\"2019-01-") && !page.contains("/01/2019"), "no date in the rows to pick");
    }
}

#[test]
fn the_date_format_is_that_of_training() {
    let folder = Folder::new();
    folder.write("f.csv", rides("/"));
    folder.fit("f.csv", "m", &[]);
    // Each date alone is ambiguous.
    folder.write("two.csv", "pickup,dropoff\n01/02/2019 09:00,01/02/2019 09:10\n03/02/2019 10:00,03/02/2019 10:05\n");
    folder.write("marks.csv", "pickup,dropoff\n1.2.2019 9:00 am,1.2.2019 9:10 am\n3.2.2019 10:00,3.2.2019 10:05\n");
    let expected = folder.done(&["predict", "m", "two.csv"]).text();
    assert_eq!(folder.done(&["predict", "m", "marks.csv"]).text(), expected);
    folder.write("odd.csv", "pickup,dropoff\n01/02/2019 09:00,2019-02-01\n");
    let message =
        "odd.csv, row 1 (line 2), column \"dropoff\": expected a time such as 31/12/2012 23:50, found \"2019-02-01\"";
    folder.refused(&["predict", "m", "odd.csv"], 1, message);
}

#[test]
fn the_option_sets_an_ambiguous_format() {
    let folder = Folder::new();
    let rows: String =
        (1..=12).map(|day| format!("{day:02}/{:02}/2019,{},{day}\n", 13 - day, 20_190_100 + day)).collect();
    folder.write("f.csv", format!("when,number,y\n{rows}"));
    let fit = ["fit", "f.csv", "--target", "y", "-o", "m", "--epochs", "1", "--method", "ne-gmm"];
    let message = "f.csv, column \"when\": \"01/12/2019\" may be dmy or mdy, and no cell of the column decides; use --date when:dmy or --date when:mdy";
    folder.refused(&fit, 2, message);
    folder.refused(
        &[&fit[..], &["--date", "wen:dmy"]].concat(),
        2,
        "f.csv: there is no column \"wen\" (did you mean \"when\"?); the columns are \"when\", \"number\", \"y\"",
    );
    folder.done(&[&fit[..], &["--ignore", "when"]].concat());
    let read_as = |date: &str| {
        folder.done(&[&fit[..], &["--date", date]].concat());
        folder.done(&["inspect", "m"]).text()
    };
    assert!(read_as("when:mdy").contains("when    time (mdy)"));
    let text = read_as("when:dmy,number");
    assert!(text.contains("when           time (dmy)") && text.contains("number         time (ymd)"), "{text}");
    folder.write("c.toml", "target = \"y\"\ndate = [\"when:dmy\"]\nmethod = \"ne-gmm\"\nepochs = 1\n");
    folder.done(&["fit", "f.csv", "-o", "m", "--config", "c.toml"]);
    assert!(folder.done(&["inspect", "m"]).text().contains("when    time (dmy)"));
    let compare = ["compare", "f.csv", "--target", "y", "--methods", "constant", "--folds", "2"];
    folder.refused(&compare, 2, message);
    folder.done(&[&compare[..], &["--date", "when:dmy"]].concat());
}
