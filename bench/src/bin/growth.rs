//! Fits tables of growing size by `negmm fit` and watches time, memory and how busy the cores are.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--rows` | rows of ten columns, one fit for each number | 1000,10000,100000,1000000 |
//! | `--columns` | columns of 10,000 rows, one fit for each number | 10,100,1000 |
//! | `--threads` | threads of the program | 2 |
//! | `--preset` | the preset of `auto` | medium |
//! | `--negmm` | the program | `negmm` beside this bench |
//!
//! The target is a smooth function of five inputs with noise that depends on one of them. Busy is processor time by the clock's time on
//! all threads. The files lie in a temporary folder (`TMPDIR`). Memory is the kernel's high-water mark of resident memory (Linux).

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use negmm::Rng;
use negmm::math::normal;
use negmm_bench::options::Options;
use negmm_bench::used::Used;

const COLUMNS: usize = 10;
const ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--rows", "--columns", "--threads", "--preset", "--negmm"])?;
    let rows: Vec<usize> = options.list("--rows", vec![1_000, 10_000, 100_000, 1_000_000])?;
    let columns: Vec<usize> = options.list("--columns", vec![10, 100, 1000])?;
    let threads: usize = options.get("--threads", 2)?;
    let preset: String = options.get("--preset", "medium".into())?;
    let beside = std::env::current_exe()?.with_file_name("negmm");
    let program = options.text("--negmm").map_or(beside, PathBuf::from);
    let folder = tempfile::tempdir()?;
    let (data, model) = (folder.path().join("data.csv"), folder.path().join("m.negmm"));
    println!("| rows | columns | seconds | processor seconds | busy | memory MB |\n|---|---|---|---|---|---|");
    let sizes = rows.iter().map(|rows| (*rows, COLUMNS)).chain(columns.iter().map(|columns| (ROWS, *columns)));
    for (rows, columns) in sizes {
        write_rows(&data, rows, columns)?;
        let start = Instant::now();
        let mut fit = Command::new(&program)
            .arg("fit")
            .arg(&data)
            .args(["--target", "y", "--quiet", "--preset", &preset, "--threads", &threads.to_string(), "--output"])
            .arg(&model)
            .stdout(Stdio::null())
            .spawn()?;
        let (status, used) = Used::until_the_end(&mut fit)?;
        let seconds = start.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("the fit of {rows} rows and {columns} columns failed").into());
        }
        let (processor, memory) = (used.processor.as_secs_f64(), used.memory as f64 / 1e6);
        let busy = processor / (seconds * threads as f64);
        println!("| {rows} | {columns} | {seconds:.1} | {processor:.1} | {busy:.2} | {memory:.0} |");
    }
    Ok(())
}

fn write_rows(path: &Path, rows: usize, columns: usize) -> Result<(), Box<dyn Error>> {
    let mut rng = Rng::new(1, 0);
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
