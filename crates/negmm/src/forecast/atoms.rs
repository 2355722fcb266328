//! Atoms in mixtures: rows that are replaced by discrete distributions, and constant histories.

use negmm_dist::Mixtures;

/// Sd of what may follow a constant history, relative to its value.
const CONSTANT_SD: f64 = 0.3;
/// The probability that a discrete forecast leaves for values that were not thought of, and the sds of the normals that
/// have it, in units of the forecast's scale: so that no value is impossible, and scores stay finite.
const UNTHOUGHT: f64 = 1e-6;
const UNTHOUGHT_SDS: [f64; 2] = [3.0, 30.0];

/// Weight, mean and sd of each component; an sd of 0 is an atom.
pub(super) type Components = Vec<(f64, f64, f64)>;

/// Whether a row has atoms.
pub(super) fn has_atoms(mixtures: &Mixtures, row: usize) -> bool {
    let row = mixtures.row(row);
    row.sds.iter().zip(row.weights).any(|(sd, weight)| *sd == 0.0 && *weight > 0.0)
}

/// Whether a row has nothing but atoms, apart from what is left for other values.
pub(super) fn is_discrete(mixtures: &Mixtures, row: usize) -> bool {
    let row = mixtures.row(row);
    row.sds.iter().zip(row.weights).all(|(sd, weight)| *sd == 0.0 || *weight <= UNTHOUGHT)
}

/// Leaves a little probability for all values around `centre`.
pub(super) fn leave_rest(atoms: &mut Components, centre: f64, scale: f64) {
    atoms.iter_mut().for_each(|(weight, ..)| *weight *= 1.0 - UNTHOUGHT);
    let each = UNTHOUGHT / UNTHOUGHT_SDS.len() as f64;
    atoms.extend(UNTHOUGHT_SDS.map(|sd| (each, centre, sd * scale)));
}

/// The distribution after a history of at least two equal values: by the rule of succession an atom with weight
/// n / (n + 1), and a wide normal.
pub(super) fn constant(history: &[f64]) -> Option<Components> {
    let value = history[0];
    if history.len() < 2 || history.iter().any(|other| *other != value) {
        return None;
    }
    let sd = if value == 0.0 { 1.0 } else { CONSTANT_SD * value.abs() };
    let steps = history.len() as f64;
    Some(vec![(steps / (steps + 1.0), value, 0.0), (1.0 / (steps + 1.0), value, sd)])
}

/// The mixtures with some rows replaced.
pub(super) fn replace_rows(mixtures: Mixtures, replaced: &[Option<Components>]) -> Mixtures {
    let Some(most) = replaced.iter().flatten().map(Vec::len).max() else { return mixtures };
    let padded = mixtures.padded_to(most);
    let components = padded.components();
    let (mut weights, mut means, mut sds) = (padded.weights().to_vec(), padded.means().to_vec(), padded.sds().to_vec());
    for (row, own) in replaced.iter().enumerate().filter_map(|(row, own)| own.as_ref().map(|own| (row, own))) {
        let filling = (0.0, own[0].1, 1.0);
        for (at, (weight, mean, sd)) in
            own.iter().copied().chain(std::iter::repeat(filling)).take(components).enumerate()
        {
            let at = row * components + at;
            (weights[at], means[at], sds[at]) = (weight, mean, sd);
        }
    }
    Mixtures::from_parts_unchecked(components, weights, means, sds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Distribution;

    #[test]
    fn rows_are_replaced_and_the_others_padded() {
        let pooled = Mixtures::new(1, vec![1.0; 2], vec![3.0, 4.0], vec![1.0; 2]).unwrap();
        let atoms = vec![(0.25, 0.0, 0.0), (0.75, 2.0, 0.0)];
        let replaced = replace_rows(pooled.clone(), &[None, Some(atoms)]);
        assert_eq!((replaced.row(0).mean(), replaced.row(1).mean()), (3.0, 1.5));
        assert_eq!(replaced.row(1).point_probability(0.0), 0.25);
        assert_eq!(replace_rows(pooled.clone(), &[None, None]), pooled);
    }
}
