//! Skill of forecasts against several baselines. Errors of the steps ahead of one origin have much in common: the
//! standard error takes origins, not steps, as independent.

use super::ForecastPoint;
use negmm_dist::{Skill, SkillAccumulator};

/// Sums of the CRPS of forecasts and baselines, origin by origin.
#[derive(Clone, Debug)]
pub(super) struct OriginSkill {
    last: Option<ForecastPoint>,
    /// Of the origin of the last point: the forecasts' first, then the baselines'.
    sums: Vec<f64>,
    /// For each baseline.
    against: Vec<SkillAccumulator>,
}

impl OriginSkill {
    pub(super) fn new(baselines: usize) -> Self {
        Self { last: None, sums: vec![0.0; baselines + 1], against: vec![SkillAccumulator::default(); baselines] }
    }

    /// Adds points, those of an origin one after the other: the CRPS of the forecasts, then of each baseline.
    pub(super) fn add(&mut self, points: &[ForecastPoint], crps: &[Vec<f64>]) {
        for (row, point) in points.iter().enumerate() {
            if self.last.is_some_and(|last| !last.is_beside(point)) {
                self.end_origin();
            }
            self.last = Some(*point);
            self.sums.iter_mut().zip(crps).for_each(|(sum, crps)| *sum += crps[row]);
        }
    }

    fn end_origin(&mut self) {
        let (own, baselines) = (self.sums[0], &self.sums[1..]);
        self.against.iter_mut().zip(baselines).for_each(|(skill, baseline)| skill.add(&[own], &[*baseline], None));
        self.sums.fill(0.0);
    }

    /// The skill against the baseline that is best: the lowest of all.
    pub(super) fn finish(mut self) -> Option<Skill> {
        self.end_origin();
        let skills = self.against.iter().filter_map(SkillAccumulator::finish);
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
        skill.add(&points[..18], &crps.clone().map(|list| list[..18].to_vec()));
        skill.add(&points[18..], &crps.clone().map(|list| list[18..].to_vec()));
        let found = skill.finish().unwrap();
        assert!((found.value - 0.5).abs() < 1e-12, "{found:?}");
        // Ten origins with an sd of 0.25 of the ratio.
        assert!((found.se - 0.25 / 3.0).abs() < 1e-12, "{found:?}");
    }
}
