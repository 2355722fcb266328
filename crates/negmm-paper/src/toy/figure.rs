//! The paper's Figures 1 and 2: the predictive distribution of each method over x, and the truth.

use negmm::Distribution;
use negmm::data::{Column, ColumnRoles, Dataset};
use negmm::train::{Callbacks, Engine};
use negmm::tune::{Configuration, Journal};
use negmm::{Encoder, Interval, Predictions, Result, Table, Toy};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::checkpoints::{Checkpoint, TrainingPath};
use super::problem::{Problem, Units, column};
use super::selection::Selected;
use super::{Plan, Selection, selection};

/// Columns and rows of the heat map, and points of a line.
const COLUMNS: usize = 160;
const ROWS: usize = 120;
/// Observations that are shown.
const POINTS: usize = 250;
/// The coverage of the band.
const COVERAGE: f64 = 0.95;

/// One panel per method: the first repeat, with the setting and the epoch of `selection`.
pub(super) fn predictive(plan: &Plan, journal: &Journal, selection: Selection, engine: &dyn Engine) -> Result<Figure> {
    let problem = Problem::sample(plan.toy, 0, plan.seed);
    let trials = plan.trials()?;
    let mut figure = Figure::new(
        format!("{}: predictive distributions", plan.toy.name()),
        "For each method the predicted mean and 95 % interval over x, the density where it is a mixture, the truth and the data.",
    )
    .columns(3)
    .panel_size(400.0, 280.0);
    for name in &plan.methods {
        let Some((configuration, selected)) = plan.selected(name, 0, selection, &trials, journal) else { continue };
        figure = figure.panel(panel(plan, &problem, (configuration, &selected), engine)?);
    }
    Ok(figure)
}

fn panel(
    plan: &Plan,
    problem: &Problem,
    (configuration, selected): (&Configuration, &Selected),
    engine: &dyn Engine,
) -> Result<Panel> {
    let toy = plan.toy;
    let (low, high) = toy.range();
    let x: Vec<f64> = (0..COLUMNS).map(|at| low + (high - low) * (at as f64 + 0.5) / COLUMNS as f64).collect();
    let predictions = retrain(plan, problem, (configuration, selected), &x, engine)?;
    let (data_x, data_y) = (column(problem.train(), "x"), column(problem.train(), "y"));
    let shown = POINTS.min(data_x.len());
    let range = match toy {
        Toy::Heteroscedastic => (-16.0, 18.0),
        Toy::Bimodal => (-80.0, 80.0),
    };
    let truth = toy.truth(&x);
    let mut panel = Panel::new(Axis::new("x").range(low, high), Axis::new("y").range(range.0, range.1))
        .title(configuration.method.name());
    if predictions.mixtures().is_some_and(|mixtures| mixtures.components() > 1) {
        panel = panel.with(density(&predictions, (low, high), range).name("density"));
    }
    let Interval { lower, upper } = predictions.interval(COVERAGE)?;
    panel = panel
        .with(
            Mark::points(&data_x[..shown], &data_y[..shown])
                .colour(Colour::Muted)
                .opacity(0.45)
                .width(2.5)
                .name("data"),
        )
        .with(Mark::band(&x, &lower, &upper).colour(Colour::Sky).opacity(0.3).name("95 % interval"));
    // With two branches the true components are shown, else the true interval.
    let components = truth.components();
    if components > 1 {
        for component in 0..components {
            let line: Vec<f64> = truth.means().iter().skip(component).step_by(components).copied().collect();
            panel = panel.with(Mark::line(&x, &line).colour(Colour::Green).width(1.2).dashed().name("true components"));
        }
    } else {
        for level in [0.5 - 0.5 * COVERAGE, 0.5 + 0.5 * COVERAGE] {
            let line: Vec<f64> = truth.rows().map(|row| row.quantile(level)).collect();
            panel =
                panel.with(Mark::line(&x, &line).colour(Colour::Green).width(1.0).dashed().name("true 95 % interval"));
        }
    }
    let mean: Vec<f64> = truth.rows().map(|row| row.mean()).collect();
    Ok(panel
        .with(Mark::line(&x, &mean).colour(Colour::Green).name("true mean"))
        .with(Mark::line(&x, &predictions.mean()).colour(Colour::Orange).name("predicted mean")))
}

/// Trains the selected setting again and predicts at `x` with the selected checkpoint.
fn retrain(
    plan: &Plan,
    problem: &Problem,
    (configuration, selected): (&Configuration, &Selected),
    x: &[f64],
    engine: &dyn Engine,
) -> Result<Predictions> {
    let encoded = problem.encoded(Units::Standardised)?;
    let method = &configuration.method;
    let path =
        TrainingPath::undertake(method, &encoded.train, plan.fit_seed(0), selection::checkpoint_interval(method))?;
    let path = path.run(engine, &Callbacks::nothing())?;
    let grid = Table::new(vec![("x", Column::Numbers(x.to_vec()))])?;
    let encoder = Encoder::fit(problem.train(), "y", &ColumnRoles::default())?;
    let data: Dataset = encoder.encode_features(&grid)?.0;
    Ok(encoded.unscaled(path.predict(Checkpoint { at: selected.at, members: selected.members }, &data)?))
}

/// A heat map with each column scaled by its maximum, so that wide distributions stay visible beside narrow ones.
fn density(predictions: &Predictions, x: (f64, f64), y: (f64, f64)) -> Mark {
    let step = (y.1 - y.0) / ROWS as f64;
    let mut values = Vec::with_capacity(COLUMNS * ROWS);
    for row in predictions.rows() {
        let densities: Vec<f64> = (0..ROWS).map(|at| row.pdf(y.0 + (at as f64 + 0.5) * step)).collect();
        let highest = densities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        values.extend(densities.into_iter().map(|density| density / highest));
    }
    Mark::heat(x, y, COLUMNS, values)
}
