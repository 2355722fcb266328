//! Which rows would be worth a measurement of their target: those that reduce the CRPS of the rows of interest the most.
//!
//! The members of a pool disagree about the mean of each row. With weights w_t, means m_t(x), a_t(x) = sqrt(w_t) (m_t(x) -
//! m(x)) and e²(x) = sum_t a_t(x)², the epistemic covariance of two rows is taken for
//!
//! ```text
//! C(x, z) = (1 - s) sum_t a_t(x) a_t(z) + s e(x) e(z) exp(-|x - z|² / (2 l²))        C(x, x) = e²(x)
//! ```
//!
//! The first part has no more directions than there are members: after as many rows nothing would be left, and the others of
//! a batch would be any. The second is that of a Gaussian process over the encoded inputs, with l the median distance of two
//! rows, by random Fourier features (Rahimi and Recht, 2007). A measurement at x, with the noise n²(x) that the members
//! expect, leaves
//!
//! ```text
//! C'(z, z) = C(z, z) - C(x, z)² / (C(x, x) + n²(x))
//! ```
//!
//! The CRPS of a normal distribution goes with its sd: less variance by d makes it smaller by about d / (2 sqrt(pi) sd(z)).
//! So a row is worth the mean of C(x, z)² / (C(x, x) + n²(x)) / sd(z) over all rows z of interest. Rows are chosen one after
//! the other, and C is updated after each: two rows that tell the same are not both chosen (greedy choice is within 1 - 1/e
//! of the best batch for such gains in the submodular case: Krause, Singh and Guestrin, 2008; expected variance
//! reduction: Cohn, Ghahramani and Jordan, 1996).

use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Model, Result};
use negmm_data::{Table, Warnings};
use negmm_dist::math::normal;
use negmm_dist::{MemberMoments, Rng, streams};

/// Rows that are chosen at most.
pub const MOST_ACQUIRED: usize = 100_000;
/// Rows at once.
const BATCH: usize = 16_384;
/// The part s of the covariance that goes by the distance of the inputs.
const BY_DISTANCE: f64 = 0.3;
/// Random frequencies, each a sine and a cosine, and pairs of rows of which the median distance is taken.
const FREQUENCIES: usize = 128;
const PAIRS: usize = 2000;
/// The fraction of the variance above which more rows would help, and below which the inputs cannot tell.
const EPISTEMIC: f64 = 0.3;
const ALEATORIC: f64 = 0.1;

/// The rows over which the epistemic part is to be reduced.
#[derive(Clone, Copy, Debug)]
pub enum Reference<'a> {
    /// All rows that may be chosen.
    Pool,
    /// The rows of another table.
    Rows(&'a Table),
}

/// A row that is worth a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Acquired {
    /// The row of the table, from 0.
    pub row: usize,
    /// The mean reduction of the epistemic variance over the rows of interest, in squared units of the target.
    pub reduction: f64,
    /// The epistemic sd of the row before any measurement.
    pub epistemic: f64,
    /// The sd of its noise.
    pub aleatoric: f64,
    /// The mean epistemic variance of the rows of interest that is left after this measurement and those before it.
    pub left: f64,
}

impl Acquired {
    /// What would help, in plain words.
    pub fn sentence(&self) -> &'static str {
        verdict(self.epistemic, self.aleatoric)
    }
}

/// What would narrow a distribution with these two parts, in plain words.
pub fn verdict(epistemic: f64, aleatoric: f64) -> &'static str {
    let whole = epistemic * epistemic + aleatoric * aleatoric;
    let fraction = if whole > 0.0 { epistemic * epistemic / whole } else { 0.0 };
    if fraction >= EPISTEMIC {
        "more rows like this one would help"
    } else if fraction < ALEATORIC {
        "these inputs cannot tell: more rows like this one would hardly help"
    } else {
        "more rows like this one would help a little"
    }
}

/// The `count` rows of a table whose targets are worth measuring, in the order in which they are chosen.
///
/// # Errors
/// When the model has one member, the table cannot be encoded, or more rows are wanted than there are.
pub fn acquire(
    model: &Model,
    pool: &Table,
    reference: Reference<'_>,
    count: usize,
) -> Result<(Vec<Acquired>, Warnings)> {
    if model.members() < 2 {
        return Err(Error::options(format!(
            "the rows worth measuring are found by the disagreement of members, and this model ({}) has one",
            model.method().name()
        )));
    }
    if count == 0 || count > MOST_ACQUIRED {
        return Err(Error::option("acquire", format!("must be from 1 to {MOST_ACQUIRED}, found {count}")));
    }
    let (own, mut warnings) = encoded(model, pool)?;
    if count > own.members.len() {
        let message = format!("{count} rows are to be chosen, and there are {}", own.members.len());
        return Err(pool.locate(Error::data(message)));
    }
    let frequencies = Frequencies::of(&own);
    let candidates = own.coordinates(&frequencies);
    let noise: Vec<f64> = own.members.iter().map(|row| noise(row)).collect();
    let found = match reference {
        Reference::Pool => chosen(&candidates, &noise, (&candidates, &own.worth()), count),
        Reference::Rows(table) => {
            let (others, more) = encoded(model, table)?;
            warnings.merge(&more);
            chosen(&candidates, &noise, (&others.coordinates(&frequencies), &others.worth()), count)
        }
    };
    Ok((found, warnings))
}

/// The greedy choice: rows × coordinates, whose products are covariances, of the candidates and of the rows of interest,
/// and what less variance of each of these is worth.
fn chosen(a: &[Vec<f64>], noise: &[f64], (of_interest, worth): (&[Vec<f64>], &[f64]), count: usize) -> Vec<Acquired> {
    let size = a.first().map_or(0, Vec::len);
    // G = mean over the rows of interest of worth a aᵀ, and the same where all are worth 1; S is the covariance of the
    // coordinates, at first the identity.
    let gram = |worth: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
        let row = |i: usize| {
            let mut sums = vec![0.0; size];
            for (at, row) in of_interest.iter().enumerate() {
                let factor = worth(at) * row[i] / of_interest.len() as f64;
                sums.iter_mut().zip(row).for_each(|(sum, z)| *sum += factor * z);
            }
            sums
        };
        (0..size).into_par_iter().flat_map_iter(row).collect()
    };
    let (valued, plain) = (gram(&|at| worth[at]), gram(&|_| 1.0));
    let times = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
        matrix.chunks_exact(size.max(1)).map(|row| dot(row, vector)).collect()
    };
    let mut covariance: Vec<f64> = (0..size * size).map(|at| f64::from(u8::from(at % (size + 1) == 0))).collect();
    let mut left: f64 = (0..size).map(|at| plain[at * (size + 1)]).sum();
    // Of each candidate aᵀ S G S a and aᵀ S a, which are updated as S is.
    let mut state: Vec<[f64; 2]> = a.par_iter().map(|row| [dot(row, &times(&valued, row)), dot(row, row)]).collect();
    let mut taken = vec![false; a.len()];
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let gain = |row: usize| {
            let [gain, variance] = state[row];
            if taken[row] {
                f64::NEG_INFINITY
            } else if variance + noise[row] > 0.0 {
                gain / (variance + noise[row])
            } else {
                0.0
            }
        };
        // The first of equal ones.
        let Some(best) = (0..a.len()).reduce(|best, row| if gain(row) > gain(best) { row } else { best }) else {
            break;
        };
        taken[best] = true;
        let spread = times(&covariance, &a[best]);
        let variance = dot(&a[best], &spread) + noise[best];
        let mut reduction = 0.0;
        if variance > 0.0 {
            let along = times(&valued, &spread);
            let (both, square) = (times(&covariance, &along), dot(&spread, &along));
            reduction = dot(&spread, &times(&plain, &spread)) / variance;
            state.par_iter_mut().with_min_len(256).zip(a).for_each(|([gain, own], row)| {
                let shared = dot(&spread, row);
                let part = shared / variance;
                *gain = (*gain - 2.0 * part * dot(&both, row) + part * part * square).max(0.0);
                *own = (*own - part * shared).max(0.0);
            });
            covariance.par_chunks_exact_mut(size).zip(&spread).for_each(|(row, own)| {
                row.iter_mut().zip(&spread).for_each(|(cell, other)| *cell -= own * other / variance);
            });
        }
        left = (left - reduction).max(0.0);
        found.push(Acquired {
            row: best,
            reduction,
            epistemic: dot(&a[best], &a[best]).sqrt(),
            aleatoric: noise[best].sqrt(),
            left,
        });
    }
    found
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The members' moments of rows, and their encoded inputs: rows × features.
struct Encoded {
    members: Vec<Vec<MemberMoments>>,
    inputs: Vec<Vec<f64>>,
}

impl Encoded {
    /// The coordinates of each row, whose products are the covariances.
    fn coordinates(&self, frequencies: &Frequencies) -> Vec<Vec<f64>> {
        let row = |(members, inputs): (&Vec<MemberMoments>, &Vec<f64>)| {
            let mut own = deviations(members);
            let epistemic = dot(&own, &own).sqrt();
            own.iter_mut().for_each(|deviation| *deviation *= (1.0 - BY_DISTANCE).sqrt());
            own.extend(frequencies.features(inputs).map(|feature| BY_DISTANCE.sqrt() * epistemic * feature));
            own
        };
        self.members.par_iter().zip(&self.inputs).map(row).collect()
    }

    /// What less variance of each row is worth: 1 / sd, but for a factor the change of its CRPS.
    fn worth(&self) -> Vec<f64> {
        let sd = |row: &Vec<MemberMoments>| {
            let own = deviations(row);
            (dot(&own, &own) + noise(row)).sqrt()
        };
        self.members.iter().map(|row| 1.0 / sd(row).max(f64::MIN_POSITIVE.sqrt())).collect()
    }
}

/// Random Fourier features: the products of those of two rows are about exp(-|x - z|² / (2 l²)).
struct Frequencies(Vec<Vec<f64>>);

impl Frequencies {
    /// With l the median distance of the rows.
    fn of(rows: &Encoded) -> Self {
        let inputs = &rows.inputs;
        let mut rng = Rng::new(0, streams::EXPLANATIONS.wrapping_add(3 << 32));
        let mut distances: Vec<f64> = (0..PAIRS)
            .map(|_| {
                let (x, z) = (&inputs[rng.below(inputs.len())], &inputs[rng.below(inputs.len())]);
                x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt()
            })
            .filter(|distance| *distance > 0.0)
            .collect();
        distances.sort_by(f64::total_cmp);
        let scale = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
        let features = inputs.first().map_or(0, Vec::len);
        let mut frequency = |_| (0..features).map(|_| normal::quantile(rng.uniform()) / scale).collect();
        Self((0..FREQUENCIES).map(&mut frequency).collect())
    }

    fn features<'a>(&'a self, inputs: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let height = (1.0 / self.0.len() as f64).sqrt();
        self.0.iter().flat_map(move |frequency| {
            let angle = dot(frequency, inputs);
            [height * libm::sin(angle), height * libm::cos(angle)]
        })
    }
}

/// The rows of a table for the model.
fn encoded(model: &Model, table: &Table) -> Result<(Encoded, Warnings)> {
    let (cells, warnings) = model.encoder().cells(table)?;
    let blocks = model.encoder().column_blocks();
    let rows: Vec<u32> = (0..cells.rows() as u32).collect();
    let (mut members, mut inputs) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for rows in rows.chunks(BATCH) {
        let masks = vec![false; rows.len() * blocks.names().len()];
        let data = blocks.mixed((&cells, rows), (&cells, rows), &masks);
        let own = data.x().chunks(data.stride().max(1)).take(rows.len());
        inputs.extend(own.map(|row| row[..data.features()].iter().map(|x| f64::from(*x)).collect::<Vec<f64>>()));
        let predictions = model.predict_encoded(&data)?;
        let no_members = || Error::options("the members of a pool of samples cannot be told apart");
        members.extend(predictions.member_moments().ok_or_else(no_members)?);
    }
    Ok((Encoded { members, inputs }, warnings))
}

/// The variance of a row that its members expect.
fn noise(members: &[MemberMoments]) -> f64 {
    members.iter().map(|member| member.weight * member.variance).sum()
}

/// sqrt(w_t) (m_t - m) of all members.
fn deviations(members: &[MemberMoments]) -> Vec<f64> {
    let mean: f64 = members.iter().map(|member| member.weight * member.mean).sum();
    members.iter().map(|member| member.weight.sqrt() * (member.mean - mean)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_gaussian_process() {
        // Four rows; the first two tell the same.
        let a = vec![vec![2.0, 0.0, 0.1], vec![2.0, 0.0, 0.1], vec![0.0, 1.0, 0.0], vec![0.1, 0.1, 0.1]];
        let noise = vec![0.2, 0.2, 0.5, 0.01];
        let worth = [1.0, 0.5, 2.0, 1.0];
        let found = chosen(&a, &noise, (&a, &worth), 3);
        // The reference: the whole covariance matrix, updated row by row.
        let cov = |x: usize, z: usize| a[x].iter().zip(&a[z]).map(|(x, z)| x * z).sum::<f64>();
        let mut c: Vec<Vec<f64>> = (0..4).map(|x| (0..4).map(|z| cov(x, z)).collect()).collect();
        let mut rest = vec![0, 1, 2, 3];
        for one in &found {
            let with = |x: usize, worth: &dyn Fn(usize) -> f64| {
                (0..4).map(|z| worth(z) * c[x][z] * c[x][z] / (c[x][x] + noise[x])).sum::<f64>() / 4.0
            };
            let gain = |x: usize| with(x, &|z| worth[z]);
            let best =
                rest.iter().copied().fold(rest[0], |best, x| if gain(x) > gain(best) + 1e-12 { x } else { best });
            assert_eq!(one.row, best);
            assert!((one.reduction - with(best, &|_| 1.0)).abs() < 1e-12);
            let (row, variance) = (c[best].clone(), c[best][best] + noise[best]);
            (0..4).for_each(|x| (0..4).for_each(|z| c[x][z] -= row[x] * row[z] / variance));
            assert!((one.left - (0..4).map(|x| c[x][x]).sum::<f64>() / 4.0).abs() < 1e-12);
            rest.retain(|row| *row != best);
        }
        assert_eq!(found[..2].iter().map(|one| one.row).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn rows_apart_are_chosen_beyond_the_number_of_members() {
        // All members agree on how rows go together: only their places tell them apart.
        let place = |row: usize| [-3.0, 0.0, 3.0][row / 10] + 0.01 * (row % 10) as f64;
        let member = |mean: f64| MemberMoments { weight: 0.5, mean, variance: 0.1 };
        let rows = Encoded {
            members: vec![vec![member(-1.0), member(1.0)]; 30],
            inputs: (0..30).map(|row| vec![place(row)]).collect(),
        };
        let frequencies = Frequencies::of(&rows);
        let product = |x: f64, z: f64| {
            let of = |x: f64| frequencies.features(&[x]).collect::<Vec<f64>>();
            dot(&of(x), &of(z))
        };
        // The median distance is about 3.
        for distance in [0.0, 1.0, 3.0, 6.0] {
            let expected = libm::exp(-distance * distance / 18.0);
            assert!((product(-1.0, distance - 1.0) - expected).abs() < 0.2, "{distance}");
        }
        let coordinates = rows.coordinates(&frequencies);
        assert!(coordinates.iter().all(|row| (dot(row, row) - 1.0).abs() < 1e-9));
        let found = chosen(&coordinates, &[0.1; 30], (&coordinates, &rows.worth()), 3);
        let mut clusters: Vec<usize> = found.iter().map(|one| one.row / 10).collect();
        clusters.sort_unstable();
        assert_eq!(clusters, [0, 1, 2]);
        assert!((rows.worth()[0] - 1.0 / 1.1f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_verdict_is_by_the_larger_part() {
        assert_eq!(verdict(2.0, 1.0), "more rows like this one would help");
        assert_eq!(verdict(0.1, 1.0), "these inputs cannot tell: more rows like this one would hardly help");
        assert_eq!(verdict(0.5, 1.0), "more rows like this one would help a little");
    }
}
