//! Responsible for one number of a table: ours, its spread, the paper's, and which of them is better.

use negmm::compare::Summary;
use serde_json::{Value, json};

use crate::{Printed, Scores};

/// How ours compares with the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Better by more than two standard errors.
    Better,
    /// Within two standard errors.
    Equal,
    /// Worse by more than two standard errors.
    Worse,
}

impl Mark {
    /// One sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Better => "+",
            Self::Equal => "=",
            Self::Worse => "-",
        }
    }

    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Equal => "equal",
            Self::Worse => "worse",
        }
    }
}

/// One number of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The data set, stock or toy problem.
    pub data: String,
    /// The method.
    pub method: String,
    /// What is measured.
    pub metric: &'static str,
    /// What chose the settings, where that is not the same for the whole table.
    pub selection: Option<&'static str>,
    /// Ours.
    pub ours: Summary,
    /// The paper's.
    pub paper: Option<Printed>,
}

impl Entry {
    /// Of one number a repeat, beside what `experiment` of the paper prints.
    pub fn new(
        experiment: &str,
        data: &str,
        method: &str,
        metric: &'static str,
        selection: Option<&'static str>,
        numbers: &[f64],
    ) -> Self {
        let paper = Printed::find(experiment, data, method, metric);
        Self { data: data.into(), method: method.into(), metric, selection, ours: Summary::of(numbers), paper }
    }

    /// All scores of one method on one data set and the seconds of its fits, one fit a repeat; nothing where there is none.
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

    /// How ours compares: coverage by its distance from 95 %, a width (which means something only beside a coverage) not at
    /// all, everything else by less being better. The paper's own spread is not counted, so equal is harder to reach.
    pub fn mark(&self) -> Option<Mark> {
        let paper = self.paper?.mean;
        let margin = 2.0 * self.ours.se;
        let (ours, paper) = match self.metric {
            "picp" => ((self.ours.mean - 0.95).abs(), (paper - 0.95).abs()),
            "mpiw" | "mpiw_standardised" => return None,
            _ => (self.ours.mean, paper),
        };
        Some(if (ours - paper).abs() <= margin {
            Mark::Equal
        } else if ours < paper {
            Mark::Better
        } else {
            Mark::Worse
        })
    }

    /// As a machine reads it.
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
            "mark": self.mark().map(Mark::word),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(metric: &'static str, numbers: &[f64]) -> Option<Mark> {
        Entry::new("uci", "boston", "ne-gmm", metric, None, numbers).mark()
    }

    #[test]
    fn marks_follow_two_standard_errors() {
        // Printed: RMSE 2.556, coverage 0.921, width 1.045.
        assert_eq!(mark("rmse", &[2.0, 2.2, 2.4]), Some(Mark::Better));
        assert_eq!(mark("rmse", &[2.4, 2.6, 2.8]), Some(Mark::Equal));
        assert_eq!(mark("rmse", &[3.0, 3.1, 3.2]), Some(Mark::Worse));
        assert_eq!(mark("picp", &[0.98, 0.98]), Some(Mark::Worse));
        assert_eq!(mark("picp", &[0.96, 0.96]), Some(Mark::Better));
        assert_eq!(mark("mpiw_standardised", &[1.0]), None);
        assert_eq!(mark("crps", &[1.0]), None);
    }
}
