//! The hyperparameter grids of the paper's appendix.

use negmm::options::current_name;
use negmm::tune::{Configuration, Dimension, Space};
use negmm::{Method, Result};
use serde_json::{Map, Value, json};

/// The paper's six methods, in the order of its tables.
pub const METHODS: [&str; 6] = ["beta-nll", "ensemble", "ngboost", "sample-net", "mdn", "ne-gmm"];

/// How much of the paper's grids is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One or two settings per method.
    Quick,
    /// All of them, but for SampleNet only samples = 100 without the Sinkhorn regulariser, whose cost grows with the square
    /// of the samples.
    Usual,
    /// All of them.
    Full,
}

impl Effort {
    /// Its name in journals and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Usual => "usual",
            Self::Full => "full",
        }
    }
}

/// Settings that replace the paper's, for every method that has them.
pub type Overrides = Vec<(String, String)>;

/// Everything that results depend on except the names of the trials; identifies a journal.
pub(crate) fn identity<'a, V: Into<Value>>(
    experiment: &str,
    settings: impl IntoIterator<Item = (&'a str, V)>,
    changed: &Overrides,
    seed: u64,
) -> Map<String, Value> {
    let settings: Map<String, Value> =
        settings.into_iter().map(|(option, value)| (option.to_string(), value.into())).collect();
    let parts = [
        ("paper", json!(experiment)),
        ("settings", json!(settings)),
        ("changed", json!(changed)),
        ("seed", json!(seed)),
    ];
    parts.map(|(name, value)| (name.to_string(), value)).into_iter().collect()
}

/// `method` with `overrides`, and every combination of the `options` that it has and that are not among them.
pub(crate) fn combinations(mut method: Method, options: &[&str], overrides: &Overrides) -> Result<Vec<Configuration>> {
    method.configure_known(overrides)?;
    let dimensions = options.iter().map(|text| Dimension::parse(text)).collect::<Result<Vec<_>>>()?;
    let searched = |dimension: &Dimension| {
        method.has(&dimension.option)
            && !overrides.iter().any(|(option, _)| current_name(option) == current_name(&dimension.option))
    };
    let dimensions = dimensions.into_iter().filter(searched).collect();
    Space::new(vec![method], dimensions)?.grid()
}

/// The method of that name, with those of the settings that it has.
pub(crate) fn method(name: &str, settings: &[(&str, impl AsRef<str>)]) -> Result<Method> {
    let mut method = Method::by_name(name)?;
    let settings: Vec<(&str, &str)> = settings.iter().map(|(option, value)| (*option, value.as_ref())).collect();
    method.configure_known(&settings)?;
    Ok(method)
}

/// The grid of a method on the toy problems; the epoch is selected too. Ensemble sizes are not in it: the largest ensemble contains
/// all smaller ones.
pub(crate) fn toy_options(method: &str, effort: Effort) -> Vec<&'static str> {
    let rate = match effort {
        Effort::Quick => "learning-rate=0.01",
        _ => "learning-rate=0.001,0.005,0.01",
    };
    let own: &[&str] = match (method, effort) {
        ("beta-nll", Effort::Quick) => &["beta=0.5"],
        ("beta-nll", _) => &["beta=0,0.25,0.5,0.75,1"],
        ("sample-net", Effort::Full) => &["samples=100,200,500,800", "sinkhorn=0,0.1,0.5,1,5"],
        ("sample-net", _) => &["samples=100", "sinkhorn=0"],
        ("ne-gmm", Effort::Quick) => &["eta=0.5"],
        ("ne-gmm", _) => &["eta=0,0.2,0.5,0.8"],
        _ => &[],
    };
    std::iter::once(rate).chain(own.iter().copied()).collect()
}

/// The grid of a method on the UCI sets and the stocks.
pub(crate) fn real_options(method: &str, effort: Effort) -> Vec<&'static str> {
    let rate = match (method, effort) {
        // Lower rates would need more boosting rounds.
        ("ngboost", Effort::Quick) => "learning-rate=0.01",
        (_, Effort::Quick) => "learning-rate=0.001,0.005",
        _ => "learning-rate=0.0001,0.0005,0.001,0.005,0.01",
    };
    let own: &[&str] = match (method, effort) {
        ("beta-nll", Effort::Quick) => &["beta=0.5"],
        ("beta-nll", _) => &["beta=0,0.25,0.5,0.75,1"],
        ("ensemble", Effort::Quick) => &["ensemble-size=3"],
        ("ensemble", _) => &["ensemble-size=3,5,8"],
        ("sample-net", Effort::Full) => &["samples=50,100,200,300", "sinkhorn=0,0.5,1,5"],
        ("sample-net", _) => &["samples=100", "sinkhorn=0"],
        ("mdn", Effort::Quick) => &["components=5"],
        ("mdn", _) => &["components=5,8,10"],
        ("ne-gmm", Effort::Quick) => &["components=5", "eta=0.2,0.8"],
        ("ne-gmm", _) => &["components=5,8,10", "eta=0,0.2,0.5,0.8"],
        ("auto" | "constant", _) => return Vec::new(),
        _ => &[],
    };
    std::iter::once(rate).chain(own.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, options: &[&str]) -> usize {
        combinations(Method::by_name(name).unwrap(), options, &Vec::new()).unwrap().len()
    }

    #[test]
    fn the_grids_have_the_appendix_sizes() {
        let toy = METHODS.map(|name| count(name, &toy_options(name, Effort::Full)));
        // One training gives the ensemble's four sizes.
        assert_eq!(toy, [15, 3, 3, 60, 3, 12]);
        let real = METHODS.map(|name| count(name, &real_options(name, Effort::Full)));
        assert_eq!(real, [25, 15, 5, 80, 15, 60]);
        for name in METHODS {
            assert!(count(name, &real_options(name, Effort::Quick)) <= 4, "{name}");
            assert!(count(name, &toy_options(name, Effort::Quick)) == 1, "{name}");
        }
    }
}
