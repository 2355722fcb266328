//! Accelerators: inference on a GPU, with fallback to the CPU where it cannot help or fails.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use negmm::net::{Network, Parameters};
use negmm::{Accelerator, Error, Mixtures, QuantileAccelerator, Result, TailQuantile};

use crate::device::{CudaDevice, Device, Failure};
use crate::outputs::Pools;
use crate::quantiles::Quantiles;
use crate::shape::Shape;
use crate::stream::{StreamContext, StreamPool};
use crate::tiling::Tiling;
use crate::trainer::ENGINES;

/// With `auto`, multiply-adds that are predicted on the CPU before a GPU is used: about 20 core-seconds. Kernels may have to be compiled
/// first, which takes seconds; this bounds the loss where the GPU would have been faster from the start.
const MIN_OPERATIONS: f64 = 8e11;
/// Cost of a quantile search per mixture component, in multiply-adds of a network.
const OPERATIONS_PER_COMPONENT: f64 = 1e4;

/// Receives one-line notices.
type Notify = Box<dyn Fn(&str) + Sync + Send>;

/// The accelerator for an engine name: none for `cpu`; the first GPU for `cuda`; for `auto` the first usable GPU, once enough has been
/// predicted to make it worthwhile. A failure of the GPU is notified; with `cuda` also, once, what the CPU predicts and why.
///
/// # Errors
/// When the name is unknown, or `cuda` was requested and no usable GPU was found.
pub fn accelerator(name: &str, notify: Notify) -> Result<Option<Arc<dyn Accelerator>>> {
    match name {
        "cpu" => Ok(None),
        "cuda" => Ok(Some(Arc::new(DeviceAccelerator::new(CudaDevice::first()?, notify)))),
        "auto" => Ok(Some(Arc::new(LazyAccelerator::new(notify)))),
        _ => Err(Error::option("engine", format!("must be one of {}, found {name:?}", ENGINES.join(", ")))),
    }
}

/// An accelerator that runs the kernels on the CPU, for tests.
#[cfg(feature = "emulated")]
pub fn emulated_accelerator(device: crate::EmulatedDevice, notify: Notify) -> Arc<dyn Accelerator> {
    Arc::new(DeviceAccelerator::new(device, notify))
}

/// Runs networks and quantile searches on a device, bit-identical to the CPU.
struct DeviceAccelerator<D: Device> {
    device: D,
    streams: StreamPool<D>,
    pools: Pools<D>,
    quantiles: Quantiles<D>,
    /// Whether the device has failed: it is then no longer used.
    failed: AtomicBool,
    notify: Notify,
    notified: Mutex<BTreeSet<String>>,
}

impl<D: Device> DeviceAccelerator<D> {
    fn new(device: D, notify: Notify) -> Self {
        Self {
            device,
            streams: StreamPool::default(),
            pools: Pools::default(),
            quantiles: Quantiles::default(),
            failed: AtomicBool::new(false),
            notify,
            notified: Mutex::default(),
        }
    }

    /// Passes each distinct notice on once.
    fn notify(&self, text: &str) {
        if self.notified.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into()) {
            (self.notify)(text);
        }
    }

    /// Runs `work` with a stream, unless the device has failed before.
    fn run<T>(&self, work: impl FnOnce(&mut StreamContext<D>) -> std::result::Result<T, Failure>) -> Option<T> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = self.streams.with_stream(&self.device, work);
        result
            .map_err(|failure| {
                // Concurrent calls may fail too: only the first is reported.
                if !self.failed.swap(true, Ordering::Relaxed) {
                    self.notify(&format!("engine cuda: {failure}; continuing on the CPU"));
                }
            })
            .ok()
    }
}

impl<D: Device + Send> QuantileAccelerator for DeviceAccelerator<D> {
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>> {
        self.run(|context| self.quantiles.find(&self.device, context, mixtures, asked))
    }
}

impl<D: Device + Send> Accelerator for DeviceAccelerator<D> {
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>> {
        let possible = |shape: Shape| match Tiling::fits(&shape, self.device.shared_memory()) {
            true => Ok(shape),
            false => Err("networks as wide as this one are predicted on the CPU"),
        };
        let shape = Shape::forward(network).and_then(possible);
        let shape = shape.map_err(|reason| self.notify(&format!("engine cuda: {reason}"))).ok()?;
        self.run(|context| {
            let pool = self.pools.find(&self.device, &context.stream, &shape, parameters)?;
            pool.outputs(&self.device, context, x, stride)
        })
    }
}

/// Opens the first GPU once enough has been predicted to make it worthwhile.
struct LazyAccelerator {
    /// Multiply-adds requested so far.
    operations: Mutex<f64>,
    cuda: OnceLock<Option<DeviceAccelerator<CudaDevice>>>,
    /// Handed to the device when it is opened.
    notify: Mutex<Option<Notify>>,
}

impl LazyAccelerator {
    fn new(notify: Notify) -> Self {
        Self { operations: Mutex::default(), cuda: OnceLock::new(), notify: Mutex::new(Some(notify)) }
    }

    /// Adds to the operations so far; the GPU, if they have reached the threshold.
    fn device_after(&self, more: f64) -> Option<&DeviceAccelerator<CudaDevice>> {
        let mut operations = self.operations.lock().unwrap_or_else(PoisonError::into_inner);
        *operations += more;
        if *operations < MIN_OPERATIONS {
            return None;
        }
        drop(operations);
        let open = || {
            let notify = self.notify.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            CudaDevice::first().ok().map(|cuda| DeviceAccelerator::new(cuda, notify))
        };
        self.cuda.get_or_init(open).as_ref()
    }
}

impl QuantileAccelerator for LazyAccelerator {
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>> {
        self.device_after((mixtures.weights().len() * asked.len()) as f64 * OPERATIONS_PER_COMPONENT)?
            .quantiles(mixtures, asked)
    }
}

impl Accelerator for LazyAccelerator {
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>> {
        // With `auto` there is no notice of networks that no kernel supports.
        Shape::forward(network).ok()?;
        let rows = (x.len() / stride) as f64;
        self.device_after(rows * (parameters.len() * network.parameters()) as f64)?
            .outputs(network, parameters, x, stride)
    }
}
