//! Hierarchies: sums of series by the levels of some columns, from the sum of all down to the series themselves.

use super::Series;
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

/// The cell of a sum in the columns that it is taken over.
pub const ALL: &str = "(all)";

/// The series themselves after the sums of each level: of all of them, of those that share the first key, …
///
/// # Errors
/// When a key is the word for a sum, or the series do not end at the same time.
pub(super) fn with_sums(parts: Vec<Series>, levels: usize) -> Result<Vec<Series>> {
    if let Some(series) = parts.iter().find(|series| series.keys.iter().any(|key| key == ALL)) {
        return Err(Error::data(format!(
            "the series {} is named {} as the sums of the hierarchy are: give it another name",
            quoted(&series.name),
            quoted(ALL)
        )));
    }
    check_ends(&parts)?;
    let mut sums: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for level in 0..levels {
        let first = sums.len();
        for (number, part) in parts.iter().enumerate() {
            let keys = &part.keys[..level];
            match sums[first..].iter_mut().find(|(other, _)| other == keys) {
                Some((_, members)) => members.push(number),
                None => sums.push((keys.to_vec(), vec![number])),
            }
        }
    }
    let count = sums.len();
    let mut all: Vec<Series> = Vec::with_capacity(count + parts.len());
    for (mut keys, members) in sums {
        keys.resize(levels, ALL.into());
        let summands: Vec<&Series> = members.iter().map(|member| &parts[*member]).collect();
        let mut sum = sum_of(&summands);
        sum.name = keys.join("/");
        sum.keys = keys;
        sum.parts = members.iter().map(|member| count + member).collect();
        all.push(sum);
    }
    all.extend(parts);
    Ok(all)
}

/// Checks that the last known values of all series belong to the same time.
fn check_ends(parts: &[Series]) -> Result<()> {
    let Some(first) = parts.first() else { return Ok(()) };
    let end = |series: &Series| series.times.get(series.len() - 1).copied();
    let same = |series: &&Series| match (end(series), end(first)) {
        (Some(own), Some(other)) => own == other,
        _ => series.len() == first.len(),
    };
    match parts.iter().find(|series| !same(series)) {
        None => Ok(()),
        Some(other) => Err(Error::data(format!(
            "the series {} and {} of the hierarchy do not end at the same time: sums need the values of all series",
            quoted(&first.name),
            quoted(&other.name)
        ))),
    }
}

/// The sum of series that end together. Before its first value a series adds nothing; where a later one is missing, so is
/// the sum.
fn sum_of(summands: &[&Series]) -> Series {
    let steps = summands.iter().map(|series| series.len()).max().unwrap_or(0);
    let longest = summands.iter().find(|series| series.len() == steps).copied();
    let mut values = vec![0.0; steps];
    for series in summands {
        let begin = steps - series.len();
        for (step, value) in series.values.iter().enumerate().skip(series.first) {
            values[begin + step] += value;
        }
    }
    let mut sum = Series {
        rows: longest.map_or_else(Vec::new, |series| series.rows.clone()),
        times: longest.map_or_else(Vec::new, |series| series.times.clone()),
        values,
        ..Series::default()
    };
    sum.fill();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(keys: [&str; 2], values: &[f64]) -> Series {
        let mut series = Series {
            name: keys.join("/"),
            keys: keys.map(String::from).to_vec(),
            rows: (0..values.len()).collect(),
            values: values.to_vec(),
            times: (0..values.len()).map(|step| (10 + step - values.len()) as f64).collect(),
            ..Series::default()
        };
        series.fill();
        series
    }

    #[test]
    fn sums_are_those_of_their_parts() {
        let parts = vec![
            series(["n", "a"], &[1.0, 2.0, 3.0]),
            series(["s", "b"], &[10.0, f64::NAN, 30.0]),
            series(["n", "c"], &[200.0, 300.0]),
        ];
        let all = with_sums(parts.clone(), 2).unwrap();
        let names: Vec<&str> = all.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["(all)/(all)", "n/(all)", "s/(all)", "n/a", "s/b", "n/c"]);
        assert_eq!(all[1].values, [1.0, 202.0, 303.0]);
        assert!(all[0].values[1].is_nan() && all[0].filled[1] == 11.0 && all[0].values[2] == 333.0);
        assert_eq!((all[0].parts.as_slice(), all[1].parts.as_slice()), (&[3, 4, 5][..], &[3, 5][..]));
        let mut early = parts.clone();
        early[1].times = vec![5.0, 6.0, 7.0];
        assert!(with_sums(early, 2).unwrap_err().to_string().contains("do not end at the same time"));
        assert!(with_sums(vec![series(["(all)", "a"], &[1.0])], 2).is_err());
    }
}
