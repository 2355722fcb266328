//! The models that are served: their names, and reloading them in service.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use negmm::conformal::LabelColumns;
use negmm::data::{ColumnType, Schema};
use negmm::forecast::Forecaster;
use negmm::monitor::{JointMonitor, Monitor, MonitorConfig};
use negmm::{Error, JointModel, Loaded, Model, Result};

use crate::failure::Failure;
use crate::rows::Used;

/// A model in service.
#[derive(Debug)]
pub struct ServedModel {
    /// Its name: the file name without the extension.
    pub name: String,
    /// The model, or the forecaster.
    pub loaded: Loaded,
    /// The columns that are read from requests.
    pub used: Used,
    /// The monitor of its calibration; a reload starts a new one.
    pub monitor: Mutex<ServedMonitor>,
}

/// The monitor of a model in service.
#[derive(Debug)]
pub enum ServedMonitor {
    /// Of one target.
    OneTarget(Box<Monitor>),
    /// Of several.
    SeveralTargets(JointMonitor),
}

impl ServedModel {
    /// The model, unless it is a forecaster.
    ///
    /// # Errors
    /// When it is a forecaster, for which the endpoint is not defined.
    pub fn model(&self) -> std::result::Result<&Model, Failure> {
        match &self.loaded {
            Loaded::Model(model) => Ok(model),
            Loaded::Joint(_) => {
                let name = &self.name;
                Err(Failure::bad(format!("{name:?} is a model of several targets, which this endpoint does not show")))
            }
            Loaded::Forecaster(_) => {
                let name = &self.name;
                Err(Failure::bad(format!(
                    "{name:?} is a forecaster of series, which only has the endpoints /infer and /invocations"
                )))
            }
        }
    }
}

/// All models, by name.
pub struct Models {
    files: Vec<(String, PathBuf)>,
    served: RwLock<Arc<BTreeMap<String, Arc<ServedModel>>>>,
}

impl Models {
    /// Loads the files.
    ///
    /// # Errors
    /// When one cannot be read, or two have the same name.
    pub fn load(files: &[PathBuf]) -> Result<Self> {
        let mut named: Vec<(String, PathBuf)> = Vec::new();
        for file in files {
            let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some((_, other)) = named.iter().find(|(other, _)| *other == name) {
                let message = format!("a model of the same name is served from {}: rename one", other.display());
                return Err(Error::options(message).in_file(file));
            }
            named.push((name, file.clone()));
        }
        let served = named.iter().map(|(name, file)| Ok((name.clone(), load(name, file)?))).collect::<Result<_>>()?;
        Ok(Self { files: named, served: RwLock::new(Arc::new(served)) })
    }

    /// All models in service.
    pub fn all(&self) -> Arc<BTreeMap<String, Arc<ServedModel>>> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The model of that name.
    pub fn get(&self, name: &str) -> Option<Arc<ServedModel>> {
        self.all().get(name).cloned()
    }

    /// The first model of the command line.
    pub fn first(&self) -> Option<Arc<ServedModel>> {
        self.get(&self.files.first()?.0)
    }

    /// Reloads all files and returns the errors. After an error the previous model stays in service.
    pub fn reload(&self) -> Vec<Error> {
        let (mut served, mut failed) = ((*self.all()).clone(), Vec::new());
        for (name, file) in &self.files {
            match load(name, file) {
                Ok(model) => drop(served.insert(name.clone(), model)),
                Err(error) => failed.push(error),
            }
        }
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
        failed
    }
}

fn load(name: &str, file: &PathBuf) -> Result<Arc<ServedModel>> {
    let loaded = Loaded::load(file)?;
    let used = match &loaded {
        Loaded::Model(model) => columns_of_model(model),
        Loaded::Joint(model) => {
            // Targets too, for what is given and for densities.
            let columns = model.encoder().schema().columns.into_iter().map(|(name, _)| name);
            let names: Vec<String> = columns.chain(model.names().into_iter().map(str::to_string)).collect();
            let LabelColumns { by, weight } = model.calibration().map(LabelColumns::of).unwrap_or_default();
            let weight = weight.map(str::to_string).filter(|weight| !names.contains(weight));
            Used { names: names.into_iter().chain(weight).collect(), groups: by.map(str::to_string) }
        }
        Loaded::Forecaster(forecaster) => columns_of_forecaster(forecaster),
    };
    let config = MonitorConfig::default();
    let monitor = Mutex::new(match &loaded {
        Loaded::Joint(model) => ServedMonitor::SeveralTargets(JointMonitor::new(config, model.targets())?),
        _ => ServedMonitor::OneTarget(Box::new(Monitor::new(config)?)),
    });
    Ok(Arc::new(ServedModel { name: name.to_string(), loaded, used, monitor }))
}

/// The columns of a model's inputs, and those that conformal sets need: groups and weights, or the targets of a sequence.
fn columns_of_model(model: &Model) -> Used {
    let encoder = model.encoder();
    let schema = if encoder.sequence().is_some() { encoder.schema_with_target() } else { encoder.schema() };
    let mut names: Vec<String> = schema.columns.into_iter().map(|(name, _)| name).collect();
    let LabelColumns { by, weight } = model.calibration().map(LabelColumns::of).unwrap_or_default();
    names.extend(weight.map(str::to_string).filter(|weight| !names.contains(weight)));
    Used { names, groups: by.map(str::to_string) }
}

fn columns_of_forecaster(forecaster: &Forecaster) -> Used {
    Used { names: forecaster.transform().spec.columns().map(str::to_string).collect(), groups: None }
}

/// The columns of a model of several targets, with the targets.
pub fn joint_schema(model: &JointModel) -> Schema {
    let mut schema = model.encoder().schema();
    for target in model.targets() {
        let column_type = target.read_as.clone().unwrap_or_else(ColumnType::number);
        schema.columns.push((target.name.clone(), column_type));
    }
    schema
}
