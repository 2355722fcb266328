//! Responsible for what can be typed after `fit` about methods: a flag for every option of every method, made from their own
//! tables.

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use negmm::Method;
use negmm::options::OptionInfo;

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
            "In brackets stand the methods that have an option, with its default. {NEURAL} are {}.",
            listed(&neural)
        ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// `--method`, and every option of every method once, in the order of their headings.
fn flags() -> Vec<Arg> {
    let methods = Method::all();
    let names: Vec<&str> = methods.iter().map(Method::name).collect();
    let mut flags = vec![flag("method", "NAME", "Method").help(format!(
        "How to learn: {} [default: {}]",
        names.join(", "),
        Method::default().name()
    ))];
    let options: Vec<(&Method, OptionInfo)> =
        methods.iter().flat_map(|method| method.options().into_iter().map(move |option| (method, option))).collect();
    let mut groups: Vec<&str> = Vec::new();
    for (_, option) in &options {
        if !groups.contains(&option.group) {
            groups.push(option.group);
        }
    }
    for group in groups {
        let mut seen: Vec<&str> = Vec::new();
        for (_, option) in options.iter().filter(|(_, option)| option.group == group) {
            if !seen.contains(&option.name) {
                seen.push(option.name);
                let same: Vec<&(&Method, OptionInfo)> =
                    options.iter().filter(|(_, other)| other.name == option.name).collect();
                flags.push(
                    flag(option.name, &option.value_name, group).help(help(&same)).hide_short_help(!option.basic),
                );
            }
        }
    }
    flags
}

fn flag(name: &'static str, value_name: &str, heading: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name.to_string()).help_heading(heading).allow_hyphen_values(true)
}

/// What an option means, and its default for each method that has it.
fn help(same: &[&(&Method, OptionInfo)]) -> String {
    let meanings = together(same, |option| option.meaning.to_string());
    let meanings: Vec<String> = meanings
        .into_iter()
        .enumerate()
        .map(|(at, (methods, meaning))| if at == 0 { capital(&meaning) } else { format!("{methods}: {meaning}") })
        .collect();
    let none = if same.iter().any(|(_, option)| option.empty == Some("none")) { ", or none" } else { "" };
    let defaults = together(same, |option| option.follows.map_or(option.value.clone(), str::to_string));
    let defaults: Vec<String> =
        defaults.into_iter().map(|(methods, default)| format!("{methods}: {default}")).collect();
    format!("{}{none} [{}]", meanings.join("; "), defaults.join("; "))
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
        let name = if every && method.is_neural() { NEURAL } else { method.name() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
