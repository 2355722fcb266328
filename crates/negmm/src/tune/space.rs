//! Search spaces: options with candidate values, and their methods.

use std::fmt;

use serde_json::{Value, json};

use crate::Method;
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};
use negmm_nn::options::{self, ValueKind, current_name};

/// Consecutive draws without a new configuration after which a space counts as exhausted.
const MOST_REPEATS: usize = 1000;

/// The values that an option may take.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A list of values.
    List(Vec<String>),
    /// A uniform range of integers, both ends included. In a [`Space`] only for integer options.
    Whole(u64, u64),
    /// A uniform range of numbers.
    Uniform(f64, f64),
    /// A log-uniform range of positive numbers.
    Log(f64, f64),
}

/// An option and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The option's name on the command line, which may be a former one (see [`options::RENAMED`]).
    pub option: String,
    /// Its candidate values.
    pub values: Values,
}

impl Dimension {
    /// From text: `eta=0,0.5`, `hidden=64/64,64` (slashes where a value has commas), `components=2..16`,
    /// `dropout=0..0.3`, `learning-rate=1e-4..1e-2:log`.
    pub fn parse(text: &str) -> Result<Self> {
        let (option, values) = text
            .split_once('=')
            .filter(|(option, values)| !option.trim().is_empty() && !values.trim().is_empty())
            .ok_or_else(|| Error::option("try", format!("must be OPTION=VALUES, found {text:?}")))?;
        let values = match values.split_once("..") {
            Some((low, rest)) => range(low.trim(), rest.trim()).ok_or_else(|| {
                Error::options(format!("expected a range such as 0..1, 2..16 or 1e-4..1e-2:log, found {text:?}"))
            })?,
            None => {
                let separator = if values.contains('/') { '/' } else { ',' };
                let mut list: Vec<String> = Vec::new();
                for value in values.split(separator).map(str::trim) {
                    if !list.iter().any(|known| known == value) {
                        list.push(value.to_string());
                    }
                }
                Values::List(list)
            }
        };
        Ok(Self { option: option.trim().to_string(), values })
    }

    /// Draws one value, as typed on the command line.
    fn draw(&self, rng: &mut Rng) -> String {
        match &self.values {
            Values::List(list) => list[rng.below(list.len())].clone(),
            Values::Whole(low, high) => (low + rng.below((high - low + 1) as usize) as u64).to_string(),
            Values::Uniform(low, high) => short(low + (high - low) * rng.uniform()).to_string(),
            Values::Log(low, high) => {
                short(low * libm::exp(libm::log(high / low) * rng.uniform())).clamp(*low, *high).to_string()
            }
        }
    }

    fn describe(&self) -> Value {
        match &self.values {
            Values::List(list) => json!(list),
            Values::Whole(low, high) => json!(format!("{low}..{high}")),
            Values::Uniform(low, high) => json!(format!("{low}..{high} evenly")),
            Values::Log(low, high) => json!(format!("{low}..{high}:log")),
        }
    }
}

/// Four significant digits are enough for a random setting.
fn short(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

fn range(low: &str, rest: &str) -> Option<Values> {
    let (high, log) = match rest.split_once(':') {
        Some((high, "log")) => (high.trim(), true),
        Some(_) => return None,
        None => (rest, false),
    };
    if let (false, Ok(low), Ok(high)) = (log, low.parse::<u64>(), high.parse::<u64>()) {
        return (low < high && high < u64::from(u32::MAX)).then_some(Values::Whole(low, high));
    }
    let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
    let sound = low < high && low.is_finite() && high.is_finite() && (!log || low > 0.0);
    sound.then_some(if log { Values::Log(low, high) } else { Values::Uniform(low, high) })
}

/// A method with the settings of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The configured method.
    pub method: Method,
    /// The searched options, with their values as typed.
    pub settings: Vec<(String, String)>,
}

impl fmt::Display for Configuration {
    /// Such as `ne-gmm eta=0.5 learning-rate=0.01`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.name())?;
        self.settings.iter().try_for_each(|(option, value)| write!(f, " {option}={value}"))
    }
}

/// Methods, and the options to search for those that have them.
#[derive(Clone, Debug)]
pub struct Space {
    methods: Vec<Method>,
    dimensions: Vec<Dimension>,
}

impl Space {
    /// `methods` with their fixed settings, each with every combination of the options that it has.
    ///
    /// # Errors
    /// When no method has one of the options, an option is repeated, or a value is invalid.
    pub fn new(methods: Vec<Method>, mut dimensions: Vec<Dimension>) -> Result<Self> {
        if methods.is_empty() {
            return Err(Error::options("a search needs at least one method"));
        }
        for dimension in &mut dimensions {
            dimension.option = current_name(&dimension.option).to_string();
        }
        // The option for the kind of members comes before their own options.
        dimensions.sort_by_key(|dimension| dimension.option != "member");
        dimensions.iter_mut().for_each(|dimension| dimension.widen(&methods));
        let mut seen: Vec<&str> = Vec::new();
        for dimension in &dimensions {
            let option = dimension.option.as_str();
            if seen.contains(&option) {
                return Err(Error::option(option, "is to be tried twice"));
            }
            seen.push(option);
            if !methods.iter().any(|method| method.has(option)) {
                let names: Vec<&str> = methods.iter().map(Method::name).collect();
                return Err(Error::option(option, format!("is not an option of {}", names.join(", "))));
            }
            for method in methods.iter().filter(|method| method.has(option)) {
                for value in dimension.ends() {
                    options::set(&mut method.clone(), option, &value)?;
                }
            }
        }
        Ok(Self { methods, dimensions })
    }

    /// A default space: `methods` with the options that matter most often.
    pub fn usual(methods: Vec<Method>) -> Result<Self> {
        const USUAL: [&str; 11] = [
            "learning-rate=1e-3..2e-2:log",
            "hidden=32/64/64,64/128,128",
            "components=2..16",
            "eta=0..1",
            "beta=0..1",
            "samples=50,100,200",
            "weight-decay=1e-5..1e-1:log",
            "dropout=0,0.05,0.1",
            "max-depth=2..6",
            "min-samples-leaf=1..20",
            "subsample=0.5,0.75,1",
        ];
        let dimensions = USUAL.iter().map(|text| Dimension::parse(text)).collect::<Result<Vec<_>>>()?;
        let wanted = |dimension: &Dimension| methods.iter().any(|method| method.has(&dimension.option));
        let dimensions = dimensions.into_iter().filter(wanted).collect();
        Self::new(methods, dimensions)
    }

    /// Every combination.
    ///
    /// # Errors
    /// When an option has a range, or a combination is invalid.
    pub fn grid(&self) -> Result<Vec<Configuration>> {
        let mut all = Vec::new();
        for method in &self.methods {
            let mut choices = vec![Vec::new()];
            for dimension in self.of(method) {
                let Values::List(list) = &dimension.values else {
                    return Err(Error::options(format!(
                        "a grid needs values with commas between them for {:?}, found a range: list values or search at random",
                        dimension.option
                    )));
                };
                choices = choices
                    .into_iter()
                    .flat_map(|settings: Vec<(String, String)>| {
                        list.iter().map(move |value| {
                            let mut settings = settings.clone();
                            settings.push((dimension.option.clone(), value.clone()));
                            settings
                        })
                    })
                    .collect();
            }
            for settings in choices {
                all.push(configure(method, settings)?);
            }
        }
        Ok(all)
    }

    /// This many distinct random configurations, or fewer where there are no more.
    ///
    /// # Errors
    /// When a combination is invalid.
    pub fn draw(&self, draws: usize, seed: u64) -> Result<Vec<Configuration>> {
        let mut rng = Rng::new(seed, streams::CONFIGURATIONS);
        let mut all: Vec<Configuration> = Vec::new();
        let mut repeats = 0;
        while all.len() < draws && repeats < MOST_REPEATS {
            let method = &self.methods[rng.below(self.methods.len())];
            let settings =
                self.of(method).map(|dimension| (dimension.option.clone(), dimension.draw(&mut rng))).collect();
            let drawn = configure(method, settings)?;
            if all.contains(&drawn) {
                repeats += 1;
            } else {
                repeats = 0;
                all.push(drawn);
            }
        }
        Ok(all)
    }

    /// Everything that determines the configurations.
    pub fn describe(&self) -> Value {
        let dimensions: Vec<Value> =
            self.dimensions.iter().map(|dimension| json!([dimension.option, dimension.describe()])).collect();
        json!({ "methods": self.methods, "options": dimensions })
    }

    /// Whether an option has a range, which a grid cannot enumerate.
    pub fn has_range(&self) -> bool {
        self.dimensions.iter().any(|dimension| !matches!(dimension.values, Values::List(_)))
    }

    fn of(&self, method: &Method) -> impl Iterator<Item = &Dimension> {
        self.dimensions.iter().filter(|dimension| method.has(&dimension.option))
    }
}

impl Dimension {
    /// Turns an integer range into a continuous one where the option takes all numbers: `eta=0..1`, but not
    /// `components=2..16`.
    fn widen(&mut self, methods: &[Method]) {
        if let Values::Whole(low, high) = self.values {
            let mut known = methods.iter().flat_map(Method::options).filter(|option| option.name == self.option);
            if known.all(|option| option.kind == ValueKind::Float) {
                self.values = Values::Uniform(low as f64, high as f64);
            }
        }
    }

    /// Values to check: all of a list, both ends of a range.
    fn ends(&self) -> Vec<String> {
        match &self.values {
            Values::List(list) => list.clone(),
            Values::Whole(low, high) => vec![low.to_string(), high.to_string()],
            Values::Uniform(low, high) | Values::Log(low, high) => vec![low.to_string(), high.to_string()],
        }
    }
}

fn configure(method: &Method, settings: Vec<(String, String)>) -> Result<Configuration> {
    let mut configured = method.clone();
    configured.configure(&settings)?;
    Ok(Configuration { method: configured, settings })
}
