//! Responsible for what fuzzing needs: small models of every kind, hostile ones made of them, asking a model all there is to
//! ask, and asking a server. The targets are the tests of this package; `README.md` beside it says how to run them for long.

mod ask;
mod hostile;
mod request;
mod seeds;

use negmm::{Loaded, Rng, Table};

pub use ask::ask;
pub use hostile::hostile;
pub use request::{Asker, hostile_request, server};
pub use seeds::{calibrated, models, table};

/// Bytes of a script: a model, how many changes, and these.
const SCRIPT: usize = 14;

/// The script of that number, for [`ask_hostile`].
pub fn script(number: u64) -> Vec<u8> {
    let mut rng = Rng::new(number, 0);
    (0..SCRIPT).map(|_| rng.below(256) as u8).collect()
}

/// Asks a hostile model, if it is read at all: of these `models` the one that the first byte says, with a few changes.
/// Whether it was read.
pub fn ask_hostile(models: &[Vec<u8>], table: &Table, script: &[u8]) -> bool {
    let Some(([which, count], script)) = script.split_first_chunk() else { return false };
    // Few changes: of many one is sure to be refused.
    let changes = &script[..script.len().min(4 * (1 + usize::from(*count) % 3))];
    let file = hostile(&models[usize::from(*which) % models.len()], changes);
    let Ok(loaded) = Loaded::from_bytes(&file) else { return false };
    ask(&loaded, table, count % 16 == 0);
    true
}
