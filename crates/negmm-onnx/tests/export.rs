//! The bytes of exported graphs, and errors. Outputs of a runtime are compared with the library in `python/tests/test_onnx.py`.

use negmm::data::Column;
use negmm::{Method, Model, Table, fit};

fn table(names: [&str; 2]) -> Table {
    let x: Vec<f64> = (0..60).map(|row| (f64::from(row) * 0.618_033_988_7).fract()).collect();
    let city = Column::text((0..60).map(|row| if row % 7 == 0 { None } else { Some(["Oslo", "Rome"][row % 2]) }));
    let y = x.iter().map(|x| 2.0 * x + (x * 37.0).sin()).collect();
    Table::new(vec![(names[0], Column::Numbers(x)), (names[1], city), ("y", Column::Numbers(y))]).unwrap()
}

fn model(names: [&str; 2], method: &str) -> Model {
    let mut method = Method::by_name(method).unwrap();
    if method.is_neural() {
        method.set("epochs", "2").unwrap();
    }
    fit(&table(names), "y", &method).unwrap()
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    for method in ["ne-gmm", "beta-nll", "sample-net", "ngboost", "constant"] {
        let model = model(["x", "city"], method);
        let bytes = negmm_onnx::export(&model).unwrap();
        assert_eq!(bytes, negmm_onnx::export(&model).unwrap(), "{method}");
        // The version of the format, then who wrote it.
        assert!(bytes.starts_with(b"\x08\x08\x12\x05negmm"), "{method}");
        for name in ["city", "levels", "quantiles", "negmm.inputs"] {
            assert!(bytes.windows(name.len()).any(|part| part == name.as_bytes()), "{method} {name}");
        }
    }
}

#[test]
fn a_column_that_has_the_name_of_an_output_is_refused() {
    for name in ["mean", "levels", "quantiles"] {
        let error = negmm_onnx::export(&model([name, "city"], "ngboost")).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("column \"{name}\": the graph has an input or output")),
            "{error}"
        );
    }
}

#[test]
fn a_model_without_columns_is_refused() {
    let y = Column::Numbers((0..40).map(|row| f64::from(row).sin()).collect());
    let table = Table::new(vec![("x", Column::Numbers(vec![1.0; 40])), ("y", y)]).unwrap();
    let model = fit(&table, "y", &Method::by_name("constant").unwrap()).unwrap();
    let error = negmm_onnx::export(&model).unwrap_err();
    assert!(error.to_string().contains("uses no column"), "{error}");
}
