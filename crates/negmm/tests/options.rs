//! The table of options: it is in the documentation, and settings are applied together.

use std::fmt::Write as _;
use std::path::Path;

use negmm::Method;
use negmm::options::{RENAMED, ValueKind};

/// The longest line of a page.
const LINE: usize = 120;

/// `docs/options.md`.
fn page() -> String {
    let mut text = String::from(
        "# Options\n\n\
         The options of every method. On the command line `--eta 0.3`, in a config file `eta = 0.3`, for `compare` and\n\
         `tune` `--set eta=0.3`, in Python `eta=0.3` (`learning_rate` for `learning-rate`).\n\n\
         This page is made from the methods' own lists: `NEGMM_BLESS=1 cargo test -p negmm --test all options`.\n\n\
         ## Description\n\n",
    );
    for (name, descriptions) in descriptions() {
        let others = descriptions[1..].iter().map(|(method, help)| format!("; {method}: {help}"));
        text.push_str(&wrapped(&format!("- `{name}`: {}{}", descriptions[0].1, others.collect::<String>())));
    }
    for method in Method::all() {
        let _ = write!(text, "\n## {}\n\n", method.name());
        let options = method.options();
        if options.is_empty() {
            text.push_str("It has no options.\n");
            continue;
        }
        text.push_str("| option | default | range |\n|---|---|---|\n");
        for option in options {
            let default = match option.chosen_by {
                Some(chosen_by) => format!("{}: {chosen_by}", option.value),
                None => option.value,
            };
            let _ = writeln!(text, "| `{}` | {default} | {} |", option.name, option.range);
        }
    }
    text.push_str(
        "\n## Former names\n\nStill accepted, with a notice that names the new one.\n\n| former | now |\n|---|---|\n",
    );
    for (former, current) in RENAMED {
        let _ = writeln!(text, "| `{former}` | `{current}` |");
    }
    text
}

/// Every option in the order of the methods, with its description by each method that describes it differently.
fn descriptions() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut all: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for method in Method::all() {
        for option in method.options() {
            let at = all.iter().position(|(name, _)| *name == option.name).unwrap_or_else(|| {
                all.push((option.name, Vec::new()));
                all.len() - 1
            });
            let (_, descriptions) = &mut all[at];
            if !descriptions.iter().any(|(_, help)| *help == option.help) {
                descriptions.push((method.name(), option.help));
            }
        }
    }
    all
}

/// An item of a list in lines that are not too long.
fn wrapped(item: &str) -> String {
    let mut lines = vec![String::new()];
    for word in item.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= LINE {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_documentation_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    if std::env::var_os("NEGMM_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/options.md is not the table: NEGMM_BLESS=1 cargo test -p negmm --test all options"
    );
    assert!(written.lines().all(|line| line.chars().count() <= LINE), "a line of docs/options.md is too long");
}

#[test]
fn a_default_is_a_value_of_its_option() {
    for method in Method::all() {
        for option in method.options() {
            let mut same = method.clone();
            same.set(option.name, &option.value).unwrap();
            if option.name != "member" {
                assert_eq!(same, method, "{}: {}", method.name(), option.name);
            }
            assert!(!option.help.ends_with('.') && !option.help.is_empty(), "{}", option.name);
            assert!(!matches!(option.kind, ValueKind::Choice([])), "{}: no words", option.name);
        }
    }
}

fn refusal(method: &str, settings: &[(&str, &str)]) -> (String, String) {
    let refused = Method::by_name(method).unwrap().configure(settings).unwrap_err();
    (refused.option_name().unwrap().to_string(), refused.to_string())
}

#[test]
fn the_order_of_settings_tells_nothing() {
    for method in ["ne-gmm", "mdn", "ensemble"] {
        let (mut one, mut other) = (Method::by_name(method).unwrap(), Method::by_name(method).unwrap());
        one.configure(&[("sigma-max", "0.0005"), ("sigma-min", "0.0001")]).unwrap();
        other.configure(&[("sigma-min", "0.0001"), ("sigma-max", "0.0005")]).unwrap();
        assert_eq!(one, other);
    }
    let mut ensemble = Method::by_name("ensemble").unwrap();
    ensemble.configure(&[("eta", "0.25"), ("member", "ne-gmm"), ("ensemble-size", "2")]).unwrap();
    let value = |option: &str| ensemble.options().into_iter().find(|known| known.name == option).unwrap().value;
    assert_eq!((value("member"), value("eta"), value("ensemble-size")), ("ne-gmm".into(), "0.25".into(), "2".into()));
    let mut known = Method::by_name("ensemble").unwrap();
    let settings = [("eta", "0.25"), ("n-estimators", "9"), ("member", "ne-gmm"), ("ensemble-size", "2")];
    assert_eq!(known.configure_known(&settings).unwrap(), [true, false, true, true]);
    assert_eq!(known, ensemble);
}

#[test]
fn the_setting_that_is_to_blame_is_named() {
    let (option, message) = refusal("ne-gmm", &[("epochs", "5"), ("sigma-max", "0.5"), ("sigma-min", "0.7")]);
    assert_eq!(
        (option.as_str(), message.as_str()),
        ("sigma-max", "sigma-max must be larger than 0.7, found 0.5 (see sigma-min)")
    );
    let (option, message) = refusal("ne-gmm", &[("epochs", "5"), ("embedding", "1000")]);
    assert_eq!(
        (option.as_str(), message.as_str()),
        ("embedding", "embedding must be from 0.001 to 100, or none, found 1000")
    );
    let (option, message) = refusal("beta-nll", &[("epochs", "5"), ("sigma-min", "1")]);
    assert_eq!((option.as_str(), message.as_str()), ("sigma-min", "sigma-min must be below 1, found 1"));
    let (option, message) = refusal("ensemble", &[("select", "calibrated"), ("member", "sample-net")]);
    assert_eq!(
        (option.as_str(), message.as_str()),
        ("select", "select must be nll or crps for samples, found \"calibrated\"")
    );
    let (option, message) = refusal("ensemble", &[("epochs", "5"), ("member", "auto")]);
    assert_eq!(option, "member");
    assert_eq!(message, "member must be a neural method (ne-gmm, mdn, beta-nll, sample-net), found \"auto\"");
    let (option, _) = refusal("ensemble", &[("epochs", "5"), ("eta", "0.5")]);
    assert_eq!(option, "eta");
}

#[test]
fn a_refused_setting_changes_nothing() {
    let mut method = Method::by_name("ne-gmm").unwrap();
    assert!(method.configure(&[("epochs", "5"), ("eta", "2")]).is_err() && method.set("wings", "2").is_err());
    assert_eq!(method, Method::by_name("ne-gmm").unwrap());
}

#[test]
fn another_member_of_an_ensemble_for_sequences_has_no_hidden_layers_either() {
    let mut ensemble = Method::by_name("ensemble").unwrap().for_sequences();
    ensemble.set("member", "ne-gmm").unwrap();
    let mut expected = Method::by_name("ensemble").unwrap();
    expected.set("member", "ne-gmm").unwrap();
    assert_eq!(ensemble, expected.for_sequences());
}

#[test]
fn settings_that_a_file_lacks_have_their_defaults() {
    for method in Method::all() {
        let bare = serde_json::json!({ "name": method.name() });
        assert_eq!(serde_json::from_value::<Method>(bare).unwrap(), method);
    }
}

#[test]
fn former_names_of_options_are_accepted() {
    for (former, current) in RENAMED {
        let (mut one, mut other) = (Method::all(), Method::all());
        one.retain(|method| method.has(former));
        other.retain(|method| method.has(current));
        assert!(!one.is_empty() && one == other, "{former}");
        for mut method in one {
            let option = method.options().into_iter().find(|option| option.name == *current).unwrap();
            let value = if option.kind == ValueKind::Bool { "true" } else { "1" };
            let mut same = method.clone();
            assert_eq!(method.set(former, value).is_ok(), same.set(current, value).is_ok());
            assert_eq!(method, same, "{former}");
            assert!(method.options().iter().all(|option| option.name != *former), "{former}");
        }
    }
    let (option, message) = refusal("ngboost", &[("rows-share", "2")]);
    assert_eq!((option.as_str(), message.as_str()), ("subsample", "subsample must be above 0 and at most 1, found 2"));
    let (_, message) = refusal("constant", &[("rounds", "2")]);
    assert_eq!(message, "n-estimators is not an option of constant; methods that have it: ngboost");
}

#[test]
fn files_have_the_former_names_and_json_for_people_the_current_ones() {
    let method = Method::by_name("ensemble").unwrap();
    let (stored, shown) = (serde_json::json!(method), method.to_json());
    assert_eq!((&stored["members"], &shown["ensemble-size"]), (&5.into(), &5.into()));
    assert_eq!((&stored["member"]["batch"], &shown["member"]["batch-size"]), (&32.into(), &32.into()));
    for method in Method::all() {
        let stored = serde_json::to_string(&method).unwrap();
        assert!(RENAMED.iter().all(|(_, current)| !stored.contains(&format!("\"{current}\""))), "{stored}");
        assert_eq!(serde_json::from_str::<Method>(&stored).unwrap(), method);
    }
}
