//! A custom engine: it takes jobs from the queue, trains them anywhere, and returns the results. This one sends every
//! job as bytes, as an engine for a cluster would, and prints their sizes.

use negmm::method::{Ensemble, Method};
use negmm::train::{Callbacks, CpuEngine, Engine, Job, Queue, Trained, train};
use negmm::{FitOptions, Result, Rng, Toy, fit, fit_with};

struct ThroughBytes;

impl Engine for ThroughBytes {
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
        while let Some((number, job)) = queue.next() {
            queue.done(number, train_elsewhere(&job, watch));
        }
    }
}

fn train_elsewhere(job: &Job, watch: &Callbacks<'_>) -> Result<Trained> {
    // The rows are sent once for all jobs that use them; here they stay in this process.
    let bytes = job.to_bytes()?;
    let arrived = Job::from_bytes(&bytes, job.data())?;
    let trained = train(&CpuEngine::new(1), &[arrived], watch).remove(0)?.to_bytes()?;
    println!("a job of {} bytes came back as {} bytes", bytes.len(), trained.len());
    Trained::from_bytes(&trained)
}

fn main() -> Result<()> {
    let table = Toy::Bimodal.sample(200, &mut Rng::new(1, 0));
    let mut method = Method::Ensemble(Ensemble::default().ensemble_size(3));
    method.set("epochs", "20")?;
    let ours = fit_with(&table, "y", &method, &FitOptions::default().engine(&ThroughBytes))?.model;
    assert_eq!(ours.to_bytes()?, fit(&table, "y", &method)?.to_bytes()?);
    println!("the model is the same, byte for byte, as one that was trained by the default engine");
    Ok(())
}
