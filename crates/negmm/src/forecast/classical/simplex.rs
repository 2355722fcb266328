//! Minimisation by the simplex method of Nelder and Mead, for smooth functions of a few parameters.

/// Deviances (twice the negative log likelihood) that differ by this much are alike: parameters are then within a tenth of
/// their standard errors.
pub(super) const ALIKE: f64 = 0.01;

/// The point with the smallest value that is found with about so many `evaluations`, from a simplex of this `size` at
/// `start` until its values differ by less than `tolerance`. Values that are not numbers count as infinite.
pub(super) fn minimise<const N: usize>(
    start: [f64; N],
    size: f64,
    (evaluations, tolerance): (usize, f64),
    mut function: impl FnMut([f64; N]) -> f64,
) -> [f64; N] {
    let mut used = 0;
    let mut value = |point: [f64; N]| {
        used += 1;
        let value = function(point);
        (if value.is_nan() { f64::INFINITY } else { value }, used)
    };
    let mut simplex = vec![(start, value(start).0)];
    for axis in 0..N {
        let mut corner = start;
        corner[axis] += size;
        simplex.push((corner, value(corner).0));
    }
    let sort = |simplex: &mut Vec<([f64; N], f64)>| simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    loop {
        sort(&mut simplex);
        let (best, second_worst, (worst_point, worst)) = (simplex[0].1, simplex[N.max(1) - 1].1, simplex[N]);
        if worst - best <= tolerance {
            return simplex[0].0;
        }
        let mean = |axis: usize| simplex[..N].iter().map(|(point, _)| point[axis]).sum::<f64>() / N as f64;
        let centre: [f64; N] = std::array::from_fn(mean);
        let along =
            |factor: f64| std::array::from_fn(|axis| centre[axis] + factor * (worst_point[axis] - centre[axis]));
        let reflected = along(-1.0);
        let (reflected_value, mut used) = value(reflected);
        if reflected_value < best {
            let expanded = along(-2.0);
            let expanded_value = value(expanded);
            used = expanded_value.1;
            let improved = expanded_value.0 < reflected_value;
            simplex[N] = if improved { (expanded, expanded_value.0) } else { (reflected, reflected_value) };
        } else if reflected_value < second_worst {
            simplex[N] = (reflected, reflected_value);
        } else {
            let contracted = along(if reflected_value < worst { -0.5 } else { 0.5 });
            let contracted_value = value(contracted);
            used = contracted_value.1;
            if contracted_value.0 < worst.min(reflected_value) {
                simplex[N] = (contracted, contracted_value.0);
            } else {
                let towards = simplex[0].0;
                for (point, own) in &mut simplex[1..] {
                    *point = std::array::from_fn(|axis| 0.5 * (towards[axis] + point[axis]));
                    (*own, used) = value(*point);
                }
            }
        }
        if used >= evaluations {
            sort(&mut simplex);
            return simplex[0].0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadratic_has_its_minimum_where_it_is() {
        let found =
            minimise([0.0, 0.0], 1.0, (200, 1e-7), |[a, b]| (a - 3.0) * (a - 3.0) + 4.0 * (b + 1.0) * (b + 1.0) + 2.0);
        assert!((found[0] - 3.0).abs() < 1e-2 && (found[1] + 1.0).abs() < 1e-2, "{found:?}");
        let found = minimise([1.0], 0.5, (60, 1e-7), |[a]| if a < 0.0 { f64::NAN } else { (a - 0.2).abs() });
        assert!((found[0] - 0.2).abs() < 1e-3, "{found:?}");
    }
}
