//! Moments of eight mixtures at once: a lane is a row, so that every sum has the order and the bits of that of one row, and none waits
//! for its own last addition.

// Loops over lanes index several arrays at once; as iterators they would not become vector instructions as surely.
#![allow(clippy::needless_range_loop)]

use super::Mixtures;
use super::distribution::SAFE_VARIANCES;
use crate::distribution::Distribution;
use crate::math::lanes::{Isa, Kernel, Lanes};

/// Rows that are processed together.
const ROWS: usize = 8;

/// What is added for a component that is left out: it changes no sum, not even the sign of a zero.
const NOTHING: f64 = -0.0;

/// The components of eight rows, each list components × rows.
#[derive(Default)]
struct Abreast {
    weights: Vec<[f64; ROWS]>,
    means: Vec<[f64; ROWS]>,
    sds: Vec<[f64; ROWS]>,
}

impl Abreast {
    /// Loads `count` rows from `first` on; the other lanes repeat the last of them.
    fn load(&mut self, mixtures: &Mixtures, first: usize, count: usize) {
        let width = mixtures.components;
        let turned = |list: &[f64], out: &mut Vec<[f64; ROWS]>| {
            out.resize(width, [0.0; ROWS]);
            for lane in 0..ROWS {
                let row = &list[(first + lane.min(count - 1)) * width..][..width];
                out.iter_mut().zip(row).for_each(|(out, value)| out[lane] = *value);
            }
        };
        turned(&mixtures.weights, &mut self.weights);
        turned(&mixtures.means, &mut self.means);
        turned(&mixtures.sds, &mut self.sds);
    }

    /// Weight, mean and sd of each component.
    #[inline(always)]
    fn parts(&self) -> impl Iterator<Item = (&[f64; ROWS], &[f64; ROWS], &[f64; ROWS])> {
        self.weights.iter().zip(&self.means).zip(&self.sds).map(|((weights, means), sds)| (weights, means, sds))
    }

    /// The sums over the components of what `term` gives for (weight, mean, sd) and the row.
    #[inline(always)]
    fn sums(&self, term: impl Fn(f64, f64, f64, usize) -> f64) -> [f64; ROWS] {
        let mut sums = [NOTHING; ROWS];
        for (weights, means, sds) in self.parts() {
            for lane in 0..ROWS {
                sums[lane] += term(weights[lane], means[lane], sds[lane], lane);
            }
        }
        sums
    }
}

/// Applies a computation to the rows in groups; `store` gets each group's first row and number of rows.
fn in_groups<T>(mixtures: &Mixtures, kernel: impl Fn(&Abreast) -> T, mut store: impl FnMut(usize, usize, T)) {
    let (mut abreast, rows) = (Abreast::default(), mixtures.len());
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        abreast.load(mixtures, first, count);
        store(first, count, kernel(&abreast));
    }
}

impl Mixtures {
    /// Mean and sd of each row, as [`Distribution::mean`] and [`Distribution::sd`].
    pub(crate) fn means_and_sds(&self) -> Vec<(f64, f64)> {
        let isa = Isa::best();
        let mut found = Vec::with_capacity(self.len());
        in_groups(
            self,
            |rows| isa.run(MeanAndSd(rows)),
            |first, count, (means, variances)| {
                for lane in 0..count {
                    let sound = means[lane].is_finite() && SAFE_VARIANCES.contains(&variances[lane]);
                    found.push(match sound {
                        true => (means[lane], variances[lane].sqrt()),
                        false => self.row(first + lane).mean_and_sd(),
                    });
                }
            },
        );
        found
    }

    /// Weight, mean and sd of the components of each row that are not atoms, those of weight 0 included; (0, 0, 1) without any weight.
    pub fn continuous_moments(&self) -> Vec<(f64, f64, f64)> {
        let isa = Isa::best();
        let mut found = Vec::with_capacity(self.len());
        in_groups(
            self,
            |rows| isa.run(Continuous(rows)),
            |_, count, (totals, means, variances)| {
                found.extend((0..count).map(|lane| match totals[lane] {
                    total if total <= 0.0 => (0.0, 0.0, 1.0),
                    total => (total, means[lane], variances[lane].sqrt()),
                }));
            },
        );
        found
    }
}

/// Means, and variances within plus between.
struct MeanAndSd<'a>(&'a Abreast);

impl Kernel for MeanAndSd<'_> {
    type Output = ([f64; ROWS], [f64; ROWS]);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let rows = self.0;
        let (mut heaviest, mut anchors) = ([0.0; ROWS], [0.0; ROWS]);
        for (weights, means, _) in rows.parts() {
            for lane in 0..ROWS {
                let heavier = weights[lane] > heaviest[lane];
                heaviest[lane] = if heavier { weights[lane] } else { heaviest[lane] };
                anchors[lane] = if heavier { means[lane] } else { anchors[lane] };
            }
        }
        let counted = |weight: f64, term: f64| if weight > 0.0 { term } else { NOTHING };
        let (mut means, mut within) = ([NOTHING; ROWS], [NOTHING; ROWS]);
        for (weights, centers, sds) in rows.parts() {
            for lane in 0..ROWS {
                let (weight, sd) = (weights[lane], sds[lane]);
                means[lane] += counted(weight, weight * (centers[lane] - anchors[lane]));
                within[lane] += counted(weight, weight * sd * sd);
            }
        }
        for lane in 0..ROWS {
            means[lane] += anchors[lane];
        }
        let between = rows
            .sums(|weight, center, _, lane| counted(weight, weight * (center - means[lane]) * (center - means[lane])));
        let mut variances = within;
        for lane in 0..ROWS {
            variances[lane] += between[lane];
        }
        (means, variances)
    }
}

/// Weights, means and variances of the components that are not atoms.
struct Continuous<'a>(&'a Abreast);

impl Kernel for Continuous<'_> {
    type Output = ([f64; ROWS], [f64; ROWS], [f64; ROWS]);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let rows = self.0;
        let counted = |sd: f64, term: f64| if sd > 0.0 { term } else { NOTHING };
        let (mut totals, mut means) = ([NOTHING; ROWS], [NOTHING; ROWS]);
        for (weights, centers, sds) in rows.parts() {
            for lane in 0..ROWS {
                totals[lane] += counted(sds[lane], weights[lane]);
                means[lane] += counted(sds[lane], weights[lane] * centers[lane]);
            }
        }
        for lane in 0..ROWS {
            means[lane] /= totals[lane];
        }
        let mut variances = rows.sums(|weight, center, sd, lane| {
            counted(sd, weight * (sd * sd + (center - means[lane]) * (center - means[lane])))
        });
        for lane in 0..ROWS {
            variances[lane] /= totals[lane];
        }
        (totals, means, variances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Rng;

    #[test]
    fn moments_of_rows_abreast_are_those_of_each_row() {
        let mut rng = Rng::new(3, 0);
        for (components, rows) in [(1, 3), (5, 8), (40, 29)] {
            let mut list = |low: f64, high: f64| -> Vec<f64> {
                (0..rows * components).map(|_| (low + (high - low) * rng.uniform()).max(0.0)).collect()
            };
            let (mut weights, mut means, mut sds) = (list(-1.0, 1.0), list(-3.0, 3.0), list(-0.1, 2.0));
            (0..rows).for_each(|row| weights[row * components] += 0.1);
            // A row of atoms, one whose variance overflows, and a component without weight that would.
            sds[..components].fill(0.0);
            means[components] = 1e200;
            (weights[2 * components], means[2 * components]) = (if components > 1 { 0.0 } else { 1.0 }, 1e300);
            weights[3 * components - 1] += 0.2;
            let mixtures = Mixtures::new(components, weights, means, sds).unwrap();
            let expected: Vec<(f64, f64)> = mixtures.rows().map(|row| (row.mean(), row.sd())).collect();
            assert_eq!(mixtures.means_and_sds(), expected);
            assert_eq!(mixtures.rows().map(|row| row.mean_and_sd()).collect::<Vec<_>>(), expected);
            for (row, moments) in mixtures.rows().zip(mixtures.continuous_moments()) {
                let parts = || row.weights.iter().zip(row.means.iter().zip(row.sds)).filter(|(_, (_, sd))| **sd > 0.0);
                let total: f64 = parts().map(|(weight, _)| weight).sum();
                let mean = parts().map(|(weight, (mean, _))| weight * mean).sum::<f64>() / total;
                let square = |center: f64, sd: f64| sd * sd + (center - mean) * (center - mean);
                let variance = parts().map(|(weight, (mean, sd))| weight * square(*mean, *sd)).sum::<f64>() / total;
                let expected = if total > 0.0 { (total, mean, variance.sqrt()) } else { (0.0, 0.0, 1.0) };
                // Where squares overflow it is not a number.
                assert_eq!(format!("{moments:?}"), format!("{expected:?}"));
            }
        }
    }
}
