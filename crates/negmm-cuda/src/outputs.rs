//! Responsible for the raw outputs of networks of one shape: their kernel, their weights in the device's memory, and portions of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use negmm::net::{Network, Parameters};

use crate::desk::Desk;
use crate::device::{Device, Failure};
use crate::record::{OutputsRecord, bytes, bytes_mut};
use crate::shape::{PANEL, Shape};
use crate::source::Source;

/// Floats of the outputs of a launch at most, 64 MB.
const MOST_FLOATS: usize = 1 << 24;
/// Pools whose weights stay on the device.
const MOST_POOLS: usize = 16;

/// What runs the networks of some shapes.
pub(crate) struct Shapes<D: Device> {
    kernels: Mutex<HashMap<String, Arc<D::Kernel>>>,
    pools: Mutex<Vec<Arc<Pool<D>>>>,
}

impl<D: Device> Default for Shapes<D> {
    fn default() -> Self {
        Self { kernels: Mutex::default(), pools: Mutex::default() }
    }
}

/// The weights of networks, as the library has them and on the device.
struct Pool<D: Device> {
    network: Network,
    numbers: Vec<Vec<f32>>,
    memory: D::Memory,
}

impl<D: Device> Pool<D> {
    fn is_of(&self, network: &Network, parameters: &[&Parameters]) -> bool {
        // Bits, not values: 0 and -0 are two numbers.
        let same = |(own, other): (&Vec<f32>, &&Parameters)| bytes(own) == bytes(other.numbers());
        self.network == *network
            && self.numbers.len() == parameters.len()
            && self.numbers.iter().zip(parameters).all(same)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<D: Device> Shapes<D> {
    /// Networks × panels × outputs × panel, for all rows of `x`.
    pub(crate) fn outputs(
        &self,
        device: &D,
        desk: &mut Desk<D>,
        (shape, parameters): (&Shape, &[&Parameters]),
        (x, stride): (&[f32], usize),
    ) -> Result<Vec<f32>, Failure> {
        let kernel = self.kernel(device, shape)?;
        let pool = self.pool(device, desk, shape, parameters)?;
        let (networks, rows, panel) = (parameters.len(), x.len() / stride, shape.network.outputs * PANEL);
        let panels = rows.div_ceil(PANEL);
        let most = (MOST_FLOATS / (networks * panel)).max(1);
        let mut outputs = vec![0.0; networks * panels * panel];
        for first in (0..panels).step_by(most) {
            let count = most.min(panels - first);
            let x = &x[first * PANEL * stride..(rows.min((first + count) * PANEL)) * stride];
            let record = OutputsRecord {
                x: desk.buffer(device, 0, bytes(x), 0)?,
                outputs: desk.buffer(device, 1, &[], networks * count * panel * size_of::<f32>())?,
                weights: D::address(&pool.memory),
                stride: stride as u32,
                rows: (x.len() / stride) as u32,
            };
            device.run(&desk.queue, &kernel, bytes(&[record]), networks * count)?;
            for network in 0..networks {
                let target = &mut outputs[(network * panels + first) * panel..][..count * panel];
                desk.read(device, 1, network * count * panel * size_of::<f32>(), bytes_mut(target))?;
            }
        }
        Ok(outputs)
    }

    fn kernel(&self, device: &D, shape: &Shape) -> Result<Arc<D::Kernel>, Failure> {
        let source = Source::outputs(shape, device.shared_memory());
        // Others wait: they would compile the same.
        let mut kernels = locked(&self.kernels);
        if let Some(kernel) = kernels.get(&source.text) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(device.kernel(&source)?);
        kernels.insert(source.text, kernel.clone());
        Ok(kernel)
    }

    fn pool(
        &self,
        device: &D,
        desk: &Desk<D>,
        shape: &Shape,
        parameters: &[&Parameters],
    ) -> Result<Arc<Pool<D>>, Failure> {
        let known = locked(&self.pools).clone();
        if let Some(pool) = known.into_iter().find(|pool| pool.is_of(&shape.network, parameters)) {
            return Ok(pool);
        }
        let numbers: Vec<Vec<f32>> = parameters.iter().map(|parameters| parameters.numbers().to_vec()).collect();
        let weights: Vec<f32> = numbers.iter().flat_map(|numbers| shape.to_device(numbers)).collect();
        let memory = device.memory(&desk.queue, bytes(&weights), 0)?;
        let pool = Arc::new(Pool { network: shape.network.clone(), numbers, memory });
        let mut pools = locked(&self.pools);
        if pools.len() == MOST_POOLS {
            pools.remove(0);
        }
        pools.push(pool.clone());
        Ok(pool)
    }
}
