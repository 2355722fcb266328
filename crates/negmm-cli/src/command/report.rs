//! `negmm report`: diagnostic plots and explanations of a model, as one page or as SVG files.

use std::path::Path;

use negmm::data::{ColumnType, Warnings};
use negmm::{Error, Loaded, Model};
use negmm_report::{EvaluationSet, EvaluationSetBuilder, Report};
use serde_json::json;

use crate::arguments::{self, Shared};
use crate::command::report_predictions;
use crate::console::{eprint, print, print_json, warn};
use crate::output::Output;
use crate::output_paths::{OutputPath, check_distinct};
use crate::progress::Bar;
use crate::without_target::WithoutTarget;
use crate::{format, input};

/// Rows that are read at most for a report of several targets.
const MOST_JOINT_ROWS: usize = 65_536;

/// Endings of files of other formats, which the page would not be.
const OTHERS: [&str; 8] = [".pdf", ".png", ".svg", ".jpg", ".docx", ".md", ".csv", ".json"];

/// Runs it.
pub fn run(report: &arguments::Report, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let page = report.output.as_deref().map(|path| OutputPath { what: "report", path, option: "-o FILE" });
    let data = report.data.as_deref().or(report.of_predictions.predictions.as_deref()).unwrap_or_default();
    let model = report.model.as_deref().map(|model| ("model", model));
    let inputs: Vec<(&str, &Path)> = model.into_iter().chain([("data", Path::new(data))]).collect();
    check_distinct(shared.json, page.as_slice(), &inputs)?;
    if let Some(path) = report.output.as_deref().filter(|path| OTHERS.iter().any(|other| path.ends_with(other))) {
        return Err(Error::options(format!("{path}: the report is an HTML page (.html); --svg DIR writes its plots")));
    }
    let loaded = report.model.as_deref().map(|model| input::model(model, Some(data))).transpose()?;
    // Opened first, so that a path that cannot be written fails before the work.
    let page = report.output.as_deref().map(Output::create).transpose()?;
    let (explained, total, shown) = match &loaded {
        None => report_predictions::report(report, data, shared)?,
        Some(Loaded::Model(model)) => {
            let (evaluation, sentences) = evaluation_set(model, report, data, shared)?;
            warn(shared.quiet, &sentences);
            (Report::new(model, &evaluation, &source(data))?, evaluation.total(), evaluation.len())
        }
        Some(Loaded::Joint(model)) => {
            input::no_forecast(report.origins.first())?;
            if report.weight.is_some() {
                return Err(Error::options("--weight is not available in reports of several targets"));
            }
            let schema = super::joint::schema(model, &model.names(), Vec::new());
            let mut stream = input::stream(data, &schema.in_dialect(&report.file.dialect()?)?)?;
            let Some(chunk) = stream.next_chunk(MOST_JOINT_ROWS)? else {
                return Err(Error::data("there is no row to report").in_file(data));
            };
            warn(shared.quiet, &chunk.warnings.sentences());
            let rows = chunk.table.rows();
            (Report::of_joint(model, &chunk.table, &source(data))?, rows, rows)
        }
        Some(Loaded::Forecaster(forecaster)) => {
            let table = input::table(data, &report.file.dialect()?)?;
            let origins = input::origins(&report.origins.flags);
            (Report::of_forecaster(forecaster, &table, origins, &source(data))?, table.rows(), table.rows())
        }
    };
    if let Some(mut page) = page {
        page.write(explained.html().as_bytes())?;
        page.finish()?;
    }
    let mut pictures = Vec::new();
    if let Some(folder) = &report.svg {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        for (name, svg) in explained.svgs() {
            let path = folder.join(format!("{name}.svg")).display().to_string();
            crate::output::write(&path, svg.as_bytes())?;
            pictures.push(path);
        }
    }
    if shared.json {
        return print_json(&json!({
            "rows": total,
            "sample": shown,
            "report": report.output,
            "pictures": pictures,
        }));
    }
    let rows = match shown < total {
        true => format!("a sample of {} of {}", format::count(shown), format::counted(total, "row")),
        false => format::counted(shown, "row"),
    };
    let mut paths: Vec<String> = report.output.iter().filter(|page| *page != "-").cloned().collect();
    if let Some(folder) = &report.svg {
        paths.push(format!("{} in {}", format::counted(pictures.len(), "plot"), folder.display()));
    }
    let text = format!("{rows}, wrote {}", paths.join(" and "));
    match report.output.as_deref() {
        _ if shared.quiet => Ok(()),
        Some("-") if paths.is_empty() => Ok(()),
        Some("-") => {
            eprint(&text);
            Ok(())
        }
        _ => print(&text),
    }
}

/// The evaluation set, and warnings about its rows.
fn evaluation_set(
    model: &Model,
    report: &arguments::Report,
    data: &str,
    shared: &Shared,
) -> Result<(EvaluationSet, Vec<String>), Error> {
    let weight = report.weight.as_deref();
    let mut schema = model.encoder().schema_with_target();
    schema.columns.extend(weight.map(|name| (name.to_string(), ColumnType::number())));
    let mut stream = input::stream(data, &schema.in_dialect(&report.file.dialect()?)?)?;
    let mut warnings = Warnings::default();
    // A sequence is read as a whole, because windows cross chunks.
    if model.encoder().sequence().is_some() {
        let Some(chunk) = stream.next_chunk(usize::MAX)? else { return Err(Error::data("there are no rows")) };
        let evaluation = EvaluationSet::of_table(model, &chunk.table, weight)?;
        warnings.merge(&chunk.warnings);
        warnings.merge(evaluation.warnings());
        return Ok((evaluation, warnings.sentences()));
    }
    let bar = Bar::rows(shared);
    let (mut builder, mut without_target) = (EvaluationSetBuilder::new(model, weight), WithoutTarget::new(model));
    while let Some(chunk) = stream.next_chunk(builder.chunk())? {
        warnings.merge(&chunk.warnings);
        let rows = chunk.table.rows();
        if let Some(table) = without_target.leave_out(chunk.table)? {
            builder.add(&table)?;
        }
        bar.add(rows);
    }
    bar.clear();
    let sentences = without_target.finish()?;
    let evaluation = builder.finish()?;
    warnings.merge(evaluation.warnings());
    Ok((evaluation, [sentences, warnings.sentences()].concat()))
}

/// The name of the data on the page: the file without its folder.
pub fn source(data: &str) -> String {
    match data {
        "-" => "standard input".into(),
        path => Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy().into()),
    }
}
