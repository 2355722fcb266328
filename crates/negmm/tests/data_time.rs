//! Dates and times: every format, ambiguous columns, features, and predictions.

use negmm::data::time::{Ambiguous, clock, iso};
use negmm::data::{Column, ColumnRoles, CsvStream, TimeFormat};
use negmm::{Encoder, Method, Model, Table, fit};

/// Seconds since 1970 of a day in UTC, and of a time of day.
const DAY: f64 = 86_400.0;
/// 2012-10-02.
const SECOND_OF_OCTOBER: f64 = 15_615.0 * DAY;

fn decided(levels: &[&str]) -> Option<TimeFormat> {
    TimeFormat::decide(levels.iter().copied()).unwrap()
}

#[test]
fn every_form_of_a_date() {
    let nine = SECOND_OF_OCTOBER + 9.0 * 3600.0;
    let cases: &[(TimeFormat, &str, f64)] = &[
        (TimeFormat::Ymd, "2012-10-02", SECOND_OF_OCTOBER),
        (TimeFormat::Ymd, "2012/10/2", SECOND_OF_OCTOBER),
        (TimeFormat::Ymd, "2012.10.02", SECOND_OF_OCTOBER),
        (TimeFormat::Ymd, "2012-10", SECOND_OF_OCTOBER - DAY),
        (TimeFormat::Ymd, "2012-10-02 09:00", nine),
        (TimeFormat::Ymd, "2012-10-02T09:00:00", nine),
        (TimeFormat::Ymd, "2012-10-02  9:00 am", nine),
        (TimeFormat::Ymd, "2012-10-02 09:00:00.250", nine + 0.25),
        (TimeFormat::Ymd, "2012-10-02 09:00:00,5", nine + 0.5),
        (TimeFormat::Ymd, "2012-10-02T09:00:00Z", nine),
        (TimeFormat::Ymd, "2012-10-02 09:00 UTC", nine),
        (TimeFormat::Ymd, "2012-10-02T09:00:00+02:00", nine - 7200.0),
        (TimeFormat::Ymd, "2012-10-02T09:00:00-0530", nine + 5.5 * 3600.0),
        (TimeFormat::Ymd, "2012-10-02T09:00+02", nine - 7200.0),
        (TimeFormat::Ymd, "20121002T090000", nine),
        (TimeFormat::Ymd, "20121002", SECOND_OF_OCTOBER),
        (TimeFormat::Ymd, "201210", SECOND_OF_OCTOBER - DAY),
        (TimeFormat::Ymd, "2012-10-01 24:00", SECOND_OF_OCTOBER),
        (TimeFormat::Dmy, "02/10/2012", SECOND_OF_OCTOBER),
        (TimeFormat::Dmy, "2.10.2012 09:00", nine),
        (TimeFormat::Dmy, "02-10-12", SECOND_OF_OCTOBER),
        (TimeFormat::Mdy, "10/02/2012", SECOND_OF_OCTOBER),
        (TimeFormat::Mdy, "10/2/12 9:00 AM", nine),
        (TimeFormat::Mdy, "10/2/2012, 9:00:00 AM", nine),
        (TimeFormat::Named, "2 Oct 2012", SECOND_OF_OCTOBER),
        (TimeFormat::Named, "02-OCT-12", SECOND_OF_OCTOBER),
        (TimeFormat::Named, "Oct 2, 2012", SECOND_OF_OCTOBER),
        (TimeFormat::Named, "October 2 2012 09:00", nine),
        (TimeFormat::Named, "2 October 2012", SECOND_OF_OCTOBER),
        (TimeFormat::Named, "2Oct2012", SECOND_OF_OCTOBER),
        (TimeFormat::Named, "Oct 2012", SECOND_OF_OCTOBER - DAY),
        (TimeFormat::Named, "Tue, 02 Oct 2012 09:00:00 GMT", nine),
        (TimeFormat::TimeOfDay, "09:30", 9.5 * 3600.0),
        (TimeFormat::TimeOfDay, "9:30 pm", 21.5 * 3600.0),
        (TimeFormat::TimeOfDay, "12:05 a.m.", 300.0),
        (TimeFormat::TimeOfDay, "9 PM", 21.0 * 3600.0),
        (TimeFormat::TimeOfDay, "23:59:59.5", DAY - 0.5),
        (TimeFormat::Seconds, "1349168400", nine),
        (TimeFormat::Milliseconds, "1349168400500", nine + 0.5),
    ];
    for (form, text, seconds) in cases {
        assert_eq!(form.read(text), Some(*seconds), "{text}");
        // Model files have the format by its word.
        assert_eq!(serde_json::to_value(form).unwrap(), form.word());
        let told_only =
            ["20121002", "201210"].contains(text) || matches!(form, TimeFormat::Seconds | TimeFormat::Milliseconds);
        if !told_only && decided_or_ambiguous(text) != *form {
            panic!("{text} is not found to be {form}");
        }
    }
}

/// The inferred format, the first of those that fit.
fn decided_or_ambiguous(text: &str) -> TimeFormat {
    match TimeFormat::decide([text].into_iter()) {
        Ok(form) => form.unwrap_or_else(|| panic!("{text} is no date")),
        Err(Ambiguous { formats, .. }) if text.starts_with("10/") => formats[1],
        Err(Ambiguous { formats, .. }) => formats[0],
    }
}

#[test]
fn what_is_no_date() {
    for text in [
        "",
        "x",
        "2012",
        "20121002",
        "3.14",
        "1.2.13",
        "3-5-12",
        "2012-13-01",
        "2012-02-30",
        "31/31/2012",
        "12/2012",
        "10:75",
        "25:00",
        "3:1",
        "2012-10-02 9",
        "2012-10-02x",
        "2012-10-02 09:00 mars",
        "2 Foo 2012",
        "ma 2 2012",
        "Oct 2",
        "-1-2-2012",
        "2012-10/02",
        "13:00 pm",
        "24:01",
        "2012-10-02T09:00Z+02:00",
        "١٢:٣٠",
        "2012-10-02é",
        "1,000",
        "10.0.0.1",
    ] {
        assert_eq!(TimeFormat::decide([text].into_iter()), Ok(None), "{text:?}");
    }
    assert_eq!(TimeFormat::decide(std::iter::empty()), Ok(None));
    assert_eq!(decided(&["2012-10-02", "unknown"]), None);
    assert_eq!(decided(&["2012-10-02", "02.10.2012"]), None);
}

#[test]
fn the_whole_column_decides_which_is_the_day() {
    assert_eq!(decided(&["01/02/2012", "13/02/2012"]), Some(TimeFormat::Dmy));
    assert_eq!(decided(&["01/02/2012", "02/13/2012"]), Some(TimeFormat::Mdy));
    assert_eq!(decided(&["13/02/2012", "02/13/2012"]), None);
    let ambiguous = TimeFormat::decide(["01/02/2012", "03/04/2012"].into_iter()).unwrap_err();
    assert_eq!(ambiguous, Ambiguous { cell: "01/02/2012".into(), formats: vec![TimeFormat::Dmy, TimeFormat::Mdy] });
    assert_eq!(decided(&["2012-01-02", "2012-03-04 09:00"]), Some(TimeFormat::Ymd));
}

#[test]
fn years_of_two_digits_are_1969_to_2068() {
    let year = |text: &str| iso(TimeFormat::Dmy.read(text).unwrap());
    assert_eq!([year("01/01/69"), year("31/12/68")], ["1969-01-01", "2068-12-31"]);
}

#[test]
fn times_are_written_as_they_are_read() {
    for text in ["0001-01-01", "9999-12-31 23:59:59", "1969-12-31 23:50", "2012-02-29 00:00:01.25", "1600-03-01 12:00"]
    {
        assert_eq!(iso(TimeFormat::Ymd.read(text).unwrap()), text);
    }
    assert_eq!(
        ["09:30", "23:59:59.5", "00:00"].map(|text| clock(TimeFormat::TimeOfDay.read(text).unwrap())),
        ["09:30", "23:59:59.5", "00:00"]
    );
}

fn table(text: &str) -> Table {
    Table::read_from(text.as_bytes(), "f.csv").unwrap()
}

fn rows(encoder: &Encoder, table: &Table) -> Vec<Vec<f32>> {
    let (set, _) = encoder.encode_features(table).unwrap();
    set.x().chunks(set.stride()).map(|row| row[..set.features()].to_vec()).collect()
}

fn encoder(text: &str) -> Encoder {
    Encoder::fit(&table(text), "y", &ColumnRoles::default()).unwrap()
}

#[test]
fn parts_that_vary_become_features() {
    let names = |text: &str| encoder(text).feature_names();
    // One hour, one weekday: only the time itself and, from three months on, the time of year.
    assert_eq!(names("when,y\n2024-01-01,1\n2024-01-08,2\n"), ["when"]);
    assert_eq!(names("when,y\n2024-01-01,1\n2024-01-02,2\n"), ["when", "when (Monday)", "when (Tuesday)"]);
    assert_eq!(
        names("when,y\n2024-01-01,1\n2024-02-05,2\n2024-03-04,3\n"),
        [
            "when",
            "when (time of year, sin)",
            "when (time of year, cos)",
            "when (time of year, sin 2)",
            "when (time of year, cos 2)"
        ]
    );
    // First days of months do not determine weekdays.
    assert_eq!(names("when,y\n2024-01-01,1\n2024-02-01,2\n"), ["when"]);
    assert_eq!(
        names("when,y\n2024-01-01 10:00,1\n2024-01-01 11:00,2\n,3\n"),
        [
            "when",
            "when (time of day, sin)",
            "when (time of day, cos)",
            "when (time of day, sin 2)",
            "when (time of day, cos 2)",
            "when (missing)"
        ]
    );
    assert_eq!(names("when,x,y\n2024-01-01,1,1\n2024-01-01,2,2\n"), ["x"]);
    let clock = names("at,y\n09:30,1\n24:00,2\n");
    assert_eq!((clock.len(), clock[0].as_str(), clock[1].as_str()), (5, "at", "at (time of day, sin)"));
}

#[test]
fn ten_to_midnight_is_near_ten_past() {
    let encoder = encoder("when,y\n2024-01-01 23:50,1\n2024-01-02 00:10,2\n2024-01-02 12:00,3\n2024-01-01 00:10,3\n");
    let names = encoder.feature_names();
    let of_day: Vec<usize> = (0..names.len()).filter(|at| names[*at].contains("time of day")).collect();
    let times = rows(&encoder, &table("when\n2024-01-01 23:50\n2024-01-02 00:10\n2024-01-02 12:00\n"));
    let distance = |a: usize, b: usize| -> f32 {
        of_day.iter().map(|at| (times[a][*at] - times[b][*at]).powi(2)).sum::<f32>().sqrt()
    };
    assert!(distance(0, 1) < 0.2 && distance(0, 2) > 1.9, "{} {}", distance(0, 1), distance(0, 2));
}

#[test]
fn missing_times_are_zero_and_flagged() {
    let encoder = encoder("when,y\n2024-01-01 10:00,1\nNA,2\n2024-01-02 11:00,3\n");
    let gap = &rows(&encoder, &table("when\n2024-01-01\nNA\n"))[1];
    assert!(gap[..gap.len() - 1].iter().all(|feature| *feature == 0.0));
    assert_eq!(gap[gap.len() - 1], 1.0);
    let (kept, _) = encoder.keeping_missing(true).encode_features(&table("when\nNA\n")).unwrap();
    // The time, and the two harmonics of the time of day; the weekdays are 0 or 1.
    assert_eq!(kept.x().iter().filter(|feature| feature.is_nan()).count(), 5);
}

#[test]
fn a_date_beyond_training_is_no_error() {
    let encoder = encoder("when,y\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n").soft_clipping(Some(8.0));
    let far = rows(&encoder, &table("when\n9999-12-31\n0001-01-01\n2024-01-06\n"));
    assert!(far[0][0] > 7.9 && far[0][0] <= 8.0 && far[1][0] < -7.9);
    // A Saturday, which training did not have.
    assert!(far[2][1..].iter().all(|day| *day == 0.0));
}

#[test]
fn two_times_give_their_difference() {
    let text = "start,end,y\n2019-03-14 23:29:02,2019-03-14 23:37:17,1\n2019-03-09 16:50:00,2019-03-09 17:29:42,2\n,2019-03-09,3\n";
    let encoder = encoder(text);
    assert_eq!(encoder.feature_names().last().unwrap(), "end - start");
    let difference = &encoder.differences()[0].seconds;
    assert_eq!((difference.mean, difference.sd), ((495.0 + 2382.0) / 2.0, (2382.0 - 495.0) / 2.0));
    let last: Vec<f32> = rows(&encoder, &table(text)).iter().map(|row| row[row.len() - 1]).collect();
    assert_eq!(last, [-1.0, 1.0, 0.0]);
    // Of four columns all six pairs, of five none.
    let many = |columns: usize| {
        let line = |row: usize| {
            (0..columns).map(|at| format!("2024-0{}-0{},", at + 1, (at + 1) * row % 7 + 1)).collect::<String>()
        };
        let header: String = (0..columns).map(|at| format!("t{at},")).collect();
        let text = format!("{header}y\n{}1\n{}2\n{}3\n", line(1), line(2), line(3));
        Encoder::fit(&table(&text), "y", &ColumnRoles::default()).unwrap().differences().len()
    };
    assert_eq!((many(4), many(5)), (6, 0));
}

#[test]
fn columns_that_do_not_decide_and_the_option_that_does() {
    let text = "when,y\n01/02/2012,1\n03/04/2012,2\n";
    let fitted = |text: &str, form: Option<TimeFormat>| {
        let inputs = ColumnRoles::default().dates(vec![("when".into(), form)]);
        Encoder::fit(&table(text), "y", &inputs)
    };
    let complaint = "f.csv, column \"when\": \"01/02/2012\" may be dmy or mdy, and no cell of the column decides; set the date format of \"when\" to dmy or mdy";
    assert_eq!(Encoder::fit(&table(text), "y", &ColumnRoles::default()).unwrap_err().to_string(), complaint);
    assert_eq!(fitted(text, None).unwrap_err().to_string(), complaint);
    // An input that is not used need not decide.
    let ignored = ColumnRoles::default().ignore(["when"]);
    assert!(Encoder::fit(&table("when,x,y\n01/02/2012,1,1\n03/04/2012,2,2\n"), "y", &ignored).is_ok());
    let mean = |encoder: Encoder| match &encoder.inputs()[0].encoding {
        negmm::data::Encoding::Time(encoding) => iso(encoding.seconds.mean),
        other => panic!("{other:?}"),
    };
    assert_eq!(mean(fitted(text, Some(TimeFormat::Dmy)).unwrap()), "2012-03-03");
    assert_eq!(mean(fitted(text, Some(TimeFormat::Mdy)).unwrap()), "2012-02-02");
    // Numbers are dates only by an explicit option.
    let numbers = "when,y\n20120102,1\n20120104,2\n";
    assert_eq!(mean(fitted(numbers, None).unwrap()), "2012-01-03");
    assert_eq!(mean(fitted("when,y\n201201,1\n201203,2\n", None).unwrap()), "2012-01-31");
    assert_eq!(mean(fitted("when,y\n0,1\n172800,2\n", Some(TimeFormat::Seconds)).unwrap()), "1970-01-02");
    assert_eq!(
        mean(fitted("when,y\n0,1\n172800,2\n", Some(TimeFormat::Milliseconds)).unwrap()),
        "1970-01-01 00:01:26.4"
    );
    let complaint = fitted("when,y\n0,1\n172800,2\n", None).unwrap_err().to_string();
    assert!(complaint.contains("0 is not a date such as 20121231"), "{complaint}");
    let complaint = fitted("when,y\n13/01/2012,1\nsoon,2\n", Some(TimeFormat::Dmy)).unwrap_err().to_string();
    assert_eq!(complaint, "f.csv, row 2, column \"when\": expected a time such as 31/12/2012 23:50, found \"soon\"");
    let complaint = fitted("when,y\n13/01/2012,1\nsoon,2\n", None).unwrap_err().to_string();
    assert!(complaint.contains("not all cells are dates of one form"), "{complaint}");
}

/// Rides whose price depends on the hour and how long they take.
fn rides() -> String {
    let mut text = String::from("start,end,y\n");
    for row in 0..240_i64 {
        let start = 1_350_000_000.0 + (row * 7_919 % 1_000_003) as f64;
        let length = 60.0 * (row % 37 + 3) as f64;
        let price = 3.0 + length / 60.0 + 5.0 * ((start % DAY) / DAY * std::f64::consts::TAU).sin();
        text.push_str(&format!("{},{},{price}\n", iso(start), iso(start + length)));
    }
    text
}

fn fitted(table: &Table) -> Model {
    let mut method = Method::by_name("ne-gmm").unwrap();
    method.set("epochs", "3").unwrap();
    fit(table, "y", &method).unwrap()
}

fn model(text: &str) -> Model {
    fitted(&table(text))
}

#[test]
fn files_streams_and_saved_models_predict_the_same() {
    let text = rides();
    let model = model(&text);
    let expected = model.predict(&table(&text)).unwrap().mean();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.encoder(), model.encoder());
    let mut stream =
        CsvStream::from_reader(std::io::Cursor::new(text.clone()), "f.csv", &again.encoder().schema()).unwrap();
    let mut streamed = Vec::new();
    while let Some(chunk) = stream.next_chunk(50).unwrap() {
        assert!(matches!(chunk.table.column("start"), Some(Column::Times(_))));
        streamed.extend(again.predict(&chunk.table).unwrap().mean());
    }
    assert_eq!(streamed, expected);
    let times = model.encoder().with_times(table(&text)).unwrap();
    assert!(matches!(times.column("end"), Some(Column::Times(_))));
    assert_eq!(model.predict(&times).unwrap().mean(), expected);
    // A model of times that were never text is the same model.
    assert_eq!(fitted(&times).to_bytes().unwrap(), model.to_bytes().unwrap());
}

#[test]
fn a_cell_that_is_no_time_is_named() {
    let model = model(&rides());
    let text = "start,end\n2012-10-02,2012-10-03\n2012-10-02,never\n";
    let complaint = "f.csv, row 2, column \"end\": expected a time such as 2012-12-31 23:50, found \"never\"";
    assert_eq!(model.predict(&table(text)).unwrap_err().to_string(), complaint);
    let mut stream = CsvStream::from_reader(std::io::Cursor::new(text), "f.csv", &model.encoder().schema()).unwrap();
    let complaint = "f.csv, row 2 (line 3), column \"end\": expected a time such as 2012-12-31 23:50, found \"never\"";
    assert_eq!(stream.next_chunk(10).unwrap_err().to_string(), complaint);
    let numbers = model.predict(&table("start,end\n5,6\n")).unwrap_err().to_string();
    assert_eq!(numbers, "f.csv, row 1, column \"start\": expected a time such as 2012-12-31 23:50, found \"5\"");
}

#[test]
fn a_time_is_no_target_and_no_weight() {
    let times = Column::Times(vec![f64::NAN, SECOND_OF_OCTOBER]);
    let table = Table::new(vec![("x", Column::Numbers(vec![1.0, 2.0])), ("y", times)]).unwrap();
    let complaint = Encoder::fit(&table, "y", &ColumnRoles::default()).unwrap_err().to_string();
    assert_eq!(complaint, "row 2, column \"y\": expected a number, found \"2012-10-02\"");
}
