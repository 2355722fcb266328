//! Sequences from table to prediction: windows without look-ahead, and what is learnt from them.

use negmm::Rng;
use negmm::compare::{CompareOptions, Metric, Split, compare};
use negmm::data::{Column, ColumnRoles, Sequence};
use negmm::model::FitOptions;
use negmm::train::CpuEngine;
use negmm::train::Isa;
use negmm::{Encoder, Error, Method, Metrics, Model, Predictions, Table, fit_with};
use safetensors::SafeTensors;

const WINDOW: usize = 8;

fn of(column: &str, window: usize) -> ColumnRoles {
    ColumnRoles::default().sequence(Sequence { column: column.into(), window })
}

/// A noisy sine wave of 12 steps, and a second column.
fn wave(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let y: Vec<f64> = (0..rows)
        .map(|t| 50.0 + 10.0 * libm::sin(t as f64 * std::f64::consts::FRAC_PI_6) + 3.4 * rng.uniform())
        .collect();
    let volume: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
    let table = Table::new(vec![("y", Column::Numbers(y)), ("volume", Column::Numbers(volume))]).unwrap();
    table.with_name("wave.csv")
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Numbers(numbers)) => numbers,
        _ => panic!("numbers"),
    }
}

fn method(name: &str, options: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name(name).unwrap().for_sequences();
    for (option, value) in options {
        method.set(option, value).unwrap();
    }
    method
}

const SMALL: [(&str, &str); 3] = [("lstm-hidden", "12"), ("lstm-layers", "1"), ("epochs", "4")];

fn fit(table: &Table, method: &Method, inputs: &ColumnRoles, engine: CpuEngine) -> Result<Model, Error> {
    let options = FitOptions::default().seed(1).inputs(inputs.clone()).engine(&engine);
    fit_with(table, "y", method, &options).map(|fitted| fitted.model)
}

fn small(name: &str) -> (Table, Model) {
    let table = wave(90, 1);
    let model = fit(&table, &method(name, &SMALL), &of("y", WINDOW), CpuEngine::new(1)).unwrap();
    (table, model)
}

fn bits(predictions: &Predictions) -> Vec<u64> {
    let mixtures = predictions.mixtures().expect("a mixture");
    [mixtures.weights(), mixtures.means(), mixtures.sds()].into_iter().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn a_window_holds_the_steps_before_in_the_scale_of_the_target() {
    let table = wave(40, 2);
    let encoder = Encoder::fit(&table, "y", &of("y", 3)).unwrap();
    let (data, _) = encoder.encode(&table).unwrap();
    assert_eq!((data.len(), data.features(), data.window()), (37, 3, Some(3)));
    assert_eq!(encoder.feature_names(), ["y 3", "y 2", "y 1"]);
    assert_eq!(*encoder.targets(&table).unwrap(), numbers(&table, "y")[3..]);
    for row in 0..36 {
        // The same bits: the window has the rows before the prediction.
        assert_eq!(data.x()[(row + 1) * data.stride() + 2], data.y()[row]);
    }
    let (all, _) = encoder.encode_features(&table).unwrap();
    assert_eq!(all.len(), 38);
    assert_eq!(all.x()[37 * all.stride() + 2], data.y()[36]);
    assert_eq!(encoder.schema_with_target().columns.len(), 1);

    let inputs = of("y", 3).features(["volume"]);
    let encoder = Encoder::fit(&table, "y", &inputs).unwrap();
    assert_eq!(encoder.feature_names(), ["y 3", "volume 3", "y 2", "volume 2", "y 1", "volume 1"]);
    // Another column's past can be looked at too.
    let encoder = Encoder::fit(&table, "y", &of("volume", 2)).unwrap();
    assert_eq!(encoder.feature_names(), ["volume 2", "volume 1"]);
}

#[test]
fn validation_rows_are_the_last_in_time() {
    let table = wave(50, 2);
    let encoder = Encoder::fit(&table, "y", &of("y", 10)).unwrap();
    let (data, _) = encoder.encode(&table).unwrap();
    let (train, validation) = data.holdout(0.25, &mut Rng::new(9, 9));
    assert_eq!((train, validation), ((0..30).collect(), (30..40).collect()));
}

#[test]
fn the_future_does_not_change_earlier_predictions() {
    for name in ["ne-gmm", "ngboost"] {
        let table = wave(60, 1);
        let epochs = if name == "ngboost" { &[("n-estimators", "20")][..] } else { &SMALL };
        let model = fit(&table, &method(name, epochs), &of("y", WINDOW), CpuEngine::new(1)).unwrap();
        let predictions = model.predict(&table).unwrap();
        assert_eq!(predictions.len(), 60 - WINDOW + 1, "one more than rows: the step after the last");
        let mut y = numbers(&table, "y").to_vec();
        y[40..].iter_mut().for_each(|y| *y = 1e3 - *y);
        let other = model.predict(&Table::new(vec![("y", Column::Numbers(y))]).unwrap()).unwrap();
        // Row 40 itself is still predicted from rows that are the same.
        let kept = 41 - WINDOW;
        assert_eq!(predictions.mean()[..kept], other.mean()[..kept], "{name}");
        assert_ne!(predictions.mean()[kept..], other.mean()[kept..], "{name}");
        // The last one is the forecast: it needs no more than the last window.
        let window: Vec<usize> = (60 - WINDOW..60).collect();
        let forecast = model.predict(&table.select_rows(&window)).unwrap();
        assert_eq!(forecast.len(), 1);
        assert_eq!(forecast.mean()[0], predictions.mean()[60 - WINDOW], "{name}");
    }
}

#[test]
fn the_same_bits_on_every_instruction_set_and_any_number_of_threads() {
    let table = wave(70, 1);
    let options = [SMALL.as_slice(), &[("ensemble-size", "3"), ("dropout", "0.2")]].concat();
    let method = method("ensemble", &options);
    let model = |engine| fit(&table, &method, &of("y", 5), engine).unwrap().to_bytes().unwrap();
    let first = model(CpuEngine::new(1));
    assert!(first == model(CpuEngine::new(2)));
    for isa in Isa::ALL {
        assert!(first == model(CpuEngine { threads: 1, isa }), "{isa:?}");
    }
}

#[test]
fn what_is_loaded_predicts_the_same_bits() {
    for name in ["ne-gmm", "mdn", "beta-nll", "ensemble", "ngboost", "constant"] {
        let table = wave(60, 3);
        let mut method = Method::by_name(name).unwrap().for_sequences();
        for (option, value) in SMALL.iter().chain(&[("n-estimators", "10"), ("ensemble-size", "2"), ("hidden", "5")]) {
            if method.has(option) {
                method.set(option, value).unwrap();
            }
        }
        let inputs = of("y", 4).features(["y", "volume"]);
        let model = fit(&table, &method, &inputs, CpuEngine::new(1)).unwrap();
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        // The file of a boosted model does not hold its history twice.
        assert!(loaded == model || name == "ngboost", "{name}");
        assert_eq!(bits(&loaded.predict(&table).unwrap()), bits(&model.predict(&table).unwrap()), "{name}");
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap(), "{name}");
    }
}

#[test]
fn the_tensors_of_the_lstm_have_pytorchs_names_and_shapes() {
    let bytes = small("mdn").1.to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let shape = |name: &str| tensors.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("network.0.lstm.0.weight_ih"), [48, 1]);
    assert_eq!(shape("network.0.lstm.0.weight_hh"), [48, 12]);
    assert_eq!(shape("network.0.lstm.0.bias"), [48]);
    assert_eq!(shape("network.0.layer.0.weight"), [24, 12]);
}

/// What persistence, the last value again, misses by.
fn persistence_rmse(table: &Table) -> f64 {
    let y = numbers(table, "y");
    let squares: f64 = (WINDOW..y.len()).map(|t| (y[t] - y[t - 1]).powi(2)).sum();
    (squares / (y.len() - WINDOW) as f64).sqrt()
}

#[test]
fn every_method_learns_a_wave_better_than_the_constant_and_than_persistence() {
    let (table, new) = (wave(400, 1), wave(200, 2));
    let persistence = persistence_rmse(&new);
    for name in ["ne-gmm", "mdn", "beta-nll", "ensemble", "ngboost"] {
        let mut method = Method::by_name(name).unwrap().for_sequences();
        let options = [
            ("lstm-hidden", "16"),
            ("lstm-layers", "1"),
            ("epochs", "60"),
            ("learning-rate", "0.01"),
            ("ensemble-size", "2"),
        ];
        for (option, value) in options {
            if method.has(option) {
                method.set(option, value).unwrap();
            }
        }
        let model = fit(&table, &method, &of("y", WINDOW), CpuEngine::new(1)).unwrap();
        let y = model.encoder().targets(&new).unwrap();
        let metrics = Metrics::of(&model.predict_known(&new).unwrap().0, &y).unwrap();
        let constant = Metrics::of(&model.baseline(y.len()), &y).unwrap();
        assert!(metrics.crps < 0.3 * constant.crps, "{name}: {} {}", metrics.crps, constant.crps);
        assert!(metrics.rmse < 0.6 * persistence, "{name}: {} {persistence}", metrics.rmse);
    }
}

#[test]
fn comparing_learns_from_the_past() {
    let table = wave(120, 1);
    let methods =
        [method("mdn", &[("lstm-hidden", "8"), ("lstm-layers", "1"), ("epochs", "40")]), method("constant", &[])];
    let splits = Split::expanding(120, 3).unwrap();
    let inputs = of("y", WINDOW);
    let engine = CpuEngine::new(1);
    let options = CompareOptions::new(&inputs).seed(1).engine(&engine);
    let comparison = compare(&table, "y", &methods, &splits, &options).unwrap();
    assert!(comparison.scores.iter().flatten().all(|score| score.metrics().unwrap().rows == 30));
    assert!(comparison.summary(0, Metric::Crps).mean < comparison.summary(1, Metric::Crps).mean);
    // Rows after the block of a fold do not affect it.
    let mut y = numbers(&table, "y").to_vec();
    y[60..].iter_mut().for_each(|y| *y += 40.0);
    let other = Table::new(vec![("y", Column::Numbers(y))]).unwrap();
    let again = compare(&other, "y", &methods, &splits, &options).unwrap();
    assert_eq!(comparison.scores[0][0].scores, again.scores[0][0].scores);
    assert_ne!(comparison.scores[0][1].scores, again.scores[0][1].scores);
}

#[test]
fn row_weights_and_missing_cells_of_other_columns() {
    let mut volume = numbers(&wave(60, 1), "volume").to_vec();
    volume[20] = f64::NAN;
    let weight: Vec<f64> = (0..60).map(|row| f64::from(row % 3 + 1)).collect();
    let y = numbers(&wave(60, 1), "y").to_vec();
    let columns = [("y", y), ("volume", volume), ("weight", weight)];
    let table = Table::new(columns.map(|(name, numbers)| (name, Column::Numbers(numbers))).to_vec()).unwrap();
    let inputs = of("y", 4).features(["volume"]).weight("weight");
    for name in ["ne-gmm", "ngboost"] {
        let mut method = method(name, &[]);
        method.set(if name == "ngboost" { "n-estimators" } else { "epochs" }, "5").unwrap();
        let model = fit(&table, &method, &inputs, CpuEngine::new(1)).unwrap();
        assert_eq!(model.encoder().channels(), 3, "y, volume and its flag");
        assert!(model.predict(&table).unwrap().mean().iter().all(|mean| mean.is_finite()));
    }
}

#[test]
fn a_sequence_that_never_changes_is_an_answer() {
    let table = Table::new(vec![("y", Column::Numbers(vec![5.0; 30]))]).unwrap();
    let model = fit(&table, &method("mdn", &SMALL), &of("y", 4), CpuEngine::new(1)).unwrap();
    assert!(model.predict(&table).unwrap().mean().iter().all(|mean| (mean - 5.0).abs() < 1e-3));
}

#[test]
fn sequences_that_cannot_be() {
    let table = wave(30, 1);
    let refused = |inputs: &ColumnRoles, message: &str| {
        let error = fit(&table, &method("mdn", &SMALL), inputs, CpuEngine::new(1)).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    refused(&of("z", 3), "wave.csv: there is no column \"z\"; the columns are \"y\", \"volume\"");
    refused(&of("y", 0), "window must be from 1 to 10000, found 0");
    refused(&of("y", 10_001), "window must be from 1 to 10000, found 10001");
    refused(&of("y", 29), "wave.csv: a window of 29 steps needs at least 31 rows here, found 30");
    let ignored = of("y", 3).ignore(["y"]);
    refused(&ignored, "wave.csv: the sequence \"y\" cannot be ignored");
    let weighted = of("volume", 3).weight("volume");
    refused(&weighted, "wave.csv: the sequence \"volume\" cannot be the weight too");
    let text = Table::new(vec![
        ("y", Column::Numbers(vec![1.0, 2.0, 3.0, 4.0])),
        ("t", Column::text([Some("a"), None, Some("b"), Some("c")])),
        ("c", Column::Numbers(vec![1.0; 4])),
    ])
    .unwrap();
    let complaint = |column: &str| Encoder::fit(&text, "y", &of(column, 1)).unwrap_err().to_string();
    assert_eq!(complaint("t"), "row 1, column \"t\": expected a number, found \"a\"");
    assert_eq!(complaint("c"), "the sequence \"c\" is the same in every row");
    let (_, model) = small("mdn");
    let error = model.predict(&table.select_rows(&[0, 1, 2])).unwrap_err().to_string();
    assert_eq!(error, "wave.csv: a window of 8 steps needs at least 8 rows here, found 3");
    let error = model.predict_known(&table.select_rows(&(0..8).collect::<Vec<_>>())).unwrap_err().to_string();
    assert_eq!(error, "wave.csv: a window of 8 steps needs at least 9 rows here, found 8");
}
