//! Trees against every split tried one by one.

use negmm_dist::math::rng::Rng;
use negmm_nn::ngboost::{Columns, Grower, Node};

/// Feature, threshold, where missing values go.
type Split = (usize, f32, bool);

struct Problem {
    columns: Vec<Vec<f32>>,
    gradient: Vec<f64>,
    weight: Vec<f64>,
}

impl Problem {
    fn right(&self, split: Split, row: usize) -> bool {
        let x = self.columns[split.0][row];
        if x.is_nan() { split.2 } else { x > split.1 }
    }

    /// The weighted sum of squares around the mean.
    fn squares(&self, rows: &[usize]) -> f64 {
        let weight: f64 = rows.iter().map(|&row| self.weight[row]).sum();
        let mean = rows.iter().map(|&row| self.weight[row] * self.gradient[row]).sum::<f64>() / weight;
        rows.iter().map(|&row| self.weight[row] * (self.gradient[row] - mean).powi(2)).sum()
    }

    /// By how much a split lowers it; `None` where a part is too small.
    fn gain(&self, rows: &[usize], split: Split, min_samples_leaf: usize) -> Option<f64> {
        let (right, left): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| self.right(split, **row));
        (left.len() >= min_samples_leaf && right.len() >= min_samples_leaf)
            .then(|| self.squares(rows) - self.squares(&left) - self.squares(&right))
    }

    fn best_gain(&self, rows: &[usize], min_samples_leaf: usize) -> f64 {
        let mut best: f64 = 0.0;
        for (feature, column) in self.columns.iter().enumerate() {
            for &row in rows.iter().filter(|row| !column[**row].is_nan()) {
                for missing_right in [false, true] {
                    let gain = self.gain(rows, (feature, column[row], missing_right), min_samples_leaf);
                    best = best.max(gain.unwrap_or(0.0));
                }
            }
        }
        best
    }

    /// Checks a node and those below it; the leaves of its rows are in `leaves`.
    fn check(
        &self,
        nodes: &[Node],
        number: usize,
        rows: &[usize],
        depth: usize,
        min_samples_leaf: usize,
        leaves: &[usize],
    ) {
        let node = nodes[number];
        let best = if depth == 0 { 0.0 } else { self.best_gain(rows, min_samples_leaf) };
        if node.is_leaf() {
            assert!(best < 1e-9, "a gain of {best} was left");
            let weight: f64 = rows.iter().map(|&row| self.weight[row]).sum();
            let mean = rows.iter().map(|&row| self.weight[row] * self.gradient[row]).sum::<f64>() / weight;
            assert!((f64::from(node.number) - mean).abs() < 1e-6);
            assert!(rows.iter().all(|&row| leaves[row] == number));
            return;
        }
        let split = (node.feature as usize, node.number, node.missing_right);
        let gain = self.gain(rows, split, min_samples_leaf).expect("parts are large enough");
        assert!(gain > best - 1e-9, "{gain} {best}");
        let (right, left): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| self.right(split, **row));
        let (lower, upper) = (self.last(split.0, &left), self.first(split.0, &right));
        if upper.is_finite() {
            assert_eq!(split.1, ((f64::from(lower) + f64::from(upper)) / 2.0) as f32, "the middle of its neighbours");
        }
        if rows.iter().all(|&row| !self.columns[split.0][row].is_nan()) {
            assert_eq!(node.missing_right, right.len() > left.len(), "missing values go to the larger part");
        }
        self.check(nodes, node.child as usize, &left, depth - 1, min_samples_leaf, leaves);
        self.check(nodes, node.child as usize + 1, &right, depth - 1, min_samples_leaf, leaves);
    }

    fn last(&self, feature: usize, rows: &[usize]) -> f32 {
        rows.iter().map(|&row| self.columns[feature][row]).fold(f32::NEG_INFINITY, f32::max)
    }

    fn first(&self, feature: usize, rows: &[usize]) -> f32 {
        rows.iter().map(|&row| self.columns[feature][row]).fold(f32::INFINITY, f32::min)
    }
}

#[test]
fn no_split_is_better_than_the_one_that_was_chosen() {
    let mut rng = Rng::new(11, 0);
    for case in 0..120 {
        let (rows, features) = (1 + rng.below(60), rng.below(4));
        let (levels, missing, min_samples_leaf) = (1 + rng.below(30), [0, 0, 4, 2][rng.below(4)], 1 + case % 3);
        let mut x = || match rng.below(8) < missing {
            true => f32::NAN,
            false => rng.below(levels) as f32 * 0.7 - 3.0,
        };
        let columns: Vec<Vec<f32>> = (0..features).map(|_| (0..rows).map(|_| x()).collect()).collect();
        let weighted = rng.below(2) == 0;
        let weight: Vec<f64> = (0..rows).map(|_| if weighted { rng.below(4) as f64 * 0.5 } else { 1.0 }).collect();
        if weight.iter().all(|weight| *weight == 0.0) {
            continue;
        }
        let gradients: Vec<[f64; 2]> = (0..rows).map(|_| [rng.uniform() - 0.5, rng.below(3) as f64]).collect();
        let products: Vec<[f64; 2]> = gradients.iter().zip(&weight).map(|(g, w)| g.map(|g| g * w)).collect();
        let view = Columns::new(&columns, rows).unwrap();
        let present: Vec<usize> = (0..rows).filter(|row| weight[*row] > 0.0).collect();
        let all: Vec<u32> = (0..features as u32).collect();
        for histogram in [false, true] {
            let mut grower = Grower::new(&view, None, histogram, 3, min_samples_leaf);
            // The second time, to see that nothing is left over from the first.
            grower.grow(&products, weighted.then_some(&weight), &all);
            let grown = grower.grow(&products, weighted.then_some(&weight), &all);
            for (tree, grown) in grown.iter().enumerate() {
                let problem = Problem {
                    columns: columns.clone(),
                    gradient: gradients.iter().map(|gradient| gradient[tree]).collect(),
                    weight: weight.clone(),
                };
                let leaves: Vec<usize> = grower.node.iter().map(|node| node[tree] as usize).collect();
                problem.check(grown.tree.nodes(), 0, &present, 3, min_samples_leaf, &leaves);
                // All rows, those of weight 0 too, are where the tree sends them.
                let mut found = vec![0; rows];
                grown.tree.leaves(&view, 0, &mut found);
                assert!(found.iter().zip(&leaves).all(|(found, leaf)| *found as usize == *leaf));
            }
        }
    }
}
