//! `negmm explain --acquire`: the rows whose targets would be most worth a measurement.

use negmm::data::{DrawnRows, Schema, Warnings};
use negmm::explain::{Acquired, Reference, acquire};
use negmm::{Columns, Error, Model};
use serde_json::json;

use crate::arguments::{Explain, Shared};
use crate::console::{note, print_json, warn};
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{format, input};

/// Chooses the rows and writes them.
pub fn run(explain: &Explain, model: &Model, count: usize, shared: &Shared) -> Result<(), Error> {
    let format = Format::of(&explain.output, shared.json)?.digits(explain.digits);
    let dialect = explain.file.dialect()?;
    let keep = explain.keep.clone().unwrap_or_default().0;
    let types = if format.is_typed() { input::kept_types(&explain.data, &keep, &dialect)? } else { Vec::new() };
    let mut warnings = Warnings::default();
    let bar = Bar::rows(shared);
    let mut read = |path: &str, keep: Vec<String>| -> Result<DrawnRows, Error> {
        let schema = Schema { keep, ..model.encoder().schema() }.in_dialect(&dialect)?;
        let all = input::stream(path, &schema)?.draw(usize::MAX, explain.seed, |rows| bar.add(rows))?;
        let all = all.ok_or_else(|| Error::data("there is no row of data").in_file(path))?;
        warnings.merge(&all.chunk.warnings);
        Ok(all)
    };
    let pool = read(&explain.data, keep)?;
    let towards = explain.towards.as_deref().map(|path| read(path, Vec::new())).transpose()?;
    bar.clear();
    let mut file = PredictionFile::create(&explain.output, format)?;
    let reference = towards.as_ref().map_or(Reference::Pool, |rows| Reference::Rows(&rows.chunk.table));
    let bar = Bar::whole(shared);
    let (chosen, odd) = acquire(model, &pool.chunk.table, reference, count)?;
    bar.clear();
    warnings.merge(&odd);
    let rows: Vec<usize> = chosen.iter().map(|one| one.row).collect();
    let mut kept = pool.chunk.kept.iter().map(|column| column.select(&rows)).collect::<Result<Vec<_>, _>>()?;
    input::set_types(&mut kept, &types);
    let names = ["reduction", "epistemic", "aleatoric", "left"].map(String::from);
    let numbers = |one: &Acquired| [one.reduction, one.epistemic, one.aleatoric, one.left];
    let columns = Columns::of_numbers(&kept, &names, chosen.iter().flat_map(numbers).collect())?
        .numbered(rows.iter().map(|row| pool.rows[*row] as i64 + 1).collect())?
        .with_text("verdict", chosen.iter().map(|one| one.sentence().to_string()).collect())?;
    file.write(&Encoded::new(&columns, format)?)?;
    file.finish()?;
    warn(shared.quiet, &warnings.sentences());
    let (first, last) = (chosen.first(), chosen.last());
    let [before, after] = [first.map_or(0.0, |one| one.left + one.reduction), last.map_or(0.0, |one| one.left)];
    let of = if towards.is_some() { "of --towards" } else { "of the table" };
    let sentence = format!(
        "with the targets of {} the epistemic sd of the rows {of} is expected to fall from {} to {} (root mean square)",
        format::counted(chosen.len(), "row"),
        format::number(before.sqrt()),
        format::number(after.sqrt()),
    );
    note(shared.quiet, &[sentence]);
    if shared.json && explain.output != "-" {
        let names: Vec<&str> = columns.names();
        return print_json(&json!({
            "rows": chosen.len(), "columns": names, "output": explain.output, "epistemic_before": before.sqrt(),
            "epistemic_after": after.sqrt(),
        }));
    }
    Ok(())
}
