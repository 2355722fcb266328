//! SampleNet's regulariser, the Sinkhorn divergence between samples and draws from a prior: the reference.
//!
//! Two clouds of equally likely points, x_1 .. x_M and y_1 .. y_K, the cost |x - y|²/2 and the temperature e = 0.05²:
//!
//! ```text
//! OT(x, y) = min over plans with both marginals of  <plan, cost> + e KL(plan | uniform)  =  mean_i f_i + mean_j g_j
//! S(x, y)  = OT(x, y) - OT(x, x)/2 - OT(y, y)/2
//!          = mean_i (cross_x_i - own_x_i) + mean_j (cross_y_j - own_y_j)
//! ```
//!
//! with a dual potential at each point: cross_x, cross_y of the problem between the clouds, own_x, own_y of each with itself.
//! They satisfy f = softmin(g) and g = softmin(f), where, at a point a,
//!
//! ```text
//! softmin(h)(a) = -e ln (1/K sum_j exp((h_j - (a - y_j)²/2) / e))
//! ```
//!
//! and are found as geomloss finds them (Feydy, "Geometric data analysis, beyond convolutions", 2020, section 3.3.3) with
//! scaling 0.1: softmin(0) at first, then for each of a few falling temperatures, all four at once, the mean of a potential
//! and its update, and one last update. That is few updates, far from convergence, and part of what SampleNet's loss is.
//!
//! The gradient is that of the last update with the potentials before it fixed (the envelope theorem, exact when they have converged):
//!
//! ```text
//! dS / dx_i = 1/M (sum_j own_plan_ij x_j - sum_j cross_plan_ij y_j)        plan_i. = the softmin's weights, summing to 1
//! ```

/// Square root of the last temperature.
pub const BLUR: f64 = 0.05;
/// Ratio of the square roots of two temperatures.
const SCALING: f64 = 0.1;

/// The divergence between the clouds `x` and `y`.
pub fn value(x: &[f64], y: &[f64]) -> f64 {
    Potentials::last(x, y, temperatures(diameter(x, y))).divergence()
}

/// Its derivative with respect to each point of `x`, with the potentials before the last update fixed.
pub fn gradient(x: &[f64], y: &[f64]) -> Vec<f64> {
    let potentials = Potentials::before_last(x, y, temperatures(diameter(x, y)));
    potentials.pull(x, y)
}

/// The temperatures of the updates: the squared diameter, then falling by the squared scaling from there, then the last.
///
/// For diameter 1: 1, 1, 0.01, 0.0025. Clouds narrower than the blur start at the last temperature.
pub fn temperatures(diameter: f64) -> impl Iterator<Item = f64> + Clone {
    let diameter = diameter.max(BLUR);
    let (start, end, step) = (2.0 * libm::log(diameter), 2.0 * libm::log(BLUR), 2.0 * libm::log(SCALING));
    let falling = ((end - start) / step).ceil() as usize;
    let falling = (0..falling).map(move |at| libm::exp(start + at as f64 * step));
    [diameter * diameter].into_iter().chain(falling).chain([BLUR * BLUR])
}

/// The largest distance between any two points.
fn diameter(x: &[f64], y: &[f64]) -> f64 {
    let points = || x.iter().chain(y).copied();
    points().fold(f64::NEG_INFINITY, f64::max) - points().fold(f64::INFINITY, f64::min)
}

/// The dual potentials, one number for each point.
struct Potentials {
    cross_x: Vec<f64>,
    cross_y: Vec<f64>,
    own_x: Vec<f64>,
    own_y: Vec<f64>,
}

impl Potentials {
    /// Those that the last update starts from.
    fn before_last(x: &[f64], y: &[f64], temperatures: impl Iterator<Item = f64> + Clone) -> Self {
        let (x_zeros, y_zeros) = (vec![0.0; x.len()], vec![0.0; y.len()]);
        let zeros = Self { cross_x: x_zeros.clone(), cross_y: y_zeros.clone(), own_x: x_zeros, own_y: y_zeros };
        let hottest = temperatures.clone().next().unwrap_or(BLUR * BLUR);
        let mut potentials = zeros.updated(x, y, hottest);
        for temperature in temperatures {
            let updated = potentials.updated(x, y, temperature);
            let lists = [
                (&mut potentials.cross_x, updated.cross_x),
                (&mut potentials.cross_y, updated.cross_y),
                (&mut potentials.own_x, updated.own_x),
                (&mut potentials.own_y, updated.own_y),
            ];
            for (list, updated) in lists {
                list.iter_mut().zip(updated).for_each(|(old, new)| *old = 0.5 * (*old + new));
            }
        }
        potentials
    }

    /// Those that the divergence is made of.
    fn last(x: &[f64], y: &[f64], temperatures: impl Iterator<Item = f64> + Clone) -> Self {
        Self::before_last(x, y, temperatures).updated(x, y, BLUR * BLUR)
    }

    fn updated(&self, x: &[f64], y: &[f64], temperature: f64) -> Self {
        let softmins = |at: &[f64], points: &[f64], potentials: &[f64]| {
            at.iter().map(|&at| softmin(at, points, potentials, temperature).0).collect()
        };
        Self {
            cross_x: softmins(x, y, &self.cross_y),
            cross_y: softmins(y, x, &self.cross_x),
            own_x: softmins(x, x, &self.own_x),
            own_y: softmins(y, y, &self.own_y),
        }
    }

    fn divergence(&self) -> f64 {
        let mean_gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / a.len() as f64;
        mean_gap(&self.cross_x, &self.own_x) + mean_gap(&self.cross_y, &self.own_y)
    }

    fn pull(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let mean = |at: f64, points: &[f64], potentials: &[f64]| softmin(at, points, potentials, BLUR * BLUR).1;
        x.iter().map(|&at| (mean(at, x, &self.own_x) - mean(at, y, &self.cross_y)) / x.len() as f64).collect()
    }
}

/// softmin(potentials)(at), and the mean of the points with the softmin's weights.
fn softmin(at: f64, points: &[f64], potentials: &[f64], temperature: f64) -> (f64, f64) {
    let exponent = |(point, potential): (&f64, &f64)| (potential - 0.5 * (at - point) * (at - point)) / temperature;
    let exponents = || points.iter().zip(potentials).map(exponent);
    let largest = exponents().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mean) = (0.0, 0.0);
    for (exponent, point) in exponents().zip(points) {
        let weight = libm::exp(exponent - largest);
        sum += weight;
        mean += weight * point;
    }
    (-temperature * (largest + libm::log(sum / points.len() as f64)), mean / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Rng;

    fn clouds() -> (Vec<f64>, Vec<f64>) {
        let mut rng = Rng::new(3, 0);
        let x: Vec<f64> = (0..12).map(|_| rng.uniform() * rng.uniform()).collect();
        (x, (0..9).map(|_| rng.uniform()).collect())
    }

    /// Central differences of a function of each point of `x`.
    fn differences(x: &[f64], function: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        const STEP: f64 = 1e-6;
        let at = |point: usize, step: f64| {
            let mut x = x.to_vec();
            x[point] += step;
            function(&x)
        };
        (0..x.len()).map(|point| (at(point, STEP) - at(point, -STEP)) / (2.0 * STEP)).collect()
    }

    fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{found} {expected}");
        }
    }

    #[test]
    pub fn temperatures_are_those_of_geomloss() {
        let list = |diameter| temperatures(diameter).collect::<Vec<_>>();
        assert_close(&list(1.0), &[1.0, 1.0, 0.01, 0.0025], 1e-15);
        assert_close(&list(6.0), &[36.0, 36.0, 0.36, 0.0036, 0.0025], 1e-13);
        assert_eq!(list(0.0).len(), 2);
        assert_eq!((list(6.0).len(), list(1.0).len(), list(0.3).len()), (5, 4, 3));
    }

    #[test]
    fn gradient_is_that_of_the_last_update() {
        let (x, y) = clouds();
        let fixed = Potentials::before_last(&x, &y, temperatures(diameter(&x, &y)));
        let last_update = |moved: &[f64]| {
            let gap = |&at: &f64| {
                let cross = softmin(at, &y, &fixed.cross_y, BLUR * BLUR).0;
                cross - softmin(at, &x, &fixed.own_x, BLUR * BLUR).0
            };
            moved.iter().map(gap).sum::<f64>() / x.len() as f64
        };
        assert_close(&gradient(&x, &y), &differences(&x, last_update), 1e-8);
    }

    #[test]
    fn gradient_is_that_of_the_divergence_once_the_potentials_have_converged() {
        let (x, y) = clouds();
        let many = |x: &[f64], y: &[f64]| temperatures(diameter(x, y)).chain([BLUR * BLUR; 3000]);
        let converged = |moved: &[f64]| Potentials::last(moved, &y, many(moved, &y)).divergence();
        let pull = Potentials::before_last(&x, &y, many(&x, &y)).pull(&x, &y);
        assert_close(&pull, &differences(&x, converged), 1e-6);
    }

    #[test]
    fn a_cloud_is_no_distance_from_itself() {
        let (x, y) = clouds();
        assert_eq!(value(&x, &x), 0.0);
        assert_eq!(gradient(&x, &x), [0.0; 12]);
        assert!(value(&x, &y) > 0.0);
        // All points equal: zero diameter.
        assert_eq!((value(&[2.0; 3], &[2.0; 5]), gradient(&[2.0; 3], &[2.0; 5])), (0.0, vec![0.0; 3]));
        assert!((value(&[0.0], &[1.0]) - 0.5).abs() < 1e-15);
        assert!((gradient(&[0.0], &[1.0])[0] + 1.0).abs() < 1e-15);
    }
}
