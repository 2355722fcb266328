//! Sample sets in a graph.

use negmm::Support;
use negmm::data::Target;

use crate::graph::{Attribute, Graph, Type, Value};
use crate::mixture::Mixture;
use crate::rounded::nearest;

/// Equally likely samples for each row.
pub struct Samples {
    /// rows × samples, each row in ascending order.
    pub values: Value,
    pub count: usize,
    /// The smallest sd of the moment-matched normal distribution.
    sd_floor: f64,
}

impl Samples {
    pub fn new(graph: &mut Graph, values: Value, count: usize, sd_floor: f64) -> Self {
        let number = graph.integers(&[count as i64]);
        let ascending = [("largest", Attribute::Integer(0)), ("axis", Attribute::Integer(1))];
        let values = graph.outputs_of("TopK", &[&values, &number], &[true, true], &ascending).swap_remove(0);
        Self { values, count, sd_floor }
    }

    /// rows × 1: mean and unbiased sd.
    pub fn moments(&self, graph: &mut Graph) -> (Value, Value) {
        let total = graph.sum(&self.values, 1);
        let mean = graph.times(&total, 1.0 / self.count as f64);
        let distance = graph.sub(&self.values, &mean);
        let square = graph.mul(&distance, &distance);
        let squares = graph.sum(&square, 1);
        let variance = graph.times(&squares, 1.0 / (self.count as f64 - 1.0).max(1.0));
        (mean, graph.op("Sqrt", &[&variance]))
    }

    /// Adds variance: spreads samples by the normal quantiles of their ranks.
    pub fn widened(mut self, graph: &mut Graph, variance: &Value) -> Self {
        let (_, sd) = self.moments(graph);
        let square = graph.mul(&sd, &sd);
        let wider = graph.add2(&square, variance);
        let wider = graph.op("Sqrt", &[&wider]);
        let lacks = graph.sub(&wider, &sd);
        let ranks: Vec<f64> =
            (0..self.count).map(|rank| normal_quantile((rank as f64 + 0.5) / self.count as f64)).collect();
        let ranks = graph.doubles(&[1, self.count], &ranks);
        let moved = graph.mul(&lacks, &ranks);
        self.values = graph.add2(&self.values, &moved);
        self
    }

    /// The normal distribution with the same mean and sd.
    pub fn moment_matched(self, graph: &mut Graph) -> Mixture {
        let (mean, sd) = self.moments(graph);
        let sd = graph.at_least(&sd, self.sd_floor);
        Mixture::normal(graph, mean, sd)
    }

    /// In the target's unit, each at the nearest value of the support.
    pub fn in_unit(mut self, graph: &mut Graph, target: &Target) -> Self {
        let scaled = graph.times(&self.values, target.scale);
        let values = graph.plus(&scaled, target.mean);
        self.values = nearest(graph, &target.support, &values);
        self
    }

    /// rows × levels: linear interpolation of the order statistics; for a discrete target the inverse of the empirical distribution
    /// function.
    pub fn quantiles(&self, graph: &mut Graph, levels: &Value, support: &Support) -> Value {
        let last = self.count as f64 - 1.0;
        if support.step.is_some() {
            let rank = graph.times(levels, self.count as f64);
            let rank = graph.op("Ceil", &[&rank]);
            let rank = graph.plus(&rank, -1.0);
            let rank = graph.within(&rank, 0.0, last);
            let rank = graph.cast(&rank, Type::Integer);
            return graph.gather(&self.values, &rank, 1);
        }
        let position = graph.times(levels, last);
        let below = graph.op("Floor", &[&position]);
        let fraction = graph.sub(&position, &below);
        let above = graph.plus(&below, 1.0);
        let [low, high] = [below, above].map(|position| {
            let position = graph.within(&position, 0.0, last);
            let position = graph.cast(&position, Type::Integer);
            graph.gather(&self.values, &position, 1)
        });
        let gap = graph.sub(&high, &low);
        let part = graph.mul(&gap, &fraction);
        graph.add2(&low, &part)
    }
}

/// The standard normal quantile: Newton's method from 0 on the logarithm of the distribution function, which is concave, so that it
/// converges.
fn normal_quantile(level: f64) -> f64 {
    use std::f64::consts::FRAC_1_SQRT_2;
    const STEPS: usize = 60;
    if level > 0.5 {
        return -normal_quantile(1.0 - level);
    }
    (0..STEPS).fold(0.0, |z: f64, _| {
        let below = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
        let density = crate::normal::DENSITY_AT_0 * libm::exp(-0.5 * z * z);
        z - libm::log(below / level) * below / density
    })
}

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    #[test]
    fn quantiles_of_a_normal_variable() {
        for (level, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.0005, -3.290_526_731_491_926)] {
            assert!((normal_quantile(level) - z).abs() < 1e-12, "{level} {}", normal_quantile(level));
        }
    }
}
