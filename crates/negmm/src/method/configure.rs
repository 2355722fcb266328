//! Settings of a method by option name: set together, checked once.

use serde_json::Value;

use super::Method;
use negmm_dist::{Error, Hint, Result, suggestion};
use negmm_nn::options::{self, OptionInfo, OptionSpec, OptionValue, Options, current_name};

/// The option for the kind of members of an ensemble, which determines its other options.
pub(super) const MEMBER: &str = "member";

impl Options for Method {
    fn for_each(&self, visit: &mut dyn FnMut(&OptionSpec, &dyn OptionValue)) {
        self.settings().for_each(visit);
    }

    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&OptionSpec, &mut dyn OptionValue)) {
        self.settings_mut().for_each_mut(visit);
    }

    fn check_combination(&self) -> Result<()> {
        self.settings().check_combination()
    }
}

impl Method {
    /// Its options with their values.
    pub fn options(&self) -> Vec<OptionInfo> {
        options::list(self)
    }

    /// Its name and its settings as JSON, by the current option names; files use former names of some.
    pub fn to_json(&self) -> Value {
        fn with_current_names(value: Value) -> Value {
            let Value::Object(settings) = value else { return value };
            let renamed = |(name, value): (String, Value)| (current_name(&name).to_string(), with_current_names(value));
            Value::Object(settings.into_iter().map(renamed).collect())
        }
        with_current_names(serde_json::json!(self))
    }

    /// Whether it has an option of that name, which may be a former one (see [`options::RENAMED`]).
    pub fn has(&self, option: &str) -> bool {
        options::has(self, option)
    }

    /// Sets one option by its name on the command line; former names (see [`options::RENAMED`]) are accepted too.
    ///
    /// # Errors
    /// When there is no such option, or the value is out of range or conflicts with other settings; then nothing
    /// changes.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        self.configure(&[(option, value)])
    }

    /// Sets options by their names on the command line, all together: their order does not matter.
    ///
    /// ```
    /// use negmm::Method;
    ///
    /// let mut method = Method::by_name("ensemble")?;
    /// method.configure(&[("eta", "0.5"), ("sigma-max", "0.0005"), ("sigma-min", "0.0001"), ("member", "ne-gmm")])?;
    /// let refused = method.configure(&[("epochs", "5"), ("sigma-max", "0.00001")]).unwrap_err();
    /// assert_eq!(refused.option_name(), Some("sigma-max"));
    /// assert_eq!(refused.to_string(), "sigma-max must be larger than 0.0001, found 0.00001 (see sigma-min)");
    /// # Ok::<(), negmm::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Method::set`], for the setting at fault.
    pub fn configure<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Result<()> {
        let mut configured = self.clone();
        let known = configured.apply(settings)?;
        if let Some(at) = known.iter().position(|known| !known) {
            return Err(configured.lacks(settings[at].0.as_ref()));
        }
        *self = configured;
        Ok(())
    }

    /// As [`Method::configure`] with those of the settings that it has. Returns which these are.
    ///
    /// # Errors
    /// When a setting that it has is invalid; then nothing changes.
    pub fn configure_known<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Result<Vec<bool>> {
        let mut configured = self.clone();
        let known = configured.apply(settings)?;
        *self = configured;
        Ok(known)
    }

    /// Parses the settings that it has, the kind of members first, and checks all. Returns which it has.
    fn apply<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Result<Vec<bool>> {
        let mut known = vec![false; settings.len()];
        for first in [true, false] {
            for (at, (option, value)) in settings.iter().enumerate() {
                if (option.as_ref() == MEMBER) == first {
                    known[at] = options::set(self, option.as_ref(), value.as_ref())?;
                }
            }
        }
        options::check(self)?;
        Ok(known)
    }

    /// Checks the range of every option, and their combination.
    ///
    /// # Errors
    /// When an option is out of range or conflicts with the others.
    pub fn check(&self) -> Result<()> {
        options::check(self)
    }

    fn lacks(&self, option: &str) -> Error {
        let option = current_name(option);
        let having: Vec<&str> =
            Self::all().iter().filter(|method| method.has(option)).map(|method| method.name()).collect();
        if having.is_empty() {
            let methods = Self::all();
            let known: Vec<&str> = methods.iter().flat_map(|method| method.options()).map(|known| known.name).collect();
            let similar = suggestion(option, known).map(|name| Hint::SimilarOption { option: name.to_string() });
            similar.into_iter().fold(Error::option(option, "is not an option of any method"), Error::with_hint)
        } else {
            let message = format!("is not an option of {}; methods that have it: {}", self.name(), having.join(", "));
            Error::option(option, message)
        }
    }
}
