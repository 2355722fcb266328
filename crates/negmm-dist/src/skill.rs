//! Skill: how much smaller the CRPS is than that of a baseline, with its standard error.
//!
//! With weights w, the CRPS c of each row and b of the baseline,
//!
//! ```text
//! skill = 1 - Σ w c / Σ w b        se² = n / (n - 1) Σ w² (b - c - skill b)² / (Σ w b)²
//! ```
//!
//! which is the error of a ratio of means to first order (Cochran, 1977, section 2.11), for independent rows.

use serde::{Deserialize, Serialize};

use crate::weights::weight_of;

/// 1 - CRPS / the baseline's, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// 1 is perfect, 0 no better than the baseline.
    pub value: f64,
    /// The standard error for independent rows.
    pub se: f64,
}

/// Running sums of a skill, for rows in chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkillAccumulator {
    rows: u64,
    saved: f64,
    baseline: f64,
    /// Sums of squared weights times saved², saved × baseline, baseline².
    squares: [f64; 3],
}

impl SkillAccumulator {
    /// Adds rows by their CRPS, that of the baseline, and their weights (1 without weights).
    pub fn add(&mut self, crps: &[f64], baseline: &[f64], weights: Option<&[f64]>) {
        for (row, (crps, baseline)) in crps.iter().zip(baseline).enumerate() {
            let weight = weight_of(weights, row);
            let (saved, baseline) = (weight * (baseline - crps), weight * baseline);
            self.rows += u64::from(weight > 0.0);
            self.saved += saved;
            self.baseline += baseline;
            self.squares[0] += saved * saved;
            self.squares[1] += saved * baseline;
            self.squares[2] += baseline * baseline;
        }
    }

    /// The skill; `None` with fewer than 2 rows, where the baseline is perfect, or where a score is not finite.
    pub fn finish(&self) -> Option<Skill> {
        let value = self.saved / self.baseline;
        let [saved, both, baseline] = self.squares;
        let square = (saved - 2.0 * value * both + value * value * baseline).max(0.0);
        let n = self.rows as f64;
        let se = (n / (n - 1.0) * square).sqrt() / self.baseline;
        (self.rows > 1 && value.is_finite() && se.is_finite()).then_some(Skill { value, se })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn skill(crps: &[f64], baseline: &[f64], weights: Option<&[f64]>) -> Option<Skill> {
        let mut accumulator = SkillAccumulator::default();
        accumulator.add(crps, baseline, weights);
        accumulator.finish()
    }

    #[test]
    fn the_standard_error_is_the_spread_of_repeated_samples() {
        let mut rng = Rng::new(1, 0);
        let (repeats, rows) = (2000, 50);
        let (mut values, mut errors) = (Vec::new(), 0.0);
        for _ in 0..repeats {
            let baseline: Vec<f64> = (0..rows).map(|_| 0.5 + rng.uniform()).collect();
            let crps: Vec<f64> = baseline.iter().map(|baseline| 0.6 * baseline + 0.4 * rng.uniform()).collect();
            let found = skill(&crps, &baseline, None).unwrap();
            values.push(found.value);
            errors += found.se / f64::from(repeats);
        }
        let mean = values.iter().sum::<f64>() / f64::from(repeats);
        let sd = (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / f64::from(repeats)).sqrt();
        assert!((mean - 0.2).abs() < 0.005 && (errors / sd - 1.0).abs() < 0.06, "{mean} {errors} {sd}");
    }

    #[test]
    fn weights_count_and_chunks_do_not() {
        let (crps, baseline) = ([1.0, 2.0, 9.0], [2.0, 5.0, 1.0]);
        let weighted = skill(&crps, &baseline, Some(&[1.0, 1.0, 0.0])).unwrap();
        assert_eq!(Some(weighted), skill(&crps[..2], &baseline[..2], None));
        assert!((weighted.value - 4.0 / 7.0).abs() < 1e-15);
        let mut chunks = SkillAccumulator::default();
        (0..3).for_each(|row| chunks.add(&crps[row..=row], &baseline[row..=row], None));
        assert_eq!(chunks.finish(), skill(&crps, &baseline, None));
        assert_eq!(skill(&crps[..1], &baseline[..1], None), None);
        assert_eq!(skill(&[0.0; 2], &[0.0; 2], None), None);
    }
}
