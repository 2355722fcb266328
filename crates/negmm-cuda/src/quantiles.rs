//! Quantiles of mixtures on the device: the search kernel, and launches over blocks of rows.

use std::sync::OnceLock;

use negmm::{Mixtures, TailQuantile};

use crate::device::{Device, Failure};
use crate::record::{QuantilesRecord, bytes, bytes_mut};
use crate::source::{QUANTILE_THREADS, Source};
use crate::stream::StreamContext;

/// Maximal mixture components of a launch, 24 bytes each.
const MAX_COMPONENTS: usize = 1 << 22;

/// The kernel, compiled on first use.
pub(crate) struct Quantiles<D: Device>(OnceLock<Result<D::Kernel, Failure>>);

impl<D: Device> Default for Quantiles<D> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<D: Device> Quantiles<D> {
    /// The requested quantiles: quantiles × rows.
    pub(crate) fn find(
        &self,
        device: &D,
        context: &mut StreamContext<D>,
        mixtures: &Mixtures,
        asked: &[TailQuantile],
    ) -> Result<Vec<f64>, Failure> {
        let kernel = self.0.get_or_init(|| device.kernel(&Source::quantiles())).as_ref().map_err(Clone::clone)?;
        let (rows, components) = (mixtures.len(), mixtures.components());
        let most = (MAX_COMPONENTS / components).max(1);
        let requested: Vec<f64> = asked.iter().flat_map(|one| [one.mass, one.sign, one.z]).collect();
        let mut quantiles = vec![0.0; asked.len() * rows];
        for first in (0..rows).step_by(most) {
            let count = most.min(rows - first);
            let range = first * components..(first + count) * components;
            let record = QuantilesRecord {
                weights: context.buffer(device, 0, bytes(&mixtures.weights()[range.clone()]), 0)?,
                means: context.buffer(device, 1, bytes(&mixtures.means()[range.clone()]), 0)?,
                sds: context.buffer(device, 2, bytes(&mixtures.sds()[range.clone()]), 0)?,
                quantiles: context.buffer(device, 3, bytes(&requested), 0)?,
                results: context.buffer(device, 4, &[], asked.len() * count * size_of::<f64>())?,
                rows: count as u32,
                components: components as u32,
                count: asked.len() as u32,
                reserved: 0,
            };
            let blocks = (asked.len() * count).div_ceil(QUANTILE_THREADS);
            let record = context.buffer(device, 5, bytes(&[record]), 0)?;
            device.run(&context.stream, kernel, record, blocks)?;
            for at in 0..asked.len() {
                let target = &mut quantiles[at * rows + first..][..count];
                context.read(device, 4, at * count * size_of::<f64>(), bytes_mut(target))?;
            }
        }
        Ok(quantiles)
    }
}
