//! `negmm demo`: the paper's example, from data to plot in one command.

use std::fmt::Write as _;
use std::io::Write as _;

use negmm::Rng;
use negmm::data::{Column, ColumnRoles};
use negmm::method::{Auto, Preset};
use negmm::model::plan;
use negmm::{Error, Method, Metrics, Table, Toy};
use negmm_report::{EvaluationSet, Report};
use serde_json::json;

use crate::arguments::{Demo, Shared};
use crate::command::fit;
use crate::console::{print, print_json, warn};
use crate::output;
use crate::{chart, text_table};

/// Rows to score on, as in the paper.
const TEST_ROWS: usize = 300;
/// Size of the plot in characters.
const WIDTH: usize = 80;
const HEIGHT: usize = 24;
/// Observations in the plot.
const POINTS: usize = 150;

/// Runs it.
pub fn run(demo: &Demo, shared: &Shared) -> Result<(), Error> {
    let (toy, seed) = (demo.toy, demo.seed);
    let engine = shared.trainer()?;
    let (rows, about) = match toy {
        Toy::Heteroscedastic => (720, "y = x sin x + noise that grows with x"),
        Toy::Bimodal => (1200, "y is near x³ (70 %) or near -x³ (30 %), with noise of sd 3"),
    };
    let mut rng = Rng::new(seed, 0);
    let (train, test) = (toy.sample(rows, &mut rng), toy.sample(TEST_ROWS, &mut rng));
    let method = Method::Auto(Auto::default().preset(Preset::Fast));
    if let Some(folder) = &demo.save {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    }
    let model = fit::train(plan(&train, "y", &method, &ColumnRoles::default(), seed)?, &engine, shared)?.model;

    let (x, y) = (numbers(&test, "x"), numbers(&test, "y"));
    let truth = Metrics::of(&toy.truth(x).into(), y)?;
    let ours = Metrics::of(&model.predict(&test)?, y)?;
    let constant = Metrics::of(&model.baseline(y.len()), y)?;
    if let Some(folder) = &demo.save {
        let path = |name: String| folder.join(name).display().to_string();
        let mut files = vec![(path(format!("{}.csv", toy.name())), csv(&train))];
        files.push((path(format!("{}-test.csv", toy.name())), csv(&test)));
        files.push((path(format!("{}.negmm", toy.name())), model.to_bytes()?));
        files.iter().try_for_each(|(path, bytes)| output::write(path, bytes))?;
    }
    let explained =
        Report::new(&model, &EvaluationSet::of_table(&model, &test, None)?, &format!("{}-test", toy.name()))?;
    let page = match &demo.save {
        Some(folder) => {
            let path = folder.join(format!("{}.html", toy.name())).display().to_string();
            output::write(&path, explained.html().as_bytes()).map(|()| path)
        }
        None => in_temporary_folder(&explained.html()),
    };
    // The plot on the terminal is still worth showing.
    let page = match (page, &demo.save) {
        (Ok(page), _) => Some(page),
        (Err(error), Some(_)) => return Err(error),
        (Err(error), None) => {
            warn(shared.quiet, &[error.to_string()]);
            None
        }
    };
    if shared.json {
        return print_json(&json!({
            "toy": toy.name(),
            "rows": rows,
            "test_rows": TEST_ROWS,
            "truth": truth,
            model.method().name(): ours,
            "constant": constant,
            "report": page,
        }));
    }

    let range = toy.range();
    let middle = |at: usize| range.0 + (range.1 - range.0) * (at as f64 + 0.5) / WIDTH as f64;
    let grid: Vec<f64> = (0..WIDTH).map(middle).collect();
    let grid = Table::new(vec![("x", Column::Numbers(grid))])?;
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).take(POINTS).collect();
    let picture = chart::density(&model.predict(&grid)?, range, &points, HEIGHT);
    let scores =
        text_table::scores(&[("truth", &truth), (model.method().name(), &ours), ("constant", &constant)], None);
    let mut text = format!("{}: {about}\n{rows} training rows, {TEST_ROWS} test rows\n\n{scores}\n\n", toy.name());
    let _ = write!(text, "{picture}\n\npredicted density (shaded, by column) and test rows (dots)");
    if let Some(folder) = &demo.save {
        let _ =
            write!(text, "\nwrote {0}.csv, {0}-test.csv, {0}.negmm and {0}.html to {1}", toy.name(), folder.display());
    }
    if let (Some(page), None) = (page, &demo.save) {
        let _ = write!(text, "\nreport with more plots: {page}");
    }
    print(&text)
}

/// Writes the page to a new temporary file and returns its path.
fn in_temporary_folder(page: &str) -> Result<String, Error> {
    let folder = std::env::temp_dir();
    let failed = |error: std::io::Error| Error::io(&folder, error);
    let made = tempfile::Builder::new().prefix("negmm-demo-").suffix(".html").tempfile_in(&folder);
    let mut file = made.map_err(failed)?;
    file.write_all(page.as_bytes()).map_err(failed)?;
    file.disable_cleanup(true);
    Ok(file.path().display().to_string())
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
