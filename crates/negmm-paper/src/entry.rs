//! One result of an experiment: our mean and sd, the published number, and how they compare.

use negmm::compare::Summary;
use serde_json::{Value, json};

use crate::{Published, Scores};

/// How our number compares with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Better by more than two standard errors.
    Better,
    /// Within two standard errors.
    Equal,
    /// Worse by more than two standard errors.
    Worse,
}

impl Comparison {
    /// As one character.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Better => "+",
            Self::Equal => "=",
            Self::Worse => "-",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Worse => "worse",
        }
    }
}

/// One result.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The data set, stock or toy problem.
    pub data: String,
    /// The method.
    pub method: String,
    /// The metric.
    pub metric: &'static str,
    /// What selected the settings, where that differs within a table.
    pub selection: Option<&'static str>,
    /// Our result.
    pub ours: Summary,
    /// The published result.
    pub paper: Option<Published>,
}

impl Entry {
    /// The result of one number per repeat, with the published number of the paper's `experiment`.
    pub fn new(
        experiment: &str,
        data: &str,
        method: &str,
        metric: &'static str,
        selection: Option<&'static str>,
        numbers: &[f64],
    ) -> Self {
        let paper = Published::find(experiment, data, method, metric);
        Self { data: data.into(), method: method.into(), metric, selection, ours: Summary::of(numbers), paper }
    }

    /// All scores of one method on one data set and the seconds of its fits, one fit per repeat; empty without fits.
    pub fn of_fits(experiment: &str, data: &str, method: &str, fits: &[(Scores, f64)]) -> Vec<Self> {
        if fits.is_empty() {
            return Vec::new();
        }
        let entry = |metric, numbers: Vec<f64>| Self::new(experiment, data, method, metric, None, &numbers);
        let mut entries: Vec<Self> = Scores::METRICS
            .into_iter()
            .map(|metric| entry(metric, fits.iter().map(|(scores, _)| scores.get(metric)).collect()))
            .collect();
        entries.push(entry("seconds", fits.iter().map(|(_, seconds)| *seconds).collect()));
        entries
    }

    /// How our number compares: coverage by its distance from 95 %, a width (which only has a meaning at a coverage) not at all, all
    /// others by lower is better. The published standard deviation is not used, so equality is a strict criterion.
    pub fn comparison(&self) -> Option<Comparison> {
        let paper = self.paper?.mean;
        let margin = 2.0 * self.ours.se;
        let (ours, paper) = match self.metric {
            "picp" => ((self.ours.mean - 0.95).abs(), (paper - 0.95).abs()),
            "mpiw" | "mpiw_standardised" => return None,
            _ => (self.ours.mean, paper),
        };
        Some(if (ours - paper).abs() <= margin {
            Comparison::Equal
        } else if ours < paper {
            Comparison::Better
        } else {
            Comparison::Worse
        })
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "data": self.data,
            "method": self.method,
            "metric": self.metric,
            "selection": self.selection,
            "mean": self.ours.mean,
            "sd": self.ours.sd,
            "se": self.ours.se,
            "repeats": self.ours.repeats,
            "paper": self.paper.map(|paper| paper.mean),
            "paper_spread": self.paper.and_then(|paper| paper.spread),
            "mark": self.comparison().map(Comparison::name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(metric: &'static str, numbers: &[f64]) -> Option<Comparison> {
        Entry::new("uci", "boston", "ne-gmm", metric, None, numbers).comparison()
    }

    #[test]
    fn equal_means_within_two_standard_errors() {
        // Published: RMSE 2.556, coverage 0.921, width 1.045.
        assert_eq!(compare("rmse", &[2.0, 2.2, 2.4]), Some(Comparison::Better));
        assert_eq!(compare("rmse", &[2.4, 2.6, 2.8]), Some(Comparison::Equal));
        assert_eq!(compare("rmse", &[3.0, 3.1, 3.2]), Some(Comparison::Worse));
        assert_eq!(compare("picp", &[0.98, 0.98]), Some(Comparison::Worse));
        assert_eq!(compare("picp", &[0.96, 0.96]), Some(Comparison::Better));
        assert_eq!(compare("mpiw_standardised", &[1.0]), None);
        assert_eq!(compare("crps", &[1.0]), None);
    }
}
