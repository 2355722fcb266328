//! Responsible for reading what was typed: numbers, lists, and data from a file or standard input.

use std::path::Path;
use std::str::FromStr;

use negmm::data::{ColumnRoles, Dialect, RowStream, Schema, Sequence, TargetSpec, TimeForm};
use negmm::forecast::{BacktestOrigins, SeriesSpec};
use negmm::{Error, Loaded, Table};

use crate::arguments::{FileFlags, OriginFlags};
use crate::report;

/// What messages call standard input.
const STANDARD_INPUT: &str = "standard input";

/// A whole number.
pub fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Error> {
    text.trim()
        .parse()
        .map_err(|_| Error::options(format!("{name} must be a whole number, at least 0, found {text:?}")))
}

/// The window where none is given.
const WINDOW: usize = 30;

/// The sequence and window that were asked for.
pub fn sequence(column: Option<String>, window: Option<&str>) -> Result<Option<Sequence>, Error> {
    match (column, window) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Error::options("a window is one of a sequence: say --sequence COL too")),
        (Some(column), window) => {
            let window = window.map_or(Ok(WINDOW), |window| number("window", window))?;
            let sequence = Sequence { column, window };
            sequence.check()?;
            Ok(Some(sequence))
        }
    }
}

/// What the columns of a forecast of `target` are: of options and their texts, further columns, and columns that are dates.
pub fn roles<'a>(
    target: String,
    given: impl Iterator<Item = (&'a str, &'a str)>,
    past: Vec<String>,
    dates: &[(String, Option<TimeForm>)],
) -> Result<SeriesSpec, Error> {
    let mut roles = SeriesSpec { past, ..SeriesSpec::of(target) };
    for (name, text) in given {
        match name {
            "time" => roles.time = Some(text.into()),
            "series" => roles.series = Some(text.into()),
            "known" => roles.known = names(text),
            "horizon" => roles.horizon = number(name, text)?,
            _ => roles.seasons = Some(text.split(',').map(|season| number(name, season)).collect::<Result<_, _>>()?),
        }
    }
    let form = |time: &String| dates.iter().find(|(name, _)| name == time).and_then(|(_, form)| *form);
    roles.time_form = roles.time.as_ref().and_then(form);
    roles.past.retain(|name| *name != roles.target);
    roles.check()?;
    Ok(roles)
}

/// An error when one of these options was given, which only forecasters have.
pub fn no_forecast(given: &[(&str, bool)]) -> Result<(), Error> {
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::options(format!("--{name} is for forecasters, and the model is one of rows"))),
        None => Ok(()),
    }
}

/// Which origins forecasts start from.
pub fn origins(flags: &OriginFlags) -> Result<BacktestOrigins, Error> {
    let of = |name: &str, text: &Option<String>| text.as_deref().map(|text| number(name, text)).transpose();
    Ok(BacktestOrigins { last: of("last", &flags.last)?, every: of("every", &flags.every)? })
}

/// What is said of the target, and the column of groups: of options and their texts.
pub fn outcome<'a>(given: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(TargetSpec, Option<String>), Error> {
    let (mut outcome, mut group) = (TargetSpec::default(), None);
    for (name, text) in given {
        let bound = || {
            let number = text.trim().parse::<f64>();
            number.map_err(|_| Error::options(format!("{name} must be a number, found {text:?}")))
        };
        match name {
            "lower" => outcome.lower = Some(bound()?),
            "upper" => outcome.upper = Some(bound()?),
            "continuous" => {
                outcome.continuous = text
                    .parse()
                    .map_err(|_| Error::options(format!("continuous must be true or false, found {text:?}")))?;
            }
            "censored" => outcome.censored = Some(text.into()),
            "target-upper" => outcome.upper_end = Some(text.into()),
            _ => group = Some(text.into()),
        }
    }
    outcome.check()?;
    Ok((outcome, group))
}

/// Column names with commas between them; a name that has a comma stands in quotes, with its own quotes doubled.
pub fn names(text: &str) -> Vec<String> {
    let (mut names, mut name, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => name.push('"'),
            '"' if quoted || name.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => names.push(std::mem::take(&mut name).trim().to_string()),
            _ => name.push(character),
        }
    }
    names.push(name.trim().to_string());
    names
}

/// Columns that are dates, each alone or with its form: `when`, `when:dmy`.
pub fn dates(text: &str) -> Vec<(String, Option<TimeForm>)> {
    let date = |name: String| match name.rsplit_once(':').map(|(column, form)| (column, form.parse())) {
        Some((column, Ok(form))) => (column.to_string(), Some(form)),
        _ => (name, None),
    };
    names(text).into_iter().map(date).collect()
}

/// A name as [`names`] reads it.
pub fn quoted_name(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

/// What is said about how a file is written.
pub fn dialect(file: &FileFlags) -> Result<Dialect, Error> {
    let given = [
        ("separator", &file.separator),
        ("decimal", &file.decimal),
        ("missing", &file.missing),
        ("memory", &file.memory),
    ];
    dialect_of(given.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))))
}

/// The dialect that options of these names say.
pub fn dialect_of<'a>(given: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Dialect, Error> {
    let mut dialect = Dialect::default();
    for (name, text) in given {
        match name {
            "separator" => dialect.separator = Some(character(name, if text == "tab" { "\t" } else { text })?),
            "decimal" => dialect.decimal = Some(character(name, text)?),
            "missing" => dialect.missing = names(text),
            "memory" => dialect.memory = Some(number(name, text)?),
            "text" => dialect.text = names(text),
            _ => dialect.number = names(text),
        }
    }
    dialect.check()?;
    Ok(dialect)
}

fn character(name: &str, text: &str) -> Result<char, Error> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err(Error::options(format!("{name} must be one character, found {text:?}"))),
    }
}

/// The model in a file, or on standard input for `-`, where the data are not.
pub fn model(path: &Path, data: Option<&str>) -> Result<Loaded, Error> {
    if path != Path::new("-") {
        return Loaded::load(path);
    }
    if data == Some("-") {
        return Err(Error::options("the model and the data cannot both come from standard input"));
    }
    Loaded::read_from(std::io::stdin()).map_err(|error| error.in_file(STANDARD_INPUT))
}

/// A whole table from a file, or from standard input for `-`.
pub fn table(data: &str, dialect: &Dialect) -> Result<Table, Error> {
    if data == "-" {
        Table::read_from_with(std::io::stdin(), STANDARD_INPUT, dialect)
    } else {
        Table::read_with(data, dialect)
    }
}

/// The rows that have a target, and a sentence that counts the others, if there are some. A sequence is left whole: without a step
/// the others would not follow each other.
pub fn with_target(table: Table, target: &str, inputs: &ColumnRoles) -> Result<(Table, Vec<String>), Error> {
    let rows = table.rows_with(target)?;
    if inputs.sequence.is_some() || rows.is_empty() || rows.len() == table.rows() {
        return Ok((table, Vec::new()));
    }
    let sentence = without_target(table.rows() - rows.len(), target);
    Ok((table.select_rows(&rows), vec![sentence]))
}

/// That so many rows have no target.
pub fn without_target(rows: usize, target: &str) -> String {
    let (have, are) = if rows == 1 { ("has", "is") } else { ("have", "are") };
    format!("{} {have} no target {target:?} and {are} left out", report::counted(rows, "row"))
}

/// A stream of rows from a file, or from standard input for `-`.
pub fn stream(data: &str, schema: &Schema) -> Result<RowStream, Error> {
    if data == "-" {
        RowStream::from_reader(std::io::stdin(), STANDARD_INPUT, schema)
    } else {
        RowStream::open(data, schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_quotes() {
        assert_eq!(names("a, b"), ["a", "b"]);
        assert_eq!(names(r#""price, in €",b"#), ["price, in €", "b"]);
        let odd = ["5\" pipe", "a,b", "plain", "\"x\",y"];
        assert_eq!(names(&odd.map(quoted_name).join(",")), odd);
        assert_eq!(names("5\" pipe,b"), ["5\" pipe", "b"]);
    }

    #[test]
    fn dates_with_and_without_a_form() {
        let expected = [("a", Some(TimeForm::Dmy)), ("b:c", None), ("d,e", Some(TimeForm::Seconds))];
        assert_eq!(dates("a:dmy,b:c,\"d,e:seconds\""), expected.map(|(name, form)| (name.to_string(), form)));
    }
}
