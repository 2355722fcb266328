//! The data of the page's row selector: distributions, statistics and inputs of selectable rows, as JSON.

use negmm::Distribution;
use negmm::data::time::iso;
use negmm::data::{Column, MISSING};
use negmm::{DistributionKind, DistributionRef};
use serde_json::{Map, Value, json};

use crate::diagnostics::Diagnostics;
use crate::evaluation_set::EvaluationSet;
use crate::highlights::Highlight;
use crate::importance::Importance;
use crate::plot::{LEVELS, evenly_spaced, row_range};
use crate::point_probabilities::{atoms, cells, step};
use crate::text::{name, num, percent};

/// Rows beside the highlights, at most and at least.
const MAX_ROWS: usize = 200;
const MIN_ROWS: usize = 20;
/// Numbers of all distributions, about: they bound the size of the page.
const MAX_NUMBERS: usize = 12_000;
/// Inputs shown of each row.
const INPUTS: usize = 12;
/// Components with a total weight below this are omitted.
const OMITTED_WEIGHT: f64 = 1e-4;
/// Quantiles that stand for a distribution that is neither a mixture nor samples.
const QUANTILES: usize = 200;

/// The rows as JSON that is safe in a script element.
pub fn rows(
    target: &str,
    evaluation: &EvaluationSet,
    diagnostics: &Diagnostics,
    highlights: &[(Highlight, Vec<usize>)],
    importance: &[Importance],
) -> String {
    let size = match evaluation.predictions.row(0).kind {
        DistributionKind::Mixture(mixture) => 3 * mixture.weights.len(),
        DistributionKind::Samples(samples) => samples.values.len(),
        _ => QUANTILES,
    };
    let others = evenly_spaced(evaluation.len(), (MAX_NUMBERS / size.max(1)).clamp(MIN_ROWS, MAX_ROWS));
    let mut chosen: Vec<usize> =
        highlights.iter().flat_map(|(_, rows)| rows.iter().copied()).chain(others.iter().copied()).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let position = |at: &usize| chosen.binary_search(at).unwrap_or(0);
    let group =
        |title: &str, rows: &[usize]| json!({ "title": title, "rows": rows.iter().map(position).collect::<Vec<_>>() });
    let mut groups: Vec<Value> =
        highlights.iter().filter(|(_, rows)| !rows.is_empty()).map(|(kind, rows)| group(kind.title(), rows)).collect();
    groups.push(group("Rows in order", &others));
    let inputs: Vec<&str> = importance.iter().map(|input| input.name.as_str()).take(INPUTS).collect();
    let object = json!({
        "target": target,
        "inputs": inputs.iter().map(|input| name(input)).collect::<Vec<_>>(),
        "groups": groups,
        "rows": chosen.iter().map(|at| row_json(evaluation, diagnostics, *at, &inputs)).collect::<Vec<_>>(),
    });
    in_script(&object.to_string())
}

/// One row. Values are differences from the mean, so that a narrow distribution far from zero keeps its precision.
fn row_json(evaluation: &EvaluationSet, diagnostics: &Diagnostics, at: usize, inputs: &[&str]) -> Value {
    let (row, y, statistics) = (evaluation.predictions.row(at), evaluation.y[at], &diagnostics.rows[at]);
    let from_mean = |value: f64| digits(value - statistics.mean);
    let (low, high) = row_range(row, y);
    let mut object = Map::new();
    object.insert("row".into(), json!(evaluation.numbers[at]));
    object.insert("mean".into(), json!(digits(statistics.mean)));
    object.insert("y".into(), json!(from_mean(y)));
    object.insert("range".into(), json!([from_mean(low), from_mean(high)]));
    object.insert("interval".into(), json!([from_mean(statistics.lower), from_mean(statistics.upper)]));
    match row.kind {
        DistributionKind::Mixture(mixture) => {
            let mut heaviest: Vec<usize> = (0..mixture.weights.len()).collect();
            heaviest.sort_by(|a, b| mixture.weights[*b].total_cmp(&mixture.weights[*a]));
            let mut weight = 0.0;
            let gaussian = |k: &usize| mixture.sds[*k] > 0.0;
            let kept = heaviest.into_iter().take_while(|k| {
                let needed = weight < 1.0 - OMITTED_WEIGHT;
                weight += mixture.weights[*k];
                needed
            });
            let components = kept
                .filter(gaussian)
                .map(|k| [digits(mixture.weights[k]), from_mean(mixture.means[k]), digits(mixture.sds[k])]);
            object.insert("components".into(), json!(components.collect::<Vec<_>>()));
        }
        DistributionKind::Samples(samples) => {
            object.insert(
                "samples".into(),
                json!(samples.values.iter().map(|value| from_mean(*value)).collect::<Vec<_>>()),
            );
        }
        // As their quantiles at equally spaced levels.
        _ => {
            let quantile = |at: usize| from_mean(row.quantile((at as f64 + 0.5) / QUANTILES as f64));
            object.insert("samples".into(), json!((0..QUANTILES).map(quantile).collect::<Vec<_>>()));
            object.insert("are_quantiles".into(), json!(true));
        }
    }
    add_support(&mut object, row, (low, high), from_mean);
    let mut summary = vec![
        num(y),
        num(statistics.mean),
        num(statistics.sd),
        num(statistics.lower),
        num(statistics.upper),
        percent(statistics.pit),
    ];
    summary.extend(LEVELS.map(|level| num(row.quantile(level))));
    object.insert("summary".into(), json!(summary));
    let cells = evaluation.table.iter().flat_map(|table| inputs.iter().map(|input| cell(table.column(input), at)));
    object.insert("cells".into(), json!(cells.collect::<Vec<_>>()));
    Value::Object(object)
}

/// Adds the support of a distribution: values and probabilities of a discrete one; or the atoms and bounds of a mixture, and
/// the factor by which truncation scales its density.
fn add_support(
    object: &mut Map<String, Value>,
    row: DistributionRef<'_>,
    ends: (f64, f64),
    from_mean: impl Fn(f64) -> f64,
) {
    let pairs =
        |list: Vec<(f64, f64)>| list.iter().map(|(at, mass)| [from_mean(*at), digits(*mass)]).collect::<Vec<_>>();
    if let Some(values) = cells(row, ends) {
        object.insert("step".into(), json!(step(row)));
        object.insert("values".into(), json!(pairs(values)));
        return;
    }
    let atoms = atoms(row);
    if !atoms.is_empty() {
        object.insert("atoms".into(), json!(pairs(atoms)));
    }
    if row.support.lower.is_some() || row.support.upper.is_some() {
        let DistributionKind::Mixture(mixture) = row.kind else { return };
        let middle = row.quantile(0.5);
        let factor = row.pdf(middle) / mixture.pdf(middle);
        object.insert("bounds".into(), json!([row.support.lower.map(&from_mean), row.support.upper.map(&from_mean)]));
        object.insert("density_factor".into(), json!(if factor.is_finite() { factor } else { 0.0 }));
    }
}

fn cell(column: Option<&Column>, at: usize) -> String {
    match column {
        Some(Column::Numbers(numbers)) if numbers[at].is_finite() => num(numbers[at]),
        Some(Column::Times(times)) if times[at].is_finite() => iso(times[at]),
        Some(Column::Text { codes, levels }) if codes[at] != MISSING => name(&levels[codes[at] as usize]),
        _ => "missing".into(),
    }
}

/// Rounded to six significant digits, to keep the page small.
fn digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// JSON that cannot end its script element.
fn in_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", character as u32)),
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_its_script_element() {
        let text = "</script><!-- & \u{2028}";
        let safe = in_script(&json!([text]).to_string());
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), json!([text]));
    }

    #[test]
    fn six_digits() {
        assert_eq!(digits(123456.789), 123457.0);
        assert_eq!(digits(-0.1234567), -0.123457);
        assert_eq!(digits(0.0), 0.0);
    }
}
