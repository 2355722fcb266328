//! Learning curves: the errors over epochs, with raw and standardised inputs and targets. They show the effect of the training budget
//! on each loss.

use negmm::Result;
use negmm::compare::Summary;
use negmm::train::JobGroup;
use negmm::tune::{Journal, RunOptions, Trial, run};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};
use serde_json::{Value, json};

use super::problem::{Problem, Units};
use super::selection::moment_errors;
use super::{Plan, SETTINGS, TrainingPath, components};
use crate::ResultTable;
use crate::grid::method;
use crate::report::mean_and_sd;

/// Repeats that a curve is averaged over, at most.
const REPEATS: usize = 10;
/// Epochs of a curve, and between its points.
const EPOCHS: &str = "1000";
const INTERVAL: usize = 20;
/// Epochs in the table.
const TABLE_EPOCHS: [usize; 7] = [20, 40, 80, 200, 400, 600, 1000];
/// Weights of the logarithmic score in the loss; 1 is the MDN.
const ETAS: [&str; 3] = ["0", "0.5", "1"];
/// The learning rate.
const RATE: &str = "0.01";

/// The learning curves of an experiment.
pub(super) struct LearningCurves<'a> {
    plan: &'a Plan,
    trials: Vec<Trial<Curve>>,
}

struct Curve {
    repeat: usize,
    eta: &'static str,
    units: Units,
}

impl<'a> LearningCurves<'a> {
    /// Empty unless NE-GMM or MDN is run.
    pub(super) fn of(plan: &'a Plan) -> Self {
        let mut trials = Vec::new();
        let wanted = plan.methods.iter().any(|method| matches!(method.as_str(), "ne-gmm" | "mdn"));
        for units in [Units::Raw, Units::Standardised].into_iter().filter(|_| wanted) {
            for eta in ETAS {
                for repeat in 0..plan.repeats.min(REPEATS) {
                    let name = format!("{}, curve, {units:?}, eta={eta}, repeat {}", plan.toy.name(), repeat + 1);
                    trials.push(Trial { name, work: Curve { repeat, eta, units } });
                }
            }
        }
        Self { plan, trials }
    }

    pub(super) fn run(&self, journal: &mut Journal, options: &RunOptions<'_>) -> Result<bool> {
        run(&self.trials, journal, options, &|curve| self.fit(curve))
    }

    /// The errors every few epochs.
    fn fit(&self, curve: &Curve) -> Result<JobGroup<'static, Value>> {
        let mut method = method("ne-gmm", &SETTINGS)?;
        let toy = self.plan.toy;
        let own = [("components", components(toy)), ("eta", curve.eta), ("learning-rate", RATE), ("epochs", EPOCHS)];
        method.configure(&own)?;
        let problem = Problem::sample(toy, curve.repeat, self.plan.seed);
        let encoded = problem.encoded(curve.units)?;
        let path = TrainingPath::undertake(&method, &encoded.train, self.plan.fit_seed(curve.repeat), INTERVAL)?;
        Ok(path.map(move |path| {
            let path = path?;
            let (mut m, mut s) = (Vec::new(), Vec::new());
            for checkpoint in path.checkpoints() {
                let predictions = encoded.unscaled(path.predict(checkpoint, &encoded.test)?);
                let errors = moment_errors(toy, &predictions, problem.test_inputs());
                m.push(errors.0);
                s.push(errors.1);
            }
            Ok(json!({ "m": m, "s": s }))
        }))
    }

    /// One metric at one epoch, for each repeat.
    fn errors_at(&self, journal: &Journal, units: Units, eta: &str, metric: &str, epoch: usize) -> Vec<f64> {
        let mine = self.trials.iter().filter(|trial| trial.work.units == units && trial.work.eta == eta);
        let number =
            |trial: &Trial<Curve>| journal.get(&trial.name)?.result.get(metric)?.get(epoch / INTERVAL - 1)?.as_f64();
        mine.filter_map(number).collect()
    }

    pub(super) fn table(&self, journal: &Journal) -> Option<ResultTable> {
        if self.trials.is_empty() {
            return None;
        }
        let mut header = vec!["m, s".to_string()];
        header.extend(TABLE_EPOCHS.map(|epoch| format!("{epoch} epochs")));
        let mut rows = vec![header];
        for units in [Units::Raw, Units::Standardised] {
            for eta in ETAS {
                let units_name = if units == Units::Raw { "raw" } else { "standardised" };
                let name = if eta == "1" { "eta = 1 (MDN)".into() } else { format!("eta = {eta}") };
                let mut row = vec![format!("{units_name}, {name}")];
                for epoch in TABLE_EPOCHS {
                    let cell = |metric| mean_and_sd(&Summary::of(&self.errors_at(journal, units, eta, metric, epoch)));
                    row.push(format!("{}, {}", cell("m"), cell("s")));
                }
                rows.push(row);
            }
        }
        let repeats = self.plan.repeats.min(REPEATS);
        Some(ResultTable {
            title: format!("errors of m and s over epochs, learning rate {RATE}, {repeats} repeats"),
            rows,
        })
    }

    /// The mean curves.
    pub(super) fn figure(&self, journal: &Journal) -> Option<Figure> {
        if self.trials.is_empty() {
            return None;
        }
        let epochs: Vec<usize> =
            (1..=TABLE_EPOCHS[TABLE_EPOCHS.len() - 1] / INTERVAL).map(|point| point * INTERVAL).collect();
        let x: Vec<f64> = epochs.iter().map(|epoch| *epoch as f64).collect();
        let mut figure = Figure::new(
            format!("{}: errors over epochs", self.plan.toy.name()),
            "Mean errors of m and s over epochs, for three weights of the logarithmic score, with raw and standardised data.",
        )
        .columns(2)
        .panel_size(400.0, 260.0);
        for (units, units_name) in [(Units::Raw, "raw"), (Units::Standardised, "standardised")] {
            for metric in ["m", "s"] {
                let mut panel = Panel::new(Axis::new("epoch"), Axis::new(format!("RMSE of {metric}")).include(0.0))
                    .title(format!("{metric}, {units_name} inputs and targets"));
                for (at, eta) in ETAS.into_iter().enumerate() {
                    let mean = |epoch: &usize| Summary::of(&self.errors_at(journal, units, eta, metric, *epoch)).mean;
                    let y: Vec<f64> = epochs.iter().map(mean).collect();
                    let name = if eta == "1" { "η = 1 (MDN)".into() } else { format!("η = {eta}") };
                    panel = panel.with(Mark::line(&x, &y).colour(Colour::series(at)).name(name));
                }
                figure = figure.panel(panel);
            }
        }
        Some(figure)
    }
}
