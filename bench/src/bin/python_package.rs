//! Overhead of the Python package: the same fit and predictions in the package and in the library, in turns.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--python` | an interpreter that has the package | python3 |
//! | `--rows --features` | rows to predict, and inputs | 1000000, 8 |
//! | `--train` | rows to learn from | 2000 |
//! | `--method --epochs` | what is trained, and how many epochs, rounds (of trees) or steps (`auto`) | ne-gmm, 100 |
//! | `--turns` | times each is measured; the fastest counts | 7 |
//!
//! Both use one thread and are timed in CPU seconds, so that other programs do not count (needs Linux). The library starts with its table
//! in memory, Python with a C-contiguous array of 64 or 32 bits. The models must have the same bytes, or the program fails.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use negmm::Rng;
use negmm::data::{Column, ColumnRoles};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Model, Table, fit_with};
use negmm_bench::options::Options;
use negmm_dist::math::normal;

const OPTIONS: [&str; 7] = ["--python", "--rows", "--features", "--train", "--method", "--epochs", "--turns"];

fn main() -> Result<(), String> {
    let options = Options::read(&OPTIONS)?;
    let (rows, features) = (options.get("--rows", 1_000_000)?, options.get("--features", 8)?);
    let (train, turns) = (options.get("--train", 2000)?, options.get("--turns", 7)?);
    let (name, epochs) = (options.text("--method").unwrap_or("ne-gmm"), options.text("--epochs").unwrap_or("100"));
    let mut method = Method::by_name(name).map_err(message)?;
    let length = ["epochs", "n-estimators", "steps"].into_iter().find(|option| method.has(option)).unwrap_or("epochs");
    method.set(length, epochs).map_err(message)?;

    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().map_err(message)?;

    let columns = columns(rows, features);
    let folder = tempfile::tempdir().map_err(message)?;
    std::fs::write(folder.path().join("data"), bytes(&columns)).map_err(message)?;
    let table = |rows: usize| {
        let name = |at: usize| if at < features { format!("x{at}") } else { "y".into() };
        let part = |(at, column): (usize, &Vec<f64>)| (name(at), Column::Numbers(column[..rows].to_vec()));
        Table::new(columns.iter().enumerate().map(part).collect()).map_err(message)
    };
    let (small, whole) = (table(train)?, table(rows)?);

    let directory = folder.path().to_str().ok_or("a folder whose name is text")?;
    let shape = [rows, features, train].map(|size| size.to_string());
    let arguments = [directory, &shape[0], &shape[1], &shape[2], name, length, epochs];
    let mut python = Python::start(options.text("--python").unwrap_or("python3"), &arguments)?;

    let mut model = fit(&small, &method)?;
    let mut best = [f64::INFINITY; 6];
    for _ in 0..turns {
        let start = cpu_seconds()?;
        model = fit(&small, &method)?;
        let fitted = cpu_seconds()? - start;
        let start = cpu_seconds()?;
        black_box(model.predict(&whole).map_err(message)?.mean());
        let predicted = cpu_seconds()? - start;
        let times = [
            fitted,
            python.ask("fit float64")?,
            python.ask("fit float32")?,
            predicted,
            python.ask("predict float64")?,
            python.ask("predict float32")?,
        ];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    python.ask("save float64")?;
    let written = std::fs::read(folder.path().join("model")).map_err(message)?;
    if written != model.to_bytes().map_err(message)? {
        return Err("the two did not do the same: their models differ".into());
    }
    println!("{name}, {features} inputs, one thread; CPU seconds, fastest of {turns} turns\n");
    println!("| seconds | library | Python, float64 | ratio | Python, float32 | ratio |");
    println!("|---|---|---|---|---|---|");
    for (what, times) in
        [(format!("fit, {train} rows, {epochs} {length}"), &best[..3]), (format!("predict, {rows} rows"), &best[3..])]
    {
        let [library, double, single] = [times[0], times[1], times[2]];
        let (double_ratio, single_ratio) = (double / library, single / library);
        println!("| {what} | {library:.4} | {double:.4} | {double_ratio:.3} | {single:.4} | {single_ratio:.3} |");
    }
    Ok(())
}

fn fit(table: &Table, method: &Method) -> Result<Model, String> {
    let (inputs, engine) = (ColumnRoles::default(), CpuEngine::new(1));
    let options = FitOptions::default().inputs(inputs.clone()).engine(&engine);
    fit_with(table, "y", method, &options).map(|fitted| fitted.model).map_err(message)
}

/// Inputs at random and a target that depends on them, column by column. Numbers that 32 bits hold exactly.
fn columns(rows: usize, features: usize) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(1, 0);
    let mut columns: Vec<Vec<f64>> =
        (0..features).map(|_| (0..rows).map(|_| f64::from(normal::quantile(rng.uniform()) as f32)).collect()).collect();
    let y = (0..rows).map(|row| columns[0][row].sin() + 0.3 * columns[features - 1][row] * rng.uniform()).collect();
    columns.push(y);
    columns
}

/// Row-major, little-endian.
fn bytes(columns: &[Vec<f64>]) -> Vec<u8> {
    (0..columns[0].len()).flat_map(|row| columns.iter().flat_map(move |column| column[row].to_le_bytes())).collect()
}

/// CPU seconds of all threads of this program.
fn cpu_seconds() -> Result<f64, String> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir("/proc/self/task").map_err(message)? {
        let text = std::fs::read_to_string(thread.map_err(message)?.path().join("schedstat")).map_err(message)?;
        let first = text.split_whitespace().next().unwrap_or_default();
        nanoseconds += first.parse::<u64>().map_err(message)?;
    }
    Ok(nanoseconds as f64 * 1e-9)
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A Python process with the package: one request per line.
struct Python {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Python {
    fn start(interpreter: &str, arguments: &[&str]) -> Result<Self, String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/negmm_package.py");
        let mut command = Command::new(interpreter);
        command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{interpreter}: {error}"))?;
        let questions = child.stdin.take().ok_or("no way to ask")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no way to hear")?).lines();
        Ok(Self { child, questions, answers })
    }

    /// Sends a request; returns the seconds it took.
    fn ask(&mut self, question: &str) -> Result<f64, String> {
        writeln!(self.questions, "{question}").map_err(message)?;
        let answer = self.answers.next().ok_or("Python message nothing")?.map_err(message)?;
        answer.parse().map_err(|_| format!("Python message {answer:?}"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
