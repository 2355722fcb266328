//! Model files of either kind: a model of rows, or a forecaster of series.

use std::io::Read;
use std::path::Path;

use crate::forecast::Forecaster;
use crate::model::{self, Model};
use negmm_dist::Result;

/// The content of a model file.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// A model of rows.
    Model(Box<Model>),
    /// A forecaster of series.
    Forecaster(Box<Forecaster>),
}

impl Loaded {
    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&model::bytes_of(path)?).map_err(|error| error.in_file(path))
    }

    /// Reads a model file to its end.
    ///
    /// # Errors
    /// When it cannot be read, or is not a model file or too large for one.
    pub fn read_from(reader: impl Read) -> Result<Self> {
        Self::from_bytes(&model::all_bytes(reader)?)
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (model, forecast) = model::read(bytes)?;
        Ok(match forecast {
            Some(parts) => Self::Forecaster(Box::new(Forecaster::of_parts(model, parts)?)),
            None => Self::Model(Box::new(model)),
        })
    }
}
