//! Answers: numbers about the distribution of a row that can be explained, by the names that predictions have.

use crate::predict::Number;
use crate::{Columns, Error, Predictions, Query, Result};

/// A number about the distribution of a row.
///
/// | name | answer |
/// |---|---|
/// | `mean`, `sd` | mean and standard deviation |
/// | `q0.95` | a quantile |
/// | `lower_0.9`, `upper_0.9`, `width_0.9` | the ends and the width of a central interval |
/// | `region_0.9_length` | the length of a highest-density region |
/// | `p_above_50`, `p_below_50`, `p_equal_50` | a probability |
/// | `shortfall_0.05` | the mean of the lowest fraction |
/// | `epistemic`, `aleatoric` | the sd of the members' means; the root of the mean of their variances |
/// | `variance_epistemic`, `variance_aleatoric`, `variance_between`, `variance_within` | parts of the variance |
/// | `novelty` | the distance from the ranges of the training rows |
/// | `entropy` | the differential entropy, on a grid the entropy, in nats |
/// | `crps`, `nll` | the score of the row's target |
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A column of predictions, by its name.
    Column,
    Width(Number),
    Epistemic,
    Aleatoric,
    Entropy,
    Crps,
    Nll,
}

/// The names of answers, in messages.
const NAMES: &str = "mean, sd, q0.95, lower_0.9, upper_0.9, width_0.9, region_0.9_length, p_above_50, p_below_50, \
    p_equal_50, shortfall_0.05, epistemic, aleatoric, variance_epistemic, variance_aleatoric, variance_between, \
    variance_within, novelty, entropy, crps and nll";

impl Answer {
    /// The answer of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn by_name(name: &str) -> Result<Self> {
        let name = name.trim();
        let kind = match name {
            "epistemic" => Kind::Epistemic,
            "aleatoric" => Kind::Aleatoric,
            "entropy" => Kind::Entropy,
            "crps" => Kind::Crps,
            "nll" => Kind::Nll,
            _ => match name.strip_prefix("width_") {
                Some(coverage) => Kind::Width(number(name, coverage)?),
                None => Kind::Column,
            },
        };
        let answer = Self { name: name.to_string(), kind };
        answer.add_to(Query::default())?.check()?;
        Ok(answer)
    }

    /// The answers of these names, with commas between them.
    ///
    /// # Errors
    /// When there is no such answer, or one is given twice.
    pub fn list(names: &str) -> Result<Vec<Self>> {
        let answers = names.split(',').map(Self::by_name).collect::<Result<Vec<_>>>()?;
        for (at, answer) in answers.iter().enumerate() {
            if answers[..at].iter().any(|other| other.name == answer.name) {
                return Err(Error::options(format!("the answer {} is given twice", answer.name)));
            }
        }
        Ok(answers)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a score of the row's target.
    pub fn needs_target(&self) -> bool {
        matches!(self.kind, Kind::Crps | Kind::Nll)
    }

    /// Whether it is about the disagreement of members, of which the model needs several.
    pub(super) fn needs_members(&self) -> bool {
        matches!(self.kind, Kind::Epistemic | Kind::Aleatoric)
            || ["variance_epistemic", "variance_aleatoric"].contains(&&*self.name)
    }

    /// Whether it has no value for a distribution with atoms.
    pub(super) fn needs_density(&self) -> bool {
        matches!(self.kind, Kind::Entropy)
    }

    /// The query with what the answer is read from.
    fn add_to(&self, query: Query) -> Result<Query> {
        let name = self.name.as_str();
        let unknown = || Error::options(format!("there is no answer {name:?}; there are {NAMES}"));
        let with = |text: &str| number(name, text);
        Ok(match &self.kind {
            Kind::Width(coverage) => query.interval([coverage.clone()]),
            Kind::Epistemic | Kind::Aleatoric => query.parts(true),
            Kind::Entropy | Kind::Crps | Kind::Nll => query,
            Kind::Column => match name {
                "mean" | "sd" => query,
                "variance_epistemic" | "variance_aleatoric" | "variance_between" | "variance_within" => {
                    query.parts(true)
                }
                "novelty" => query.novelty(true),
                _ => {
                    let region = name.strip_prefix("region_").and_then(|rest| rest.strip_suffix("_length"));
                    let of = |prefix: &str| name.strip_prefix(prefix);
                    if let Some(coverage) = region {
                        query.region([with(coverage)?])
                    } else if let Some(coverage) = of("lower_").or_else(|| of("upper_")) {
                        query.interval([with(coverage)?])
                    } else if let Some(value) = of("p_above_") {
                        query.above([with(value)?])
                    } else if let Some(value) = of("p_below_") {
                        query.below([with(value)?])
                    } else if let Some(value) = of("p_equal_") {
                        query.equal([with(value)?])
                    } else if let Some(level) = of("shortfall_") {
                        query.shortfall([with(level)?])
                    } else if let Some(level) = of("q") {
                        query.quantiles([number(name, level).map_err(|_| unknown())?])
                    } else {
                        return Err(unknown());
                    }
                }
            },
        })
    }

    /// What this answer is for each prediction; `y` is the target of all of them.
    fn values(&self, predictions: &Predictions, y: Option<f64>) -> Result<Vec<f64>> {
        // A query has the mean and the sd of each row, whatever else it has.
        match &*self.name {
            "mean" => return Ok(predictions.mean()),
            "sd" => return Ok(predictions.sd()),
            name => {
                if let Some(Ok(level)) = name.strip_prefix('q').map(str::parse) {
                    return predictions.quantile(level);
                }
            }
        }
        let columns = || self.add_to(Query::default())?.columns(predictions, 0);
        let column = |columns: &Columns<'_>, name: &str| {
            columns.floats(name).ok_or_else(|| Error::options(format!("the model has no answer {name:?}")))
        };
        let roots = |values: Vec<f64>| values.into_iter().map(f64::sqrt).collect();
        let target = || {
            let y = y.ok_or_else(|| Error::data(format!("the answer {} needs the target of each row", self.name)))?;
            Ok::<_, Error>(vec![y; predictions.len()])
        };
        Ok(match &self.kind {
            Kind::Column => column(&columns()?, &self.name)?,
            Kind::Width(coverage) => {
                let ends = columns()?;
                let end = |name: &str| column(&ends, &format!("{name}_{}", coverage.text));
                let (lower, upper) = (end("lower")?, end("upper")?);
                upper.into_iter().zip(lower).map(|(upper, lower)| upper - lower).collect()
            }
            // One member has no disagreement.
            Kind::Epistemic => roots(predictions.variance_by_members().1),
            Kind::Aleatoric => roots(predictions.variance_by_members().0),
            Kind::Entropy => predictions.each(|row| row.entropy()),
            Kind::Crps => predictions.crps(&target()?)?,
            Kind::Nll => predictions.nll(&target()?)?,
        })
    }

    /// Predictions × answers; `y` is the target of all of them.
    pub(super) fn all_values(answers: &[Self], predictions: &Predictions, y: Option<f64>) -> Result<Vec<f64>> {
        let mut values = vec![0.0; predictions.len() * answers.len()];
        for (at, answer) in answers.iter().enumerate() {
            let column = answer.values(predictions, y)?;
            values.iter_mut().skip(at).step_by(answers.len()).zip(column).for_each(|(value, number)| *value = number);
        }
        Ok(values)
    }
}

/// A number within a name.
fn number(name: &str, text: &str) -> Result<Number> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number { text: text.to_string(), value }),
        _ => Err(Error::options(format!("the answer {name:?} needs a number where it has {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Mixtures;

    #[test]
    fn answers_are_those_of_predictions() {
        let mixtures = Mixtures::new(2, vec![0.5, 0.5, 0.3, 0.7], vec![-1.0, 1.0, 2.0, 4.0], vec![1.0, 0.5, 2.0, 1.0]);
        let predictions = Predictions::from(mixtures.unwrap()).of_members(2);
        let names =
            "mean,sd,q0.95,width_0.9,p_above_1,epistemic,variance_epistemic,region_0.5_length,crps,nll,shortfall_0.1";
        let answers = Answer::list(names).unwrap();
        let values = Answer::all_values(&answers, &predictions, Some(0.5)).unwrap();
        let of = |at: usize| values.iter().copied().skip(at).step_by(answers.len()).collect::<Vec<f64>>();
        assert_eq!(of(0), predictions.mean());
        assert_eq!(of(1), predictions.sd());
        assert_eq!(of(2), predictions.quantile(0.95).unwrap());
        let interval = predictions.interval(0.9).unwrap();
        assert_eq!(of(3)[1], interval.upper[1] - interval.lower[1]);
        assert_eq!(of(4), predictions.above(1.0).unwrap());
        assert_eq!(of(6), predictions.variance_by_members().1);
        assert_eq!(of(5)[0], of(6)[0].sqrt());
        assert_eq!(of(8), predictions.crps(&[0.5, 0.5]).unwrap());
        assert_eq!(of(9), predictions.nll(&[0.5, 0.5]).unwrap());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let error = |names: &str| Answer::list(names).unwrap_err().to_string();
        assert!(error("median").starts_with("there is no answer \"median\"; there are mean, sd, q0.95"));
        assert_eq!(error("sd,mean, sd"), "the answer sd is given twice");
        assert_eq!(error("p_above_x"), "the answer \"p_above_x\" needs a number where it has \"x\"");
        assert_eq!(error("q1.5"), "quantiles must lie strictly between 0 and 1, found 1.5");
        assert_eq!(error("width_0"), "interval must lie strictly between 0 and 1, found 0");
        assert!(error("").starts_with("there is no answer \"\""));
    }
}
