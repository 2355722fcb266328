//! Scores the same rows from CSV and from Parquet by `negmm predict`, and measures time and memory.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--rows` | rows of eight numeric columns | 10,000,000 |
//! | `--threads` | threads of the program | 2 |
//! | `--negmm` | the program | `negmm` beside this bench |
//!
//! The files lie in a temporary folder (`TMPDIR`) that is removed at the end. The model is one network of 50 units with 5 components;
//! predictions are mean and sd. Memory is peak resident memory (Linux).

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use negmm::Rng;
use negmm::data::ParquetWriter;
use negmm_bench::options::Options;
use negmm_bench::usage::ResourceUsage;

const COLUMNS: usize = 8;
const TRAINING_ROWS: usize = 2000;
/// Rows that are made at once.
const BLOCK: usize = 1 << 14;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--rows", "--threads", "--negmm"])?;
    let rows = options.get("--rows", 10_000_000)?;
    let threads = options.get("--threads", 2)?.to_string();
    let beside = std::env::current_exe()?.with_file_name("negmm");
    let program = options.text("--negmm").map_or(beside, PathBuf::from);
    let folder = tempfile::tempdir()?;
    let [training, csv, parquet, model, out] =
        ["training.csv", "rows.csv", "rows.parquet", "m.negmm", "out.parquet"].map(|name| folder.path().join(name));
    write_rows(&training, None, TRAINING_ROWS, true)?;
    write_rows(&csv, Some(&parquet), rows, false)?;
    let fitted = Command::new(&program)
        .arg("fit")
        .arg(&training)
        .args([
            "--target",
            "y",
            "--method",
            "ne-gmm",
            "--hidden",
            "50",
            "--components",
            "5",
            "--epochs",
            "20",
            "--quiet",
        ])
        .arg("--output")
        .arg(&model)
        .stdout(Stdio::null())
        .status()?;
    if !fitted.success() {
        return Err("fit failed".into());
    }
    println!("| from | to | MB of the file | rows/s | times CSV to CSV | CPU s | peak memory MB |");
    println!("|---|---|---|---|---|---|---|");
    let mut first = None;
    for (data, from) in [(&csv, "CSV"), (&parquet, "Parquet")] {
        for (output, to) in [(Path::new("/dev/null"), "CSV"), (out.as_path(), "Parquet")] {
            let start = Instant::now();
            let mut predict = Command::new(&program)
                .arg("predict")
                .args([&model, data])
                .args(["--threads", &threads, "--quiet", "--output"])
                .arg(output)
                .spawn()?;
            let (status, used) = ResourceUsage::wait(&mut predict)?;
            if !status.success() {
                return Err("predict failed".into());
            }
            let rate = rows as f64 / start.elapsed().as_secs_f64();
            let times = rate / *first.get_or_insert(rate);
            println!(
                "| {from} | {to} | {:.0} | {rate:.0} | {times:.2} | {:.1} | {:.1} |",
                fs::metadata(data)?.len() as f64 / 1e6,
                used.cpu_time.as_secs_f64(),
                used.memory as f64 / 1e6,
            );
        }
    }
    Ok(())
}

/// Rows of x1 … x8 with six decimals, and of y if `target`, as CSV and as Parquet.
fn write_rows(csv: &Path, parquet: Option<&Path>, rows: usize, target: bool) -> Result<(), Box<dyn Error>> {
    let mut lines = BufWriter::new(fs::File::create(csv)?);
    let mut columns = parquet.map(fs::File::create).transpose()?.map(ParquetWriter::new);
    let names: Vec<String> = (1..=COLUMNS).map(|column| format!("x{column}")).collect();
    writeln!(lines, "{}{}", names.join(","), if target { ",y" } else { "" })?;
    let mut rng = Rng::new(1, 0);
    let mut done = 0;
    while done < rows {
        let count = BLOCK.min(rows - done);
        let mut block: Vec<Vec<f64>> = (0..COLUMNS).map(|_| Vec::with_capacity(count)).collect();
        let mut text = String::new();
        for _ in 0..count {
            let mut sum = 0.0;
            for (position, column) in block.iter_mut().enumerate() {
                let x = (2e8 * rng.uniform() - 1e8).round() / 1e6;
                sum += x;
                let _ = write!(text, "{}{x:.6}", if position > 0 { "," } else { "" });
                column.push(x);
            }
            if target {
                let _ = write!(text, ",{:.6}", sum + 50.0 * rng.uniform());
            }
            text.push('\n');
        }
        lines.write_all(text.as_bytes())?;
        if let Some(writer) = &mut columns {
            let arrays = block.into_iter().map(|numbers| Arc::new(Float64Array::from(numbers)) as ArrayRef);
            writer.write(&RecordBatch::try_from_iter(names.iter().zip(arrays))?)?;
        }
        done += count;
    }
    lines.flush()?;
    if let Some(writer) = columns {
        writer.finish()?;
    }
    Ok(())
}
