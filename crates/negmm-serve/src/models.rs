//! Responsible for the models that are served: their names, and loading them again while they serve.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use negmm::conformal::LabelColumns;
use negmm::forecast::Forecaster;
use negmm::monitor::{Monitor, Watching};
use negmm::{Error, Loaded, Model, Result};

use crate::failure::Failure;
use crate::rows::Used;

/// A model that is served.
#[derive(Debug)]
pub struct Served {
    /// What it is called: its file's name without the ending.
    pub name: String,
    /// The model, or the forecaster.
    pub loaded: Loaded,
    /// The columns that requests may have.
    pub used: Used,
    /// The watch on its calibration; a model that is loaded again begins a new one.
    pub watch: Mutex<Monitor>,
}

impl Served {
    /// The model of rows that it is.
    ///
    /// # Errors
    /// When it is a forecaster: what is asked makes no sense of series.
    pub fn model(&self) -> std::result::Result<&Model, Failure> {
        match &self.loaded {
            Loaded::Model(model) => Ok(model),
            Loaded::Forecaster(_) => {
                let name = &self.name;
                Err(Failure::bad(format!(
                    "{name:?} is a forecaster of series, which answers /infer and /invocations alone"
                )))
            }
        }
    }
}

/// All models, by name.
pub struct Models {
    files: Vec<(String, PathBuf)>,
    served: RwLock<Arc<BTreeMap<String, Arc<Served>>>>,
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

    /// Those that serve now.
    pub fn all(&self) -> Arc<BTreeMap<String, Arc<Served>>> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<Arc<Served>> {
        self.all().get(name).cloned()
    }

    /// The first that was named.
    pub fn first(&self) -> Option<Arc<Served>> {
        self.get(&self.files.first()?.0)
    }

    /// Loads all files again. Where that fails the model that serves goes on, and what failed is given back.
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

fn load(name: &str, file: &PathBuf) -> Result<Arc<Served>> {
    let loaded = Loaded::load(file)?;
    let used = match &loaded {
        Loaded::Model(model) => of_rows(model),
        Loaded::Forecaster(forecaster) => of_series(forecaster),
    };
    let watch = Mutex::new(Monitor::new(Watching::default())?);
    Ok(Arc::new(Served { name: name.to_string(), loaded, used, watch }))
}

/// The columns of a model's inputs, and those that guaranteed sets go by: groups and weights, or the targets of a sequence.
fn of_rows(model: &Model) -> Used {
    let encoder = model.encoder();
    let schema = if encoder.sequence().is_some() { encoder.schema_with_target() } else { encoder.schema() };
    let mut names: Vec<String> = schema.columns.into_iter().map(|(name, _)| name).collect();
    let LabelColumns { by, weight } = model.calibration().map(LabelColumns::of).unwrap_or_default();
    names.extend(weight.map(str::to_string).filter(|weight| !names.contains(weight)));
    Used { names, groups: by.map(str::to_string) }
}

fn of_series(forecaster: &Forecaster) -> Used {
    Used { names: forecaster.recipe().roles.columns().map(str::to_string).collect(), groups: None }
}
