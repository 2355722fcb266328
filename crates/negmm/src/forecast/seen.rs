//! Steps that a forecaster was fitted to, among the steps of other tables.

use super::{BacktestOrigins, Forecaster, Histories, Series};
use crate::model::{Fingerprint, SeenRows};
use negmm_nn::dataset::hash_of;

/// A function that gives the hash of a step: of the series, of the time (or the number of the step, without times), and
/// of the value.
fn hashed(series: &Series) -> impl Fn(usize) -> u64 + '_ {
    let name = hash_of(series.keys.iter().flat_map(|key| key.bytes().chain([0]).map(u64::from)));
    move |step| {
        let time = series.times.get(step).map_or(step as u64, |time| time.to_bits());
        hash_of([name, time, series.values[step].to_bits()])
    }
}

/// The fingerprint of all known steps.
pub(super) fn fingerprint(series: &[Series]) -> Fingerprint {
    let known = |series: &Series| {
        let hash = hashed(series);
        let steps = (0..series.len()).filter(|step| !series.values[*step].is_nan());
        steps.map(hash).collect::<Vec<_>>()
    };
    Fingerprint::new(series.iter().flat_map(known).collect())
}

impl Forecaster {
    /// How many of the steps that are forecast from `origins` the forecaster was fitted to; `None` for files of older
    /// versions.
    pub fn seen_steps(&self, histories: &Histories, origins: BacktestOrigins) -> Option<SeenRows> {
        let fingerprint = self.model().fingerprint()?;
        let of_series: Vec<_> = histories.series.iter().map(hashed).collect();
        // Each step counts once, from however many origins it is forecast.
        let mut next = vec![0; of_series.len()];
        let mut is_new = |series: usize, step: usize| {
            let is_new = step >= next[series];
            next[series] = next[series].max(step + 1);
            is_new && !histories.series[series].values[step].is_nan()
        };
        let points = self.each_point(histories, Some(origins)).map(|point| (point.series, point.step()));
        let hashes = points.filter(|(series, step)| is_new(*series, *step));
        Some(fingerprint.seen(&hashes.map(|(series, step)| of_series[series](step)).collect::<Vec<_>>()))
    }
}
