//! Responsible for curves over epochs: how the errors fall while the networks train, with inputs and targets as they are drawn and
//! standardised. They show what a training budget does to each loss.

use negmm::Result;
use negmm::compare::Summary;
use negmm::train::JobGroup;
use negmm::tune::{Journal, RunOptions, Trial, run};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};
use serde_json::{Value, json};

use super::look::moment_errors;
use super::problem::{Problem, Units};
use super::{Path, Plan, SETTINGS, components};
use crate::Block;
use crate::grid::method;
use crate::report::spread;

/// Draws that a curve is the mean of, at most.
const REPEATS: usize = 10;
/// Epochs of a curve, and from one point to the next.
const EPOCHS: &str = "1000";
const EVERY: usize = 20;
/// Epochs that a table shows.
const SHOWN: [usize; 7] = [20, 40, 80, 200, 400, 600, 1000];
/// The share of the logarithmic score, the last being the MDN.
const ETAS: [&str; 3] = ["0", "0.5", "1"];
/// The learning rate.
const RATE: &str = "0.01";

/// The curves of a plan.
pub(super) struct Curves<'a> {
    plan: &'a Plan,
    trials: Vec<Trial<Point>>,
}

struct Point {
    repeat: usize,
    eta: &'static str,
    units: Units,
}

impl<'a> Curves<'a> {
    /// None unless NE-GMM or MDN is asked for.
    pub(super) fn of(plan: &'a Plan) -> Self {
        let mut trials = Vec::new();
        let wanted = plan.methods.iter().any(|method| matches!(method.as_str(), "ne-gmm" | "mdn"));
        for units in [Units::Raw, Units::Standardised].into_iter().filter(|_| wanted) {
            for eta in ETAS {
                for repeat in 0..plan.repeats.min(REPEATS) {
                    let name = format!("{}, curve, {units:?}, eta={eta}, repeat {}", plan.toy.name(), repeat + 1);
                    trials.push(Trial { name, work: Point { repeat, eta, units } });
                }
            }
        }
        Self { plan, trials }
    }

    pub(super) fn run(&self, journal: &mut Journal, options: &RunOptions<'_>) -> Result<bool> {
        run(&self.trials, journal, options, &|point| self.follow(point))
    }

    /// The errors after every few epochs.
    fn follow(&self, point: &Point) -> Result<JobGroup<'static, Value>> {
        let mut method = method("ne-gmm", &SETTINGS)?;
        let toy = self.plan.toy;
        let own = [("components", components(toy)), ("eta", point.eta), ("learning-rate", RATE), ("epochs", EPOCHS)];
        method.configure(&own)?;
        let problem = Problem::draw(toy, point.repeat, self.plan.seed);
        let encoded = problem.encoded(point.units)?;
        let path = Path::undertake(&method, &encoded.train, self.plan.fit_seed(point.repeat), EVERY)?;
        Ok(path.map(move |path| {
            let path = path?;
            let (mut m, mut s) = (Vec::new(), Vec::new());
            for place in path.places() {
                let predictions = encoded.unscaled(path.predict(place, &encoded.test)?);
                let errors = moment_errors(toy, &predictions, problem.test_inputs());
                m.push(errors.0);
                s.push(errors.1);
            }
            Ok(json!({ "m": m, "s": s }))
        }))
    }

    /// The errors of one kind at one epoch, one for each repeat.
    fn at(&self, journal: &Journal, units: Units, eta: &str, metric: &str, epoch: usize) -> Vec<f64> {
        let mine = self.trials.iter().filter(|trial| trial.work.units == units && trial.work.eta == eta);
        let number =
            |trial: &Trial<Point>| journal.get(&trial.name)?.result.get(metric)?.get(epoch / EVERY - 1)?.as_f64();
        mine.filter_map(number).collect()
    }

    pub(super) fn block(&self, journal: &Journal) -> Option<Block> {
        if self.trials.is_empty() {
            return None;
        }
        let mut heading = vec!["m, s".to_string()];
        heading.extend(SHOWN.map(|epoch| format!("{epoch} epochs")));
        let mut lines = vec![heading];
        for units in [Units::Raw, Units::Standardised] {
            for eta in ETAS {
                let words = if units == Units::Raw { "raw" } else { "standardised" };
                let name = if eta == "1" { "eta = 1 (MDN)".into() } else { format!("eta = {eta}") };
                let mut line = vec![format!("{words}, {name}")];
                for epoch in SHOWN {
                    let cell = |metric| spread(&Summary::of(&self.at(journal, units, eta, metric, epoch)));
                    line.push(format!("{}, {}", cell("m"), cell("s")));
                }
                lines.push(line);
            }
        }
        let repeats = self.plan.repeats.min(REPEATS);
        Some(Block { title: format!("errors of m and s over epochs, learning rate {RATE}, {repeats} repeats"), lines })
    }

    /// The mean curves.
    pub(super) fn figure(&self, journal: &Journal) -> Option<Figure> {
        if self.trials.is_empty() {
            return None;
        }
        let epochs: Vec<usize> = (1..=SHOWN[SHOWN.len() - 1] / EVERY).map(|point| point * EVERY).collect();
        let x: Vec<f64> = epochs.iter().map(|epoch| *epoch as f64).collect();
        let mut figure = Figure::new(
            format!("{}: errors over epochs", self.plan.toy.name()),
            "Mean errors of m and s over epochs, for three shares of the logarithmic score, with raw and standardised data.",
        )
        .columns(2)
        .panel_size(400.0, 260.0);
        for (units, words) in [(Units::Raw, "raw"), (Units::Standardised, "standardised")] {
            for metric in ["m", "s"] {
                let mut panel = Panel::new(Axis::new("epoch"), Axis::new(format!("RMSE of {metric}")).include(0.0))
                    .title(format!("{metric}, {words} inputs and targets"));
                for (at, eta) in ETAS.into_iter().enumerate() {
                    let mean = |epoch: &usize| Summary::of(&self.at(journal, units, eta, metric, *epoch)).mean;
                    let y: Vec<f64> = epochs.iter().map(mean).collect();
                    let name = if eta == "1" { "η = 1 (MDN)".into() } else { format!("η = {eta}") };
                    panel = panel.with(Mark::line(&x, &y).ink(Ink::series(at)).name(name));
                }
                figure = figure.panel(panel);
            }
        }
        Some(figure)
    }
}
