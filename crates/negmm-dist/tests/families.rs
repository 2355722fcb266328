//! Parametric families against scoringrules, SciPy and quadrature.

use negmm_dist::math::quadrature::integral;
use negmm_dist::{Distribution, Family, Predictions};

/// Score, what is scored, y and value; the script `reference/scoringrules_values.py` made them.
pub fn reference() -> Vec<(&'static str, &'static str, f64, f64)> {
    let lines = include_str!("reference/scoringrules.csv").lines().skip(1);
    let line = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0], cells[1], cells[2].parse().unwrap(), cells[3].parse().unwrap_or(f64::NAN))
    };
    lines.map(line).collect()
}

fn family(what: &str) -> Option<Family> {
    let mut words = what.split(' ');
    let name = words.next()?;
    let parameters: Option<Vec<(&str, f64)>> = words
        .map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name, value.parse().ok()?))
        })
        .collect();
    Family::named(name, &parameters?).ok().filter(|_| what.contains('='))
}

#[test]
fn families_agree_with_scoringrules_and_scipy() {
    let mut checked = 0;
    for (score, what, y, expected) in reference() {
        let Some(family) = family(what) else { continue };
        let found = match score {
            "crps" => family.crps(y),
            "cdf" => family.cdf(y),
            "log_score" => family.log_score(y),
            "quantile" => family.quantile(y),
            "mean" => family.mean(),
            "variance" => family.variance(),
            _ => continue,
        };
        checked += 1;
        // SciPy's quantiles of heavy tails and scoringrules' CRPS of t near df 1 have about this precision themselves.
        let error = (found - expected).abs() / (1.0 + expected.abs());
        assert!(error < 1e-9 || found == expected, "{score} of {what} at {y}: {found}, expected {expected}");
    }
    assert!(checked > 500, "{checked}");
}

/// All families with some parameters.
fn some() -> Vec<(Family, &'static str)> {
    let list = [
        "normal loc=1 scale=2",
        "student_t df=3 loc=0 scale=1",
        "logistic loc=0 scale=2",
        "laplace loc=-1 scale=1",
        "gumbel loc=1 scale=2",
        "uniform min=1 max=4",
        "exponential rate=2",
        "gamma shape=2.5 rate=1",
        "gamma shape=0.7 rate=1",
        "lognormal mulog=0 sigmalog=0.6",
        "weibull shape=1.7 scale=2",
        "beta a=2 b=3",
        "beta a=0.8 b=0.9",
        "poisson mean=3.5",
        "negative_binomial n=2.5 prob=0.4",
    ];
    list.into_iter().map(|what| (family(what).unwrap(), what)).collect()
}

/// ∫ f between quantiles so far out that nothing is missing, in panels between quantiles.
fn over_line(family: &Family, at: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let levels = [1e-13, 1e-10, 1e-7, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4];
    let mut ends: Vec<f64> = levels
        .iter()
        .flat_map(|level| [family.quantile(*level), family.quantile_above(*level)])
        .chain(at.to_vec())
        .collect();
    ends.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for pair in ends.windows(2) {
        let width = (pair[1] - pair[0]) / 8.0;
        sum += (0..8)
            .map(|part| {
                let low = pair[0] + width * f64::from(part);
                integral(low, low + width, |t| [f(t)])[0]
            })
            .sum::<f64>();
    }
    sum
}

#[test]
fn crps_and_moments_agree_with_quadrature() {
    for (family, what) in some().into_iter().filter(|(family, _)| !family.shape().is_discrete()) {
        for y in [-2.0, 0.3, 1.2, 5.0] {
            let expected = over_line(&family, &[y], |t| {
                let difference = if t < y { family.cdf(t) } else { family.survival(t) };
                difference * difference
            });
            let found = family.crps(y);
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{what} {y}: {found} {expected}");
        }
        let mass = over_line(&family, &[], |t| family.pdf(t));
        assert!((mass - 1.0).abs() < 1e-3, "{what}: {mass}");
    }
}

#[test]
fn counts_agree_with_sums() {
    for (family, what) in some().into_iter().filter(|(family, _)| family.shape().is_discrete()) {
        let sum = |f: &dyn Fn(f64) -> f64| (0..2000).map(|count| f(f64::from(count))).sum::<f64>();
        assert!((sum(&|k| family.point_probability(k)) - 1.0).abs() < 1e-12, "{what}");
        assert!((sum(&|k| k * family.point_probability(k)) - family.mean()).abs() < 1e-10, "{what}");
        for y in [0.0, 2.0, 2.5, 11.0] {
            let distance = sum(&|k| (k - y).abs() * family.point_probability(k));
            let spread = sum(&|k| family.cdf(k) * family.survival(k));
            assert!((family.crps(y) - (distance - spread)).abs() < 1e-11, "{what} {y}");
        }
        for level in [0.01, 0.3, 0.5, 0.99] {
            let quantile = family.quantile(level);
            assert!(family.cdf(quantile) >= level && (quantile == 0.0 || family.cdf(quantile - 1.0) < level), "{what}");
        }
        let region = family.hdr(0.8);
        let inside = sum(&|k| if region.contains(k) { family.point_probability(k) } else { 0.0 });
        assert!((0.8..0.95).contains(&inside), "{what} {inside}");
    }
}

#[test]
fn quantiles_regions_and_shortfalls_are_consistent() {
    for (family, what) in some().into_iter().filter(|(family, _)| !family.shape().is_discrete()) {
        for level in [1e-9, 0.01, 0.2, 0.5, 0.9, 0.999] {
            assert!((family.cdf(family.quantile(level)) - level).abs() < 1e-9 * level + 1e-14, "{what} {level}");
            assert!(
                (family.survival(family.quantile_above(level)) - level).abs() < 1e-9 * level + 1e-14,
                "{what} {level}"
            );
            let weighted = level * family.shortfall_below(level) + (1.0 - level) * family.shortfall_above(1.0 - level);
            assert!((weighted - family.mean()).abs() < 1e-8 * (1.0 + family.mean().abs()), "{what} {level} {weighted}");
            assert!(
                family.shortfall_below(level) <= family.quantile(level)
                    && family.shortfall_above(level) >= family.quantile_above(level)
            );
        }
        for coverage in [0.5, 0.9] {
            let region = family.hdr(coverage);
            let inside: f64 =
                region.intervals().iter().map(|ends| family.cdf(ends.upper) - family.cdf(ends.lower)).sum();
            assert!((inside - coverage).abs() < 1e-9, "{what} {coverage} {inside}");
            let central = family.interval(coverage);
            assert!(region.length() <= central.width() * (1.0 + 1e-9), "{what}");
            // The region's border has the probability of less likely values outside.
            let predictions = Predictions::from(vec![family]);
            let border = region.intervals()[0].upper;
            if border < family.quantile_above(1e-9) && !what.starts_with("uniform") {
                let tail = predictions.row(0).region_tail(border);
                assert!((tail - (1.0 - coverage)).abs() < 1e-6, "{what} {coverage} {tail}");
            }
        }
    }
}

#[test]
fn wrong_parameters_are_named() {
    let error = |name: &str, parameters: &[(&str, f64)]| Family::named(name, parameters).unwrap_err().to_string();
    assert_eq!(error("student_t", &[("loc", 0.0)]), "a student_t distribution needs df");
    assert_eq!(
        error("gamma", &[("shape", 2.0), ("rate", -1.0)]),
        "a gamma distribution needs a rate or a scale above 0, and not both, found shape 2, rate -1"
    );
    assert!(error("gama", &[]).ends_with("found \"gama\"; did you mean gamma?"));
    assert_eq!(error("normal", &[("scale", 0.0)]), "a normal distribution needs a scale above 0, found loc 0, scale 0");
    assert_eq!(Family::named("t", &[("df", 4.0)]).unwrap(), Family::named("student_t", &[("df", 4.0)]).unwrap());
}
