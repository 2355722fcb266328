//! Nodes of mixture expansions: chains and copulas of single targets as Gaussian mixtures over vectors.
//!
//! A normal component N(mean, sd²) is the mixture, over nodes c ~ N(mean, (1 - h²) sd²), of kernels N(c, h² sd²): exactly, for
//! any h in (0, 1]. An expansion into M nodes therefore has the marginals of the model but for the error of M quasi-random
//! nodes, which is of order 1 / M, and the dependence between targets is linear within a kernel.

use negmm_dist::math::normal;
use negmm_dist::{Distribution, Mixture};

/// Nodes of an expansion.
pub(super) const NODES: usize = 64;
/// h²: the fraction of a component's variance within a kernel.
const WITHIN: f64 = 0.4;
/// Levels stay this far from 0 and 1.
const LEAST_LEVEL: f64 = 1e-6;

/// `count` points of a Kronecker sequence in (0, 1)^dimensions: count × dimensions. Each coordinate is replaced by its rank, so
/// that it has each of the levels (r + 1/2) / count once.
pub(super) fn points(count: usize, dimensions: usize) -> Vec<f64> {
    let coordinate = |at: usize, root: f64| ((at as f64 + 0.5) * root).fract();
    let mut points = vec![0.0; count * dimensions];
    for (dimension, prime) in primes().take(dimensions).enumerate() {
        let root = f64::from(prime).sqrt();
        let list: Vec<f64> = (0..count).map(|at| coordinate(at, root)).collect();
        for (at, rank) in ranks(&list).into_iter().enumerate() {
            points[at * dimensions + dimension] = (rank as f64 + 0.5) / count as f64;
        }
    }
    points
}

/// The rank of each number, from 0.
pub(super) fn ranks(list: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|a, b| list[*a].total_cmp(&list[*b]));
    let mut ranks = vec![0; list.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
    ranks
}

fn primes() -> impl Iterator<Item = u32> {
    (2u32..).filter(|n| (2..*n).take_while(|k| k * k <= *n).all(|k| n % k != 0))
}

/// The centre and the sd of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelNode {
    pub(super) centre: f64,
    pub(super) sd: f64,
}

/// The kernel at the quantile of `level`: of a component that is drawn by `pick` from those that could have given it.
pub(super) fn at_level(mixture: Mixture<'_>, level: f64, pick: f64) -> KernelNode {
    let y = mixture.quantile(level.clamp(LEAST_LEVEL, 1.0 - LEAST_LEVEL));
    let Mixture { weights, means, sds } = mixture;
    let density = |k: usize| match sds[k] > 0.0 {
        true => weights[k] * normal::pdf((y - means[k]) / sds[k]) / sds[k],
        false => 0.0,
    };
    // An atom at the quantile itself is what was drawn.
    if let Some(atom) = (0..weights.len()).find(|k| sds[*k] == 0.0 && weights[*k] > 0.0 && means[*k] == y) {
        return KernelNode { centre: means[atom], sd: 0.0 };
    }
    let total: f64 = (0..weights.len()).map(density).sum();
    let mut left = pick * total;
    let k = (0..weights.len())
        .find(|k| {
            left -= density(*k);
            left <= 0.0
        })
        .unwrap_or(0);
    kernel(means[k], sds[k], y)
}

/// The kernel of component (`mean`, `sd`) for the value `y` drawn from it.
fn kernel(mean: f64, sd: f64, y: f64) -> KernelNode {
    KernelNode { centre: mean + (1.0 - WITHIN).sqrt() * (y - mean), sd: WITHIN.sqrt() * sd }
}

/// The component that `level` falls into when components are stacked in the order of their means.
pub(super) fn component_at(mixture: Mixture<'_>, level: f64) -> usize {
    let mut order: Vec<usize> = (0..mixture.weights.len()).filter(|k| mixture.weights[*k] > 0.0).collect();
    order.sort_by(|a, b| mixture.means[*a].total_cmp(&mixture.means[*b]));
    let mut cumulative = 0.0;
    let found = order.iter().find(|k| {
        cumulative += mixture.weights[**k];
        level <= cumulative
    });
    found.or(order.last()).copied().unwrap_or(0)
}

/// A kernel of component `k` at the quantile of `level` within it; the whole component if it is the `last` target of a chain.
pub(super) fn of_component(mixture: Mixture<'_>, k: usize, level: f64, last: bool) -> KernelNode {
    let (mean, sd) = (mixture.means[k], mixture.sds[k]);
    if last || sd == 0.0 {
        return KernelNode { centre: mean, sd };
    }
    kernel(mean, sd, mean + sd * normal::quantile(level.clamp(LEAST_LEVEL, 1.0 - LEAST_LEVEL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_every_level_once() {
        let points = points(16, 3);
        for dimension in 0..3 {
            let mut list: Vec<f64> = points.iter().skip(dimension).step_by(3).copied().collect();
            list.sort_by(f64::total_cmp);
            assert!(list.iter().enumerate().all(|(at, x)| (x - (at as f64 + 0.5) / 16.0).abs() < 1e-12));
        }
    }

    #[test]
    fn kernels_have_the_moments_of_their_mixture() {
        let mixture = Mixture { weights: &[0.3, 0.5, 0.2], means: &[-2.0, 0.5, 3.0], sds: &[0.5, 1.0, 0.2] };
        let count = 400;
        let points = points(count, 2);
        let nodes: Vec<KernelNode> = points.chunks_exact(2).map(|u| at_level(mixture, u[0], u[1])).collect();
        let mean = nodes.iter().map(|node| node.centre).sum::<f64>() / count as f64;
        let square = nodes.iter().map(|node| node.sd * node.sd + node.centre * node.centre).sum::<f64>() / count as f64;
        assert!((mean - mixture.mean()).abs() < 0.02, "{mean}");
        assert!(((square - mean * mean) / mixture.variance() - 1.0).abs() < 0.03);
    }

    #[test]
    fn atoms_stay_atoms() {
        let mixture = Mixture { weights: &[0.4, 0.6], means: &[0.0, 5.0], sds: &[0.0, 1.0] };
        let node = at_level(mixture, 0.2, 0.5);
        assert_eq!((node.centre, node.sd), (0.0, 0.0));
        assert!(at_level(mixture, 0.7, 0.5).sd > 0.0);
    }
}
