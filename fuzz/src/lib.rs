//! Responsible for what fuzzing needs: small models of every kind, hostile ones made of them, and asking a model all there is to
//! ask. The targets are the tests of this package; `README.md` beside it says how to run them for long.

mod ask;
mod hostile;
mod seeds;

pub use ask::ask;
pub use hostile::hostile;
pub use seeds::{models, table};
