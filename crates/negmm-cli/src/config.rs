//! What flags mean together: a target, column roles, methods and splits, checked against each other.

use negmm::compare::Split;
use negmm::data::{ColumnRoles, Dialect, Sequence, TargetSpec};
use negmm::forecast::{Holiday, SeriesSpec};
use negmm::{Error, Method, Table};

use crate::arguments::compare::SplitFlags;
use crate::arguments::data::{ColumnFlags, DataFlags, ForecastFlags, SequenceFlags, SeriesFlags};
use crate::arguments::file::{FileFlags, ReadingFlags};
use crate::arguments::fit::FitOptions;
use crate::arguments::given::Given;
use crate::arguments::method::MethodFlags;
use crate::arguments::values::{Assignment, Names};
use crate::arguments::{Compare, Tune};
use crate::input;

/// The look-back window where none is given.
const WINDOW: usize = 30;
/// Cross-validation folds where none are given.
const FOLDS: usize = 5;
/// Test fraction of random splits where none is given, of `compare` and of `tune`.
const COMPARE_TEST: f64 = 0.1;
const TUNE_TEST: f64 = 0.2;
/// The method of `tune` where none is given: it trains one network for each fit, `auto` would train ten.
const TUNED: &str = "ne-gmm";

/// The training data of `fit`, `compare` and `tune`.
#[derive(Debug)]
pub struct DataConfig {
    /// The target column.
    pub target: String,
    /// Column roles.
    pub inputs: ColumnRoles,
    /// What is forecast, where the model is a forecaster.
    pub forecast: Option<SeriesSpec>,
    /// The format of the file.
    pub dialect: Dialect,
    /// Random seed.
    pub seed: u64,
    /// Rows to draw, where not all are used.
    pub sample: Option<usize>,
}

/// What `fit` is to do.
#[derive(Debug)]
pub struct FitConfig {
    /// The training data.
    pub data: DataConfig,
    /// The method with its options.
    pub method: Method,
}

impl FitConfig {
    /// From flags and config file.
    ///
    /// # Errors
    /// When options are missing, out of range or contradict each other.
    pub fn new(options: &FitOptions) -> Result<Self, Error> {
        Self::of_method(options, options.method.method.clone().unwrap_or_default())
    }

    /// The same for several targets, with the defaults of methods for them.
    ///
    /// # Errors
    /// As [`FitConfig::new`].
    pub fn of_several_targets(options: &FitOptions) -> Result<Self, Error> {
        Self::of_method(options, options.method.method.clone().unwrap_or_default().for_several_targets())
    }

    fn of_method(options: &FitOptions, mut method: Method) -> Result<Self, Error> {
        let (data, forecast) = (&options.data, &options.forecast);
        let data = if method.as_auto().is_some() && data.is_forecast(forecast) {
            data.of_forecaster(forecast)?
        } else {
            data.of_rows(forecast.series.first(), "made by auto without --levels and --window")?
        };
        if data.inputs.sequence.is_some() {
            method = method.for_sequences();
        }
        configure(&mut method, &options.method)?;
        Ok(Self { data, method })
    }
}

/// What `compare` is to do.
#[derive(Debug)]
pub struct CompareConfig {
    /// The data.
    pub data: DataConfig,
    /// The methods with their options; of forecasts `auto` alone.
    pub methods: Vec<Method>,
    /// Train/test splits.
    pub splitting: Splitting,
}

impl CompareConfig {
    /// From flags.
    ///
    /// # Errors
    /// As [`FitConfig::new`].
    pub fn new(compare: &Compare) -> Result<Self, Error> {
        let (flags, forecast) = (&compare.data_flags, &compare.forecast);
        let data = if compare.methods.is_none() && flags.is_forecast(forecast) {
            flags.of_forecaster(forecast)?
        } else {
            flags.of_rows(forecast.series.first(), "compared without --methods, --levels and --window")?
        };
        let otherwise = if data.forecast.is_some() { vec![Method::default()] } else { Method::all() };
        let methods = methods(compare.methods.as_ref(), otherwise, &compare.set, &data)?;
        let splitting = Splitting::new(&compare.splits, &data, COMPARE_TEST)?;
        Ok(Self { data, methods, splitting })
    }

    /// The same for several targets: its methods are those that predict them together.
    ///
    /// # Errors
    /// As [`FitConfig::new`].
    pub fn of_several_targets(self, compare: &Compare) -> Result<Self, Error> {
        let methods = joint_methods(compare.methods.as_ref(), &JOINT_METHODS, &compare.set)?;
        Ok(Self { methods, ..self })
    }
}

/// The methods of several targets that are compared where none is named.
const JOINT_METHODS: [&str; 4] = ["auto", "ne-gmm", "mdn", "ensemble"];

/// What `tune` is to do.
#[derive(Debug)]
pub struct TuneConfig {
    /// The data.
    pub data: DataConfig,
    /// The methods with their fixed options.
    pub methods: Vec<Method>,
    /// Train/validation splits.
    pub splitting: Splitting,
}

impl TuneConfig {
    /// From flags.
    ///
    /// # Errors
    /// As [`FitConfig::new`].
    pub fn new(tune: &Tune) -> Result<Self, Error> {
        let data = tune.data_flags.of_rows(None, "")?;
        let methods = methods(tune.methods.as_ref(), vec![Method::by_name(TUNED)?], &tune.set, &data)?;
        let splitting = Splitting::new(&tune.splits, &data, TUNE_TEST)?;
        Ok(Self { data, methods, splitting })
    }

    /// The same for several targets.
    ///
    /// # Errors
    /// As [`FitConfig::new`].
    pub fn of_several_targets(self, tune: &Tune) -> Result<Self, Error> {
        let methods = joint_methods(tune.methods.as_ref(), &[TUNED], &tune.set)?;
        Ok(Self { methods, ..self })
    }
}

impl ColumnFlags {
    /// The targets of a joint model, where several are named: by `--targets`, or by commas in `--target` unless that is the name of
    /// a column.
    pub fn several_targets(&self, table: &Table) -> Option<Vec<String>> {
        let named = match (&self.targets, &self.target) {
            (Some(Names(names)), _) => names.clone(),
            (None, Some(text)) if text.contains(',') && table.column(text).is_none() => {
                text.parse::<Names>().map_or_else(|never| match never {}, |names| names.0)
            }
            _ => return None,
        };
        (named.len() > 1).then_some(named)
    }
}

impl DataFlags {
    /// Whether a forecaster can be made: of a sequence, whose values are not modelled by an LSTM.
    fn is_forecast(&self, forecast: &ForecastFlags) -> bool {
        let SequenceFlags { sequence, window } = &self.sequence;
        sequence.is_some() && window.is_none() && !is_set(forecast.levels)
    }

    /// The data of a model of rows or of windows. Flags of forecasts are refused: `otherwise` says when they would be made.
    fn of_rows(&self, of_forecasts: Option<&str>, otherwise: &str) -> Result<DataConfig, Error> {
        let (columns, rows) = (&self.columns, &self.columns.rows.flags);
        let target = self.target()?;
        let sequence = match (&self.sequence.sequence, self.sequence.window) {
            (None, None) => None,
            (None, Some(_)) => return Err(Error::options("--window is for sequences: add --sequence COL")),
            (Some(column), window) => Some(Sequence { column: column.clone(), window: window.unwrap_or(WINDOW) }),
        };
        let timed = columns.time.as_ref().filter(|_| sequence.is_some()).map(|_| "time");
        if let Some(name) = of_forecasts.or(timed) {
            return Err(Error::options(match sequence {
                None => format!("--{name} is for forecasts: add --sequence COL"),
                Some(_) => format!("--{name} is for forecasts, which are {otherwise}"),
            }));
        }
        let names = |names: &Option<Names>| names.as_ref().map(|names| names.0.clone());
        let mut inputs = ColumnRoles::default()
            .ignore(names(&rows.ignore).unwrap_or_default())
            .dates(columns.date.clone().unwrap_or_default().0)
            .target_spec(self.outcome()?)
            .sequence(sequence);
        inputs.features = names(&columns.features);
        inputs.weight.clone_from(&rows.weight);
        inputs.group.clone_from(&rows.group);
        inputs.time.clone_from(&columns.time);
        let (dialect, seed, sample) = (self.reading.dialect()?, self.seed(), rows.sample);
        if sample.is_some() && inputs.sequence.is_some() {
            return Err(Error::options("--sample would leave out steps of the sequence"));
        }
        Ok(DataConfig { target, inputs, forecast: None, dialect, seed, sample })
    }

    /// The data of a forecaster.
    fn of_forecaster(&self, forecast: &ForecastFlags) -> Result<DataConfig, Error> {
        let target = self.target()?;
        if let Some(name) = self.columns.rows.first() {
            return Err(Error::options(format!("--{name} cannot be used with forecasts")));
        }
        let column = self.sequence.sequence.clone().unwrap_or_default();
        if column != target {
            return Err(Error::options(format!(
                "forecasts are of the sequence {column:?} itself, not of {target:?}: leave out --target, or add --levels"
            )));
        }
        let forecast = Some(self.roles(column, &forecast.series)?);
        let inputs = ColumnRoles::default().target_spec(self.outcome()?);
        let (dialect, seed) = (self.reading.dialect()?, self.seed());
        Ok(DataConfig { target, inputs, forecast, dialect, seed, sample: None })
    }

    /// The target column: the sequence itself where no other is named.
    fn target(&self) -> Result<String, Error> {
        let several = self.columns.targets.as_ref().and_then(|names| names.0.first());
        let target = self.columns.target.as_ref().or(several).or(self.sequence.sequence.as_ref());
        target.cloned().ok_or_else(|| Error::options("which column should be predicted? Use --target COL"))
    }

    fn seed(&self) -> u64 {
        self.columns.seed.unwrap_or(0)
    }

    /// What is known of the target.
    fn outcome(&self) -> Result<TargetSpec, Error> {
        let flags = &self.target;
        let continuous = is_set(flags.continuous);
        let mut outcome = TargetSpec::default().continuous(continuous).lower(flags.lower).upper(flags.upper);
        outcome = outcome.discrete(is_set(flags.discrete)).step(flags.step);
        outcome.censored.clone_from(&flags.censored);
        outcome.upper_end.clone_from(&flags.target_upper);
        outcome.check()?;
        Ok(outcome)
    }

    /// What the columns are to a forecast of `target`.
    fn roles(&self, target: String, series: &Given<SeriesFlags>) -> Result<SeriesSpec, Error> {
        let SeriesFlags { horizon, series, hierarchy, holidays, seasonal_periods, future_covariates, sort } =
            &series.flags;
        let of_file = |path: &String| -> Result<Vec<Holiday>, Error> {
            Holiday::read(&input::table(path, &Dialect::default())?, series.as_deref())
        };
        let holidays = holidays.as_ref().map(of_file).transpose()?.unwrap_or_default();
        let time = &self.columns.time;
        let dates = self.columns.date.as_ref().map_or(&[][..], |dates| &dates.0);
        let format = |time: &String| dates.iter().find(|(name, _)| name == time).and_then(|(_, format)| *format);
        let mut past = self.columns.features.clone().unwrap_or_default().0;
        past.retain(|name| *name != target);
        let mut roles = SeriesSpec::of(target)
            .time_format(time.as_ref().and_then(format))
            .past_covariates(past)
            .future_covariates(future_covariates.clone().unwrap_or_default().0)
            .holidays(holidays)
            .hierarchy(hierarchy.clone().unwrap_or_default().0)
            .seasonal_periods(seasonal_periods.as_ref().map(|periods| periods.0.clone()))
            .sort(is_set(*sort));
        roles.time.clone_from(time);
        roles.series.clone_from(series);
        roles.horizon = horizon.unwrap_or(roles.horizon);
        roles.check()?;
        Ok(roles)
    }
}

impl ReadingFlags {
    /// The format of the file and the types of its columns.
    pub fn dialect(&self) -> Result<Dialect, Error> {
        let names = |names: &Option<Names>| names.clone().unwrap_or_default().0;
        let dialect = self.file.dialect()?.text(names(&self.text)).number(names(&self.number));
        dialect.check()?;
        Ok(dialect)
    }
}

impl FileFlags {
    /// The format of the file.
    pub fn dialect(&self) -> Result<Dialect, Error> {
        let dialect = Dialect::default()
            .separator(self.separator)
            .decimal(self.decimal)
            .missing(self.missing.clone().unwrap_or_default().0)
            .memory(self.memory);
        dialect.check()?;
        Ok(dialect)
    }
}

/// Gives a method its options; an error names the line of the config file that it is about.
fn configure(method: &mut Method, flags: &MethodFlags) -> Result<(), Error> {
    let settings = flags.settings.iter().map(|setting| (setting.option.as_str(), setting.value.as_str()));
    method.configure(&settings.collect::<Vec<_>>()).map_err(|error| {
        let blamed = flags.settings.iter().find(|setting| Some(setting.option.as_str()) == error.option_name());
        match blamed.and_then(|setting| setting.location.clone()) {
            Some(location) => error.at(location),
            None => error,
        }
    })
}

/// The methods that are named, else `otherwise`, each with those of the options that it has.
fn methods(
    names: Option<&Names>,
    otherwise: Vec<Method>,
    set: &[Assignment],
    data: &DataConfig,
) -> Result<Vec<Method>, Error> {
    let mut methods = match names {
        Some(Names(names)) => names.iter().map(|name| Method::by_name(name)).collect::<Result<Vec<_>, _>>()?,
        None => otherwise,
    };
    if data.inputs.sequence.is_some() {
        methods = methods.into_iter().map(Method::for_sequences).collect();
    }
    set_known(&mut methods, set)?;
    Ok(methods)
}

/// The methods that are named, else `otherwise`, with their defaults for several targets.
fn joint_methods(names: Option<&Names>, otherwise: &[&str], set: &[Assignment]) -> Result<Vec<Method>, Error> {
    let names: Vec<&str> = match names {
        Some(Names(names)) => names.iter().map(String::as_str).collect(),
        None => otherwise.to_vec(),
    };
    let method = |name: &&str| {
        let method = Method::by_name(name)?;
        method.check_several_targets()?;
        Ok(method.for_several_targets())
    };
    let mut methods = names.iter().map(method).collect::<Result<Vec<_>, Error>>()?;
    set_known(&mut methods, set)?;
    Ok(methods)
}

/// The value of a flag: without one of its own it is true.
fn is_set(flag: Option<Option<bool>>) -> bool {
    flag.is_some_and(|value| value.unwrap_or(true))
}

/// Gives each method those of the options that it has.
fn set_known(methods: &mut [Method], set: &[Assignment]) -> Result<(), Error> {
    let settings: Vec<(&str, &str)> = set.iter().map(|set| (set.option.as_str(), set.value.as_str())).collect();
    let mut used = vec![false; settings.len()];
    for method in methods {
        let known = method.configure_known(&settings)?;
        used.iter_mut().zip(known).for_each(|(used, known)| *used |= known);
    }
    if let Some(at) = used.iter().position(|used| !used) {
        return Err(Error::options(format!("none of the methods compared has an option {:?}", settings[at].0)));
    }
    Ok(())
}

/// How rows are divided into training and test rows.
#[derive(Clone, Copy, Debug)]
pub enum Splitting {
    /// Cross-validation with this many folds.
    Folds(usize),
    /// Random splits.
    Random {
        /// How many.
        repeats: usize,
        /// The fraction of test rows.
        test: f64,
    },
}

impl Splitting {
    /// From flags; `test` is the test fraction where none is given.
    fn new(flags: &SplitFlags, data: &DataConfig, test: f64) -> Result<Self, Error> {
        let Some(repeats) = flags.repeats else { return Ok(Self::Folds(flags.folds.unwrap_or(FOLDS))) };
        if data.forecast.is_some() || data.inputs.sequence.is_some() {
            return Err(Error::options("random splits of a sequence would train on the future: use --folds K"));
        }
        if data.inputs.time.is_some() {
            return Err(Error::options("random splits would train on newer rows: use --folds K"));
        }
        if data.inputs.group.is_some() {
            return Err(Error::options("random splits would break up groups: use --folds K"));
        }
        Ok(Self::Random { repeats, test: flags.test.unwrap_or(test) })
    }

    /// The splits of a table: in the order of time each fold is preceded by its training rows, and groups stay whole.
    pub fn splits(self, table: &Table, inputs: &ColumnRoles, seed: u64) -> Result<Vec<Split>, Error> {
        match (self, &inputs.group) {
            (Self::Random { repeats, test }, _) => Split::repeats(table.rows(), repeats, test, seed),
            (Self::Folds(folds), _) if inputs.sequence.is_some() => Split::expanding(table.rows(), folds),
            (Self::Folds(folds), _) if inputs.time.is_some() => {
                Split::forward(&inputs.times(table)?.unwrap_or_default(), folds)
            }
            (Self::Folds(folds), Some(group)) => Split::grouped_folds(&table.groups(group)?, folds, seed),
            (Self::Folds(folds), None) => Split::folds(table.rows(), folds, seed),
        }
    }
}
