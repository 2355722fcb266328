//! The contract of engines, for jobs that go to another process as bytes and return as bytes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use negmm::data::Dataset;
use negmm::train::{Callbacks, CpuEngine, Engine, Job, LinearJob, Progress, Queue, Trained, train};
use negmm::{Error, ErrorKind, Result};

use crate::common::engine_suite::{forest_job, linear_job};

/// Names the folder with the job, for the second process.
const FOLDER: &str = "NEGMM_TEST_JOB";
/// Begins a line that tells of progress.
const PROGRESS: &str = "progress ";
/// The part of this program that trains.
const TRAINER: &str = "engine_bytes::a_job_from_another_process_is_trained";

mod contract {
    engine_contract!(Some(super::Elsewhere));
}

/// Trains every job in a process of its own.
struct Elsewhere;

impl Engine for Elsewhere {
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
        while let Some((number, job)) = queue.next() {
            queue.done(number, elsewhere(&job, number, watch));
        }
    }
}

/// A folder that vanishes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("negmm-elsewhere-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn elsewhere(job: &Job, number: usize, watch: &Callbacks<'_>) -> Result<Trained> {
    if watch.cancel.load(Ordering::Relaxed) {
        return Err(Error::cancelled());
    }
    let folder = Folder::new();
    std::fs::write(folder.0.join("data"), job.data().to_bytes()?).unwrap();
    std::fs::write(folder.0.join("job"), job.to_bytes()?).unwrap();
    let mut process = Process(
        Command::new(std::env::current_exe().unwrap())
            .args([TRAINER, "--exact", "--nocapture", "--test-threads", "1"])
            .env(FOLDER, &folder.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    for line in BufReader::new(process.0.stdout.take().unwrap()).lines() {
        if let Some(progress) = line.unwrap().strip_prefix(PROGRESS).map(|text| read_progress(text, number)) {
            (watch.progress)(&progress);
        }
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(Error::cancelled());
        }
    }
    assert!(process.0.wait().unwrap().success(), "the second process failed");
    match std::fs::read(folder.0.join("trained")) {
        Ok(bytes) => Trained::from_bytes(&bytes),
        Err(_) => Err(refused(&folder.0)),
    }
}

/// Why the second process did not train.
fn refused(folder: &Path) -> Error {
    let text = std::fs::read_to_string(folder.join("refused")).unwrap();
    match text.split_once(' ').unwrap() {
        ("Options", message) => Error::options(message),
        (_, message) => Error::data(message),
    }
}

fn read_progress(text: &str, job: usize) -> Progress {
    let words: Vec<&str> = text.split(' ').collect();
    let best = words[2].parse().ok().map(f64::from_bits);
    Progress {
        job,
        epoch: words[0].parse().unwrap(),
        epochs: words[1].parse().unwrap(),
        best,
        last: words[3] == "true",
    }
}

/// The body of the second process; a no-op in the first.
#[test]
fn a_job_from_another_process_is_trained() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let data = Arc::new(Dataset::from_bytes(&std::fs::read(folder.join("data")).unwrap()).unwrap());
    let job = Job::from_bytes(&std::fs::read(folder.join("job")).unwrap(), &data).unwrap();
    let progress = |Progress { epoch, epochs, best, last, .. }: &Progress| {
        let best = best.map_or("none".into(), |best| best.to_bits().to_string());
        println!("\n{PROGRESS}{epoch} {epochs} {best} {last}");
    };
    let watch = Callbacks { progress: &progress, cancel: &AtomicBool::new(false) };
    match train(&CpuEngine::new(1), &[job], &watch).remove(0) {
        Ok(trained) => std::fs::write(folder.join("trained"), trained.to_bytes().unwrap()).unwrap(),
        Err(error) => {
            let kind = if error.kind() == ErrorKind::Options { "Options" } else { "Data" };
            std::fs::write(folder.join("refused"), format!("{kind} {error}")).unwrap();
        }
    }
}

#[test]
fn a_job_goes_with_its_own_rows_alone() {
    let rows = |last: f32| {
        let mut data = Dataset::new(1);
        (0..12).for_each(|row| data.push(&[row as f32], if row == 11 { last } else { row as f32 }));
        Arc::new(data)
    };
    let method = negmm::Method::by_name("mdn").unwrap();
    let (data, other) = (rows(1.0), rows(1.5));
    let bytes = method.plan(&data, 1).unwrap().jobs()[0].to_bytes().unwrap();
    assert!(Job::from_bytes(&bytes, &data).is_ok());
    assert_eq!(Job::from_bytes(&bytes, &other).unwrap_err().to_string(), "this job is of other rows");
    for cut in [0, 1, 8, 100, bytes.len() - 1] {
        assert!(Job::from_bytes(&bytes[..cut], &data).is_err(), "{cut}");
        assert!(Trained::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    assert!(Trained::from_bytes(&bytes).unwrap_err().to_string().starts_with("these bytes are no training's result"));
}

#[test]
fn linear_models_and_forests_go_as_bytes() {
    let mut data = Dataset::new(2);
    (0..80).for_each(|row| {
        let x = (row * 37 % 80) as f32 / 80.0;
        data.push(&[x, (row % 7) as f32], if row % 5 == 0 { 0.0 } else { 0.3 + x * x });
    });
    let data = Arc::new(data.with_atoms(vec![0.0]));
    let arrived = Arc::new(Dataset::from_bytes(&data.to_bytes().unwrap()).unwrap());
    let jobs = [Job::from(linear_job(&data)), forest_job(&data).into()];
    for (job, other) in jobs.iter().zip(jobs.iter().rev()) {
        let bytes = job.to_bytes().unwrap();
        assert_ne!(bytes, other.to_bytes().unwrap());
        let read = Job::from_bytes(&bytes, &arrived).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        let trained = |job: &Job| {
            let trained = train(&CpuEngine::new(1), std::slice::from_ref(job), &Callbacks::nothing()).remove(0);
            trained.unwrap().to_bytes().unwrap()
        };
        let result = trained(job);
        assert_eq!(result, trained(&read));
        assert_eq!(Trained::from_bytes(&result).unwrap().to_bytes().unwrap(), result);
        for cut in [0, 8, 100, bytes.len() - 1] {
            assert!(Job::from_bytes(&bytes[..cut], &data).is_err(), "{cut}");
        }
        for cut in [0, 8, 100, result.len() - 1] {
            assert!(Trained::from_bytes(&result[..cut]).is_err(), "{cut}");
        }
    }
    let (mut empty, mut without) = (linear_job(&data), forest_job(&data));
    empty.head.components = 0;
    without.config.n_estimators = 0;
    let beyond = LinearJob { train: [80].into(), ..linear_job(&data) };
    for (job, reason) in [
        (Job::from(beyond), "a job has rows beyond the 80 of its data"),
        (empty.into(), "its head is out of range"),
        (without.into(), "the settings of a forest are out of range"),
    ] {
        let error = Job::from_bytes(&job.to_bytes().unwrap(), &data).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
}

/// Every method planned here, trained elsewhere and finished here gives the bytes of a fit that never left.
#[test]
fn models_are_the_same_wherever_their_jobs_are_trained() {
    let rng = &mut negmm::Rng::new(1, 0);
    let toy = negmm::Toy::Bimodal.sample(150, rng);
    let shops: Vec<String> = (0..150).map(|_| format!("shop {}", rng.below(80))).collect();
    let shop = negmm::data::Column::text(shops.iter().map(|shop| Some(shop.as_str())));
    let columns = toy.columns().map(|(name, column)| (name, column.clone()));
    let table = negmm::Table::new(columns.chain([("shop", shop)]).collect()).unwrap();
    for mut method in negmm::Method::all() {
        for (option, value) in
            [("epochs", "3"), ("steps", "20"), ("n-estimators", "8"), ("ensemble-size", "2"), ("samples", "9")]
        {
            if method.has(option) {
                method.set(option, value).unwrap();
            }
        }
        let here = negmm::fit(&table, "y", &method).unwrap().to_bytes().unwrap();
        let options = negmm::FitOptions::default().engine(&Elsewhere);
        let there = negmm::fit_with(&table, "y", &method, &options).unwrap().model.to_bytes().unwrap();
        assert!(here == there, "{}", method.name());
    }
}
