//! Rows worth measuring: a model that learns the targets of the chosen rows predicts better than with rows chosen at random.

use negmm::data::Column;
use negmm::explain::{Reference, acquire};
use negmm::{FitOptions, Method, Model, Rng, Table, fit_with};

/// Rows, of which a part lies where the target depends on both inputs and noise is small; elsewhere there is little to
/// learn, and in half of that much noise.
fn rows(count: usize, part: f64, rng: &mut Rng) -> Table {
    let (mut along, mut side, mut y) = (vec![], vec![], vec![]);
    for _ in 0..count {
        let far = rng.uniform() < part;
        let x = if far { 1.0 + rng.uniform() } else { 2.0 * rng.uniform() - 1.0 };
        let s = 2.0 * rng.uniform() - 1.0;
        let noise = if x < 0.0 { 0.6 } else { 0.1 };
        let steep = if far { 4.0 * (x - 1.0) * s.signum() } else { 0.0 };
        // The sum of four uniform numbers has the variance 1 / 3.
        let z = (0..4).map(|_| rng.uniform() - 0.5).sum::<f64>() * 3.0f64.sqrt();
        along.push(x);
        side.push(s);
        y.push(0.5 * s + steep + noise * z);
    }
    Table::new(vec![("x", Column::Numbers(along)), ("s", Column::Numbers(side)), ("y", Column::Numbers(y))]).unwrap()
}

fn fitted(table: &Table, seed: u64) -> Model {
    let mut method = Method::by_name("auto").unwrap();
    method.set("preset", "fast").unwrap();
    method.set("steps", "300").unwrap();
    fit_with(table, "y", &method, &FitOptions::default().seed(seed)).unwrap().model
}

/// The mean CRPS of fresh rows after the targets of some rows of the pool were learnt as well.
fn crps_with(start: &Table, pool: &Table, chosen: &[usize], fresh: &Table, seed: u64) -> f64 {
    let measured = pool.select_rows(chosen);
    let columns = start.columns().map(|(name, column)| match (column, measured.column(name)) {
        (Column::Numbers(start), Some(Column::Numbers(more))) => {
            (name, Column::Numbers(start.iter().chain(more).copied().collect()))
        }
        _ => unreachable!("all columns are numbers"),
    });
    let model = fitted(&Table::new(columns.collect()).unwrap(), seed);
    let y = model.encoder().targets(fresh).unwrap();
    let crps = model.predict(fresh).unwrap().crps(&y).unwrap();
    crps.iter().sum::<f64>() / crps.len() as f64
}

#[test]
fn chosen_rows_teach_more_than_random_ones() {
    let mut logs = Vec::new();
    for seed in 0..4 {
        let mut rng = Rng::new(seed, 0);
        let (start, pool, fresh) = (rows(100, 0.03, &mut rng), rows(300, 0.15, &mut rng), rows(500, 0.15, &mut rng));
        let (found, _) = acquire(&fitted(&start, seed), &pool, Reference::Pool, 30).unwrap();
        let chosen: Vec<usize> = found.iter().map(|one| one.row).collect();
        // The rows of the pool are in random order already.
        let random: Vec<usize> = (0..30).collect();
        let [chosen, random] = [&chosen, &random].map(|rows| crps_with(&start, &pool, rows, &fresh, seed));
        logs.push((chosen / random).ln());
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    assert!(mean < 0.9 && logs.iter().all(|log| *log < 0.0), "CRPS relative to random choice: {mean}, {logs:?}");
}
