//! Responsible for the raw outputs of networks of one shape: their kernel, their weights in the device's memory, and portions of rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use negmm::net::{Network, Parameters};

use crate::desk::Desk;
use crate::device::{Device, Failure};
use crate::record::{OutputsRecord, bytes, bytes_mut};
use crate::shape::{PANEL, Shape};
use crate::source::Source;

/// Floats of the outputs of a launch at most, 64 MB.
const MOST_FLOATS: usize = 1 << 24;
/// Pools that stay on the device.
const MOST_POOLS: usize = 16;

/// Pools that were asked for last.
pub(crate) struct Pools<D: Device>(Mutex<Vec<Arc<Pool<D>>>>);

/// Networks of one shape: their kernel, and their weights as the library has them and on the device.
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
    /// The pool of these networks, which is made where it is not there.
    pub(crate) fn find(
        &self,
        device: &D,
        queue: &D::Queue,
        shape: &Shape,
        parameters: &[&Parameters],
    ) -> Result<Arc<Pool<D>>, Failure> {
        let known = |pools: Vec<Arc<Pool<D>>>| pools.into_iter().find(|pool| pool.is_of(&shape.network, parameters));
        if let Some(pool) = known(self.locked().clone()) {
            return Ok(pool);
        }
        // Others wait: they would make the same.
        let mut pools = self.locked();
        if let Some(pool) = known(pools.clone()) {
            return Ok(pool);
        }
        let kernel = match pools.iter().find(|pool| pool.network == shape.network) {
            Some(pool) => pool.kernel.clone(),
            None => Arc::new(device.kernel(&Source::outputs(shape, device.shared_memory()))?),
        };
        let numbers: Vec<Vec<f32>> = parameters.iter().map(|parameters| parameters.numbers().to_vec()).collect();
        let weights: Vec<f32> = numbers.iter().flat_map(|numbers| shape.to_device(numbers)).collect();
        let weights = device.memory(queue, bytes(&weights), 0)?;
        let pool = Arc::new(Pool { network: shape.network.clone(), kernel, numbers, weights });
        if pools.len() == MOST_POOLS {
            pools.remove(0);
        }
        pools.push(pool.clone());
        Ok(pool)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Arc<Pool<D>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Device> Pool<D> {
    fn is_of(&self, network: &Network, parameters: &[&Parameters]) -> bool {
        // Bits, not values: 0 and -0 are two numbers.
        let same = |(own, other): (&Vec<f32>, &&Parameters)| bytes(own) == bytes(other.numbers());
        self.network == *network
            && self.numbers.len() == parameters.len()
            && self.numbers.iter().zip(parameters).all(same)
    }

    /// Networks × panels × outputs × panel, for all rows of `x`, each padded to `stride` floats.
    pub(crate) fn outputs(
        &self,
        device: &D,
        desk: &mut Desk<D>,
        x: &[f32],
        stride: usize,
    ) -> Result<Vec<f32>, Failure> {
        let (networks, rows, panel) = (self.numbers.len(), x.len() / stride, self.network.outputs * PANEL);
        let panels = rows.div_ceil(PANEL);
        let most = (MOST_FLOATS / (networks * panel)).max(1);
        let mut outputs = vec![0.0; networks * panels * panel];
        for first in (0..panels).step_by(most) {
            let count = most.min(panels - first);
            let x = &x[first * PANEL * stride..rows.min((first + count) * PANEL) * stride];
            let record = OutputsRecord {
                x: desk.buffer(device, 0, bytes(x), 0)?,
                outputs: desk.buffer(device, 1, &[], networks * count * panel * size_of::<f32>())?,
                weights: D::address(&self.weights),
                stride: stride as u32,
                rows: (x.len() / stride) as u32,
            };
            let record = desk.buffer(device, 2, bytes(&[record]), 0)?;
            device.run(&desk.queue, &self.kernel, record, networks * count)?;
            for network in 0..networks {
                let target = &mut outputs[(network * panels + first) * panel..][..count * panel];
                desk.read(device, 1, network * count * panel * size_of::<f32>(), bytes_mut(target))?;
            }
        }
        Ok(outputs)
    }
}
