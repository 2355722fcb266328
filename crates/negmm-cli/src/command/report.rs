//! Responsible for `negmm report`: a model explained by pictures, as one page or as SVG files.

use std::path::Path;

use negmm::data::Kind;
use negmm::{Error, Model};
use negmm_report::{Cases, Gather, Report};
use serde_json::json;

use crate::arguments::{self, Shared};
use crate::output::{Output, replaces, say, say_json, warn};
use crate::progress::Bar;
use crate::{input, report as terminal};

/// Runs it.
pub fn run(report: &arguments::Report, shared: &Shared) -> Result<(), Error> {
    shared.threads(None)?;
    if let Some(page) = &report.output {
        if page == "-" && shared.json {
            return Err(Error::options("the page and --json cannot both go to standard output: say -o FILE"));
        }
        if replaces(page, Path::new(&report.data)) || replaces(page, &report.model) {
            return Err(Error::options(format!("the page would replace {page}: say another -o FILE")));
        }
    }
    let model = Model::load(&report.model)?;
    // Opened first: a place that cannot be written to is better known before the work than after.
    let page = report.output.as_deref().map(Output::create).transpose()?;
    let cases = cases(&model, report, shared)?;
    warn(shared.quiet, &cases.warnings().sentences());
    let explained = Report::new(&model, &cases, &source(&report.data))?;
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
        return say_json(&json!({
            "rows": cases.total(),
            "sample": cases.len(),
            "report": report.output,
            "pictures": pictures,
        }));
    }
    let rows = match cases.len() < cases.total() {
        true => format!("a sample of {} of {}", terminal::count(cases.len()), terminal::counted(cases.total(), "row")),
        false => terminal::counted(cases.len(), "row"),
    };
    let mut places: Vec<String> = report.output.iter().filter(|page| *page != "-").cloned().collect();
    if let Some(folder) = &report.svg {
        places.push(format!("{} in {}", terminal::counted(pictures.len(), "picture"), folder.display()));
    }
    let text = format!("{rows}, wrote {}", places.join(" and "));
    match report.output.as_deref() {
        Some("-") if shared.quiet || places.is_empty() => {}
        Some("-") => eprintln!("{text}"),
        _ => say(&text),
    }
    Ok(())
}

/// The rows of the data, read once.
fn cases(model: &Model, report: &arguments::Report, shared: &Shared) -> Result<Cases, Error> {
    let weight = report.weight.as_deref();
    let mut schema = model.encoder().schema_with_target();
    schema.columns.extend(weight.map(|name| (name.to_string(), Kind::Number)));
    let mut stream = input::stream(&report.data, &schema)?;
    // A sequence is read whole: windows do not end where chunks do.
    if model.encoder().sequence().is_some() {
        let chunk = stream.next_chunk(usize::MAX)?;
        let table = chunk.map_or_else(Default::default, |chunk| chunk.table);
        return Cases::of_table(model, &table, weight);
    }
    let bar = Bar::rows(shared);
    let mut gather = Gather::new(model, weight);
    while let Some(chunk) = stream.next_chunk(gather.chunk())? {
        gather.add(&chunk.table)?;
        bar.add(chunk.table.rows());
    }
    bar.clear();
    gather.finish()
}

/// What the page calls the data: the file without its folders.
pub fn source(data: &str) -> String {
    match data {
        "-" => "standard input".into(),
        path => Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy().into()),
    }
}
