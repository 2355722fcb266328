//! The flags of methods: one for every option of every method, made from the methods' own tables.

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use negmm::Method;
use negmm::options::{OptionInfo, ValueKind};

/// What help calls the neural methods together.
const NEURAL: &str = "neural";
/// The flag that names the method.
const METHOD: &str = "method";

/// The method and its options, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct MethodFlags {
    /// The method.
    pub method: Option<Method>,
    /// Its options.
    pub settings: Vec<MethodSetting>,
}

/// An option of a method, as it was typed.
#[derive(Clone, Debug)]
pub struct MethodSetting {
    /// Its name.
    pub option: String,
    /// The text of its value, which the method reads.
    pub value: String,
    /// The file and line it is from, where it is from a config file.
    pub location: Option<String>,
}

impl FromArgMatches for MethodFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        if let Some(method) = matches.get_one::<Method>(METHOD) {
            self.method = Some(method.clone());
        }
        for flag in option_flags() {
            let option = flag.get_id().as_str();
            if let Some(value) = matches.get_one::<String>(option) {
                self.settings.retain(|setting| setting.option != option);
                self.settings.push(MethodSetting { option: option.into(), value: value.clone(), location: None });
            }
        }
        Ok(())
    }
}

impl Args for MethodFlags {
    fn augment_args(command: Command) -> Command {
        let neural: Vec<&str> = Method::all().iter().filter(|method| method.is_neural()).map(Method::name).collect();
        command.arg(method_flag()).args(option_flags()).after_help(format!(
            "In brackets: the methods that have the option, and its default; {NEURAL} means {}.",
            neural.join(", ")
        ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// `--method`.
fn method_flag() -> Arg {
    let methods = Method::all();
    let names: Vec<&str> = methods.iter().map(Method::name).collect();
    let about = format!("Method: {} [default: {}]", names.join(", "), Method::default().name());
    flag(METHOD, "NAME".to_string(), "Method").help(about).value_parser(Method::by_name)
}

/// Every option of every method once, under its heading.
fn option_flags() -> Vec<Arg> {
    let methods = Method::all();
    let options: Vec<(&Method, OptionInfo)> =
        methods.iter().flat_map(|method| method.options().into_iter().map(move |option| (method, option))).collect();
    let (mut flags, mut groups): (Vec<Arg>, Vec<&str>) = (Vec::new(), Vec::new());
    options.iter().for_each(|(_, option)| add(&mut groups, option.group));
    // In the order of the neural methods, which have most of the options under a heading.
    let (neural, others): (Vec<_>, Vec<_>) = options.iter().partition(|(method, _)| method.is_neural());
    let mut names: Vec<&str> = Vec::new();
    neural.iter().chain(&others).for_each(|(_, option)| add(&mut names, option.name));
    for group in groups {
        for name in &names {
            let same: Vec<&(&Method, OptionInfo)> = options.iter().filter(|(_, option)| option.name == *name).collect();
            let (_, option) = same[0];
            if option.group == group {
                let none = same
                    .iter()
                    .any(|(_, option)| option.none_word == Some("none") || option.kind == ValueKind::IntegerList);
                let value = format!("{}{}", option.value_name, if none { "|none" } else { "" });
                let (meaning, defaults) = (meaning(&same), defaults(&same));
                // What the default method would refuse is in the long help alone.
                let usual = same.iter().any(|(method, _)| method.name() == Method::default().name());
                flags.push(
                    flag(option.name, value, group)
                        .help(format!("{meaning} {defaults}"))
                        .long_help(format!("{meaning}\n{defaults}"))
                        .hide_short_help(!(option.basic && usual)),
                );
            }
        }
    }
    flags
}

fn add<'a>(list: &mut Vec<&'a str>, word: &'a str) {
    if !list.contains(&word) {
        list.push(word);
    }
}

fn flag(name: &'static str, value: String, heading: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help_heading(heading).allow_hyphen_values(true)
}

/// What an option means, for each method where they differ.
fn meaning(same: &[&(&Method, OptionInfo)]) -> String {
    let mut meanings = together(same, |option| option.help.to_string()).into_iter();
    let first = meanings.next().map_or(String::new(), |(_, meaning)| capital(&meaning));
    meanings.fold(first, |text, (methods, meaning)| format!("{text}; {methods}: {meaning}"))
}

/// The default of an option for each method that has it.
fn defaults(same: &[&(&Method, OptionInfo)]) -> String {
    let defaults = together(same, |option| option.chosen_by.map_or(option.value.clone(), str::to_string));
    let defaults: Vec<String> =
        defaults.into_iter().map(|(methods, default)| format!("{methods}: {default}")).collect();
    format!("[{}]", defaults.join("; "))
}

/// A text about an option for each method; methods with the same text are named together.
fn together(same: &[&(&Method, OptionInfo)], text: impl Fn(&OptionInfo) -> String) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<&Method>, String)> = Vec::new();
    for (method, option) in same {
        let words = text(option);
        match groups.iter_mut().find(|(_, known)| *known == words) {
            Some((methods, _)) => methods.push(method),
            None => groups.push((vec![method], words)),
        }
    }
    groups.into_iter().map(|(methods, words)| (named(&methods), words)).collect()
}

/// The names of methods; all neural ones go by one word.
fn named(methods: &[&Method]) -> String {
    let all = Method::all().iter().filter(|method| method.is_neural()).count();
    let every = methods.iter().filter(|method| method.is_neural()).count() == all;
    let mut names: Vec<&str> = Vec::new();
    for method in methods {
        add(&mut names, if every && method.is_neural() { NEURAL } else { method.name() });
    }
    names.join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
