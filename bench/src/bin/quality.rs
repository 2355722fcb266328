//! Scores methods on the splits of the UCI datasets and of the tables with text and dates, and prints tables as Markdown: mean (standard error) over splits, bold where
//! a method is best by more than two standard errors of the paired difference; one method against every other; rows with new inputs.
//!
//! ```text
//! quality [--sets a,b] [--methods a,b:option=value] [--splits N] [--threads N] [--fit-threads N] [--engine NAME]
//!         [--set OPTION=VALUE,OPTION=VALUE] [--inner true] [--results FILE] [--reference METHOD]
//! quality --table FILE,FILE [--reference METHOD]     tables of results that are there
//! quality --export FOLDER [--sets a,b]               sets and splits for programs elsewhere (bench/peers/quality.py)
//! ```
//!
//! All sets unless `--sets` says which (`uci`: the ten, `tables`: the twelve). Data from the folder `NEGMM_DATA`, else `../shared/data`. wine_white and superconductivity have no standard splits: tenths drawn with seed 0.
//! A method may have settings behind its name (`auto:preset=best:hidden=64+64`); `--set` sets an option of every method that has it. `--threads` fits run at
//! once, each with `--fit-threads` (1) for its networks, or with a GPU (`--engine cuda`); the seconds are those of one fit under these,
//! in CPU time where one runs at a time on the CPU, else by the wall clock. With `--results`
//! each fit adds a line to the file at once, and fits that the file already has are skipped. With `--inner` the splits are tenths of the rows that the
//! first split trains on, for choosing settings.

use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use negmm::compare::Split;
use negmm::train::Engine;
use negmm::{FitOptions, Method, Table, fit_with};
use negmm_bench::datasets::BenchDataset;
use negmm_bench::options::Options;
use negmm_bench::results::{self, FitScores, Line, Outcome, RowScores};
use negmm_bench::tables;
use negmm_bench::usage::{own_cpu_seconds, wall_seconds};
use negmm_cuda::Trainer;

/// A method and its label in the results: its name and every setting.
struct Contender {
    label: String,
    method: Method,
}

impl Contender {
    /// `name:option=value:option=value`, and the common settings that the method has.
    fn parse(text: &str, common: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut parts = text.split(':');
        let mut contender = Self { label: String::new(), method: Method::by_name(parts.next().unwrap_or_default())? };
        contender.label = contender.method.name().to_string();
        let own = parts.map(|setting| (setting, true));
        for (setting, must) in own.chain(common.iter().map(|setting| (setting.as_str(), false))) {
            let (option, value) = setting.split_once('=').ok_or(format!("{setting:?} is not OPTION=VALUE"))?;
            if must || contender.method.has(option) {
                contender.method.set(option, &value.replace('+', ","))?;
                contender.label += &format!(":{setting}");
            }
        }
        Ok(contender)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let names = [
        "--sets",
        "--methods",
        "--splits",
        "--threads",
        "--fit-threads",
        "--engine",
        "--set",
        "--inner",
        "--results",
        "--reference",
        "--table",
        "--export",
    ];
    let options = Options::read(&names)?;
    let reference: String = options.get("--reference", "auto".into())?;
    if options.text("--table").is_some() {
        let lines = results::read_all(&options.list("--table", vec![])?)?;
        print!("{}", tables::markdown(&lines, &reference));
        return Ok(());
    }
    let names: Vec<String> = options.list("--sets", vec!["uci".into(), "tables".into()])?;
    let sets = names.iter().map(|name| BenchDataset::by_names(name)).collect::<Result<Vec<_>, _>>()?.concat();
    if let Some(folder) = options.text("--export") {
        return sets.iter().try_for_each(|set| set.export(Path::new(folder)));
    }
    let methods = options.list("--methods", Method::all().iter().map(|method| method.name().to_string()).collect())?;
    let common: Vec<String> = options.list("--set", vec![])?;
    let contenders =
        methods.iter().map(|text| Contender::parse(text, &common)).collect::<Result<Vec<Contender>, _>>()?;
    let option = |setting: &String| setting.split('=').next().unwrap_or_default().to_string();
    if let Some(unknown) = common.iter().map(option).find(|option| !contenders.iter().any(|one| one.method.has(option)))
    {
        return Err(format!("no method here has an option {unknown:?}").into());
    }
    let file = options.text("--results").map(Path::new);
    let cores = std::thread::available_parallelism()?.get();
    let threads = Some(options.get("--threads", 0)?).filter(|threads| *threads > 0).unwrap_or(cores);
    let engine: String = options.get("--engine", "cpu".into())?;
    let clock: fn() -> f64 = if threads == 1 && engine == "cpu" { own_cpu_seconds } else { wall_seconds };
    let engine = Trainer::new(&engine, options.get("--fit-threads", 1)?, Box::new(|text| eprintln!("{text}")))?;
    let mut lines = file.map(results::read).transpose()?.unwrap_or_default();
    let most: usize = options.get("--splits", 20)?;
    let inner = options.get("--inner", false)?;
    let divided = |set: &'static BenchDataset| -> Result<_, Box<dyn Error>> {
        let table = set.read()?;
        let splits = if inner { set.inner_splits(table.rows(), most)? } else { set.splits(table.rows(), most)? };
        Ok((set, table, splits))
    };
    let sets = sets.into_iter().map(divided).collect::<Result<Vec<_>, _>>()?;
    // One queue for all datasets, so that no core is idle at the end of each.
    let fits = sets.iter().flat_map(|(set, table, splits)| {
        let of_split = |number| contenders.iter().map(move |contender| Fit { set, table, splits, number, contender });
        (0..splits.len()).flat_map(of_split).collect::<Vec<_>>()
    });
    let pending: Vec<Fit<'_>> = fits.filter(|fit| !lines.iter().any(|line| fit.is_of(line))).collect();
    let one = |fit: Fit<'_>| -> Result<Line, String> {
        let line = fit.line(&engine, clock)?;
        file.map_or(Ok(()), |file| results::append(file, &line))?;
        Ok(line)
    };
    lines.extend(several_at_once(&pending, threads, one)?);
    print!("{}", tables::markdown(&lines, &reference));
    Ok(())
}

/// One method on one split of a set.
#[derive(Clone, Copy)]
struct Fit<'a> {
    set: &'a BenchDataset,
    table: &'a Table,
    splits: &'a [Split],
    /// Of the split.
    number: usize,
    contender: &'a Contender,
}

impl Fit<'_> {
    /// Whether a line is its result.
    fn is_of(&self, line: &Line) -> bool {
        line.set == self.set.name && line.method == self.contender.label && line.split == self.number
    }

    fn line(&self, engine: &dyn Engine, clock: fn() -> f64) -> Result<Line, String> {
        let Self { set, table, splits, number: split, contender: Contender { label, method } } = *self;
        let blame = |error| format!("{}, {label}, split {split}: {error}", set.name);
        let outcome =
            Outcome::Scored(score(set, table, &splits[split], (split, method), (engine, clock)).map_err(blame)?);
        Ok(Line { set: set.name.into(), method: label.clone(), split, outcome })
    }
}

/// Runs all tasks on several threads; stops at the first failure.
fn several_at_once<T: Copy + Sync>(
    tasks: &[T],
    threads: usize,
    task: impl Fn(T) -> Result<Line, String> + Sync,
) -> Result<Vec<Line>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Ok(Vec::new())));
    let work = || {
        while let Some(one) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let line = task(*one);
            let mut done = done.lock().expect("no thread panicked");
            match (line, &mut *done) {
                (Ok(line), Ok(lines)) => lines.push(line),
                (Err(error), Ok(_)) => *done = Err(error),
                (_, Err(_)) => {}
            }
            if done.is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    done.into_inner().expect("no thread panicked")
}

/// Fits on the training rows and scores the test rows. The seed is the number of the split.
fn score(
    set: &BenchDataset,
    table: &Table,
    split: &Split,
    (seed, method): (usize, &Method),
    (engine, clock): (&dyn Engine, fn() -> f64),
) -> negmm::Result<FitScores> {
    let inputs = set.inputs();
    let options = FitOptions::default().seed(seed as u64).inputs(inputs).engine(engine);
    let (train, test) = (table.select_rows(&split.train), table.select_rows(&split.test));
    let start = clock();
    let model = fit_with(&train, set.target, method, &options)?.model;
    let seconds = clock() - start;
    let start = clock();
    let predictions = model.predict(&test)?;
    let seconds_predict = clock() - start;
    let rows = RowScores::of(&predictions, &model.encoder().targets(&test)?, set.step)?;
    let all = rows.means(&vec![true; split.test.len()]).ok_or_else(|| negmm::Error::data("no test rows"))?;
    Ok(FitScores { all, seconds, seconds_predict, new: rows.means(&set.new_inputs(table, split)) })
}
