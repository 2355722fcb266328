//! Fits tables of growing size by `negmm fit` and measures time, memory and CPU utilisation.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--rows` | rows of ten columns, one fit for each number | 1000,10000,100000,1000000 |
//! | `--columns` | columns of 10,000 rows, one fit for each number | 10,100,1000 |
//! | `--steps` | steps of a network, one fit of each size for each number; 0 for as many as suit the rows | 0 |
//! | `--engine` | the engine of the program | cpu |
//! | `--threads` | threads of the program | 2 |
//! | `--preset` | the preset of `auto` | medium |
//! | `--fresh` | new rows of the same kind to score | 20000 |
//! | `--keep` | a folder where the tables stay (`train-ROWSxCOLUMNS.csv`, `fresh-COLUMNS.csv`), for `peers/growth.py` | none |
//! | `--negmm` | the program | `negmm` beside this bench |
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

const COLUMNS: usize = 10;
const ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let names = ["--rows", "--columns", "--steps", "--engine", "--threads", "--preset", "--fresh", "--keep", "--negmm"];
    let options = Options::read(&names)?;
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
    };
    let temporary = tempfile::tempdir()?;
    let folder = options.text("--keep").map_or(temporary.path(), Path::new);
    println!("| rows | columns | steps | passes | seconds | CPU seconds | utilisation | memory MB | CRPS |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let sizes = rows.iter().map(|rows| (*rows, COLUMNS)).chain(columns.iter().map(|columns| (ROWS, *columns)));
    for (rows, columns) in sizes {
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

/// The program and the options of every fit.
struct Program {
    path: PathBuf,
    threads: usize,
    preset: String,
    engine: String,
}

impl Program {
    /// Wall-clock seconds and resource usage of a fit. `steps` 0: as many as suit the rows.
    fn fit(&self, data: &Path, steps: usize, model: &Path) -> Result<(f64, ResourceUsage), Box<dyn Error>> {
        let start = Instant::now();
        let mut fit = Command::new(&self.path);
        fit.arg("fit").arg(data).args(["--target", "y", "--quiet", "--preset", &self.preset]);
        fit.args(["--engine", &self.engine, "--threads", &self.threads.to_string(), "--output"]).arg(model);
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
