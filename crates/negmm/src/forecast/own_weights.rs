//! Stacking weights of single series, shrunk to those of all.
//!
//! A series' weights maximise the likelihood of its own held-out points times a Dirichlet prior around the weights of all
//! series. Its strength, in points, is the one with which each half of a series' origins is forecast best by weights from
//! the other half; where none is better than the weights of all, all series have those.

use super::ForecastPoint;

/// Candidates for the strength of the prior.
const STRENGTHS: [f64; 3] = [8.0, 32.0, 128.0];
/// Series at most.
const MOST_SERIES: usize = 5_000;
/// The mean log likelihood must be better by this.
const LEAST_GAIN: f64 = 0.01;
const ITERATIONS: usize = 50;

/// Weights by series, and those of each point from the other half of its series' origins.
pub(super) struct OwnWeights {
    pub(super) of_series: Vec<(usize, Vec<f64>)>,
    pub(super) of_points: Vec<Vec<f64>>,
}

impl OwnWeights {
    /// From the likelihoods of members relative to the best one, points × members; `prior` gives weights that were
    /// fitted without a point's series. `None` where series are too many, or alike.
    pub(super) fn fit(
        points: &[ForecastPoint],
        likelihoods: &[Vec<f64>],
        shared: &[f64],
        prior: impl Fn(usize) -> Vec<f64>,
    ) -> Option<Self> {
        let mut first = 0;
        let mut series: Vec<(usize, [Vec<usize>; 2])> = Vec::new();
        for own in points.chunk_by(|a, b| a.series == b.series) {
            let middle = own[own.len() / 2].origin;
            let half = |late: bool| {
                let rows = (0..own.len()).filter(move |at| (own[*at].origin >= middle) == late);
                rows.map(|at| first + at).collect::<Vec<_>>()
            };
            series.push((own[0].series, [half(false), half(true)]));
            first += own.len();
        }
        if !(2..=MOST_SERIES).contains(&series.len()) {
            return None;
        }
        let gain = |row: usize, weights: &[f64]| -> f64 {
            let likelihood = |weights: &[f64]| likelihoods[row].iter().zip(weights).map(|(l, w)| l * w).sum::<f64>();
            libm::log(likelihood(weights).max(f64::MIN_POSITIVE))
                - libm::log(likelihood(&prior(row)).max(f64::MIN_POSITIVE))
        };
        let across = |strength: f64| -> (f64, Vec<Vec<f64>>) {
            let (mut sum, mut of_points) = (0.0, vec![Vec::new(); points.len()]);
            for (_, halves) in &series {
                for (rows, others) in [(&halves[0], &halves[1]), (&halves[1], &halves[0])] {
                    let Some(row) = rows.first() else { continue };
                    let weights = shrunk(others, likelihoods, &prior(*row), strength);
                    for row in rows {
                        sum += gain(*row, &weights);
                        of_points[*row].clone_from(&weights);
                    }
                }
            }
            (sum / points.len() as f64, of_points)
        };
        let tried = STRENGTHS.map(|strength| (across(strength), strength));
        let ((gain, of_points), strength) = tried.into_iter().max_by(|a, b| a.0.0.total_cmp(&b.0.0))?;
        if gain < LEAST_GAIN {
            return None;
        }
        let of = |(number, halves): (usize, [Vec<usize>; 2])| {
            (number, shrunk(&halves.concat(), likelihoods, shared, strength))
        };
        Some(Self { of_series: series.into_iter().map(of).collect(), of_points })
    }
}

/// Weights with the highest likelihood of these rows times the prior, by expectation maximisation.
fn shrunk(rows: &[usize], likelihoods: &[Vec<f64>], prior: &[f64], strength: f64) -> Vec<f64> {
    let mut weights = prior.to_vec();
    for _ in 0..ITERATIONS {
        let mut sums: Vec<f64> = prior.iter().map(|weight| strength * weight).collect();
        for row in rows {
            let parts: Vec<f64> = likelihoods[*row].iter().zip(&weights).map(|(l, w)| l * w).collect();
            let total: f64 = parts.iter().sum();
            if total > 0.0 {
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part / total);
            }
        }
        let total: f64 = sums.iter().sum();
        weights = sums.iter().map(|sum| sum / total).collect();
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_that_prefer_different_members_have_different_weights() {
        let point = |series: usize, origin: usize| ForecastPoint { series, origin, ahead: 1 };
        let points: Vec<ForecastPoint> =
            (0..4).flat_map(|series| (0..40).map(move |origin| point(series, origin))).collect();
        let fit = |likelihood: &dyn Fn(&ForecastPoint) -> Vec<f64>| {
            let likelihoods: Vec<Vec<f64>> = points.iter().map(likelihood).collect();
            OwnWeights::fit(&points, &likelihoods, &[0.5, 0.5], |_| vec![0.5, 0.5])
        };
        let own = fit(&|point| if point.series % 2 == 0 { vec![1.0, 0.2] } else { vec![0.2, 1.0] }).unwrap();
        assert!(own.of_series[0].1[0] > 0.8 && own.of_series[1].1[1] > 0.8, "{:?}", own.of_series);
        assert_eq!((own.of_points.len(), own.of_series.len()), (160, 4));
        // What changes from one half to the other is no property of a series.
        assert!(fit(&|point| if point.origin < 20 { vec![1.0, 0.2] } else { vec![0.2, 1.0] }).is_none());
    }
}
