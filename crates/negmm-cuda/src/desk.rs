//! Responsible for where one thread works with a device that predicts: launches of its own, and memory that is used again.

use std::sync::{Mutex, PoisonError};

use crate::device::{Device, Failure};

/// Launches and buffers of one thread at a time.
pub(crate) struct Desk<D: Device> {
    pub(crate) queue: D::Queue,
    buffers: Vec<(usize, D::Memory)>,
}

impl<D: Device> Desk<D> {
    /// Buffer `number` with at least so many bytes, which begin with `content`: its address. Those before it were asked for already.
    pub(crate) fn buffer(&mut self, device: &D, number: usize, content: &[u8], bytes: usize) -> Result<u64, Failure> {
        let bytes = bytes.max(content.len());
        if self.buffers.get(number).is_none_or(|(size, _)| *size < bytes) {
            // What is too small is given back first.
            self.buffers.truncate(number);
            self.buffers.push((bytes, device.memory(&self.queue, content, bytes)?));
        } else {
            device.write(&self.queue, &mut self.buffers[number].1, content)?;
        }
        Ok(D::address(&self.buffers[number].1))
    }

    /// What buffer `number` has from a place on.
    pub(crate) fn read(&self, device: &D, number: usize, from: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        device.read(&self.queue, &self.buffers[number].1, from, bytes)
    }
}

/// Desks that nobody sits at.
pub(crate) struct Desks<D: Device>(Mutex<Vec<Desk<D>>>);

impl<D: Device> Default for Desks<D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<D: Device> Desks<D> {
    /// Works at a desk; one where something failed is not used again.
    pub(crate) fn at_one<T>(
        &self,
        device: &D,
        work: impl FnOnce(&mut Desk<D>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut desk = match free {
            Some(desk) => desk,
            None => Desk { queue: device.queue()?, buffers: Vec::new() },
        };
        let worked = work(&mut desk)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
        Ok(worked)
    }
}
