//! Responsible for what the host and the kernels tell each other: plain records, laid out as `kernel/job.cu` has them.

use crate::shape::SUMS;

/// What a training remembers from launch to launch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) powers: [f64; 2],
    pub(crate) rate: f64,
    pub(crate) rate_squares: f64,
    pub(crate) losses: f64,
    pub(crate) best: f64,
    pub(crate) half_best: [f64; 2],
    pub(crate) sums: [[f64; SUMS]; 2],
    pub(crate) passes: u64,
    pub(crate) step: u32,
    pub(crate) epoch: u32,
    pub(crate) best_epoch: u32,
    pub(crate) done: u32,
    pub(crate) given: u32,
    pub(crate) turned: u32,
    pub(crate) taken_ever: u32,
    pub(crate) taken: u32,
    pub(crate) skipped: u32,
    pub(crate) bad: u32,
    pub(crate) share: f32,
    pub(crate) size: f32,
    pub(crate) correction: f32,
    pub(crate) keep: f32,
    pub(crate) shrink: f32,
    pub(crate) reserved: f32,
}

/// What is known of an epoch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EpochRecord {
    pub(crate) losses: f64,
    pub(crate) nll: f64,
    pub(crate) crps: f64,
    pub(crate) calibrated: f64,
    pub(crate) taken: u32,
    pub(crate) skipped: u32,
    pub(crate) sound: u32,
    pub(crate) has_crps: u32,
    pub(crate) last: u32,
    pub(crate) reserved: u32,
}

/// What a kernel is told of a training; addresses are the device's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobRecord {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) sample_weights: u64,
    pub(crate) lower: u64,
    pub(crate) upper: u64,
    pub(crate) order: u64,
    pub(crate) lists: u64,
    pub(crate) validation: u64,
    pub(crate) factors: u64,
    pub(crate) weights: u64,
    pub(crate) memory: u64,
    pub(crate) averaged: u64,
    pub(crate) kept: u64,
    pub(crate) half_kept: u64,
    pub(crate) snapshots: u64,
    pub(crate) room: u64,
    pub(crate) moves: u64,
    pub(crate) state: u64,
    pub(crate) arrived: u64,
    pub(crate) order_stream: u64,
    pub(crate) dropout_stream: u64,
    pub(crate) objective_stream: u64,
    pub(crate) learning_rate: f64,
    pub(crate) averaging: f64,
    pub(crate) weight_decay: f64,
    pub(crate) totals: [f64; 2],
    pub(crate) uncensored: [f64; 2],
    pub(crate) shares: [f64; 2],
    pub(crate) stride: u32,
    pub(crate) train: u32,
    pub(crate) validation_rows: u32,
    pub(crate) halves: u32,
    pub(crate) steps: u32,
    pub(crate) epoch: u32,
    pub(crate) batch: u32,
    pub(crate) patience: u32,
    pub(crate) snapshot_every: u32,
    pub(crate) whole: u32,
    pub(crate) keeps_last: u32,
    pub(crate) select: u32,
    pub(crate) weighted: u32,
    pub(crate) dropout_cut: u32,
    pub(crate) averages: u32,
    pub(crate) dropout_keep: f32,
    pub(crate) eta: f32,
    pub(crate) beta: f32,
    pub(crate) floor: f32,
    pub(crate) mean_bound: f32,
    pub(crate) spread_bound: f32,
    pub(crate) ceiling: f32,
    pub(crate) atoms: [f32; 4],
    pub(crate) bounds: [f32; 2],
}

/// What a kernel is told that runs networks over rows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputsRecord {
    pub(crate) x: u64,
    pub(crate) weights: u64,
    pub(crate) outputs: u64,
    pub(crate) stride: u32,
    pub(crate) rows: u32,
}

/// What a kernel is told that looks for quantiles.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantilesRecord {
    pub(crate) weights: u64,
    pub(crate) means: u64,
    pub(crate) sds: u64,
    pub(crate) quantiles: u64,
    pub(crate) found: u64,
    pub(crate) rows: u32,
    pub(crate) components: u32,
    pub(crate) count: u32,
    pub(crate) reserved: u32,
}

/// A record, or a list of numbers, whose bytes may be copied to a device and back.
///
/// # Safety
/// Every pattern of bits is a value.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: numbers and arrays of numbers, repr(C).
unsafe impl Plain for State {}
// SAFETY: as above.
unsafe impl Plain for EpochRecord {}
// SAFETY: as above.
unsafe impl Plain for JobRecord {}
// SAFETY: as above.
unsafe impl Plain for OutputsRecord {}
// SAFETY: as above.
unsafe impl Plain for QuantilesRecord {}
// SAFETY: every pattern of bits is a number.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}

/// The bytes of a list.
pub(crate) fn bytes<T: Plain>(list: &[T]) -> &[u8] {
    // SAFETY: plain numbers, and records of them that have no padding.
    unsafe { std::slice::from_raw_parts(list.as_ptr().cast(), size_of_val(list)) }
}

/// The bytes of a list that is to be written.
pub(crate) fn bytes_mut<T: Plain>(list: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and every pattern of bits is a value.
    unsafe { std::slice::from_raw_parts_mut(list.as_mut_ptr().cast(), size_of_val(list)) }
}

/// The list that bytes hold.
pub(crate) fn list<T: Plain>(bytes: &[u8]) -> Vec<T> {
    let count = bytes.len() / size_of::<T>();
    // SAFETY: there are so many values in the bytes, each of them plain; they need not be aligned.
    (0..count).map(|at| unsafe { bytes.as_ptr().add(at * size_of::<T>()).cast::<T>().read_unaligned() }).collect()
}
