//! Responsible for pictures of forecasts: fans with the past, scores and calibration by step ahead, and the seasons found.

use negmm::forecast::{Forecaster, Forecasts, Histories, Rolling, STEP_PIT_BINS, Series, StepScores};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture, spread};
use crate::text::{count, name, num, percent};
use crate::time_axis::TimeAxis;

/// Series with a fan of their own.
const FANS: usize = 4;
/// Steps of the past beside a fan, at least, and horizons.
const PAST: usize = 60;
const PAST_HORIZONS: usize = 3;
/// Intervals of a fan, the widest first, and how dark they are.
const BANDS: [(f64, f64); 3] = [(0.95, 0.18), (0.8, 0.28), (0.5, 0.4)];
/// Steps ahead with a histogram of their own.
const HISTOGRAMS: usize = 4;
/// Lags of the picture of seasons.
const LAGS: usize = 400;

/// What follows the end of some series, with their past.
pub fn fans(forecaster: &Forecaster, histories: &Histories, future: &Forecasts) -> Vec<Picture> {
    let horizon = forecaster.recipe().roles.horizon;
    let shown = spread(histories.series.len(), FANS);
    shown
        .into_iter()
        .enumerate()
        .map(|(number, series)| {
            let rows: Vec<usize> = (series * horizon..(series + 1) * horizon).collect();
            fan(forecaster, &histories.series[series], future, &rows, number)
        })
        .collect()
}

fn fan(forecaster: &Forecaster, series: &Series, future: &Forecasts, rows: &[usize], number: usize) -> Picture {
    let (recipe, predictions) = (forecaster.recipe(), future.predictions.select(rows));
    let first = series.len().saturating_sub(PAST.max(PAST_HORIZONS * rows.len()));
    let time = |step: usize| series.time(step, recipe.clock);
    let (axis, shown): (String, Box<dyn Fn(usize) -> f64>) = match recipe.clock.has_dates() {
        true => {
            let axis = TimeAxis::new(time(first), time(series.len() + rows.len()));
            (axis.label.clone(), Box::new(move |step| axis.shown(time(step))))
        }
        false => ("step".into(), Box::new(|step| step as f64 + 1.0)),
    };
    let past: Vec<f64> = (first..series.len()).map(&shown).collect();
    let ahead: Vec<f64> = (0..rows.len()).map(|step| shown(series.len() + step)).collect();
    // The fan begins at the last value.
    let with_last = |list: Vec<f64>| [series.values[series.len() - 1]].into_iter().chain(list).collect::<Vec<f64>>();
    let x: Vec<f64> = past.last().copied().into_iter().chain(ahead.iter().copied()).collect();
    let target = name(&recipe.roles.target);
    let mut panel = Panel::new(Axis::new(axis), Axis::new(&target));
    for (coverage, opacity) in BANDS {
        if let Ok((lower, upper)) = predictions.interval(coverage) {
            let band = Mark::band(&x, &with_last(lower), &with_last(upper)).ink(Ink::Blue).opacity(opacity);
            panel = panel.with(band.name(format!("{} of futures", percent(coverage))));
        }
    }
    let median = predictions.quantile(0.5).unwrap_or_default();
    panel = panel
        .with(Mark::line(&x, &with_last(median.clone())).ink(Ink::Blue).width(1.8).name("median"))
        .with(Mark::line(&past, &series.values[first..]).ink(Ink::Text).width(1.2).name("past"));
    let interval = predictions.interval(0.95).unwrap_or_default();
    let table = Grid::new(["step", "median", "95 % from", "to"]).filled((0..rows.len()).map(|step| {
        let at = |list: &[f64]| list.get(step).copied().map_or(String::new(), num);
        vec![count(step + 1), at(&median), at(&interval.0), at(&interval.1)]
    }));
    let of = if series.name.is_empty() { target } else { format!("{target} of {}", name(&series.name)) };
    Picture {
        file: format!("fan-{}", number + 1),
        reading:
            "The line is the past; the bands hold half, four fifths and 95 % of what may follow, each step by itself."
                .into(),
        figure: Figure::new(format!("What follows: {of}"), format!("{} steps ahead.", rows.len())).panel(panel),
        table,
    }
}

/// CRPS by step ahead beside that of the best rival, and the share inside intervals.
pub fn by_step(rolling: &Rolling) -> Vec<Picture> {
    if rolling.steps.len() < 2 {
        return Vec::new();
    }
    let x: Vec<f64> = rolling.steps.iter().filter_map(|score| Some(score.step? as f64)).collect();
    let of = |value: &dyn Fn(usize) -> f64| (0..x.len()).map(value).collect::<Vec<f64>>();
    let (crps, width) = (of(&|at| rolling.steps[at].crps), of(&|at| rolling.steps[at].width95));
    let coverage = of(&|at| rolling.steps[at].coverage95);
    let table = Grid::new(["step", "CRPS", "in 95 %", "width 95 %"])
        .filled((0..x.len()).map(|at| vec![num(x[at]), num(crps[at]), percent(coverage[at]), num(width[at])]));
    let told = format!("From {} at the first step to {} at the last.", num(crps[0]), num(crps[crps.len() - 1]));
    let scores = Panel::new(Axis::new("steps ahead"), Axis::new("CRPS").include(0.0))
        .with(Mark::line(&x, &crps).ink(Ink::Blue).width(1.8).name("forecast"));
    let covered = Panel::new(Axis::new("steps ahead"), Axis::new("share inside 95 %").percent().range(0.0, 1.0))
        .with(Mark::lying_rule(0.95).ink(Ink::Muted).dashed())
        .with(Mark::line(&x, &coverage).ink(Ink::Blue).width(1.8).name("inside the 95 % interval"));
    vec![
        Picture {
            file: "crps-by-step".into(),
            reading: "How far off forecasts are at each step ahead: it grows, and should do so slowly.".into(),
            figure: Figure::new("CRPS by step ahead", told).panel(scores),
            table: table.clone(),
        },
        Picture {
            file: "coverage-by-step".into(),
            reading: "The share of values inside their 95 % interval at each step ahead: it should stay near the dashed line.".into(),
            figure: Figure::new("Coverage by step ahead", "The share inside 95 % intervals.".to_string()).panel(covered),
            table,
        },
    ]
}

/// Histograms of where values fell within their forecasts, for some steps ahead.
pub fn pit(rolling: &Rolling) -> Picture {
    let edges: Vec<f64> = (0..=STEP_PIT_BINS).map(|edge| edge as f64 / STEP_PIT_BINS as f64).collect();
    let mut figure = Figure::new(
        "PIT by step ahead",
        "Where values fell within their forecasts, as shares of each step's values.".to_string(),
    )
    .columns(2);
    let mut table = Grid::new(["step", "in the lowest tenth", "in the middle", "in the highest tenth"]);
    for at in spread(rolling.steps.len(), HISTOGRAMS) {
        let StepScores { step, pit: shares, .. } = &rolling.steps[at];
        let step = count(step.unwrap_or_default());
        table.push([
            step.clone(),
            percent(shares[0]),
            percent(shares[1..STEP_PIT_BINS - 1].iter().sum()),
            percent(shares[STEP_PIT_BINS - 1]),
        ]);
        let panel = Panel::new(Axis::new("PIT").range(0.0, 1.0), Axis::new("share").percent().include(0.0))
            .title(format!("{step} ahead"))
            .with(Mark::histogram(&edges, shares).ink(Ink::Blue))
            .with(Mark::lying_rule(1.0 / STEP_PIT_BINS as f64).ink(Ink::Muted).dashed());
        figure = figure.panel(panel);
    }
    Picture {
        file: "pit-by-step".into(),
        reading: "Flat where forecasts are calibrated; high at both ends where they are too narrow, in the middle where too wide.".into(),
        figure,
        table,
    }
}

/// How changes are correlated with those some steps before, and the seasons found.
pub fn seasons(forecaster: &Forecaster, histories: &Histories) -> Option<Picture> {
    let seasons = &forecaster.recipe().seasons;
    let longest = seasons.last().map_or(LAGS / 8, |season| season + season / 4).clamp(12, LAGS);
    let correlation = histories.correlation(longest);
    if correlation.len() < 3 {
        return None;
    }
    let x: Vec<f64> = (1..correlation.len()).map(|lag| lag as f64).collect();
    let words: Vec<String> = seasons.iter().map(|season| count(*season)).collect();
    let told = if words.is_empty() {
        "No season was found.".into()
    } else {
        format!("Seasons found: {} steps.", words.join(" and "))
    };
    let mut panel = Panel::new(Axis::new("steps apart"), Axis::new("correlation of changes").include(0.0))
        .with(Mark::line(&x, &correlation[1..]).ink(Ink::Blue).width(1.4).name("correlation"));
    for season in seasons.iter().filter(|season| **season < correlation.len()) {
        panel = panel.with(Mark::upright_rule(*season as f64).ink(Ink::Orange).dashed());
    }
    let table = Grid::new(["steps apart", "correlation"])
        .filled((1..correlation.len()).map(|lag| vec![count(lag), num(correlation[lag])]));
    Some(Picture {
        file: "seasons".into(),
        reading:
            "Changes that are alike so many steps apart make a peak; dashed lines are the seasons that forecasts use."
                .into(),
        figure: Figure::new("Seasons", told).panel(panel),
        table,
    })
}
