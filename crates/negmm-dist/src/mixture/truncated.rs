//! Truncated mixtures: a mixture given that the variable lies between two bounds, exactly.
//!
//! It is a mixture of the components' pieces between the bounds, each weighing as much as it has there. The weights come from
//! logarithms and the pieces are counted from where they are highest: so all is exact also where nearly nothing is inside.

use super::panels::Panels;
use super::quantile::{Bracket, Rising, Tail};
use super::truncated_component::Piece;
use super::{DensityRanking, Mixture, Mixtures, log_sum_exp};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;

/// Draws from the whole mixture before one is made by its quantile.
const TRIES: usize = 16;

/// A mixture given that the variable lies between two bounds, each of which may be infinite.
///
/// Where the mixture has nothing there that a logarithm could express, all is at the bound that is nearest to its mean.
pub(crate) struct Truncated<'a> {
    mixture: Mixture<'a>,
    lower: f64,
    upper: f64,
    /// Weights, which sum to 1, and pieces.
    pieces: Vec<(f64, Piece)>,
    /// Logarithm of the mixture's probability between the bounds.
    pub(crate) log_inside: f64,
}

impl Truncated<'_> {
    /// One row: the mixture of Gaussians with the components' weights, means and sds, whose moments are the same.
    fn matched(&self) -> Mixtures {
        let weights = self.pieces.iter().map(|(weight, _)| *weight).collect();
        let (means, variances): (Vec<f64>, Vec<f64>) = self.pieces.iter().map(|(_, piece)| piece.moments()).unzip();
        let sds = variances.into_iter().map(f64::sqrt).collect();
        Mixtures::from_parts_unchecked(self.pieces.len(), weights, means, sds)
    }

    fn ends(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }
}

impl<'a> Truncated<'a> {
    /// `lower` is at most `upper`.
    pub(crate) fn new(mixture: Mixture<'a>, lower: f64, upper: f64) -> Self {
        let gaussians = mixture.gaussians().map(|(weight, mean, sd)| {
            let piece = Piece::new(mean, sd, lower, upper);
            (libm::log(weight) + piece.log_mass(), piece)
        });
        let atoms = mixture.atoms().filter(|(_, place)| lower <= *place && *place <= upper);
        let atoms = atoms.map(|(weight, place)| (libm::log(weight), Piece::atom(place)));
        let mut pieces: Vec<(f64, Piece)> = gaussians.chain(atoms).collect();
        let log_inside = log_sum_exp(pieces.iter().map(|(log_weight, _)| *log_weight));
        if log_inside == f64::NEG_INFINITY {
            pieces = vec![(1.0, Piece::atom(mixture.mean().clamp(lower, upper)))];
        } else {
            pieces.iter_mut().for_each(|(weight, _)| *weight = libm::exp(*weight - log_inside));
            pieces.retain(|(weight, _)| *weight > 0.0);
        }
        Self { mixture, lower, upper, pieces, log_inside }
    }

    /// Whether `y` is possible.
    fn contains(&self, y: f64) -> bool {
        self.lower <= y && y <= self.upper
    }

    /// Mean of the `level` share of values that lie from `low` to `high`, one of which is the quantile and one a bound; `share`
    /// tells how much of a piece does. Of an atom at the quantile the part counts that the tail has room for.
    fn tail_mean(&self, level: f64, quantile: f64, low: f64, high: f64, share: fn(&Piece, f64) -> f64) -> f64 {
        let (mut total, mut shares, mut at_quantile) = (0.0, 0.0, 0.0);
        for (weight, piece) in &self.pieces {
            let mean = match piece.sd {
                0.0 if piece.base == quantile => {
                    at_quantile += weight;
                    continue;
                }
                0.0 => piece.base,
                _ => piece.between(low, high).moments().0,
            };
            let mass = weight * share(piece, quantile);
            if mass > 0.0 {
                total += mass * (mean - quantile);
                shares += mass;
            }
        }
        shares += (level - shares).clamp(0.0, at_quantile);
        let mean = if shares > 0.0 { quantile + total / shares } else { quantile };
        mean.clamp(low, high)
    }
}

impl Distribution for Truncated<'_> {
    fn mean(&self) -> f64 {
        let (lowest, highest) = self.ends();
        self.matched().row(0).mean().clamp(lowest, highest)
    }

    fn variance(&self) -> f64 {
        self.matched().row(0).variance()
    }

    fn variance_within(&self) -> f64 {
        self.matched().row(0).variance_within()
    }

    fn variance_between(&self) -> f64 {
        self.matched().row(0).variance_between()
    }

    /// Probability of a value up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        match y {
            _ if y < self.lower => 0.0,
            _ if y >= self.upper => 1.0,
            _ => self.pieces.iter().map(|(weight, piece)| weight * piece.below(y)).sum::<f64>().min(1.0),
        }
    }

    /// Probability of a value above `y`.
    fn survival(&self, y: f64) -> f64 {
        match y {
            _ if y < self.lower => 1.0,
            _ if y >= self.upper => 0.0,
            _ => self.pieces.iter().map(|(weight, piece)| weight * piece.above(y)).sum::<f64>().min(1.0),
        }
    }

    /// Probability of exactly `y`.
    fn point_probability(&self, y: f64) -> f64 {
        self.pieces.iter().map(|(weight, piece)| weight * piece.mass(y)).sum::<f64>().min(1.0)
    }

    /// Density at `y` of all but the atoms.
    fn pdf(&self, y: f64) -> f64 {
        let density = || self.pieces.iter().map(|(weight, piece)| weight * piece.pdf(y)).sum();
        if self.contains(y) { density() } else { 0.0 }
    }

    /// Logarithm of that density.
    fn log_pdf(&self, y: f64) -> f64 {
        let possible = self.contains(y) && self.log_inside > f64::NEG_INFINITY;
        if possible { self.mixture.log_pdf(y) - self.log_inside } else { f64::NEG_INFINITY }
    }

    /// Logarithm of the probability above `low` and up to `high`.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        if self.log_inside == f64::NEG_INFINITY {
            return libm::log(self.cdf(high) - self.cdf(low));
        }
        // An atom at the lower bound counts.
        let (low, high) = (low.max(self.lower.next_down()), high.min(self.upper));
        if low >= high {
            return f64::NEG_INFINITY;
        }
        (self.mixture.log_between(low, high) - self.log_inside).min(0.0)
    }

    /// The value that the variable stays below with probability `level`; a bound at 0 and at 1.
    fn quantile(&self, level: f64) -> f64 {
        self.tail_quantile(level, Tail::Lower).clamp(self.lower, self.upper)
    }

    /// The value that the variable exceeds with probability `level`.
    fn quantile_above(&self, level: f64) -> f64 {
        self.tail_quantile(level, Tail::Upper).clamp(self.lower, self.upper)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        DensityRanking::between(self.mixture, (self.lower, self.upper), self.log_inside).leaving(1.0 - coverage)
    }

    /// Mean of the lowest `level` share of values.
    fn shortfall_below(&self, level: f64) -> f64 {
        let quantile = self.quantile(level);
        self.tail_mean(level, quantile, self.lower, quantile, Piece::below)
    }

    /// Mean of the highest `level` share of values.
    fn shortfall_above(&self, level: f64) -> f64 {
        let quantile = self.quantile_above(level);
        self.tail_mean(level, quantile, quantile, self.upper, Piece::above)
    }

    /// Energy score of the observation `y`: ∫ (F(x) - 1{x >= y})² dx, over panels, or the mixture's own where the bounds take
    /// nothing from it.
    fn crps(&self, y: f64) -> f64 {
        if !y.is_finite() {
            return y.abs();
        }
        let all_there = self.log_inside.is_finite() && self.pieces.len() == self.mixture.parts().count();
        if all_there && self.pieces.iter().all(|(_, piece)| piece.is_whole()) {
            return self.mixture.crps(y);
        }
        let panels = Panels::new(self.pieces.iter().map(|(_, piece)| *piece));
        let (first, last) = panels.ends();
        let inside = y.clamp(self.lower, self.upper);
        let square = |probability: f64| probability * probability;
        let below = panels.integral(first.min(inside), inside, |x| square(self.cdf(x)));
        let above = panels.integral(inside, last.max(inside), |x| square(self.survival(x)));
        (y - inside).abs() + below + above
    }

    /// A random draw: of the mixture, until one lies inside.
    fn sample(&self, rng: &mut Rng) -> f64 {
        let draw = (0..TRIES).map(|_| self.mixture.sample(rng)).find(|draw| self.contains(*draw));
        draw.unwrap_or_else(|| self.quantile(rng.uniform()))
    }
}

impl Rising for Truncated<'_> {
    /// Seen from its base, or from its mean, whatever is inside, half of a normal variable reaches at least as far as a piece:
    /// its tails there have at most twice the probability.
    fn bracket(&self, mass: f64, sign: f64) -> Bracket {
        let (down, up) = (-normal::quantile(0.5 * mass), -normal::quantile(0.5 * (1.0 - mass)));
        let mut bracket = Bracket { low: f64::INFINITY, high: f64::NEG_INFINITY, start: 0.0, scale: 0.0 };
        for (weight, piece) in &self.pieces {
            let (mean, variance) = piece.moments();
            bracket.low = bracket.low.min(sign * piece.base - piece.sd * down);
            bracket.high = bracket.high.max(sign * piece.base + piece.sd * up);
            bracket.start += weight * sign * mean;
            bracket.scale += weight * variance.sqrt();
        }
        let (lowest, highest) = if sign > 0.0 { (self.lower, self.upper) } else { (-self.upper, -self.lower) };
        Bracket { low: bracket.low.clamp(lowest, highest), high: bracket.high.clamp(lowest, highest), ..bracket }
    }

    /// A piece that lies below x for the most part counts as its weight less what is above.
    fn excess(&self, x: f64, mass: f64, sign: f64) -> (f64, f64) {
        let (mut whole, mut tails, mut density) = (-mass, 0.0, 0.0);
        for (weight, piece) in &self.pieces {
            let y = sign * x;
            // Of the mirrored variable an atom at x counts too.
            let below = if sign > 0.0 { piece.below(y) } else { piece.above(y) + piece.mass(y) };
            if below > 0.5 {
                whole += weight;
                tails -= weight * if sign > 0.0 { piece.above(y) } else { piece.below(y) - piece.mass(y) };
            } else {
                tails += weight * below;
            }
            density += weight * piece.pdf(y);
        }
        (whole + tails, density)
    }

    fn jumps(&self) -> impl Iterator<Item = f64> {
        self.pieces.iter().filter(|(_, piece)| piece.sd == 0.0).map(|(_, piece)| piece.base)
    }
}
