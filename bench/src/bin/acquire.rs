//! Learning curves where the rows to measure are chosen: by `negmm::explain::acquire`, by the largest epistemic sd alone, and at
//! random. Prints the CRPS of fresh rows relative to that of rows chosen at random.
//!
//! ```text
//! acquire [--sets concrete,kin8nm,diamonds] [--seeds 5] [--skip 0] [--start 200] [--batch 50] [--rounds 4] [--pool 1000]
//!         [--test 1000] [--strategies acquire,epistemic] [--preset fast]
//! ```
//!
//! All rows of a set are shuffled by the seed: first the test rows, then the pool, whose first rows are measured at the start.
//! Each round fits to the measured rows and chooses the next batch among the others of the pool. A cell is the geometric mean over
//! seeds of the CRPS relative to that of random choice after as many rows, with the standard error; the last column that of the
//! mean over all rounds. One thread.

use std::error::Error;

use negmm::explain::{Reference, acquire};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Model, Rng, Table, fit_with};
use negmm_bench::datasets::BenchDataset;
use negmm_bench::options::Options;

/// What is the same for all curves.
struct Setting {
    start: usize,
    batch: usize,
    rounds: usize,
    pool: usize,
    test: usize,
    method: Method,
}

fn main() -> Result<(), Box<dyn Error>> {
    let names = [
        "--sets",
        "--seeds",
        "--skip",
        "--start",
        "--batch",
        "--rounds",
        "--pool",
        "--test",
        "--strategies",
        "--preset",
    ];
    let options = Options::read(&names)?;
    let sets: Vec<String> = options.list("--sets", ["concrete", "kin8nm", "diamonds"].map(str::to_string).to_vec())?;
    let strategies: Vec<String> =
        options.list("--strategies", ["acquire", "epistemic"].map(str::to_string).to_vec())?;
    let (seeds, skipped): (u64, u64) = (options.get("--seeds", 5)?, options.get("--skip", 0)?);
    let mut method = Method::by_name("auto")?;
    method.set("preset", options.text("--preset").unwrap_or("fast"))?;
    let setting = Setting {
        start: options.get("--start", 200)?,
        batch: options.get("--batch", 50)?,
        rounds: options.get("--rounds", 4)?,
        pool: options.get("--pool", 1000)?,
        test: options.get("--test", 1000)?,
        method,
    };
    let sizes: Vec<usize> = (1..=setting.rounds).map(|round| setting.start + round * setting.batch).collect();
    let header: Vec<String> = sizes.iter().map(|size| format!("{size} rows")).collect();
    println!("| set | strategy | {} | all |\n|---|---|{}", header.join(" | "), "---|".repeat(sizes.len() + 1));
    let mut all: Vec<Vec<Vec<f64>>> = vec![Vec::new(); strategies.len()];
    for set in &sets {
        let set = BenchDataset::by_name(set)?;
        let table = set.read()?;
        let mut ratios = vec![Vec::new(); strategies.len()];
        let mut random_scores = Vec::new();
        for seed in skipped..skipped + seeds {
            let random = curve(set, &table, seed, "random", &setting)?;
            for (strategy, ratios) in strategies.iter().zip(&mut ratios) {
                let own = curve(set, &table, seed, strategy, &setting)?;
                let mut logs: Vec<f64> = own.iter().zip(&random).map(|(own, random)| (own / random).ln()).collect();
                let sum = |curve: &[f64]| curve.iter().sum::<f64>();
                logs.push((sum(&own) / sum(&random)).ln());
                ratios.push(logs);
            }
            random_scores.push(random);
        }
        let cells: Vec<String> = (0..setting.rounds)
            .map(|at| format!("{:.4}", random_scores.iter().map(|scores| scores[at]).sum::<f64>() / seeds as f64))
            .collect();
        println!("| {} | random, CRPS | {} | |", set.name, cells.join(" | "));
        for ((strategy, ratios), all) in strategies.iter().zip(ratios).zip(&mut all) {
            println!("| {} | {strategy} | {} |", set.name, cells_of(&ratios).join(" | "));
            all.extend(ratios);
        }
    }
    for (strategy, ratios) in strategies.iter().zip(&all) {
        println!("| all | {strategy} | {} |", cells_of(ratios).join(" | "));
    }
    Ok(())
}

/// For each column the geometric mean over seeds, and its standard error.
fn cells_of(ratios: &[Vec<f64>]) -> Vec<String> {
    let n = ratios.len() as f64;
    let width = ratios.first().map_or(0, Vec::len);
    let cell = |at: usize| {
        let mean = ratios.iter().map(|logs| logs[at]).sum::<f64>() / n;
        let squares = ratios.iter().map(|logs| (logs[at] - mean) * (logs[at] - mean)).sum::<f64>();
        format!("{:.3} ± {:.3}", mean.exp(), (squares / (n * (n - 1.0))).sqrt())
    };
    (0..width).map(cell).collect()
}

/// The CRPS of the test rows after each round.
fn curve(
    set: &BenchDataset,
    table: &Table,
    seed: u64,
    strategy: &str,
    setting: &Setting,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut order: Vec<usize> = (0..table.rows()).collect();
    Rng::new(seed, 0).shuffle(&mut order);
    // Small tables are shared between both.
    let test = setting.test.min(order.len() / 3);
    let pool = &order[test..order.len().min(test + setting.pool)];
    let fresh = table.select_rows(&order[..test]);
    let mut measured = pool[..setting.start].to_vec();
    let mut rest = pool[setting.start..].to_vec();
    let mut scores = Vec::new();
    for round in 0..=setting.rounds {
        // No choice is made of the last model, nor of any where it is at random.
        let random = strategy == "random";
        if random && round == 0 {
            measured.extend(rest.drain(..setting.batch));
            continue;
        }
        let model = fitted(set, &table.select_rows(&measured), &setting.method, seed)?;
        if round > 0 {
            let y = model.encoder().targets(&fresh)?;
            let crps = model.predict(&fresh)?.crps(&y)?;
            scores.push(crps.iter().sum::<f64>() / crps.len() as f64);
        }
        if round == setting.rounds {
            break;
        }
        let candidates = table.select_rows(&rest);
        let mut chosen: Vec<usize> = match strategy {
            "random" => (0..setting.batch).collect(),
            // One member has nobody to disagree with.
            _ if model.members() < 2 => {
                eprintln!("{}, seed {seed}, {} rows: one member, random choice", set.name, measured.len());
                (0..setting.batch).collect()
            }
            "acquire" => {
                let (found, _) = acquire(&model, &candidates, Reference::Pool, setting.batch)?;
                found.iter().map(|one| one.row).collect()
            }
            "epistemic" => {
                let variances = model.predict(&candidates)?.variance_by_members().1;
                let mut rows: Vec<usize> = (0..rest.len()).collect();
                rows.sort_by(|a, b| variances[*b].total_cmp(&variances[*a]));
                rows.truncate(setting.batch);
                rows
            }
            other => return Err(format!("there is no strategy {other:?}").into()),
        };
        measured.extend(chosen.iter().map(|row| rest[*row]));
        chosen.sort_unstable();
        chosen.iter().rev().for_each(|row| {
            rest.remove(*row);
        });
    }
    Ok(scores)
}

fn fitted(set: &BenchDataset, train: &Table, method: &Method, seed: u64) -> Result<Model, Box<dyn Error>> {
    let engine = CpuEngine::new(1);
    let options = FitOptions::default().seed(seed).engine(&engine);
    let options = options.inputs(set.inputs());
    Ok(fit_with(train, set.target, method, &options)?.model)
}
