//! Responsible for what can be typed after `fit` about methods: a flag for every option of every method, made from their own
//! tables.

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use negmm::Method;
use negmm::options::{OptionInfo, ValueKind};

/// What help calls the neural methods together.
const NEURAL: &str = "neural";

/// The method and its settings, by name, as they were typed.
#[derive(Debug, Default)]
pub struct MethodFlags(Vec<(String, String)>);

impl MethodFlags {
    /// Every flag that was given: its name and its text.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

impl FromArgMatches for MethodFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let names = flags().into_iter().map(|flag| flag.get_id().to_string());
        Ok(Self(names.filter_map(|name| Some((name.clone(), matches.get_one::<String>(&name)?.clone()))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for MethodFlags {
    fn augment_args(command: Command) -> Command {
        let neural: Vec<&str> = Method::all().iter().filter(|method| method.is_neural()).map(Method::name).collect();
        command.args(flags()).after_help(format!(
            "In brackets: the methods that have the option, with its default; {NEURAL}: {}.",
            neural.join(", ")
        ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// `--method`, and every option of every method once, under its heading.
fn flags() -> Vec<Arg> {
    let methods = Method::all();
    let names: Vec<&str> = methods.iter().map(Method::name).collect();
    let about = format!("How to learn: {} [default: {}]", names.join(", "), Method::default().name());
    let mut flags = vec![flag("method", "NAME".to_string(), "Method").help(about)];
    let options: Vec<(&Method, OptionInfo)> =
        methods.iter().flat_map(|method| method.options().into_iter().map(move |option| (method, option))).collect();
    let mut groups: Vec<&str> = Vec::new();
    options.iter().for_each(|(_, option)| add(&mut groups, option.group));
    // Neural methods have most options of a heading: theirs is the order.
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
                flags.push(
                    flag(option.name, value, group)
                        .help(format!("{meaning} {defaults}"))
                        .long_help(format!("{meaning}\n{defaults}"))
                        .hide_short_help(!option.basic),
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

/// What is said of an option by each method, those that say the same together.
fn together(same: &[&(&Method, OptionInfo)], said: impl Fn(&OptionInfo) -> String) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<&Method>, String)> = Vec::new();
    for (method, option) in same {
        let words = said(option);
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
