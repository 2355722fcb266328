//! `negmm calibrate`: conformal calibration on rows that the model has not seen.

use std::path::Path;

use negmm::conformal::{Calibration, CalibrationSet, CoverageGuarantee, GroupGuarantee, LabelColumns, SetKind};
use negmm::data::{Dataset, Warnings};
use negmm::model::SeenRows;
use negmm::{Error, Loaded, Model};
use serde_json::{Value, json};

use crate::arguments::{Calibrate, Shared};
use crate::command::recalibrate;
use crate::console::{print, print_json, warn};
use crate::format::counted;
use crate::input;
use crate::output::write;
use crate::output_paths::{OutputPath, check_distinct};
use crate::progress::Bar;
use crate::row_notes;
use crate::without_target::WithoutTarget;

/// Rows read at once.
const CHUNK: usize = 16_384;

/// The coverages whose guarantees are shown.
const COVERAGES: [f64; 4] = [0.8, 0.9, 0.95, 0.99];

/// The coverage whose guarantees are shown for each group.
const OF_GROUPS: f64 = 0.9;

/// What follows from calibration rows that were learnt from.
pub const NOT_GUARANTEED: &str = "coverage is guaranteed only if the model has not seen the calibration rows";

/// Groups whose guarantees are shown.
const GROUPS_SHOWN: usize = 20;

/// Runs it.
pub fn run(calibrate: &Calibrate, shared: &Shared) -> Result<(), Error> {
    let (Some(model), Some(data)) = (&calibrate.model, &calibrate.data) else {
        let predictions = calibrate.of_predictions.predictions.as_deref().unwrap_or_default();
        return recalibrate::learn(calibrate, predictions, shared);
    };
    shared.threads();
    let path = &calibrate.output;
    let written = OutputPath { what: "model", path, option: "-o MODEL" };
    check_distinct(shared.json, &[written], &[("data", Path::new(data))])?;
    let model = match input::model(model, Some(data))? {
        Loaded::Model(model) if model.encoder().sequence().is_none() => *model,
        Loaded::Joint(model) => {
            let calibration = super::joint::calibration(calibrate, data, &model, shared)?;
            let about = format!("{} for {}", model.method().name(), model.names().join(", "));
            write(path, &model.calibrated(calibration.clone()).to_bytes()?)?;
            return show(calibrate, &calibration, (&about, SetKind::Ellipsoids), shared);
        }
        _ => {
            return Err(Error::options(
                "sequences cannot be calibrated, because their steps are not exchangeable: `negmm predict --conformal` uses \
                 adaptive conformal inference, which needs no calibration",
            ));
        }
    };
    if model.encoder().target().is_censored() {
        return Err(Error::options(
            "conformal prediction sets need observed targets, and those of this model may be censored",
        ));
    }
    let calibration = read(calibrate, data, &model, shared)?;
    let model = model.calibrated(calibration);
    write(path, &model.to_bytes()?)?;
    let Some(calibration) = model.calibration() else { return Ok(()) };
    let about = format!("{} for {:?}", model.method().name(), model.encoder().target().name);
    show(calibrate, calibration, (&about, SetKind::Intervals), shared)
}

/// Prints the guarantees of a model, `about`, with regions and sets of `kind`.
fn show(
    calibrate: &Calibrate,
    calibration: &Calibration,
    (about, kind): (&str, SetKind),
    shared: &Shared,
) -> Result<(), Error> {
    let path = &calibrate.output;
    if shared.json {
        return print_json(&json!({
            "rows": calibration.rows(), "by": calibration.by(), "weight": calibration.weight(), "towards": calibrate.towards,
            "model": path,
            "guarantees": COVERAGES.iter().flat_map(|coverage| of_coverage(calibration, kind, *coverage)).collect::<Vec<_>>(),
        }));
    }
    if path == "-" || shared.quiet { Ok(()) } else { print(&sentences(about, kind, calibration)) }
}

/// Reads the calibration set.
fn read(calibrate: &Calibrate, data: &str, model: &Model, shared: &Shared) -> Result<Calibration, Error> {
    let columns = LabelColumns { by: calibrate.by.as_deref(), weight: calibrate.weight.as_deref() };
    let schema = columns.added_to(model.encoder().schema_with_target());
    let mut stream = input::stream(data, &schema.in_dialect(&calibrate.file.dialect()?)?)?;
    let (mut set, mut warnings, bar) = (CalibrationSet::default(), Warnings::default(), Bar::rows(shared));
    let (mut without_target, mut seen) = (WithoutTarget::new(model), SeenRows::default());
    let mut tables = Vec::new();
    let target = &model.encoder().target().name;
    while let Some(chunk) = stream.next_chunk(CHUNK)? {
        warnings.merge(&chunk.warnings);
        let labels = columns.labels(&chunk)?.select(&chunk.table.rows_with(target)?);
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        if calibrate.towards.is_some() {
            tables.push(model.encoder().encode_features(&table)?.0);
        }
        if let Some(more) = model.seen_rows(&table)? {
            seen.merge(more);
        }
        set.add(&predictions, &model.encoder().targets(&table)?, labels)?;
        bar.add(table.rows());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    warn(shared.quiet, row_notes::seen(&seen, "row", NOT_GUARANTEED).as_slice());
    match &calibrate.towards {
        Some(towards) => {
            let dialect = calibrate.file.dialect()?;
            let mut stream = input::stream(towards, &model.encoder().schema().in_dialect(&dialect)?)?;
            let mut inputs = Vec::new();
            while let Some(chunk) = stream.next_chunk(CHUNK)? {
                inputs.push(model.encoder().encode_features(&chunk.table)?.0);
            }
            set.shifted(columns.by, &Dataset::concatenated(tables), &Dataset::concatenated(inputs))
        }
        None => set.calibration(columns.by, columns.weight),
    }
}

/// The guarantees of sets of this coverage as JSON.
fn of_coverage(calibration: &Calibration, kind: SetKind, coverage: f64) -> Vec<Value> {
    let of = |(name, sets): (&str, SetKind)| {
        let each = calibration.guarantees(sets, coverage).into_iter();
        let each = each.map(|GroupGuarantee { group, guarantee, .. }| {
            let bound = if let CoverageGuarantee::Split { bound } = guarantee.kind { Some(bound) } else { None };
            let unbounded = matches!(guarantee.kind, CoverageGuarantee::Unbounded { .. });
            json!({
                "sets": name, "group": calibration.by().map(|_| group), "coverage": coverage, "rows": guarantee.rows,
                "average": guarantee.average(), "bound": bound, "whole_line": unbounded,
            })
        });
        each.collect::<Vec<_>>()
    };
    [(name_of(kind), kind), ("regions", SetKind::Regions)].into_iter().flat_map(of).collect()
}

/// The name of the sets beside regions.
fn name_of(kind: SetKind) -> &'static str {
    if kind == SetKind::Ellipsoids { "ellipsoids" } else { "intervals" }
}

fn sentences(about: &str, kind: SetKind, calibration: &Calibration) -> String {
    let name = name_of(kind);
    let rows = counted(calibration.rows(), "row");
    let mut lines = vec![format!("{about}, calibrated on {rows}, which must not be training rows")];
    if calibration.is_shifted() {
        lines.push(
            "weights are estimated from the inputs: coverage is for rows with inputs such as those of the other file, off by at \
             most half the mean absolute error of the weights"
                .into(),
        );
    }
    match calibration.by() {
        None => {
            lines.push(format!("coverage of conformal {name} and regions"));
            lines.extend(COVERAGES.iter().map(|coverage| {
                let guarantees = calibration.guarantees(kind, *coverage);
                let guarantee = guarantees.first().map_or(String::new(), |first| first.guarantee.to_string());
                format!("  {coverage:<5} {guarantee}")
            }));
        }
        Some(by) => {
            lines.push(format!("coverage of conformal {name} and regions of {OF_GROUPS}, by {by:?}"));
            let guarantees = calibration.guarantees(kind, OF_GROUPS);
            let width = guarantees.iter().map(|own| own.group.chars().count()).max().unwrap_or(0);
            let more = guarantees.len().saturating_sub(GROUPS_SHOWN);
            let shown = guarantees.iter().take(GROUPS_SHOWN);
            lines.extend(shown.map(|own| format!("  {:<width$}  {}", own.group, own.guarantee)));
            if more > 0 {
                lines.push(format!("  and {} more", counted(more, "group")));
            }
        }
    }
    lines.join("\n")
}
