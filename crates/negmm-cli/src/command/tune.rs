//! `negmm tune`: hyperparameter search by cross-validation on one file; saves the best model.

use std::path::Path;
use std::time::Instant;

use negmm::compare::{JointTask, Metric, Summary, Task};
use negmm::data::ColumnRoles;
use negmm::joint::fit_joint_with;
use negmm::model::plan;
use negmm::train::{Callbacks, Engine, train};
use negmm::tune::{Candidate, MetricSummary, RunOptions, Search, Space, Strategy, choosers, joint_choosers};
use negmm::{Error, FitOptions, Method, Table};
use serde_json::{Value, json};

use crate::arguments::tune::SearchName;
use crate::arguments::{Shared, Tune};
use crate::config::{DataConfig, TuneConfig};
use crate::console::{print, print_json, print_warnings, warn};
use crate::output::{Output, write};
use crate::output_paths::{OutputPath, check_distinct};
use crate::progress::Bar;
use crate::{format, input, journal, text_table};

/// Configurations to draw where no number is given.
const DRAWS: usize = 30;
/// Lines of the ranking to show.
const SHOWN: usize = 10;

/// Runs it.
pub fn run(arguments: &Tune, shared: &Shared) -> Result<(), Error> {
    let config = TuneConfig::new(arguments)?;
    let part = journal::Part::new(&arguments.part);
    let engine = shared.trainer()?;
    let (table, drawn) =
        input::training_table(&arguments.data, &config.data.dialect, config.data.sample, config.data.seed)?;
    warn(shared.quiet, &drawn);
    let several = arguments.data_flags.columns.several_targets(&table);
    let config = match &several {
        Some(_) => config.of_several_targets(arguments)?,
        None => config,
    };
    let TuneConfig { data, methods, splitting } = config;
    let DataConfig { target, inputs, seed, .. } = &data;
    let space = space(arguments, methods)?;
    let strategy = strategy(arguments, &space)?;
    let names: Vec<&str> = several.iter().flatten().map(String::as_str).collect();
    let by = chooser(arguments.by.as_deref(), inputs, !names.is_empty())?;
    // Checks the columns before there is a journal.
    let table = if names.is_empty() {
        let (table, sentences) = input::with_target(table, target, inputs)?;
        warn(shared.quiet, &sentences);
        Task::new(&table, target, inputs)?;
        table
    } else {
        JointTask::new(&table, &names, inputs)?;
        table
    };
    let splits = splitting.splits(&table, inputs, *seed)?;
    let search = Search::new(&table, target, inputs, &space, &splits).strategy(strategy).seed(*seed);
    let search = if names.is_empty() { search } else { search.targets(&names) }.by(by);
    let folder = &arguments.journal;
    let model = arguments.output.clone().unwrap_or_else(|| folder.join("best.negmm")).display().to_string();
    let (trials, result_file) = (folder.join(part.shard.file_name()), folder.join("result.json"));
    let inputs = [("data", Path::new(&arguments.data)), ("journal", &trials), ("result", &result_file)];
    check_distinct(shared.json, &[OutputPath { what: "model", path: &model, option: "-o MODEL" }], &inputs)?;
    let mut journal = part.open(folder, &search.plan())?;
    // Fails before the search if the path cannot be written.
    drop(Output::create(&model)?);
    let bar = Bar::trials(shared);
    let progress = |done: usize, of: usize| bar.at(done, of);
    let options = RunOptions::default().engine(&engine).shard(part.shard).progress(&progress);
    let start = Instant::now();
    let ranking = search.run(&mut journal, &options);
    bar.clear();
    let Some(ranking) = ranking? else {
        return print(&format!(
            "the trials of shard {} that can run now are in {}; when the other shards are done, merge their journals with --merge",
            part.shard,
            folder.display()
        ));
    };
    let best = &ranking[0].configuration.method;
    save_best(&table, &search, best, &model, &engine, shared)?;
    let result =
        json!({ "by": by.name(), "splits": splits.len(), "ranking": ranking.iter().map(entry).collect::<Vec<_>>() });
    write(&result_file.display().to_string(), format!("{result:#}\n").as_bytes())?;
    let seconds = start.elapsed().as_secs_f64();
    if shared.json {
        return print_json(&json!({ "result": result, "model": model, "seconds": seconds }));
    }
    print(&format!(
        "{}, {}: {} on {}, {seconds:.1} s\n\n{}\n\nmean (standard error) over splits, best {} first\nbest model, refitted to all rows: {model}",
        format::counted(table.rows(), "row"),
        match &several {
            Some(names) => format!("targets {}", super::compare::quoted_list(names)),
            None => format!("target {target:?}"),
        },
        format::counted(ranking.len(), "configuration"),
        format::counted(splits.len(), "split"),
        table_text(&ranking, search.scores()),
        super::compare::heading(by),
    ))
}

/// The score to optimise, by its name.
fn chooser(name: Option<&str>, inputs: &ColumnRoles, several: bool) -> Result<Metric, Error> {
    let choosers = if several { joint_choosers() } else { choosers(inputs) };
    let name = name.unwrap_or(if several { "energy" } else { "nll" });
    choosers.iter().copied().find(|metric| metric.name() == name).ok_or_else(|| {
        let names: Vec<&str> = choosers.iter().map(|metric| metric.name()).collect();
        let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
        let of = match () {
            () if several => " for several targets",
            () if inputs.target_spec.is_censored() => " for censored targets",
            () => "",
        };
        Error::options(format!("by must be {} or {last}{of}, found {name:?}", others.join(", ")))
    })
}

fn space(arguments: &Tune, methods: Vec<Method>) -> Result<Space, Error> {
    if arguments.tries.is_empty() {
        return Space::usual(methods);
    }
    Space::new(methods, arguments.tries.iter().map(|trial| trial.dimension.clone()).collect())
}

fn strategy(arguments: &Tune, space: &Space) -> Result<Strategy, Error> {
    let Tune { trials, factor, .. } = *arguments;
    if factor < 2 {
        return Err(Error::options(format!("factor must be at least 2, found {factor}")));
    }
    let usual = if space.has_range() || trials.is_some() { SearchName::Random } else { SearchName::Grid };
    match arguments.search.unwrap_or(usual) {
        SearchName::Grid if trials.is_some() => {
            Err(Error::options("--trials cannot be used with --search grid, which tries all combinations"))
        }
        SearchName::Grid => Ok(Strategy::Grid),
        SearchName::Random => Ok(Strategy::Random { draws: trials.unwrap_or(DRAWS) }),
        SearchName::Halving => Ok(Strategy::Halving { draws: trials.or(space.has_range().then_some(DRAWS)), factor }),
    }
}

/// Refits the best configuration to all rows and saves it.
fn save_best(
    table: &Table,
    search: &Search<'_>,
    method: &Method,
    path: &str,
    engine: &dyn Engine,
    shared: &Shared,
) -> Result<(), Error> {
    if !search.targets.is_empty() {
        let options = FitOptions::default().seed(search.seed).inputs(search.inputs.clone()).engine(engine);
        let fitted = fit_joint_with(table, search.targets, method, &options)?;
        print_warnings(shared.quiet, &fitted.warnings);
        return write(path, &fitted.model.to_bytes()?);
    }
    let plan = plan(table, search.target, method, search.inputs, search.seed)?;
    let trained = train(engine, &plan.jobs(), &Callbacks::nothing());
    let fitted = plan.finish(trained)?;
    print_warnings(shared.quiet, &fitted.warnings);
    write(path, &fitted.model.to_bytes()?)
}

fn table_text(ranking: &[Candidate], scores: &[Metric]) -> String {
    let headings = scores.iter().map(|metric| super::compare::heading(*metric));
    let mut lines = vec![[""].into_iter().chain(headings).chain([""]).map(str::to_string).collect::<Vec<_>>()];
    for candidate in ranking.iter().take(SHOWN) {
        let mut line = vec![candidate.configuration.to_string()];
        for &metric in scores {
            let cell = |Summary { mean, se, .. }: Summary| match metric {
                Metric::Coverage | Metric::RegionCoverage => format!("{:.1} % ({:.1})", 100.0 * mean, 100.0 * se),
                _ => format!("{} ({})", format::number(mean), format::number(se)),
            };
            line.push(candidate.score(metric).map_or("-".into(), cell));
        }
        line.push(match &candidate.failed {
            Some(message) => message.clone(),
            None if candidate.fraction < 1.0 => format!("on 1/{:.0} of the rows", 1.0 / candidate.fraction),
            None => String::new(),
        });
        lines.push(line);
    }
    let more = ranking.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
    text_table::table(&lines) + &more
}

/// An entry of the result, without anything that differs between runs of the same search.
fn entry(candidate: &Candidate) -> Value {
    let mut entry = json!({
        "method": candidate.configuration.method.name(),
        "settings": candidate.configuration.settings.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "row_fraction": candidate.fraction,
        "failed": candidate.failed,
    });
    for MetricSummary { metric, summary: Summary { mean, sd, se, .. } } in &candidate.scores {
        entry[metric.name()] = json!({ "mean": mean, "sd": sd, "se": se });
    }
    entry
}
