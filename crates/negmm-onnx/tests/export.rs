//! The bytes of exported graphs, and errors. Outputs of a runtime are compared with the library in `python/tests/test_onnx.py`.

use negmm::data::Column;
use negmm::method::{Auto, MemberKind, Part, Predictor};
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

/// The parts of a pool with a forest, a linear model and wide copies, of a target with the atom 0 or of counts.
fn pool(counts: bool) -> (Model, Vec<Part>) {
    let uniform = |row: u32, step: f64| (f64::from(row) * step).fract();
    let numbers = |step: f64| Column::Numbers((0..240).map(|row| uniform(row, step)).collect());
    let y = (0..240).map(|row| {
        let (a, b, noise) =
            (uniform(row, 0.618_033_988_7), uniform(row, 0.414_213_562_4), uniform(row, 0.732_050_807_6));
        // Linear in one input, a step of the other.
        let y = 4.0 * a + if b > 0.5 { 3.0 } else { 0.0 } + noise;
        if counts {
            y.floor()
        } else if row % 4 == 0 {
            0.0
        } else {
            // On both sides of the atom, which is no bound then.
            y - 3.5
        }
    });
    let columns =
        vec![("a", numbers(0.618_033_988_7)), ("b", numbers(0.414_213_562_4)), ("y", Column::Numbers(y.collect()))];
    let auto = Auto::default().folds(2).n_repeats(1).steps(60).hidden(vec![8]).components(2);
    let auto = auto.short_networks(false).dropout_networks(false).density_networks(false);
    let model = fit(&Table::new(columns).unwrap(), "y", &auto.into()).unwrap();
    let Predictor::Stack { parts, tails, .. } = model.predictor() else { panic!("a stack") };
    assert!(!tails.is_empty());
    for kind in [MemberKind::Forest, MemberKind::Linear] {
        assert!(parts.iter().any(|part| part.kind == kind), "{kind} {counts}");
    }
    let parts = parts.clone();
    (model, parts)
}

#[test]
fn every_member_of_a_pool_and_the_tails_are_in_the_graph() {
    for counts in [false, true] {
        let (model, parts) = pool(counts);
        let bytes = negmm_onnx::export(&model).unwrap();
        assert_eq!(bytes, negmm_onnx::export(&model).unwrap());
        let times = |name: &[u8]| bytes.windows(name.len()).filter(|part| *part == name).count();
        let forests: Vec<_> = parts
            .iter()
            .filter_map(|part| match &part.predictor {
                Predictor::Forest { forest, .. } => Some(forest),
                _ => None,
            })
            .collect();
        assert_eq!(times(b"TreeEnsembleRegressor"), forests.len());
        assert!(forests.iter().all(|forest| counts != forest.components.iter().any(|[_, sd]| *sd == 0.0)));
        // The shape of the weights: a symbolic number of rows, then as many components as the library predicts.
        let components = model.predictor().components().unwrap();
        let number = match u8::try_from(components) {
            Ok(small @ ..128) => vec![small],
            _ => vec![(components % 128) as u8 | 128, (components / 128) as u8],
        };
        let mut shape = b"predictions\x0a".to_vec();
        shape.extend([1 + number.len() as u8, 8]);
        shape.extend(number);
        assert_eq!(times(&shape), 3, "weights, means and sds of {components} components");
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
