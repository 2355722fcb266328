//! Highest-density regions of sets of quantiles: intervals of constant density between two normal tails.

use super::QuantileSet;
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;

/// Bisection steps: enough for the logarithms of all doubles.
const HALVINGS: usize = 120;

/// Densities closer than this, relatively, are equal.
const TIE: f64 = 1e-12;

/// An interval of constant density.
#[derive(Clone, Copy)]
struct Piece {
    low: f64,
    high: f64,
    density: f64,
}

impl Piece {
    fn mass(&self) -> f64 {
        self.density * (self.high - self.low)
    }
}

impl QuantileSet<'_> {
    fn pieces(&self) -> Vec<Piece> {
        let knots = (0..self.values.len() - 1).filter(|knot| self.values[*knot] < self.values[knot + 1]);
        let piece = |knot: usize| Piece {
            low: self.values[knot],
            high: self.values[knot + 1],
            density: self.density_after(knot),
        };
        knots.map(piece).collect()
    }

    /// The values that are atoms.
    fn atoms(&self) -> Vec<f64> {
        let mut values = self.values.to_vec();
        values.dedup();
        values.retain(|value| self.point_probability(*value) > 0.0);
        values
    }

    /// The parts of the tails in which the density is at least `density`: ends and probability of each.
    fn tail_parts(&self, density: f64) -> [(f64, f64, f64); 2] {
        self.row_tails().map(|tail| {
            let root_tau = std::f64::consts::TAU.sqrt();
            let radius = (-2.0 * libm::log(density * tail.sd * root_tau)).max(0.0).sqrt();
            let low = -radius;
            if !(tail.sd > 0.0 && tail.tail.mass > 0.0) || low >= tail.tail.z || density * tail.sd * root_tau > 1.0 {
                return (tail.end, tail.end, 0.0);
            }
            let high = radius.min(tail.tail.z);
            let mass = (normal::cdf(high) - normal::cdf(low)).max(0.0);
            (tail.mean + tail.sd * low, (tail.mean + tail.sd * high).min(tail.end), mass)
        })
    }

    /// The probability of values with a density of at least `density`; without the atoms.
    fn mass_from(&self, pieces: &[Piece], density: f64) -> f64 {
        let inside: f64 = pieces.iter().filter(|piece| piece.density >= density * (1.0 - TIE)).map(Piece::mass).sum();
        inside + self.tail_parts(density).iter().map(|(_, _, mass)| mass).sum::<f64>()
    }

    /// The probability of all values that are at most as likely as `y`: an atom is more likely than any density.
    pub(crate) fn region_tail(&self, y: f64) -> f64 {
        if self.point_probability(y) > 0.0 {
            return 1.0;
        }
        let density = self.pdf(y);
        if density == 0.0 {
            return 0.0;
        }
        let pieces = self.pieces();
        let above: f64 = pieces.iter().filter(|piece| piece.density > density * (1.0 + TIE)).map(Piece::mass).sum();
        let tails: f64 = self.tail_parts(density).iter().map(|(_, _, mass)| mass).sum();
        let atoms: f64 = self.atoms().iter().map(|atom| self.point_probability(*atom)).sum();
        (1.0 - above - tails - atoms).clamp(0.0, 1.0)
    }

    /// The values of highest density that leave the probability `outside` outside, or, without `cut`, at most that: then an
    /// interval of constant density is in it as a whole.
    pub(crate) fn region(&self, outside: f64, cut: bool) -> HighestDensityRegion {
        let (pieces, atoms) = (self.pieces(), self.atoms());
        let of_atoms: f64 = atoms.iter().map(|atom| self.point_probability(*atom)).sum();
        let wanted = 1.0 - outside - of_atoms;
        let mut intervals: Vec<(f64, f64)> = atoms.into_iter().map(|atom| (atom, atom)).collect();
        if wanted > 0.0 {
            let highest = pieces.iter().map(|piece| piece.density).fold(self.peak_of_tails(), f64::max);
            let density = self.threshold(&pieces, wanted, highest);
            let dense = |piece: &&Piece| piece.density > density * (1.0 + TIE);
            intervals.extend(pieces.iter().filter(dense).map(|piece| (piece.low, piece.high)));
            let [lower, upper] = self.tail_parts(density);
            intervals.extend((lower.2 > 0.0).then_some((lower.0, lower.1)));
            intervals.extend((upper.2 > 0.0).then_some((-upper.1, -upper.0)));
            let inside: f64 = pieces.iter().filter(dense).map(Piece::mass).sum::<f64>() + lower.2 + upper.2;
            let mut lacking = (wanted - inside).max(0.0);
            for (at, piece) in pieces.iter().enumerate() {
                if (piece.density / density - 1.0).abs() > TIE || lacking <= 0.0 {
                    continue;
                }
                let part =
                    if cut { (lacking / piece.density).min(piece.high - piece.low) } else { piece.high - piece.low };
                // Beside the denser neighbour.
                let neighbour = |at: Option<usize>| at.and_then(|at| pieces.get(at)).map_or(0.0, |piece| piece.density);
                let from_low = neighbour(at.checked_sub(1)) > neighbour(Some(at + 1));
                let ends = if from_low { (piece.low, piece.low + part) } else { (piece.high - part, piece.high) };
                intervals.push(ends);
                if cut {
                    lacking -= part * piece.density;
                }
            }
        }
        HighestDensityRegion::new(merged(intervals), 0.0)
    }

    /// The largest density of the normal tails.
    fn peak_of_tails(&self) -> f64 {
        let peak = |tail: super::quantile_set::RowTail| {
            if tail.sd > 0.0 { normal::pdf(tail.tail.z.min(0.0)) / tail.sd } else { 0.0 }
        };
        self.row_tails().map(peak).into_iter().fold(0.0, f64::max)
    }

    /// The largest density from which on values have at least the probability `wanted`.
    fn threshold(&self, pieces: &[Piece], wanted: f64, highest: f64) -> f64 {
        let (mut high, mut low) = (libm::log(highest), libm::log(f64::MIN_POSITIVE));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.mass_from(pieces, libm::exp(middle)) >= wanted { low = middle } else { high = middle }
        }
        let found = libm::exp(low);
        // At a jump it is exactly the density of an interval.
        let near = pieces.iter().map(|piece| piece.density).find(|own| (own / found - 1.0).abs() < 1e-9);
        near.unwrap_or(found)
    }
}

/// Intervals in order, those that touch as one.
fn merged(mut intervals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (low, high) in intervals {
        match merged.last_mut() {
            Some(last) if low <= last.1 + TIE * (1.0 + low.abs()) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

impl QuantileSet<'_> {
    /// ∫ f(t)² dt of the density, without atoms: over a normal tail Φ(z √2) / (2 √π sd).
    pub(crate) fn squared_density(&self) -> f64 {
        let inside: f64 = self.pieces().iter().map(|piece| piece.density * piece.mass()).sum();
        let tail = |tail: super::quantile_set::RowTail| {
            let root_pi = std::f64::consts::PI.sqrt();
            if tail.sd > 0.0 {
                normal::cdf(tail.tail.z * std::f64::consts::SQRT_2) / (2.0 * root_pi * tail.sd)
            } else {
                0.0
            }
        };
        inside + self.row_tails().map(tail).iter().sum::<f64>()
    }
}
