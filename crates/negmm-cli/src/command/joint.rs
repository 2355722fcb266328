//! Models of several targets: what `fit`, `predict`, `evaluate` and `inspect` do with them.

use std::time::Instant;

use negmm::conformal::{Calibration, CalibrationSet, LabelColumns, Labels};
use negmm::data::{ColumnType, Dataset, Schema, Warnings};
use negmm::joint::{FittedJoint, JointForm, JointMetrics, REGION_COVERAGES, fit_joint_with};
use negmm::model::SeenRows;
use negmm::predict::{GivenTarget, JointQuery, Number, TargetBox};
use negmm::train::Callbacks;
use negmm::{Error, FitOptions, JointModel, Query, Table};
use negmm_report::Report;
use serde_json::{Value, json};

use crate::arguments::{Calibrate, Fit, Predict, Shared};
use crate::command::calibrate::NOT_GUARANTEED;
use crate::config::FitConfig;
use crate::console::{eprint, print, print_json, print_warnings, warn};
use crate::engine::Trainer;
use crate::output::Output;
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{format, input, row_notes, text_table};

/// Rows that are predicted at once: joint distributions are large.
const CHUNK: usize = 1024;

/// The files that a fit writes.
pub struct Outputs {
    /// The model.
    pub model: Output,
    /// The held-out predictions, and the report.
    pub held_out: Option<Output>,
    pub report: Option<Output>,
}

/// Fits a joint model and saves it.
pub fn fit(
    fit: &Fit,
    (config, targets): (&FitConfig, &[String]),
    (table, outputs): (&Table, Outputs),
    engine: &Trainer,
    shared: &Shared,
) -> Result<(), Error> {
    let data = &config.data;
    let start = Instant::now();
    let bar = Bar::checks(shared);
    let watch = Callbacks { progress: &|_| bar.add(1), ..Callbacks::nothing() };
    let options = FitOptions::default().seed(data.seed).inputs(data.inputs.clone()).engine(engine).watch(watch);
    let names: Vec<&str> = targets.iter().map(String::as_str).collect();
    let fitted = fit_joint_with(table, &names, &config.method, &options);
    bar.clear();
    let fitted = fitted?;
    let FittedJoint { model, warnings, .. } = &fitted;
    let seconds = start.elapsed().as_secs_f64();
    let left_out = table.rows() - model.record().rows;
    if left_out > 0 {
        let (have, are) = if left_out == 1 { ("has", "is") } else { ("have", "are") };
        warn(
            shared.quiet,
            &[format!("{} {have} none of the targets and {are} left out", format::counted(left_out, "row"))],
        );
    }
    print_warnings(shared.quiet, warnings);
    let Outputs { model: mut output, held_out, report } = outputs;
    output.write(&model.to_bytes()?)?;
    if let Some(mut file) = held_out {
        file.write(&super::held_out::joint_csv(&fitted, table)?)?;
        file.finish()?;
    }
    output.finish()?;
    if let Some(mut page) = report {
        let report = Report::of_joint_fit(&fitted, table, &super::report::source(&fit.data))?;
        page.write(report.html().as_bytes())?;
        page.finish()?;
    }
    let path = fit.output.display().to_string();
    let record = model.record();
    if shared.json {
        return print_json(&json!({
            "method": model.method().name(),
            "targets": model.names(),
            "rows": record.rows,
            "features": model.encoder().features(),
            "parameters": model.parameters(),
            "seconds": seconds,
            "forms": forms(model),
            "validation": record.validation,
            "baseline": record.baseline,
            "model": path,
        }));
    }
    let text = format!("{}\ntrained in {seconds:.1} s{}", summary(model), scores_text(model));
    if shared.quiet {
        return Ok(());
    }
    if path == "-" || fit.held_out.as_deref() == Some("-") {
        eprint(&text);
        return Ok(());
    }
    let mut paths = vec![path.as_str()];
    paths.extend(fit.held_out.as_deref());
    paths.extend(fit.report.as_deref());
    print(&format!("{text}\n\nsaved {}", paths.join(" and ")))
}

/// The weights of the forms, by name.
fn forms(model: &JointModel) -> Value {
    let energy = |name: &str| model.record().forms.iter().find(|(form, _)| form == name).map(|(_, energy)| *energy);
    let parts = model.parts().iter().map(|part| {
        let name = part.form.name();
        json!({"form": name, "weight": part.weight, "held_out_energy": energy(name)})
    });
    parts.collect()
}

/// The held-out scores, where there are some.
fn scores_text(model: &JointModel) -> String {
    let record = model.record();
    let (Some(validation), Some(baseline)) = (&record.validation, &record.baseline) else { return String::new() };
    let heading = match model.method().as_auto() {
        Some(_) => format!(
            "held-out scores on {}, each predicted by models that were not trained on it (the model itself is usually better):",
            format::counted(validation.rows, "row")
        ),
        None => format!(
            "scores on the {} that selected the epoch (slightly optimistic):",
            format::counted(validation.rows, "row")
        ),
    };
    format!("\n\n{heading}\n{}", scores(&model.names(), &[(model.method().name(), validation), ("constant", baseline)]))
}

/// Scores of joint predictions, and of each target.
pub fn scores(targets: &[&str], lines: &[(&str, &JointMetrics)]) -> String {
    let regions = REGION_COVERAGES.map(|coverage| format!("in {:.0} %", 100.0 * coverage));
    let heading = ["", "energy", "joint NLL", "variogram", "Dawid-Seb.", "CRPS of sum"].map(str::to_string);
    let mut joint = vec![heading.into_iter().chain(regions).collect::<Vec<String>>()];
    for (name, metrics) in lines {
        let of = [metrics.energy, metrics.nll, metrics.variogram, metrics.dawid_sebastiani, metrics.crps_of_sum];
        let coverage = metrics.coverage.iter().map(|coverage| format!("{:.1} %", 100.0 * coverage));
        joint.push([name.to_string()].into_iter().chain(of.map(format::number)).chain(coverage).collect());
    }
    let columns = lines.iter().flat_map(|(name, _)| [format!("CRPS, {name}"), format!("in 90 %, {name}")]);
    let mut each = vec![["".to_string()].into_iter().chain(columns).collect::<Vec<String>>()];
    for (target, name) in targets.iter().enumerate() {
        let cells = lines.iter().flat_map(|(_, metrics)| {
            let inside = 100.0 * metrics.coverage_of_targets[target];
            [format::number(metrics.crps[target]), format!("{inside:.1} %")]
        });
        each.push([name.to_string()].into_iter().chain(cells).collect());
    }
    format!(
        "{}\n(energy, variogram and sum of standardised targets; in 50 %: of highest-density regions)\n\n{}",
        text_table::table(&joint),
        text_table::table(&each)
    )
}

/// A summary of the model.
fn summary(model: &JointModel) -> String {
    let encoder = model.encoder();
    let names: Vec<String> = model.names().iter().map(|name| format!("{name:?}")).collect();
    let mut text = format!(
        "{} for {} together from {} ({}), {}\n{}",
        model.method().name(),
        names.join(", "),
        format::counted(encoder.inputs().len(), "input"),
        format::counted(encoder.features(), "feature"),
        format::counted(model.record().rows, "row"),
        format::counted(model.parameters(), "parameter"),
    );
    for part in model.parts() {
        let JointForm::Networks { members, head } = &part.form else { continue };
        let factor = match head.rank {
            None => "full covariances".to_string(),
            Some(rank) => format!("diagonal covariances plus rank {rank}"),
        };
        let networks = format::counted(members.len(), "network");
        text.push_str(&format!(", {networks} of {} with {factor}", format::counted(head.components, "component")));
    }
    if model.parts().len() > 1 {
        let list: Vec<String> =
            model.parts().iter().map(|part| format!("{} {:.2}", part.form.name(), part.weight)).collect();
        text.push_str(&format!("\nstacking weights: {}", list.join(", ")));
    }
    for target in model.targets() {
        let notes = target.notes();
        text.push_str(&notes.iter().map(|note| format!("\n{:?}: {note}", target.name)).collect::<String>());
    }
    text
}

/// The description as text.
pub fn text(model: &JointModel) -> String {
    let record = model.record();
    let mut text = summary(model);
    text.push_str(&format!("\ntrained by negmm {}, seed {}\n\n", record.version, record.seed));
    let targets = model.targets().iter().map(|target| {
        vec![
            target.name.clone(),
            format!("target, mean {}, sd {}", format::number(target.mean), format::number(target.scale)),
        ]
    });
    let inputs = model.encoder().inputs().iter();
    let inputs = inputs.map(|input| vec![input.name.clone(), super::inspect::describe(input)]);
    text.push_str(&text_table::left_aligned(&targets.chain(inputs).collect::<Vec<_>>()));
    let settings = model.method().options().into_iter().map(|option| vec![option.name.to_string(), option.value]);
    text.push_str(&format!("\n\n{}", text_table::left_aligned(&settings.collect::<Vec<_>>())));
    if !record.forms.is_empty() {
        let lines: Vec<Vec<String>> = record
            .forms
            .iter()
            .map(|(name, energy)| vec![name.clone(), format!("held-out energy score {}", format::number(*energy))])
            .collect();
        text.push_str(&format!("\n\n{}", text_table::left_aligned(&lines)));
    }
    if model.sigma_scales().iter().any(|scale| *scale != 1.0) {
        let list: Vec<String> = model.sigma_scales().iter().map(|scale| format!("{scale:.3}")).collect();
        let also =
            if model.direction_scales().is_some() { ", and factors along main directions of the errors" } else { "" };
        text.push_str(&format!("\n\nsds of the targets times {}{also}", list.join(", ")));
    }
    text.push_str(&scores_text(model));
    text
}

/// The description as JSON.
pub fn object(model: &JointModel) -> Value {
    json!({
        "method": model.method().to_json(),
        "targets": model.targets(),
        "inputs": model.encoder().inputs(),
        "features": model.encoder().feature_names(),
        "parameters": model.parameters(),
        "forms": forms(model),
        "sigma_scales": model.sigma_scales(),
        "direction_scales": model.direction_scales(),
        "record": model.record(),
    })
}

/// What the flags ask of a joint model.
fn query(predict: &Predict, query: &Query) -> Result<JointQuery, Error> {
    let mut joint = JointQuery::new(query.clone());
    joint.combinations.clone_from(&predict.joint.flags.combine);
    let given = predict.joint.flags.given.iter().flat_map(|names| &names.0);
    joint.given = given.map(|text| GivenTarget::parse(text)).collect::<Result<_, _>>()?;
    joint.correlation = predict.joint.flags.correlation;
    joint.density = predict.joint.flags.density;
    joint.boxes = predict.joint.flags.boxes.iter().map(|text| TargetBox::parse(text)).collect::<Result<_, _>>()?;
    let coverages = |name: &str, text: &Option<String>| match text {
        Some(text) => Number::list(name, text),
        None => Ok(Vec::new()),
    };
    joint.regions = coverages("joint-region", &predict.joint.flags.joint_region)?;
    joint.ellipsoids = coverages("ellipsoid", &predict.joint.flags.ellipsoid)?;
    joint.conformal = predict.conformal;
    joint.query.conformal = false;
    Ok(joint)
}

/// The columns that are read: inputs, then these targets, then kept columns.
pub fn schema(model: &JointModel, targets: &[&str], keep: Vec<String>) -> Schema {
    let mut schema = model.encoder().schema();
    for target in model.targets().iter().filter(|target| targets.contains(&target.name.as_str())) {
        let column_type = target.read_as.clone().unwrap_or_else(ColumnType::number);
        schema.columns.push((target.name.clone(), column_type));
    }
    schema.keep = keep;
    schema
}

/// Labels, with weights that follow from the inputs where the calibration has such.
fn of_calibration(
    calibration: &Calibration,
    labels: Labels,
    model: &JointModel,
    table: &Table,
) -> Result<Labels, Error> {
    if !calibration.is_shifted() {
        return Ok(labels);
    }
    let (data, _) = model.encoder().encode_features(table)?;
    Ok(Labels { weights: calibration.shift_weights(&data).unwrap_or_default(), ..labels })
}

/// Reads rows that the model has not seen, for `calibrate`.
pub fn calibration(
    calibrate: &Calibrate,
    data: &str,
    model: &JointModel,
    shared: &Shared,
) -> Result<Calibration, Error> {
    let columns = LabelColumns { by: calibrate.by.as_deref(), weight: calibrate.weight.as_deref() };
    let dialect = calibrate.file.dialect()?;
    let schema = columns.added_to(schema(model, &model.names(), Vec::new()));
    let mut stream = input::stream(data, &schema.in_dialect(&dialect)?)?;
    let (mut set, mut warnings, bar) = (CalibrationSet::default(), Warnings::default(), Bar::rows(shared));
    let (mut tables, mut left_out, mut seen) = (Vec::new(), 0, SeenRows::default());
    let d = model.targets().len();
    while let Some(chunk) = stream.next_chunk(CHUNK)? {
        warnings.merge(&chunk.warnings);
        let y = model.observed(&chunk.table)?;
        let complete = |row: &usize| y[row * d..][..d].iter().all(|y| y.is_finite());
        let rows: Vec<usize> = (0..chunk.table.rows()).filter(complete).collect();
        left_out += chunk.table.rows() - rows.len();
        bar.add(chunk.table.rows());
        if rows.is_empty() {
            continue;
        }
        let labels = columns.labels(&chunk)?.select(&rows);
        let table = chunk.table.select_rows(&rows);
        let (predictions, odd) = model.predict_with_warnings(&table)?;
        warnings.merge(&odd);
        seen.merge(model.seen_rows(&table)?.unwrap_or_default());
        if calibrate.towards.is_some() {
            tables.push(model.encoder().encode_features(&table)?.0);
        }
        let y: Vec<f64> = rows.iter().flat_map(|row| &y[row * d..][..d]).copied().collect();
        predictions.add_to(&mut set, &y, labels)?;
    }
    bar.clear();
    let mut sentences = warnings.sentences();
    if left_out > 0 {
        let (lack, are) = if left_out == 1 { ("lacks", "is") } else { ("lack", "are") };
        sentences.push(format!("{} {lack} a target and {are} left out", format::counted(left_out, "row")));
    }
    sentences.extend(row_notes::seen(&seen, "row", NOT_GUARANTEED));
    warn(shared.quiet, &sentences);
    let Some(towards) = &calibrate.towards else { return set.calibration(columns.by, columns.weight) };
    let mut stream = input::stream(towards, &model.encoder().schema().in_dialect(&dialect)?)?;
    let mut inputs = Vec::new();
    while let Some(chunk) = stream.next_chunk(CHUNK)? {
        inputs.push(model.encoder().encode_features(&chunk.table)?.0);
    }
    if tables.is_empty() || inputs.is_empty() {
        return Err(Error::data("conformal regions towards other rows need rows of both files, and there are none"));
    }
    set.shifted(columns.by, &Dataset::concatenated(tables), &Dataset::concatenated(inputs))
}

/// Predicts, row by row.
pub fn predict(model: &JointModel, predict: &Predict, asked: &Query, shared: &Shared) -> Result<(), Error> {
    input::no_forecast(predict.futures.first().or(predict.origins.first()))?;
    let joint = query(predict, asked)?;
    joint.check(model)?;
    let keep = predict.keep.clone().unwrap_or_default().0;
    let needed = joint.needed(model);
    let path = &predict.output;
    let format = Format::of(path, shared.json)?.digits(predict.digits);
    let dialect = predict.file.dialect()?;
    let types = if format.is_typed() { input::kept_types(&predict.data, &keep, &dialect)? } else { Vec::new() };
    let schema = schema(model, &needed, keep.clone());
    let calibration = model.calibration().filter(|_| joint.conformal);
    let labels = calibration.map_or(LabelColumns::default(), LabelColumns::of);
    let schema = labels.added_to(schema);
    let mut stream = input::stream(&predict.data, &schema.in_dialect(&dialect)?)?;
    let mut output = PredictionFile::create(path, format)?;
    let bar = Bar::rows(shared);
    let (mut warnings, mut rows, mut names) = (Warnings::default(), 0, Vec::new());
    while let Some(mut chunk) = stream.next_chunk(CHUNK)? {
        input::set_types(&mut chunk.kept, &types);
        let (predictions, odd) = model.predict_with_warnings(&chunk.table)?;
        warnings.merge(&chunk.warnings);
        warnings.merge(&odd);
        let observed = needed
            .iter()
            .map(|name| match chunk.table.numbers(name) {
                Some(numbers) => numbers.map(|numbers| numbers.to_vec()),
                None => Err(chunk.table.locate(Error::data(chunk.table.absent(&[name])))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let labels = match calibration {
            Some(calibration) => of_calibration(calibration, labels.labels(&chunk)?, model, &chunk.table)?,
            None => Labels::default(),
        };
        let calibrated = calibration.map(|calibration| (calibration, &labels));
        let columns = joint
            .columns(&predictions, &observed, &needed, calibrated, (rows, &chunk.kept[..keep.len()]))
            .map_err(|error| chunk.table.locate(error))?;
        names = columns.names().into_iter().map(str::to_string).collect();
        output.write(&Encoded::new(&columns, format)?)?;
        rows += chunk.table.rows() as u64;
        bar.add(chunk.table.rows());
    }
    bar.clear();
    output.finish()?;
    warn(shared.quiet, &warnings.sentences());
    if shared.json && path != "-" {
        return print_json(&json!({"rows": rows, "columns": names, "output": path}));
    }
    Ok(())
}
