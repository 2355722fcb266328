//! A chain of models of single targets: y₁ | x, then y₂ | x, y₁ and so on.
//!
//! It is expanded into a mixture of [`NODES`] components ([`super::nodes`]): link j is asked at the centres of the kernels of the
//! targets before it, and the slopes of its component's mean along these kernels, by finite differences, make the covariance
//! within a kernel.

use super::nodes::{KernelNode, NODES, at_level, component_at, of_component, points};
use crate::model::Model;
use negmm_data::{Column, Table};
use negmm_dist::{Error, JointMixtures, Mixtures, Result};

/// Models of single targets, each with those before it among its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// One model for each target, in order.
    pub links: Vec<Model>,
}

/// The nodes of all rows while they are extended target by target: rows × nodes.
struct Nodes {
    /// The centres of each target.
    centres: Vec<Vec<f64>>,
    /// The row of each target in the factor: (rows × nodes) × (target + 1).
    factors: Vec<Vec<f64>>,
}

impl Chain {
    /// The mixtures of each row, in the units of the targets.
    pub(super) fn predict(&self, table: &Table) -> Result<JointMixtures> {
        let d = self.links.len();
        let uniform = points(NODES, 2 * d);
        let level = |node: usize, dimension: usize| uniform[node % NODES * 2 * d + dimension];
        let first = mixtures_of(&self.links[0], table)?;
        let start: Vec<KernelNode> =
            (0..table.rows() * NODES).map(|at| at_level(first.row(at / NODES), level(at, 0), level(at, 1))).collect();
        let mut nodes = Nodes {
            centres: vec![start.iter().map(|node| node.centre).collect()],
            factors: vec![start.iter().map(|node| node.sd).collect()],
        };
        let repeated: Vec<usize> = (0..table.rows() * NODES).map(|at| at / NODES).collect();
        let repeated = table.select_rows(&repeated);
        for target in 1..d {
            let names: Vec<&str> =
                self.links[..target].iter().map(|link| link.encoder().target().name.as_str()).collect();
            let link = &self.links[target];
            let own = mixtures_of(link, &with_targets(&repeated, &names, &nodes.centres)?)?;
            let chosen: Vec<usize> =
                (0..own.len()).map(|at| component_at(own.row(at), level(at, 2 * target))).collect();
            let mut factors = vec![0.0; own.len() * (target + 1)];
            for before in 0..target {
                // A step of one sd of the kernel along this target.
                let steps: Vec<f64> = nodes.factors[before]
                    .chunks_exact(before + 1)
                    .map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt())
                    .collect();
                let mut moved = nodes.centres.clone();
                moved[before].iter_mut().zip(&steps).for_each(|(centre, step)| *centre += step);
                let beside = mixtures_of(link, &with_targets(&repeated, &names, &moved)?)?;
                for (at, k) in chosen.iter().enumerate().filter(|(at, _)| steps[*at] > 0.0) {
                    let slope = (beside.row(at).means[*k] - own.row(at).means[*k]) / steps[at];
                    for (column, entry) in nodes.factors[before][at * (before + 1)..][..=before].iter().enumerate() {
                        factors[at * (target + 1) + column] += slope * entry;
                    }
                }
            }
            let mut centres = Vec::with_capacity(own.len());
            for (at, k) in chosen.iter().enumerate() {
                let node = of_component(own.row(at), *k, level(at, 2 * target + 1), target + 1 == d);
                centres.push(node.centre);
                factors[at * (target + 1) + target] = node.sd;
            }
            nodes.centres.push(centres);
            nodes.factors.push(factors);
        }
        nodes.mixtures(table.rows())
    }
}

impl Nodes {
    fn mixtures(&self, rows: usize) -> Result<JointMixtures> {
        let d = self.centres.len();
        let (mut means, mut factors) = (Vec::new(), Vec::new());
        for at in 0..rows * NODES {
            for target in 0..d {
                means.push(self.centres[target][at]);
                factors.extend_from_slice(&self.factors[target][at * (target + 1)..][..=target]);
            }
        }
        JointMixtures::new(d, NODES, vec![1.0 / NODES as f64; rows * NODES], means, factors)
    }
}

/// The mixtures that a model predicts.
fn mixtures_of(model: &Model, table: &Table) -> Result<Mixtures> {
    model.predict(table)?.into_mixtures().ok_or_else(|| Error::model("a chain needs mixtures"))
}

/// The table with these targets as columns.
fn with_targets(table: &Table, names: &[&str], values: &[Vec<f64>]) -> Result<Table> {
    let columns = names.iter().zip(values).map(|(name, values)| (*name, Column::Numbers(values.clone())));
    table.with_columns(columns)
}
