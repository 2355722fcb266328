//! Records that host and kernels exchange, laid out as in `kernel/job.cu`, `kernel/outputs.cu` and `kernel/quantiles.cu`.

use crate::shape::SCORE_SUMS;

/// Training state that persists across launches.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainingState {
    pub(crate) beta_powers: [f64; 2],
    pub(crate) rate: f64,
    pub(crate) sum_squared_rates: f64,
    pub(crate) loss_sum: f64,
    pub(crate) best_score: f64,
    pub(crate) half_best_scores: [f64; 2],
    pub(crate) sums: [[f64; SCORE_SUMS]; 2],
    pub(crate) passes: u64,
    pub(crate) step: u32,
    pub(crate) epoch: u32,
    pub(crate) best_epoch: u32,
    pub(crate) finished: u32,
    pub(crate) consumed: u32,
    pub(crate) order_buffer: u32,
    pub(crate) total_steps: u32,
    pub(crate) steps_taken: u32,
    pub(crate) steps_skipped: u32,
    pub(crate) nonfinite: u32,
    pub(crate) row_weight: f32,
    pub(crate) step_size: f32,
    pub(crate) correction: f32,
    pub(crate) average_decay: f32,
    pub(crate) decay_factor: f32,
    pub(crate) reserved: f32,
}

/// Losses, step counts and validation scores of one epoch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EpochRecord {
    pub(crate) loss_sum: f64,
    pub(crate) nll: f64,
    pub(crate) crps: f64,
    pub(crate) calibrated: f64,
    pub(crate) steps_taken: u32,
    pub(crate) steps_skipped: u32,
    pub(crate) finite: u32,
    pub(crate) has_crps: u32,
    pub(crate) last: u32,
    pub(crate) reserved: u32,
}

/// Description of a training job for the kernel: device addresses and hyperparameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobRecord {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) sample_weights: u64,
    pub(crate) lower: u64,
    pub(crate) upper: u64,
    pub(crate) order: u64,
    pub(crate) shuffle_lists: u64,
    pub(crate) validation: u64,
    pub(crate) rate_factors: u64,
    pub(crate) weights: u64,
    pub(crate) optimizer_state: u64,
    pub(crate) averaged_weights: u64,
    pub(crate) best_weights: u64,
    pub(crate) half_best_weights: u64,
    pub(crate) snapshots: u64,
    pub(crate) workspace: u64,
    pub(crate) adversarial_steps: u64,
    pub(crate) state: u64,
    pub(crate) barrier: u64,
    pub(crate) order_stream: u64,
    pub(crate) dropout_stream: u64,
    pub(crate) objective_stream: u64,
    pub(crate) learning_rate: f64,
    pub(crate) ema_decay: f64,
    pub(crate) weight_decay: f64,
    pub(crate) totals: [f64; 2],
    pub(crate) uncensored: [f64; 2],
    pub(crate) half_weights: [f64; 2],
    pub(crate) stride: u32,
    pub(crate) train_rows: u32,
    pub(crate) validation_rows: u32,
    pub(crate) half_split: u32,
    pub(crate) steps: u32,
    pub(crate) epoch: u32,
    pub(crate) batch: u32,
    pub(crate) patience: u32,
    pub(crate) snapshot_every: u32,
    pub(crate) whole_batches: u32,
    pub(crate) keep_last_checkpoint: u32,
    pub(crate) select: u32,
    pub(crate) weighted: u32,
    pub(crate) dropout_threshold: u32,
    pub(crate) has_average: u32,
    pub(crate) dropout_scale: f32,
    pub(crate) eta: f32,
    pub(crate) beta: f32,
    pub(crate) floor: f32,
    pub(crate) mean_bound: f32,
    pub(crate) spread_bound: f32,
    pub(crate) ceiling: f32,
    pub(crate) atoms: [f32; 4],
    pub(crate) bounds: [f32; 2],
}

/// Arguments of the inference kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputsRecord {
    pub(crate) x: u64,
    pub(crate) weights: u64,
    pub(crate) outputs: u64,
    pub(crate) stride: u32,
    pub(crate) rows: u32,
}

/// Arguments of the quantile kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantilesRecord {
    pub(crate) weights: u64,
    pub(crate) means: u64,
    pub(crate) sds: u64,
    pub(crate) quantiles: u64,
    pub(crate) results: u64,
    pub(crate) rows: u32,
    pub(crate) components: u32,
    pub(crate) count: u32,
    pub(crate) reserved: u32,
}

/// A type whose bytes may be copied to a device and back.
///
/// # Safety
/// Every bit pattern is a valid value, and there is no padding.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: numbers and arrays of numbers, repr(C).
unsafe impl Plain for TrainingState {}
// SAFETY: as above.
unsafe impl Plain for EpochRecord {}
// SAFETY: as above.
unsafe impl Plain for JobRecord {}
// SAFETY: as above.
unsafe impl Plain for OutputsRecord {}
// SAFETY: as above.
unsafe impl Plain for QuantilesRecord {}
// SAFETY: every bit pattern is a number.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}

/// A slice as bytes.
pub(crate) fn bytes<T: Plain>(list: &[T]) -> &[u8] {
    // SAFETY: plain numbers, and records of them that have no padding.
    unsafe { std::slice::from_raw_parts(list.as_ptr().cast(), size_of_val(list)) }
}

/// A slice as mutable bytes.
pub(crate) fn bytes_mut<T: Plain>(list: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and every bit pattern is a valid value.
    unsafe { std::slice::from_raw_parts_mut(list.as_mut_ptr().cast(), size_of_val(list)) }
}

/// Bytes as a list of values.
pub(crate) fn list<T: Plain>(bytes: &[u8]) -> Vec<T> {
    let count = bytes.len() / size_of::<T>();
    // SAFETY: the bytes hold `count` plain values; unaligned reads are allowed.
    (0..count).map(|at| unsafe { bytes.as_ptr().add(at * size_of::<T>()).cast::<T>().read_unaligned() }).collect()
}
