//! Explanations as sentences: `sd 14.3 where 9.1 is usual: age +3.8 (3 days), water +1.9`.

use std::fmt::Write;

use super::Explanation;

/// Decimal digits of numbers.
const DIGITS: i32 = 3;

impl Explanation {
    /// A sentence about an answer for a row with the `top` largest contributions; `cell` gives the text of the row's cell
    /// in a column.
    pub fn sentence(&self, row: usize, answer: usize, top: usize, cell: impl Fn(&str) -> Option<String>) -> String {
        let (value, base) = (self.value(row, answer), self.base(row, answer));
        let own = self.contributions(row, answer);
        if !self.is_defined(row, answer) {
            let name = &self.answers[answer];
            return match value.is_finite() {
                true => format!("{name} {value:.2}: the target is impossible for rows that this one is compared with"),
                false => format!("{name} {value}: the model takes the target for impossible"),
            };
        }
        let mut order: Vec<usize> = (0..own.len()).filter(|column| own[*column] != 0.0).collect();
        order.sort_by(|a, b| own[*b].abs().total_cmp(&own[*a].abs()));
        // All numbers of a sentence have the last digit of the largest.
        let largest = order.first().map_or(0.0, |column| own[*column].abs()).max(value.abs()).max(base.abs());
        let digits = decimals(largest);
        let mut text = format!("{} {value:.digits$} where {base:.digits$} is usual", self.answers[answer]);
        for (at, column) in order.iter().take(top).enumerate() {
            let _ = write!(
                text,
                "{} {} {:+.digits$}",
                if at == 0 { ":" } else { "," },
                self.columns[*column],
                own[*column]
            );
            if let Some(cell) = cell(&self.columns[*column]) {
                let _ = write!(text, " ({cell})");
            }
        }
        let rest: f64 = order.iter().skip(top).map(|column| own[*column]).sum();
        if order.len() > top && top > 0 {
            let _ = write!(text, ", the others {rest:+.digits$}");
        }
        text
    }
}

/// Decimals that show three digits of a number.
fn decimals(number: f64) -> usize {
    if !(number.is_finite() && number > 0.0) {
        return 0;
    }
    (DIGITS - 1 - libm::floor(libm::log10(number)) as i32).clamp(0, 12) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_contributions_are_named_first() {
        let explanation = Explanation {
            columns: ["water", "age", "ash", "lime"].map(String::from).to_vec(),
            answers: vec!["sd".into()],
            rows: 1,
            values: vec![14.32],
            base: vec![9.12],
            contributions: vec![1.9, 3.81, -0.51, 0.0],
            errors: vec![0.0; 4],
            exact: true,
        };
        let cell = |name: &str| (name == "age").then(|| "3".to_string());
        let expected = "sd 14.3 where 9.1 is usual: age +3.8 (3), water +1.9, the others -0.5";
        assert_eq!(explanation.sentence(0, 0, 2, cell), expected);
        assert_eq!(explanation.sentence(0, 0, 0, cell), "sd 14.3 where 9.1 is usual");
        let all = "sd 14.3 where 9.1 is usual: age +3.8 (3), water +1.9, ash -0.5";
        assert_eq!(explanation.sentence(0, 0, 9, cell), all);
        let impossible = Explanation { values: vec![f64::INFINITY], contributions: vec![f64::NAN; 4], ..explanation };
        assert_eq!(impossible.sentence(0, 0, 2, cell), "sd inf: the model takes the target for impossible");
        assert!(!impossible.is_defined(0, 0) && impossible.mean_absolute(0, None) == [0.0; 4]);
        assert_eq!((decimals(0.034), decimals(1234.0), decimals(0.0), decimals(f64::NAN)), (4, 0, 0, 0));
    }
}
