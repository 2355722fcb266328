//! Raw outputs of pools of networks on the device: the inference kernel, cached weights, and launches over blocks of rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use negmm::net::{Network, Parameters};

use crate::device::{Device, Failure};
use crate::record::{OutputsRecord, bytes, bytes_mut};
use crate::shape::{PANEL, Shape};
use crate::source::Source;
use crate::stream::StreamContext;

/// Maximal output of a launch in floats, 64 MB.
const MAX_FLOATS: usize = 1 << 24;
/// Pools that stay on the device; the oldest is evicted first.
const MAX_POOLS: usize = 16;

/// Cache of pools on the device.
pub(crate) struct Pools<D: Device>(Mutex<Vec<Arc<Pool<D>>>>);

/// Networks of one shape: their kernel, and their weights in the library's layout and on the device.
pub(crate) struct Pool<D: Device> {
    network: Network,
    kernel: Arc<D::Kernel>,
    numbers: Vec<Vec<f32>>,
    weights: D::Memory,
}

impl<D: Device> Default for Pools<D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<D: Device> Pools<D> {
    /// The pool of these networks; uploads it where it is not cached.
    pub(crate) fn find(
        &self,
        device: &D,
        stream: &D::Stream,
        shape: &Shape,
        parameters: &[&Parameters],
    ) -> Result<Arc<Pool<D>>, Failure> {
        let find_in = |pools: Vec<Arc<Pool<D>>>| pools.into_iter().find(|pool| pool.is_of(&shape.network, parameters));
        if let Some(pool) = find_in(self.lock().clone()) {
            return Ok(pool);
        }
        // Upload under the lock: other threads mostly wait for the same pool.
        let mut pools = self.lock();
        if let Some(pool) = find_in(pools.clone()) {
            return Ok(pool);
        }
        let kernel = match pools.iter().find(|pool| pool.network == shape.network) {
            Some(pool) => pool.kernel.clone(),
            None => Arc::new(device.kernel(&Source::outputs(shape, device.shared_memory()))?),
        };
        let numbers: Vec<Vec<f32>> = parameters.iter().map(|parameters| parameters.numbers().to_vec()).collect();
        let weights: Vec<f32> = numbers.iter().flat_map(|numbers| shape.to_device(numbers)).collect();
        let weights = device.memory(stream, bytes(&weights), 0)?;
        let pool = Arc::new(Pool { network: shape.network.clone(), kernel, numbers, weights });
        if pools.len() == MAX_POOLS {
            pools.remove(0);
        }
        pools.push(pool.clone());
        Ok(pool)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Pool<D>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Device> Pool<D> {
    fn is_of(&self, network: &Network, parameters: &[&Parameters]) -> bool {
        // Compared as bits: 0 and -0 differ.
        let same = |(own, other): (&Vec<f32>, &&Parameters)| bytes(own) == bytes(other.numbers());
        self.network == *network
            && self.numbers.len() == parameters.len()
            && self.numbers.iter().zip(parameters).all(same)
    }

    /// Outputs of all rows of `x`, each padded to `stride` floats: networks × panels × outputs × rows of a panel.
    pub(crate) fn outputs(
        &self,
        device: &D,
        context: &mut StreamContext<D>,
        x: &[f32],
        stride: usize,
    ) -> Result<Vec<f32>, Failure> {
        let (networks, rows, panel) = (self.numbers.len(), x.len() / stride, self.network.outputs * PANEL);
        let panels = rows.div_ceil(PANEL);
        let most = (MAX_FLOATS / (networks * panel)).max(1);
        let mut outputs = vec![0.0; networks * panels * panel];
        for first in (0..panels).step_by(most) {
            let count = most.min(panels - first);
            let x = &x[first * PANEL * stride..rows.min((first + count) * PANEL) * stride];
            let record = OutputsRecord {
                x: context.buffer(device, 0, bytes(x), 0)?,
                outputs: context.buffer(device, 1, &[], networks * count * panel * size_of::<f32>())?,
                weights: D::address(&self.weights),
                stride: stride as u32,
                rows: (x.len() / stride) as u32,
            };
            let record = context.buffer(device, 2, bytes(&[record]), 0)?;
            device.run(&context.stream, &self.kernel, record, networks * count)?;
            for network in 0..networks {
                let target = &mut outputs[(network * panels + first) * panel..][..count * panel];
                context.read(device, 1, network * count * panel * size_of::<f32>(), bytes_mut(target))?;
            }
        }
        Ok(outputs)
    }
}
