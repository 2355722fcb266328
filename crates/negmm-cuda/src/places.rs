//! Responsible for where the lists of a training lie in the memory of a device, and how much of it they take.

use negmm::train::NetworkJob;

use crate::batch::Waiting;
use crate::device::Device;
use crate::record::{State, bytes};
use crate::room::Room;
use crate::shape::Shape;

/// Where the lists of a training begin, in bytes: those that travel, and those that are zero at first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    pub(crate) order: usize,
    pub(crate) validation: usize,
    pub(crate) weights: usize,
    pub(crate) moves: usize,
    pub(crate) state: usize,
    pub(crate) arrived: usize,
    pub(crate) lists: usize,
    pub(crate) memory: usize,
    pub(crate) averaged: usize,
    pub(crate) kept: usize,
    pub(crate) half_kept: usize,
    pub(crate) snapshots: usize,
    pub(crate) room: usize,
}

/// Bytes one after the other, each list aligned.
#[derive(Default)]
pub(crate) struct Pack {
    pub(crate) content: Vec<u8>,
}

/// Every list begins at a multiple of this.
const ALIGNED: usize = 256;

impl Pack {
    pub(crate) fn put(&mut self, more: &[u8]) -> usize {
        let start = self.content.len();
        self.content.extend_from_slice(more);
        self.content.resize(self.content.len().next_multiple_of(ALIGNED), 0);
        start
    }
}

/// Zeros one after the other, from a place on.
pub(crate) struct Zeros {
    pub(crate) end: usize,
}

impl Zeros {
    fn take(&mut self, bytes: usize) -> usize {
        let start = self.end;
        self.end = (start + bytes).next_multiple_of(ALIGNED);
        start
    }
}

impl Places {
    /// Puts what a training begins with where it travels with others. Room for the next order is beside each.
    pub(crate) fn of_contents(Waiting { job, start, .. }: &Waiting, shape: &Shape, pack: &mut Pack) -> Self {
        Self {
            order: pack.put(bytes(&[&job.train[..], &job.train].concat())),
            validation: pack.put(bytes(&job.validation)),
            weights: pack.put(bytes(&shape.to_device(start.parameters.numbers()))),
            moves: pack.put(bytes(&start.adversarial_steps)),
            state: pack.put(bytes(&[first_state(job)])),
            ..Self::default()
        }
    }

    /// Adds the lists of a training that are zero at first.
    pub(crate) fn add_zeros<D: Device>(&mut self, job: &NetworkJob, (shape, room): (&Shape, &Room), zeros: &mut Zeros) {
        let floats = |count: usize| count * size_of::<f32>();
        let parameters = shape.parameters();
        let snapshots = job.course.epochs().checked_div(job.course.snapshots).unwrap_or(0);
        self.arrived = zeros.take(size_of::<u64>());
        self.lists = zeros.take(3 * job.train.len() * size_of::<u32>());
        self.memory = zeros.take(floats(shape.memory()));
        self.averaged = zeros.take(floats(parameters));
        self.kept = zeros.take(floats(parameters));
        self.half_kept = zeros.take(floats(if job.course.halves > 0 { 2 * parameters } else { 0 }));
        self.snapshots = zeros.take(floats(snapshots * parameters));
        self.room = zeros.take(if room.shared && !D::ROOM_IN_MEMORY { 0 } else { floats(room.floats) });
    }
}

/// Bytes of the device that a training takes, beside its rows.
pub(crate) fn needed<D: Device>(job: &NetworkJob, parts: (&Shape, &Room)) -> usize {
    let mut end = Zeros { end: 0 };
    Places::default().add_zeros::<D>(job, parts, &mut end);
    let lists = [
        2 * job.train.len() * size_of::<u32>(),
        job.validation.len() * size_of::<u32>(),
        parts.0.parameters() * size_of::<f32>(),
        job.data.features() * size_of::<f32>(),
        size_of::<State>(),
    ];
    end.end + lists.iter().map(|bytes| bytes.next_multiple_of(ALIGNED)).sum::<usize>()
}

/// Before the first step.
fn first_state(job: &NetworkJob) -> State {
    // SAFETY: a state of zeros is one.
    let zeros: State = unsafe { std::mem::zeroed() };
    State {
        powers: [1.0; 2],
        best: f64::INFINITY,
        half_best: [f64::INFINITY; 2],
        given: job.train.len() as u32,
        ..zeros
    }
}
