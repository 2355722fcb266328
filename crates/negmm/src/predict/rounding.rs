//! Predictions rounded to the digits that matter.

use super::columns::{Block, Columns, Scale};

/// Powers of ten up to this one are exact in f64.
const EXACT_POWER: i32 = 22;
/// Whole numbers up to this one are exact in f64.
const EXACT_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Columns<'_> {
    /// The same with numbers rounded to this many significant digits. A value of the target keeps as many digits as its sd:
    /// 1,700,000,012.35 with an sd of 3.2. Whole numbers stay as they are.
    #[must_use]
    pub fn rounded(&self, digits: usize) -> Self {
        let mut rounded = self.clone();
        // The values of the sd that counts: of the column after the last mean.
        let mut sds: Option<Vec<f64>> = None;
        let mut columns = self.iter().collect::<Vec<_>>().into_iter().enumerate();
        let all: Vec<Option<Vec<f64>>> = self.iter().map(|column| column.floats()).collect();
        for block in &mut rounded.blocks {
            let Block::Float { width, values } = block else {
                columns.next();
                continue;
            };
            let values = values.to_mut();
            for at in 0..*width {
                let Some((index, column)) = columns.next() else { break };
                let scale = column.field().scale;
                if scale == Scale::Mean {
                    sds = all.get(index + 1).cloned().flatten();
                }
                let sds = sds.as_ref().filter(|_| scale != Scale::Own);
                for (row, value) in values.iter_mut().skip(at).step_by(*width).enumerate() {
                    *value = round(*value, sds.and_then(|sds| sds.get(row).copied()), digits);
                }
            }
        }
        rounded
    }
}

/// A number rounded to significant digits of its own or of the sd, whichever are more.
fn round(value: f64, sd: Option<f64>, digits: usize) -> f64 {
    let place = |size: f64| (size != 0.0 && size.is_finite()).then(|| libm::log10(size.abs()).floor() as i32);
    let Some(own) = place(value) else { return value };
    let first = sd.and_then(place).map_or(own, |of_sd| own.min(of_sd));
    // The last decimal place that counts.
    let decimals = digits as i32 - 1 - first;
    let exact =
        |power: i32| (0..=EXACT_POWER).contains(&power).then(|| (0..power).fold(1.0, |product, _| 10.0 * product));
    // A quotient of two exact numbers is the nearest double to the decimal fraction, which is then its shortest text.
    match (exact(decimals), exact(-decimals)) {
        (Some(power), _) if (value * power).abs() < EXACT_WHOLE => (value * power).round() / power,
        (_, Some(power)) => (value / power).round() * power,
        _ => {
            let digits = (decimals + own).clamp(0, 16) as usize;
            format!("{value:.digits$e}").parse().unwrap_or(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Field;
    use super::*;

    #[test]
    fn numbers_are_rounded_to_decimal_places() {
        assert_eq!(round(72.332_523_685, None, 4), 72.33);
        assert_eq!(round(72.332_523_685, Some(0.012), 3), 72.3325);
        assert_eq!(round(1_700_000_012.345_6, Some(3.2), 3), 1_700_000_012.35);
        assert_eq!(round(123_456.0, None, 2), 120_000.0);
        assert_eq!(round(1.234_567e-30, None, 3), 1.23e-30);
        assert_eq!(round(-1.234_567e30, None, 3), -1.23e30);
        assert_eq!(round(0.1 + 0.2, None, 15), 0.3);
        assert_eq!(round(0.0, Some(1.0), 3), 0.0);
        assert!(round(f64::NAN, None, 3).is_nan());
        assert_eq!(round(f64::INFINITY, Some(1.0), 3), f64::INFINITY);
        assert_eq!(round(5.0, Some(0.0), 17), 5.0);
    }

    #[test]
    fn values_of_the_target_have_the_digits_of_its_sd() {
        let fields = vec![
            Field::text("id", "text"),
            Field::float("mean", "the mean").scaled(Scale::Mean),
            Field::float("sd", "the sd"),
            Field::float("q0.5", "a quantile").scaled(Scale::Target),
            Field::float("p_above_1", "a probability"),
        ];
        let blocks = vec![
            Block::Text(vec!["a".into(), "b".into()]),
            Block::float(vec![1_000.123_456, 0.123_456]),
            Block::Float { width: 2, values: vec![0.001_234_5, 1000.4, 123.456_789, 0.0].into() },
            Block::float(vec![0.987_654, 1e-9]),
        ];
        let columns = Columns::new(2, fields, blocks).unwrap().rounded(2);
        assert_eq!(columns.floats("mean"), Some(vec![1000.1235, 0.12]));
        assert_eq!(columns.floats("sd"), Some(vec![0.0012, 120.0]));
        assert_eq!(columns.floats("q0.5"), Some(vec![1000.4, 0.0]));
        assert_eq!(columns.floats("p_above_1"), Some(vec![0.99, 1e-9]));
    }
}
