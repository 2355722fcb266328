//! Plots of predicted against observed targets, and of intervals over rows or time.

use negmm::Distribution;
use negmm::Result;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::diagnostics::{COVERAGE, Diagnostics};
use crate::evaluation_set::{EvaluationSet, LastSteps};
use crate::text::{count, counted, num, percent};

/// Rows in the scatter plot, and in the interval plot.
const POINTS: usize = 500;
const INTERVAL_ROWS: usize = 200;

/// Observed against predicted targets, and intervals.
pub fn fit(target: &str, evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Result<Vec<Plot>> {
    let intervals = match &evaluation.last_steps {
        Some(last_steps) => over_time(last_steps, target)?,
        None => over_rows(evaluation, diagnostics, target),
    };
    Ok(vec![observed(evaluation, diagnostics, target), intervals])
}

fn observed(evaluation: &EvaluationSet, diagnostics: &Diagnostics, target: &str) -> Plot {
    let shown = evenly_spaced(evaluation.len(), POINTS);
    let take = |value: &dyn Fn(usize) -> f64| shown.iter().map(|at| value(*at)).collect::<Vec<f64>>();
    let rows = &diagnostics.rows;
    let (mean, y) = (take(&|at| rows[at].mean), take(&|at| evaluation.y[at]));
    let (lower, upper) = (take(&|at| rows[at].lower), take(&|at| rows[at].upper));
    let range =
        mean.iter().chain(&y).copied().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let covered = shown.iter().filter(|at| rows[**at].covers(evaluation.y[**at])).count() as f64 / shown.len() as f64;
    let table = TextTable::new(["row", "observed", "predicted mean", "from", "to"]).filled(shown.iter().map(|at| {
        let row = &rows[*at];
        vec![count(evaluation.numbers[*at]), num(evaluation.y[*at]), num(row.mean), num(row.lower), num(row.upper)]
    }));
    let panel = Panel::new(Axis::new("predicted mean"), Axis::new(format!("observed {target}")))
        .with(Mark::ranges(&mean, &lower, &upper).colour(Colour::Sky).opacity(0.45).width(1.5).name("90 % interval"))
        .with(
            Mark::line(&[range.0, range.1], &[range.0, range.1])
                .colour(Colour::Muted)
                .width(1.0)
                .dashed()
                .name("observed = predicted"),
        )
        .with(Mark::points(&mean, &y).colour(Colour::Blue).width(3.0).name("rows"));
    Plot {
        name: "observed".into(),
        caption:
            "Points near the dashed line were predicted well; 90 % of the points should lie on their own vertical line, \
            the 90 % interval."
                .into(),
        figure: Figure::new(
            "Observed against predicted",
            format!("{}; {} lie inside their 90 % interval.", counted(shown.len(), "row"), percent(covered)),
        )
        .panel(panel),
        table,
    }
}

/// Rows sorted by predicted mean.
fn over_rows(evaluation: &EvaluationSet, diagnostics: &Diagnostics, target: &str) -> Plot {
    let rows = &diagnostics.rows;
    let mut order: Vec<usize> = (0..evaluation.len()).collect();
    order.sort_by(|a, b| rows[*a].mean.total_cmp(&rows[*b].mean));
    let ranks = evenly_spaced(order.len(), INTERVAL_ROWS);
    let shown: Vec<usize> = ranks.iter().map(|at| order[*at]).collect();
    let take = |value: &dyn Fn(usize) -> f64| shown.iter().map(|at| value(*at)).collect::<Vec<f64>>();
    let intervals = IntervalPlot {
        x: ranks.iter().map(|at| (at + 1) as f64).collect(),
        y: take(&|at| evaluation.y[at]),
        mean: take(&|at| rows[at].mean),
        outer: (take(&|at| rows[at].lower), take(&|at| rows[at].upper)),
        inner: shown.iter().map(|at| <(f64, f64)>::from(evaluation.predictions.row(*at).interval(0.5))).unzip(),
    };
    Plot {
        name: "fan".into(),
        caption:
            "Rows in ascending order of the predicted mean: 50 % of the points should lie in the dark band, 90 % in \
            the light one, and the bands should be wide where the points scatter."
                .into(),
        figure: Figure::new(
            "Intervals over rows sorted by predicted mean",
            format!("{} with mean, 50 % and 90 % intervals.", counted(shown.len(), "row")),
        )
        .panel(intervals.panel("rank of the predicted mean", target, false)),
        table: intervals.table("rank"),
    }
}

/// The last steps of a sequence.
fn over_time(last_steps: &LastSteps, target: &str) -> Result<Plot> {
    let intervals = IntervalPlot {
        x: last_steps.numbers.iter().map(|number| *number as f64).collect(),
        y: last_steps.y.clone(),
        mean: last_steps.predictions.mean(),
        outer: last_steps.predictions.interval(COVERAGE)?.into(),
        inner: last_steps.predictions.interval(0.5)?.into(),
    };
    Ok(Plot {
        name: "fan".into(),
        caption:
            "Each step as predicted from earlier ones: 50 % of the observed line should lie in the dark band, 90 % in \
            the light one, and the bands should widen with the volatility."
                .into(),
        figure: Figure::new(
            "Intervals over time",
            format!("The last {} with mean, 50 % and 90 % intervals.", counted(last_steps.y.len(), "step")),
        )
        .panel(intervals.panel("row", target, true)),
        table: intervals.table("row"),
    })
}

struct IntervalPlot {
    x: Vec<f64>,
    y: Vec<f64>,
    mean: Vec<f64>,
    outer: (Vec<f64>, Vec<f64>),
    inner: (Vec<f64>, Vec<f64>),
}

impl IntervalPlot {
    fn panel(&self, x: &str, target: &str, as_line: bool) -> Panel {
        let observed =
            if as_line { Mark::line(&self.x, &self.y).width(1.0) } else { Mark::points(&self.x, &self.y).width(3.0) };
        let panel = Panel::new(Axis::new(x), Axis::new(target));
        // A band needs two points.
        let panel = if self.x.len() > 1 {
            panel
                .with(
                    Mark::band(&self.x, &self.outer.0, &self.outer.1)
                        .colour(Colour::Sky)
                        .opacity(0.35)
                        .name("90 % interval"),
                )
                .with(
                    Mark::band(&self.x, &self.inner.0, &self.inner.1)
                        .colour(Colour::Sky)
                        .opacity(0.6)
                        .name("50 % interval"),
                )
                .with(Mark::line(&self.x, &self.mean).colour(Colour::Blue).name("mean"))
        } else {
            panel
                .with(
                    Mark::ranges(&self.x, &self.outer.0, &self.outer.1)
                        .colour(Colour::Sky)
                        .width(6.0)
                        .name("90 % interval"),
                )
                .with(Mark::points(&self.x, &self.mean).colour(Colour::Blue).width(6.0).name("mean"))
        };
        panel.with(observed.colour(Colour::Text).name("observed"))
    }

    fn table(&self, x: &str) -> TextTable {
        let table = TextTable::new([x, "observed", "mean", "50 % from", "50 % to", "90 % from", "90 % to"]);
        table.filled((0..self.x.len()).map(|at| {
            let mut row = vec![count(self.x[at] as usize)];
            let numbers =
                [self.y[at], self.mean[at], self.inner.0[at], self.inner.1[at], self.outer.0[at], self.outer.1[at]];
            row.extend(numbers.map(num));
            row
        }))
    }
}
