//! Fits tables of growing size by `negmm fit` and measures time, memory and CPU utilisation.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--rows` | rows of ten columns, one fit for each number | 1000,10000,100000,1000000 |
//! | `--columns` | columns of 10,000 rows, one fit for each number | 10,100,1000 |
//! | `--tables` | other sizes, such as `2000x20000` | none |
//! | `--steps` | steps of a network, one fit of each size for each number; 0 for as many as suit the rows | 0 |
//! | `--engine` | the engine of the program | cpu |
//! | `--threads` | threads of the program | 2 |
//! | `--preset` | the preset of `auto` | medium |
//! | `--fresh` | new rows of the same kind to score | 20000 |
//! | `--keep` | a folder where the tables stay (`train-ROWSxCOLUMNS.csv`, `fresh-COLUMNS.csv`), for `peers/growth.py` | none |
//! | `--memory` | gigabytes that a fit may use; a larger table goes into scratch files | half of the machine's |
//! | `--negmm` | the program | `negmm` beside this bench |
//! | `--drawn FILE --svg FILE` | draws the table of a page, with columns `rows`, `columns`, `processor s`, `memory GB`; fits nothing | none |
//!
//! The target is a smooth function of five inputs with noise that depends on one of them. Utilisation is CPU
//! time over wall-clock time times threads. Passes are epochs over the training rows of a network that does not stop early. Memory is
//! peak resident memory (Linux).

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use negmm::Rng;
use negmm_bench::options::Options;
use negmm_bench::usage::ResourceUsage;
use negmm_dist::math::normal;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel, Style};

const COLUMNS: usize = 10;
const ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let names =
        ["--rows", "--columns", "--tables", "--steps", "--engine", "--threads", "--preset", "--fresh", "--keep"];
    let options = Options::read(&[&names[..], &["--memory", "--negmm", "--drawn", "--svg"]].concat())?;
    if let (Some(page), Some(svg)) = (options.text("--drawn"), options.text("--svg")) {
        return Ok(fs::write(svg, drawn(&fs::read_to_string(page)?)?)?);
    }
    let rows: Vec<usize> = options.list("--rows", vec![1_000, 10_000, 100_000, 1_000_000])?;
    let columns: Vec<usize> = options.list("--columns", vec![10, 100, 1000])?;
    let steps: Vec<usize> = options.list("--steps", vec![0])?;
    let fresh_rows: usize = options.get("--fresh", 20_000)?;
    let beside = std::env::current_exe()?.with_file_name("negmm");
    let program = Program {
        path: options.text("--negmm").map_or(beside, PathBuf::from),
        threads: options.get("--threads", 2)?,
        preset: options.get("--preset", "medium".into())?,
        engine: options.get("--engine", "cpu".into())?,
        memory: options.text("--memory").map(str::to_string),
    };
    let temporary = tempfile::tempdir()?;
    let folder = options.text("--keep").map_or(temporary.path(), Path::new);
    println!("| rows | columns | steps | passes | seconds | CPU seconds | utilisation | memory MB | CRPS |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let sizes = rows.iter().map(|rows| (*rows, COLUMNS)).chain(columns.iter().map(|columns| (ROWS, *columns)));
    let others = options.list("--tables", Vec::<String>::new())?;
    let others = others.iter().map(|size| {
        let (rows, columns) = size.split_once('x').ok_or("a table is ROWSxCOLUMNS")?;
        Ok((rows.parse()?, columns.parse()?))
    });
    let others = others.collect::<Result<Vec<(usize, usize)>, Box<dyn Error>>>()?;
    for (rows, columns) in sizes.chain(others) {
        let train = folder.join(format!("train-{rows}x{columns}.csv"));
        let fresh = folder.join(format!("fresh-{columns}.csv"));
        write_rows(&train, rows, columns, 1)?;
        write_rows(&fresh, fresh_rows, columns, 2)?;
        for steps in &steps {
            let model = temporary.path().join("m.negmm");
            let (seconds, used) = program.fit(&train, *steps, &model)?;
            let (cpu_seconds, memory) = (used.cpu_time.as_secs_f64(), used.memory as f64 / 1e6);
            let utilisation = cpu_seconds / (seconds * program.threads as f64);
            let settings = &program.json(&["inspect".as_ref(), model.as_os_str()])?["method"];
            let setting = |name: &str| settings[name].as_f64().ok_or(format!("no {name} in the model"));
            let (steps, folds) = (setting("steps")?, setting("folds")?);
            let passes = steps * setting("batch-size")? / (rows as f64 * (1.0 - 1.0 / folds));
            let scores = program.json(&["evaluate".as_ref(), model.as_os_str(), fresh.as_os_str()])?;
            let crps = scores["crps"].as_f64().ok_or("no CRPS")?;
            println!(
                "| {rows} | {columns} | {steps} | {passes:.1} | {seconds:.1} | {cpu_seconds:.1} | {utilisation:.2} | {memory:.0} | {crps:.4} |"
            );
        }
    }
    Ok(())
}

/// A fit in the table of a page.
#[derive(Clone, Copy)]
struct Fit {
    rows: f64,
    columns: f64,
    seconds: f64,
    gigabytes: f64,
}

/// The fits in the table of a page that has the four columns.
fn fits(page: &str) -> Result<Vec<Fit>, Box<dyn Error>> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    let mut lines = page.lines().map(cells);
    let wanted = ["rows", "columns", "processor s", "memory GB"];
    let at = lines.find_map(|header| {
        let found: Option<Vec<usize>> = wanted.iter().map(|name| header.iter().position(|cell| cell == name)).collect();
        found
    });
    let at = at.ok_or("there is no table with these columns")?;
    let number = |text: &str| text.replace(',', "").parse::<f64>();
    let fit = |line: Vec<String>| -> Result<Fit, Box<dyn Error>> {
        let of = |place: usize| Ok::<_, Box<dyn Error>>(number(line.get(at[place]).ok_or("a short row")?)?);
        Ok(Fit { rows: of(0)?, columns: of(1)?, seconds: of(2)?, gigabytes: of(3)? })
    };
    lines.skip(1).take_while(|line| line.len() > 1).map(fit).collect()
}

/// Time and memory by rows of ten columns, and by columns of each number of rows.
fn drawn(page: &str) -> Result<String, Box<dyn Error>> {
    let fits = fits(page)?;
    let counts = |label: &str, powers: std::ops::RangeInclusive<i32>| {
        let ticks = powers.clone().map(|power| (f64::from(power), thousands(10_u64.pow(power as u32)))).collect();
        Axis::new(label).ticks(ticks).range(f64::from(*powers.start()) - 0.2, f64::from(*powers.end()) + 0.5)
    };
    let scale = |label: &str, powers: std::ops::RangeInclusive<i32>| {
        let ticks = powers.clone().map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect();
        Axis::new(label).ticks(ticks).range(f64::from(*powers.start()), f64::from(*powers.end()) + 0.5)
    };
    let by = |of: fn(&Fit) -> f64, chosen: &[Fit], colour: Colour, name: &str| {
        let mut chosen = chosen.to_vec();
        chosen.sort_by(|a, b| (a.rows * a.columns).total_cmp(&(b.rows * b.columns)));
        let narrow = chosen.iter().all(|fit| fit.columns == chosen[0].columns);
        let x: Vec<f64> = chosen.iter().map(|fit| if narrow { fit.rows } else { fit.columns }.log10()).collect();
        let y: Vec<f64> = chosen.iter().map(|fit| of(fit).log10()).collect();
        [Mark::line(&x, &y).colour(colour).name(name), Mark::points(&x, &y).colour(colour).width(7.0)]
    };
    let mut heights: Vec<f64> = fits.iter().map(|fit| fit.rows).collect();
    heights.sort_by(f64::total_cmp);
    heights.dedup();
    let chosen = |keeps: &dyn Fn(&Fit) -> bool| fits.iter().copied().filter(|fit| keeps(fit)).collect::<Vec<_>>();
    let long = chosen(&|fit| fit.columns == COLUMNS as f64);
    let mut figure = Figure::new(
        "What a fit of the default takes",
        "Processor seconds and peak memory of fits by rows of ten columns, and by columns of some numbers of rows.",
    )
    .columns(2);
    for (of, axis) in [
        ((|fit| fit.seconds) as fn(&Fit) -> f64, scale("processor seconds", 0..=3)),
        (|fit| fit.gigabytes, scale("peak memory, GB", -2..=1)),
    ] {
        let rows = Panel::new(counts("rows of ten columns", 3..=7), axis.clone());
        figure = figure.panel(rows.with_all(by(of, &long, Colour::Blue, "")));
        let mut columns = Panel::new(counts("columns", 1..=4), axis);
        let mut series = 0;
        for height in &heights {
            let wide = chosen(&|fit| fit.rows == *height);
            if wide.iter().any(|fit| fit.columns > 10.0 * COLUMNS as f64) {
                let name = format!("{} rows", thousands(*height as u64));
                columns = columns.with_all(by(of, &wide, Colour::series(series), &name));
                series += 1;
            }
        }
        figure = figure.panel(columns);
    }
    Ok(figure.svg(Style::File))
}

/// A whole number with commas.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// The program and the options of every fit.
struct Program {
    path: PathBuf,
    threads: usize,
    preset: String,
    engine: String,
    memory: Option<String>,
}

impl Program {
    /// Wall-clock seconds and resource usage of a fit. `steps` 0: as many as suit the rows.
    fn fit(&self, data: &Path, steps: usize, model: &Path) -> Result<(f64, ResourceUsage), Box<dyn Error>> {
        let start = Instant::now();
        let mut fit = Command::new(&self.path);
        fit.arg("fit").arg(data).args(["--target", "y", "--quiet", "--preset", &self.preset]);
        fit.args(["--engine", &self.engine, "--threads", &self.threads.to_string(), "--output"]).arg(model);
        if let Some(memory) = &self.memory {
            fit.args(["--memory", memory]);
        }
        if steps > 0 {
            fit.args(["--steps", &steps.to_string()]);
        }
        let (status, used) = ResourceUsage::wait(&mut fit.stdout(Stdio::null()).spawn()?)?;
        if !status.success() {
            return Err(format!("the fit of {} failed", data.display()).into());
        }
        Ok((start.elapsed().as_secs_f64(), used))
    }

    /// Runs a command and parses its JSON output.
    fn json(&self, arguments: &[&OsStr]) -> Result<serde_json::Value, Box<dyn Error>> {
        Ok(serde_json::from_slice(&Command::new(&self.path).args(arguments).arg("--json").output()?.stdout)?)
    }
}

fn write_rows(path: &Path, rows: usize, columns: usize, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(seed, 0);
    let mut file = BufWriter::new(fs::File::create(path)?);
    let names: Vec<String> = (0..columns).map(|column| format!("x{column},")).collect();
    writeln!(file, "{}y", names.concat())?;
    for _ in 0..rows {
        let x: Vec<f64> = (0..columns).map(|_| rng.uniform()).collect();
        let noise = normal::quantile(rng.uniform());
        // Friedman's first function, with noise that grows with the fourth input.
        let mean =
            10.0 * (std::f64::consts::PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4];
        x.iter().try_for_each(|x| write!(file, "{x:.4},"))?;
        writeln!(file, "{:.4}", mean + (0.5 + x[3]) * noise)?;
    }
    Ok(file.flush()?)
}
