//! Responsible for `negmm paper`: runs the paper's experiments and sets the results beside its printed numbers.

use std::path::PathBuf;
use std::time::Instant;

use negmm::train::Engine;
use negmm::tune::{Journal, RunOptions};
use negmm::{Error, Method, Toy};
use negmm_draw::Style;
use negmm_paper::{Effort, METHODS, Overrides, Report, finance, toy, uci};
use serde_json::{Map, Value};

use crate::arguments::{Paper, Shared};
use crate::output::write;
use crate::progress::Bar;
use crate::say::{say, say_json};
use crate::{config, input, journal, report};

/// Draws of a toy problem, and runs of a stock, as in the paper.
const REPEATS: usize = 50;
const RUNS: usize = 10;

/// An experiment, ready to run.
enum Experiment {
    Toy(toy::Plan),
    Uci(uci::Plan, PathBuf),
    Finance(finance::Plan, PathBuf),
}

impl Experiment {
    fn new(arguments: &Paper) -> Result<Self, Error> {
        let seed = input::number("seed", &arguments.seed)?;
        let effort = match (arguments.quick, arguments.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Usual,
        };
        let overrides = overrides(arguments)?;
        let sets = arguments.sets.as_deref().map(input::names);
        let repeats = arguments.repeats.as_deref().map(|repeats| at_least_one("repeats", repeats)).transpose()?;
        let splits = arguments.splits.as_deref().map(|splits| at_least_one("splits", splits)).transpose()?;
        let none = |given: bool, option: &str| match given {
            true => Err(Error::options(format!("{} has no --{option}", arguments.experiment))),
            false => Ok(()),
        };
        match arguments.experiment.as_str() {
            "toy1" | "toy2" => {
                none(sets.is_some(), "sets")?;
                none(splits.is_some(), "splits")?;
                let toy = Toy::by_name(&arguments.experiment)?;
                let repeats = repeats.unwrap_or(REPEATS);
                Ok(Self::Toy(toy::Plan { toy, repeats, methods: methods(arguments, &[])?, effort, overrides, seed }))
            }
            "uci" => {
                none(repeats.is_some(), "repeats")?;
                let sets = match sets {
                    Some(names) => names.iter().map(|name| uci::Set::by_name(name)).collect::<Result<_, _>>()?,
                    None => uci::SETS.to_vec(),
                };
                let protocol = uci::Protocol::by_name(&arguments.protocol)?;
                let methods = methods(arguments, &["constant", "auto"])?;
                Ok(Self::Uci(uci::Plan { sets, methods, protocol, splits, effort, overrides, seed }, data(arguments)?))
            }
            "finance" => {
                none(splits.is_some(), "splits")?;
                let stocks = match sets {
                    Some(names) => names.iter().map(|name| finance::Stock::by_name(name)).collect::<Result<_, _>>()?,
                    None => finance::STOCKS.to_vec(),
                };
                let methods = methods(arguments, &["constant"])?;
                let runs = repeats.unwrap_or(RUNS);
                Ok(Self::Finance(finance::Plan { stocks, methods, runs, effort, overrides, seed }, data(arguments)?))
            }
            other => {
                Err(Error::options(format!("there is no experiment {other:?}; there are toy1, toy2, uci and finance")))
            }
        }
    }

    fn identity(&self) -> Map<String, Value> {
        match self {
            Self::Toy(plan) => plan.identity(),
            Self::Uci(plan, _) => plan.identity(),
            Self::Finance(plan, _) => plan.identity(),
        }
    }

    fn run(&self, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Report>, Error> {
        match self {
            Self::Toy(plan) => plan.run(journal, options),
            Self::Uci(plan, data) => plan.run(data, journal, options),
            Self::Finance(plan, data) => plan.run(data, journal, options),
        }
    }
}

impl Experiment {
    /// The pictures of a finished experiment, as files.
    fn figures(&self, journal: &Journal, engine: &dyn Engine) -> Result<Vec<(String, String)>, Error> {
        let figures = match self {
            Self::Toy(plan) => plan.figures(journal, engine)?,
            Self::Uci(..) => Vec::new(),
            Self::Finance(plan, data) => plan.figures(data)?,
        };
        Ok(figures.into_iter().map(|(name, figure)| (format!("{name}.svg"), figure.svg(Style::File))).collect())
    }
}

/// Runs it.
pub fn run(arguments: &Paper, shared: &Shared) -> Result<(), Error> {
    let experiment = Experiment::new(arguments)?;
    let part = journal::Part::new(&arguments.part)?;
    let engine = shared.engine(None)?;
    if part.needs_journal() && arguments.journal.is_none() {
        return Err(Error::options("shards and journals to join need a journal of their own: say --journal DIR"));
    }
    let mut journal = match &arguments.journal {
        Some(folder) => part.open(folder, &experiment.identity())?,
        None => Journal::in_memory(),
    };
    if let Some(folder) = &arguments.output {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    }
    let bar = Bar::trials(shared);
    let progress = |done: usize, of: usize| bar.at(done, of);
    let options = RunOptions { engine: &engine, shard: part.shard, progress: &progress, ..RunOptions::quiet() };
    let start = Instant::now();
    let report = experiment.run(&mut journal, &options);
    bar.clear();
    let Some(report) = report? else {
        return say(&format!(
            "the trials of shard {} that could run are in the journal; when the others are done too, join their journals with --merge",
            part.shard
        ));
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut json = report.json();
    json["seconds"] = seconds.into();
    if let Some(folder) = &arguments.output {
        let name = &arguments.experiment;
        let mut files = experiment.figures(&journal, &engine)?;
        files.push((format!("{name}.md"), report.markdown()));
        files.push((format!("{name}.csv"), report.csv()));
        files.push((format!("{name}.json"), format!("{json:#}\n")));
        for (file, text) in files {
            write(&folder.join(file).display().to_string(), text.as_bytes())?;
        }
    }
    if shared.json {
        return say_json(&json);
    }
    let blocks: Vec<String> =
        report.tables().iter().map(|block| format!("{}\n{}", block.title, report::table(&block.lines))).collect();
    say(&format!("{}, {seconds:.1} s\n\n{}\n\n{}", report.title, blocks.join("\n\n"), report.notes.join("\n")))
}

/// The methods asked for, else the paper's and `more`, those of them that there are.
fn methods(arguments: &Paper, more: &[&str]) -> Result<Vec<String>, Error> {
    let names: Vec<String> = match &arguments.methods {
        Some(names) => input::names(names),
        None => {
            let all = Method::all();
            let there = |name: &&&str| all.iter().any(|method| method.name() == **name);
            METHODS.iter().chain(more.iter().filter(there)).map(|name| name.to_string()).collect()
        }
    };
    names.iter().try_for_each(|name| Method::by_name(name).map(drop))?;
    Ok(names)
}

/// The settings to be changed; each must be one of a method that is run.
fn overrides(arguments: &Paper) -> Result<Overrides, Error> {
    let read = |setting: &String| {
        let (option, value) = config::setting(setting)?;
        if !Method::all().iter().any(|method| method.has(option)) {
            return Err(Error::options(format!("there is no option {option:?}")));
        }
        Ok((option.to_string(), value.to_string()))
    };
    arguments.set.iter().map(read).collect()
}

fn at_least_one(name: &str, text: &str) -> Result<usize, Error> {
    match input::number(name, text)? {
        0 => Err(Error::options(format!("{name} must be at least 1, found 0"))),
        number => Ok(number),
    }
}

/// Where the data are.
fn data(arguments: &Paper) -> Result<PathBuf, Error> {
    let named = arguments.data.clone().or_else(|| std::env::var_os("NEGMM_DATA").map(PathBuf::from));
    let folder =
        named.ok_or_else(|| Error::options("where are the data? Say --data DIR, a folder with uci/ and stocks/"))?;
    if !folder.is_dir() {
        let message = "there is no such folder; say where the data are with --data";
        return Err(Error::data(message).in_file(folder));
    }
    Ok(folder)
}
