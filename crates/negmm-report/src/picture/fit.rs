//! Responsible for predictions beside what was observed: against each other, and as a fan over rows or time.

use negmm::{Model, Result};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture, spread};
use crate::answers::{Answers, COVERAGE};
use crate::cases::{Cases, End};
use crate::text::{count, counted, name, num, percent};

/// Rows shown against each other, and in the fan.
const POINTS: usize = 500;
const FAN: usize = 200;

/// Observed against predicted, and the fan.
pub fn fit(model: &Model, cases: &Cases, answers: &Answers) -> Result<Vec<Picture>> {
    let target = name(&model.encoder().target().name);
    let fan = match &cases.end {
        Some(end) => time(end, &target)?,
        None => fan(cases, answers, &target),
    };
    Ok(vec![observed(cases, answers, &target), fan])
}

fn observed(cases: &Cases, answers: &Answers, target: &str) -> Picture {
    let shown = spread(cases.len(), POINTS);
    let pick = |value: &dyn Fn(usize) -> f64| shown.iter().map(|at| value(*at)).collect::<Vec<f64>>();
    let rows = &answers.rows;
    let (mean, y) = (pick(&|at| rows[at].mean), pick(&|at| cases.y[at]));
    let (lower, upper) = (pick(&|at| rows[at].lower), pick(&|at| rows[at].upper));
    let ends =
        mean.iter().chain(&y).copied().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let covered = shown.iter().filter(|at| rows[**at].covers(cases.y[**at])).count() as f64 / shown.len() as f64;
    let table = Grid::new(["row", "observed", "predicted mean", "from", "to"]).filled(shown.iter().map(|at| {
        let row = &rows[*at];
        vec![count(cases.numbers[*at]), num(cases.y[*at]), num(row.mean), num(row.lower), num(row.upper)]
    }));
    let panel = Panel::new(Axis::new("predicted mean"), Axis::new(format!("observed {target}")))
        .with(Mark::ranges(&mean, &lower, &upper).ink(Ink::Sky).opacity(0.45).width(1.5).name("90 % interval"))
        .with(
            Mark::line(&[ends.0, ends.1], &[ends.0, ends.1])
                .ink(Ink::Muted)
                .width(1.0)
                .dashed()
                .name("observed = predicted"),
        )
        .with(Mark::points(&mean, &y).ink(Ink::Blue).width(3.0).name("rows"));
    Picture {
        file: "observed".into(),
        reading:
            "Dots near the dashed line were predicted well; nine of ten dots should lie on their own upright line, \
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
fn fan(cases: &Cases, answers: &Answers, target: &str) -> Picture {
    let rows = &answers.rows;
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by(|a, b| rows[*a].mean.total_cmp(&rows[*b].mean));
    let ranks = spread(order.len(), FAN);
    let shown: Vec<usize> = ranks.iter().map(|at| order[*at]).collect();
    let pick = |value: &dyn Fn(usize) -> f64| shown.iter().map(|at| value(*at)).collect::<Vec<f64>>();
    let lines = Lines {
        x: ranks.iter().map(|at| (at + 1) as f64).collect(),
        y: pick(&|at| cases.y[at]),
        mean: pick(&|at| rows[at].mean),
        outer: (pick(&|at| rows[at].lower), pick(&|at| rows[at].upper)),
        inner: shown.iter().map(|at| cases.predictions.row(*at).interval(0.5)).unzip(),
    };
    Picture {
        file: "fan".into(),
        reading:
            "Rows from the lowest predicted mean to the highest: half of the dots should lie in the dark band, nine of \
            ten in the light one, and the bands should be wide where the dots scatter."
                .into(),
        figure: Figure::new(
            "Intervals over rows sorted by predicted mean",
            format!("{} with mean, 50 % and 90 % intervals.", counted(shown.len(), "row")),
        )
        .panel(lines.panel("rank of the predicted mean", target, false)),
        table: lines.table("rank"),
    }
}

/// The last steps of a sequence.
fn time(end: &End, target: &str) -> Result<Picture> {
    let lines = Lines {
        x: end.numbers.iter().map(|number| *number as f64).collect(),
        y: end.y.clone(),
        mean: end.predictions.mean(),
        outer: end.predictions.interval(COVERAGE)?,
        inner: end.predictions.interval(0.5)?,
    };
    Ok(Picture {
        file: "fan".into(),
        reading:
            "Each step as predicted from those before it: half of the observed line should run in the dark band, nine \
            tenths in the light one, and the bands should widen before it becomes restless."
                .into(),
        figure: Figure::new(
            "Intervals over time",
            format!("The last {} with mean, 50 % and 90 % intervals.", counted(end.y.len(), "step")),
        )
        .panel(lines.panel("row", target, true)),
        table: lines.table("row"),
    })
}

struct Lines {
    x: Vec<f64>,
    y: Vec<f64>,
    mean: Vec<f64>,
    outer: (Vec<f64>, Vec<f64>),
    inner: (Vec<f64>, Vec<f64>),
}

impl Lines {
    fn panel(&self, x: &str, target: &str, joined: bool) -> Panel {
        let observed =
            if joined { Mark::line(&self.x, &self.y).width(1.0) } else { Mark::points(&self.x, &self.y).width(3.0) };
        let panel = Panel::new(Axis::new(x), Axis::new(target));
        // A band over one row has no width.
        let panel = if self.x.len() > 1 {
            panel
                .with(
                    Mark::band(&self.x, &self.outer.0, &self.outer.1).ink(Ink::Sky).opacity(0.35).name("90 % interval"),
                )
                .with(
                    Mark::band(&self.x, &self.inner.0, &self.inner.1).ink(Ink::Sky).opacity(0.6).name("50 % interval"),
                )
                .with(Mark::line(&self.x, &self.mean).ink(Ink::Blue).name("mean"))
        } else {
            panel
                .with(
                    Mark::ranges(&self.x, &self.outer.0, &self.outer.1).ink(Ink::Sky).width(6.0).name("90 % interval"),
                )
                .with(Mark::points(&self.x, &self.mean).ink(Ink::Blue).width(6.0).name("mean"))
        };
        panel.with(observed.ink(Ink::Text).name("observed"))
    }

    fn table(&self, x: &str) -> Grid {
        let grid = Grid::new([x, "observed", "mean", "50 % from", "50 % to", "90 % from", "90 % to"]);
        grid.filled((0..self.x.len()).map(|at| {
            let mut line = vec![count(self.x[at] as usize)];
            let numbers =
                [self.y[at], self.mean[at], self.inner.0[at], self.inner.1[at], self.outer.0[at], self.outer.1[at]];
            line.extend(numbers.map(num));
            line
        }))
    }
}
