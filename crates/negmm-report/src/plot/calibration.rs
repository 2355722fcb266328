//! Calibration plots: PIT histogram, coverage, coverage by interval width.

use negmm::metrics::PIT_BINS;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable};
use crate::diagnostics::{COVERAGE, Diagnostics};
use crate::evaluation_set::EvaluationSet;
use crate::text::{count, num, percent};

/// The normal quantile of 97.5 %: bands of 95 %.
const Z: f64 = 1.959_963_984_540_054;
/// Steps of the coverage curve.
const STEPS: usize = 50;

/// PIT histogram, coverage curve, coverage by width.
pub fn calibration(evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Vec<Plot> {
    vec![pit(evaluation, diagnostics), coverage(evaluation, diagnostics), by_width(evaluation, diagnostics)]
}

/// The 95 % band of an observed fraction around the expected one.
fn band(expected: f64, rows: f64) -> (f64, f64) {
    let half = Z * (expected * (1.0 - expected) / rows.max(1.0)).sqrt();
    ((expected - half).max(0.0), (expected + half).min(1.0))
}

/// The empirical distribution function of the PIT.
fn pit_below(evaluation: &EvaluationSet, diagnostics: &Diagnostics, level: f64) -> f64 {
    let all: Vec<usize> = (0..evaluation.len()).collect();
    evaluation.mean(&all, |at| diagnostics.rows[at].pit_below(level))
}

fn pit(evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Plot {
    let edges: Vec<f64> = (0..=PIT_BINS).map(|edge| edge as f64 / PIT_BINS as f64).collect();
    let below: Vec<f64> = edges.iter().map(|edge| pit_below(evaluation, diagnostics, *edge)).collect();
    let frequencies: Vec<f64> = below.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let expected = 1.0 / PIT_BINS as f64;
    let (low, high) = band(expected, diagnostics.effective_rows);
    let outside = frequencies.iter().filter(|frequency| !(low..=high).contains(*frequency)).count();
    let mut table = TextTable::new(["from", "to", "fraction of rows", "expected"]);
    for (bin, frequency) in edges.windows(2).zip(&frequencies) {
        table.push([format!("{:.2}", bin[0]), format!("{:.2}", bin[1]), percent(*frequency), percent(expected)]);
    }
    let panel = Panel::new(
        Axis::new("predicted probability below the target (PIT)").range(0.0, 1.0),
        Axis::new("fraction of rows").percent().include(0.0),
    )
    .with(Mark::histogram(&edges, &frequencies).colour(Colour::Sky).name("rows"))
    .with(Mark::band(&[0.0, 1.0], &[low; 2], &[high; 2]).colour(Colour::Orange).opacity(0.12))
    .with(Mark::horizontal_rule(low).colour(Colour::Orange).width(1.0).name("95 % band"))
    .with(Mark::horizontal_rule(high).colour(Colour::Orange).width(1.0).name("95 % band"))
    .with(Mark::horizontal_rule(expected).colour(Colour::Orange).dashed().name("expected"));
    Plot {
        name: "pit".into(),
        caption: "Flat: calibrated. U-shaped: too narrow. Hump-shaped: too wide. Sloped: biased. \
            One bar in twenty may leave the band by chance."
            .into(),
        figure: Figure::new("PIT histogram", format!("{outside} of {PIT_BINS} bars lie outside the band."))
            .panel(panel),
        table,
    }
}

/// Coverage of central intervals: a target lies in that of level c exactly when its PIT is from (1 - c) / 2 to (1 + c) / 2.
fn coverage(evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Plot {
    let nominal: Vec<f64> = (0..=STEPS).map(|step| step as f64 / STEPS as f64).collect();
    let below = |level: f64| pit_below(evaluation, diagnostics, level);
    let inside = |coverage: &f64| below(0.5 + 0.5 * coverage) - below(0.5 - 0.5 * coverage);
    let observed: Vec<f64> = nominal.iter().map(inside).collect();
    let (lower, upper): (Vec<f64>, Vec<f64>) =
        nominal.iter().map(|level| band(*level, diagnostics.effective_rows)).unzip();
    let gap = |step: &usize| (observed[*step] - nominal[*step]).abs();
    let widest = (0..=STEPS).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    let description = format!(
        "At the largest difference, intervals of {} contain {} of the targets.",
        percent(nominal[widest]),
        percent(observed[widest])
    );
    let table = TextTable::new(["nominal", "observed"])
        .filled((0..=STEPS).step_by(5).map(|step| vec![percent(nominal[step]), percent(observed[step])]));
    let panel = Panel::new(
        Axis::new("nominal coverage").percent().range(0.0, 1.0),
        Axis::new("observed coverage").percent().range(0.0, 1.0),
    )
    .with(Mark::band(&nominal, &lower, &upper).colour(Colour::Orange).opacity(0.25).name("95 % band, if calibrated"))
    .with(Mark::line(&[0.0, 1.0], &[0.0, 1.0]).colour(Colour::Orange).width(1.0).dashed().name("calibrated"))
    .with(Mark::line(&nominal, &observed).colour(Colour::Blue).width(2.0).name("model"));
    Plot {
        name: "coverage".into(),
        caption:
            "The fraction of targets inside central intervals of every level: below the diagonal the intervals are too \
            narrow, above it too wide."
                .into(),
        figure: Figure::new("Nominal against observed coverage", description).panel(panel),
        table,
    }
}

/// Wilson's 95 % confidence interval of a fraction.
fn wilson(fraction: f64, rows: f64) -> (f64, f64) {
    let (z2, rows) = (Z * Z, rows.max(1.0));
    let middle = (fraction + z2 / (2.0 * rows)) / (1.0 + z2 / rows);
    let half = Z / (1.0 + z2 / rows) * (fraction * (1.0 - fraction) / rows + z2 / (4.0 * rows * rows)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn by_width(evaluation: &EvaluationSet, diagnostics: &Diagnostics) -> Plot {
    let covered = |at: usize| f64::from(u8::from(diagnostics.rows[at].covers(evaluation.y[at])));
    let groups = &diagnostics.groups;
    let positions: Vec<f64> = (0..groups.len()).map(|group| group as f64).collect();
    let coverages: Vec<f64> = groups.iter().map(|group| evaluation.mean(group, covered)).collect();
    let each = diagnostics.effective_rows / groups.len() as f64;
    let (lower, upper): (Vec<f64>, Vec<f64>) = coverages.iter().map(|coverage| wilson(*coverage, each)).unzip();
    let mut table =
        TextTable::new(["group", "rows", "mean width", "coverage of the 90 % interval", "95 % from", "95 % to"]);
    for (at, group) in groups.iter().enumerate() {
        let width = evaluation.mean(group, |row| diagnostics.rows[row].width());
        table.push([
            count(at + 1),
            count(group.len()),
            num(width),
            percent(coverages[at]),
            percent(lower[at]),
            percent(upper[at]),
        ]);
    }
    let has_atoms = diagnostics.rows.iter().any(|row| row.point_probability > 0.0);
    let at_least = if has_atoms { " Where values have point probabilities, it is at least 90 %." } else { "" };
    let worst = coverages.iter().copied().fold(f64::INFINITY, f64::min);
    let panel = Panel::new(
        group_axis(groups.len()),
        Axis::new("coverage of the 90 % interval").percent().include(1.0).include(0.5),
    )
    .with(Mark::horizontal_rule(COVERAGE).colour(Colour::Orange).dashed().name("90 %"))
    .with(Mark::ranges(&positions, &lower, &upper).colour(Colour::Blue).width(2.0).name("95 % confidence interval"))
    .with(Mark::points(&positions, &coverages).colour(Colour::Blue).width(7.0).name("observed"));
    Plot {
        name: "coverage-by-width".into(),
        caption: format!(
            "Rows in equal groups by the width of their interval: with calibrated predictions the coverage is \
            90 % in every group, of narrow and of wide intervals.{at_least}"
        ),
        figure: Figure::new(
            "Coverage by interval width",
            format!("The lowest coverage of a group is {}.", percent(worst)),
        )
        .panel(panel),
        table,
    }
}

/// An axis over the groups of rows.
pub fn group_axis(groups: usize) -> Axis {
    let ticks = match groups {
        1 => vec![(0.0, "all rows".to_string())],
        _ => {
            let mut ticks = vec![(0.0, "narrowest".to_string()), ((groups - 1) as f64, "widest".to_string())];
            if groups > 4 {
                ticks.insert(1, (0.5 * (groups - 1) as f64, "middle".into()));
            }
            ticks
        }
    };
    Axis::new("rows by interval width").range(-0.5, groups as f64 - 0.5).ticks(ticks)
}
