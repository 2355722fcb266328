//! Predictive distributions from few rows, when mean and spread are themselves uncertain.

/// With fewer rows `auto` trains nothing: the prediction is the targets' mean with a wide sd.
pub const LEAST_TRAINED: usize = 10;
/// With fewer rows folds are larger and distributions wider.
pub(super) const FEW: usize = 50;

/// The sd for a single target, in units of its scale (see [`negmm_data::Target`]), which is 1e-6 of its absolute
/// value: the sd is the absolute value. One row gives no information about the spread.
const ONE_ROW_SD: f64 = 1e6;

/// The sd, in sds of this few targets, of a normal distribution whose 95 % interval is the prediction interval for a
/// new target.
pub(super) fn constant_sd(rows: usize) -> f64 {
    if rows < 2 {
        return ONE_ROW_SD;
    }
    let n = rows as f64;
    widening(rows) * (n / (n - 1.0)).sqrt()
}

/// Width of the prediction interval for a new target relative to the normal one, when mean and sd are estimated from
/// n targets: the 0.975 quantile of Student's t over the normal one, times sqrt(1 + 1/n) for the error of the mean.
pub(super) fn widening(rows: usize) -> f64 {
    /// Quantiles of Student's t with 1, 2 … 8 degrees of freedom, and the normal one.
    const STUDENT: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    const NORMAL: f64 = 1.960;
    let n = rows.max(2) as f64;
    // Beyond the table, the first term of the Cornish-Fisher expansion.
    let expansion = 1.0 + (NORMAL * NORMAL + 1.0) / (4.0 * (n - 1.0));
    let ratio = STUDENT.get(n as usize - 2).map_or(expansion, |student| student / NORMAL);
    ratio * (1.0 + 1.0 / n).sqrt()
}
