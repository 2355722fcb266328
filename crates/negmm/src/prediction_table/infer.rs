//! Inference of the form of predictions from the names of the columns.

use negmm_dist::{Error, Family, Result};

use super::form::{FamilyName, Form, FormHints, FormKind};

/// Columns that tell the family of each row.
const FAMILY_COLUMNS: [&str; 2] = ["family", "distribution"];

/// Names of means and sds of normal distributions.
const MEANS: [&str; 4] = ["mean", "mu", "loc", "prediction"];
const SDS: [&str; 6] = ["sd", "std", "sigma", "stddev", "scale", "standard_deviation"];

/// What a table of predictions may look like, for messages.
pub(super) const FORMS: &str = "quantiles (q0.05, q0.5 …), samples (draw_1, draw_2 …), mean and sd, weight_1, mean_1, sd_1 …, \
    lower_0.9 and upper_0.9, bins (bin_0_10, bin_10_20 …), or family with its parameters";

impl Form {
    /// The form of a table with these columns.
    ///
    /// # Errors
    /// When no form fits, or columns are missing or contradict each other.
    pub fn infer(header: &[String], hints: &FormHints) -> Result<Self> {
        let names: Vec<&str> =
            header.iter().map(String::as_str).filter(|name| !hints.other.iter().any(|other| other == name)).collect();
        let kinds = match hints.form {
            Some(kind) => vec![kind],
            None if hints.family.is_some() => vec![FormKind::Family],
            None => FormKind::ALL.to_vec(),
        };
        for kind in &kinds {
            let found = match kind {
                FormKind::Family => family(&names, hints)?,
                FormKind::Mixture => mixture(&names)?,
                FormKind::Quantiles => quantiles(&names)?,
                FormKind::Samples => samples(&names),
                FormKind::Histogram => histogram(&names)?,
                FormKind::Interval => intervals(&names, hints)?,
                FormKind::Normal => normal(&names),
            };
            if let Some(form) = found {
                return Ok(form);
            }
        }
        let what = match hints.form {
            Some(kind) => format!("columns of the form {:?}", kind.name()),
            None => format!("columns of predictions: {FORMS}"),
        };
        let shown: Vec<&str> = names.iter().copied().take(12).collect();
        let more = if names.len() > shown.len() { " …" } else { "" };
        Err(Error::data(format!("expected {what}; found the columns {}{more}", shown.join(", "))))
    }
}

/// The number in the name of a column with one of these prefixes.
fn number_after(name: &str, prefixes: &[&str]) -> Option<f64> {
    let text = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn quantiles(names: &[&str]) -> Result<Option<Form>> {
    let prefixed = |name: &str| number_after(name, &["quantile_", "quantile", "q_", "q"]);
    let plain = |name: &str| name.parse().ok().filter(|_| name.contains('.'));
    let level = |name: &str| prefixed(name).or_else(|| plain(name));
    let mut columns: Vec<(f64, String)> =
        names.iter().filter_map(|name| Some((level(name)?, name.to_string()))).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    if let Some((level, name)) = columns.iter().find(|(level, _)| !(0.0..=1.0).contains(level)) {
        // 5 for 5 %
        let percent =
            if *level > 1.0 && *level <= 100.0 { format!(": name it q{}", level / 100.0) } else { String::new() };
        let message = format!("expected a level of a quantile from 0 to 1, found {level}{percent}");
        return Err(Error::data(message).in_column(name));
    }
    in_order(&mut columns)?;
    Ok(Some(Form::Quantiles(columns)))
}

/// Sorts by level; two columns of one level are an error.
fn in_order(columns: &mut [(f64, String)]) -> Result<()> {
    columns.sort_by(|a, b| a.0.total_cmp(&b.0));
    match columns.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let (level, one, other) = (pair[0].0, &pair[0].1, &pair[1].1);
            Err(Error::data(format!("the columns {one:?} and {other:?} are both quantiles of level {level}")))
        }
        None => Ok(()),
    }
}

fn samples(names: &[&str]) -> Option<Form> {
    let is_sample = |name: &&&str| {
        let text = ["draw_", "sample_", "draw", "sample"].iter().find_map(|prefix| name.strip_prefix(prefix));
        text.is_some_and(|text| text.parse::<u64>().is_ok())
    };
    let columns: Vec<String> = names.iter().filter(is_sample).map(|name| name.to_string()).collect();
    (!columns.is_empty()).then_some(Form::Samples(columns))
}

fn mixture(names: &[&str]) -> Result<Option<Form>> {
    let numbers: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("weight_")).collect();
    if numbers.is_empty() || !numbers.iter().all(|number| number.parse::<u64>().is_ok()) {
        return Ok(None);
    }
    let mut components = Vec::new();
    for number in numbers {
        let component = ["weight", "mean", "sd"].map(|part| format!("{part}_{number}"));
        if let Some(absent) = component.iter().find(|name| !names.contains(&name.as_str())) {
            let message = format!("the mixture has a column weight_{number}, but no column {absent}");
            return Err(Error::data(message));
        }
        components.push(component);
    }
    Ok(Some(Form::Mixture(components)))
}

fn normal(names: &[&str]) -> Option<Form> {
    let find =
        |of: &[&str]| names.iter().find(|name| of.contains(&name.to_lowercase().as_str())).map(|name| name.to_string());
    Some(Form::Normal { mean: find(&MEANS)?, sd: find(&SDS)? })
}

fn intervals(names: &[&str], hints: &FormHints) -> Result<Option<Form>> {
    let mut columns = Vec::new();
    for name in names {
        let Some(text) = name.strip_prefix("lower_") else { continue };
        let Some(coverage) = text.parse::<f64>().ok().filter(|coverage| *coverage > 0.0 && *coverage < 1.0) else {
            continue;
        };
        let upper = format!("upper_{text}");
        if !names.contains(&upper.as_str()) {
            return Err(Error::data(format!("there is a column {name}, but no column {upper}")));
        }
        columns.extend([(0.5 * (1.0 - coverage), name.to_string()), (0.5 * (1.0 + coverage), upper)]);
    }
    let has = |name: &str| names.contains(&name);
    if columns.is_empty() && has("lower") && has("upper") {
        let Some(coverage) = hints.coverage else {
            let message = "the columns lower and upper need the coverage of their intervals";
            return Err(Error::data(message).with_hint(negmm_dist::Hint::set("coverage", "0.9")));
        };
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::option("coverage", format!("must lie strictly between 0 and 1, found {coverage}")));
        }
        columns.extend([(0.5 * (1.0 - coverage), "lower".to_string()), (0.5 * (1.0 + coverage), "upper".to_string())]);
    }
    if columns.is_empty() {
        return Ok(None);
    }
    columns.extend(names.iter().find(|name| **name == "median").map(|name| (0.5, name.to_string())));
    in_order(&mut columns)?;
    Ok(Some(Form::Intervals(columns)))
}

fn histogram(names: &[&str]) -> Result<Option<Form>> {
    let edges = |name: &str| {
        let (low, high) = name.strip_prefix("bin_")?.rsplit_once('_')?;
        Some((low.parse::<f64>().ok()?, high.parse::<f64>().ok()?, name.to_string()))
    };
    let mut bins: Vec<(f64, f64, String)> = names.iter().filter_map(|name| edges(name)).collect();
    if bins.is_empty() {
        return Ok(None);
    }
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((low, high, name)) = bins.iter().find(|(low, high, _)| low >= high) {
        return Err(Error::data(format!("expected a bin from low to high, found {low} to {high}")).in_column(name));
    }
    match bins.windows(2).find(|pair| pair[0].1 != pair[1].0) {
        Some(pair) => Err(Error::data(format!(
            "the bins {} and {} do not touch: a histogram needs bins without gaps",
            pair[0].2, pair[1].2
        ))),
        None => Ok(Some(Form::Histogram(bins))),
    }
}

fn family(names: &[&str], hints: &FormHints) -> Result<Option<Form>> {
    let family = match &hints.family {
        Some(name) => FamilyName::Given(name.clone()),
        None => match names.iter().find(|name| FAMILY_COLUMNS.contains(*name)) {
            Some(column) => FamilyName::Column(column.to_string()),
            None => return Ok(None),
        },
    };
    let parameters: Vec<String> = match &family {
        FamilyName::Given(name) => {
            let known: Vec<&str> = Family::parameter_names(name)?.collect();
            names.iter().filter(|name| known.contains(*name)).map(|name| name.to_string()).collect()
        }
        FamilyName::Column(_) => {
            names.iter().filter(|name| Family::is_parameter(name)).map(|name| name.to_string()).collect()
        }
    };
    if parameters.is_empty() {
        return Err(Error::data(
            "a family needs columns with its parameters, such as loc and scale, and there are none",
        ));
    }
    let parameters = parameters.into_iter().map(|name| (name.clone(), name)).collect();
    Ok(Some(Form::Family { family, parameters }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(names: &str) -> Result<Form> {
        infer_with(names, FormHints::default())
    }

    fn infer_with(names: &str, hints: FormHints) -> Result<Form> {
        Form::infer(&names.split(' ').map(str::to_string).collect::<Vec<_>>(), &hints)
    }

    #[test]
    fn names_of_columns_tell_the_form() {
        let shown = |names: &str| infer(names).unwrap().to_string();
        assert_eq!(shown("id q0.9 q0.1 q0.5"), "3 quantiles, q0.1 to q0.9");
        assert_eq!(shown("0.1 0.5 0.9"), "3 quantiles, 0.1 to 0.9");
        assert_eq!(shown("quantile_0.5"), "1 quantile, quantile_0.5");
        assert_eq!(shown("y draw_1 draw_2"), "2 samples, draw_1 to draw_2");
        assert_eq!(shown("mean std"), "normal distributions, mean and std");
        assert_eq!(shown("mean sd weight_1 mean_1 sd_1 weight_2 mean_2 sd_2"), "mixtures of 2 Gaussians");
        assert_eq!(shown("lower_0.9 upper_0.9 mean"), "central intervals, lower_0.9, upper_0.9");
        assert_eq!(shown("bin_-5_0 bin_0_2.5"), "histograms of 2 bins from -5 to 2.5");
        assert_eq!(shown("family df loc scale y"), "families of column \"family\", df, loc, scale");
        let gamma = FormHints { family: Some("gamma".into()), ..FormHints::default() };
        assert_eq!(infer_with("y shape rate loc", gamma).unwrap().to_string(), "gamma distributions, shape, rate");
        let normal = FormHints { form: Some(FormKind::Normal), ..FormHints::default() };
        assert_eq!(infer_with("q0.5 mean sd", normal).unwrap().to_string(), "normal distributions, mean and sd");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let error = |names: &str| infer(names).unwrap_err().to_string();
        assert_eq!(error("q0.5 0.5"), "the columns \"q0.5\" and \"0.5\" are both quantiles of level 0.5");
        assert_eq!(
            error("q5 q50"),
            "column \"q5\": expected a level of a quantile from 0 to 1, found 5: name it q0.05"
        );
        assert_eq!(error("weight_1 mean_1"), "the mixture has a column weight_1, but no column sd_1");
        assert_eq!(error("lower_0.9"), "there is a column lower_0.9, but no column upper_0.9");
        assert!(error("lower upper").starts_with("the columns lower and upper need the coverage of their intervals"));
        assert!(error("bin_0_1 bin_2_3").starts_with("the bins bin_0_1 and bin_2_3 do not touch"));
        assert!(error("x y z").ends_with("or family with its parameters; found the columns x, y, z"));
    }
}
