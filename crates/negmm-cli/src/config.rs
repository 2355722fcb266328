//! Responsible for what options mean: config file and flags of `fit` together become a method, a target and inputs; what
//! `compare` and `tune` are told becomes methods and splits.

use std::collections::HashMap;
use std::path::Path;

use negmm::compare::Split;
use negmm::data::{ColumnRoles, Dialect};
use negmm::forecast::SeriesSpec;
use negmm::{Error, Method, Table};

use crate::arguments::{DataFlags, Fit, MethodFlags, ReadingFlags, SequenceFlags, TargetFlags};
use crate::{input, renamed};

/// The options that say how a file is written.
const DIALECT: [&str; 6] = ["separator", "decimal", "missing", "memory", "text", "number"];
/// Those that say something of the target and of which rows belong together.
const TARGET: [&str; 6] = ["lower", "upper", "continuous", "censored", "target-upper", "group"];

/// Those of forecasts alone.
pub const FORECAST: [&str; 5] = ["time", "horizon", "series", "season", "known"];

/// What `fit` is to do.
#[derive(Debug)]
pub struct FitConfig {
    /// The column to predict.
    pub target: String,
    /// Which columns are inputs.
    pub inputs: ColumnRoles,
    /// What is forecast, where rows are steps in time that `auto` forecasts.
    pub forecast: Option<SeriesSpec>,
    /// How the file is written.
    pub dialect: Dialect,
    /// Starts all random choices.
    pub seed: u64,
    /// Threads to use, where the file says so.
    pub threads: Option<String>,
    /// The method with its settings.
    pub method: Method,
    /// A sentence for every option that the file calls by its former name.
    pub notices: Vec<String>,
}

impl Fit {
    /// What it is to do.
    pub fn config(&self) -> Result<FitConfig, Error> {
        let of_data = (&self.data_flags, &self.target_flags, &self.sequence_flags);
        FitConfig::new(self.config.as_deref(), of_data, &self.reading, &self.method)
    }
}

impl FitConfig {
    /// The config file first, then the flags, which win over it.
    fn new(
        file: Option<&Path>,
        (data, target, sequence): (&DataFlags, &TargetFlags, &SequenceFlags),
        reading: &ReadingFlags,
        method: &MethodFlags,
    ) -> Result<Self, Error> {
        let mut settings = file.map_or(Ok(Vec::new()), read)?;
        let notices: Vec<String> = settings.iter_mut().filter_map(|setting| setting.notice.take()).collect();
        let of_data = data.given().chain(target.given()).chain(sequence.given());
        for (name, text) in of_data.chain(reading.given()).chain(method.given()) {
            settings.retain(|setting| setting.name != name);
            settings.push(Setting { name: name.into(), text: text.into(), place: None, notice: None });
        }
        let take = |settings: &mut Vec<Setting>, name: &str| {
            let at = settings.iter().position(|setting| setting.name == name)?;
            Some(settings.remove(at))
        };
        let column = take(&mut settings, "sequence").map(|setting| setting.text);
        let target = take(&mut settings, "target")
            .map(|setting| setting.text)
            .or_else(|| column.clone())
            .ok_or_else(|| Error::options("which column is to be predicted? Say --target COL"))?;
        let features = take(&mut settings, "features").map(|setting| input::names(&setting.text));
        let ignore = take(&mut settings, "ignore").map_or(Vec::new(), |setting| input::names(&setting.text));
        let dates = take(&mut settings, "date").map_or(Vec::new(), |setting| input::dates(&setting.text));
        let weight = take(&mut settings, "weight").map(|setting| setting.text);
        let threads = take(&mut settings, "threads").map(|setting| setting.text);
        let seed = match take(&mut settings, "seed") {
            Some(setting) => input::number("seed", &setting.text).map_err(|error| setting.blame(error))?,
            None => 0,
        };
        let mut take_all = |names: &[&'static str]| -> Vec<(&'static str, String)> {
            names.iter().filter_map(|name| Some((*name, take(&mut settings, name)?.text))).collect()
        };
        let (dialect, outcome) = (take_all(&DIALECT), take_all(&TARGET));
        let dialect = input::dialect_of(dialect.iter().map(|(name, text)| (*name, text.as_str())))?;
        let (outcome, group) = input::outcome(outcome.iter().map(|(name, text)| (*name, text.as_str())))?;
        let told = take_all(&FORECAST);
        let window = take(&mut settings, "window");
        let levels = take(&mut settings, "levels").is_some_and(|setting| setting.text == "true") || window.is_some();
        let sequence = input::sequence(column, window.as_ref().map(|setting| setting.text.as_str()));
        let sequence = sequence.map_err(|error| window.iter().fold(error, |error, setting| setting.blame(error)))?;
        let mut method = match take(&mut settings, "method") {
            Some(setting) => Method::by_name(&setting.text).map_err(|error| setting.blame(error))?,
            None => Method::default(),
        };
        let forecasts = sequence.is_some() && method.as_auto().is_some() && !levels;
        if let Some((name, _)) = told.first().filter(|_| !forecasts) {
            return Err(Error::options(match sequence {
                None => format!("{name} is for sequences: say --sequence COL too"),
                Some(_) => format!("{name} is for forecasts, which auto makes without --levels and --window"),
            }));
        }
        if sequence.is_some() && !forecasts {
            method = method.for_sequences();
        }
        let named: Vec<(&str, &str)> =
            settings.iter().map(|setting| (setting.name.as_str(), setting.text.as_str())).collect();
        method.configure(&named).map_err(|refused| {
            let blamed = settings.iter().filter(|setting| setting.name == refused.option);
            blamed.fold(refused.error, |error, setting| setting.blame(error))
        })?;
        if !forecasts {
            let inputs = ColumnRoles { features, ignore, dates, weight, sequence, outcome, group };
            return Ok(Self { target, inputs, forecast: None, dialect, seed, threads, method, notices });
        }
        let refused = [("ignore", !ignore.is_empty()), ("weight", weight.is_some()), ("group", group.is_some())];
        if let Some((name, _)) = refused.iter().find(|(_, given)| *given) {
            return Err(Error::options(format!("forecasts have no option {name}")));
        }
        let column = sequence.map_or(String::new(), |sequence| sequence.column);
        if column != target {
            return Err(Error::options(format!(
                "forecasts are of the sequence {column:?} itself, not of {target:?}: leave out --target, or say --levels"
            )));
        }
        let told = told.iter().map(|(name, text)| (*name, text.as_str()));
        let forecast = Some(input::roles(column, told, features.unwrap_or_default(), &dates)?);
        let inputs = ColumnRoles { outcome, ..ColumnRoles::default() };
        Ok(Self { target, inputs, forecast, dialect, seed, threads, method, notices })
    }
}

/// The methods asked for by name (`otherwise` where nobody asks), with the options given for all.
pub fn methods(
    names: Option<&str>,
    otherwise: Vec<Method>,
    set: &[String],
    sequence: bool,
) -> Result<Vec<Method>, Error> {
    let mut methods = match names {
        Some(names) => input::names(names).iter().map(|name| Method::by_name(name)).collect::<Result<Vec<_>, _>>()?,
        None => otherwise,
    };
    if sequence {
        methods = methods.into_iter().map(Method::for_sequences).collect();
    }
    let settings = set.iter().map(|setting| self::setting(setting)).collect::<Result<Vec<_>, _>>()?;
    let mut used = vec![false; settings.len()];
    for method in &mut methods {
        let known = method.configure_known(&settings)?;
        used.iter_mut().zip(known).for_each(|(used, known)| *used |= known);
    }
    if let Some(at) = used.iter().position(|used| !used) {
        return Err(Error::options(format!("none of the methods compared has an option {:?}", settings[at].0)));
    }
    Ok(methods)
}

/// `OPTION=VALUE`.
pub fn setting(text: &str) -> Result<(&str, &str), Error> {
    text.split_once('=').ok_or_else(|| Error::options(format!("set must be OPTION=VALUE, found {text:?}")))
}

/// How rows are divided into those to learn from and those to score on.
pub struct Splitting<'a> {
    /// Parts of the rows.
    pub folds: &'a str,
    /// Random shares instead of parts.
    pub repeats: Option<&'a str>,
    /// Such a share.
    pub test: &'a str,
}

impl Splitting<'_> {
    /// The splits of a table.
    pub fn splits(&self, table: &Table, inputs: &ColumnRoles, seed: u64) -> Result<Vec<Split>, Error> {
        match self.repeats {
            Some(_) if inputs.sequence.is_some() => {
                Err(Error::options("random rows of a sequence would be scored from their own future: say --folds K"))
            }
            None if inputs.sequence.is_some() => Split::expanding(table.rows(), input::number("folds", self.folds)?),
            Some(_) if inputs.group.is_some() => {
                Err(Error::options("random rows would tear groups apart: say --folds K"))
            }
            Some(repeats) => {
                let share = self.test.parse().map_err(|_| Error::options("test must be a share between 0 and 1"))?;
                Split::repeats(table.rows(), input::number("repeats", repeats)?, share, seed)
            }
            None => match &inputs.group {
                Some(group) => Split::grouped_folds(&table.groups(group)?, input::number("folds", self.folds)?, seed),
                None => Split::folds(table.rows(), input::number("folds", self.folds)?, seed),
            },
        }
    }
}

/// One option, and the file it is from.
struct Setting {
    name: String,
    text: String,
    place: Option<String>,
    notice: Option<String>,
}

impl Setting {
    fn blame(&self, error: Error) -> Error {
        match &self.place {
            Some(place) => error.at(place.clone()),
            None => error,
        }
    }
}

/// The settings of a TOML file: `name = value`, where a value is text, a number, or a list of these.
fn read(path: &Path) -> Result<Vec<Setting>, Error> {
    let place = path.display().to_string();
    // The command line named the file, so the command line is at fault.
    let text = std::fs::read_to_string(path).map_err(|error| Error::options(Error::io(path, error).to_string()))?;
    let line_of = |at: usize| format!("{place}, line {}", text[..at].matches('\n').count() + 1);
    let malformed = |error: toml::de::Error| {
        let message = format!("this is not valid TOML ({})", error.message().replace('\n', " "));
        Error::options(message).at(line_of(error.span().map_or(0, |span| span.start)))
    };
    let lines = toml::de::DeTable::parse(&text).map_err(malformed)?;
    let lines: HashMap<&str, String> =
        lines.get_ref().keys().map(|key| (key.get_ref().as_ref(), line_of(key.span().start))).collect();
    let table: toml::Table = text.parse().map_err(malformed)?;
    let word = |name: &str, value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(truth) => Ok(truth.to_string()),
        _ => Err(Error::options(format!("{name:?} must be text, a number, true, false, or a list of these"))
            .at(lines[name].clone())),
    };
    let setting = |(name, value): (&String, &toml::Value)| {
        let text = match value {
            toml::Value::Array(items) => {
                let words = items.iter().map(|item| word(name, item).map(|word| input::quoted_name(&word)));
                words.collect::<Result<Vec<_>, _>>()?.join(",")
            }
            _ => word(name, value)?,
        };
        let (current, notice) = renamed::current(name);
        let place = lines.get(name.as_str()).cloned();
        if let Some(place) = place.as_ref().filter(|_| notice.is_some() && table.contains_key(current)) {
            return Err(Error::options(format!("{name} is another name of {current}, which is given too")).at(place));
        }
        let notice = notice.map(|notice| place.iter().fold(notice, |notice, place| format!("{place}: {notice}")));
        Ok(Setting { name: current.to_string(), text, place, notice })
    };
    table.iter().map(setting).collect()
}
