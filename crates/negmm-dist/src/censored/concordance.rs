//! Harrell's concordance index: how often of two rows the one with the larger prediction has the larger target.

use crate::CensoredTargets;
use crate::weights::weight_of;

/// The fraction of comparable pairs that are predicted in the order of their targets; two equal predictions count half. 0.5 is the
/// expectation of random predictions; `None` if no pair is comparable.
///
/// Two rows are comparable if the second lies above the upper end of the first, or is only known to exceed that end. The weight of a
/// pair is the product of its rows' weights.
///
/// # Panics
/// When there is not one prediction, and one weight, for each row.
pub fn concordance(known: &CensoredTargets, predicted: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let (rows, ranks) = (known.lower.len(), ranks(predicted));
    let open = |row: usize| !known.is_value(row);
    let mut firsts: Vec<usize> = (0..rows).filter(|row| known.upper[*row].is_finite()).collect();
    firsts.sort_by(|a, b| known.upper[*b].total_cmp(&known.upper[*a]));
    let mut seconds: Vec<usize> = (0..rows).collect();
    seconds.sort_by(|a, b| known.lower[*b].total_cmp(&known.lower[*a]).then(open(*b).cmp(&open(*a))));
    let is_later = |row: usize, end: f64| known.lower[row] > end || (known.lower[row] == end && open(row));
    let mut later = seconds.into_iter().peekable();
    let (mut seen, mut total) = (PrefixSums::new(rows), 0.0);
    let (mut right, mut pairs) = (0.0, 0.0);
    for first in firsts {
        while let Some(row) = later.next_if(|row| is_later(*row, known.upper[first])) {
            seen.add(ranks[row], weight_of(weights, row));
            total += weight_of(weights, row);
        }
        let (below, up_to) = (seen.before(ranks[first]), seen.before(ranks[first] + 1));
        let weight = weight_of(weights, first);
        right += weight * (total - 0.5 * (below + up_to));
        pairs += weight * total;
    }
    (pairs > 0.0).then(|| (right / pairs).clamp(0.0, 1.0))
}

/// The rank of each number among the distinct ones, in ascending order, from 0.
fn ranks(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let mut ranks = vec![0; numbers.len()];
    for (rank, group) in order.chunk_by(|a, b| numbers[*a] == numbers[*b]).enumerate() {
        group.iter().for_each(|row| ranks[*row] = rank);
    }
    ranks
}

/// Prefix sums of numbers that are added to, each in logarithmic time: a Fenwick tree.
struct PrefixSums(Vec<f64>);

impl PrefixSums {
    fn new(numbers: usize) -> Self {
        Self(vec![0.0; numbers + 1])
    }

    fn add(&mut self, number: usize, more: f64) {
        let mut node = number + 1;
        while node < self.0.len() {
            self.0[node] += more;
            node += node & node.wrapping_neg();
        }
    }

    fn before(&self, number: usize) -> f64 {
        let (mut node, mut sum) = (number, 0.0);
        while node > 0 {
            sum += self.0[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MEANS, TIES, known};
    use super::*;
    use crate::Rng;

    #[test]
    fn lifelines_and_scikit_survival_have_the_same_index() {
        // lifelines 0.30.3: concordance_index(time, mean, event);
        // scikit-survival 0.28: concordance_index_censored(event, time, -mean)[0].
        let index = concordance(&known(&TIES), &MEANS, None).unwrap();
        assert!((index - 0.961_538_461_538_461_6).abs() < 1e-15, "{index}");
    }

    /// Every pair, one after the other.
    fn plain(known: &CensoredTargets, predicted: &[f64], weights: &[f64]) -> f64 {
        let (mut right, mut pairs) = (0.0, 0.0);
        for a in 0..predicted.len() {
            for b in 0..predicted.len() {
                let equal = known.lower[b] == known.upper[a] && known.upper[b] > known.lower[b];
                if !(known.lower[b] > known.upper[a] || equal) {
                    continue;
                }
                pairs += weights[a] * weights[b];
                right += weights[a]
                    * weights[b]
                    * if predicted[b] > predicted[a] {
                        1.0
                    } else if predicted[b] == predicted[a] {
                        0.5
                    } else {
                        0.0
                    };
            }
        }
        right / pairs
    }

    #[test]
    fn it_equals_the_sum_over_all_pairs() {
        let mut rng = Rng::new(5, 0);
        for rows in [2, 3, 10, 200] {
            let mut whole = |most: f64| (most * rng.uniform()).floor();
            let lower: Vec<f64> = (0..rows).map(|_| whole(12.0)).collect();
            let width = |kind: f64| if kind > 4.0 { f64::INFINITY } else { (kind - 2.0).max(0.0) };
            let upper: Vec<f64> = lower.iter().map(|lower| lower + width(whole(6.0))).collect();
            let predicted: Vec<f64> = lower.iter().map(|lower| lower + whole(8.0)).collect();
            let weights: Vec<f64> = lower.iter().map(|_| whole(3.0) + 0.25).collect();
            let known = CensoredTargets { lower, upper };
            let expected = plain(&known, &predicted, &weights);
            match concordance(&known, &predicted, Some(&weights)) {
                Some(index) => assert!((index - expected).abs() < 1e-12, "{index} {expected}"),
                None => assert!(expected.is_nan()),
            }
        }
    }

    #[test]
    fn without_comparable_pairs_there_is_none() {
        let all_censored = CensoredTargets { lower: vec![1.0, 2.0], upper: vec![f64::INFINITY; 2] };
        assert_eq!(concordance(&all_censored, &[1.0, 2.0], None), None);
        let all_equal = CensoredTargets { lower: vec![1.0; 3], upper: vec![1.0; 3] };
        assert_eq!(concordance(&all_equal, &[1.0, 2.0, 3.0], None), None);
        assert_eq!(concordance(&CensoredTargets { lower: vec![], upper: vec![] }, &[], None), None);
    }
}
