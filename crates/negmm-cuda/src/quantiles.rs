//! Responsible for quantiles of mixtures on a device: their kernel, and portions of rows.

use std::sync::OnceLock;

use negmm::{Mixtures, TailQuantile};

use crate::desk::Desk;
use crate::device::{Device, Failure};
use crate::record::{QuantilesRecord, bytes, bytes_mut};
use crate::source::{QUANTILE_THREADS, Source};

/// Components of the mixtures of a launch at most: 24 bytes each.
const MOST_COMPONENTS: usize = 1 << 22;

/// The kernel, once it was asked for.
pub(crate) struct Quantiles<D: Device>(OnceLock<Result<D::Kernel, Failure>>);

impl<D: Device> Default for Quantiles<D> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<D: Device> Quantiles<D> {
    /// Asked × rows.
    pub(crate) fn find(
        &self,
        device: &D,
        desk: &mut Desk<D>,
        mixtures: &Mixtures,
        asked: &[TailQuantile],
    ) -> Result<Vec<f64>, Failure> {
        let kernel = self.0.get_or_init(|| device.kernel(&Source::quantiles())).as_ref().map_err(Clone::clone)?;
        let (rows, components) = (mixtures.len(), mixtures.components());
        let most = (MOST_COMPONENTS / components).max(1);
        let wanted: Vec<f64> = asked.iter().flat_map(|one| [one.mass, one.sign, one.z]).collect();
        let mut quantiles = vec![0.0; asked.len() * rows];
        for first in (0..rows).step_by(most) {
            let count = most.min(rows - first);
            let place = first * components..(first + count) * components;
            let record = QuantilesRecord {
                weights: desk.buffer(device, 0, bytes(&mixtures.weights()[place.clone()]), 0)?,
                means: desk.buffer(device, 1, bytes(&mixtures.means()[place.clone()]), 0)?,
                sds: desk.buffer(device, 2, bytes(&mixtures.sds()[place.clone()]), 0)?,
                quantiles: desk.buffer(device, 3, bytes(&wanted), 0)?,
                found: desk.buffer(device, 4, &[], asked.len() * count * size_of::<f64>())?,
                rows: count as u32,
                components: components as u32,
                count: asked.len() as u32,
                reserved: 0,
            };
            let blocks = (asked.len() * count).div_ceil(QUANTILE_THREADS);
            let record = desk.buffer(device, 5, bytes(&[record]), 0)?;
            device.run(&desk.queue, kernel, record, blocks)?;
            for at in 0..asked.len() {
                let target = &mut quantiles[at * rows + first..][..count];
                desk.read(device, 4, at * count * size_of::<f64>(), bytes_mut(target))?;
            }
        }
        Ok(quantiles)
    }
}
