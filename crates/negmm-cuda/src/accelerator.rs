//! Responsible for predicting on a device: which part of it a device does, and what becomes of a part when it fails.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use negmm::net::{Network, Parameters};
use negmm::{Accelerator, Error, Mixtures, QuantileAccelerator, Result, TailQuantile};

use crate::desk::{Desk, Desks};
use crate::device::{Card, Device, Failure};
use crate::outputs::Pools;
use crate::quantiles::Quantiles;
use crate::shape::Shape;
use crate::stage::Stage;
use crate::trainer::ENGINES;

/// With `auto` this much is predicted on the processor first, in multiply-adds: about 20 seconds of a core, what is lost at most where
/// a card would have been quicker from the start. A kernel may have to be compiled, which takes seconds.
const WORTH_THE_WAY: f64 = 8e11;
/// What looking for one quantile takes for each component, in multiply-adds of a network.
const OF_COMPONENT: f64 = 1e4;

/// Who is told.
type Tell = Box<dyn Fn(&str) + Sync + Send>;

/// What helps to predict, by the name of an engine: nothing with `cpu`; a card with `cuda`; with `auto` a card where there is one that
/// can be used, from the time on when that pays. A card that fails is told of; what it leaves to the processor is told once, where it was
/// asked for by its name.
///
/// # Errors
/// When the name is none of them, or a card was asked for and there is none.
pub fn accelerator(name: &str, tell: Tell) -> Result<Option<Arc<dyn Accelerator>>> {
    match name {
        "cpu" => Ok(None),
        "cuda" => Ok(Some(Arc::new(OnDevice::new(Card::first()?, tell)))),
        "auto" => Ok(Some(Arc::new(Deferred::new(tell)))),
        _ => Err(Error::options(format!("engine must be one of {}, found {name:?}", ENGINES.join(", ")))),
    }
}

/// What helps to predict with the kernels on a processor.
#[cfg(feature = "emulated")]
pub fn emulated_accelerator(device: crate::Emulated, tell: Tell) -> Arc<dyn Accelerator> {
    Arc::new(OnDevice::new(device, tell))
}

/// Runs networks over many rows and finds quantiles of many mixtures on a device, with the bits of the processor.
struct OnDevice<D: Device> {
    device: D,
    desks: Desks<D>,
    pools: Pools<D>,
    quantiles: Quantiles<D>,
    /// Whether the device failed: it is not asked again.
    failed: AtomicBool,
    tell: Tell,
    told: Mutex<BTreeSet<String>>,
}

impl<D: Device> OnDevice<D> {
    fn new(device: D, tell: Tell) -> Self {
        Self {
            device,
            desks: Desks::default(),
            pools: Pools::default(),
            quantiles: Quantiles::default(),
            failed: AtomicBool::new(false),
            tell,
            told: Mutex::default(),
        }
    }

    fn tell(&self, text: &str) {
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into()) {
            (self.tell)(text);
        }
    }

    /// Some work at a desk, unless the device failed before.
    fn work<T>(&self, work: impl FnOnce(&mut Desk<D>) -> std::result::Result<T, Failure>) -> Option<T> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let worked = self.desks.at_one(&self.device, work);
        worked
            .map_err(|failure| {
                // Others that were at work may fail otherwise; the first says it.
                if !self.failed.swap(true, Ordering::Relaxed) {
                    self.tell(&format!("engine cuda: {failure}; the processor goes on"));
                }
            })
            .ok()
    }
}

impl<D: Device + Send> QuantileAccelerator for OnDevice<D> {
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>> {
        self.work(|desk| self.quantiles.find(&self.device, desk, mixtures, asked))
    }
}

impl<D: Device + Send> Accelerator for OnDevice<D> {
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>> {
        let possible = |shape: Shape| match Stage::is_possible(&shape, self.device.shared_memory()) {
            true => Ok(shape),
            false => Err("a network as wide as this is predicted on the processor"),
        };
        let shape = Shape::forward(network).and_then(possible);
        let shape = shape.map_err(|reason| self.tell(&format!("engine cuda: {reason}"))).ok()?;
        self.work(|desk| {
            let pool = self.pools.find(&self.device, &desk.queue, &shape, parameters)?;
            pool.outputs(&self.device, desk, x, stride)
        })
    }
}

/// A card that is looked for when there was so much to do that one would have paid.
struct Deferred {
    /// Multiply-adds that were asked for.
    asked: Mutex<f64>,
    card: OnceLock<Option<OnDevice<Card>>>,
    /// Who is told, until there is a card that tells.
    tell: Mutex<Option<Tell>>,
}

impl Deferred {
    fn new(tell: Tell) -> Self {
        Self { asked: Mutex::default(), card: OnceLock::new(), tell: Mutex::new(Some(tell)) }
    }

    /// The card, where so much more makes it worth the way.
    fn after(&self, more: f64) -> Option<&OnDevice<Card>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += more;
        if *asked < WORTH_THE_WAY {
            return None;
        }
        drop(asked);
        let found = || {
            let tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            Card::first().ok().map(|card| OnDevice::new(card, tell))
        };
        self.card.get_or_init(found).as_ref()
    }
}

impl QuantileAccelerator for Deferred {
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>> {
        self.after((mixtures.weights().len() * asked.len()) as f64 * OF_COMPONENT)?.quantiles(mixtures, asked)
    }
}

impl Accelerator for Deferred {
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>> {
        // Nobody asked for a card by its name: what no kernel runs is not worth a word.
        Shape::forward(network).ok()?;
        let rows = (x.len() / stride) as f64;
        self.after(rows * (parameters.len() * network.parameters()) as f64)?.outputs(network, parameters, x, stride)
    }
}
