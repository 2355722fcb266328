//! The distributions of a table of predictions.

use std::borrow::Cow;

use negmm_data::{Column, ColumnType, MISSING, Table};
use negmm_dist::samples::SampleSets;
use negmm_dist::{Error, Family, Mixtures, Predictions, QuantileSets, Result};

use super::form::{FamilyName, Form};

/// The smallest sd of the normal density of samples: the smallest positive one, so that only equal samples have it.
const SD_FLOOR: f64 = f64::MIN_POSITIVE;

impl Form {
    /// The columns that are read, with their types.
    pub fn columns(&self) -> Vec<(String, ColumnType)> {
        let number = |name: &String| (name.clone(), ColumnType::number());
        match self {
            Self::Quantiles(columns) | Self::Intervals(columns) => {
                columns.iter().map(|(_, name)| number(name)).collect()
            }
            Self::Samples(columns) => columns.iter().map(number).collect(),
            Self::Normal { mean, sd } => vec![number(mean), number(sd)],
            Self::Mixture(components) => components.iter().flatten().map(number).collect(),
            Self::Histogram(bins) => bins.iter().map(|(_, _, name)| number(name)).collect(),
            Self::Family { family, parameters } => {
                let family = match family {
                    FamilyName::Column(column) => Some((column.clone(), ColumnType::text())),
                    FamilyName::Given(_) => None,
                };
                family.into_iter().chain(parameters.iter().map(|(_, name)| number(name))).collect()
            }
        }
    }

    /// The distributions of the rows of `table`.
    ///
    /// # Errors
    /// When a cell is missing or out of range: the message names its row and column.
    pub fn predictions(&self, table: &Table) -> Result<Predictions> {
        match self {
            Self::Quantiles(columns) | Self::Intervals(columns) => {
                let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
                let levels = columns.iter().map(|(level, _)| *level).collect();
                Ok(QuantileSets::new(levels, matrix(table, &names)?).map_err(|error| table.locate(error))?.into())
            }
            Self::Samples(columns) => {
                let names: Vec<&str> = columns.iter().map(String::as_str).collect();
                Ok(SampleSets::new(names.len(), matrix(table, &names)?, SD_FLOOR)?.into())
            }
            Self::Normal { mean, sd } => {
                let (means, sds) = (matrix(table, &[mean])?, matrix(table, &[sd])?);
                check(table, sd, &sds, "an sd above 0", |sd| sd > 0.0)?;
                Ok(Mixtures::new(1, vec![1.0; means.len()], means, sds)?.into())
            }
            Self::Mixture(components) => {
                let part = |at: usize| components.iter().map(|names| names[at].as_str()).collect::<Vec<_>>();
                for [weight, _, sd] in components {
                    check(table, weight, &numbers(table, weight)?, "a weight, at least 0", |weight| weight >= 0.0)?;
                    check(table, sd, &numbers(table, sd)?, "an sd, at least 0", |sd| sd >= 0.0)?;
                }
                let (weights, means, sds) =
                    (matrix(table, &part(0))?, matrix(table, &part(1))?, matrix(table, &part(2))?);
                let empty = |weights: &[f64]| weights.iter().sum::<f64>() <= 0.0;
                if let Some(row) = weights.chunks_exact(components.len()).position(empty) {
                    return Err(table.at_cell(Error::data("all weights of the mixture are 0"), row, &components[0][0]));
                }
                Ok(Mixtures::new(components.len(), weights, means, sds)?.into())
            }
            Self::Histogram(bins) => {
                let names: Vec<&str> = bins.iter().map(|(_, _, name)| name.as_str()).collect();
                let edges: Vec<f64> = bins.iter().map(|bin| bin.0).chain(bins.last().map(|bin| bin.1)).collect();
                for name in &names {
                    check(table, name, &numbers(table, name)?, "a probability, at least 0", |part| part >= 0.0)?;
                }
                let probabilities = matrix(table, &names)?;
                let empty = |bins: &[f64]| bins.iter().sum::<f64>() <= 0.0;
                if let Some(row) = probabilities.chunks_exact(names.len()).position(empty) {
                    return Err(table.at_cell(Error::data("all probabilities of the histogram are 0"), row, names[0]));
                }
                Ok(QuantileSets::of_histograms(&edges, &probabilities)?.into())
            }
            Self::Family { family, parameters } => self::families(table, family, parameters),
        }
    }
}

fn families(table: &Table, family: &FamilyName, parameters: &[(String, String)]) -> Result<Predictions> {
    // A family that has no such parameter leaves its cell empty.
    let columns: Vec<Cow<'_, [f64]>> = parameters.iter().map(|(_, name)| column(table, name)).collect::<Result<_>>()?;
    let one = |row: usize, name: &str, at: &str| {
        let values: Vec<(&str, f64)> =
            parameters.iter().map(|(name, _)| name.as_str()).zip(columns.iter().map(|column| column[row])).collect();
        Family::named(name, &values).map_err(|error| table.at_cell(error, row, at))
    };
    let families: Vec<Family> = match family {
        FamilyName::Given(name) => {
            (0..table.rows()).map(|row| one(row, name, &parameters[0].1)).collect::<Result<_>>()?
        }
        FamilyName::Column(name) => {
            let Some(Column::Text { codes, levels }) = table.column(name) else {
                return Err(table.locate(Error::data("expected names of families").in_column(name)));
            };
            let of_row = |row: usize| match codes[row] {
                MISSING => Err(table.at_cell(Error::data("the name of the family is missing"), row, name)),
                code => one(row, &levels[code as usize], name),
            };
            (0..table.rows()).map(of_row).collect::<Result<_>>()?
        }
    };
    Ok(families.into())
}

/// The numbers of a column, some of which may be missing.
fn column<'t>(table: &'t Table, name: &str) -> Result<Cow<'t, [f64]>> {
    match table.numbers(name) {
        Some(numbers) => numbers,
        None => Err(table.locate(Error::data(table.absent(&[name])))),
    }
}

/// The numbers of a column, none of which is missing.
pub(super) fn numbers<'t>(table: &'t Table, name: &str) -> Result<Cow<'t, [f64]>> {
    let numbers = column(table, name)?;
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(row) if numbers[row].is_nan() => Err(table.at_cell(Error::data("the number is missing"), row, name)),
        Some(row) => {
            Err(table.at_cell(Error::data(format!("expected a finite number, found {}", numbers[row])), row, name))
        }
        None => Ok(numbers),
    }
}

/// Columns as a matrix, row after row.
pub(super) fn matrix(table: &Table, names: &[&str]) -> Result<Vec<f64>> {
    let columns: Vec<Cow<'_, [f64]>> = names.iter().map(|name| numbers(table, name)).collect::<Result<_>>()?;
    let mut values = Vec::with_capacity(table.rows() * names.len());
    for row in 0..table.rows() {
        values.extend(columns.iter().map(|column| column[row]));
    }
    Ok(values)
}

fn check(table: &Table, name: &str, numbers: &[f64], expected: &str, sound: impl Fn(f64) -> bool) -> Result<()> {
    match numbers.iter().position(|number| !sound(*number)) {
        Some(row) => Err(table.at_cell(Error::data(format!("expected {expected}, found {}", numbers[row])), row, name)),
        None => Ok(()),
    }
}
