//! Which rows would be worth a measurement of their target: those that reduce the epistemic part the most.
//!
//! The members of a pool disagree about the mean of each row. With weights w_t, means m_t(x) and a_t(x) = sqrt(w_t)
//! (m_t(x) - m(x)), the epistemic covariance of two rows is
//!
//! ```text
//! C(x, z) = sum_t a_t(x) a_t(z)
//! ```
//!
//! as that of a Gaussian process with a prior of that covariance. A measurement at x, with the noise s²(x) that the
//! members expect, leaves
//!
//! ```text
//! C'(z, z) = C(z, z) - C(x, z)² / (C(x, x) + s²(x))
//! ```
//!
//! so a row is worth the mean of C(x, z)² / (C(x, x) + s²(x)) over all rows z of interest. Rows are chosen one after the
//! other, and C is updated after each: two rows that tell the same are not both chosen (greedy choice is within 1 - 1/e
//! of the best batch for such gains in the submodular case: Krause, Singh and Guestrin, 2008; expected variance
//! reduction: Cohn, Ghahramani and Jordan, 1996).

use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Model, Result};
use negmm_data::{Table, Warnings};
use negmm_dist::MemberMoments;

/// Rows that are chosen at most.
pub const MOST_ACQUIRED: usize = 100_000;
/// Rows at once.
const BATCH: usize = 16_384;
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
    let (members, mut warnings) = moments(model, pool)?;
    if count > members.len() {
        return Err(pool.locate(Error::data(format!("{count} rows are to be chosen, and there are {}", members.len()))));
    }
    let deviations: Vec<Vec<f64>> = members.par_iter().map(|row| deviations(row)).collect();
    let noise: Vec<f64> =
        members.iter().map(|row| row.iter().map(|member| member.weight * member.variance).sum()).collect();
    let of_interest = match reference {
        Reference::Pool => deviations.clone(),
        Reference::Rows(table) => {
            let (members, more) = moments(model, table)?;
            warnings.merge(&more);
            members.iter().map(|row| self::deviations(row)).collect()
        }
    };
    Ok((chosen(&deviations, &noise, &of_interest, count), warnings))
}

/// The greedy choice: `a` is rows × members, as `of_interest`.
fn chosen(a: &[Vec<f64>], noise: &[f64], of_interest: &[Vec<f64>], count: usize) -> Vec<Acquired> {
    let members = a.first().map_or(0, Vec::len);
    // G = mean over the rows of interest of a aᵀ; S is the covariance of the members' coordinates, at first the identity.
    let mut gram = vec![0.0; members * members];
    for row in of_interest {
        for (i, x) in row.iter().enumerate() {
            gram[i * members..][..members]
                .iter_mut()
                .zip(row)
                .for_each(|(sum, z)| *sum += x * z / of_interest.len() as f64);
        }
    }
    let mut covariance: Vec<f64> =
        (0..members * members).map(|at| f64::from(u8::from(at % (members + 1) == 0))).collect();
    let times = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
        matrix.chunks_exact(members).map(|row| row.iter().zip(vector).map(|(x, y)| x * y).sum()).collect()
    };
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut left: f64 = (0..members).map(|at| gram[at * (members + 1)]).sum();
    let mut taken = vec![false; a.len()];
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let gain = |row: usize| {
            let spread = times(&covariance, &a[row]);
            let variance = dot(&a[row], &spread) + noise[row];
            if variance > 0.0 { dot(&spread, &times(&gram, &spread)) / variance } else { 0.0 }
        };
        let gains: Vec<f64> = (0..a.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|row| if taken[row] { f64::NEG_INFINITY } else { gain(row) })
            .collect();
        // The first of equal ones.
        let Some(best) = (0..a.len()).reduce(|best, row| if gains[row] > gains[best] { row } else { best }) else {
            break;
        };
        taken[best] = true;
        let spread = times(&covariance, &a[best]);
        let variance = dot(&a[best], &spread) + noise[best];
        if variance > 0.0 {
            for i in 0..members {
                for j in 0..members {
                    covariance[i * members + j] -= spread[i] * spread[j] / variance;
                }
            }
        }
        left = (left - gains[best]).max(0.0);
        found.push(Acquired {
            row: best,
            reduction: gains[best],
            epistemic: dot(&a[best], &a[best]).sqrt(),
            aleatoric: noise[best].sqrt(),
            left,
        });
    }
    found
}

/// The members' moments of all rows.
fn moments(model: &Model, table: &Table) -> Result<(Vec<Vec<MemberMoments>>, Warnings)> {
    let (cells, warnings) = model.encoder().cells(table)?;
    let blocks = model.encoder().column_blocks();
    let rows: Vec<u32> = (0..cells.rows() as u32).collect();
    let mut all = Vec::with_capacity(rows.len());
    for rows in rows.chunks(BATCH) {
        let masks = vec![false; rows.len() * blocks.names().len()];
        let predictions = model.predict_encoded(&blocks.mixed((&cells, rows), (&cells, rows), &masks))?;
        let no_members = || Error::options("the members of a pool of samples cannot be told apart");
        all.extend(predictions.member_moments().ok_or_else(no_members)?);
    }
    Ok((all, warnings))
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
        let found = chosen(&a, &noise, &a, 3);
        // The reference: the whole covariance matrix, updated row by row.
        let cov = |x: usize, z: usize| a[x].iter().zip(&a[z]).map(|(x, z)| x * z).sum::<f64>();
        let mut c: Vec<Vec<f64>> = (0..4).map(|x| (0..4).map(|z| cov(x, z)).collect()).collect();
        let mut rest = vec![0, 1, 2, 3];
        for one in &found {
            let gain = |x: usize| (0..4).map(|z| c[x][z] * c[x][z] / (c[x][x] + noise[x])).sum::<f64>() / 4.0;
            let best =
                rest.iter().copied().fold(rest[0], |best, x| if gain(x) > gain(best) + 1e-12 { x } else { best });
            assert_eq!(one.row, best);
            assert!((one.reduction - gain(best)).abs() < 1e-12);
            let (row, variance) = (c[best].clone(), c[best][best] + noise[best]);
            (0..4).for_each(|x| (0..4).for_each(|z| c[x][z] -= row[x] * row[z] / variance));
            assert!((one.left - (0..4).map(|x| c[x][x]).sum::<f64>() / 4.0).abs() < 1e-12);
            rest.retain(|row| *row != best);
        }
        assert_eq!(found[..2].iter().map(|one| one.row).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn the_verdict_is_by_the_larger_part() {
        assert_eq!(verdict(2.0, 1.0), "more rows like this one would help");
        assert_eq!(verdict(0.1, 1.0), "these inputs cannot tell: more rows like this one would hardly help");
        assert_eq!(verdict(0.5, 1.0), "more rows like this one would help a little");
    }
}
