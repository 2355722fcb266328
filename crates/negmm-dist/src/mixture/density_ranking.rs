//! Values of a mixture ranked by their likelihood, for highest-density regions and their tails.
//!
//! A region has the most likely values: those of highest density, on a grid the most probable ones; atoms come before any density,
//! the heaviest first. The tail of a value is the probability of all values that are at most as likely.

use super::{DensityLevels, Mixture};
use crate::distribution::Distribution;
use crate::grid::Grid;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;

/// (sds, values): how far from a component's mean values of a grid are ranked one by one, and how many of them at most. Beyond the
/// first distance probabilities underflow; beyond the second they are negligible compared with [`RARE`].
const REACHES: [(f64, f64); 2] = [(39.0, 5000.0), (9.0, 20_000.0)];
/// The same for what needs no single value of a wide distribution.
const FEW: [(f64, f64); 1] = [(9.0, 4000.0)];
/// An atom is rare where it has less probability than the most probable interval of this many sds of the row.
const RARE_WIDTH: f64 = 0.1;
/// A probability whose rounding error is larger than the probability beyond 9 sds.
const RARE: f64 = 1e-6;

/// Values ranked by their likelihood: those with a point probability, and the density of the others.
pub(crate) struct DensityRanking {
    /// Values, on a grid their indices, with their probabilities, the least likely first.
    values: Vec<(f64, f64)>,
    density: Option<DensityLevels>,
    grid: Option<Grid>,
}

/// Intervals in order, joined if the gap between them is at most `gap`.
fn joined(mut intervals: Vec<(f64, f64)>, gap: f64) -> Vec<(f64, f64)> {
    intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (lower, upper) in intervals {
        match joined.last_mut() {
            Some((_, last)) if lower <= *last + gap => *last = last.max(upper),
            _ => joined.push((lower, upper)),
        }
    }
    joined
}

/// Adds the probability of a component (weight, mean, sd) in each cell from index `first` on.
fn add_masses((weight, mean, sd): (f64, f64, f64), grid: Grid, first: f64, masses: &mut [f64]) {
    if sd == 0.0 {
        masses[0] += weight;
        return;
    }
    // The difference of two tails is exact if both are on one side of the mean, however far out.
    let z = |index: f64| (grid.edge(index) - mean) / sd;
    let tail = |z: f64| if z < 0.0 { normal::cdf(z) } else { -normal::cdf(-z) };
    let mut below = z(first - 1.0);
    let mut tail_below = tail(below);
    for (at, mass) in masses.iter_mut().enumerate() {
        let upper = z(first + at as f64);
        let tail_upper = tail(upper);
        let both_sides = f64::from(below < 0.0 && upper >= 0.0);
        *mass += weight * (both_sides + tail_upper - tail_below);
        (below, tail_below) = (upper, tail_upper);
    }
}

impl DensityRanking {
    /// The values of a mixture between bounds.
    pub(crate) fn between(mixture: Mixture<'_>, bounds: (f64, f64), log_inside: f64) -> Self {
        if log_inside == f64::NEG_INFINITY {
            let nearest = mixture.mean().clamp(bounds.0, bounds.1);
            return Self::new(vec![(nearest, 1.0)], None, None);
        }
        let inside = |(_, value): &(f64, f64)| bounds.0 <= *value && *value <= bounds.1;
        let scale = libm::exp(-log_inside);
        let atoms = mixture.atoms().filter(inside).map(|(weight, value)| (value, weight * scale)).collect();
        Self::new(atoms, DensityLevels::new(mixture, bounds, log_inside), None)
    }

    /// The values of a rounded mixture, for probabilities of at least `least`. If they are too many: the first and the last value,
    /// those of atoms, and the density of the others; for a component whose sd is s steps the relative error is about 1 / (24 s²).
    pub(crate) fn on_grid(mixture: Mixture<'_>, grid: Grid, least: f64) -> Self {
        Self::on_grid_within(mixture, grid, if least < RARE { &REACHES[..] } else { &REACHES[1..] })
    }

    /// The values of a rounded mixture, if they are few; else as [`DensityRanking::on_grid`].
    pub(crate) fn of_few(mixture: Mixture<'_>, grid: Grid) -> Self {
        Self::on_grid_within(mixture, grid, &FEW)
    }

    fn on_grid_within(mixture: Mixture<'_>, grid: Grid, reaches: &[(f64, f64)]) -> Self {
        for &(far, most) in reaches {
            let reach = |(_, mean, sd): (f64, f64, f64)| (grid.cell(mean - far * sd), grid.cell(mean + far * sd));
            let runs = joined(mixture.parts().map(reach).collect(), 1.0);
            if runs.iter().map(|(first, last)| last - first + 1.0).sum::<f64>() <= most {
                let values = runs.into_iter().flat_map(|(start, end)| {
                    let mut masses = vec![0.0; (end - start) as usize + 1];
                    for part in mixture.parts() {
                        let (first, last) = reach(part);
                        if start <= first && last <= end {
                            let cells = (first - start) as usize..=(last - start) as usize;
                            add_masses(part, grid, first, &mut masses[cells]);
                        }
                    }
                    masses.into_iter().enumerate().map(move |(at, mass)| (start + at as f64, f64::min(mass, 1.0)))
                });
                return Self::new(values.collect(), None, Some(grid));
            }
        }
        let (first, last) = (grid.edge(grid.first), grid.edge(grid.last - 1.0));
        let ends = [(grid.first, (f64::NEG_INFINITY, first)), (grid.last, (last, f64::INFINITY))];
        let ends = ends.into_iter().filter(|(index, _)| index.is_finite());
        let ends = ends.map(|(index, (low, high))| (index, libm::exp(mixture.log_between(low, high))));
        let inside = |(_, value): &(f64, f64)| first < *value && *value <= last;
        let atoms = mixture.atoms().filter(inside).map(|(weight, value)| (grid.cell(value), weight));
        let density = DensityLevels::new(mixture, (first, last), 0.0);
        Self::new(ends.chain(atoms).collect(), density, Some(grid))
    }

    /// Values that occur more than once are merged.
    fn new(mut values: Vec<(f64, f64)>, density: Option<DensityLevels>, grid: Option<Grid>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        values.retain(|(_, mass)| *mass > 0.0);
        values.sort_by(|a, b| a.1.total_cmp(&b.1));
        Self { values, density, grid }
    }

    /// Values that have a point probability, with it.
    pub(crate) fn masses(&self) -> impl Iterator<Item = (f64, f64)> {
        self.values.iter().map(|(value, mass)| (self.grid.map_or(*value, |grid| grid.value(*value)), *mass))
    }

    /// The bounds between which values have a density and no probability of their own, if there are any.
    pub(crate) fn rest(&self) -> Option<(f64, f64)> {
        self.density.as_ref().map(DensityLevels::bounds)
    }

    /// The most likely value: of a row with this sd an atom counts unless it is rare.
    pub(crate) fn mode(&self, sd: f64) -> f64 {
        let value = |value: f64| self.grid.map_or(value, |grid| grid.value(grid.cell(value)));
        let heaviest = self.values.last().map(|(at, mass)| (self.grid.map_or(*at, |grid| grid.value(*at)), *mass));
        match (&self.density, heaviest) {
            (Some(density), heaviest) => {
                let (at, peak) = density.peak();
                let width = self.grid.map_or(RARE_WIDTH * sd, |grid| grid.step());
                match heaviest {
                    Some((atom, mass)) if mass >= width * peak => atom,
                    _ => value(at),
                }
            }
            (None, Some((value, _))) => value,
            (None, None) => f64::NAN,
        }
    }

    /// As [`DensityRanking::leaving`], of a row with this sd: rare atoms are left out as far as the probability outside allows.
    pub(crate) fn leaving_rare_atoms(mut self, outside: f64, sd: f64) -> HighestDensityRegion {
        let mut left = outside;
        if let (Some(density), None) = (&self.density, &self.grid) {
            let rare = RARE_WIDTH * sd * density.peak().1;
            self.values.retain(|(_, mass)| {
                let out = *mass < rare && *mass < left;
                left -= if out { *mass } else { 0.0 };
                !out
            });
        }
        self.leaving(left)
    }

    /// Values with their tails: the probability of all values that are at most as likely, including the density.
    fn tails(&self) -> impl Iterator<Item = (f64, f64)> {
        let below = self.density.as_ref().map_or(0.0, |density| libm::exp(density.log_outside(f64::INFINITY)));
        let ends = self.values.chunk_by(|a, b| a.1 == b.1);
        let tails = ends.scan(below, |sum, same| {
            *sum += same.iter().map(|(_, mass)| mass).sum::<f64>();
            Some((same, *sum))
        });
        tails.flat_map(|(same, sum)| same.iter().map(move |(value, _)| (*value, sum)))
    }

    /// The probability of all values that are at most as likely as `y`.
    pub(crate) fn tail(&self, y: f64) -> f64 {
        let ranked = self.grid.map_or(y, |grid| grid.cell(y));
        if let Some((_, tail)) = self.tails().find(|(value, _)| *value == ranked) {
            return tail.min(1.0);
        }
        let Some(density) = &self.density else { return 0.0 };
        let level = density.at(self.grid.map_or(y, |grid| grid.value(ranked)));
        if level == f64::NEG_INFINITY { 0.0 } else { libm::exp(density.log_outside(level)).min(1.0) }
    }

    /// The values whose tail exceeds `outside`.
    pub(crate) fn leaving(&self, outside: f64) -> HighestDensityRegion {
        let values = self.tails().filter(|(_, tail)| *tail > outside).map(|(value, _)| (value, value));
        let intervals = self.density.as_ref().map_or(Vec::new(), |density| density.leaving(libm::log(outside)));
        match &self.grid {
            Some(grid) => {
                let first = |low: f64| grid.cell(low) + f64::from(grid.value(grid.cell(low)) < low);
                let last = |high: f64| grid.cell(high) - f64::from(grid.value(grid.cell(high)) > high);
                let runs = intervals.into_iter().map(|(low, high)| (first(low), last(high)));
                let runs = joined(values.chain(runs.filter(|(first, last)| first <= last)).collect(), 1.0);
                let value = |(first, last): (f64, f64)| (grid.value(first), grid.value(last));
                HighestDensityRegion::new(runs.into_iter().map(value).collect(), grid.step())
            }
            None => HighestDensityRegion::new(joined(values.chain(intervals).collect(), 0.0), 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_grid_have_the_probability_of_their_cells() {
        let mixture = Mixture {
            weights: &[0.2, 0.3, 0.1, 0.3, 0.1],
            means: &[3.2, 41.0, 40.5, 7.25, 12.0],
            sds: &[1.5, 0.02, 60.0, 8.0, 0.0],
        };
        for (lower, upper) in [(0.0, f64::INFINITY), (f64::NEG_INFINITY, f64::INFINITY), (0.0, 100.0)] {
            let grid = Grid::new(0.0, 1.0, lower, upper);
            for least in [0.01, 1e-30] {
                let likely = DensityRanking::on_grid(mixture, grid, least);
                assert!(likely.density.is_none() && likely.values.len() > 90);
                let total: f64 = likely.values.iter().map(|(_, mass)| mass).sum();
                assert!((total - 1.0).abs() < 1e-13, "{total}");
                for (index, mass) in &likely.values {
                    let expected = {
                        let (low, high) = grid.ends(*index);
                        libm::exp(mixture.log_between(low, high))
                    };
                    // Beyond 9 sds a component is left out.
                    let lost = if least < RARE { 0.0 } else { 1e-18 };
                    assert!(
                        (mass - expected).abs() <= 1e-12 * expected + lost + 1e-300,
                        "{index}: {mass:e} {expected:e}"
                    );
                }
            }
        }
    }
}
