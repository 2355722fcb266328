//! Tilt of a pool: a map of its probability integral transforms (PITs) with two parameters, where those of held-out rows
//! are clearly not flat.
//!
//! The density f of a row becomes proportional to
//!
//! ```text
//! f(y) (1 + a exp(-z² / (2 h²)))   with z = (y - c) / s
//! ```
//!
//! where c and s are the centre and the scale of the row's own distribution, and the amplitude a and the width h are the
//! same for all rows. For a normal f that is one monotone map of the PIT for all rows, the identity for a = 0: it moves
//! probability to the centre, which a common factor of the sds cannot do without making the tails lighter. The product of
//! two normal densities is a normal density times a constant, so the result is a mixture again, with twice as many
//! components: its cdf, quantiles and scores are exact.
//!
//! The centre is the mean with the sd, or the peak, which components far away hardly move. Centre, width and amplitude
//! maximise the likelihood of out-of-fold predictions with a penalty of a few rows. They are used only if, chosen by other
//! folds, they better the score of held-out rows by two standard errors: half the logarithmic score and half the CRPS in
//! units of its mean, as for stacking weights. Pools of truncated models are left alone, and rows in groups, whose scores
//! are not independent.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::folds::HeldOutRows;
use super::sigma_scale::score_of_row;
use super::tails::moments;
use negmm_dist::Distribution;
use negmm_dist::math::normal;
use negmm_dist::mixture::{Mixture, Mixtures};

/// Candidate widths.
const WIDTHS: [f64; 6] = [0.2, 0.35, 0.6, 1.0, 1.6, 2.5];
/// Candidate amplitudes, which are geometrically spaced.
const LEAST: f64 = 0.1;
const MOST: f64 = 20.0;
const AMPLITUDES: usize = 25;
/// The penalty is that of so many rows without probability but at the centre.
const PRIOR_ROWS: f64 = 2.0;
/// Fewer rows say nothing about the shape of their distribution.
const FEWEST_ROWS: usize = 100;
/// Maximum numbers of rows for the likelihood, and for the CRPS.
const MOST_ROWS: usize = 4_000;
const MOST_SCORED: usize = 400;
/// Standard errors by which the score must be better.
const CLEARLY: f64 = 2.0;
const CENTRES: [Centre; 2] = [Centre::Mean, Centre::Peak];
const TRIED: usize = CENTRES.len() * WIDTHS.len() * AMPLITUDES;

/// A tilt of mixtures towards the centre of each row's own distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tilt {
    /// The centre and its unit.
    pub centre: Centre,
    /// Width, in units of the row's scale.
    pub width: f64,
    /// The density at the centre is multiplied by one more than this, before it is normalised.
    pub amplitude: f64,
}

/// The centre of a distribution, with its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centre {
    /// The mean, with the sd.
    Mean,
    /// The mean of components, weighted by their density around the mean weighted by height; the scale is that of a normal
    /// distribution which is as high there as the smoothed density.
    Peak,
}

impl std::fmt::Display for Centre {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::Peak => "peak",
        })
    }
}

impl Centre {
    /// Centre and scale of the components that are not atoms; `None` without any.
    fn of(self, mixture: Mixture<'_>) -> Option<(f64, f64)> {
        let (total, mean, sd) = moments(mixture);
        if total <= 0.0 {
            return None;
        }
        let (centre, scale) = match self {
            Self::Mean => (mean, sd),
            Self::Peak => {
                let (height, first) = weighted(mixture, |_, sd| 1.0 / sd);
                let scale = total / height;
                let density = |mean: f64, sd: f64| {
                    let spread = (sd * sd + scale * scale).sqrt();
                    normal::pdf((mean - first) / spread) / spread
                };
                let (height, centre) = weighted(mixture, density);
                (centre, normal::pdf(0.0) * total / height)
            }
        };
        (centre.is_finite() && scale.is_finite() && scale > 0.0).then_some((centre, scale))
    }
}

/// The sum of the weights of components that are not atoms times `factor` of mean and sd, and the mean with those weights.
fn weighted(mixture: Mixture<'_>, factor: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let (mut sum, mut mean) = (0.0, 0.0);
    for (weight, (center, sd)) in mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds)) {
        if *sd > 0.0 && *weight > 0.0 {
            let own = weight * factor(*center, *sd);
            sum += own;
            mean += own * center;
        }
    }
    (sum, mean / sum)
}

/// The components of a mixture times a bump of height 1; atoms have no weight.
struct Product {
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl Product {
    fn of(mixture: Mixture<'_>, centre: f64, sd: f64) -> Self {
        let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
        for (weight, (mean, own)) in mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds)) {
            let variance = own * own + sd * sd;
            let distance = mean - centre;
            weights.push(if *own > 0.0 { weight * mean_bump(*mean, *own, centre, sd) } else { 0.0 });
            means.push(if *own > 0.0 { centre + distance * (sd * sd / variance) } else { *mean });
            sds.push(if *own > 0.0 { own * sd / variance.sqrt() } else { 0.0 });
        }
        Self { weights, means, sds }
    }

    fn as_mixture(&self) -> Mixture<'_> {
        Mixture { weights: &self.weights, means: &self.means, sds: &self.sds }
    }
}

/// The mean of a bump of height 1 under a normal distribution.
fn mean_bump(mean: f64, own: f64, centre: f64, sd: f64) -> f64 {
    let variance = own * own + sd * sd;
    let distance = mean - centre;
    sd / variance.sqrt() * libm::exp(-0.5 * distance * distance / variance)
}

impl Tilt {
    /// Whether the parameters are valid.
    pub(crate) fn is_sound(&self) -> bool {
        (1e-3..=1e3).contains(&self.width) && (0.0..=1e3).contains(&self.amplitude)
    }

    /// The tilted mixtures, where the components of each model, `sizes` of them, are followed by their products with the
    /// bump; of rows without a tilt these have no weight.
    pub(super) fn applied<'a>(
        mixtures: &Mixtures,
        sizes: &[usize],
        tilt: impl Fn(usize) -> Option<&'a Self> + Sync,
    ) -> Mixtures {
        let components = 2 * mixtures.components();
        let room = || Vec::with_capacity(mixtures.len() * components);
        let (mut weights, mut means, mut sds) = (room(), room(), room());
        for (number, row) in mixtures.rows().enumerate() {
            let tilt = tilt(number).and_then(|tilt| Some((tilt, tilt.centre.of(row)?)));
            let (product, amplitude) = match tilt {
                Some((tilt, (centre, scale))) => (Product::of(row, centre, tilt.width * scale), tilt.amplitude),
                None => (
                    Product { weights: vec![0.0; row.weights.len()], means: row.means.into(), sds: row.sds.into() },
                    0.0,
                ),
            };
            let gaussian = |k: &usize| row.sds[*k] > 0.0;
            let total: f64 = (0..row.weights.len()).filter(gaussian).map(|k| row.weights[k]).sum();
            let more: f64 = product.weights.iter().sum::<f64>() * amplitude;
            let factor = if total > 0.0 { total / (total + more) } else { 1.0 };
            let mut first = 0;
            for size in sizes {
                let model = first..first + size;
                weights.extend(model.clone().map(|k| row.weights[k] * if gaussian(&k) { factor } else { 1.0 }));
                weights.extend(model.clone().map(|k| product.weights[k] * amplitude * factor));
                means.extend_from_slice(&row.means[model.clone()]);
                means.extend_from_slice(&product.means[model.clone()]);
                sds.extend_from_slice(&row.sds[model.clone()]);
                sds.extend_from_slice(&product.sds[model.clone()]);
                first += size;
            }
        }
        Mixtures::from_parts_unchecked(components, weights, means, sds)
    }
}

/// A candidate by its number.
fn candidate(number: usize) -> Tilt {
    let (shape, amplitude) = (number / AMPLITUDES, number % AMPLITUDES);
    Tilt {
        centre: CENTRES[shape / WIDTHS.len()],
        width: WIDTHS[shape % WIDTHS.len()],
        amplitude: self::amplitude(amplitude),
    }
}

/// A candidate amplitude by its number.
fn amplitude(number: usize) -> f64 {
    LEAST * libm::pow(MOST / LEAST, number as f64 / (AMPLITUDES - 1) as f64)
}

/// The tilts of a pool: those for each fold, chosen by others, and that of all; none where they do not better the score.
#[derive(Default)]
pub(super) struct Tilts {
    pub(super) of_folds: Vec<Option<Tilt>>,
    pub(super) of_all: Option<Tilt>,
}

impl Tilts {
    /// From the pooled predictions of held-out rows.
    pub(super) fn of(pooled: &Mixtures, held_out: &HeldOutRows) -> Self {
        let folds = held_out.folds.iter().max().map_or(0, |last| *last as usize + 1);
        let none = || Self { of_folds: vec![None; folds], of_all: None };
        let counts = |row: &usize| held_out.weights[*row] > 0.0;
        let count = held_out.weights.iter().filter(|weight| **weight > 0.0).count();
        if held_out.bounds.is_some() || count < FEWEST_ROWS {
            return none();
        }
        let every = held_out.rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<usize> = (0..held_out.rows.len()).step_by(every).filter(counts).collect();
        let gains: Vec<Vec<f64>> = rows.par_iter().map(|row| gains(held_out, pooled.row(*row), *row)).collect();
        let best = |informs: &dyn Fn(u32) -> bool| {
            let mut sums = vec![0.0; TRIED];
            let mut weight = (0.0, 0.0);
            for (row, gains) in rows.iter().zip(&gains).filter(|(row, _)| informs(held_out.folds[**row])) {
                let own = held_out.weights[*row];
                sums.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += own * gain);
                weight = (weight.0 + own, weight.1 + 1.0);
            }
            let prior = if weight.1 > 0.0 { PRIOR_ROWS * weight.0 / weight.1 } else { 0.0 };
            let penalised = |number: &usize| sums[*number] - prior * libm::log1p(candidate(*number).amplitude);
            let best = (0..TRIED).max_by(|a, b| penalised(a).total_cmp(&penalised(b)));
            best.filter(|best| penalised(best) > 0.0)
        };
        let chosen: Vec<Option<usize>> =
            (0..folds as u32).map(|fold| best(&|other| held_out.informs(other, fold))).collect();
        let of_folds: Vec<Option<Tilt>> = chosen.iter().map(|number| number.map(candidate)).collect();
        let log_scores = rows.iter().zip(&gains).map(|(row, gains)| {
            (held_out.weights[*row], chosen[held_out.folds[*row] as usize].map_or(0.0, |number| gains[number]))
        });
        let tilt = |row: usize| of_folds[held_out.folds[row] as usize].as_ref();
        if is_better(log_scores.collect(), crps_gains(pooled, held_out, &rows, tilt)) {
            Self { of_folds, of_all: best(&|_| true).map(candidate) }
        } else {
            none()
        }
    }
}

/// The gain in log likelihood of a row by each candidate.
fn gains(held_out: &HeldOutRows, mixture: Mixture<'_>, row: usize) -> Vec<f64> {
    let likelihood = |mixture: Mixture<'_>| libm::exp(-score_of_row(held_out, mixture, row, 1.0));
    let of_kind = |atoms: bool| -> Vec<f64> {
        let kept = |(weight, sd): (&f64, &f64)| if (*sd == 0.0) == atoms { *weight } else { 0.0 };
        mixture.weights.iter().zip(mixture.sds).map(kept).collect()
    };
    let continuous = of_kind(false);
    let total: f64 = continuous.iter().sum();
    let y = held_out.y[row];
    let is_atom = held_out.interval(row).is_none()
        && mixture.sds.iter().zip(mixture.means).any(|(sd, mean)| *sd == 0.0 && *mean == y);
    let mut gains = vec![0.0; TRIED];
    if total <= 0.0 || is_atom {
        return gains;
    }
    // In an interval there may be atoms, too.
    let fixed = match held_out.interval(row) {
        Some(_) => likelihood(Mixture { weights: &of_kind(true), ..mixture }),
        None => 0.0,
    };
    let own = likelihood(Mixture { weights: &continuous, ..mixture });
    let centres = CENTRES.map(|centre| centre.of(mixture));
    let amplitudes: [f64; AMPLITUDES] = std::array::from_fn(amplitude);
    for (shape, gains) in gains.chunks_exact_mut(AMPLITUDES).enumerate() {
        let width = WIDTHS[shape % WIDTHS.len()];
        let Some((centre, scale)) = centres[shape / WIDTHS.len()] else { continue };
        let components = continuous.iter().zip(mixture.means.iter().zip(mixture.sds));
        let bumps = components
            .filter(|(weight, _)| **weight > 0.0)
            .map(|(weight, (mean, sd))| weight * mean_bump(*mean, *sd, centre, width * scale));
        let mass = bumps.sum::<f64>() / total;
        // The bump at the target, or its mean over the interval.
        let bump = match held_out.interval(row) {
            Some(_) => likelihood(Product::of(mixture, centre, width * scale).as_mixture()) / own,
            None => {
                let z = (y - centre) / (width * scale);
                libm::exp(-0.5 * z * z)
            }
        };
        for (gain, amplitude) in gains.iter_mut().zip(&amplitudes) {
            let tilted = own * (1.0 + amplitude * bump) / (1.0 + amplitude * mass);
            let ratio = (fixed + tilted) / (fixed + own);
            // A row that no component expects says nothing.
            let ratio = if own > 0.0 { ratio } else { 1.0 / (1.0 + amplitude * mass) };
            *gain = libm::log(ratio);
        }
    }
    gains
}

/// The weights of some rows, and how much smaller their CRPS is in units of the mean.
fn crps_gains<'a>(
    pooled: &Mixtures,
    held_out: &HeldOutRows,
    rows: &[usize],
    tilt: impl Fn(usize) -> Option<&'a Tilt> + Sync,
) -> Vec<(f64, f64)> {
    let every = rows.len().div_ceil(MOST_SCORED).max(1);
    let scored: Vec<usize> = rows.iter().copied().step_by(every).filter(|row| !held_out.censored[*row]).collect();
    let both = |row: &usize| {
        let before = pooled.row(*row).crps(held_out.y[*row]);
        let Mixture { weights, means, sds } = pooled.row(*row);
        let own = Mixtures::from_parts_unchecked(weights.len(), weights.into(), means.into(), sds.into());
        let tilted = Tilt::applied(&own, &[own.components()], |_| tilt(*row));
        (held_out.weights[*row], before, tilted.row(0).crps(held_out.y[*row]))
    };
    let scores: Vec<(f64, f64, f64)> = scored.par_iter().map(both).collect();
    let total: f64 = scores.iter().map(|(weight, ..)| weight).sum();
    let mean = scores.iter().map(|(weight, before, _)| weight * before).sum::<f64>() / total;
    scores.into_iter().map(|(weight, before, after)| (weight, (before - after) / mean)).collect()
}

/// Whether the mean of the gains in both scores is clearly positive.
fn is_better(log_scores: Vec<(f64, f64)>, crps: Vec<(f64, f64)>) -> bool {
    let parts = [log_scores, crps].map(|gains| {
        let total: f64 = gains.iter().map(|(weight, _)| weight).sum();
        if total <= 0.0 {
            return (0.0, 0.0);
        }
        let mean = gains.iter().map(|(weight, gain)| weight * gain).sum::<f64>() / total;
        let square = gains.iter().map(|(weight, gain)| (weight / total * (gain - mean)).powi(2)).sum::<f64>();
        (mean, square)
    });
    let (gain, square) = parts.into_iter().fold((0.0, 0.0), |(gain, square), part| (gain + part.0, square + part.1));
    gain.is_finite() && gain > CLEARLY * square.sqrt() && gain > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

    fn held_out(y: Vec<f64>) -> HeldOutRows {
        let rows = y.len() as u32;
        HeldOutRows {
            rows: (0..rows).collect(),
            folds: (0..rows).map(|row| row % 5).collect(),
            weights: vec![1.0; y.len()],
            censored: vec![false; y.len()],
            y,
            intervals: None,
            bounds: None,
            in_time_order: false,
        }
    }

    /// Two models that disagree, with an atom.
    fn mixtures() -> Mixtures {
        Mixtures::from_parts_unchecked(4, vec![0.3, 0.3, 0.2, 0.2], vec![-1.0, 0.5, 2.0, 7.0], vec![0.5, 1.0, 2.0, 0.0])
    }

    #[test]
    fn the_density_is_that_of_the_formula() {
        let pooled = mixtures();
        for centre in CENTRES {
            let tilt = Tilt { centre, width: 0.7, amplitude: 3.0 };
            let tilted = Tilt::applied(&pooled, &[1, 3], |_| Some(&tilt));
            let (row, before) = (tilted.row(0), pooled.row(0));
            assert!((row.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // The atom keeps its weight; products follow the components of their model.
            assert_eq!((row.weights[4], row.weights[7], row.sds[4]), (0.2, 0.0, 0.0));
            assert_eq!(row.means[0], -1.0);
            assert!(row.sds[1] < 0.5 && row.sds[0] == 0.5);
            let (centre, scale) = centre.of(before).unwrap();
            let formula = |y: f64| {
                let z = (y - centre) / (0.7 * scale);
                before.pdf(y) * (1.0 + 3.0 * (-0.5 * z * z).exp())
            };
            let ratio = row.pdf(0.3) / formula(0.3);
            for y in [-4.0, -1.0, 0.0, 1.7, 5.0] {
                assert!((row.pdf(y) / formula(y) / ratio - 1.0).abs() < 1e-9, "{y}");
            }
        }
    }

    #[test]
    fn the_peak_is_where_the_density_is_high() {
        // Narrow around 0, and a tenth far away.
        let skewed = Mixtures::from_parts_unchecked(2, vec![0.9, 0.1], vec![0.0, 10.0], vec![0.5, 3.0]);
        let (peak, scale) = Centre::Peak.of(skewed.row(0)).unwrap();
        assert!(peak.abs() < 0.1 && (0.5..0.9).contains(&scale), "{peak} {scale}");
        assert!((Centre::Mean.of(skewed.row(0)).unwrap().0 - 1.0).abs() < 1e-12);
        let atom = Mixtures::from_parts_unchecked(1, vec![1.0], vec![0.0], vec![0.0]);
        assert!(CENTRES.iter().all(|centre| centre.of(atom.row(0)).is_none()));
    }

    /// Targets that are mostly near 0, and else as wide as the predictions.
    fn peaked(count: usize) -> Vec<f64> {
        let mut rng = Rng::new(4, 0);
        let mut draw = || normal::quantile(rng.uniform());
        (0..count).map(|row| draw() * if row % 3 == 0 { 1.0 } else { 0.2 }).collect()
    }

    #[test]
    fn peaked_targets_get_their_coverage() {
        let held_out = held_out(peaked(1500));
        let pooled = Mixtures::new(2, vec![0.5; 3000], [-0.3, 0.3].repeat(1500), vec![1.0; 3000]).unwrap();
        let tilts = Tilts::of(&pooled, &held_out);
        let tilt = tilts.of_all.expect("a tilt");
        assert!(tilts.of_folds.iter().all(Option::is_some) && tilt.is_sound());
        let covered = |mixtures: &Mixtures, coverage: f64| {
            let inside = |row: &usize| (mixtures.row(*row).cdf(held_out.y[*row]) - 0.5).abs() < 0.5 * coverage;
            (0..1500).filter(inside).count() as f64 / 1500.0
        };
        let tilted = Tilt::applied(&pooled, &[1, 1], |_| Some(&tilt));
        let crps = |mixtures: &Mixtures| (0..1500).map(|row| mixtures.row(row).crps(held_out.y[row])).sum::<f64>();
        assert!(crps(&tilted) < 0.95 * crps(&pooled));
        for coverage in [0.38, 0.5, 0.9] {
            let (before, after) = (covered(&pooled, coverage) - coverage, covered(&tilted, coverage) - coverage);
            assert!(after.abs() < 0.5 * before.abs() + 0.03, "{coverage}: {before} {after}");
        }
    }

    #[test]
    fn the_gain_of_a_row_is_that_of_its_tilted_mixture() {
        let (lower, upper) = (vec![-0.4, 6.9, 0.2], vec![0.6, 7.1, 0.2]);
        let rows = held_out(vec![0.1, 7.0, 0.2]);
        let intervals = HeldOutRows { intervals: Some((lower, upper)), ..rows.clone() };
        let one = mixtures();
        for (held_out, row) in [(&rows, 0), (&rows, 1), (&rows, 2), (&intervals, 0), (&intervals, 1), (&intervals, 2)] {
            let gains = gains(held_out, one.row(0), row);
            for number in [0, 37, 120, TRIED - 1] {
                let tilt = candidate(number);
                let tilted = Tilt::applied(&one, &[4], |_| Some(&tilt));
                let score = |mixture: Mixture<'_>| score_of_row(held_out, mixture, row, 1.0);
                let expected = score(one.row(0)) - score(tilted.row(0));
                assert!((gains[number] - expected).abs() < 1e-9, "{row} {number}: {} {expected}", gains[number]);
            }
        }
    }

    #[test]
    fn calibrated_predictions_are_left_alone() {
        let mut rng = Rng::new(6, 0);
        let y: Vec<f64> = (0..1500).map(|_| normal::quantile(rng.uniform())).collect();
        let pooled = Mixtures::new(1, vec![1.0; 1500], vec![0.0; 1500], vec![1.0; 1500]).unwrap();
        let tilts = Tilts::of(&pooled, &held_out(y.clone()));
        assert!(tilts.of_all.is_none() && tilts.of_folds == vec![None; 5]);
        let bounded = HeldOutRows { bounds: Some([0.0, f64::INFINITY]), ..held_out(peaked(1500)) };
        assert!(Tilts::of(&pooled, &bounded).of_all.is_none());
        let few = pooled.take(&[0; 50], |_| (1.0, 1.0));
        assert!(Tilts::of(&few, &held_out(peaked(50))).of_all.is_none());
    }
}
