//! Responsible for bringing a training to a device and what it leaves behind back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use negmm::data::Dataset;
use negmm::net::Parameters;
use negmm::train::{NetworkJob, Objective, Optimiser, Schedule, Selection, TrainedNetwork};

use crate::batch::Waiting;
use crate::course::Told;
use crate::device::{Device, Failure};
use crate::places::{Pack, Places, Zeros, needed};
use crate::record::{JobRecord, bytes, list};
use crate::room::Room;
use crate::shape::Shape;

/// Rows and tables that trainings share, on the device as long as one of them needs them.
pub(crate) struct Stock<D: Device> {
    data: Mutex<HashMap<usize, Weak<Rows<D>>>>,
    rates: Mutex<Rates<D>>,
    /// Whoever asks how much memory is free takes it before the next one asks.
    taking: Mutex<()>,
    /// One for each training on the device.
    counted: Arc<()>,
}

impl<D: Device> Default for Stock<D> {
    fn default() -> Self {
        Self { data: Mutex::default(), rates: Mutex::default(), taking: Mutex::default(), counted: Arc::default() }
    }
}

/// One part in so many of the free memory is left alone: others take from it too.
const SPARED: usize = 8;

/// The factors of every step, by schedule and steps.
type Rates<D> = HashMap<(Schedule, usize), Weak<<D as Device>::Memory>>;

/// All rows of a data set: x, y, sample weights, and the ends of intervals.
struct Rows<D: Device> {
    memory: D::Memory,
    starts: [usize; 5],
    /// Whether a row counts for more or less than another.
    weighted: bool,
    /// Keeps its address from being another's.
    _data: Arc<Dataset>,
}

/// What a training shares with others: its rows, and the factors of its steps where they differ.
type Shared<D> = (Arc<Rows<D>>, Option<Arc<<D as Device>::Memory>>);

/// A training on the device.
pub(crate) struct OnDevice<D: Device> {
    pub(crate) record: JobRecord,
    /// That of all trainings that came with it.
    memory: Arc<D::Memory>,
    places: Places,
    _rows: Arc<Rows<D>>,
    _rates: Option<Arc<D::Memory>>,
    _counted: Arc<()>,
}

impl<D: Device> Stock<D> {
    fn rows(&self, device: &D, queue: &D::Queue, data: &Arc<Dataset>) -> Result<Arc<Rows<D>>, Failure> {
        let mut known = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(data) as usize;
        if let Some(rows) = known.get(&key).and_then(Weak::upgrade) {
            return Ok(rows);
        }
        known.retain(|_, rows| rows.strong_count() > 0);
        let mut pack = Pack::default();
        let ends = data.intervals().map(|intervals| [intervals.lower(), intervals.upper()]).unwrap_or_default();
        let lists = [data.x(), data.y(), data.sample_weights(), ends[0], ends[1]];
        let starts = lists.map(|list| pack.put(bytes(list)));
        let memory = device.memory(queue, &pack.content, pack.content.len())?;
        let weighted = data.sample_weights().iter().any(|weight| *weight != 1.0);
        let rows = Arc::new(Rows { memory, starts, weighted, _data: data.clone() });
        known.insert(key, Arc::downgrade(&rows));
        Ok(rows)
    }

    fn rates(
        &self,
        device: &D,
        queue: &D::Queue,
        schedule: Schedule,
        steps: usize,
    ) -> Result<Option<Arc<D::Memory>>, Failure> {
        if schedule == Schedule::Constant {
            return Ok(None);
        }
        let mut known = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rates) = known.get(&(schedule, steps)).and_then(Weak::upgrade) {
            return Ok(Some(rates));
        }
        known.retain(|_, rates| rates.strong_count() > 0);
        let factors: Vec<f64> = (0..steps).map(|step| schedule.factor(step, steps)).collect();
        let rates = Arc::new(device.memory(queue, bytes(&factors), 0)?);
        known.insert((schedule, steps), Arc::downgrade(&rates));
        Ok(Some(rates))
    }

    /// Brings trainings to the device: the first of those that wait, as many as there is memory for, with one copy. It fails when there
    /// is not enough for the first one and no other training has any.
    pub(crate) fn upload(
        &self,
        device: &D,
        queue: &D::Queue,
        waiting: &[Waiting],
        parts: (&Shape, &Room),
    ) -> Result<Vec<OnDevice<D>>, Failure> {
        let _alone = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the memory is looked at: a training that ends meanwhile may have had what is missing.
        let idle = Arc::strong_count(&self.counted) == 1;
        let mut lists: Vec<Shared<D>> = Vec::with_capacity(waiting.len());
        for Waiting { job, .. } in waiting {
            let rows = self.rows(device, queue, &job.data)?;
            lists.push((rows, self.rates(device, queue, job.course.schedule, job.course.steps)?));
        }
        let mut left = device.free_memory()? / SPARED * (SPARED - 1);
        let fits = |one: &&Waiting| {
            let bytes = needed::<D>(&one.job, parts);
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let count = waiting.iter().take_while(fits).count();
        if count == 0 && idle {
            let megabytes = needed::<D>(&waiting[0].job, parts) / 1_000_000;
            return Err(format!("a network takes {megabytes} MB of the card's memory, more than it has"));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let waiting = &waiting[..count];
        let mut pack = Pack::default();
        let mut places: Vec<Places> = waiting.iter().map(|one| Places::of_contents(one, parts.0, &mut pack)).collect();
        let mut end = Zeros { end: pack.content.len() };
        for (places, one) in places.iter_mut().zip(waiting) {
            places.add_zeros::<D>(&one.job, parts, &mut end);
        }
        let memory = Arc::new(device.memory(queue, &pack.content, end.end)?);
        let on_device = |((one, places), (rows, rates)): ((&Waiting, Places), Shared<D>)| OnDevice {
            record: record(one, &places, D::address(&memory), &rows, rates.as_deref()),
            memory: memory.clone(),
            places,
            _rows: rows,
            _rates: rates,
            _counted: self.counted.clone(),
        };
        Ok(waiting.iter().zip(places).zip(lists).map(on_device).collect())
    }
}

/// What the kernels are told of a training whose lists begin so far from `memory`.
fn record<D: Device>(
    Waiting { job, start, .. }: &Waiting,
    places: &Places,
    memory: u64,
    rows: &Rows<D>,
    rates: Option<&D::Memory>,
) -> JobRecord {
    let at = |place: usize| memory + place as u64;
    let [x, y, sample_weights, lower, upper] = rows.starts.map(|start| D::address(&rows.memory) + start as u64);
    let (course, scored, share) = (&job.course, Scored::new(job), job.course.dropout as f32);
    JobRecord {
        x,
        y,
        sample_weights,
        lower,
        upper,
        order: at(places.order),
        lists: at(places.lists),
        validation: at(places.validation),
        factors: rates.map_or(0, D::address),
        weights: at(places.weights),
        memory: at(places.memory),
        averaged: at(places.averaged),
        kept: at(places.kept),
        half_kept: at(places.half_kept),
        snapshots: at(places.snapshots),
        room: at(places.room),
        moves: at(places.moves),
        state: at(places.state),
        arrived: at(places.arrived),
        order_stream: start.order.start(),
        dropout_stream: start.dropout.start(),
        objective_stream: start.objective.start(),
        learning_rate: course.learning_rate,
        averaging: course.averaging,
        weight_decay: course.weight_decay,
        totals: scored.totals,
        uncensored: scored.uncensored,
        shares: scored.shares,
        stride: job.data.stride() as u32,
        train: job.train.len() as u32,
        validation_rows: job.validation.len() as u32,
        halves: scored.halves as u32,
        steps: course.steps as u32,
        epoch: course.epoch as u32,
        batch: course.batch as u32,
        patience: course.patience.min(u32::MAX as usize) as u32,
        snapshot_every: course.snapshots.min(u32::MAX as usize) as u32,
        whole: course.whole_batches.into(),
        keeps_last: course.keeps_last.into(),
        select: selected(course.select),
        weighted: rows.weighted.into(),
        dropout_cut: (share * 65536.0) as u32,
        dropout_keep: 1.0 / (1.0 - share),
        averages: (course.averaging > 0.0 || course.optimiser == Optimiser::ScheduleFree).into(),
        ..head_record(&job.objective)
    }
}

impl<D: Device> OnDevice<D> {
    /// What the training leaves behind.
    pub(crate) fn trained(
        &self,
        device: &D,
        queue: &D::Queue,
        shape: &Shape,
        job: &NetworkJob,
        told: Told,
    ) -> Result<TrainedNetwork, Failure> {
        let read = |from: usize, number: usize| -> Result<Parameters, Failure> {
            let mut numbers = vec![0; shape.parameters() * size_of::<f32>()];
            device.read(queue, &self.memory, from + number * numbers.len(), &mut numbers)?;
            Parameters::from_numbers(&shape.to_host(&list(&numbers))).map_err(|error| error.to_string())
        };
        let Places { kept, half_kept, snapshots, .. } = self.places;
        let every = job.course.snapshots;
        let taken = told.epochs().checked_div(every).unwrap_or(0);
        Ok(TrainedNetwork {
            parameters: read(kept, 0)?,
            snapshots: (0..taken).map(|number| read(snapshots, number)).collect::<Result<_, _>>()?,
            // Each half is predicted by what the other chose.
            crossed: if self.record.halves > 0 { Some([read(half_kept, 1)?, read(half_kept, 0)?]) } else { None },
            history: told.history(),
        })
    }
}

/// The validation rows of a job: where their second half begins (0: nowhere), and what the rows of each half weigh.
#[derive(Default)]
struct Scored {
    halves: usize,
    totals: [f64; 2],
    uncensored: [f64; 2],
    shares: [f64; 2],
}

impl Scored {
    fn new(job: &NetworkJob) -> Self {
        let (data, rows) = (&job.data, &job.validation[..]);
        let weight = |row: &u32| f64::from(data.sample_weights()[*row as usize]);
        let total = |rows: &[u32]| -> f64 { rows.iter().map(weight).sum() };
        let uncensored =
            |rows: &[u32]| -> f64 { rows.iter().filter(|row| !data.is_censored(**row as usize)).map(weight).sum() };
        let halves = job.course.halves;
        let (halves, sets) = match rows.split_at_checked(halves) {
            Some((first, second)) if !first.is_empty() && !second.is_empty() => (halves, [first, second]),
            _ => (0, [rows, &[]]),
        };
        let all = total(rows);
        Self {
            halves,
            totals: sets.map(total),
            uncensored: sets.map(uncensored),
            shares: sets.map(|rows| total(rows) / all),
        }
    }
}

/// As the kernels call it.
fn selected(select: Selection) -> u32 {
    match select {
        Selection::Crps => 1,
        Selection::Calibrated => 2,
        _ => 0,
    }
}

/// What the kernels are told of the head.
fn head_record(objective: &Objective) -> JobRecord {
    let mut record = JobRecord::default();
    match objective {
        Objective::Hybrid { head, eta } => {
            record.eta = *eta;
            record.floor = head.sd_floor;
            record.mean_bound = head.mean_bound.unwrap_or(0.0);
            record.spread_bound = head.sd_ceiling.map_or(0.0, |ceiling| ceiling - head.sd_floor);
            record.bounds = head.bounds.ends().unwrap_or_default();
            for (place, atom) in record.atoms.iter_mut().zip(head.atoms.list()) {
                *place = atom.place;
            }
        }
        Objective::BetaNll { head, beta } => {
            record.beta = *beta;
            record.floor = head.variance_floor;
            record.ceiling = head.variance_ceiling;
        }
        Objective::SampleEnergy { head, .. } => record.floor = head.sd_floor,
    }
    record
}
