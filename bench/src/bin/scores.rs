//! Times scores, quantiles and moments of pools like those of `auto`, without bounds, between bounds and with an atom, on one core.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--rows` | rows | 500 |
//! | `--seconds` | time for each timing | 1 |
//! | `--core` | the core to run on (needs `taskset`) | 0 |
//!
//! A row has 10 networks of 8 components, and 10 forests of 32 components of which 8 have a weight. Scores are all of `evaluate`: with
//! seven quantiles. Each number is from the fastest of many runs; in brackets it is a multiple of that without bounds.

use std::hint::black_box;

use negmm::metrics::MetricsAccumulator;
use negmm::{Mixtures, Predictions, Rng, Support};
use negmm_bench::fastest;
use negmm_bench::options::Options;
use negmm_bench::peers::pin;

const NETWORKS: usize = 10;
const OF_NETWORK: usize = 8;
const FORESTS: usize = 10;
const OF_FOREST: usize = 32;
/// Components of a forest that have a weight in a row.
const REACHED: usize = 8;
/// The ends of the bins of a forest, and the bound of targets.
const RANGE: f64 = 3.0;
const BOUND: f64 = 2.0;

fn main() -> Result<(), String> {
    let options = Options::read(&["--rows", "--seconds", "--core"])?;
    let (rows, seconds) = (options.get("--rows", 500)?, options.get("--seconds", 1.0)?);
    let pinned = if pin(options.get("--core", 0)?) { "one core" } else { "any core" };
    println!("{rows} rows of {} components, {pinned}\n", NETWORKS * OF_NETWORK + FORESTS * OF_FOREST);
    let (mixtures, y) = pools(rows);
    let at_bound: Vec<f64> = y.iter().map(|y| y.min(BOUND)).collect();
    let below = Support { upper: Some(BOUND), ..Support::default() };
    let between = Support { lower: Some(-BOUND), ..below };
    let inside: Vec<f64> = y.iter().map(|y| y.clamp(-BOUND, BOUND)).collect();
    let kinds = [
        ("without bounds", mixtures.clone(), Support::default(), &y),
        ("between bounds", mixtures.clone(), between, &inside),
        ("with an atom at a bound", with_atoms(&mixtures), below, &at_bound),
    ];
    println!("| us a row | scores | CRPS | 90 % interval | mean and sd |");
    println!("|---|---|---|---|---|");
    let pool = negmm::threads::pool(1).map_err(|error| error.to_string())?;
    let mut first = None;
    for (name, mixtures, support, y) in kinds {
        let predictions = Predictions::from(mixtures).with_support(support).map_err(|error| error.to_string())?;
        let times = pool.install(|| times(&predictions, y, seconds));
        let base = *first.get_or_insert(times);
        let cells: String = times.iter().zip(base).map(|(t, base)| format!(" {:.1} ({:.1}) |", t, t / base)).collect();
        println!("| {name} |{cells}");
    }
    Ok(())
}

/// Microseconds a row.
fn times(predictions: &Predictions, y: &[f64], seconds: f64) -> [f64; 4] {
    let scores = || MetricsAccumulator::default().add(predictions, y, None).expect("finite targets");
    [
        fastest(seconds, scores),
        fastest(seconds, || drop(black_box(predictions.crps(y)))),
        fastest(seconds, || drop(black_box(predictions.interval(0.9)))),
        fastest(seconds, || drop(black_box(predictions.mean_and_sd()))),
    ]
    .map(|time| time / y.len() as f64 * 1e6)
}

/// Mixtures, and a draw of each.
fn pools(rows: usize) -> (Mixtures, Vec<f64>) {
    let mut rng = Rng::new(1, 0);
    let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let centre = 3.0 * rng.uniform() - 1.5;
        for _ in 0..NETWORKS * OF_NETWORK {
            weights.push(0.5 * rng.uniform());
            means.push(centre + rng.uniform() - 0.5);
            sds.push(0.1 + 0.7 * rng.uniform());
        }
        let nearest = ((centre + RANGE) / (2.0 * RANGE) * OF_FOREST as f64) as usize;
        for _ in 0..FORESTS {
            let first = nearest.saturating_sub(rng.below(REACHED)).min(OF_FOREST - REACHED);
            for bin in 0..OF_FOREST {
                let reached = (first..first + REACHED).contains(&bin);
                weights.push(if reached { rng.uniform() } else { 0.0 });
                means.push(2.0 * RANGE * (bin as f64 + 0.5) / OF_FOREST as f64 - RANGE);
                sds.push(RANGE / OF_FOREST as f64);
            }
        }
    }
    let components = NETWORKS * OF_NETWORK + FORESTS * OF_FOREST;
    let mixtures = Mixtures::new(components, weights, means, sds).expect("finite numbers");
    let y = mixtures.rows().map(|row| negmm::Distribution::sample(&row, &mut rng)).collect();
    (mixtures, y)
}

/// The same, in which one component of each network is an atom at the bound.
fn with_atoms(mixtures: &Mixtures) -> Mixtures {
    let (mut means, mut sds) = (mixtures.means().to_vec(), mixtures.sds().to_vec());
    let components = mixtures.components();
    for (means, sds) in means.chunks_exact_mut(components).zip(sds.chunks_exact_mut(components)) {
        for network in 0..NETWORKS {
            (means[network * OF_NETWORK], sds[network * OF_NETWORK]) = (BOUND, 0.0);
        }
    }
    Mixtures::new(components, mixtures.weights().to_vec(), means, sds).expect("finite numbers")
}
