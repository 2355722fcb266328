//! Errors and warnings in the words of the command line: flags for options, rows from 1, and exit codes.

use negmm::{ErrorKind, Hint, Wording};

/// The wording of the command line.
pub struct Flags;

impl Wording for Flags {
    fn hint(&self, hint: &Hint) -> String {
        match hint {
            Hint::SetOptions { settings } => {
                let flags: Vec<String> = settings.iter().map(|(option, value)| flag(option, value)).collect();
                format!("use {}", flags.join(" and "))
            }
            Hint::ChooseValue { option, values } => {
                let flags: Vec<String> = values.iter().map(|value| flag(option, value)).collect();
                format!("use {}", flags.join(" or "))
            }
            Hint::RaiseOption { option } => format!("raise --{option}"),
            Hint::NameColumn { option } => format!("use --{option} COLUMN"),
            Hint::DateFormat { column, formats } if formats.is_empty() => format!("use --date {column}:FORMAT"),
            Hint::DateFormat { column, formats } => {
                let flags: Vec<String> = formats.iter().map(|format| format!("--date {column}:{format}")).collect();
                format!("use {}", flags.join(" or "))
            }
            Hint::Calibrate => "use `negmm calibrate` with rows that the model was not fitted to".into(),
            other => other.to_string(),
        }
    }
}

fn flag(option: &str, value: &str) -> String {
    // A switch has no value.
    if (option, value) == ("sort", "true") { "--sort".into() } else { format!("--{option} {value}") }
}

/// The exit code of a program that fails with an error of this kind.
///
/// | code | kind |
/// |---|---|
/// | 2 | the command line is at fault: [`ErrorKind::Options`] |
/// | 130 | stopped by Ctrl-C, as shells count it: [`ErrorKind::Cancelled`] |
/// | 1 | everything else |
pub fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Options => 2,
        ErrorKind::Cancelled => 130,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use negmm::{Error, Warning};

    use super::*;

    #[test]
    fn exit_codes_depend_on_the_kind_of_error() {
        let kinds = [ErrorKind::Data, ErrorKind::Model, ErrorKind::Io, ErrorKind::Options, ErrorKind::Cancelled];
        assert_eq!(kinds.map(exit_code), [1, 1, 1, 2, 130]);
    }

    #[test]
    fn hints_name_flags() {
        let formats = |formats: &[&'static str]| Hint::DateFormat { column: "day".into(), formats: formats.to_vec() };
        let decimal = Hint::ChooseValue { option: "decimal", values: vec![".".into(), ",".into()] };
        let bounds = Hint::SetOptions { settings: vec![("lower", "0".into()), ("upper", "1".into())] };
        for (hint, text) in [
            (decimal, "use --decimal . or --decimal ,"),
            (bounds, "use --lower 0 and --upper 1"),
            (Hint::set("sort", true), "use --sort"),
            (formats(&[]), "use --date day:FORMAT"),
            (formats(&["dmy", "mdy"]), "use --date day:dmy or --date day:mdy"),
            (Hint::RaiseOption { option: "memory" }, "raise --memory"),
            (Hint::Calibrate, "use `negmm calibrate` with rows that the model was not fitted to"),
            (
                Hint::NameColumn { option: "group" }.when("if rows belong together"),
                "if rows belong together, use --group COLUMN",
            ),
        ] {
            assert_eq!(Error::data("wrong").with_hint(hint.clone()).worded(&Flags), format!("wrong; {text}"));
            assert_eq!(Warning::new("odd").with_hint(hint).at_row(0).worded(&Flags), format!("row 1: odd; {text}"));
        }
        let similar =
            Error::option("epoch", "is not an option").with_hint(Hint::SimilarOption { option: "epochs".into() });
        assert_eq!(similar.worded(&Flags), "epoch is not an option (did you mean epochs?)");
    }
}
