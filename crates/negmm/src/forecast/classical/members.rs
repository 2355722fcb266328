//! The classical members, and their forecasts from the end of a history.

use super::autoregression::autoregression;
use super::calendar::{YEAR, Years};
use super::decomposition::{SeasonKind, is_seasonal};
use super::smoothing::{Smoothed, Trend, smooth};
use super::theta::theta;
use super::year::with_year;

/// At most so many last steps of a history are used, or so many periods of its season.
const MOST_STEPS: usize = 1_500;
const MOST_PERIODS: usize = 6;
/// Seasons longer than this are left to the networks.
pub(super) const LONGEST_PERIOD: usize = 1_000;
/// Steps beyond two periods that a seasonal method needs.
const MORE_STEPS: usize = 2;
/// Seasons of the mean by phase, and the weight of each beside the one after it.
const SEASONS_OF_MEAN: usize = 6;
const FADING: f64 = 0.8;
/// The share of the mean change from season to season that goes on, and the periods it is taken from.
const DRIFT: f64 = 0.5;
const PERIODS_OF_DRIFT: usize = 5;
const LEAST_OF_DRIFT: usize = 4;
/// Ridge penalty relative to the sum of squares, for levels and for changes.
const RIDGE: f64 = 0.01;
const RIDGE_OF_CHANGES: f64 = 0.05;
/// Seasonal lags of an autoregression need so many periods.
const PERIODS_OF_LAGS: usize = 4;
/// Lags of three seasons back are used for periods of at least this.
const LONG_PERIOD: usize = 24;

/// A classical member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Last,
    Drift,
    SeasonalNaive(usize),
    SeasonalDrift(usize),
    SeasonalMean(usize),
    /// Means by phase of a week with this number of steps, and how they were missed a year ago.
    Year(usize),
    /// Exponential smoothing without trend; period 1: without season.
    Level(usize),
    Damped(usize),
    Linear(usize),
    Theta(usize),
    Autoregression,
    AutoregressionOfChanges,
}

impl Member {
    /// The members for these seasonal periods, shortest first; with the steps of a week where a year is known by it.
    pub(super) fn all(periods: &[usize], week: Option<usize>) -> Vec<Self> {
        let mut members = vec![Self::Last, Self::Drift, Self::Autoregression, Self::AutoregressionOfChanges];
        for period in periods {
            members.extend([Self::SeasonalNaive(*period), Self::SeasonalDrift(*period), Self::SeasonalMean(*period)]);
        }
        let first = periods.first().copied().unwrap_or(1);
        members.extend([Self::Level(first), Self::Damped(first), Self::Linear(first), Self::Theta(first)]);
        // Of longer seasons there are few periods: their trends are not extrapolated.
        members.extend(periods.iter().skip(1).map(|period| Self::Level(*period)));
        members.extend(week.map(Self::Year));
        members
    }

    /// Its name in tables.
    pub(super) fn name(self) -> String {
        let seasonal = |name: &str, period: usize| match period {
            1 => name.to_string(),
            _ => format!("{name} ({period})"),
        };
        match self {
            Self::Last => "last value".into(),
            Self::Drift => "drift".into(),
            Self::SeasonalNaive(period) => seasonal("seasonal naive", period),
            Self::SeasonalDrift(period) => seasonal("seasonal drift", period),
            Self::SeasonalMean(period) => seasonal("seasonal mean", period),
            Self::Year(week) => seasonal("year and season", week),
            Self::Level(period) => seasonal("smoothing", period),
            Self::Damped(period) => seasonal("damped trend", period),
            Self::Linear(period) => seasonal("linear trend", period),
            Self::Theta(period) => seasonal("Theta", period),
            Self::Autoregression => "autoregression".into(),
            Self::AutoregressionOfChanges => "autoregression of changes".into(),
        }
    }

    /// Its seasonal period; 1 without one.
    fn period(self) -> usize {
        match self {
            Self::SeasonalNaive(period) | Self::SeasonalDrift(period) => period,
            Self::SeasonalMean(period) | Self::Year(period) => period,
            Self::Level(period) | Self::Damped(period) | Self::Linear(period) | Self::Theta(period) => period,
            Self::Last | Self::Drift | Self::Autoregression | Self::AutoregressionOfChanges => 1,
        }
    }

    /// Whether it is among those whose errors are the unit of a series.
    pub(super) fn is_reference(self) -> bool {
        matches!(self, Self::Level(_) | Self::Damped(_) | Self::Linear(_) | Self::Theta(_))
    }
}

/// The forecasts of all members from one origin.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    /// Members × steps ahead.
    values: Vec<f64>,
    horizon: usize,
    /// Root mean square of the one-step errors of the smoothing method that fits best.
    pub(super) rms: f64,
    /// Mean absolute value of the history.
    pub(super) level: f64,
}

impl Paths {
    /// Fits the members to a history of at least one value; `leap_days` are steps that are 29 Februaries.
    pub(super) fn of(
        history: &[f64],
        periods: &[usize],
        members: &[Member],
        horizon: usize,
        leap_days: &[usize],
    ) -> Self {
        let yearly: Vec<usize> = (0..members.len()).filter(|member| members[*member].period() == YEAR).collect();
        let years = if yearly.is_empty() { None } else { Years::of(history, leap_days, horizon) };
        let longest = periods.last().copied().unwrap_or(1);
        let whole = history;
        let history = &history[history.len().saturating_sub(MOST_STEPS.max(MOST_PERIODS * longest))..];
        let (steps, last) = (history.len(), history[history.len() - 1]);
        let positive = history.iter().all(|value| *value > 0.0);
        let mut rms = f64::INFINITY;
        let mut kind_of_season = None;
        let mut values = Vec::with_capacity(members.len() * horizon);
        for member in members {
            let path: Vec<f64> = match *member {
                Member::Last => vec![last; horizon],
                Member::Drift => {
                    let slope = (last - history[0]) / (steps - 1).max(1) as f64;
                    (1..=horizon).map(|ahead| last + slope * ahead as f64).collect()
                }
                Member::SeasonalNaive(period) => seasonal_naive(history, period, horizon, 0.0),
                Member::SeasonalDrift(period) => {
                    seasonal_naive(history, period, horizon, DRIFT * seasonal_change(history, period))
                }
                Member::SeasonalMean(period) => (1..=horizon).map(|ahead| phase_mean(history, period, ahead)).collect(),
                Member::Year(week) => with_year(whole, week, horizon),
                Member::Level(period) => {
                    let (smoothed, kind) = level(history, (period, periods), horizon, positive);
                    kind_of_season = Some(kind);
                    rms = rms.min(smoothed.rms);
                    smoothed.path
                }
                Member::Damped(period) | Member::Linear(period) => {
                    let trend = if let Member::Damped(_) = member { Trend::Damped } else { Trend::Linear };
                    let smoothed = smooth(history, period, horizon, trend, kind_of_season.unwrap_or(SeasonKind::None));
                    rms = rms.min(smoothed.rms);
                    smoothed.path
                }
                Member::Theta(period) => {
                    let kind = match is_seasonal(history, period) {
                        true if positive => SeasonKind::Multiplicative,
                        true => SeasonKind::Additive,
                        false => SeasonKind::None,
                    };
                    theta(history, period, horizon, kind)
                }
                Member::Autoregression => {
                    let found = autoregression(history, &lags(periods, steps, false), horizon, RIDGE);
                    found.map_or_else(|| vec![last; horizon], |found| found.path)
                }
                Member::AutoregressionOfChanges => {
                    let changes: Vec<f64> = history.windows(2).map(|pair| pair[1] - pair[0]).collect();
                    let found = autoregression(&changes, &lags(periods, steps, true), horizon, RIDGE_OF_CHANGES);
                    let summed = |found: Vec<f64>| {
                        let each = found.iter().scan(last, |sum, change| {
                            *sum += change;
                            Some(*sum)
                        });
                        each.collect()
                    };
                    found.map_or_else(|| vec![last; horizon], |found| summed(found.path))
                }
            };
            values.extend(path);
        }
        // Extrapolations further from the past than its own range are cut.
        let low = history.iter().copied().fold(f64::INFINITY, f64::min);
        let high = history.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let range = high - low;
        for value in &mut values {
            *value = if value.is_finite() { value.clamp(low - range, high + range) } else { last };
        }
        if let Some(years) = years {
            let members: Vec<Member> = yearly.iter().map(|member| members[*member]).collect();
            let plain = Self::of(&years.history, periods, &members, horizon, &[]);
            for (at, member) in yearly.iter().enumerate() {
                let path = &mut values[member * horizon..][..horizon];
                path.iter_mut().zip(&years.ahead).for_each(|(value, ahead)| *value = plain.of_member(at)[ahead - 1]);
            }
        }
        let level = history.iter().map(|value| value.abs()).sum::<f64>() / steps as f64;
        Self { values, horizon, rms: if rms.is_finite() { rms } else { 0.0 }, level }
    }

    /// The forecasts of a member.
    pub(super) fn of_member(&self, member: usize) -> &[f64] {
        &self.values[member * self.horizon..][..self.horizon]
    }
}

/// The value of the same phase in the last season, plus `slope` per step.
fn seasonal_naive(history: &[f64], period: usize, horizon: usize, slope: f64) -> Vec<f64> {
    let last = history[history.len() - 1];
    let value = |ahead: usize| {
        let back = period * ahead.div_ceil(period);
        let copied = (history.len() + ahead - 1).checked_sub(back).map_or(last, |step| history[step]);
        copied + slope * back as f64
    };
    (1..=horizon).map(value).collect()
}

/// The mean change per step over one period, in the last periods.
fn seasonal_change(history: &[f64], period: usize) -> f64 {
    let last = &history[history.len().saturating_sub(PERIODS_OF_DRIFT * period.max(LEAST_OF_DRIFT) + period)..];
    let changes: Vec<f64> = last.iter().skip(period).zip(last).map(|(later, earlier)| later - earlier).collect();
    if changes.is_empty() { 0.0 } else { changes.iter().sum::<f64>() / (changes.len() * period) as f64 }
}

/// The weighted mean of the last values of the phase of a step ahead; without any, of all.
pub(super) fn phase_mean(history: &[f64], period: usize, ahead: usize) -> f64 {
    let back = period * ahead.div_ceil(period);
    let (mut sum, mut total, mut weight) = (0.0, 0.0, 1.0);
    for season in 0..SEASONS_OF_MEAN {
        let Some(step) = (history.len() + ahead - 1).checked_sub(back + season * period) else { break };
        sum += weight * history[step];
        total += weight;
        weight *= FADING;
    }
    if total > 0.0 { sum / total } else { history.iter().sum::<f64>() / history.len() as f64 }
}

/// Smoothing without trend, and the kind of season that fits best. No season is a candidate for the shortest period, or
/// where the history is too short for this one.
fn level(
    history: &[f64],
    (period, periods): (usize, &[usize]),
    horizon: usize,
    positive: bool,
) -> (Smoothed, SeasonKind) {
    let long_enough = period > 1 && history.len() >= 2 * period + MORE_STEPS;
    let mut kinds = Vec::with_capacity(3);
    if !long_enough || periods.first().is_none_or(|first| *first == period) {
        kinds.push(SeasonKind::None);
    }
    kinds.extend(long_enough.then_some(SeasonKind::Additive));
    kinds.extend((long_enough && positive).then_some(SeasonKind::Multiplicative));
    let fitted = kinds.into_iter().map(|kind| (smooth(history, period, horizon, Trend::None, kind), kind));
    let best = fitted.reduce(|best, next| if next.0.aicc < best.0.aicc { next } else { best });
    best.unwrap_or_else(|| (smooth(history, 1, horizon, Trend::None, SeasonKind::None), SeasonKind::None))
}

/// The sets of lags that an autoregression chooses from.
fn lags(periods: &[usize], steps: usize, of_changes: bool) -> Vec<Vec<usize>> {
    let mut sets = vec![vec![1], vec![1, 2], if of_changes { vec![1, 2, 3, 4] } else { vec![1, 2, 3] }];
    let mut seasonal: Vec<usize> = Vec::new();
    for period in periods.iter().copied().filter(|period| *period > 1 && steps > PERIODS_OF_LAGS * period) {
        seasonal.extend(if of_changes { [period, 2 * period] } else { [period, period + 1] });
        seasonal.extend((period >= LONG_PERIOD).then_some(2 * period));
        let short: &[usize] = if of_changes { &[1] } else { &[1, 2] };
        sets.push([short, &[period]].concat());
        let short: &[usize] = if of_changes { &[1, 2] } else { &[1, 2, 3] };
        sets.push([short, &seasonal].concat());
    }
    sets.iter_mut().for_each(|set| {
        set.sort_unstable();
        set.dedup();
    });
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_forecasts_any_history() {
        let members = Member::all(&[4, 12], Some(12));
        let histories = [
            vec![3.0],
            vec![3.0, 3.0],
            vec![0.0; 40],
            (0..60).map(|step| f64::from(step % 12)).collect(),
            (0..7).map(|step| -f64::from(step)).collect(),
            vec![1e150, -1e150, 1e150, 2.0, 3.0, 4.0],
        ];
        for history in histories {
            let paths = Paths::of(&history, &[4, 12], &members, 30, &[]);
            for (number, member) in members.iter().enumerate() {
                let path = paths.of_member(number);
                assert!(path.len() == 30 && path.iter().all(|value| value.is_finite()), "{member:?} {path:?}");
            }
            assert!(paths.rms >= 0.0 && paths.level >= 0.0);
        }
    }

    #[test]
    fn naive_members_copy_the_past() {
        let history = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(seasonal_naive(&history, 4, 5, 0.0), [5.0, 6.0, 7.0, 8.0, 5.0]);
        assert_eq!(seasonal_change(&history, 4), 1.0);
        assert_eq!(phase_mean(&history, 4, 1), (5.0 + 0.8) / 1.8);
        assert_eq!(phase_mean(&history[..2], 4, 1), 1.5);
    }
}
