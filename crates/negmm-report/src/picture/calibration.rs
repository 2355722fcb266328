//! Responsible for calibration: whether predicted probabilities come true, overall and where the model is unsure.

use negmm::metrics::PIT_BINS;
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture};
use crate::answers::{Answers, COVERAGE};
use crate::cases::Cases;
use crate::text::{count, num, percent};

/// The normal quantile of 97.5 %: bands of 95 %.
const Z: f64 = 1.959_963_984_540_054;
/// Steps of the coverage curve.
const STEPS: usize = 50;

/// PIT histogram, coverage curve, coverage by width.
pub fn calibration(cases: &Cases, answers: &Answers) -> Vec<Picture> {
    vec![pit(cases, answers), coverage(cases, answers), by_width(cases, answers)]
}

/// The 95 % band of an observed share around the expected one, for so many rows.
fn band(share: f64, rows: f64) -> (f64, f64) {
    let half = Z * (share * (1.0 - share) / rows.max(1.0)).sqrt();
    ((share - half).max(0.0), (share + half).min(1.0))
}

/// The share of all rows' PIT below a level.
fn pit_below(cases: &Cases, answers: &Answers, level: f64) -> f64 {
    let all: Vec<usize> = (0..cases.len()).collect();
    cases.mean(&all, |at| answers.rows[at].pit_below(level))
}

fn pit(cases: &Cases, answers: &Answers) -> Picture {
    let edges: Vec<f64> = (0..=PIT_BINS).map(|edge| edge as f64 / PIT_BINS as f64).collect();
    let below: Vec<f64> = edges.iter().map(|edge| pit_below(cases, answers, *edge)).collect();
    let shares: Vec<f64> = below.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let expected = 1.0 / PIT_BINS as f64;
    let (low, high) = band(expected, answers.effective_rows);
    let outside = shares.iter().filter(|share| !(low..=high).contains(*share)).count();
    let mut table = Grid::new(["from", "to", "share of rows", "expected"]);
    for (ends, share) in edges.windows(2).zip(&shares) {
        table.push([format!("{:.2}", ends[0]), format!("{:.2}", ends[1]), percent(*share), percent(expected)]);
    }
    let panel = Panel::new(
        Axis::new("predicted probability below the target (PIT)").range(0.0, 1.0),
        Axis::new("share of rows").percent().include(0.0),
    )
    .with(Mark::histogram(&edges, &shares).ink(Ink::Sky).name("rows"))
    .with(Mark::band(&[0.0, 1.0], &[low; 2], &[high; 2]).ink(Ink::Orange).opacity(0.12))
    .with(Mark::lying_rule(low).ink(Ink::Orange).width(1.0).name("95 % band"))
    .with(Mark::lying_rule(high).ink(Ink::Orange).width(1.0).name("95 % band"))
    .with(Mark::lying_rule(expected).ink(Ink::Orange).dashed().name("expected"));
    Picture {
        file: "pit".into(),
        reading: "Flat is calibrated; high ends mean too narrow, a hump in the middle too wide, a slope too low or too high. \
            One bar in twenty may leave the band by chance."
            .into(),
        figure: Figure::new("PIT histogram", format!("{outside} of {PIT_BINS} bars lie outside the band.")).panel(panel),
        table,
    }
}

/// Coverage of central intervals: the target is in the one of coverage c exactly when its PIT is from (1 - c) / 2 to (1 + c) / 2.
fn coverage(cases: &Cases, answers: &Answers) -> Picture {
    let nominal: Vec<f64> = (0..=STEPS).map(|step| step as f64 / STEPS as f64).collect();
    let below = |level: f64| pit_below(cases, answers, level);
    let inside = |coverage: &f64| below(0.5 + 0.5 * coverage) - below(0.5 - 0.5 * coverage);
    let observed: Vec<f64> = nominal.iter().map(inside).collect();
    let (lower, upper): (Vec<f64>, Vec<f64>) = nominal.iter().map(|level| band(*level, answers.effective_rows)).unzip();
    let gap = |step: &usize| (observed[*step] - nominal[*step]).abs();
    let widest = (0..=STEPS).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    let told = format!(
        "Where they are furthest apart, intervals of {} hold {} of the targets.",
        percent(nominal[widest]),
        percent(observed[widest])
    );
    let table = Grid::new(["nominal", "observed"])
        .filled((0..=STEPS).step_by(5).map(|step| vec![percent(nominal[step]), percent(observed[step])]));
    let panel = Panel::new(
        Axis::new("nominal coverage").percent().range(0.0, 1.0),
        Axis::new("observed coverage").percent().range(0.0, 1.0),
    )
    .with(Mark::band(&nominal, &lower, &upper).ink(Ink::Orange).opacity(0.25).name("95 % band, if calibrated"))
    .with(Mark::line(&[0.0, 1.0], &[0.0, 1.0]).ink(Ink::Orange).width(1.0).dashed().name("calibrated"))
    .with(Mark::line(&nominal, &observed).ink(Ink::Blue).width(2.0).name("model"));
    Picture {
        file: "coverage".into(),
        reading:
            "How many targets fall inside central intervals of every size: below the diagonal the intervals are too \
            narrow, above it too wide."
                .into(),
        figure: Figure::new("Nominal against observed coverage", told).panel(panel),
        table,
    }
}

/// Wilson's 95 % interval of a share.
fn wilson(share: f64, rows: f64) -> (f64, f64) {
    let (z2, rows) = (Z * Z, rows.max(1.0));
    let middle = (share + z2 / (2.0 * rows)) / (1.0 + z2 / rows);
    let half = Z / (1.0 + z2 / rows) * (share * (1.0 - share) / rows + z2 / (4.0 * rows * rows)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn by_width(cases: &Cases, answers: &Answers) -> Picture {
    let covered = |at: usize| f64::from(u8::from(answers.rows[at].covers(cases.y[at])));
    let groups = &answers.groups;
    let places: Vec<f64> = (0..groups.len()).map(|group| group as f64).collect();
    let shares: Vec<f64> = groups.iter().map(|group| cases.mean(group, covered)).collect();
    let each = answers.effective_rows / groups.len() as f64;
    let (lower, upper): (Vec<f64>, Vec<f64>) = shares.iter().map(|share| wilson(*share, each)).unzip();
    let mut table = Grid::new(["group", "rows", "mean width", "inside the 90 % interval", "95 % from", "95 % to"]);
    for (at, group) in groups.iter().enumerate() {
        let width = cases.mean(group, |row| answers.rows[row].width());
        table.push([
            count(at + 1),
            count(group.len()),
            num(width),
            percent(shares[at]),
            percent(lower[at]),
            percent(upper[at]),
        ]);
    }
    let jumps = answers.rows.iter().any(|row| row.jump > 0.0);
    let at_least = if jumps { " Where values have probabilities of their own, it is 90 % at least." } else { "" };
    let worst = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let panel = Panel::new(
        group_axis(groups.len()),
        Axis::new("inside their 90 % interval").percent().include(1.0).include(0.5),
    )
    .with(Mark::lying_rule(COVERAGE).ink(Ink::Orange).dashed().name("90 %"))
    .with(Mark::ranges(&places, &lower, &upper).ink(Ink::Blue).width(2.0).name("95 % range"))
    .with(Mark::points(&places, &shares).ink(Ink::Blue).width(7.0).name("observed"));
    Picture {
        file: "coverage-by-width".into(),
        reading: format!(
            "Rows in equal groups from the narrowest predicted interval to the widest: honest uncertainty stays at \
            90 % in every group, so that a narrow interval can be trusted as much as a wide one.{at_least}"
        ),
        figure: Figure::new(
            "Coverage by predicted width",
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
            let mut ticks = vec![(0.0, "surest".to_string()), ((groups - 1) as f64, "least sure".to_string())];
            if groups > 4 {
                ticks.insert(1, (0.5 * (groups - 1) as f64, "middle".into()));
            }
            ticks
        }
    };
    Axis::new("rows by predicted width").range(-0.5, groups as f64 - 0.5).ticks(ticks)
}
