//! Adaptive Simpson quadrature, what closed forms are compared with.

/// The integral of `f` from `low` to `high`, to about `tolerance`.
///
/// `low..high` is cut into `pieces` first, so that no narrow peak is overlooked.
pub fn integrate(f: &dyn Fn(f64) -> f64, low: f64, high: f64, pieces: usize, tolerance: f64) -> f64 {
    let width = (high - low) / pieces as f64;
    let piece = |index: usize| {
        let (a, b) = (low + width * index as f64, low + width * (index + 1) as f64);
        let (fa, fm, fb) = (f(a), f(0.5 * (a + b)), f(b));
        refine(f, [a, b], [fa, fm, fb], simpson(a, b, fa, fm, fb), tolerance / pieces as f64, 40)
    };
    (0..pieces).map(piece).sum()
}

fn simpson(a: f64, b: f64, fa: f64, fm: f64, fb: f64) -> f64 {
    (b - a) / 6.0 * (fa + 4.0 * fm + fb)
}

fn refine(
    f: &dyn Fn(f64) -> f64,
    [a, b]: [f64; 2],
    [fa, fm, fb]: [f64; 3],
    whole: f64,
    tolerance: f64,
    depth: u32,
) -> f64 {
    let m = 0.5 * (a + b);
    let (left_middle, right_middle) = (f(0.5 * (a + m)), f(0.5 * (m + b)));
    let left = simpson(a, m, fa, left_middle, fm);
    let right = simpson(m, b, fm, right_middle, fb);
    let error = left + right - whole;
    if depth == 0 || error.abs() <= 15.0 * tolerance {
        return left + right + error / 15.0;
    }
    refine(f, [a, m], [fa, left_middle, fm], left, 0.5 * tolerance, depth - 1)
        + refine(f, [m, b], [fm, right_middle, fb], right, 0.5 * tolerance, depth - 1)
}
