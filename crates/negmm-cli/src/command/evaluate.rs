//! `negmm evaluate`: scores of predictions against observed targets, chunk by chunk.

use negmm::data::{ColumnType, Warnings};
use negmm::metrics::MetricsAccumulator;
use negmm::{Error, Loaded, Metrics};

use crate::arguments::{Evaluate, Shared};
use crate::command::forecast;
use crate::console::{print, print_json, warn};
use crate::progress::Bar;
use crate::without_target::WithoutTarget;
use crate::{format, input, text_table};

/// Rows read at once.
const CHUNK: usize = 16_384;

/// Runs it.
pub fn run(evaluate: &Evaluate, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let model = match shared.accelerated(input::model(&evaluate.model, Some(&evaluate.data))?)? {
        Loaded::Model(model) => *model,
        Loaded::Forecaster(forecaster) => return forecast::evaluate(&forecaster, evaluate, shared),
        Loaded::Joint(model) => return super::joint::evaluate(&model, evaluate, shared),
    };
    input::no_forecast(evaluate.origins.first())?;
    let mut schema = model.encoder().schema_with_target();
    schema.columns.extend(evaluate.weight.iter().map(|name| (name.clone(), ColumnType::number())));
    let mut stream = input::stream(&evaluate.data, &schema.in_dialect(&evaluate.file.dialect()?)?)?;
    let grid = model.encoder().target().grid;
    let (mut tally, mut constant, mut warnings) =
        (MetricsAccumulator::new(grid), MetricsAccumulator::new(grid), Warnings::default());
    let bar = Bar::rows(shared);
    // A sequence is read as a whole, because windows cross chunks, and so are censored targets, because the censoring distribution
    // is estimated from all rows.
    let encoder = model.encoder();
    let whole = encoder.sequence().is_some() || encoder.target().is_censored();
    let (mut without_target, mut of_whole) = (WithoutTarget::new(&model), None);
    while let Some(chunk) = stream.next_chunk(if whole { usize::MAX } else { CHUNK })? {
        warnings.merge(&chunk.warnings);
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let y = encoder.targets(&table)?;
        let weights = encoder.sample_weights(&table, evaluate.weight.as_deref())?;
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        let constantly = model.baseline(y.len());
        if let Some(known) = encoder.censored_targets(&table, &y)? {
            let score = |predictions| Metrics::of_known(predictions, &known, weights.as_deref(), grid);
            of_whole = Some((score(&predictions)?, score(&constantly)?));
        } else {
            tally.add(&predictions, &y, weights.as_deref())?;
            constant.add(&constantly, &y, weights.as_deref())?;
        }
        bar.add(y.len());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    let (metrics, baseline) = match of_whole {
        Some(scores) => scores,
        None => (tally.finish()?, constant.finish()?),
    };
    if shared.json {
        return print_json(&metrics);
    }
    let scores = text_table::scores(&[(model.method().name(), &metrics), ("constant", &baseline)]);
    let (rows, counts) = match &metrics.censored {
        Some(censored) => (censored.rows, &censored.calibration[..]),
        None => (metrics.rows, &metrics.pit[..]),
    };
    print(&format!(
        "{}, target {:?}{}\n{scores}\n\nPIT  {}  (flat: calibrated, U: too narrow, hump: too wide)",
        format::counted(rows as usize, "row"),
        model.encoder().target().name,
        text_table::of_target(model.encoder().target()),
        format::bars(counts),
    ))
}
