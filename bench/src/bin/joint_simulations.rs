//! Joint `auto` on simulations with known truth: two branches that go together, a correlation that depends on x, heavy tails, a ring.
//! Prints the mean log score beside that of the truth, the root mean square error of the correlation, and the coverage of
//! highest-density regions with its standard error.
//!
//! ```text
//! joint_simulations [--rows N] [--test N] [--method NAME] [--seed N]
//! ```

use std::error::Error;

use negmm::data::Column;
use negmm::joint::{JointMetrics, fit_joint};
use negmm::{Method, Rng, Table};
use negmm_bench::options::Options;
use negmm_dist::math::normal;

/// A simulation: draws (x, a, b), and knows the log density and the correlation of (a, b) given x.
struct Simulation {
    name: &'static str,
    draw: fn(&mut Rng) -> [f64; 3],
    log_density: fn(f64, f64, f64) -> f64,
    correlation: Option<fn(f64) -> f64>,
}

fn gauss(rng: &mut Rng) -> f64 {
    normal::quantile(rng.uniform())
}

fn log_normal(y: f64, mean: f64, sd: f64) -> f64 {
    normal::log_pdf((y - mean) / sd) - sd.ln()
}

/// y = ± (x, 0.5 x + 0.5) with the same sign in both, sd 0.3.
fn branches(rng: &mut Rng) -> [f64; 3] {
    let x = rng.uniform() * 2.0 + 0.5;
    let sign = if rng.uniform() < 0.5 { 1.0 } else { -1.0 };
    [x, sign * x + 0.3 * gauss(rng), sign * (0.5 * x + 0.5) + 0.3 * gauss(rng)]
}

fn log_branches(x: f64, a: f64, b: f64) -> f64 {
    let of = |sign: f64| log_normal(a, sign * x, 0.3) + log_normal(b, sign * (0.5 * x + 0.5), 0.3);
    let (plus, minus) = (of(1.0), of(-1.0));
    let most = plus.max(minus);
    most + (0.5 * (plus - most).exp() + 0.5 * (minus - most).exp()).ln()
}

/// Standard normal with the correlation sin(3 x) · 0.9.
fn curve(rng: &mut Rng) -> [f64; 3] {
    let x = rng.uniform() * 2.0 - 1.0;
    let (r, a) = (curve_correlation(x), gauss(rng));
    [x, a, r * a + (1.0 - r * r).sqrt() * gauss(rng)]
}

fn curve_correlation(x: f64) -> f64 {
    0.9 * (3.0 * x).sin()
}

fn log_curve(x: f64, a: f64, b: f64) -> f64 {
    let r = curve_correlation(x);
    log_normal(a, 0.0, 1.0) + log_normal(b, r * a, (1.0 - r * r).sqrt())
}

/// Student's t with 3 degrees of freedom in both, around (x, -x).
fn tails(rng: &mut Rng) -> [f64; 3] {
    let x = gauss(rng);
    let chi: f64 = (0..3).map(|_| gauss(rng).powi(2)).sum::<f64>() / 3.0;
    [x, x + gauss(rng) / chi.sqrt(), -x + gauss(rng) / chi.sqrt()]
}

/// Bivariate t: ln density = -ln(2 pi) - 2.5 ln(1 + r² / 3).
fn log_tails(x: f64, a: f64, b: f64) -> f64 {
    let square = (a - x).powi(2) + (b + x).powi(2);
    -(2.0 * std::f64::consts::PI).ln() - 2.5 * (1.0 + square / 3.0).ln()
}

/// A ring of radius 1 + x, with sd 0.1.
fn ring(rng: &mut Rng) -> [f64; 3] {
    let x = rng.uniform();
    let angle = rng.uniform() * 2.0 * std::f64::consts::PI;
    let radius = 1.0 + x;
    [x, radius * angle.cos() + 0.1 * gauss(rng), radius * angle.sin() + 0.1 * gauss(rng)]
}

/// With the sd s around the radius R and r = |y|: ln I₀(r R / s²) - (r² + R²) / (2 s²) - ln(2 pi s²), where I₀(z) is
/// exp(z) / sqrt(2 pi z) · (1 + 1 / (8 z) + 9 / (128 z²)) for large z.
fn log_ring(x: f64, a: f64, b: f64) -> f64 {
    let (radius, variance) = (1.0 + x, 0.01);
    let r = a.hypot(b);
    let z = r * radius / variance;
    let series = (1.0 / (8.0 * z) + 9.0 / (128.0 * z * z)).ln_1p();
    let log_bessel = z - 0.5 * (2.0 * std::f64::consts::PI * z).ln() + series;
    log_bessel - (r * r + radius * radius) / (2.0 * variance) - (2.0 * std::f64::consts::PI * variance).ln()
}

const SIMULATIONS: [Simulation; 4] = [
    Simulation { name: "two branches", draw: branches, log_density: log_branches, correlation: None },
    Simulation { name: "correlation curve", draw: curve, log_density: log_curve, correlation: Some(curve_correlation) },
    Simulation { name: "heavy tails", draw: tails, log_density: log_tails, correlation: None },
    Simulation { name: "ring", draw: ring, log_density: log_ring, correlation: None },
];

fn table(rows: &[[f64; 3]]) -> negmm::Result<Table> {
    let column = |at: usize| Column::Numbers(rows.iter().map(|row| row[at]).collect());
    Table::new(vec![("x", column(0)), ("a", column(1)), ("b", column(2))])
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--rows", "--test", "--method", "--seed"])?;
    let rows: usize = options.get("--rows", 1500)?;
    let count: usize = options.get("--test", 2000)?;
    let seed: u64 = options.get("--seed", 1)?;
    let method = Method::by_name(options.text("--method").unwrap_or("auto"))?.for_several_targets();
    println!(
        "| simulation | log score | of the truth | rmse of correlation | in 50 % | in 90 % | energy |\n|---|---|---|---|---|---|---|"
    );
    for Simulation { name, draw, log_density, correlation } in SIMULATIONS {
        let rng = &mut Rng::new(seed, 0);
        let mut sample = |count: usize| (0..count).map(|_| draw(rng)).collect::<Vec<[f64; 3]>>();
        let (train, test) = (sample(rows), sample(count));
        let model = fit_joint(&table(&train)?, &["a", "b"], &method)?;
        let predictions = model.predict(&table(&test)?)?;
        let y: Vec<f64> = test.iter().flat_map(|row| [row[1], row[2]]).collect();
        let scores = JointMetrics::new(&predictions, &y, None)?;
        let truth = test.iter().map(|[x, a, b]| -log_density(*x, *a, *b)).sum::<f64>() / count as f64;
        let error = correlation.map_or("-".to_string(), |of| {
            let square = |(row, [x, ..]): (usize, &[f64; 3])| {
                (predictions.mixtures().row(row).correlation()[1] - of(*x)).powi(2)
            };
            format!("{:.3}", (test.iter().enumerate().map(square).sum::<f64>() / count as f64).sqrt())
        });
        let covered = |at: usize, level: f64| {
            let se = (level * (1.0 - level) / count as f64).sqrt();
            format!("{:.1} ± {:.1}", 100.0 * scores.coverage[at], 100.0 * se)
        };
        println!(
            "| {name} | {:.3} | {truth:.3} | {error} | {} | {} | {:.4} |",
            scores.nll,
            covered(0, 0.5),
            covered(1, 0.9),
            scores.energy
        );
    }
    Ok(())
}
