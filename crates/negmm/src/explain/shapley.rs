//! Shapley values of a row against one background row, exactly or by walks along permutations.
//!
//! Only the columns in which the two rows differ take part: all others contribute nothing. A walk starts at the
//! background row and takes over one column after the other; the change of the answer at each step is an unbiased
//! estimate of the column's Shapley value. Each permutation is walked in both directions (antithetic pairs: Mitchell,
//! Cooper, Frank and Holmes, 2022), which makes the estimate exact where no more than two columns interact. The changes
//! of a walk add up to the whole difference, whatever the permutation.
//!
//! With P pairs and m_p the mean of the two changes of pair p, the squared standard error of a contribution is
//!
//! ```text
//! sum_p (m_p - m)² / (P (P - 1))
//! ```
//!
//! One pair alone says nothing of it: a column in the middle of both walks changes the answer by the same amount twice.

/// How the columns that differ are dealt with.
#[derive(Clone, Debug)]
pub(super) enum Design {
    /// All subsets.
    Exact,
    /// Walks, each followed by its reverse: positions among the columns that differ.
    Walks(Vec<Vec<usize>>),
}

/// A background row and the columns in which it differs from the row that is explained.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub other: u32,
    pub differing: Vec<usize>,
    pub design: Design,
}

/// Contributions of the columns that differ, answers × columns, and their squared standard errors, which are not known
/// of one pair of walks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contributions {
    pub values: Vec<f64>,
    pub variances: Option<Vec<f64>>,
}

impl Comparison {
    /// The design with fewer evaluations of `pairs` permutations of all columns, which are walked in both directions, and
    /// all subsets; `None`: all subsets.
    pub fn new(other: u32, differing: Vec<usize>, pairs: Option<&[Vec<usize>]>) -> Self {
        let design = match pairs {
            Some(pairs)
                if Self::subsets(differing.len())
                    .is_none_or(|exact| exact > 2 * pairs.len() * differing.len().saturating_sub(1)) =>
            {
                let position = |column: &usize| differing.iter().position(|other| other == column);
                let walks = pairs.iter().flat_map(|pair| {
                    let forward: Vec<usize> = pair.iter().filter_map(position).collect();
                    let backward = forward.iter().rev().copied().collect();
                    [forward, backward]
                });
                Design::Walks(walks.collect())
            }
            _ => Design::Exact,
        };
        Self { other, differing, design }
    }

    /// Subsets of so many columns without none and all of them; `None` where they are too many to count.
    fn subsets(columns: usize) -> Option<usize> {
        if columns == 0 { Some(0) } else { 1usize.checked_shl(columns as u32).map(|all| all - 2) }
    }

    /// The number of mixed rows whose answers are needed.
    pub fn evaluations(&self) -> usize {
        match &self.design {
            Design::Exact => Self::subsets(self.differing.len()).unwrap_or(usize::MAX),
            Design::Walks(walks) => walks.len() * (self.differing.len() - 1),
        }
    }

    /// Their masks over all `columns` columns, one after the other.
    pub fn masks(&self, columns: usize, masks: &mut Vec<bool>) {
        let mut add = |taken: &mut dyn Iterator<Item = usize>| {
            let first = masks.len();
            masks.resize(first + columns, false);
            taken.for_each(|at| masks[first + self.differing[at]] = true);
        };
        match &self.design {
            Design::Exact => {
                for subset in 1..=Self::subsets(self.differing.len()).unwrap_or(0) {
                    add(&mut (0..self.differing.len()).filter(|at| subset >> at & 1 == 1));
                }
            }
            Design::Walks(walks) => {
                for walk in walks {
                    (1..walk.len()).for_each(|taken| add(&mut walk[..taken].iter().copied()));
                }
            }
        }
    }

    /// The contributions, from the answers of the background row, of the explained row, and of the mixed rows
    /// (evaluations × answers).
    pub fn contributions(&self, none: &[f64], all: &[f64], mixed: &[f64]) -> Contributions {
        match &self.design {
            Design::Exact => self.exact(none, all, mixed),
            Design::Walks(walks) => self.walked(walks, none, all, mixed),
        }
    }

    fn exact(&self, none: &[f64], all: &[f64], mixed: &[f64]) -> Contributions {
        let (answers, columns) = (none.len(), self.differing.len());
        let mut values = vec![0.0; answers * columns];
        let last = (1usize << columns) - 1;
        let value = |subset: usize, answer: usize| match subset {
            0 => none[answer],
            _ if subset == last => all[answer],
            _ => mixed[(subset - 1) * answers + answer],
        };
        let weights = weights(columns);
        for answer in 0..answers {
            for subset in 0..last {
                let (weight, own) = (weights[subset.count_ones() as usize], value(subset, answer));
                for column in (0..columns).filter(|column| subset >> column & 1 == 0) {
                    values[answer * columns + column] += weight * (value(subset | 1 << column, answer) - own);
                }
            }
        }
        Contributions { variances: Some(vec![0.0; values.len()]), values }
    }

    fn walked(&self, walks: &[Vec<usize>], none: &[f64], all: &[f64], mixed: &[f64]) -> Contributions {
        let (answers, columns, pairs) = (none.len(), self.differing.len(), walks.len() / 2);
        let mut values = vec![0.0; answers * columns];
        let mut variances = vec![0.0; answers * columns];
        let steps = columns - 1;
        for answer in 0..answers {
            // Walks × columns.
            let mut changes = vec![0.0; walks.len() * columns];
            for (at, walk) in walks.iter().enumerate() {
                let mut before = none[answer];
                for (step, column) in walk.iter().enumerate() {
                    let after = if step == steps { all[answer] } else { mixed[(at * steps + step) * answers + answer] };
                    changes[at * columns + column] = after - before;
                    before = after;
                }
            }
            for column in 0..columns {
                let change = |walk: usize| changes[walk * columns + column];
                let pair = |pair: usize| 0.5 * (change(2 * pair) + change(2 * pair + 1));
                let mean = (0..pairs).map(pair).sum::<f64>() / pairs as f64;
                values[answer * columns + column] = mean;
                let squares: f64 = (0..pairs).map(|at| (pair(at) - mean) * (pair(at) - mean)).sum();
                variances[answer * columns + column] = squares / (pairs * pairs.saturating_sub(1)).max(1) as f64;
            }
        }
        Contributions { values, variances: (pairs > 1).then_some(variances) }
    }
}

/// |S|! (d - |S| - 1)! / d! for each size of S.
fn weights(columns: usize) -> Vec<f64> {
    // 1 / (d · (d - 1 choose |S|))
    let mut choose = 1.0;
    (0..columns)
        .map(|size| {
            let weight = 1.0 / (columns as f64 * choose);
            choose = choose * (columns - 1 - size) as f64 / (size + 1) as f64;
            weight
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contributions to a function of the set of columns, by some permutations or exactly.
    fn of(columns: usize, pairs: Option<&[Vec<usize>]>, game: impl Fn(&[bool]) -> f64) -> Contributions {
        let comparison = Comparison::new(0, (0..columns).collect(), pairs);
        let mut masks = Vec::new();
        comparison.masks(columns, &mut masks);
        let mixed: Vec<f64> = masks.chunks(columns).map(&game).collect();
        assert_eq!(mixed.len(), comparison.evaluations());
        comparison.contributions(&[game(&vec![false; columns])], &[game(&vec![true; columns])], &mixed)
    }

    /// By the definition: the mean over all permutations.
    fn brute_force(columns: usize, game: impl Fn(&[bool]) -> f64) -> Vec<f64> {
        fn permute(rest: Vec<usize>, taken: Vec<usize>, see: &mut impl FnMut(&[usize])) {
            if rest.is_empty() {
                return see(&taken);
            }
            for at in 0..rest.len() {
                let (mut rest, mut taken) = (rest.clone(), taken.clone());
                taken.push(rest.remove(at));
                permute(rest, taken, see);
            }
        }
        let (mut sums, mut count) = (vec![0.0; columns], 0.0);
        permute((0..columns).collect(), Vec::new(), &mut |order| {
            let mut mask = vec![false; columns];
            for column in order {
                let before = game(&mask);
                mask[*column] = true;
                sums[*column] += game(&mask) - before;
            }
            count += 1.0;
        });
        sums.into_iter().map(|sum| sum / count).collect()
    }

    fn three_way(mask: &[bool]) -> f64 {
        let x: Vec<f64> = mask.iter().enumerate().map(|(at, on)| if *on { 1.0 + at as f64 } else { -0.5 }).collect();
        x[0] * x[1] * x[2] + x[1] * x[3] - 2.0 * x[4] + libm::sin(x.iter().sum())
    }

    #[test]
    fn subsets_give_what_all_permutations_give() {
        for columns in 5..=8 {
            let exact = of(columns, None, three_way);
            for (value, expected) in exact.values.iter().zip(brute_force(columns, three_way)) {
                assert!((value - expected).abs() < 1e-11, "{columns} columns: {value} {expected}");
            }
            assert!(exact.variances.unwrap().iter().all(|variance| *variance == 0.0));
        }
    }

    #[test]
    fn a_pair_is_exact_where_two_columns_interact() {
        let pairwise = |mask: &[bool]| {
            let x: Vec<f64> = mask.iter().map(|on| f64::from(u8::from(*on))).collect();
            3.0 * x[0] - x[1] + 2.0 * x[0] * x[2] + x[3] * x[4] - x[1] * x[4]
        };
        let walked = of(5, Some(&[vec![3, 0, 4, 1, 2]]), pairwise);
        for (value, expected) in walked.values.iter().zip(brute_force(5, pairwise)) {
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
    }

    #[test]
    fn walks_are_unbiased_within_their_errors_and_add_up() {
        let mut rng = crate::Rng::new(3, 0);
        let expected = brute_force(5, three_way);
        let pairs: Vec<Vec<usize>> = (0..14)
            .map(|_| {
                let mut order = vec![0, 1, 2, 3, 4];
                rng.shuffle(&mut order);
                order
            })
            .collect();
        // More evaluations than there are subsets: exact.
        let exact = Comparison::new(0, vec![0, 1, 2, 3, 4], Some(&pairs));
        assert!(matches!(exact.design, Design::Exact));
        let walks = pairs.iter().flat_map(|order| [order.clone(), order.iter().rev().copied().collect()]);
        let many = Comparison { design: Design::Walks(walks.collect()), ..exact };
        for comparison in [many, Comparison::new(0, vec![0, 1, 2, 3, 4], Some(&pairs[..1]))] {
            let mut masks = Vec::new();
            comparison.masks(5, &mut masks);
            let mixed: Vec<f64> = masks.chunks(5).map(three_way).collect();
            let (none, all) = (three_way(&[false; 5]), three_way(&[true; 5]));
            let walked = comparison.contributions(&[none], &[all], &mixed);
            assert!((walked.values.iter().sum::<f64>() - (all - none)).abs() < 1e-12);
            let Some(variances) = walked.variances else { continue };
            for ((value, variance), expected) in walked.values.iter().zip(&variances).zip(&expected) {
                assert!((value - expected).abs() <= 5.0 * variance.sqrt() + 1e-9, "{value} {expected} {variance}");
            }
        }
    }

    #[test]
    fn columns_that_are_equal_contribute_nothing() {
        let comparison = Comparison::new(0, Vec::new(), Some(&[vec![0, 1]]));
        assert_eq!(comparison.evaluations(), 0);
        assert_eq!(comparison.contributions(&[1.0], &[1.0], &[]).values, Vec::<f64>::new());
        let one = Comparison::new(0, vec![1], Some(&[vec![0, 1]]));
        assert_eq!(one.evaluations(), 0);
        assert_eq!(one.contributions(&[1.0], &[3.5], &[]).values, [2.5]);
    }
}
