//! Predictive distributions from few rows, when mean and spread are themselves uncertain.

/// With fewer rows than this nothing is trained: the targets' own mean and a wide sd are the honest answer.
pub(crate) const LEAST_TRAINED: usize = 10;
/// With fewer rows than this folds are larger and distributions wider.
pub(super) const FEW: usize = 50;

/// The sd of a distribution that one target alone says something of, in units of its scale (see [`negmm_data::Target`]),
/// which is 1e-6 of its size: its size. A single row says nothing of the spread, and this guess is least wrong.
const ONE_ROW_SD: f64 = 1e6;

/// The sd, in sds of so few targets, of a normal distribution with the honest 95 % interval for another one.
pub(super) fn constant_sd(rows: usize) -> f64 {
    if rows < 2 {
        return ONE_ROW_SD;
    }
    let n = rows as f64;
    widening(rows) * (n / (n - 1.0)).sqrt()
}

/// How much wider than normal an interval is for another target when mean and sd are estimated from n others: Student's
/// quantile 0.975 over the normal one, times sqrt(1 + 1/n) for the mean's own error.
pub(super) fn widening(rows: usize) -> f64 {
    /// Student's quantiles with 1, 2 … 8 degrees of freedom, and the normal one.
    const STUDENT: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    const NORMAL: f64 = 1.960;
    let n = rows.max(2) as f64;
    // Beyond the table the first term of Cornish and Fisher's expansion.
    let expansion = 1.0 + (NORMAL * NORMAL + 1.0) / (4.0 * (n - 1.0));
    let ratio = STUDENT.get(n as usize - 2).map_or(expansion, |student| student / NORMAL);
    ratio * (1.0 + 1.0 / n).sqrt()
}
