//! Responsible for what a request asks: the questions of `negmm predict`, by parameters of the same names.

use negmm::Questions;
use negmm::questions::{levels, numbers};
use serde_json::{Map, Value as Json};

use crate::failure::Failure;

/// The parameters, as `negmm predict` has its options.
pub const PARAMETERS: [(&str, &str); 12] = [
    ("quantiles", "levels between 0 and 1: columns q0.05 …"),
    ("interval", "coverages between 0 and 1: columns lower_0.9 and upper_0.9 …"),
    ("region", "coverages between 0 and 1: columns region_0.9, the most likely values as text, and region_0.9_length"),
    ("guaranteed", "true: intervals and regions are those that the model's calibration guarantees"),
    ("above", "values: columns p_above_50 …, the probability of more"),
    ("below", "values: columns p_below_50 …, the probability of at most so much"),
    ("mass", "values: columns p_equal_0 …, the probability of exactly so much"),
    ("shortfall", "shares between 0 and 1: columns shortfall_0.05 …, the mean of that lowest share"),
    ("parts", "true: the parts of the variance"),
    ("novelty", "true: how far a row lies outside the ranges of training, and by which input"),
    ("components", "true: the mixture itself, weight_1 …, mean_1 …, sd_1 …"),
    ("draws", "a count: so many random draws, started by seed (0 unless said)"),
];

/// The questions of some parameters: texts, numbers, lists of them, or true and false.
///
/// # Errors
/// When a parameter is not known or makes no sense.
pub fn questions(parameters: &Map<String, Json>) -> Result<Questions, Failure> {
    let known = |name: &str| name == "seed" || PARAMETERS.iter().any(|(known, _)| *known == name);
    if let Some(other) = parameters.keys().find(|name| !known(name)) {
        let names: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).chain(["seed"]).collect();
        return Err(Failure::bad(format!("there is no parameter {other:?}; there are {}", names.join(", "))));
    }
    let text = |name: &str| parameters.get(name).map(|value| written(name, value)).transpose();
    let truth = |name: &str| match parameters.get(name) {
        None | Some(Json::Bool(false) | Json::Null) => Ok(false),
        Some(Json::Bool(true)) => Ok(true),
        Some(Json::String(word)) if word == "true" || word.is_empty() => Ok(true),
        Some(Json::String(word)) if word == "false" => Ok(false),
        Some(other) => Err(Failure::bad(format!("{name} must be true or false, found {other}"))),
    };
    let whole = |name: &str| match text(name)? {
        None => Ok(0),
        Some(text) => text
            .parse::<u64>()
            .map_err(|_| Failure::bad(format!("{name} must be a whole number from 0 on, found {text:?}"))),
    };
    let questions = Questions {
        quantiles: levels("quantiles", text("quantiles")?.as_deref())?,
        intervals: levels("interval", text("interval")?.as_deref())?,
        regions: levels("region", text("region")?.as_deref())?,
        guaranteed: truth("guaranteed")?,
        above: numbers("above", text("above")?.as_deref())?,
        below: numbers("below", text("below")?.as_deref())?,
        mass: numbers("mass", text("mass")?.as_deref())?,
        shortfall: levels("shortfall", text("shortfall")?.as_deref())?,
        parts: truth("parts")?,
        novelty: truth("novelty")?,
        components: truth("components")?,
        draws: usize::try_from(whole("draws")?).unwrap_or(usize::MAX),
        seed: whole("seed")?,
    };
    questions.check()?;
    Ok(questions)
}

/// A parameter as it would be typed: numbers with commas between them.
fn written(name: &str, value: &Json) -> Result<String, Failure> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        Json::Array(list) if !list.is_empty() => {
            Ok(list.iter().map(|item| written(name, item)).collect::<Result<Vec<_>, _>>()?.join(","))
        }
        other => Err(Failure::bad(format!("{name} must be numbers, found {other}"))),
    }
}

/// The parameters of an address, as far as they are none of the server's own.
pub fn of_query(query: &[(String, String)]) -> Map<String, Json> {
    query.iter().map(|(name, text)| (name.clone(), Json::String(text.clone()))).collect()
}
