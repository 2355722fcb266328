//! A query of joint predictions: the columns of each target and each linear combination, correlations, densities and boxes.

use super::columns::{Block, Columns, Field};
use super::parameter::{Number, Parameter, numbers, switch};
use super::query::Query;
use crate::conformal::{Calibration, Labels};
use crate::joint::{Combination, JointModel, JointPredictions, JointRegion, RegionKind};
use crate::{Error, Result};
use negmm_data::KeptColumn;
use negmm_dist::JointMixtures;

/// The parameters that models of several targets have beside those of [`super::PARAMETERS`].
pub const JOINT_PARAMETERS: [Parameter; 7] = {
    const fn parameter(name: &'static str, help: &'static str) -> Parameter {
        Parameter { name, help }
    }
    [
        parameter(
            "combine",
            "several targets: a linear combination, such as profit = revenue - cost, or a list of them",
        ),
        parameter("given", "several targets: those that are known, from the row or as cost=3.2"),
        parameter("correlation", "several targets, true: their correlations"),
        parameter("density", "several targets, true: log_density, of the row's own targets"),
        parameter(
            "box",
            "several targets: bounds such as revenue > 100, cost < 50: p_box_1 and its error; or a list of them",
        ),
        parameter("joint_region", "several targets, coverages: the border and volume of the highest-density region"),
        parameter("ellipsoid", "several targets, coverages: the border and volume of an ellipsoid"),
    ]
};

/// A target that is known when the others are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenTarget {
    /// Its name.
    pub name: String,
    /// Its value in every row; `None`: the value of each row.
    pub value: Option<f64>,
}

impl GivenTarget {
    /// Reads `a` or `a=3.2`.
    ///
    /// # Errors
    /// When what follows the equals sign is no number.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((name, value)) = text.split_once('=') else {
            return Ok(Self { name: text.trim().to_string(), value: None });
        };
        match value.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self { name: name.trim().to_string(), value: Some(value) }),
            _ => Err(Error::option("given", format!("must be TARGET or TARGET=NUMBER, found {text:?}"))),
        }
    }
}

/// A box: bounds of some targets.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetBox {
    text: String,
    /// Target, whether the bound is a lower one, and its value.
    bounds: Vec<(String, bool, f64)>,
}

impl TargetBox {
    /// Reads `a > 3, b <= 2`.
    ///
    /// # Errors
    /// When a part is not a target, `<` or `>`, and a number.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = || Error::option("box", format!("must be bounds such as \"a > 3, b < 2\", found {text:?}"));
        let bound = |part: &str| {
            let at = part.find(['<', '>']).ok_or_else(refuse)?;
            let (name, rest) = part.split_at(at);
            let value = rest[1..].trim_start_matches('=').trim().parse::<f64>().map_err(|_| refuse())?;
            let name = name.trim().to_string();
            if name.is_empty() || !value.is_finite() { Err(refuse()) } else { Ok((name, rest.starts_with('>'), value)) }
        };
        let bounds = text.split(',').map(bound).collect::<Result<Vec<_>>>()?;
        Ok(Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), bounds })
    }
}

/// The columns of joint predictions. Those of a [`Query`] are given for each target and each combination, with its name and an
/// underscore before them: `revenue_mean`, `revenue_q0.9`.
///
/// | parameter | columns |
/// |---|---|
/// | `query` | `revenue_mean`, `revenue_sd`, `revenue_q0.9` …, of targets and combinations; draws are joint |
/// | `combinations` | those of a linear combination, such as `profit_mean` |
/// | `given` | none: the targets named are known, and the others conditional on them |
/// | `correlation` | `correlation_revenue_cost` … |
/// | `density` | `log_density`: of the row's own targets |
/// | `boxes` | `p_box_1`, `p_box_1_error` … |
/// | `regions` | `joint_region_0.9_log_density`, the border, and `joint_region_0.9_volume` … |
/// | `ellipsoids` | `ellipsoid_0.9_distance`, the border, and `ellipsoid_0.9_volume` … |
///
/// With `density`, regions and ellipsoids also say whether the row's own targets lie inside: `joint_region_0.9_contains`. With
/// `conformal` they are conformal sets.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JointQuery {
    /// The columns of each target.
    pub query: Query,
    /// Texts of linear combinations.
    pub combinations: Vec<String>,
    /// Targets that are known.
    pub given: Vec<GivenTarget>,
    /// Whether to add correlations.
    pub correlation: bool,
    /// Whether to add the log density of the row's own targets.
    pub density: bool,
    /// Boxes whose probability is wanted.
    pub boxes: Vec<TargetBox>,
    /// Coverages of highest-density regions of all targets together.
    pub regions: Vec<Number>,
    /// Coverages of ellipsoids.
    pub ellipsoids: Vec<Number>,
    /// Whether regions and ellipsoids are conformal sets.
    pub conformal: bool,
}

impl JointQuery {
    /// The columns of each target and nothing else.
    pub fn new(query: Query) -> Self {
        Self { query, ..Self::default() }
    }

    /// Reads a query from pairs of a parameter's name and its text: those of [`Query::from_pairs`] and [`JOINT_PARAMETERS`].
    ///
    /// # Errors
    /// When there is no such parameter, or its text makes no sense.
    pub fn from_pairs<N: AsRef<str>, T: AsRef<str>>(pairs: impl IntoIterator<Item = (N, T)>) -> Result<Self> {
        let (mut joint, mut rest) = (Self::default(), Vec::new());
        for (name, text) in pairs {
            let (name, text) = (name.as_ref(), text.as_ref());
            match name {
                "combine" => joint.combinations.push(text.to_string()),
                "given" => joint.given = text.split(',').map(GivenTarget::parse).collect::<Result<_>>()?,
                "correlation" => joint.correlation = switch(name, text)?,
                "density" => joint.density = switch(name, text)?,
                "box" => joint.boxes.push(TargetBox::parse(text)?),
                "joint_region" => joint.regions = numbers(name, text)?,
                "ellipsoid" => joint.ellipsoids = numbers(name, text)?,
                "conformal" | "guaranteed" => joint.conformal = switch(name, text)?,
                _ => rest.push((name.to_string(), text.to_string())),
            }
        }
        Ok(Self { query: Query::from_pairs(rest)?, ..joint })
    }

    /// Columns for each row at most: what a limit on the size of an answer counts.
    pub fn most_columns(&self, model: &JointModel) -> usize {
        let Query { quantiles, interval, region, above, below, equal, shortfall, draws, .. } = &self.query;
        let single = [quantiles, above, below, equal, shortfall].map(Vec::len).into_iter().sum::<usize>();
        let of_each = 2 + single + 2 * (interval.len() + region.len()) + draws;
        let components = if self.query.components { 3 * model.most_components() } else { 0 };
        let d = model.targets().len();
        let correlations = if self.correlation { d * d } else { 0 };
        let joint = 3 * (self.regions.len() + self.ellipsoids.len()) + 2 * self.boxes.len() + 1 + correlations;
        (d + self.combinations.len()).saturating_mul(of_each.saturating_add(components)).saturating_add(joint)
    }

    /// Refuses what joint models cannot answer.
    ///
    /// # Errors
    /// When a target is unknown, given twice, or a question is for one target.
    pub fn check(&self, model: &JointModel) -> Result<()> {
        self.query.check()?;
        let refuse = |what: &str| Err(Error::options(format!("{what} is for models of a single target")));
        match () {
            () if self.query.novelty => return refuse("novelty"),
            () if self.query.parts => return refuse("the decomposition of the variance"),
            () => {}
        }
        if self.conformal || self.query.conformal {
            self.check_conformal(model)?;
        }
        let coverages = self.regions.iter().chain(&self.ellipsoids).map(|number| number.value);
        if let Some(coverage) = coverages.into_iter().find(|coverage| !(*coverage > 0.0 && *coverage < 1.0)) {
            return Err(Error::options(format!("expected a coverage strictly between 0 and 1, found {coverage}")));
        }
        let names = model.names();
        for (at, given) in self.given.iter().enumerate() {
            crate::joint::find_target(&names, &given.name)?;
            if self.given[..at].iter().any(|other| other.name == given.name) {
                return Err(Error::options(format!("the target {:?} is given twice", given.name)));
            }
        }
        if self.given.len() >= names.len() {
            return Err(Error::options("all targets are given: nothing is left to predict"));
        }
        let rest: Vec<&str> = names.iter().copied().filter(|name| !self.is_given(name)).collect();
        for text in &self.combinations {
            Combination::parse(text, &rest)?;
        }
        let mut bounds = self.boxes.iter().flat_map(|one| &one.bounds);
        bounds.try_for_each(|(name, ..)| crate::joint::find_target(&rest, name).map(drop))
    }

    /// Refuses conformal sets of what is not calibrated.
    fn check_conformal(&self, model: &JointModel) -> Result<()> {
        if model.calibration().is_none() {
            return Err(Error::options(
                "the model has no calibration: see `negmm calibrate`, which needs rows that the model has not seen",
            ));
        }
        let refuse = |what: &str| {
            Err(Error::options(format!(
                "conformal sets of several targets are joint regions and ellipsoids: leave out {what}"
            )))
        };
        match () {
            () if !self.query.interval.is_empty() => refuse("the intervals of each target"),
            () if !self.query.region.is_empty() => refuse("the regions of each target"),
            () if !self.given.is_empty() => refuse("the targets that are given"),
            () if self.regions.is_empty() && self.ellipsoids.is_empty() => Err(Error::options(
                "conformal sets of several targets are joint regions and ellipsoids: name a coverage",
            )),
            () => Ok(()),
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name == name)
    }

    /// The targets whose columns are read from the data: those given without a value, and all for densities.
    pub fn needed<'a>(&self, model: &'a JointModel) -> Vec<&'a str> {
        let own = |name: &str| self.given.iter().any(|given| given.name == name && given.value.is_none());
        model.names().into_iter().filter(|name| own(name) || self.density && !self.is_given(name)).collect()
    }

    /// Names and types of the columns.
    ///
    /// # Errors
    /// As [`JointQuery::check`], and when two columns have one name.
    pub fn fields(&self, model: &JointModel) -> Result<Vec<Field>> {
        self.check(model)?;
        let none =
            JointMixtures::new(model.targets().len(), model.most_components(), Vec::new(), Vec::new(), Vec::new())?;
        let none = JointPredictions::new(none, model.targets().to_vec().into());
        let needed = self.needed(model);
        let columns = self.columns(&none, &vec![Vec::new(); needed.len()], &needed, None, (0, &[]))?;
        Ok(columns.iter().map(|column| column.field().clone()).collect())
    }

    /// The columns of a batch of predictions, after the kept columns. `observed` has the values of [`JointQuery::needed`] for each
    /// row; `calibration` makes regions conformal; `first_row` rows come before the batch, so that draws do not depend on the batches.
    ///
    /// # Errors
    /// When a question cannot be answered, or two columns have one name.
    pub fn columns<'a>(
        &self,
        predictions: &JointPredictions,
        observed: &[Vec<f64>],
        needed: &[&str],
        calibration: Option<(&Calibration, &Labels)>,
        (first_row, kept): (u64, &'a [KeptColumn]),
    ) -> Result<Columns<'a>> {
        let rows = predictions.len();
        let column = |name: &str| needed.iter().position(|needed| *needed == name).map(|at| &observed[at]);
        let conditional;
        let predictions = if self.given.is_empty() {
            predictions
        } else {
            let indices = self.given.iter().map(|given| predictions.target(&given.name)).collect::<Result<Vec<_>>>()?;
            let value = |given: &GivenTarget, row: usize| {
                given.value.or_else(|| column(&given.name).map(|column| column[row])).unwrap_or(f64::NAN)
            };
            let values: Vec<f64> =
                (0..rows).flat_map(|row| self.given.iter().map(move |given| value(given, row))).collect();
            if let Some(at) = values.iter().position(|value| value.is_nan()) {
                let (row, given) = (at / indices.len(), &self.given[at % indices.len()].name);
                return Err(Error::data("the given target is missing").in_column(given).at_row(first_row + row as u64));
            }
            conditional = predictions.conditional(&indices, &values)?;
            &conditional
        };
        let names = predictions.names();
        let combinations =
            self.combinations.iter().map(|text| Combination::parse(text, &names)).collect::<Result<Vec<_>>>()?;
        let mut fields: Vec<Field> = kept.iter().map(|column| Field::text(column.name(), "the kept column")).collect();
        let mut blocks: Vec<Block<'a>> = kept.iter().map(|column| Block::Kept { column, first: 0 }).collect();
        let query = Query { draws: 0, ..self.query.clone() };
        let mut add = |name: &str, columns: &Columns<'_>| {
            for column in columns.iter() {
                let (field, block) = column.owned();
                fields.push(field.prefixed(name));
                blocks.push(block);
            }
        };
        for (target, name) in names.iter().enumerate() {
            add(name, &query.columns(&predictions.marginal(target), first_row)?);
        }
        for combination in &combinations {
            add(&combination.name, &query.columns(&predictions.combination(combination), first_row)?);
        }
        let mut number = |name: String, source: &'static str, values: Vec<f64>| {
            fields.push(Field::float(name, source));
            blocks.push(Block::float(values));
        };
        let d = names.len();
        if self.correlation {
            let all: Vec<Vec<f64>> = predictions.mixtures().rows().map(|row| row.correlation()).collect();
            for first in 0..d {
                for second in first + 1..d {
                    let values = all.iter().map(|matrix| matrix[first * d + second]).collect();
                    number(format!("correlation_{}_{}", names[first], names[second]), "the correlation", values);
                }
            }
        }
        if self.density {
            let vector = |row: usize| names.iter().map(move |name| column(name).map_or(f64::NAN, |column| column[row]));
            let density = |row: usize| {
                let y: Vec<f64> = vector(row).collect();
                if y.iter().any(|y| y.is_nan()) { f64::NAN } else { predictions.mixtures().row(row).log_pdf(&y) }
            };
            number("log_density".into(), "the log density", (0..rows).map(density).collect());
        }
        let y: Vec<f64> = match self.density {
            true => (0..rows)
                .flat_map(|row| names.iter().map(move |name| column(name).map_or(f64::NAN, |all| all[row])))
                .collect(),
            false => Vec::new(),
        };
        let kinds = [
            (RegionKind::HighestDensity, &self.regions, "joint_region", "log_density"),
            (RegionKind::Ellipsoid, &self.ellipsoids, "ellipsoid", "distance"),
        ];
        for (kind, coverages, name, border) in kinds {
            for coverage in coverages {
                let regions = match calibration {
                    Some(known) => predictions.conformal_regions(kind, coverage.value, known, first_row)?,
                    None => predictions.regions(kind, coverage.value, first_row)?,
                };
                let borders = regions.iter().map(|region| region.border).collect();
                number(format!("{name}_{coverage}_{border}"), "the border of a region", borders);
                let volumes = regions.iter().map(|region| region.volume).collect();
                number(format!("{name}_{coverage}_volume"), "the volume of a region", volumes);
                if self.density {
                    let at = predictions.region_statistic(kind, &y)?;
                    let inside = |(region, at): (&JointRegion, f64)| match at.is_nan() {
                        true => f64::NAN,
                        false => f64::from(u8::from(region.contains(kind, at))),
                    };
                    let inside = regions.iter().zip(at).map(inside).collect();
                    number(format!("{name}_{coverage}_contains"), "whether a region contains the targets", inside);
                }
            }
        }
        for (at, one) in self.boxes.iter().enumerate() {
            let (lower, upper) = one.bounds_of(&names)?;
            let all: Vec<_> = predictions.mixtures().rows().map(|row| row.box_probability(&lower, &upper)).collect();
            let at = at + 1;
            number(format!("p_box_{at}"), "the probability of a box", all.iter().map(|one| one.probability).collect());
            let errors = all.iter().map(|one| one.standard_error).collect();
            number(format!("p_box_{at}_error"), "the error of a probability", errors);
        }
        if self.query.draws > 0 {
            let draws = predictions.sample(self.query.draws, self.query.seed, first_row);
            for draw in 0..self.query.draws {
                let vector = |row: usize| &draws[(row * self.query.draws + draw) * d..][..d];
                for (target, name) in names.iter().enumerate() {
                    let values = (0..rows).map(|row| vector(row)[target]).collect();
                    number(format!("{name}_draw_{}", draw + 1), "a draw", values);
                }
                for one in &combinations {
                    let values = (0..rows).map(|row| one.of(vector(row))).collect();
                    number(format!("{}_draw_{}", one.name, draw + 1), "a draw", values);
                }
            }
        }
        Columns::new(rows, fields, blocks)
    }
}

impl TargetBox {
    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lower and upper bound of each target.
    fn bounds_of(&self, names: &[&str]) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; names.len()], vec![f64::INFINITY; names.len()]);
        for (name, is_lower, value) in &self.bounds {
            let target = crate::joint::find_target(names, name)?;
            if *is_lower {
                lower[target] = lower[target].max(*value);
            } else {
                upper[target] = upper[target].min(*value);
            }
        }
        Ok((lower, upper))
    }
}
