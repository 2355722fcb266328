//! Ways to build a prediction query: from pairs of names and texts, and by setters.

use super::parameter::{Number, PARAMETERS, RENAMED, count, numbers, switch};
use super::query::Query;
use crate::{Error, Result};

impl Query {
    /// Reads a query from pairs of a parameter's name and its text: numbers with commas between them, `true` (or nothing) or
    /// `false`, or a count. The last text of a name holds. Former names ([`RENAMED`]) are read too.
    ///
    /// # Errors
    /// When there is no such parameter, or its text makes no sense.
    pub fn from_pairs<N: AsRef<str>, T: AsRef<str>>(pairs: impl IntoIterator<Item = (N, T)>) -> Result<Self> {
        let mut query = Self::default();
        for (name, text) in pairs {
            query.set(name.as_ref(), text.as_ref())?;
        }
        query.check()?;
        Ok(query)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let present = RENAMED.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present);
        match present {
            "quantiles" => self.quantiles = numbers(name, text)?,
            "interval" => self.interval = numbers(name, text)?,
            "region" => self.region = numbers(name, text)?,
            "above" => self.above = numbers(name, text)?,
            "below" => self.below = numbers(name, text)?,
            "equal" => self.equal = numbers(name, text)?,
            "shortfall" => self.shortfall = numbers(name, text)?,
            "parts" => self.parts = switch(name, text)?,
            "novelty" => self.novelty = switch(name, text)?,
            "components" => self.components = switch(name, text)?,
            "conformal" => self.conformal = switch(name, text)?,
            "draws" => self.draws = usize::try_from(count(name, text)?).unwrap_or(usize::MAX),
            "seed" => self.seed = count(name, text)?,
            _ => {
                let names = PARAMETERS.map(|parameter| parameter.name);
                return Err(Error::options(format!("there is no parameter {name:?}; there are {}", names.join(", "))));
            }
        }
        Ok(())
    }
}

/// Setters, for queries built in code.
impl Query {
    /// Adds quantiles of these levels.
    #[must_use]
    pub fn quantiles(self, levels: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { quantiles: listed(levels), ..self }
    }

    /// Adds central intervals of these coverages.
    #[must_use]
    pub fn interval(self, coverages: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { interval: listed(coverages), ..self }
    }

    /// Adds highest-density regions of these coverages.
    #[must_use]
    pub fn region(self, coverages: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { region: listed(coverages), ..self }
    }

    /// Adds the probability of targets above these values.
    #[must_use]
    pub fn above(self, thresholds: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { above: listed(thresholds), ..self }
    }

    /// Adds the probability of targets below these values.
    #[must_use]
    pub fn below(self, thresholds: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { below: listed(thresholds), ..self }
    }

    /// Adds the point probability of these values.
    #[must_use]
    pub fn equal(self, values: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { equal: listed(values), ..self }
    }

    /// Adds the mean of these lowest fractions.
    #[must_use]
    pub fn shortfall(self, fractions: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { shortfall: listed(fractions), ..self }
    }

    /// Adds the parts of the variance.
    #[must_use]
    pub fn parts(self, parts: bool) -> Self {
        Self { parts, ..self }
    }

    /// Adds the distance of rows from the ranges of the training data.
    #[must_use]
    pub fn novelty(self, novelty: bool) -> Self {
        Self { novelty, ..self }
    }

    /// Adds the components of the mixture.
    #[must_use]
    pub fn components(self, components: bool) -> Self {
        Self { components, ..self }
    }

    /// Adds random draws.
    #[must_use]
    pub fn draws(self, draws: usize) -> Self {
        Self { draws, ..self }
    }

    /// Sets the random seed of the draws.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Makes intervals and regions conformal prediction sets.
    #[must_use]
    pub fn conformal(self, conformal: bool) -> Self {
        Self { conformal, ..self }
    }
}

fn listed(numbers: impl IntoIterator<Item = impl Into<Number>>) -> Vec<Number> {
    numbers.into_iter().map(Into::into).collect()
}
