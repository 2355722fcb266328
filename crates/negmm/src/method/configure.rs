//! Responsible for giving a method its settings by name: all together, checked once.

use super::Method;
use negmm_dist::{Error, Result, near};
use negmm_nn::options::{self, Checked, OptionInfo, Options, Refused, Slot, Spec};

/// The option that says what the members of an ensemble are, and so which other options it has.
pub(super) const MEMBER: &str = "member";

impl Options for Method {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        match self {
            Self::Auto(method) => method.each(see),
            Self::NeGmm(method) => method.each(see),
            Self::Mdn(method) => method.each(see),
            Self::BetaNll(method) => method.each(see),
            Self::SampleNet(method) => method.each(see),
            Self::Ensemble(method) => method.each(see),
            Self::NgBoost(method) => method.each(see),
            Self::Constant(method) => method.each(see),
        }
    }

    fn fit_together(&self) -> Checked<()> {
        match self {
            Self::Auto(method) => method.fit_together(),
            Self::NeGmm(method) => method.fit_together(),
            Self::Mdn(method) => method.fit_together(),
            Self::BetaNll(method) => method.fit_together(),
            Self::SampleNet(method) => method.fit_together(),
            Self::Ensemble(method) => method.fit_together(),
            Self::NgBoost(method) => method.fit_together(),
            Self::Constant(method) => method.fit_together(),
        }
    }
}

impl Method {
    /// Its options with their values.
    pub fn options(&self) -> Vec<OptionInfo> {
        options::list(&mut self.clone())
    }

    /// Whether it has an option of that name.
    pub fn has(&self, option: &str) -> bool {
        self.options().iter().any(|known| known.name == option)
    }

    /// Sets one option by its name on the command line. Says which methods have it when this one does not.
    ///
    /// # Errors
    /// When it has no such option, or the value is not one of its or does not go with the other settings; then nothing changes.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        Ok(self.configure(&[(option, value)])?)
    }

    /// Sets options by their names on the command line, all together: their order tells nothing.
    ///
    /// ```
    /// use negmm::Method;
    ///
    /// let mut method = Method::by_name("ensemble")?;
    /// method.configure(&[("eta", "0.5"), ("sigma-max", "0.0005"), ("sigma-min", "0.0001"), ("member", "ne-gmm")])?;
    /// let refused = method.configure(&[("epochs", "5"), ("sigma-max", "0.00001")]).unwrap_err();
    /// assert_eq!(refused.option, "sigma-max");
    /// assert_eq!(refused.error.to_string(), "sigma-max must be larger than sigma-min, found 0.00001");
    /// # Ok::<(), negmm::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Method::set`], for the setting that is to blame.
    pub fn configure<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Checked<()> {
        let mut configured = self.clone();
        let known = configured.apply(settings)?;
        if let Some(at) = known.iter().position(|known| !known) {
            return Err(configured.lacks(settings[at].0.as_ref()));
        }
        *self = configured;
        Ok(())
    }

    /// As [`Method::configure`] with those of the settings that it has. Says which these are.
    ///
    /// # Errors
    /// When a setting that it has is refused; then nothing changes.
    pub fn configure_known<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Checked<Vec<bool>> {
        let mut configured = self.clone();
        let known = configured.apply(settings)?;
        *self = configured;
        Ok(known)
    }

    /// Reads the settings that it has, what its members are first, and checks all. Says which it has.
    fn apply<S: AsRef<str>>(&mut self, settings: &[(S, S)]) -> Checked<Vec<bool>> {
        let mut known = vec![false; settings.len()];
        for first in [true, false] {
            for (at, (option, value)) in settings.iter().enumerate() {
                if (option.as_ref() == MEMBER) == first {
                    known[at] = options::read(self, option.as_ref(), value.as_ref())?;
                }
            }
        }
        options::check(self)?;
        Ok(known)
    }

    /// Says which setting is out of range or does not go with the others, if one is or does not.
    pub fn check(&self) -> Result<()> {
        Ok(options::check(&mut self.clone())?)
    }

    fn lacks(&self, option: &str) -> Refused {
        let having: Vec<&str> =
            Self::all().iter().filter(|method| method.has(option)).map(|method| method.name()).collect();
        let error = Error::options(if having.is_empty() {
            let methods = Self::all();
            let known: Vec<&str> = methods.iter().flat_map(|method| method.options()).map(|known| known.name).collect();
            format!("there is no option {option:?}{}", near::suggestion(option, known))
        } else {
            format!("method {} has no option {option:?}; methods that have it: {}", self.name(), having.join(", "))
        });
        Refused { option: option.to_string(), error }
    }
}
