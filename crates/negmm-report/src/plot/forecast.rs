//! Plots of forecasts: fan charts, scores and calibration by horizon, seasonality.

use negmm::Interval;
use negmm::forecast::{Backtest, Forecaster, Forecasts, Histories, STEP_PIT_BINS, Series, StepScores};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::text::{count, name, num, percent};
use crate::time_axis::TimeAxis;

/// Series with a fan chart, at most.
const MAX_FANS: usize = 4;
/// Past steps in a fan chart, at least, and as a multiple of the horizon.
const PAST: usize = 60;
const PAST_HORIZONS: usize = 3;
/// Levels and opacities of the intervals of a fan chart, the widest first.
const BANDS: [(f64, f64); 3] = [(0.95, 0.18), (0.8, 0.28), (0.5, 0.4)];
/// PIT histograms, at most.
const HISTOGRAMS: usize = 4;
/// Lags of the correlogram, at most.
const MAX_LAGS: usize = 400;

/// Fan charts: the forecasts of some series after their past.
pub fn fans(forecaster: &Forecaster, histories: &Histories, future: &Forecasts) -> Vec<Plot> {
    let horizon = forecaster.transform().spec.horizon;
    let shown = evenly_spaced(histories.series.len(), MAX_FANS);
    shown
        .into_iter()
        .enumerate()
        .map(|(number, series)| {
            let rows: Vec<usize> = (series * horizon..(series + 1) * horizon).collect();
            fan(forecaster, &histories.series[series], future, &rows, number)
        })
        .collect()
}

fn fan(forecaster: &Forecaster, series: &Series, future: &Forecasts, rows: &[usize], number: usize) -> Plot {
    let (transform, predictions) = (forecaster.transform(), future.predictions.select(rows));
    let first = series.len().saturating_sub(PAST.max(PAST_HORIZONS * rows.len()));
    let time = |step: usize| series.time(step, transform.frequency);
    let (axis, shown): (String, Box<dyn Fn(usize) -> f64>) = match transform.frequency.has_dates() {
        true => {
            let axis = TimeAxis::new(time(first), time(series.len() + rows.len()));
            (axis.label.clone(), Box::new(move |step| axis.position(time(step))))
        }
        false => ("step".into(), Box::new(|step| step as f64 + 1.0)),
    };
    let past: Vec<f64> = (first..series.len()).map(&shown).collect();
    let future_x: Vec<f64> = (0..rows.len()).map(|step| shown(series.len() + step)).collect();
    // The fan starts at the last observed value.
    let with_last = |list: Vec<f64>| [series.values[series.len() - 1]].into_iter().chain(list).collect::<Vec<f64>>();
    let x: Vec<f64> = past.last().copied().into_iter().chain(future_x.iter().copied()).collect();
    let target = name(&transform.spec.target);
    let mut panel = Panel::new(Axis::new(axis), Axis::new(&target));
    for (coverage, opacity) in BANDS {
        if let Ok(Interval { lower, upper }) = predictions.interval(coverage) {
            let band = Mark::band(&x, &with_last(lower), &with_last(upper)).colour(Colour::Blue).opacity(opacity);
            panel = panel.with(band.name(format!("{} interval", percent(coverage))));
        }
    }
    let median = predictions.quantile(0.5).unwrap_or_default();
    panel = panel
        .with(Mark::line(&x, &with_last(median.clone())).colour(Colour::Blue).width(1.8).name("median"))
        .with(Mark::line(&past, &series.values[first..]).colour(Colour::Text).width(1.2).name("past"));
    let interval = predictions.interval(0.95).unwrap_or_default();
    let table = TextTable::new(["step", "median", "95 % from", "to"]).filled((0..rows.len()).map(|step| {
        let at = |list: &[f64]| list.get(step).copied().map_or(String::new(), num);
        vec![count(step + 1), at(&median), at(&interval.lower), at(&interval.upper)]
    }));
    let of = if series.name.is_empty() { target } else { format!("{target} of {}", name(&series.name)) };
    Plot {
        name: format!("fan-{}", number + 1),
        caption: "The line is the past; the bands are pointwise prediction intervals of 50 %, 80 % and 95 %.".into(),
        figure: Figure::new(format!("Forecast of {of}"), format!("{} steps ahead.", rows.len())).panel(panel),
        table,
    }
}

/// CRPS and coverage by horizon.
pub fn by_step(rolling: &Backtest) -> Vec<Plot> {
    if rolling.steps.len() < 2 {
        return Vec::new();
    }
    let x: Vec<f64> = rolling.steps.iter().filter_map(|score| Some(score.step? as f64)).collect();
    let of = |value: &dyn Fn(usize) -> f64| (0..x.len()).map(value).collect::<Vec<f64>>();
    let (crps, width) = (of(&|at| rolling.steps[at].crps), of(&|at| rolling.steps[at].width95));
    let coverage = of(&|at| rolling.steps[at].coverage95);
    let table = TextTable::new(["step", "CRPS", "coverage 95 %", "width 95 %"])
        .filled((0..x.len()).map(|at| vec![num(x[at]), num(crps[at]), percent(coverage[at]), num(width[at])]));
    let description = format!("From {} at the first step to {} at the last.", num(crps[0]), num(crps[crps.len() - 1]));
    let scores = Panel::new(Axis::new("steps ahead"), Axis::new("CRPS").include(0.0))
        .with(Mark::line(&x, &crps).colour(Colour::Blue).width(1.8).name("forecast"));
    let covered = Panel::new(Axis::new("steps ahead"), Axis::new("coverage").percent().range(0.0, 1.0))
        .with(Mark::horizontal_rule(0.95).colour(Colour::Muted).dashed())
        .with(Mark::line(&x, &coverage).colour(Colour::Blue).width(1.8).name("coverage of the 95 % interval"));
    vec![
        Plot {
            name: "crps-by-step".into(),
            caption: "The error of the forecasts at each step ahead: it increases with the horizon.".into(),
            figure: Figure::new("CRPS by step ahead", description).panel(scores),
            table: table.clone(),
        },
        Plot {
            name: "coverage-by-step".into(),
            caption: "The coverage of the 95 % intervals at each step ahead: it should stay near the dashed line."
                .into(),
            figure: Figure::new("Coverage by step ahead", "The coverage of 95 % intervals.".to_string()).panel(covered),
            table,
        },
    ]
}

/// PIT histograms of some steps ahead.
pub fn pit(rolling: &Backtest) -> Plot {
    let edges: Vec<f64> = (0..=STEP_PIT_BINS).map(|edge| edge as f64 / STEP_PIT_BINS as f64).collect();
    let mut figure =
        Figure::new("PIT by step ahead", "PIT histograms of the values of some steps ahead.".to_string()).columns(2);
    let mut table = TextTable::new(["step", "PIT below 0.1", "0.1 to 0.9", "above 0.9"]);
    for at in evenly_spaced(rolling.steps.len(), HISTOGRAMS) {
        let StepScores { step, pit: frequencies, .. } = &rolling.steps[at];
        let step = count(step.unwrap_or_default());
        table.push([
            step.clone(),
            percent(frequencies[0]),
            percent(frequencies[1..STEP_PIT_BINS - 1].iter().sum()),
            percent(frequencies[STEP_PIT_BINS - 1]),
        ]);
        let panel = Panel::new(Axis::new("PIT").range(0.0, 1.0), Axis::new("fraction").percent().include(0.0))
            .title(format!("{step} ahead"))
            .with(Mark::histogram(&edges, frequencies).colour(Colour::Blue))
            .with(Mark::horizontal_rule(1.0 / STEP_PIT_BINS as f64).colour(Colour::Muted).dashed());
        figure = figure.panel(panel);
    }
    Plot {
        name: "pit-by-step".into(),
        caption: "Flat: calibrated. U-shaped: too narrow. Hump-shaped: too wide.".into(),
        figure,
        table,
    }
}

/// The correlogram of changes, and the seasonal periods found.
pub fn seasons(forecaster: &Forecaster, histories: &Histories) -> Option<Plot> {
    let seasons = &forecaster.transform().seasonal_periods;
    let longest = seasons.last().map_or(MAX_LAGS / 8, |season| season + season / 4).clamp(12, MAX_LAGS);
    let correlation = histories.correlation(longest);
    if correlation.len() < 3 {
        return None;
    }
    let x: Vec<f64> = (1..correlation.len()).map(|lag| lag as f64).collect();
    let periods: Vec<String> = seasons.iter().map(|season| count(*season)).collect();
    let description = if periods.is_empty() {
        "No seasonal period was found.".into()
    } else {
        format!("Seasonal periods found: {} steps.", periods.join(" and "))
    };
    let mut panel = Panel::new(Axis::new("lag (steps)"), Axis::new("autocorrelation of changes").include(0.0))
        .with(Mark::line(&x, &correlation[1..]).colour(Colour::Blue).width(1.4).name("autocorrelation"));
    for season in seasons.iter().filter(|season| **season < correlation.len()) {
        panel = panel.with(Mark::vertical_rule(*season as f64).colour(Colour::Orange).dashed());
    }
    let table = TextTable::new(["lag (steps)", "autocorrelation"])
        .filled((1..correlation.len()).map(|lag| vec![count(lag), num(correlation[lag])]));
    Some(Plot {
        name: "seasons".into(),
        caption:
            "The autocorrelation of changes by lag: peaks indicate seasonality; dashed lines are the seasonal periods that forecasts use."
                .into(),
        figure: Figure::new("Seasonality", description).panel(panel),
        table,
    })
}
