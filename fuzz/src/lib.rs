//! Parts of the fuzz targets: small models of every kind as seeds, mutations of their files, calls of everything that a loaded model
//! offers, and requests to a server. The targets are the tests of this package; `README.md` explains how to run them for longer.

mod exercise;
mod mutate;
mod request;
mod seeds;

use negmm::{Loaded, Rng, Table};

pub use exercise::exercise;
pub use mutate::mutate;
pub use request::{Client, mutated_request, server};
pub use seeds::{calibrated, models, table};

/// Bytes of a script: the model, the number of mutations, and up to three mutations of four bytes.
const SCRIPT: usize = 14;

/// The random script with that seed, for [`exercise_mutated`].
pub fn script(number: u64) -> Vec<u8> {
    let mut rng = Rng::new(number, 0);
    (0..SCRIPT).map(|_| rng.below(256) as u8).collect()
}

/// Mutates the file of one of the `models` (chosen by the first byte of the script), and exercises the model if it loads. Returns
/// whether it loaded.
pub fn exercise_mutated(models: &[Vec<u8>], table: &Table, script: &[u8]) -> bool {
    let Some(([which, count], script)) = script.split_first_chunk() else { return false };
    // Few mutations: with many, one is almost surely rejected on loading.
    let changes = &script[..script.len().min(4 * (1 + usize::from(*count) % 3))];
    let file = mutate(&models[usize::from(*which) % models.len()], changes);
    let Ok(loaded) = Loaded::from_bytes(&file) else { return false };
    exercise(&loaded, table, count % 16 == 0);
    true
}
