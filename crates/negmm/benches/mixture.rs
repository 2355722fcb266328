//! How fast exact answers about mixtures are, on one core; each also as a multiple of the time of one cdf.

use negmm::Mixtures;
use negmm::math::rng::Rng;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 20_000;

fn mixtures(components: usize) -> Mixtures {
    let mut rng = Rng::new(1, components as u64);
    let mut draw = |low: f64, high: f64| -> Vec<f64> {
        (0..ROWS * components).map(|_| low + (high - low) * rng.uniform()).collect()
    };
    let (weights, means, sds) = (draw(0.01, 1.0), draw(-2.0, 2.0), draw(0.1, 1.0));
    Mixtures::new(components, weights, means, sds).expect("a valid mixture")
}

/// Seconds per row, the best of five runs.
fn time(mixtures: &Mixtures, answer: impl Fn(negmm::Mixture<'_>, f64) -> f64) -> f64 {
    let run = || {
        let start = Instant::now();
        for (row, mixture) in mixtures.rows().enumerate() {
            black_box(answer(mixture, (row as f64 + 0.5) / ROWS as f64));
        }
        start.elapsed().as_secs_f64() / ROWS as f64
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("{:>12} {:>3} {:>12} {:>8}", "answer", "K", "rows/s", "x cdf");
    for components in [1, 5, 10, 50] {
        let mixtures = mixtures(components);
        let cdf = time(&mixtures, |mixture, level| mixture.cdf(4.0 * level - 2.0));
        let print = |name: &str, seconds: f64| {
            println!("{name:>12} {components:>3} {:>12.0} {:>8.1}", 1.0 / seconds, seconds / cdf);
        };
        print("cdf", cdf);
        print("quantile", time(&mixtures, |mixture, level| mixture.quantile(level)));
        print("far quantile", time(&mixtures, |mixture, level| mixture.quantile(level * 1e-12)));
        print("energy score", time(&mixtures, |mixture, level| mixture.energy_score(4.0 * level - 2.0)));
        print("log density", time(&mixtures, |mixture, level| mixture.log_pdf(4.0 * level - 2.0)));
    }
}
