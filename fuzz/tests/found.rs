//! What runs have found, each once, and never again.

use negmm_fuzz::{ask_hostile, models, script, table};

#[test]
fn hostile_models_that_broke_something() {
    let (models, table) = (models(), table());
    // Names of a million letters; targets with an sd of 1e300, whose square is no number; pools whose weights were none.
    for number in [246, 26_519, 48_774] {
        ask_hostile(&models, &table, &script(number));
    }
}
