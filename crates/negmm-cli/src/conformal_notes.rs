//! Sentences about the coverage of conformal prediction sets.

use negmm::conformal::{AdaptiveConformal, Calibration, GroupGuarantee, SetKind, SetSpec};
use negmm::predict::Number;
use negmm::{Error, Query};

use crate::console;
use crate::format::counted;

/// Prints sentences to standard error.
pub fn print(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| console::eprint(sentence));
    }
}

/// The sets of a query, each with its name.
fn sets(query: &Query) -> impl Iterator<Item = (String, SetKind, &Number)> {
    let intervals = query.interval.iter().map(|number| ("interval", SetKind::Intervals, number));
    let regions = query.region.iter().map(|number| ("region", SetKind::Regions, number));
    intervals.chain(regions).map(|(name, sets, number)| (format!("{name} {}", number.text), sets, number))
}

/// The guarantees of the sets of a query by a calibration; of groups, that of the smallest.
pub fn of_calibration(calibration: &Calibration, query: &Query) -> Vec<String> {
    let of = |(name, sets, coverage): (String, SetKind, &Number)| {
        let guarantees = calibration.guarantees(sets, coverage.value);
        let GroupGuarantee { group, guarantee, .. } = guarantees.iter().min_by_key(|own| own.guarantee.rows)?;
        let group =
            calibration.by().map_or(String::new(), |by| format!(" in each {by:?}, the smallest being {group:?}"));
        Some(format!("{name}{group}: {guarantee}"))
    };
    sets(query).filter_map(of).collect()
}

/// The empirical coverage of the adaptive sets of a query along a sequence.
pub fn of_sequence(adaptive: &AdaptiveConformal, query: &Query) -> Result<Vec<String>, Error> {
    let of = |(name, sets, coverage): (String, SetKind, &Number)| {
        let found = adaptive.coverage(SetSpec { kind: sets, coverage: coverage.value })?;
        if found.targets == 0 {
            return Ok(format!(
                "{name}: there are no observed targets to adapt to, so the sets are those of the model"
            ));
        }
        let covered = 100.0 * found.covered as f64 / found.targets as f64;
        let (nominal, bound) = (100.0 * coverage.value, 100.0 * found.bound);
        let steps = counted(found.targets, "target");
        Ok(format!(
            "{name}: adaptive; coverage {covered:.1} % of {steps}, guaranteed within {bound:.1} % of {nominal} %"
        ))
    };
    sets(query).map(of).collect()
}

/// A sentence about rows of unseen groups, if there are any.
pub fn unseen_groups(calibration: &Calibration, rows: usize) -> Option<String> {
    let by = calibration.by().filter(|_| rows > 0)?;
    let (are, sets) = if rows == 1 { ("is", "its sets are") } else { ("are", "their sets are") };
    let rows = counted(rows, "row");
    Some(format!("{rows} {are} of a {by:?} that the model was not calibrated for: {sets} unbounded, from -inf to inf"))
}
