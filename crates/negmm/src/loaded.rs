//! Model files of any kind: a model of rows, a model of several targets, or a forecaster of series.

use std::io::Read;
use std::path::Path;

use crate::forecast::Forecaster;
use crate::joint::JointModel;
use crate::model::{self, JOINT_FORMAT, Model};
use negmm_dist::Result;

/// The content of a model file.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// A model of rows.
    Model(Box<Model>),
    /// A model of several targets.
    Joint(Box<JointModel>),
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
        if model::document(bytes)?.format() == JOINT_FORMAT {
            return Ok(Self::Joint(Box::new(JointModel::from_bytes(bytes)?)));
        }
        let (model, forecast) = model::read(bytes)?;
        Ok(match forecast {
            Some(parts) => Self::Forecaster(Box::new(Forecaster::of_parts(model, parts)?)),
            None => Self::Model(Box::new(model)),
        })
    }
}
