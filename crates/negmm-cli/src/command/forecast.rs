//! Forecasters in `fit`, `predict`, `evaluate`, `compare` and `inspect`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use negmm::compare::Summary;
use negmm::forecast::{
    FittedForecaster, ForecastPlan, Forecaster, Forecasts, SeriesSpec, SeriesWatch, StepScores, backtest,
};
use negmm::method::Auto;
use negmm::predict::{ForecastOptions, ForecastQuery};
use negmm::{Error, FitOptions, Query, Table};
use serde_json::{Value, json};

use crate::arguments::predict::FutureFlags;
use crate::arguments::{Compare, Evaluate, Predict, Shared};
use crate::command::fit::with_bar;
use crate::config::{DataConfig, FitConfig};
use crate::console::{eprint, print, print_json, print_warnings, warn};
use crate::engine::Trainer;
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{conformal_notes, format, input, row_notes, text_table};

/// Sample paths of aggregates where no number is given.
const PATHS: usize = 1_000;
/// Steps ahead whose scores are shown, at most.
const STEPS_SHOWN: usize = 12;

/// Classical methods whose weights are shown, at most.
const MEMBERS_SHOWN: usize = 3;

/// Trains a forecaster.
pub fn train(
    table: &Table,
    roles: &SeriesSpec,
    config: &FitConfig,
    engine: &Trainer,
    shared: &Shared,
) -> Result<FittedForecaster, Error> {
    let Some(auto) = config.method.as_auto() else { return Err(Error::options("forecasts are made by auto")) };
    let bar = Bar::series(shared);
    let never = AtomicBool::new(false);
    let progress = |done: usize, of: usize| bar.done(done, of);
    let (outcome, seed) = (&config.data.inputs.target_spec, config.data.seed);
    let plan = ForecastPlan::watched(table, roles, auto, outcome, seed, &SeriesWatch::new(&progress, &never));
    bar.clear();
    let plan = plan?;
    with_bar(&plan.jobs(), engine, shared, |trained| plan.finish(trained))
}

/// The output of `fit`.
pub fn print_fitted(
    forecaster: &Forecaster,
    rows: usize,
    begin: Instant,
    path: &str,
    shared: &Shared,
) -> Result<(), Error> {
    let seconds = begin.elapsed().as_secs_f64();
    if shared.json {
        return print_json(&json!({
            "method": "auto",
            "rows": rows,
            "transform": forecaster.transform(),
            "network_weight": forecaster.network_weight(),
            "classical_weight": forecaster.classical_weight(),
            "classical_members": members(forecaster),
            "seconds": seconds,
            "scored_origins": forecaster.scored_origins(),
            "held_out": forecaster.scores(),
            "energy_scores": forecaster.energy_scores(),
            "reconciled": forecaster.is_reconciled(),
            "model": path,
        }));
    }
    let text = format!("{}\ntrained in {seconds:.1} s\n\n{}", summary(forecaster), held_out(forecaster));
    match path {
        _ if shared.quiet => Ok(()),
        "-" => {
            eprint(&text);
            Ok(())
        }
        path => print(&format!("{text}\nsaved {path}")),
    }
}

/// A summary of a forecaster.
fn summary(forecaster: &Forecaster) -> String {
    let transform = forecaster.transform();
    let seasons: Vec<String> = transform.seasonal_periods.iter().map(usize::to_string).collect();
    let seasons = match &seasons[..] {
        [] => "no seasonality".to_string(),
        [one] => format!("seasonal period {one}"),
        many => format!("seasonal periods {}", many.join(", ")),
    };
    let many = if transform.several { " for many series" } else { "" };
    format!(
        "forecasts of {:?}, {}{many}\n{}, {seasons}; baseline: {}\n{}",
        transform.spec.target,
        format::counted(transform.spec.horizon, "step") + " ahead",
        transform.frequency.words(),
        transform.naive().name(),
        weights(forecaster),
    )
}

/// The stacking weights, and those of the classical members that count most.
fn weights(forecaster: &Forecaster) -> String {
    let (networks, classical) = (forecaster.network_weight(), forecaster.classical_weight());
    let members = forecaster.classical_members();
    if members.is_empty() {
        return format!("stacking weights: networks {networks:.2}, empirical changes {:.2}", 1.0 - networks);
    }
    let recent = (1.0 - networks - classical).max(0.0);
    let mut text = format!(
        "stacking weights: networks {networks:.2}, classical methods {classical:.2}, empirical changes {recent:.2}"
    );
    if classical > 0.0 {
        let shown: Vec<String> =
            members.iter().take(MEMBERS_SHOWN).map(|(name, weight)| format!("{name} {weight:.2}")).collect();
        text.push_str(&format!("\nclassical methods: {}, …", shown.join(", ")));
    }
    text
}

/// The held-out scores, and where they come from.
fn held_out(forecaster: &Forecaster) -> String {
    let mut lines = vec![["", "CRPS", "skill", "NLL", "in 90 %"].map(str::to_string).to_vec()];
    for score in forecaster.scores() {
        let nll = score.nll.map_or("–".into(), format::number);
        let skill = score.skill.map_or(String::new(), |skill| text_table::with_error(skill.value, skill.se));
        let covered = score.coverage90.map_or("–".into(), |covered| format!("{:.1} %", 100.0 * covered));
        lines.push(vec![score.name.clone(), format::number(score.crps), skill, nll, covered]);
    }
    let heading = match forecaster.scored_origins() {
        Some(origins) => {
            let steps = match (origins.shortest, origins.longest) {
                (shortest, longest) if shortest == longest => format::counted(longest, "step"),
                (shortest, longest) => format!("{shortest} to {longest} steps"),
            };
            let of = match origins.series {
                1 => "the series".to_string(),
                many => format!("each of {many} series"),
            };
            format!(
                "scores of {} from {} in the last {steps} of {of}, by models of what came before:",
                format::counted(origins.forecasts, "forecast"),
                format::counted(origins.origins, "origin"),
            )
        }
        None if forecaster.scores().is_empty() => {
            return "no scores: the series are too short to hold out their end\n".into();
        }
        None => "scores on held-out blocks of time, between known ones (optimistic):".into(),
    };
    format!("{heading}\n{}\n{}", text_table::table(&lines), hierarchy(forecaster))
}

/// The energy scores of a hierarchy, and how its forecasts are made coherent.
fn hierarchy(forecaster: &Forecaster) -> String {
    if forecaster.transform().spec.hierarchy.is_empty() {
        return String::new();
    }
    let Some(scores) = forecaster.energy_scores() else {
        return "sums are those of joint draws; nothing was scored\n".into();
    };
    let min_t = scores.min_t.map_or(String::new(), |score| format!(", reconciled by MinT {}", format::number(score)));
    format!(
        "energy score of all series and sums together, {}: bottom-up {}{min_t}, independent series {}; {}\n",
        format::counted(scores.origins, "origin"),
        format::number(scores.bottom_up),
        format::number(scores.independent),
        if forecaster.is_reconciled() { "forecasts are reconciled by MinT" } else { "forecasts are bottom-up" },
    )
}

/// The weights of the classical members by name.
fn members(forecaster: &Forecaster) -> Value {
    forecaster.classical_members().into_iter().map(|(name, weight)| (name, json!(weight))).collect()
}

/// The description of a forecaster as JSON.
pub fn object(forecaster: &Forecaster) -> Value {
    let record = forecaster.model().record();
    json!({
        "transform": forecaster.transform(),
        "network_weight": forecaster.network_weight(),
        "classical_weight": forecaster.classical_weight(),
        "classical_members": members(forecaster),
        "scored_origins": forecaster.scored_origins(),
        "held_out": forecaster.scores(),
        "inputs": forecaster.model().encoder().feature_names(),
        "version": record.version,
        "seed": record.seed,
    })
}

/// The description of a forecaster as text.
pub fn text(forecaster: &Forecaster) -> String {
    let record = forecaster.model().record();
    let inputs = forecaster.model().encoder().inputs().len();
    format!(
        "{}\n{} from the history, trained by negmm {}, seed {}\n\n{}",
        summary(forecaster),
        format::counted(inputs, "input"),
        record.version,
        record.seed,
        held_out(forecaster)
    )
}

/// `predict`: the steps after the end of each series, or with `--test-size` or `--stride` a backtest.
pub fn predict(forecaster: &Forecaster, predict: &Predict, query: &Query, shared: &Shared) -> Result<(), Error> {
    let FutureFlags { paths, over } = predict.futures.flags;
    let keep = predict.keep.clone().unwrap_or_default().0;
    let origins = input::origins(&predict.origins.flags);
    let inside = origins.test_size.is_some() || origins.stride.is_some();
    let options = ForecastOptions::default().inside(inside).aggregate(over.is_some());
    let options = if over.is_none() { options.paths(paths.unwrap_or(0)) } else { options };
    let format = Format::of(&predict.output, shared.json)?.digits(predict.digits);
    ForecastQuery::check(query, forecaster, options)?;
    let table = input::table(&predict.data, &predict.file.dialect()?)?;
    let histories = forecaster.histories(&table)?;
    let mut portions = forecaster.batches(&table, &histories, inside.then_some(origins))?;
    let mut answered = ForecastQuery::new(query, forecaster, &table, &histories, options)?.keep(&keep, &table)?;
    // The names of the columns and the encoded rows of a portion.
    let mut answer = |mut forecasts: Forecasts| -> Result<_, Error> {
        if let Some(over) = over {
            forecasts = forecaster.over(&forecasts, over, paths.unwrap_or(PATHS), query.seed)?;
        }
        let columns = answered.columns(&forecasts)?;
        let names: Vec<String> = columns.names().into_iter().map(String::from).collect();
        Ok((names, Encoded::new(&columns, format)?))
    };
    let bar = Bar::rows(shared);
    let (mut output, mut lines) = (None, 0);
    let mut portion = portions.next().transpose()?;
    while let Some(forecasts) = portion {
        // The next portion is forecast while this one is encoded.
        let (encoded, next) = rayon::join(|| answer(forecasts), || portions.next());
        let (names, encoded) = encoded?;
        let (_, file) = match &mut output {
            Some(output) => output,
            None => output.insert((names, PredictionFile::create(&predict.output, format)?)),
        };
        lines += encoded.rows;
        bar.add(encoded.rows);
        file.write(&encoded)?;
        portion = next.transpose()?;
    }
    bar.clear();
    let Some((names, file)) = output else {
        return Err(Error::data("no series is long enough to forecast from"));
    };
    file.finish()?;
    print_warnings(shared.quiet, &histories.warnings);
    if let Some(adaptive) = answered.adaptive() {
        conformal_notes::print(shared.quiet, &conformal_notes::of_sequence(adaptive, query)?);
    }
    if shared.json && predict.output != "-" {
        return print_json(&json!({"rows": lines, "columns": names, "output": predict.output}));
    }
    Ok(())
}

/// `evaluate`: a backtest with rolling origins.
pub fn evaluate(forecaster: &Forecaster, evaluate: &Evaluate, shared: &Shared) -> Result<(), Error> {
    if evaluate.weight.is_some() {
        return Err(Error::options("--weight cannot be used with forecasts"));
    }
    if evaluate.by.is_some() {
        return Err(Error::options("--by cannot be used with forecasts"));
    }
    let origins = input::origins(&evaluate.origins.flags);
    let table = input::table(&evaluate.data, &evaluate.file.dialect()?)?;
    let histories = forecaster.histories(&table)?;
    print_warnings(shared.quiet, &histories.warnings);
    let rolling = forecaster.backtest(&table, &histories, origins)?;
    let seen = forecaster.seen_steps(&histories, origins);
    let sentence = seen.and_then(|seen| row_notes::seen(&seen, "step", "these scores are not of the future"));
    warn(shared.quiet, sentence.as_slice());
    if shared.json {
        let mut value = json!(rolling);
        value["training_rows"] = json!(seen.map(|seen| seen.training_rows().unwrap_or(0)));
        return print_json(&value);
    }
    let verdict = rolling.best_baseline().map_or(String::new(), |best| {
        let than = format!("the best baseline, {:?}", best.name);
        match rolling.scores[0].crps < best.crps {
            true => {
                let error = rolling.skill.map_or(String::new(), |skill| format!(" ± {:.1}", 100.0 * skill.se));
                format!("CRPS {:.1}{error} % below that of {than}", 100.0 * (1.0 - rolling.scores[0].crps / best.crps))
            }
            false => format!("no better than {than}"),
        }
    });
    let mut text = format!(
        "{} from {}\n{}\n{verdict}",
        format::counted(rolling.scores[0].rows, "forecast"),
        format::counted(rolling.origins, "origin"),
        scores(&rolling.scores, |score| score.name.clone(), ""),
    );
    let adaptive = &rolling.adaptive;
    let asked = 100.0 * adaptive.coverage;
    text.push_str(&format!(
        "\nadaptive {asked} % intervals: coverage {:.1} %{}; mean width {}",
        100.0 * adaptive.empirical,
        // A bound beyond the coverage itself says nothing: there are too few origins.
        match adaptive.bound < 1.0 - adaptive.coverage.min(0.5) {
            true => format!(", guaranteed within {:.1} % of {asked} %", 100.0 * adaptive.bound),
            false => " (too few origins for a guarantee)".into(),
        },
        format::number(adaptive.width),
    ));
    if adaptive.unbounded > 0.0 {
        text.push_str(&format!(" except for {:.1} % that are unbounded", 100.0 * adaptive.unbounded));
    }
    if let Some(whole) = rolling.whole {
        text.push_str(&format!(
            "\nenergy score of all series and sums together, from {}: {} (independent series: {})",
            format::counted(whole.origins, "origin"),
            format::number(whole.energy_score),
            format::number(whole.independent),
        ));
    }
    if rolling.steps.len() > 1 {
        let every = rolling.steps.len().div_ceil(STEPS_SHOWN);
        let shown: Vec<StepScores> = rolling.steps.iter().step_by(every).cloned().collect();
        let step = |score: &StepScores| score.step.map_or(String::new(), |step| step.to_string());
        text.push_str(&format!("\n\nby step ahead:\n{}", scores(&shown, step, "step")));
    }
    print(&text)
}

/// `compare`: a backtest of forecasters that are refitted as time goes on, beside naive forecasts.
pub fn compare(
    arguments: &Compare,
    data: &DataConfig,
    (roles, auto): (&SeriesSpec, &Auto),
    folds: usize,
    shared: &Shared,
) -> Result<(), Error> {
    let engine = shared.trainer()?;
    let table = input::table(arguments.data.as_deref().unwrap_or_default(), &data.dialect)?;
    let options = FitOptions::default().seed(data.seed).engine(&engine).inputs(data.inputs.clone());
    let begin = Instant::now();
    let rolled = backtest(&table, roles, auto, folds, None, &options)?;
    let seconds = begin.elapsed().as_secs_f64();
    if shared.json {
        return print_json(&json!({"folds": rolled, "seconds": seconds}));
    }
    let mut lines = vec![["", "CRPS", "NLL", "in 95 %", "MASE"].map(str::to_string).to_vec()];
    for at in 0..rolled[0].scores.len() {
        // A seasonal baseline may exist in some blocks only: those that all blocks have are compared.
        let name = &rolled[0].scores[at].name;
        let own: Vec<&StepScores> =
            rolled.iter().filter_map(|fold| fold.scores.iter().find(|score| score.name == *name)).collect();
        if own.len() < rolled.len() {
            continue;
        }
        let summary =
            |of: &dyn Fn(&StepScores) -> f64| Summary::of(&own.iter().map(|score| of(score)).collect::<Vec<f64>>());
        let cell = |of: &dyn Fn(&StepScores) -> f64| {
            let Summary { mean, se, .. } = summary(of);
            format!("{} ({})", format::number(mean), format::number(se))
        };
        let coverage = format!("{:.1} %", 100.0 * summary(&|score| score.coverage95).mean);
        lines.push(vec![
            name.clone(),
            cell(&|score| score.crps),
            cell(&|score| score.nll),
            coverage,
            cell(&|score| score.mase),
        ]);
    }
    print(&format!(
        "{:?}, {} ahead, {} of the last half, each forecast by a model trained on everything before it, {seconds:.1} s\n\n{}\n\nmean (standard error) over blocks",
        roles.target,
        format::counted(roles.horizon, "step"),
        format::counted(folds, "block"),
        text_table::table(&lines)
    ))
}

/// A table with a line for each of the scores.
fn scores(scores: &[StepScores], name: impl Fn(&StepScores) -> String, heading: &str) -> String {
    let headings = [heading, "CRPS", "NLL", "in 95 %", "width 95 %", "MASE", "WIS", "quantile loss"];
    let mut lines = vec![headings.map(str::to_string).to_vec()];
    for score in scores {
        let numbers = [score.width95, score.mase, score.wis, score.wql].map(format::number);
        let mut line = vec![name(score), format::number(score.crps), format::number(score.nll)];
        line.push(format!("{:.1} %", 100.0 * score.coverage95));
        line.extend(numbers);
        lines.push(line);
    }
    text_table::table(&lines)
}
