//! Regression tests: inputs that made a fuzz target fail.

use negmm_fuzz::{exercise_mutated, models, script, table};

#[test]
fn mutated_models_that_once_panicked() {
    let (models, table) = (models(), table());
    // Names of a million letters; targets with an sd of 1e300, whose square overflows; pools without weights.
    for number in [246, 26_519, 48_774] {
        exercise_mutated(&models, &table, &script(number));
    }
}
