//! Upload of training jobs to the device and download of trained networks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use negmm::data::Dataset;
use negmm::net::Parameters;
use negmm::train::{NetworkJob, Objective, Optimiser, Schedule, Selection, TrainedNetwork};

use crate::buffers::{BufferOffsets, UploadBuffer, ZeroedRegion, device_bytes};
use crate::device::{Device, Failure};
use crate::layout::Layout;
use crate::pending_job::PendingJob;
use crate::record::{JobRecord, bytes, list};
use crate::shape::Shape;
use crate::training_log::TrainingLog;

/// Data rows and learning-rate tables that several jobs use; they stay on the device while a job uses them.
pub(crate) struct SharedBuffers<D: Device> {
    data: Mutex<HashMap<usize, Weak<Rows<D>>>>,
    rate_factors: Mutex<RateTables<D>>,
    /// Held from asking for the free memory until it is allocated.
    allocation: Mutex<()>,
    /// Reference-counted by every job on the device.
    live_jobs: Arc<()>,
}

impl<D: Device> Default for SharedBuffers<D> {
    fn default() -> Self {
        Self {
            data: Mutex::default(),
            rate_factors: Mutex::default(),
            allocation: Mutex::default(),
            live_jobs: Arc::default(),
        }
    }
}

/// One eighth of the free memory is left to other allocations.
const SPARE_DIVISOR: usize = 8;

/// Learning-rate factors of every step, by schedule and number of steps.
type RateTables<D> = HashMap<(Schedule, usize), Weak<<D as Device>::Memory>>;

/// All rows of a data set: x, y, sample weights, lower and upper interval bounds.
struct Rows<D: Device> {
    memory: D::Memory,
    offsets: [usize; 5],
    /// Whether sample weights differ from 1.
    weighted: bool,
    /// The cache key is its address, which must not be reused while the rows are cached.
    _data: Arc<Dataset>,
}

/// Shared buffers of a job: its rows, and its learning-rate factors unless the rate is constant.
type SharedOf<D> = (Arc<Rows<D>>, Option<Arc<<D as Device>::Memory>>);

/// A job in device memory.
pub(crate) struct DeviceJob<D: Device> {
    pub(crate) record: JobRecord,
    /// The allocation of all jobs that were uploaded together.
    memory: Arc<D::Memory>,
    offsets: BufferOffsets,
    _rows: Arc<Rows<D>>,
    _rate_factors: Option<Arc<D::Memory>>,
    _live_job: Arc<()>,
}

impl<D: Device> SharedBuffers<D> {
    fn rows(&self, device: &D, stream: &D::Stream, data: &Arc<Dataset>) -> Result<Arc<Rows<D>>, Failure> {
        let mut cached = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(data) as usize;
        if let Some(rows) = cached.get(&key).and_then(Weak::upgrade) {
            return Ok(rows);
        }
        cached.retain(|_, rows| rows.strong_count() > 0);
        let mut pack = UploadBuffer::default();
        let ends = data.intervals().map(|intervals| [intervals.lower(), intervals.upper()]).unwrap_or_default();
        let arrays = [data.x(), data.y(), data.sample_weights(), ends[0], ends[1]];
        let offsets = arrays.map(|array| pack.append(bytes(array)));
        let memory = device.memory(stream, &pack.content, pack.content.len())?;
        let weighted = data.sample_weights().iter().any(|weight| *weight != 1.0);
        let rows = Arc::new(Rows { memory, offsets, weighted, _data: data.clone() });
        cached.insert(key, Arc::downgrade(&rows));
        Ok(rows)
    }

    fn rate_factors(
        &self,
        device: &D,
        stream: &D::Stream,
        schedule: Schedule,
        steps: usize,
    ) -> Result<Option<Arc<D::Memory>>, Failure> {
        if schedule == Schedule::Constant {
            return Ok(None);
        }
        let mut cached = self.rate_factors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rate_factors) = cached.get(&(schedule, steps)).and_then(Weak::upgrade) {
            return Ok(Some(rate_factors));
        }
        cached.retain(|_, rate_factors| rate_factors.strong_count() > 0);
        let factors: Vec<f64> = (0..steps).map(|step| schedule.factor(step, steps)).collect();
        let rate_factors = Arc::new(device.memory(stream, bytes(&factors), 0)?);
        cached.insert((schedule, steps), Arc::downgrade(&rate_factors));
        Ok(Some(rate_factors))
    }

    /// Uploads the first pending jobs, as many as fit in device memory, with one copy. Fails when the first one does not fit although no
    /// other job holds memory.
    pub(crate) fn upload(
        &self,
        device: &D,
        stream: &D::Stream,
        waiting: &[PendingJob],
        spec: (&Shape, &Layout),
    ) -> Result<Vec<DeviceJob<D>>, Failure> {
        let _alone = self.allocation.lock().unwrap_or_else(PoisonError::into_inner);
        // Checked before the free memory: a job that ends in between may free memory.
        let idle = Arc::strong_count(&self.live_jobs) == 1;
        let mut shared: Vec<SharedOf<D>> = Vec::with_capacity(waiting.len());
        for PendingJob { job, .. } in waiting {
            let rows = self.rows(device, stream, &job.data)?;
            shared.push((rows, self.rate_factors(device, stream, job.plan.schedule, job.plan.steps)?));
        }
        let mut left = device.free_memory()? / SPARE_DIVISOR * (SPARE_DIVISOR - 1);
        let fits = |one: &&PendingJob| {
            let bytes = device_bytes::<D>(&one.job, spec);
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let count = waiting.iter().take_while(fits).count();
        if count == 0 && idle {
            let megabytes = device_bytes::<D>(&waiting[0].job, spec) / 1_000_000;
            return Err(format!("a network needs {megabytes} MB of GPU memory, more than is available"));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let waiting = &waiting[..count];
        let mut pack = UploadBuffer::default();
        let mut offsets: Vec<BufferOffsets> =
            waiting.iter().map(|one| BufferOffsets::of_uploads(one, spec.0, &mut pack)).collect();
        let mut end = ZeroedRegion { end: pack.content.len() };
        for (offsets, one) in offsets.iter_mut().zip(waiting) {
            offsets.add_zeroed::<D>(&one.job, spec, &mut end);
        }
        let memory = Arc::new(device.memory(stream, &pack.content, end.end)?);
        let device_job =
            |((one, offsets), (rows, rate_factors)): ((&PendingJob, BufferOffsets), SharedOf<D>)| DeviceJob {
                record: record(one, &offsets, D::address(&memory), &rows, rate_factors.as_deref()),
                memory: memory.clone(),
                offsets,
                _rows: rows,
                _rate_factors: rate_factors,
                _live_job: self.live_jobs.clone(),
            };
        Ok(waiting.iter().zip(offsets).zip(shared).map(device_job).collect())
    }
}

/// The kernel's description of a job whose buffers start at the device address `memory`.
fn record<D: Device>(
    PendingJob { job, start, .. }: &PendingJob,
    offsets: &BufferOffsets,
    memory: u64,
    rows: &Rows<D>,
    rate_factors: Option<&D::Memory>,
) -> JobRecord {
    let device_address = |offset: usize| memory + offset as u64;
    let [x, y, sample_weights, lower, upper] = rows.offsets.map(|offset| D::address(&rows.memory) + offset as u64);
    let (plan, scored_rows, dropout_rate) = (&job.plan, ValidationWeights::new(job), job.plan.dropout as f32);
    JobRecord {
        x,
        y,
        sample_weights,
        lower,
        upper,
        order: device_address(offsets.order),
        shuffle_lists: device_address(offsets.shuffle_lists),
        validation: device_address(offsets.validation),
        rate_factors: rate_factors.map_or(0, D::address),
        weights: device_address(offsets.weights),
        optimizer_state: device_address(offsets.optimizer_state),
        averaged_weights: device_address(offsets.averaged_weights),
        best_weights: device_address(offsets.best_weights),
        half_best_weights: device_address(offsets.half_best_weights),
        snapshots: device_address(offsets.snapshots),
        workspace: device_address(offsets.workspace),
        adversarial_steps: device_address(offsets.adversarial_steps),
        state: device_address(offsets.state),
        barrier: device_address(offsets.barrier),
        order_stream: start.order.start(),
        dropout_stream: start.dropout.start(),
        objective_stream: start.objective.start(),
        learning_rate: plan.learning_rate,
        ema_decay: plan.ema_decay,
        weight_decay: plan.weight_decay,
        totals: scored_rows.totals,
        uncensored: scored_rows.uncensored,
        half_weights: scored_rows.half_weights,
        stride: job.data.stride() as u32,
        train_rows: job.train.len() as u32,
        validation_rows: job.validation.len() as u32,
        half_split: scored_rows.half_split as u32,
        steps: plan.steps as u32,
        epoch: plan.epoch as u32,
        batch: plan.batch_size as u32,
        patience: plan.patience.min(u32::MAX as usize) as u32,
        snapshot_every: plan.snapshots.min(u32::MAX as usize) as u32,
        whole_batches: plan.whole_batches.into(),
        keep_last_checkpoint: plan.keep_last_checkpoint.into(),
        select: selection_code(plan.select),
        weighted: rows.weighted.into(),
        dropout_threshold: (dropout_rate * 65536.0) as u32,
        dropout_scale: 1.0 / (1.0 - dropout_rate),
        has_average: (plan.ema_decay > 0.0 || plan.optimiser == Optimiser::ScheduleFree).into(),
        ..head_record(&job.objective)
    }
}

impl<D: Device> DeviceJob<D> {
    /// Downloads the trained network.
    pub(crate) fn trained(
        &self,
        device: &D,
        stream: &D::Stream,
        shape: &Shape,
        job: &NetworkJob,
        log: TrainingLog,
    ) -> Result<TrainedNetwork, Failure> {
        let read = |from: usize, number: usize| -> Result<Parameters, Failure> {
            let mut numbers = vec![0; shape.parameters() * size_of::<f32>()];
            device.read(stream, &self.memory, from + number * numbers.len(), &mut numbers)?;
            Parameters::from_numbers(&shape.to_host(&list(&numbers))).map_err(|error| error.to_string())
        };
        let BufferOffsets { best_weights, half_best_weights, snapshots, .. } = self.offsets;
        let taken = log.epochs().checked_div(job.plan.snapshots).unwrap_or(0);
        Ok(TrainedNetwork {
            parameters: read(best_weights, 0)?,
            snapshots: (0..taken).map(|number| read(snapshots, number)).collect::<Result<_, _>>()?,
            // Cross-fitting: each half is predicted with the checkpoint that the other half selected.
            cross_fitted: match self.record.half_split {
                0 => None,
                _ => Some([read(half_best_weights, 1)?, read(half_best_weights, 0)?]),
            },
            history: log.history(),
        })
    }
}

/// Total weights of a job's validation rows, or of both split of them in cross-fitting.
#[derive(Default)]
struct ValidationWeights {
    /// Where the second half begins; 0 without cross-fitting.
    half_split: usize,
    totals: [f64; 2],
    uncensored: [f64; 2],
    half_weights: [f64; 2],
}

impl ValidationWeights {
    fn new(job: &NetworkJob) -> Self {
        let (data, rows) = (&job.data, &job.validation[..]);
        let weight = |row: &u32| f64::from(data.sample_weights()[*row as usize]);
        let total = |rows: &[u32]| -> f64 { rows.iter().map(weight).sum() };
        let uncensored =
            |rows: &[u32]| -> f64 { rows.iter().filter(|row| !data.is_censored(**row as usize)).map(weight).sum() };
        let split = job.plan.cross_fitting_split;
        let (split, sets) = match rows.split_at_checked(split) {
            Some((first, second)) if !first.is_empty() && !second.is_empty() => (split, [first, second]),
            _ => (0, [rows, &[]]),
        };
        let all = total(rows);
        Self {
            half_split: split,
            totals: sets.map(total),
            uncensored: sets.map(uncensored),
            half_weights: sets.map(|rows| total(rows) / all),
        }
    }
}

/// The kernel's code of a selection score.
fn selection_code(select: Selection) -> u32 {
    match select {
        Selection::Crps => 1,
        Selection::Calibrated => 2,
        _ => 0,
    }
}

/// The fields of the job record that describe the head; all others are zero.
fn head_record(objective: &Objective) -> JobRecord {
    let mut record = JobRecord::default();
    match objective {
        Objective::Hybrid { head, eta } => {
            record.eta = *eta;
            record.floor = head.sd_floor;
            record.mean_bound = head.mean_bound.unwrap_or(0.0);
            record.spread_bound = head.sd_ceiling.map_or(0.0, |ceiling| ceiling - head.sd_floor);
            record.bounds = head.bounds.ends().unwrap_or_default();
            for (value, atom) in record.atoms.iter_mut().zip(head.atoms.list()) {
                *value = atom.value;
            }
        }
        Objective::BetaNll { head, beta } => {
            record.beta = *beta;
            record.floor = head.variance_floor;
            record.ceiling = head.variance_ceiling;
        }
        Objective::SampleEnergy { head, .. } => record.floor = head.sd_floor,
        // Trained on the CPU.
        Objective::Joint { .. } => {}
    }
    record
}
