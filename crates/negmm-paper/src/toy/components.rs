//! Errors of mixture components, matched to the true ones once for all rows: where components cross, a match at each x would
//! exchange them.

use negmm::Mixtures;

/// Root mean squared errors over all rows and both components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ComponentErrors {
    pub(super) weight: f64,
    /// With the weights of each row sorted, which needs no matching.
    pub(super) weight_sorted: f64,
    pub(super) mean: f64,
    pub(super) sd: f64,
}

/// Errors of mixtures with as many components as the truth, matched by the permutation with the lowest error of the means.
pub(super) fn errors(predicted: &Mixtures, truth: &Mixtures) -> Option<ComponentErrors> {
    let count = truth.components();
    if predicted.components() != count || predicted.len() != truth.len() || count < 2 {
        return None;
    }
    let squared = |order: &[usize], ours: &[f64], theirs: &[f64]| -> f64 {
        let row = |(ours, theirs): (&[f64], &[f64])| -> f64 {
            order.iter().zip(theirs).map(|(at, theirs)| (ours[*at] - theirs) * (ours[*at] - theirs)).sum()
        };
        ours.chunks(count).zip(theirs.chunks(count)).map(row).sum::<f64>() / theirs.len() as f64
    };
    let of_means = |order: &Vec<usize>| squared(order, predicted.means(), truth.means());
    let best = permutations(count).into_iter().min_by(|a, b| of_means(a).total_cmp(&of_means(b)))?;
    let sorted = |weights: &[f64]| -> Vec<f64> {
        let row = |row: &[f64]| {
            let mut row = row.to_vec();
            row.sort_by(f64::total_cmp);
            row
        };
        weights.chunks(count).flat_map(row).collect()
    };
    let in_order: Vec<usize> = (0..count).collect();
    Some(ComponentErrors {
        weight: squared(&best, predicted.weights(), truth.weights()).sqrt(),
        weight_sorted: squared(&in_order, &sorted(predicted.weights()), &sorted(truth.weights())).sqrt(),
        mean: of_means(&best).sqrt(),
        sd: squared(&best, predicted.sds(), truth.sds()).sqrt(),
    })
}

/// All permutations of 0 .. `count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut permutations = vec![Vec::new()];
    for item in 0..count {
        permutations = permutations
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |position| {
                    let mut order = order.clone();
                    order.insert(position, item);
                    order
                })
            })
            .collect();
    }
    permutations
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::Toy;

    #[test]
    fn exchanged_components_are_matched_for_all_rows() {
        let x = [-3.0, -1.0, 0.1, 2.0];
        let truth = Toy::Bimodal.truth(&x);
        let swap = |list: &[f64]| list.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect::<Vec<_>>();
        let swapped = Mixtures::new(2, swap(truth.weights()), swap(truth.means()), swap(truth.sds())).unwrap();
        assert_eq!(
            errors(&swapped, &truth),
            Some(ComponentErrors { weight: 0.0, weight_sorted: 0.0, mean: 0.0, sd: 0.0 })
        );
        // Exchanged at one x only: an error of that row.
        let mut means = truth.means().to_vec();
        means.swap(2, 3);
        let one = Mixtures::new(2, truth.weights().to_vec(), means, truth.sds().to_vec()).unwrap();
        let found = errors(&one, &truth).unwrap();
        assert_eq!((found.weight, found.weight_sorted), (0.0, 0.0));
        // At x = -1 the means are -1 and 1.
        assert!((found.mean - (2.0 * 2.0f64 * 2.0 / 8.0).sqrt()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn one_component_is_not_matched() {
        let truth = Toy::Heteroscedastic.truth(&[1.0]);
        assert_eq!(errors(&truth, &truth), None);
        assert_eq!(permutations(3).len(), 6);
    }
}
