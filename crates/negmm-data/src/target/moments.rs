//! Weighted mean and standard deviation of numbers of any size, with missing ones.

use negmm_dist::weights::weight_of;

/// Mean and standard deviation (divided by the sum of the weights) of the numbers that are not missing, none without
/// such a number or without weight. Works in a unit near the largest number, a power of two, so that neither sums nor
/// squares overflow or vanish and nothing is rounded.
pub(crate) fn mean_and_sd(numbers: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let present = || {
        numbers
            .iter()
            .enumerate()
            .map(|(row, number)| (*number, weight_of(weights, row)))
            .filter(|(x, w)| !x.is_nan() && *w > 0.0)
    };
    let (first, _) = present().next()?;
    if present().all(|(number, _)| number == first) {
        return Some((first, 0.0));
    }
    let unit_of = |largest: f64| {
        let exponent_bits = largest.to_bits() & f64::INFINITY.to_bits();
        f64::from_bits(exponent_bits).max(f64::MIN_POSITIVE)
    };
    let unit = unit_of(present().fold(0.0_f64, |largest, (number, _)| largest.max(number.abs())));
    let weight_unit = unit_of(present().fold(0.0_f64, |largest, (_, weight)| largest.max(weight)));
    // Inverses of powers of two are exact, and products are sooner there than quotients.
    let (inverse, weight_inverse) = (1.0 / unit, 1.0 / weight_unit);
    let scaled = || present().map(|(number, weight)| (number * inverse, weight * weight_inverse));
    let mean = average(scaled());
    let variance = average(scaled().map(|(number, weight)| ((number - mean).powi(2), weight)));
    Some((mean * unit, variance.sqrt() * unit))
}

fn average(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, total) =
        weighted.fold((0.0, 0.0), |(sum, total), (number, weight)| (sum + weight * number, total + weight));
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_any_size() {
        for unit in [1e-320, 1e-300, 1.0, 1e300] {
            let (mean, sd) = mean_and_sd(&[unit, 2.0 * unit, 3.0 * unit, 6.0 * unit], None).unwrap();
            assert!((mean / unit - 3.0).abs() < 1e-3, "{unit} {mean}");
            assert!((sd / unit - 3.5_f64.sqrt()).abs() < 1e-3, "{unit} {sd}");
        }
        let (mean, sd) = mean_and_sd(&[f64::MAX, -f64::MAX], None).unwrap();
        assert_eq!((mean, sd), (0.0, f64::MAX));
        assert_eq!(mean_and_sd(&[0.1; 7], None), Some((0.1, 0.0)));
        assert_eq!(mean_and_sd(&[], None), None);
        assert_eq!(mean_and_sd(&[f64::NAN], None), None);
    }

    #[test]
    fn a_weight_counts_as_so_many_rows() {
        let weighted = mean_and_sd(&[1.0, 5.0, f64::NAN, 9.0], Some(&[2.0, 1.0, 7.0, 0.0])).unwrap();
        let repeated = mean_and_sd(&[1.0, 1.0, 5.0], None).unwrap();
        assert!((weighted.0 - repeated.0).abs() < 1e-15 && (weighted.1 - repeated.1).abs() < 1e-15);
    }
}
