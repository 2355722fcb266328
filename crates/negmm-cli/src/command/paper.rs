//! `negmm paper`: the paper's experiments, beside its published results.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use negmm::train::Engine;
use negmm::tune::{Journal, RunOptions};
use negmm::{Error, Method, Toy};
use negmm_draw::Style;
use negmm_paper::{Effort, METHODS, Overrides, Report, finance, toy, uci};
use serde_json::{Map, Value};

use crate::arguments::paper::ExperimentName;
use crate::arguments::values::Assignment;
use crate::arguments::{Paper, Shared};
use crate::console::{print, print_json};
use crate::output::write;
use crate::progress::Bar;
use crate::{journal, text_table};

/// Repetitions of a toy problem, and runs of a stock, as in the paper.
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
        let Paper { seed, repeats, splits, .. } = *arguments;
        let effort = match (arguments.quick, arguments.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Usual,
        };
        let overrides = overrides(arguments)?;
        let sets = arguments.sets.as_ref().map(|sets| &sets.0[..]);
        let only = |given: bool, flag: &str, experiments: &str| match given {
            true => Err(Error::options(format!("--{flag} is for {experiments}"))),
            false => Ok(()),
        };
        let toy = |toy| {
            only(sets.is_some(), "sets", "uci and finance")?;
            only(splits.is_some(), "splits", "uci")?;
            let repeats = repeats.unwrap_or(REPEATS);
            let overrides = overrides.clone();
            Ok(Self::Toy(toy::Plan { toy, repeats, methods: methods(arguments, &[])?, effort, overrides, seed }))
        };
        match arguments.experiment {
            ExperimentName::Toy1 => toy(Toy::Heteroscedastic),
            ExperimentName::Toy2 => toy(Toy::Bimodal),
            ExperimentName::Uci => {
                only(repeats.is_some(), "repeats", "toy1, toy2 and finance")?;
                let sets = match sets {
                    Some(names) => names.iter().map(|name| uci::Set::by_name(name)).collect::<Result<_, _>>()?,
                    None => uci::SETS.to_vec(),
                };
                let protocol = uci::Protocol::by_name(&arguments.protocol)?;
                let methods = methods(arguments, &["constant", "auto"])?;
                Ok(Self::Uci(uci::Plan { sets, methods, protocol, splits, effort, overrides, seed }, data(arguments)?))
            }
            ExperimentName::Finance => {
                only(splits.is_some(), "splits", "uci")?;
                let stocks = match sets {
                    Some(names) => names.iter().map(|name| finance::Stock::by_name(name)).collect::<Result<_, _>>()?,
                    None => finance::STOCKS.to_vec(),
                };
                let methods = methods(arguments, &["constant"])?;
                let runs = repeats.unwrap_or(RUNS);
                Ok(Self::Finance(finance::Plan { stocks, methods, runs, effort, overrides, seed }, data(arguments)?))
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
    /// The figures of a finished experiment, as files.
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
    let part = journal::Part::new(&arguments.part);
    let engine = shared.trainer()?;
    if part.needs_journal() && arguments.journal.is_none() {
        return Err(Error::options("--shard and --merge need --journal DIR"));
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
    let options = RunOptions::default().engine(&engine).shard(part.shard).progress(&progress);
    let start = Instant::now();
    let report = experiment.run(&mut journal, &options);
    bar.clear();
    let Some(report) = report? else {
        return print(&format!(
            "the trials of shard {} that can run now are in the journal; when the other shards are done, merge their journals with --merge",
            part.shard
        ));
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut json = report.json();
    json["seconds"] = seconds.into();
    if let Some(folder) = &arguments.output {
        let name = arguments.experiment.to_possible_value().map_or(String::new(), |name| name.get_name().to_string());
        let mut files = experiment.figures(&journal, &engine)?;
        files.push((format!("{name}.md"), report.markdown()));
        files.push((format!("{name}.csv"), report.csv()));
        files.push((format!("{name}.json"), format!("{json:#}\n")));
        for (file, text) in files {
            write(&folder.join(file).display().to_string(), text.as_bytes())?;
        }
    }
    if shared.json {
        return print_json(&json);
    }
    let tables: Vec<String> = report
        .all_tables()
        .iter()
        .map(|table| format!("{}\n{}", table.title, text_table::table(&table.rows)))
        .collect();
    print(&format!("{}, {seconds:.1} s\n\n{}\n\n{}", report.title, tables.join("\n\n"), report.notes.join("\n")))
}

/// The methods that are named, else the paper's and those of `more` that exist.
fn methods(arguments: &Paper, more: &[&str]) -> Result<Vec<String>, Error> {
    let names: Vec<String> = match &arguments.methods {
        Some(names) => names.0.clone(),
        None => {
            let all = Method::all();
            let there = |name: &&&str| all.iter().any(|method| method.name() == **name);
            METHODS.iter().chain(more.iter().filter(there)).map(|name| name.to_string()).collect()
        }
    };
    names.iter().try_for_each(|name| Method::by_name(name).map(drop))?;
    Ok(names)
}

/// The overridden options; each must be one of some method.
fn overrides(arguments: &Paper) -> Result<Overrides, Error> {
    let read = |set: &Assignment| {
        if !Method::all().iter().any(|method| method.has(&set.option)) {
            return Err(Error::options(format!("there is no option {:?}", set.option)));
        }
        Ok((set.option.clone(), set.value.clone()))
    };
    arguments.set.iter().map(read).collect()
}

/// The folder of the data sets.
fn data(arguments: &Paper) -> Result<PathBuf, Error> {
    let named = arguments.data.clone().or_else(|| std::env::var_os("NEGMM_DATA").map(PathBuf::from));
    let folder = named
        .ok_or_else(|| Error::options("where are the data sets? Use --data DIR, a folder with uci/ and stocks/"))?;
    if !folder.is_dir() {
        let message = "there is no such folder; use --data DIR";
        return Err(Error::data(message).in_file(folder));
    }
    Ok(folder)
}
