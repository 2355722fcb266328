//! Responsible for the picture of one row: its density, its components, its interval and what was observed.

use negmm::Row;
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture};
use crate::answers::RowAnswers;
use crate::cases::Cases;
use crate::notable::Kind;
use crate::text::{count, num, percent};

/// Points of the curve.
const POINTS: usize = 120;
/// Components drawn, and the smallest weight worth a line.
const COMPONENTS: usize = 8;
const LEAST_WEIGHT: f64 = 0.02;
/// Components narrower than this share of the picture need more points.
const NARROW: f64 = 0.02;
/// Bars of the histogram of samples.
const BARS: usize = 30;

/// The quantiles that are told.
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The range of the target that shows the whole distribution and the observed target.
pub fn ends(row: Row<'_>, y: f64) -> (f64, f64) {
    let (low, high) = (row.quantile(0.005).min(y), row.quantile(0.995).max(y));
    let margin = (0.04 * (high - low)).max(0.5 * row.normal_sd());
    (low - margin, high + margin)
}

/// Places from `low` to `high` for a smooth curve: evenly spread, and more where components are narrow.
fn places(row: Row<'_>, low: f64, high: f64) -> Vec<f64> {
    let mut places: Vec<f64> = (0..POINTS).map(|at| low + (high - low) * at as f64 / (POINTS - 1) as f64).collect();
    if let Row::Mixture(mixture) = row {
        let components = mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds));
        for (_, (mean, sd)) in
            components.filter(|(weight, (_, sd))| **weight >= LEAST_WEIGHT && **sd < NARROW * (high - low))
        {
            let near = (-8..=8).map(|step| mean + 0.4 * f64::from(step) * sd);
            places.extend(near.filter(|place| low < *place && *place < high));
        }
        places.sort_by(f64::total_cmp);
    }
    places
}

/// The picture of row `at`.
pub fn row(cases: &Cases, answers: &RowAnswers, at: usize, kind: Kind, target: &str) -> Picture {
    let (row, y) = (cases.predictions.row(at), cases.y[at]);
    let (low, high) = ends(row, y);
    let x = places(row, low, high);
    let mut panel = Panel::new(Axis::new(target).range(low, high), Axis::new("density").include(0.0));
    let inside = places(row, answers.lower, answers.upper);
    let nothing = vec![0.0; inside.len()];
    match row {
        Row::Mixture(mixture) => {
            let density = |x: &[f64]| x.iter().map(|x| row.pdf(*x)).collect::<Vec<f64>>();
            panel = panel.with(
                Mark::band(&inside, &nothing, &density(&inside)).ink(Ink::Sky).opacity(0.4).name("90 % interval"),
            );
            let mut heaviest: Vec<usize> =
                (0..mixture.weights.len()).filter(|k| mixture.weights[*k] >= LEAST_WEIGHT).collect();
            heaviest.sort_by(|a, b| mixture.weights[*b].total_cmp(&mixture.weights[*a]));
            if heaviest.len() > 1 {
                for k in heaviest.into_iter().take(COMPONENTS) {
                    let part: Vec<f64> = x.iter().map(|x| mixture.component_pdf(k, *x)).collect();
                    panel = panel.with(Mark::line(&x, &part).ink(Ink::Purple).width(1.0).dashed().name("components"));
                }
            }
            panel = panel.with(Mark::line(&x, &density(&x)).ink(Ink::Blue).width(2.0).name("density"));
        }
        Row::Samples(samples) => {
            let edges: Vec<f64> = (0..=BARS).map(|edge| low + (high - low) * edge as f64 / BARS as f64).collect();
            let step = (high - low) / BARS as f64;
            let mut heights = vec![0.0; BARS];
            for value in samples.values {
                let bar = ((value - low) / step) as usize;
                heights[bar.min(BARS - 1)] += 1.0 / (samples.values.len() as f64 * step);
            }
            panel = panel.with(Mark::histogram(&edges, &heights).ink(Ink::Sky).name("samples"));
            let top = heights.iter().copied().fold(0.0, f64::max);
            panel = panel.with(
                Mark::band(&[answers.lower, answers.upper], &[0.0; 2], &[0.04 * top; 2])
                    .ink(Ink::Text)
                    .opacity(0.8)
                    .name("90 % interval"),
            );
        }
    }
    panel = panel
        .with(Mark::upright_rule(answers.mean).ink(Ink::Blue).width(1.0).dashed().name("mean"))
        .with(Mark::upright_rule(y).ink(Ink::Orange).width(2.0).name("observed"));
    let mut table = Grid::new(["", target]);
    table.push(["observed".into(), num(y)]);
    table.push(["mean".into(), num(answers.mean)]);
    table.push(["sd".into(), num(answers.sd)]);
    for level in LEVELS {
        table.push([format!("{} % quantile", level * 100.0), num(row.quantile(level))]);
    }
    let number = count(cases.numbers[at]);
    Picture {
        file: kind.file().into(),
        reading: format!("Row {number}, {}.", kind.reason()),
        figure: Figure::new(
            format!("{}: row {number}", kind.title()),
            format!(
                "Mean {}, 90 % interval from {} to {}; observed {}, above {} of the predicted distribution.",
                num(answers.mean),
                num(answers.lower),
                num(answers.upper),
                num(y),
                percent(answers.pit)
            ),
        )
        .panel(panel),
        table,
    }
}
