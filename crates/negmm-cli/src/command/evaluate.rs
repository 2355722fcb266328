//! Responsible for `negmm evaluate`: score a model's predictions against known targets, chunk after chunk.

use negmm::data::{Reading, Warnings};
use negmm::metrics::Tally;
use negmm::{Error, Model};

use crate::arguments::{Evaluate, Shared};
use crate::output::{say, say_json, warn};
use crate::progress::Bar;
use crate::without_target::WithoutTarget;
use crate::{input, report};

/// Rows read at once.
const CHUNK: usize = 16_384;

/// Runs it.
pub fn run(evaluate: &Evaluate, shared: &Shared) -> Result<(), Error> {
    shared.threads(None)?;
    let model = Model::load(&evaluate.model)?;
    let mut schema = model.encoder().schema_with_target();
    schema.columns.extend(evaluate.weight.iter().map(|name| (name.clone(), Reading::number())));
    let mut stream = input::stream(&evaluate.data, &schema.in_dialect(&input::dialect(&evaluate.file)?)?)?;
    let grid = model.encoder().target().grid;
    let (mut tally, mut constant, mut warnings) = (Tally::new(grid), Tally::new(grid), Warnings::default());
    let bar = Bar::rows(shared);
    // A sequence is read whole: windows do not end where chunks do.
    let at_once = if model.encoder().sequence().is_some() { usize::MAX } else { CHUNK };
    let mut without_target = WithoutTarget::new(&model);
    while let Some(chunk) = stream.next_chunk(at_once)? {
        warnings.merge(&chunk.warnings);
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let y = model.encoder().targets(&table)?;
        let weights = model.encoder().sample_weights(&table, evaluate.weight.as_deref())?;
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        tally.add(&predictions, &y, weights.as_deref())?;
        constant.add(&model.baseline(y.len()), &y, weights.as_deref())?;
        bar.add(y.len());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    let (metrics, baseline) = (tally.finish()?, constant.finish()?);
    if shared.json {
        return say_json(&metrics);
    }
    let scores = report::scores(&[(model.method().name(), &metrics), ("constant", &baseline)]);
    let rows = report::counted(metrics.rows as usize, "row");
    say(&format!(
        "{rows}, target {:?}{}\n{scores}\n\nPIT  {}  (flat when calibrated, U when too narrow, hump when too wide)",
        model.encoder().target().name,
        report::of_target(model.encoder().target()),
        report::bars(&metrics.pit),
    ));
    Ok(())
}
