//! Responsible for `negmm demo`: the paper's example from data to picture in one command.

use std::fmt::Write as _;

use negmm::data::{Column, Inputs};
use negmm::math::rng::Rng;
use negmm::method::{Auto, Preset};
use negmm::{Error, Method, Metrics, Table, Toy};
use serde_json::json;

use crate::arguments::{Demo, Shared};
use crate::command::fit;
use crate::config::FitConfig;
use crate::output::{Output, say, say_json};
use crate::{chart, input, report};

/// Rows to score on, as in the paper.
const TEST_ROWS: usize = 300;
/// Size of the picture in characters.
const WIDTH: usize = 80;
const HEIGHT: usize = 24;
/// Observations shown in the picture.
const POINTS: usize = 150;

/// Runs it.
pub fn run(demo: &Demo, shared: &Shared) -> Result<(), Error> {
    let toy = Toy::by_name(&demo.toy)?;
    let seed: u64 = input::number("seed", &demo.seed)?;
    let threads = shared.threads(None)?;
    let (rows, about) = match toy {
        Toy::Heteroscedastic => (720, "y = x sin x + noise that grows with x"),
        Toy::Bimodal => (1200, "y is near x³ (70 %) or near -x³ (30 %), with noise of sd 3"),
    };
    let mut rng = Rng::new(seed, 0);
    let (train, test) = (toy.sample(rows, &mut rng), toy.sample(TEST_ROWS, &mut rng));
    let method = Method::Auto(Auto { preset: Preset::Fast, ..Auto::default() });
    let config = FitConfig { target: "y".into(), inputs: Inputs::default(), seed, threads: None, method };
    if let Some(folder) = &demo.save {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    let model = fit::train(&train, &config, threads, shared)?.model;

    let (x, y) = (numbers(&test, "x"), numbers(&test, "y"));
    let truth = Metrics::of(&toy.truth(x).into(), y)?;
    let ours = Metrics::of(&model.predict(&test)?, y)?;
    let constant = Metrics::of(&model.baseline(y.len()), y)?;
    if let Some(folder) = &demo.save {
        let place = |name: String| folder.join(name).display().to_string();
        let mut files = vec![(place(format!("{}.csv", toy.name())), csv(&train))];
        files.push((place(format!("{}-test.csv", toy.name())), csv(&test)));
        files.push((place(format!("{}.negmm", toy.name())), model.to_bytes()?));
        for (path, bytes) in files {
            let mut output = Output::create(&path)?;
            output.write(&bytes)?;
            output.finish()?;
        }
    }
    if shared.json {
        return say_json(&json!({
            "toy": toy.name(),
            "rows": rows,
            "test_rows": TEST_ROWS,
            "truth": truth,
            model.method().name(): ours,
            "constant": constant,
        }));
    }

    let range = toy.range();
    let middle = |at: usize| range.0 + (range.1 - range.0) * (at as f64 + 0.5) / WIDTH as f64;
    let grid: Vec<f64> = (0..WIDTH).map(middle).collect();
    let grid = Table::new(vec![("x", Column::Numbers(grid))])?;
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).take(POINTS).collect();
    let picture = chart::density(&model.predict(&grid)?, range, &points, HEIGHT);
    let scores = report::scores(&[("truth", &truth), (model.method().name(), &ours), ("constant", &constant)]);
    let mut text =
        format!("{}: {about}\n{rows} rows to learn from, {TEST_ROWS} to score on\n\n{scores}\n\n", toy.name());
    let _ = write!(text, "{picture}\n\npredicted density (shaded by column) and test rows (dots)");
    if let Some(folder) = &demo.save {
        let _ = write!(text, "\nwrote {0}.csv, {0}-test.csv and {0}.negmm to {1}", toy.name(), folder.display());
    }
    say(&text);
    Ok(())
}

fn numbers<'a>(table: &'a Table, column: &str) -> &'a [f64] {
    match table.column(column) {
        Some(Column::Numbers(numbers)) => numbers,
        _ => &[],
    }
}

fn csv(table: &Table) -> Vec<u8> {
    let mut text = String::from("x,y\n");
    for (x, y) in numbers(table, "x").iter().zip(numbers(table, "y")) {
        let _ = writeln!(text, "{x:?},{y:?}");
    }
    text.into_bytes()
}
