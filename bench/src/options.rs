//! Command-line options of the benchmarks: `--name value`, each with a default.

use std::collections::BTreeMap;
use std::str::FromStr;

use negmm::net::Activation;

/// The parsed command line.
#[derive(Debug)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// Parses the command line; only `names` (with their dashes) are accepted.
    pub fn read(names: &[&str]) -> Result<Self, String> {
        let mut arguments = std::env::args().skip(1);
        let mut given = BTreeMap::new();
        while let Some(name) = arguments.next() {
            if !names.contains(&name.as_str()) {
                return Err(format!("there is no option {name}; the options are {}", names.join(" ")));
            }
            let value = arguments.next().ok_or(format!("{name} needs a value"))?;
            given.insert(name, value);
        }
        Ok(Self(given))
    }

    /// The text of an option, if it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of an option, or `default`.
    pub fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        self.text(name).map_or(Ok(default), |text| text.parse().map_err(|_| format!("{name} cannot be {text:?}")))
    }

    /// Values with commas between them, or `default`.
    pub fn list<T: FromStr>(&self, name: &str, default: Vec<T>) -> Result<Vec<T>, String> {
        let parse = |part: &str| part.parse().map_err(|_| format!("{name} cannot hold {part:?}"));
        self.text(name).map_or(Ok(default), |text| text.split(',').map(parse).collect())
    }
}

/// `--activation`, or ReLU.
pub fn activation(options: &Options) -> Result<Activation, String> {
    match options.text("--activation").unwrap_or("relu") {
        "relu" => Ok(Activation::Relu),
        "tanh" => Ok(Activation::Tanh),
        "silu" => Ok(Activation::Silu),
        other => Err(format!("--activation cannot be {other:?}")),
    }
}
