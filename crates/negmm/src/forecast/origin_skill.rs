//! Skill of forecasts against several baselines. Errors of the steps ahead of one origin have much in common: the
//! standard error takes origins, not steps, as independent, or the times of origins where that makes it larger, as where the
//! errors of different series at the same time are alike.

use std::collections::BTreeMap;

use super::ForecastPoint;
use negmm_dist::{Skill, SkillAccumulator};

/// Sums of the CRPS of forecasts and baselines, origin by origin.
#[derive(Clone, Debug)]
pub(super) struct OriginSkill {
    last: Option<(ForecastPoint, f64)>,
    /// Of the origin of the last point: the forecasts' first, then the baselines'.
    sums: Vec<f64>,
    /// For each baseline.
    against: Vec<SkillAccumulator>,
    /// The sums of all series by the time of the origin.
    by_time: BTreeMap<u64, Vec<f64>>,
}

impl OriginSkill {
    pub(super) fn new(baselines: usize) -> Self {
        Self {
            last: None,
            sums: vec![0.0; baselines + 1],
            against: vec![SkillAccumulator::default(); baselines],
            by_time: BTreeMap::new(),
        }
    }

    /// Adds points, those of an origin one after the other, and the time of each origin, NaN where it has none: the CRPS of
    /// the forecasts, then of each baseline.
    pub(super) fn add(&mut self, (points, time): (&[ForecastPoint], impl Fn(usize) -> f64), crps: &[Vec<f64>]) {
        for (row, point) in points.iter().enumerate() {
            if self.last.is_some_and(|(last, _)| !last.is_beside(point)) {
                self.end_origin();
            }
            self.last = Some((*point, time(row)));
            self.sums.iter_mut().zip(crps).for_each(|(sum, crps)| *sum += crps[row]);
        }
    }

    fn end_origin(&mut self) {
        let (own, baselines) = (self.sums[0], &self.sums[1..]);
        self.against.iter_mut().zip(baselines).for_each(|(skill, baseline)| skill.add(&[own], &[*baseline], None));
        if let Some((_, time)) = self.last.filter(|(_, time)| !time.is_nan()) {
            let same = self.by_time.entry(time.to_bits()).or_insert_with(|| vec![0.0; self.sums.len()]);
            same.iter_mut().zip(&self.sums).for_each(|(sum, more)| *sum += more);
        }
        self.sums.fill(0.0);
    }

    /// The skill against the baseline that is best: the lowest of all.
    pub(super) fn finish(mut self) -> Option<Skill> {
        self.end_origin();
        let mut by_time = vec![SkillAccumulator::default(); self.against.len()];
        for sums in self.by_time.values() {
            by_time.iter_mut().zip(&sums[1..]).for_each(|(skill, baseline)| skill.add(&[sums[0]], &[*baseline], None));
        }
        let both = self.against.iter().zip(&by_time);
        let skills = both.filter_map(|(by_origin, by_time)| {
            let mut skill = by_origin.finish()?;
            skill.se = by_time.finish().map_or(skill.se, |by_time| skill.se.max(by_time.se));
            Some(skill)
        });
        skills.min_by(|a, b| a.value.total_cmp(&b.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_an_origin_count_together() {
        let point = |row: usize| ForecastPoint { series: 0, origin: 10 + row / 4, ahead: 1 + row % 4 };
        let points: Vec<ForecastPoint> = (0..40).map(point).collect();
        // All steps of an origin are alike.
        let own: Vec<f64> = points.iter().map(|point| if point.origin % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let crps = [own, vec![4.0; 40], vec![8.0; 40]];
        let mut skill = OriginSkill::new(2);
        // In two pieces, which divide an origin.
        skill.add((&points[..18], |_| f64::NAN), &crps.clone().map(|list| list[..18].to_vec()));
        skill.add((&points[18..], |_| f64::NAN), &crps.clone().map(|list| list[18..].to_vec()));
        let found = skill.finish().unwrap();
        assert!((found.value - 0.5).abs() < 1e-12, "{found:?}");
        // Ten origins with an sd of 0.25 of the ratio.
        assert!((found.se - 0.25 / 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn origins_of_a_time_count_together_where_they_are_alike() {
        // Ten series with four origins each; what is hard depends on the time, or on the series.
        let point = |row: usize| ForecastPoint { series: row / 4, origin: row % 4, ahead: 1 };
        let points: Vec<ForecastPoint> = (0..40).map(point).collect();
        let se = |hard: fn(&ForecastPoint) -> bool| {
            let own = points.iter().map(|point| if hard(point) { 3.0 } else { 1.0 }).collect();
            let mut skill = OriginSkill::new(1);
            skill.add((&points, |row| points[row].origin as f64), &[own, vec![4.0; 40]]);
            skill.finish().unwrap().se
        };
        // Four times with an sd of 0.25 of the ratio, not forty origins.
        assert!((se(|point| point.origin % 2 == 0) - 0.25 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((se(|point| point.series % 2 == 0) - 0.25 / 39.0_f64.sqrt()).abs() < 1e-12);
    }
}
