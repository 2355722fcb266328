//! Calls of everything that a loaded model offers, for models that may be arbitrary. Results may be nonsense or errors; they must not be
//! NaN, and nothing may panic.

use negmm::data::Column;
use negmm::forecast::{Aggregate, BacktestOrigins, Forecaster};
use negmm::joint::{JointMetrics, JointModel};
use negmm::{Loaded, Metrics, Model, Predictions, Query, Result, Table};
use negmm_report::{EvaluationSet, Report};

/// Exercises a model or forecaster; a report only with `report`, because it takes longer than everything else together.
pub fn exercise(loaded: &Loaded, table: &Table, report: bool) {
    let (text, object) = (negmm_cli::described(loaded), negmm_cli::inspected(loaded));
    assert!(!text.is_empty() && object.is_object());
    // Errors are fine.
    let _ = match loaded {
        Loaded::Model(model) => exercise_model(model, table, report),
        Loaded::Joint(model) => exercise_joint(model, table),
        Loaded::Forecaster(forecaster) => exercise_forecaster(forecaster, table, report),
    };
}

fn exercise_model(model: &Model, table: &Table, report: bool) -> Result<()> {
    let (predictions, _) = model.predict_with_warnings(table)?;
    exercise_predictions(&predictions, Some(model))?;
    if let Some(Column::Numbers(y)) = table.column(&model.encoder().target().name) {
        let _ = Metrics::of(&predictions, y);
    }
    if report {
        let html = Report::new(model, &EvaluationSet::of_table(model, table, None)?, "fuzzed")?.html();
        assert!(html.contains("<html"));
    }
    model.to_bytes().map(drop)
}

fn exercise_joint(model: &JointModel, table: &Table) -> Result<()> {
    let predictions = model.predict(table)?;
    for target in 0..predictions.targets().len() {
        exercise_predictions(&predictions.marginal(target), None)?;
    }
    let _ = predictions.conditional(&[0], &vec![0.0; predictions.len()]);
    let _ = model.observed(table).and_then(|y| JointMetrics::new(&predictions, &y, None));
    model.to_bytes().map(drop)
}

fn exercise_forecaster(forecaster: &Forecaster, table: &Table, report: bool) -> Result<()> {
    let histories = forecaster.histories(table)?;
    let forecasts = forecaster.future(table, &histories)?;
    exercise_predictions(&forecasts.predictions, None)?;
    forecaster.paths(&forecasts, 3, 0)?;
    forecaster.over(&forecasts, Aggregate::Sum, 3, 0)?;
    if report {
        let origins = BacktestOrigins::default().test_size(4).stride(1);
        let html = Report::of_forecaster(forecaster, table, origins, "fuzzed")?.html();
        assert!(html.contains("<html"));
    }
    forecaster.to_bytes().map(drop)
}

fn exercise_predictions(predictions: &Predictions, model: Option<&Model>) -> Result<()> {
    let components = model.is_some_and(|model| model.components().is_some());
    let pairs = [
        ("quantiles", "0.001,0.5,0.99"),
        ("interval", "0.5,0.95"),
        ("region", "0.9"),
        ("above", "100,-1e300"),
        ("below", "0,1e300"),
        ("equal", "0,3"),
        ("shortfall", "0.05"),
        ("parts", "true"),
        ("draws", "2"),
        ("seed", "1"),
    ];
    let query = Query::from_pairs(pairs)?.novelty(model.is_some()).components(components);
    let columns = query.columns(predictions, 0)?;
    for (field, column) in columns.fields().iter().zip(columns.iter()) {
        for (row, number) in column.floats().unwrap_or_default().into_iter().enumerate() {
            let name = &field.name;
            assert!(!number.is_nan(), "row {row}: {name} is not a number");
            assert!(!name.starts_with("p_") || (0.0..=1.0).contains(&number), "row {row}: {name} is {number}");
        }
    }
    assert!(serde_json::from_slice::<serde_json::Value>(&columns.to_json_records()?).is_ok());
    columns.to_csv().map(drop)
}
