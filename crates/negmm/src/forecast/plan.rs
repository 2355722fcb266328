//! Plans of fits of forecasters: series to training jobs.

use super::baseline::Baseline;
use super::classical::Classical;
use super::features::{BLOCK, CHANGE, Past, inputs};
use super::holidays::HolidayEffects;
use super::intermittent::{Intermittent, is_intermittent};
use super::local_scale::LocationScale;
use super::network_settings::sized;
use super::points::{LastParts, block, training_points};
use super::scale::FAR;
use super::shared_support::{shared_support, stated_support};
use super::supports::{OwnSupport, jitter};
use super::{ForecastPoint, Histories, Series, SeriesSpec, SeriesTransform, SeriesWatch};
use crate::method::{Auto, LEAST_TRAINED, Method};
use crate::model::{FitPlan, plan};
use negmm_data::{Column, ColumnRoles, Table, TargetSpec};
use negmm_dist::{Error, Mixtures, Result, Support, Warning};
use negmm_nn::train::{Callbacks, Job};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks of time before the last part of a series.
const BLOCKS: usize = 19;

/// Everything that fitting a forecaster needs except the training itself.
#[derive(Clone, Debug)]
pub struct ForecastPlan {
    pub(super) learning: FitPlan,
    pub(super) recipe: Recipe,
    pub(super) series: Vec<Series>,
    pub(super) last_parts: LastParts,
    pub(super) points: Vec<ForecastPoint>,
    /// The points that networks learn from.
    pub(super) learnt: Vec<usize>,
    pub(super) scaling: Vec<LocationScale>,
    pub(super) changes: Vec<f64>,
    pub(super) before: Before,
    pub(super) warnings: Vec<Warning>,
}

/// What was learnt from the series without their last parts, for the forecasts that are scored there.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// The classical forecasts of the points that are scored.
    pub(super) of_classical: Mixtures,
    pub(super) intermittent: Option<Intermittent>,
    pub(super) baselines: Vec<Baseline>,
}

/// What is decided before the networks are trained.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) transform: SeriesTransform,
    pub(super) classical: Classical,
    pub(super) intermittent: Option<Intermittent>,
    pub(super) support: Support,
    /// What each series has beside it, and whether it may have a grid of its own.
    pub(super) own: Vec<OwnSupport>,
    pub(super) own_grids: bool,
    pub(super) holidays: Option<HolidayEffects>,
    /// The series with the effects of holidays, where there are holidays.
    pub(super) original: Option<Vec<Series>>,
    /// The number of networks where each fold has one.
    pub(super) single_networks: Option<usize>,
}

impl ForecastPlan {
    /// Plans the fit of a forecaster to the series in `table`.
    ///
    /// # Errors
    /// When the data or the settings are invalid.
    pub fn new(table: &Table, spec: &SeriesSpec, auto: &Auto, outcome: &TargetSpec, seed: u64) -> Result<Self> {
        Self::watched(table, spec, auto, outcome, seed, &SeriesWatch::new(&|_, _| {}, Callbacks::nothing().cancel))
    }

    /// The same, which says how many series are done.
    ///
    /// # Errors
    /// As [`ForecastPlan::new`], and when the caller asked to stop.
    pub fn watched(
        table: &Table,
        spec: &SeriesSpec,
        auto: &Auto,
        outcome: &TargetSpec,
        seed: u64,
        watch: &SeriesWatch<'_>,
    ) -> Result<Self> {
        spec.check()?;
        outcome.check()?;
        if outcome.is_censored() {
            return Err(Error::options("the steps of a sequence cannot be censored"));
        }
        if !spec.hierarchy.is_empty() && (outcome.upper.is_some() || outcome.lower.is_some_and(|lower| lower != 0.0)) {
            return Err(Error::options(
                "bounds of series are not those of their sums: with a hierarchy, lower can be 0 or absent, and upper absent",
            ));
        }
        let histories = Histories::read(table, spec, None)?;
        let bounds = Support { lower: outcome.lower, upper: outcome.upper, ..Support::default() };
        bounds.check()?;
        let support = match () {
            () if outcome.continuous => bounds,
            () if outcome.discrete => stated_support(outcome, bounds, &histories.series, table, &spec.target)?,
            () => shared_support(bounds, &histories.series),
        };
        let own = histories.series.iter().map(|series| OwnSupport::of(series, support, outcome.continuous));
        let own: Vec<OwnSupport> = own.collect();
        let (holidays, histories, original) = without_holidays(spec, histories).map_err(|error| table.locate(error))?;
        let transform = SeriesTransform::choose(spec, &histories);
        let Histories { series, mut warnings, .. } = histories;
        let last_parts = LastParts::new(&series, &transform.seasonal_periods, spec.horizon);
        let mut points = training_points(&series, &transform, &last_parts, seed);
        if points.is_empty() {
            // Networks learn nothing from a single point, and have no weight.
            points.push(ForecastPoint { series: 0, origin: 0, ahead: 1 });
        }
        let pasts: Vec<Past<'_>> = series.iter().map(|series| Past::new(series, &transform)).collect();
        let scaling: Vec<LocationScale> =
            points.iter().map(|point| pasts[point.series].location_scale(&transform, *point)).collect();
        let change = |(number, (point, scaling)): (usize, (&ForecastPoint, &LocationScale))| {
            let value = series[point.series].values.get(point.step()).copied().filter(|value| !value.is_nan());
            let value = value.unwrap_or(scaling.location);
            // Rounded numbers are spread over what they may have been: networks would learn nothing but spikes.
            let own = &own[point.series];
            let rounding = if own.is_apart(value) { 0.0 } else { own.resolution.min(scaling.scale) };
            let distance = value + rounding * jitter(number) - scaling.location;
            // Values that are all 0 have no scale, and no change.
            if distance == 0.0 { 0.0 } else { (distance / scaling.scale).clamp(-FAR, FAR) }
        };
        let changes: Vec<f64> = points.iter().zip(&scaling).enumerate().map(change).collect();
        let is_known =
            |point: &ForecastPoint| series[point.series].values.get(point.step()).is_some_and(|value| !value.is_nan());
        let scored = points.iter().copied().filter(|point| last_parts.is_scored(point) && is_known(point));
        let scored: Vec<ForecastPoint> = scored.collect();
        let scored_series = scored.chunk_by(|a, b| a.series == b.series).count();
        let before = if scored.is_empty() { Vec::new() } else { last_parts.before(&series) };
        let all = Classical::fitted(series.len()) + Classical::fitted(before.len()) + scored_series;
        let done = AtomicUsize::new(0);
        let each = || {
            (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            !watch.cancel.load(Ordering::Relaxed)
        };
        let seasons = (transform.seasonal_periods.as_slice(), transform.frequency);
        let classical = Classical::fit(&series, seasons, spec.horizon, &each);
        let classical_before = Classical::fit(&before, seasons, spec.horizon, &each);
        let of_series: Vec<&Series> = series.iter().collect();
        let of_classical = classical_before.watched(&of_series, &scored, &each);
        Callbacks { cancel: watch.cancel, ..Callbacks::nothing() }.check_cancelled()?;
        let mut intermittent = Intermittent::fit(&series, spec.horizon);
        let mut intermittent_before = Intermittent::fit(&before, spec.horizon).or_else(|| intermittent.clone());
        if !intermittent_before.as_ref().is_some_and(|before| before.is_better_than(&of_classical, &series, &scored)) {
            (intermittent, intermittent_before) = (None, None);
        }
        let baselines = Baseline::all(&transform, &before);
        let before = Before { of_classical, intermittent: intermittent_before, baselines };
        let by_zeros: Vec<bool> = series
            .iter()
            .map(|series| intermittent.is_some() && is_intermittent(series.history(series.len() - 1)))
            .collect();
        let mut learnt: Vec<usize> = (0..points.len()).filter(|row| !by_zeros[points[*row].series]).collect();
        if learnt.is_empty() {
            learnt = (0..points.len().min(LEAST_TRAINED - 1)).collect();
        }
        let of_rows: Vec<ForecastPoint> = learnt.iter().map(|row| points[*row]).collect();
        let mut columns = inputs(&transform, &pasts, table, &of_rows);
        let of = (&transform, &last_parts);
        let blocks = of_rows.iter().map(|point| block(&series[point.series], *point, of, BLOCKS) as f64);
        columns.push((CHANGE.into(), Column::Numbers(learnt.iter().map(|row| changes[*row]).collect())));
        columns.push((BLOCK.into(), Column::Numbers(blocks.collect())));
        let inputs = ColumnRoles::default().group(BLOCK).target_spec(TargetSpec::default().continuous(true));
        let settings = sized(auto, learnt.len(), spec.horizon);
        let folds = settings.folds;
        let method = Method::Auto(settings);
        let learning = plan(&Table::new(columns)?, CHANGE, &method, &inputs, seed)?.without_extrapolation();
        if learnt.len() < LEAST_TRAINED && !by_zeros.contains(&true) {
            warnings.push(Warning::new(format!(
                "{} too few for networks: classical methods forecast alone",
                if points.len() == 1 { "one step is".into() } else { format!("{} steps are", points.len()) },
            )));
        }
        let own_grids = !outcome.continuous;
        // With several networks for each fold their scales are those of networks in a pool already.
        let networks = learning.jobs().len();
        let single_networks = folds.is_some_and(|folds| networks <= folds).then_some(networks);
        let recipe =
            Recipe { transform, classical, intermittent, support, own, own_grids, holidays, original, single_networks };
        Ok(Self { learning, recipe, series, last_parts, points, learnt, scaling, changes, before, warnings })
    }

    /// The training jobs; [`ForecastPlan::finish`] takes their results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.learning.jobs()
    }
}

/// The series without the effects of holidays, these, and the series as they are where there are holidays.
fn without_holidays(
    spec: &SeriesSpec,
    histories: Histories,
) -> Result<(Option<HolidayEffects>, Histories, Option<Vec<Series>>)> {
    if spec.holidays.is_empty() {
        return Ok((None, histories, None));
    }
    let frequency = histories.frequency;
    let effects = HolidayEffects::fit(&spec.holidays, &histories.series, frequency)?;
    let plain = |series: &Series| match effects.of(&spec.holidays, series, frequency) {
        Some(own) => own.removed(series, frequency),
        None => series.clone(),
    };
    let series = histories.series.iter().map(plain).collect();
    Ok((Some(effects), Histories { series, ..histories.clone() }, Some(histories.series)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;
    use negmm_nn::dataset::Dataset;
    use negmm_nn::train::{CpuEngine, Trained, train};
    use std::sync::Arc;

    const STEPS: usize = 240;

    /// The plan for a random walk with a season, whose last steps are moved.
    fn planned(moved: usize) -> ForecastPlan {
        let mut rng = Rng::new(5, 0);
        let mut level = 0.0;
        let value = |step: usize| {
            level += rng.uniform() - 0.5;
            let season = (std::f64::consts::TAU * step as f64 / 12.0).sin();
            level + 2.0 * season + if step + moved >= STEPS { 40.0 * rng.uniform() } else { 0.0 }
        };
        let table = Table::new(vec![("y", Column::Numbers((0..STEPS).map(value).collect()))]).unwrap();
        let spec = SeriesSpec::of("y").horizon(4).seasonal_periods(vec![12]);
        let auto = Auto::default().hidden(vec![16]).steps(100);
        ForecastPlan::new(&table, &spec, &auto, &TargetSpec::default(), 1).unwrap()
    }

    #[test]
    fn networks_that_are_scored_have_learnt_nothing_of_the_last_part() {
        let plan = planned(0);
        let is_last: Vec<bool> = plan.learnt.iter().map(|row| plan.last_parts.has_target(&plan.points[*row])).collect();
        // The targets of the last part are others, so that whoever learns from one of them is another.
        let moved = |job: Job| {
            let Job::Network(mut job) = job else { panic!("{job:?}") };
            let y = job.data.y().iter().zip(&is_last).map(|(y, last)| if *last { 3.0 - y } else { *y });
            let data = Dataset::from_parts(job.data.features(), job.data.x().to_vec(), y.collect());
            job.data = Arc::new(data.with_numbers(job.data.numbers().to_vec()));
            Job::Network(job)
        };
        let jobs = plan.jobs();
        let trained = |jobs: &[Job]| -> Vec<_> {
            let parameters = |trained| match trained {
                Ok(Trained::Network(network)) => network.parameters,
                other => panic!("{other:?}"),
            };
            train(CpuEngine::all_cores(), jobs, &Callbacks::nothing()).into_iter().map(parameters).collect()
        };
        let (before, after) = (trained(&jobs), trained(&jobs.iter().cloned().map(moved).collect::<Vec<Job>>()));
        // Those that neither train on the last part nor select a checkpoint by it predict it; the others learn from it.
        let mut scored = 0;
        for (job, (before, after)) in jobs.iter().zip(before.iter().zip(&after)) {
            let Job::Network(job) = job else { panic!("{job:?}") };
            let sees_last = job.train.iter().chain(&*job.validation).any(|row| is_last[*row as usize]);
            assert_eq!(before != after, sees_last);
            scored += usize::from(!sees_last);
        }
        assert!(scored >= 1 && scored < jobs.len(), "{scored} of {}", jobs.len());
    }

    #[test]
    fn classical_methods_that_are_scored_have_learnt_nothing_of_the_last_part() {
        let (plan, moved) = (planned(0), planned(20));
        let first = plan.last_parts.first[0];
        assert!(first < STEPS - 20);
        let of = |plan: &ForecastPlan| {
            let points = plan.points.iter().filter(|point| plan.last_parts.is_scored(point));
            let known: Vec<usize> =
                points.enumerate().filter(|(_, point)| point.origin < STEPS - 20).map(|(row, _)| row).collect();
            (known.len(), plan.before.of_classical.clone().take(&known, |_| (1.0, 1.0)))
        };
        assert!(of(&plan).0 > 40, "{}", of(&plan).0);
        assert_eq!(of(&plan), of(&moved));
        // What will forecast the future has learnt from them.
        assert_ne!(plan.recipe.classical, moved.recipe.classical);
    }
}
