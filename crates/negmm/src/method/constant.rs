//! Responsible for the baseline that every table needs: the training targets' own mean and sd.

use serde::{Deserialize, Serialize};

use crate::options::{Options, Slot, Spec};

/// Predicts the same normal distribution for every row: mean and sd of the training targets. It has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {}

impl Options for Constant {
    fn each(&mut self, _: &mut dyn FnMut(&Spec, &mut dyn Slot)) {}
}
