//! Mode, entropy and raw moments of a mixture on its support, with a bound on the work for each row.

use super::Mixture;
use super::density_ranking::DensityRanking;
use super::panels::Panels;
use super::truncated::TruncatedMixture;
use super::truncated_component::TruncatedComponent;
use crate::distribution::Distribution;
use crate::grid::Grid;

/// The most probable value of a mixture on a grid; of very many, the maximum of the density.
pub(crate) fn mode_on_grid(mixture: Mixture<'_>, grid: Grid) -> f64 {
    DensityRanking::of_few(mixture, grid).mode(0.0)
}

/// Differential entropy -∫ p ln p of the density in nats, plus -Σ p ln p of atoms and values of a grid.
pub(crate) fn entropy(mixture: Mixture<'_>, bounds: (f64, f64), grid: Option<Grid>) -> f64 {
    let Some(grid) = grid else {
        let parts = Parts::new(mixture, bounds);
        let density = parts.integral(|_, density| surprise(density));
        return density + parts.atoms().iter().map(|(_, mass)| surprise(*mass)).sum::<f64>();
    };
    let ranking = DensityRanking::of_few(mixture, grid);
    let values: f64 = ranking.masses().map(|(_, mass)| surprise(mass)).sum();
    // The probability of a value is that of its cell, density · step.
    let step = grid.step();
    values
        + ranking.rest().map_or(0.0, |between| {
            Parts::new(mixture, between).part_of(mixture, between, |_, density| surprise(density * step) / step)
        })
}

/// E Yⁿ.
pub(crate) fn raw_moment(mixture: Mixture<'_>, bounds: (f64, f64), grid: Option<Grid>, order: u32) -> f64 {
    let Some(grid) = grid else {
        let cut = bounds.0.is_finite() || bounds.1.is_finite();
        let direct = cut.then(|| raw_moment_between(mixture, bounds, order)).flatten();
        return direct.unwrap_or_else(|| Parts::new(mixture, bounds).raw_moment(order));
    };
    let ranking = DensityRanking::of_few(mixture, grid);
    let values: f64 = ranking.masses().map(|(value, mass)| mass * power(value, order)).sum();
    values
        + ranking.rest().map_or(0.0, |between| {
            Parts::new(mixture, between).part_of(mixture, between, |y, density| density * power(y, order))
        })
}

/// E Yⁿ between bounds, the sum over components of weight · probability · E Yⁿ by that of weight · probability, without logarithms;
/// `None` where the probability between the bounds is too small for that.
fn raw_moment_between(mixture: Mixture<'_>, (lower, upper): (f64, f64), order: u32) -> Option<f64> {
    /// Far from where products underflow.
    const LEAST: f64 = 1e-200;
    let (mut sum, mut inside) = (0.0, 0.0);
    for (weight, mean, sd) in mixture.parts() {
        let component = match sd {
            0.0 if !(lower..=upper).contains(&mean) => continue,
            0.0 => TruncatedComponent::atom(mean),
            _ => TruncatedComponent::new(mean, sd, lower, upper),
        };
        let probability = weight * component.probability();
        if probability > 0.0 {
            inside += probability;
            sum += probability * component.raw_moment(order);
        }
    }
    (inside > LEAST).then(|| sum / inside)
}

/// -p ln p.
fn surprise(p: f64) -> f64 {
    if p > 0.0 { -p * libm::log(p) } else { 0.0 }
}

/// yⁿ by multiplication, with the same bits on every machine.
fn power(y: f64, order: u32) -> f64 {
    (0..order).fold(1.0, |product, _| product * y)
}

/// A mixture between bounds: its components, each truncated, made once for all points.
struct Parts {
    components: Vec<(f64, TruncatedComponent)>,
}

impl Parts {
    fn new(mixture: Mixture<'_>, (lower, upper): (f64, f64)) -> Self {
        Self { components: TruncatedMixture::new(mixture, lower, upper).into_components() }
    }

    /// Values of atoms with their probabilities.
    fn atoms(&self) -> Vec<(f64, f64)> {
        let atoms = self.components.iter().filter(|(_, component)| component.sd == 0.0);
        let mut atoms: Vec<(f64, f64)> = atoms.map(|(weight, component)| (component.base, *weight)).collect();
        atoms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        atoms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        atoms
    }

    /// ∫ f(y, density) dy, where the density is that of all but the atoms.
    fn integral(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        let smooth: Vec<&(f64, TruncatedComponent)> =
            self.components.iter().filter(|(_, component)| component.sd > 0.0).collect();
        if smooth.is_empty() {
            return 0.0;
        }
        let panels = Panels::new(smooth.iter().map(|(_, component)| *component));
        let (first, last) = panels.ends();
        let density = |y: f64| smooth.iter().map(|(weight, component)| weight * component.pdf(y)).sum::<f64>();
        panels.integral(first, last, |y| f(y, density(y)))
    }

    /// The same for the part of a mixture between bounds, whose density is not divided by its probability.
    fn part_of(&self, mixture: Mixture<'_>, (lower, upper): (f64, f64), f: impl Fn(f64, f64) -> f64) -> f64 {
        let inside = libm::exp(mixture.log_between(lower, upper)) - self.atoms_inside(mixture, (lower, upper));
        let own: f64 = self.components.iter().filter(|(_, one)| one.sd > 0.0).map(|(weight, _)| weight).sum();
        let scale = if own > 0.0 { inside / own } else { 0.0 };
        self.integral(|y, density| f(y, scale * density))
    }

    fn atoms_inside(&self, mixture: Mixture<'_>, (lower, upper): (f64, f64)) -> f64 {
        mixture.atoms().filter(|(_, value)| lower < *value && *value <= upper).map(|(weight, _)| weight).sum()
    }

    fn raw_moment(&self, order: u32) -> f64 {
        self.components.iter().map(|(weight, component)| weight * component.raw_moment(order)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DistributionRef, Support};

    const MIXTURE: Mixture<'_> =
        Mixture { weights: &[0.2, 0.3, 0.1, 0.4], means: &[0.0, 5.0, 5.1, -4.0], sds: &[1.0, 0.05, 3.0, 0.3] };

    fn row(support: Support) -> DistributionRef<'static> {
        DistributionRef { support, ..MIXTURE.into() }
    }

    fn bounded(lower: f64, upper: f64) -> Support {
        Support { lower: Some(lower), upper: Some(upper), ..Support::default() }
    }

    #[test]
    fn entropy_and_moments_agree_with_sums_over_the_density() {
        for support in [Support::default(), bounded(-4.2, 5.02), bounded(8.0, 9.0), bounded(0.1, 0.2)] {
            let row = row(support);
            let (low, high) = (row.quantile(1e-13), row.quantile_above(1e-13));
            let cells = 400_000;
            let width = (high - low) / f64::from(cells);
            let middles = (0..cells).map(|cell| low + (f64::from(cell) + 0.5) * width);
            let (mut entropy, mut moments) = (0.0, [0.0; 5]);
            let densities: Vec<(f64, f64)> = match support.is_whole_line() {
                true => middles.map(|y| (y, row.pdf(y))).collect(),
                // A truncated mixture is made anew for every value of a row: once is enough here.
                false => {
                    let inside = row.log_inside();
                    middles.map(|y| (y, libm::exp(MIXTURE.log_pdf(y) - inside))).collect()
                }
            };
            for (y, density) in densities {
                entropy += surprise(density) * width;
                for (order, moment) in moments.iter_mut().enumerate() {
                    *moment += power(y, order as u32) * density * width;
                }
            }
            assert!((row.entropy() - entropy).abs() < 1e-5, "{support:?}: {} {entropy}", row.entropy());
            for order in 1..5u32 {
                let (found, expected) = (row.raw_moment(order), moments[order as usize]);
                assert!((found / expected - 1.0).abs() < 1e-5, "{support:?} {order}: {found} {expected}");
            }
            assert!((row.raw_moment(1) - row.mean()).abs() < 1e-9 * row.mean().abs());
        }
    }

    #[test]
    fn values_far_outside_and_fine_grids_take_no_longer() {
        let far = Mixture { weights: &[0.5, 0.5], means: &[0.0, 1e9], sds: &[3.0, 1e7] };
        let support = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let row = DistributionRef { support, ..far.into() };
        // Half of a rounded half-normal at 0, and half of a normal variable of ten million values.
        let (narrow, wide) = (row.entropy(), 0.5 * (0.5 * libm::log(2.0 * std::f64::consts::PI * std::f64::consts::E)));
        assert!(narrow > wide && narrow.is_finite());
        assert!((row.raw_moment(1) / row.mean() - 1.0).abs() < 1e-6);
        // A grid that is fine beside the sd: the entropy of the density less the logarithm of the step.
        let one = Mixture { weights: &[1.0], means: &[3.0], sds: &[2.0] };
        let fine = Support { step: Some(1e-6), ..Support::default() };
        let rounded = DistributionRef { support: fine, ..one.into() };
        let smooth = DistributionRef::from(one);
        assert!((rounded.entropy() - smooth.entropy() + libm::log(1e-6)).abs() < 1e-9);
        assert!((rounded.raw_moment(4) / smooth.raw_moment(4) - 1.0).abs() < 1e-9);
        assert!((rounded.mode() - 3.0).abs() < 1e-5);
    }

    #[test]
    fn sds_of_tiny_and_huge_targets_are_finite_and_positive() {
        for unit in [1e-300, 1e300] {
            let weights = [0.5, 0.5];
            let (means, sds) = ([unit, 2.0 * unit], [0.5 * unit, 0.25 * unit]);
            let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
            let one = Mixture { weights: &weights, means: &[1.0, 2.0], sds: &[0.5, 0.25] };
            let ratio = DistributionRef::from(mixture).sd() / unit / DistributionRef::from(one).sd();
            assert!((ratio - 1.0).abs() < 1e-12, "{unit:e} {ratio}");
            let above = |unit: f64| Support { lower: Some(0.5 * unit), ..Support::default() };
            let bounded =
                |mixture, unit| DistributionRef { support: above(unit), ..DistributionRef::from(mixture) }.sd();
            let ratio = bounded(mixture, unit) / unit / bounded(one, 1.0);
            assert!((ratio - 1.0).abs() < 1e-12, "{unit:e} {ratio}");
        }
    }

    #[test]
    fn rare_atoms_are_not_the_mode_and_not_in_every_region() {
        let capped = |mass: f64| {
            let (weights, means, sds) = (vec![1.0 - mass, mass], vec![3.0, 12.0], vec![1.0, 0.0]);
            let mixtures = crate::Mixtures::new(2, weights, means, sds).unwrap();
            let support = Support { upper: Some(12.0), ..Support::default() };
            let row = DistributionRef { support, ..mixtures.row(0).into() };
            (row.mode(), row.hdr(0.9).intervals().to_vec())
        };
        let (mode, region) = capped(1e-4);
        assert!((mode - 3.0).abs() < 1e-6, "{mode}");
        assert_eq!(region.len(), 1);
        let (mode, region) = capped(0.4);
        assert_eq!(mode, 12.0);
        assert_eq!(region.len(), 2);
    }
}
