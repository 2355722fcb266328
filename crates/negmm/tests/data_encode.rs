//! Encoding: the features of each column, the exact message of every error, and serialisation.

use negmm::data::{Column, ColumnRoles, ENCODED_LIMIT, Encoding, MAX_CATEGORIES, NumberEncoding, Warnings};
use negmm::{Encoder, Error, ErrorKind, Table};
use proptest::prelude::*;

const PEOPLE: &str = "age,city,same,gaps,none,kind,pay\n\
    20,Rome,5,1,,a,100\n\
    30,Paris,5,1,,a,200\n\
    ,Paris,5,,,a,300\n\
    40,NA,5,1,,a,400\n";

fn table(text: &str) -> Table {
    Table::read_from(text.as_bytes(), "people.csv").unwrap()
}

fn people() -> Encoder {
    Encoder::fit(&table(PEOPLE), "pay", &ColumnRoles::default()).unwrap()
}

fn rows(encoder: &Encoder, table: &Table) -> (Vec<Vec<f32>>, Vec<f32>, Warnings) {
    let (set, warnings) = encoder.encode(table).unwrap();
    assert_eq!((set.len(), set.features()), (table.rows(), encoder.features()));
    let rows = set.x().chunks(set.stride());
    assert!(rows.clone().all(|row| row[set.features()..].iter().all(|padding| *padding == 0.0)));
    (rows.map(|row| row[..set.features()].to_vec()).collect(), set.y().to_vec(), warnings)
}

fn fit_error(text: &str, target: &str, inputs: &ColumnRoles) -> Error {
    Encoder::fit(&table(text), target, inputs).unwrap_err()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn columns_become_features() {
    let encoder = people();
    assert_eq!(
        encoder.feature_names(),
        ["age", "age (missing)", "city=Paris", "city=Rome", "city (missing)", "gaps (missing)"]
    );
    let (x, y, warnings) = rows(&encoder, &table(PEOPLE));
    let unit = 1.5_f32.sqrt();
    assert_eq!(x[0], [-unit, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(x[1], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(x[2], [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(x[3], [unit, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert!(warnings.is_empty());
    let sd = 12500_f64.sqrt();
    assert_eq!((encoder.target().mean, encoder.target().scale, encoder.target().constant), (250.0, sd, false));
    assert_eq!(y[0], (-150.0 / sd) as f32);
    assert!((encoder.unscale_target(encoder.scale_target(123.0)) - 123.0).abs() < 1e-12);
    assert_eq!(encoder.targets(&table(PEOPLE)).unwrap().as_ref(), [100.0, 200.0, 300.0, 400.0]);
}

#[test]
fn prediction_needs_only_the_inputs_that_have_features() {
    let encoder = people();
    let columns: Vec<String> = encoder.schema().columns.into_iter().map(|(name, _)| name).collect();
    assert_eq!(columns, ["age", "city", "gaps"]);
    assert_eq!(encoder.schema_with_target().columns[3].0, "pay");
    let new = table("gaps,city,age,pay\n1,Rome,30,\n");
    assert_eq!(encoder.encode_features(&new).unwrap().0.y(), [0.0]);
    assert_eq!(
        encoder.encode(&new).unwrap_err().to_string(),
        "people.csv, row 1, column \"pay\": the target is missing"
    );
    let (set, _) = encoder.encode(&table("gaps,city,age\n1,Rome,30\n")).unwrap();
    assert_eq!(set.y(), [0.0]);
    assert_eq!(
        encoder.encode(&table("city,ages\nRome,1\n")).unwrap_err().to_string(),
        "people.csv: there is no column \"age\" (did you mean \"ages\"?) or \"gaps\"; the columns are \"city\", \"ages\""
    );
    assert_eq!(
        encoder.encode(&table("city,age,gaps\nRome,1,1\nRome,abc,1\n")).unwrap_err().to_string(),
        "people.csv, row 2, column \"age\": expected a number, found \"abc\""
    );
}

#[test]
fn odd_cells_are_counted_not_refused() {
    let training = table("n,t,y\n1,a,1\n2,b,2\n3,a,3\n");
    let encoder = Encoder::fit(&training, "y", &ColumnRoles::default()).unwrap();
    let (x, _, mut warnings) = rows(&encoder, &table("n,t\n,c\n2,\n,a\n"));
    assert_eq!(x, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let (_, _, others) = rows(&encoder, &table("n,t\n2,x\n2,y\n"));
    warnings.merge(&others);
    assert_eq!(
        warnings.sentences(),
        [
            "column \"t\": 3 cells hold a category never seen in training",
            "column \"n\": 2 cells are missing, none was in training",
            "column \"t\": 1 cell is missing, none was in training",
        ]
    );
}

#[test]
fn rare_categories_share_a_feature_where_only_one_has_a_second_row() {
    let rows_of: String = (0..100).map(|i| format!("c{i:02},{i}\n")).chain(["c99,1\n".to_string()]).collect();
    let encoder = Encoder::fit(&table(&format!("t,y\n{rows_of}")), "y", &ColumnRoles::default()).unwrap();
    assert_eq!(encoder.features(), MAX_CATEGORIES + 1);
    assert_eq!(encoder.feature_names()[0], "t=c99");
    assert_eq!(encoder.feature_names()[MAX_CATEGORIES], "t=(other)");
    let (x, _, warnings) = rows(&encoder, &table("t\nc98\nnew\nc00\n"));
    assert!(warnings.is_empty());
    assert_eq!(x.iter().map(|row| row[MAX_CATEGORIES]).collect::<Vec<_>>(), [1.0, 1.0, 0.0]);
    assert!(x.iter().all(|row| row.iter().sum::<f32>() == 1.0));
}

#[test]
fn postcodes_stay_categories_when_a_file_has_only_numeric_ones() {
    let encoder = Encoder::fit(&table("p,y\n75001,1\nW1,2\n"), "y", &ColumnRoles::default()).unwrap();
    let (x, _, warnings) = rows(&encoder, &table("p\n75001\n3\n"));
    assert_eq!(encoder.feature_names(), ["p=75001", "p=W1"]);
    assert_eq!(x, [[1.0, 0.0], [0.0, 0.0]]);
    assert_eq!(warnings.new_categories()["p"], 1);
}

#[test]
fn constant_inputs_and_targets_are_allowed() {
    let constant = table("a,b,y\n1,x,3e9\n1,x,3e9\n");
    let encoder = Encoder::fit(&constant, "y", &ColumnRoles::default()).unwrap();
    assert_eq!((encoder.features(), encoder.inputs().len()), (0, 2));
    assert_eq!((encoder.target().scale, encoder.target().constant), (3e9 * 1e-6, true));
    let (set, _) = encoder.encode(&constant).unwrap();
    assert_eq!((set.len(), set.y()), (2, &[0.0, 0.0][..]));
    assert!(encoder.schema().columns.is_empty());
}

#[test]
fn inputs_can_be_chosen() {
    let text = "a,b,c,y\n1,2,3,4\n2,3,4,5\n";
    let chosen = |features: Option<&[&str]>, ignore: &[&str]| {
        let mut inputs = ColumnRoles::default().ignore(names(ignore));
        inputs.features = features.map(names);
        Encoder::fit(&table(text), "y", &inputs).map(|encoder| encoder.feature_names().join(" "))
    };
    assert_eq!(chosen(None, &[]).unwrap(), "a b c");
    assert_eq!(chosen(None, &["b"]).unwrap(), "a c");
    assert_eq!(chosen(Some(&["c", "a", "c"]), &[]).unwrap(), "a c");
    let error = chosen(Some(&["q"]), &["height"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Options);
    assert_eq!(
        error.to_string(),
        "people.csv: there is no column \"q\" or \"height\"; the columns are \"a\", \"b\", \"c\", \"y\""
    );
    let error = chosen(Some(&["a", "y"]), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Options);
    assert_eq!(error.to_string(), "people.csv: the target \"y\" cannot be an input too");
    let error = chosen(None, &["a", "b", "c"]).unwrap_err();
    assert_eq!(error.to_string(), "people.csv: there is no input column beside the target \"y\"");
}

#[test]
fn targets_that_cannot_be_learnt() {
    let all = ColumnRoles::default();
    let error = fit_error("a,price\n1,2\n", "pric", &all);
    assert_eq!(error.kind(), ErrorKind::Options);
    assert_eq!(
        error.to_string(),
        "people.csv: there is no column \"pric\" (did you mean \"price\"?); the columns are \"a\", \"price\""
    );
    assert_eq!(
        fit_error("a,y\n1,2\n1,x\n", "y", &all).to_string(),
        "people.csv, row 2, column \"y\": expected a number, found \"x\""
    );
    assert_eq!(
        fit_error("a,y\n1,2\n1,\n", "y", &all).to_string(),
        "people.csv, row 2, column \"y\": the target is missing"
    );
    assert_eq!(
        fit_error("y\n1\n", "y", &all).to_string(),
        "people.csv: there is no input column beside the target \"y\""
    );
    let empty = Table::new(vec![("a", Column::Numbers(vec![])), ("y", Column::Numbers(vec![]))]).unwrap();
    let error = Encoder::fit(&empty, "y", &all).unwrap_err();
    assert_eq!(error.to_string(), "there is no row to learn from");
}

#[test]
fn an_encoder_survives_json() {
    let json = serde_json::to_string(&people()).unwrap();
    let back: Encoder = serde_json::from_str(&json).unwrap();
    assert_eq!(back, people());
    back.validate().unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        value["inputs"][1],
        serde_json::json!({"name": "city", "kind": "text", "levels": ["Paris", "Rome"], "pooled": false, "missing": true})
    );
    assert_eq!(
        value["inputs"][2],
        serde_json::json!({"name": "same", "kind": "number", "mean": 5.0, "sd": 0.0, "missing_flag": false, "range": [5.0, 5.0]})
    );
    assert_eq!(value["target"]["name"], "pay");
}

#[test]
fn hostile_encoders_are_refused() {
    let number = |name: &str, mean: f64, sd: f64| serde_json::json!({"name": name, "kind": "number", "mean": mean, "sd": sd, "missing_flag": false});
    let text = |levels: Vec<String>| serde_json::json!({"name": "t", "kind": "text", "levels": levels, "pooled": true, "missing": true});
    let refused = |inputs: Vec<serde_json::Value>, scale: f64| {
        let target = serde_json::json!({"name": "y", "mean": 0.0, "scale": scale, "constant": false});
        let json = serde_json::json!({"inputs": inputs, "target": target});
        let error = serde_json::from_value::<Encoder>(json).unwrap().validate().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        error.to_string()
    };
    let twice = vec![number("a", 0.0, 1.0), number("a", 0.0, 1.0)];
    assert_eq!(refused(twice, 1.0), "column \"a\": occurs twice in the encoder");
    assert_eq!(refused(vec![number("y", 0.0, 1.0)], 1.0), "column \"y\": occurs twice in the encoder");
    assert_eq!(
        refused(vec![number("a", 0.0, -1.0)], 1.0),
        "column \"a\": mean and sd must be finite and sd not negative"
    );
    let many: Vec<String> = (0..65).map(|level| level.to_string()).collect();
    assert_eq!(refused(vec![text(many)], 1.0), "column \"t\": expected at most 64 levels, found 65");
    assert_eq!(refused(vec![text(names(&["x", "x"]))], 1.0), "column \"t\": a level occurs twice");
    assert_eq!(refused(vec![], 0.0), "target \"y\": mean and scale must be finite and scale positive");
    let grid = |step: f64| {
        let target = serde_json::json!({"name": "y", "mean": 0.0, "scale": 1.0, "constant": false, "grid": step});
        let json = serde_json::json!({"inputs": [], "target": target});
        serde_json::from_value::<Encoder>(json).unwrap().validate()
    };
    grid(0.5).unwrap();
    let error = grid(0.0).unwrap_err();
    assert_eq!(error.to_string(), "target \"y\": the step of its grid must be finite and positive");
}

#[test]
fn a_table_without_rows_gives_an_empty_set() {
    let empty = table(PEOPLE).select_rows(&[]);
    assert!(people().encode(&empty).unwrap().0.is_empty());
}

#[test]
fn extreme_numbers_are_cut_off() {
    let encoder = Encoder::fit(&table("a,y\n0,0\n1,1\n"), "y", &ColumnRoles::default()).unwrap();
    let (x, y, _) = rows(&encoder, &table("a,y\n1e300,-1e300\n"));
    assert_eq!((x[0][0], y[0]), (ENCODED_LIMIT as f32, -ENCODED_LIMIT as f32));
    let expected = Encoding::Number(NumberEncoding {
        mean: 0.5,
        sd: 0.5,
        missing_flag: false,
        range: Some((0.0, 1.0)),
        quantile_transform: None,
    });
    assert_eq!(encoder.inputs()[0].encoding, expected);
}

fn number() -> impl Strategy<Value = f64> {
    let any_finite = any::<f64>().prop_filter("finite", |number| number.is_finite());
    prop_oneof![any_finite, -1.0..1.0, Just(f64::NAN), Just(f64::MAX), Just(f64::MIN), Just(5e-324), Just(0.0)]
}

proptest! {
    #[test]
    fn encoded_numbers_are_finite(
        train in proptest::collection::vec((number(), number(), "[abc]?"), 1..20),
        new in proptest::collection::vec((number(), "[abcd]?"), 0..20),
    ) {
        let text = |cells: Vec<&str>| Column::text(cells.into_iter().map(|cell| (!cell.is_empty()).then_some(cell)));
        let training = Table::new(vec![
            ("a", Column::Numbers(train.iter().map(|row| row.0).collect())),
            ("t", text(train.iter().map(|row| row.2.as_str()).collect())),
            ("y", Column::Numbers(train.iter().map(|row| if row.1.is_nan() { 0.0 } else { row.1.clamp(-1e100, 1e100) }).collect())),
        ]).unwrap();
        let encoder = Encoder::fit(&training, "y", &ColumnRoles::default()).unwrap();
        encoder.validate().unwrap();
        let back: Encoder = serde_json::from_str(&serde_json::to_string(&encoder).unwrap()).unwrap();
        prop_assert_eq!(&back, &encoder);
        prop_assert_eq!(encoder.feature_names().len(), encoder.features());
        let new = Table::new(vec![
            ("a", Column::Numbers(new.iter().map(|row| row.0).collect())),
            ("t", text(new.iter().map(|row| row.1.as_str()).collect())),
        ]).unwrap();
        for table in [&training, &new] {
            let (set, _) = encoder.encode(table).unwrap();
            prop_assert!(set.x().iter().chain(set.y()).all(|number| number.is_finite()));
        }
    }
}
