//! Bins of targets: the components of a forest.

use crate::dataset::Dataset;

/// The fraction of a bin's rows that may have one value before the value is a bin of its own.
const OWN_BIN: f64 = 0.5;
/// The smallest sd of a component that is not an atom, in units of the standardised target.
const LEAST_SD: f64 = 1e-3;

/// Bins of the targets of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetBins {
    /// The largest target of each bin but the last.
    pub upper: Vec<f32>,
    /// Mean and sd of each bin.
    pub components: Vec<[f64; 2]>,
}

impl TargetBins {
    /// At most `most` bins of about equal weight; equal targets are in one bin, and an atom is a bin of its own.
    pub fn new(data: &Dataset, rows: &[u32], most: usize) -> Self {
        let mut sorted: Vec<(f32, f64)> = rows
            .iter()
            .map(|row| (data.y()[*row as usize], f64::from(data.sample_weights()[*row as usize])))
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Runs of equal targets.
        let mut runs: Vec<(f32, f64)> = Vec::new();
        for (y, weight) in sorted {
            match runs.last_mut() {
                Some((last, sum)) if *last == y => *sum += weight,
                _ => runs.push((y, weight)),
            }
        }
        let total: f64 = runs.iter().map(|(_, weight)| weight).sum();
        let is_own = |(y, weight): &(f32, f64)| {
            data.atoms().contains(y) || runs.len() <= most || *weight > OWN_BIN * total / most as f64
        };
        let own = runs.iter().filter(|run| is_own(run)).map(|(_, weight)| weight).sum::<f64>();
        let count = most.saturating_sub(runs.iter().filter(|run| is_own(run)).count()).max(1);
        let each = (total - own) / count as f64;
        let (mut upper, mut components) = (Vec::new(), Vec::new());
        let mut open: Vec<(f32, f64)> = Vec::new();
        let close = |open: &mut Vec<(f32, f64)>, upper: &mut Vec<f32>, components: &mut Vec<[f64; 2]>| {
            if let Some((last, _)) = open.last() {
                upper.push(*last);
                let weight: f64 = open.iter().map(|(_, weight)| weight).sum();
                let mean = open.iter().map(|(y, weight)| weight * f64::from(*y)).sum::<f64>() / weight;
                let square = |y: f32| (f64::from(y) - mean) * (f64::from(y) - mean);
                let variance = open.iter().map(|(y, weight)| weight * square(*y)).sum::<f64>() / weight;
                let atom = open.len() == 1 && data.atoms().contains(last);
                components.push([mean, if atom { 0.0 } else { variance.sqrt().max(LEAST_SD) }]);
                open.clear();
            }
        };
        for run in &runs {
            if is_own(run) {
                close(&mut open, &mut upper, &mut components);
                open.push(*run);
                close(&mut open, &mut upper, &mut components);
            } else {
                open.push(*run);
                if open.iter().map(|(_, weight)| weight).sum::<f64>() >= each && components.len() + 1 < most {
                    close(&mut open, &mut upper, &mut components);
                }
            }
        }
        close(&mut open, &mut upper, &mut components);
        upper.pop();
        Self { upper, components }
    }

    /// The bin of a target.
    pub fn bin(&self, y: f32) -> u16 {
        self.upper.partition_point(|upper| *upper < y) as u16
    }
}
