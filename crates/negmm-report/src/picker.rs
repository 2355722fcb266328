//! Responsible for the rows that can be picked in the page: their distributions and what is known of them, as JSON.

use negmm::data::time::iso;
use negmm::data::{Column, MISSING};
use negmm::{Law, Model, Row};
use serde_json::{Map, Value, json};

use crate::answers::Answers;
use crate::cases::Cases;
use crate::importance::Importance;
use crate::notable::Kind;
use crate::picture::{LEVELS, atoms, cells, row_ends, spread};
use crate::text::{name, num, percent};

/// Rows beside the notable ones, at most and at least.
const MOST_ROWS: usize = 200;
const LEAST_ROWS: usize = 20;
/// Numbers of all rows' distributions, about: they decide how large the page is.
const MOST_NUMBERS: usize = 12_000;
/// Inputs shown of each row.
const INPUTS: usize = 12;
/// Components that together weigh less than this are left out.
const LEFT_OUT: f64 = 1e-4;

/// The rows as JSON that can stand in a script element.
pub fn rows(
    model: &Model,
    cases: &Cases,
    answers: &Answers,
    notable: &[(Kind, Vec<usize>)],
    importance: &[Importance],
) -> String {
    let size = match cases.predictions.row(0).law {
        Law::Mixture(mixture) => 3 * mixture.weights.len(),
        Law::Samples(samples) => samples.values.len(),
    };
    let more = spread(cases.len(), (MOST_NUMBERS / size.max(1)).clamp(LEAST_ROWS, MOST_ROWS));
    let mut chosen: Vec<usize> =
        notable.iter().flat_map(|(_, rows)| rows.iter().copied()).chain(more.iter().copied()).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let place = |at: &usize| chosen.binary_search(at).unwrap_or(0);
    let group =
        |title: &str, rows: &[usize]| json!({ "title": title, "rows": rows.iter().map(place).collect::<Vec<_>>() });
    let mut groups: Vec<Value> =
        notable.iter().filter(|(_, rows)| !rows.is_empty()).map(|(kind, rows)| group(kind.title(), rows)).collect();
    groups.push(group("Rows from first to last", &more));
    let inputs: Vec<&str> = importance.iter().map(|input| input.name.as_str()).take(INPUTS).collect();
    let object = json!({
        "target": name(&model.encoder().target().name),
        "inputs": inputs.iter().map(|input| name(input)).collect::<Vec<_>>(),
        "groups": groups,
        "rows": chosen.iter().map(|at| one(cases, answers, *at, &inputs)).collect::<Vec<_>>(),
    });
    in_script(&object.to_string())
}

/// One row. Places are differences from the mean, so that a narrow distribution far from zero keeps its shape.
fn one(cases: &Cases, answers: &Answers, at: usize, inputs: &[&str]) -> Value {
    let (row, y, known) = (cases.predictions.row(at), cases.y[at], &answers.rows[at]);
    let from_mean = |value: f64| digits(value - known.mean);
    let (low, high) = row_ends(row, y);
    let mut object = Map::new();
    object.insert("row".into(), json!(cases.numbers[at]));
    object.insert("mean".into(), json!(digits(known.mean)));
    object.insert("y".into(), json!(from_mean(y)));
    object.insert("ends".into(), json!([from_mean(low), from_mean(high)]));
    object.insert("interval".into(), json!([from_mean(known.lower), from_mean(known.upper)]));
    match row.law {
        Law::Mixture(mixture) => {
            let mut heaviest: Vec<usize> = (0..mixture.weights.len()).collect();
            heaviest.sort_by(|a, b| mixture.weights[*b].total_cmp(&mixture.weights[*a]));
            let mut weight = 0.0;
            let gaussian = |k: &usize| mixture.sds[*k] > 0.0;
            let kept = heaviest.into_iter().take_while(|k| {
                let needed = weight < 1.0 - LEFT_OUT;
                weight += mixture.weights[*k];
                needed
            });
            let parts = kept
                .filter(gaussian)
                .map(|k| [digits(mixture.weights[k]), from_mean(mixture.means[k]), digits(mixture.sds[k])]);
            object.insert("parts".into(), json!(parts.collect::<Vec<_>>()));
        }
        Law::Samples(samples) => {
            object.insert(
                "samples".into(),
                json!(samples.values.iter().map(|value| from_mean(*value)).collect::<Vec<_>>()),
            );
        }
    }
    on_support(&mut object, row, (low, high), from_mean);
    let mut told = vec![num(y), num(known.mean), num(known.sd), num(known.lower), num(known.upper), percent(known.pit)];
    told.extend(LEVELS.map(|level| num(row.quantile(level))));
    object.insert("told".into(), json!(told));
    let cells = cases.table.iter().flat_map(|table| inputs.iter().map(|input| cell(table.column(input), at)));
    object.insert("cells".into(), json!(cells.collect::<Vec<_>>()));
    Value::Object(object)
}

/// What the support makes of a law, where it makes something of it: the values of a grid with their probabilities; or a mixture's
/// atoms, bounds and how much higher the density is between them.
fn on_support(object: &mut Map<String, Value>, row: Row<'_>, ends: (f64, f64), from_mean: impl Fn(f64) -> f64) {
    let pairs =
        |list: Vec<(f64, f64)>| list.iter().map(|(at, mass)| [from_mean(*at), digits(*mass)]).collect::<Vec<_>>();
    if let Some(values) = cells(row, ends) {
        object.insert("step".into(), json!(row.support.step));
        object.insert("values".into(), json!(pairs(values)));
        return;
    }
    let atoms = atoms(row);
    if !atoms.is_empty() {
        object.insert("atoms".into(), json!(pairs(atoms)));
    }
    if row.support.lower.is_some() || row.support.upper.is_some() {
        let Law::Mixture(mixture) = row.law else { return };
        let middle = row.quantile(0.5);
        let higher = row.pdf(middle) / mixture.pdf(middle);
        object.insert("bounds".into(), json!([row.support.lower.map(&from_mean), row.support.upper.map(&from_mean)]));
        object.insert("higher".into(), json!(if higher.is_finite() { higher } else { 0.0 }));
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

/// Six significant digits; more would be bytes for nothing.
fn digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// JSON that cannot end the script element it stands in.
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
    fn json_cannot_leave_its_script() {
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
