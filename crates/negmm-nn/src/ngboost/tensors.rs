//! Boosted trees as named tensors.

use super::Parts;
use crate::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// Boosted trees.
pub fn write_trees(parts: &Parts) -> Vec<Tensor> {
    vec![
        Tensor::list("trees.start", &parts.start),
        Tensor::list("trees.scales", &parts.scales),
        Tensor::list("trees.sizes", &parts.sizes),
        Tensor::list("trees.features", &parts.features),
        Tensor::list("trees.numbers", &parts.numbers),
        Tensor::list("trees.children", &parts.children),
        Tensor::list("trees.missing", &parts.missing),
        Tensor::list("trees.importance", &parts.importance),
    ]
}

/// Boosted trees that were written.
pub fn read_trees(tensors: &Tensors<'_>) -> Result<Parts, Flaw> {
    let start: Vec<f64> = numbers_of(tensors, "trees.start", Some(&[4]))?;
    Ok(Parts {
        start: start.try_into().map_err(|_| "its start is not four numbers")?,
        scales: numbers_of(tensors, "trees.scales", None)?,
        sizes: numbers_of(tensors, "trees.sizes", None)?,
        features: numbers_of(tensors, "trees.features", None)?,
        numbers: numbers_of(tensors, "trees.numbers", None)?,
        children: numbers_of(tensors, "trees.children", None)?,
        missing: numbers_of(tensors, "trees.missing", None)?,
        importance: numbers_of(tensors, "trees.importance", None)?,
    })
}
