//! Stream contexts for inference: a CUDA stream with reusable buffers for each calling thread.

use std::sync::{Mutex, PoisonError};

use crate::device::{Device, Failure};

/// A stream and its buffers, used by one thread at a time.
pub(crate) struct StreamContext<D: Device> {
    pub(crate) stream: D::Stream,
    buffers: Vec<(usize, D::Memory)>,
}

impl<D: Device> StreamContext<D> {
    /// Buffer `number` with at least `bytes` bytes, starting with `content`; returns its device address. Buffers are requested in order.
    pub(crate) fn buffer(&mut self, device: &D, number: usize, content: &[u8], bytes: usize) -> Result<u64, Failure> {
        let bytes = bytes.max(content.len());
        if self.buffers.get(number).is_none_or(|(size, _)| *size < bytes) {
            // Free the smaller buffer before the new one is allocated.
            self.buffers.truncate(number);
            self.buffers.push((bytes, device.memory(&self.stream, content, bytes)?));
        } else {
            device.write(&self.stream, &mut self.buffers[number].1, content)?;
        }
        Ok(D::address(&self.buffers[number].1))
    }

    /// Reads from buffer `number`, starting at byte `from`.
    pub(crate) fn read(&self, device: &D, number: usize, from: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        device.read(&self.stream, &self.buffers[number].1, from, bytes)
    }
}

/// Idle stream contexts.
pub(crate) struct StreamPool<D: Device>(Mutex<Vec<StreamContext<D>>>);

impl<D: Device> Default for StreamPool<D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<D: Device> StreamPool<D> {
    /// Runs `work` with an idle or new context. A context is dropped when its work fails.
    pub(crate) fn with_stream<T>(
        &self,
        device: &D,
        work: impl FnOnce(&mut StreamContext<D>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = match idle {
            Some(context) => context,
            None => StreamContext { stream: device.stream()?, buffers: Vec::new() },
        };
        let result = work(&mut context)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(context);
        Ok(result)
    }
}
