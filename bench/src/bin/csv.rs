//! Times `negmm predict --threads 1` on a large CSV file of eight numeric columns, and samples its memory.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--megabytes` | size of the file, 10^6 bytes each | 1000 |
//! | `--negmm` | the program | `negmm` beside this bench |
//! | `--core` | the core to run on (needs `taskset`) | 0 |
//!
//! The file lies in a temporary folder (`TMPDIR`) that is removed at the end; predictions (mean and sd) are discarded.
//! Memory is peak resident memory, CPU time that of all threads; both need Linux.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use negmm::Rng;
use negmm_bench::options::Options;
use negmm_bench::peers::pin;
use negmm_bench::usage::ResourceUsage;

const COLUMNS: usize = 8;
const TRAINING_ROWS: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--megabytes", "--negmm", "--core"])?;
    let size = options.get("--megabytes", 1000)? * 1_000_000;
    let beside = std::env::current_exe()?.with_file_name("negmm");
    let program = options.text("--negmm").map_or(beside, PathBuf::from);
    pin(options.get("--core", 0)?);

    let folder = tempfile::tempdir()?;
    let [training, large, model] = ["training.csv", "large.csv", "model.negmm"].map(|name| folder.path().join(name));
    write_rows(&training, |rows, _| rows < TRAINING_ROWS)?;
    write_rows(&large, |_, bytes| bytes < size)?;
    let fitted = Command::new(&program)
        .arg("fit")
        .arg(&training)
        .args(["--target", "y", "--epochs", "20", "--quiet", "--output"])
        .arg(&model)
        .stdout(Stdio::null())
        .status();
    if !fitted.map_err(|error| format!("{}: {error}", program.display()))?.success() {
        return Err("fit failed".into());
    }

    let start = Instant::now();
    let mut predict = Command::new(&program)
        .arg("predict")
        .args([&model, &large])
        .args(["--threads", "1", "--quiet"])
        .stdout(Stdio::null())
        .spawn()?;
    let (status, used) = ResourceUsage::wait(&mut predict)?;
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        return Err("predict failed".into());
    }
    let megabytes = fs::metadata(&large)?.len() as f64 / 1e6;
    println!("| MB | MB/s | MB/s of CPU time | peak memory MB |");
    println!("|---|---|---|---|");
    let (rate, cpu_rate) = (megabytes / seconds, megabytes / used.cpu_time.as_secs_f64());
    println!("| {megabytes:.0} | {rate:.1} | {cpu_rate:.1} | {:.1} |", used.memory as f64 / 1e6);
    Ok(())
}

/// A header and rows of x1 … x8, y with six decimals, as long as `more` (rows, bytes so far) says.
fn write_rows(path: &Path, more: impl Fn(usize, usize) -> bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    let mut rng = Rng::new(1, 0);
    let mut line: String = (1..=COLUMNS).map(|column| format!("x{column},")).collect();
    line.push_str("y\n");
    let (mut rows, mut bytes) = (0, 0);
    loop {
        out.write_all(line.as_bytes())?;
        bytes += line.len();
        if !more(rows, bytes) {
            return out.flush();
        }
        rows += 1;
        line.clear();
        let mut sum = 0.0;
        for _ in 0..COLUMNS {
            let x = 200.0 * rng.uniform() - 100.0;
            sum += x;
            let _ = write!(line, "{x:.6},");
        }
        let _ = writeln!(line, "{:.6}", sum + 50.0 * rng.uniform());
    }
}
