//! Monitoring of several targets: one monitor for each target and for each of some directions.
//!
//! A joint distribution may have calibrated marginals and a wrong dependence, which projections of all targets show: along a
//! direction u the projection u·Y of calibrated predictions has uniform PIT values. Each monitor has an equal part of the probability
//! of a false alarm, so that any of them raises one with probability at most alpha.

use serde::{Deserialize, Serialize};

use super::{Monitor, MonitorConfig, MonitorStatus};
use crate::joint::JointPredictions;
use negmm_data::Target;
use negmm_dist::joint::directions;
use negmm_dist::{Error, Result};

/// Directions at least.
const DIRECTIONS: usize = 4;

/// A monitor of a model of several targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointMonitor {
    config: MonitorConfig,
    targets: Vec<String>,
    parts: Vec<Part>,
}

/// The monitor of a target or of a direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Part {
    name: String,
    /// One coefficient for each target; of a target 1 for itself.
    coefficients: Vec<f64>,
    /// The target, unless it is a direction.
    target: Option<usize>,
    monitor: Monitor,
}

/// The status of one target or direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JointMonitorPart {
    /// The target, or the direction as a sum of standardised targets.
    pub name: String,
    /// Its status; its alpha is an equal part of that of all.
    #[serde(flatten)]
    pub status: MonitorStatus,
}

/// The status of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JointMonitorStatus {
    /// Number of rows.
    pub rows: u64,
    /// Probability of a false alarm of any of them, at most.
    pub alpha: f64,
    /// The targets and directions that are not calibrated, those with the most evidence first.
    pub alarms: Vec<String>,
    /// Logarithm to base 10 of the mean evidence against calibration, which is evidence itself.
    pub evidence: f64,
    /// Targets, then directions.
    pub parts: Vec<JointMonitorPart>,
}

impl JointMonitor {
    /// A monitor before the first row.
    ///
    /// # Errors
    /// When [`MonitorConfig::check`] finds something wrong.
    pub fn new(config: MonitorConfig, targets: &[Target]) -> Result<Self> {
        config.check()?;
        let d = targets.len();
        let along = directions(d, DIRECTIONS);
        let count = d + along.len() / d.max(1);
        let own = || Monitor::new(config.alpha(config.alpha / count as f64));
        let mut parts = Vec::with_capacity(count);
        for (at, target) in targets.iter().enumerate() {
            let coefficients = (0..d).map(|other| f64::from(u8::from(other == at))).collect();
            parts.push(Part { name: target.name.clone(), coefficients, target: Some(at), monitor: own()? });
        }
        for direction in along.chunks_exact(d.max(1)) {
            let term = |(at, (u, target)): (usize, (&f64, &Target))| {
                let sign = match (at, *u < 0.0) {
                    (0, false) => "",
                    (0, true) => "-",
                    (_, false) => " + ",
                    (_, true) => " - ",
                };
                format!("{sign}{:.2} {}", u.abs(), target.name)
            };
            let name = direction.iter().zip(targets).enumerate().map(term).collect();
            let coefficients = direction.iter().zip(targets).map(|(u, target)| u / target.scale).collect();
            parts.push(Part { name, coefficients, target: None, monitor: own()? });
        }
        Ok(Self { config, targets: targets.iter().map(|target| target.name.clone()).collect(), parts })
    }

    /// Takes predictions of rows, those of the constant baseline and the observed targets (rows × targets), in time order. Rows in
    /// which a target is missing are left out; returns their number.
    ///
    /// # Errors
    /// When the numbers differ, or the targets are others: then the monitor is unchanged.
    pub fn update(&mut self, predictions: &JointPredictions, constant: &JointPredictions, y: &[f64]) -> Result<usize> {
        let d = self.targets.len();
        if predictions.names() != self.targets || constant.names() != self.targets {
            return Err(Error::data(format!("this monitor is of the targets {}", self.targets.join(", "))));
        }
        if y.len() != predictions.len() * d || constant.len() != predictions.len() {
            return Err(Error::data(format!("expected {d} targets for each of {} rows", predictions.len())));
        }
        let complete = |row: &usize| y[row * d..][..d].iter().all(|y| y.is_finite());
        let rows: Vec<usize> = (0..predictions.len()).filter(complete).collect();
        let (own, baseline) = (predictions.select(&rows), constant.select(&rows));
        let mut updated = self.clone();
        for part in &mut updated.parts {
            let of = |all: &JointPredictions| match part.target {
                Some(target) => all.marginal(target),
                None => all.mixtures().linear(&part.coefficients, 0.0).into(),
            };
            let dot = |row: &usize| y[row * d..][..d].iter().zip(&part.coefficients).map(|(y, c)| y * c).sum::<f64>();
            let along: Vec<f64> = rows.iter().map(dot).collect();
            part.monitor.update(&of(&own), &of(&baseline), &along)?;
        }
        *self = updated;
        Ok(predictions.len() - rows.len())
    }

    /// Its configuration.
    pub fn config(&self) -> MonitorConfig {
        self.config
    }

    /// The names of the targets.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// The monitor with the most evidence, and its name.
    pub fn strongest(&self) -> Option<(&str, &Monitor)> {
        let evidence = |part: &Part| part.monitor.status().evidence;
        let best = self.parts.iter().max_by(|a, b| evidence(a).total_cmp(&evidence(b)));
        best.map(|part| (part.name.as_str(), &part.monitor))
    }

    /// The current status.
    pub fn status(&self) -> JointMonitorStatus {
        let of = |part: &Part| JointMonitorPart { name: part.name.clone(), status: part.monitor.status() };
        let parts: Vec<JointMonitorPart> = self.parts.iter().map(of).collect();
        let mut alarms: Vec<&JointMonitorPart> = parts.iter().filter(|part| part.status.alarm.is_some()).collect();
        alarms.sort_by(|a, b| b.status.evidence.total_cmp(&a.status.evidence));
        let alarms = alarms.into_iter().map(|part| part.name.clone()).collect();
        let ten = std::f64::consts::LN_10;
        let logs: Vec<f64> = parts.iter().map(|part| part.status.evidence * ten).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = logs.iter().map(|log| libm::exp(log - largest)).sum::<f64>() / logs.len().max(1) as f64;
        JointMonitorStatus {
            rows: parts.first().map_or(0, |part| part.status.rows),
            alpha: self.config.alpha,
            alarms,
            evidence: (largest + libm::log(mean)) / ten,
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::fit_joint;
    use crate::{Method, Table};
    use negmm_data::Column;
    use negmm_dist::math::normal;
    use negmm_dist::{JointMixtures, Rng};

    fn normals(rng: &mut Rng, rows: usize) -> Vec<f64> {
        (0..rows).map(|_| normal::quantile(rng.uniform())).collect()
    }

    /// Two standard normal targets with a correlation.
    fn predictions(rows: usize, correlation: f64, targets: std::sync::Arc<[Target]>) -> JointPredictions {
        let covariance = [1.0, correlation, correlation, 1.0].repeat(rows);
        let all = JointMixtures::from_covariances(2, 1, vec![1.0; rows], vec![0.0; 2 * rows], &covariance).unwrap();
        JointPredictions::new(all, targets)
    }

    #[test]
    fn a_wrong_dependence_of_calibrated_marginals_is_found() {
        let rng = &mut Rng::new(1, 0);
        let (a, b) = (normals(rng, 800), normals(rng, 800));
        let columns = vec![("x", Column::Numbers(a.clone())), ("a", Column::Numbers(a)), ("b", Column::Numbers(b))];
        let mut method = Method::by_name("ne-gmm").unwrap().for_several_targets();
        method.set("epochs", "1").unwrap();
        let model = fit_joint(&Table::new(columns).unwrap(), &["a", "b"], &method).unwrap();
        let targets: std::sync::Arc<[Target]> = model.targets().to_vec().into();
        let truth = predictions(800, 0.7, targets.clone());
        let y = truth.sample(1, 5, 0);
        let run = |correlation: f64| {
            let mut monitor = JointMonitor::new(MonitorConfig::default(), &targets).unwrap();
            let own = predictions(800, correlation, targets.clone());
            assert_eq!(monitor.update(&own, &model.baseline(800), &y).unwrap(), 0);
            monitor.status()
        };
        let (right, wrong) = (run(0.7), run(0.0));
        assert_eq!((right.rows, right.parts.len(), right.alarms.len()), (800, 6, 0));
        assert!(right.evidence < 1.0 && wrong.evidence > 3.0, "{} {}", right.evidence, wrong.evidence);
        assert!(!wrong.alarms.is_empty() && wrong.alarms.iter().all(|name| name != "a" && name != "b"), "{wrong:?}");
        let mut missing = y.clone();
        missing[1] = f64::NAN;
        let mut monitor = JointMonitor::new(MonitorConfig::default(), &targets).unwrap();
        assert_eq!(monitor.update(&truth, &model.baseline(800), &missing).unwrap(), 1);
        assert_eq!(monitor.status().rows, 799);
    }
}
