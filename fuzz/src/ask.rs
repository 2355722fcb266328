//! Responsible for asking a model that somebody may have made up all that there is to ask. What it says may be nonsense or an
//! error; numbers stay numbers, and nothing panics.

use negmm::data::Column;
use negmm::forecast::{Aggregate, BacktestOrigins, Forecaster};
use negmm::questions::{levels, numbers};
use negmm::{Loaded, Metrics, Model, Predictions, Questions, Result, Table};
use negmm_report::{EvaluationSet, Report};

/// Asks all questions; a report only where `pictures` are wanted, because it takes longer than all others together.
pub fn ask(loaded: &Loaded, table: &Table, pictures: bool) {
    let (text, object) = (negmm_cli::described(loaded), negmm_cli::inspected(loaded));
    assert!(!text.is_empty() && object.is_object());
    // An error is an answer too.
    let _ = match loaded {
        Loaded::Model(model) => ask_model(model, table, pictures),
        Loaded::Forecaster(forecaster) => ask_forecaster(forecaster, table, pictures),
    };
}

fn ask_model(model: &Model, table: &Table, pictures: bool) -> Result<()> {
    let (predictions, _) = model.predict_with_warnings(table)?;
    ask_predictions(&predictions, Some(model))?;
    if let Some(Column::Numbers(y)) = table.column(&model.encoder().target().name) {
        let _ = Metrics::of(&predictions, y);
    }
    if pictures {
        let html = Report::new(model, &EvaluationSet::of_table(model, table, None)?, "fuzzed")?.html();
        assert!(html.contains("<html"));
    }
    model.to_bytes().map(drop)
}

fn ask_forecaster(forecaster: &Forecaster, table: &Table, pictures: bool) -> Result<()> {
    let histories = forecaster.histories(table)?;
    let forecasts = forecaster.future(table, &histories)?;
    ask_predictions(&forecasts.predictions, None)?;
    forecaster.paths(&forecasts, 3, 0)?;
    forecaster.over(&forecasts, Aggregate::Sum, 3, 0)?;
    if pictures {
        let origins = BacktestOrigins { last: Some(4), every: Some(1) };
        let html = Report::of_forecaster(forecaster, table, origins, "fuzzed")?.html();
        assert!(html.contains("<html"));
    }
    forecaster.to_bytes().map(drop)
}

fn ask_predictions(predictions: &Predictions, model: Option<&Model>) -> Result<()> {
    let components = model.is_some_and(|model| model.components().is_some());
    let questions = Questions {
        quantiles: levels("quantiles", Some("0.001,0.5,0.99"))?,
        intervals: levels("interval", Some("0.5,0.95"))?,
        regions: levels("region", Some("0.9"))?,
        guaranteed: false,
        above: numbers("above", Some("100,-1e300"))?,
        below: numbers("below", Some("0,1e300"))?,
        mass: numbers("mass", Some("0,3"))?,
        shortfall: levels("shortfall", Some("0.05"))?,
        parts: true,
        novelty: model.is_some(),
        components,
        draws: 2,
        seed: 1,
    };
    let answers = questions.answer(predictions, 0)?;
    for row in 0..answers.rows() {
        for (name, cell) in answers.names().iter().zip(answers.row(row)) {
            let negmm::Cell::Number(number) = cell else { continue };
            assert!(!number.is_nan(), "row {row}: {name} is not a number");
            assert!(!name.starts_with("p_") || (0.0..=1.0).contains(&number), "row {row}: {name} is {number}");
        }
    }
    Ok(())
}
