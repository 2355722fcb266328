//! The parameters of a request: the options of `negmm predict` by the same names, in the query string or the body.

use negmm::Query;
use negmm::predict::{JointQuery, RENAMED};
use serde_json::{Map, Value as Json};

use crate::failure::Failure;

/// The query of some parameters: texts, numbers, lists of them, or booleans. Null is as good as no parameter.
///
/// # Errors
/// When a parameter does not exist or makes no sense.
pub fn query(parameters: &Map<String, Json>) -> Result<Query, Failure> {
    let given = parameters.iter().filter(|(_, value)| !value.is_null());
    let pairs = given.map(|(name, value)| Ok((name, text(name, value)?)));
    Ok(Query::from_pairs(pairs.collect::<Result<Vec<_>, Failure>>()?)?)
}

/// The query of a model of several targets; its combinations and boxes may be lists.
///
/// # Errors
/// As [`query`].
pub fn joint_query(parameters: &Map<String, Json>) -> Result<JointQuery, Failure> {
    let mut pairs = Vec::new();
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_null()) {
        match value {
            Json::Array(list) if matches!(name.as_str(), "combine" | "box") => {
                for item in list {
                    pairs.push((name, text(name, item)?));
                }
            }
            _ => pairs.push((name, text(name, value)?)),
        }
    }
    Ok(JointQuery::from_pairs(pairs)?)
}

/// A sentence for every parameter that is called by its former name.
pub fn notices(parameters: &Map<String, Json>) -> Vec<String> {
    let former = RENAMED.iter().filter(|(former, _)| parameters.contains_key(*former));
    former.map(|(former, present)| format!("{former} is now called {present}")).collect()
}

/// A parameter as it would be typed: numbers with commas between them, true or false.
fn text(name: &str, value: &Json) -> Result<String, Failure> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(_) | Json::Bool(_) => Ok(value.to_string()),
        Json::Array(list) => Ok(list.iter().map(|item| text(name, item)).collect::<Result<Vec<_>, _>>()?.join(",")),
        other => {
            Err(Failure::bad(format!("{name} must be a number, a text, a list of them, true or false, found {other}")))
        }
    }
}

/// The parameters of a query string.
pub fn of_query_string(pairs: &[(String, String)]) -> Map<String, Json> {
    pairs.iter().map(|(name, text)| (name.clone(), Json::String(text.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Json) -> Map<String, Json> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn json_values_are_parsed_like_flags() {
        let parameters =
            object(json!({"interval": [0.5, "0.90"], "above": 3, "parts": true, "draws": 2, "novelty": null}));
        let expected = [("interval", "0.5,0.90"), ("above", "3"), ("parts", "true"), ("draws", "2")];
        assert_eq!(query(&parameters).unwrap(), Query::from_pairs(expected).unwrap());
        for refused in [json!({"interval": []}), json!({"interval": {}}), json!({"above": [null]}), json!({"parts": 1})]
        {
            assert!(query(&object(refused.clone())).is_err(), "{refused}");
        }
    }

    #[test]
    fn parameters_of_several_targets_may_be_lists() {
        let parameters = object(
            json!({"combine": ["a = x - y", "b = x + y"], "box": "x > 1, y < 2", "joint_region": [0.5, 0.9], "above": 0}),
        );
        let query = joint_query(&parameters).unwrap();
        assert_eq!((query.combinations.len(), query.boxes.len(), query.regions.len()), (2, 1, 2));
        assert_eq!(query.query, Query::default().above([0.0]));
        assert!(joint_query(&object(json!({"boxes": "x > 1"}))).is_err());
        assert!(joint_query(&object(json!({"given": "x=red"}))).is_err());
    }

    #[test]
    fn former_names_are_read_and_noticed() {
        let parameters = object(json!({"mass": 0, "guaranteed": true, "interval": 0.9}));
        assert_eq!(query(&parameters).unwrap(), Query::default().equal([0.0]).interval([0.9]).conformal(true));
        assert_eq!(notices(&parameters), ["mass is now called equal", "guaranteed is now called conformal"]);
    }
}
