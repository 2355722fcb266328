//! Successive halving: the number of configurations and of training rows of each rung.
//!
//! All configurations are first tried on a small fraction of the training rows; the best 1 / factor advance to factor
//! times as many rows, until the last rung has all rows.

/// Minimum number of training rows of the first rung.
const LEAST_ROWS: usize = 40;

/// One rung: its number of configurations, and its fraction of the training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rung {
    pub(super) configurations: usize,
    pub(super) fraction: f64,
}

/// A single rung: everything on all rows.
pub(super) fn single(configurations: usize) -> Vec<Rung> {
    vec![Rung { configurations, fraction: 1.0 }]
}

/// As many rungs as leave at least one configuration for the last and enough rows for the first.
pub(super) fn halving(configurations: usize, factor: usize, rows: usize) -> Vec<Rung> {
    let (mut cuts, mut most) = (0, factor);
    while most <= configurations && rows / most >= LEAST_ROWS {
        cuts += 1;
        most = most.saturating_mul(factor);
    }
    let power = |exponent: usize| (0..exponent).map(|_| factor).product::<usize>();
    let rung = |number: usize| Rung {
        configurations: configurations.div_ceil(power(number)),
        fraction: 1.0 / power(cuts - number) as f64,
    };
    (0..=cuts).map(rung).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rung_has_fewer_configurations_and_more_rows() {
        let rungs = halving(27, 3, 10_000);
        assert_eq!(rungs.iter().map(|rung| rung.configurations).collect::<Vec<_>>(), [27, 9, 3, 1]);
        assert_eq!(rungs.last().unwrap().fraction, 1.0);
        assert!((rungs[0].fraction - 1.0 / 27.0).abs() < 1e-12);
        assert_eq!(halving(10, 3, 1000).iter().map(|rung| rung.configurations).collect::<Vec<_>>(), [10, 4, 2]);
    }

    #[test]
    fn few_rows_or_configurations_make_few_rungs() {
        assert_eq!(halving(27, 3, 130).len(), 2);
        assert_eq!(halving(27, 3, 60), single(27));
        assert_eq!(halving(1, 3, 10_000), single(1));
    }
}
