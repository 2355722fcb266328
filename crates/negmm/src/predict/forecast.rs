//! A query of forecasts: the columns that locate each step, the adaptive conformal sets, and paths.

use super::columns::{Block, Columns, Field, Scale, unique};
use super::kept_cells::{KeptCells, kept_fields};
use super::query::Query;
use crate::conformal::{AdaptiveConformal, ConformalPredictor};
use crate::forecast::{ForecastPoint, Forecaster, Forecasts, Histories};
use crate::{Error, Result, Table};

/// Paths at most.
pub const MOST_PATHS: usize = 10_000;

/// Options of a query of forecasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForecastOptions {
    /// Whether forecasts begin inside the series, not at its end: there is a column of origins then.
    pub inside: bool,
    /// Whether each forecast is an aggregate over the steps ahead, not a step: there is no column of steps then.
    pub aggregate: bool,
    /// Joint paths through the steps ahead, `path_1` …
    pub paths: usize,
}

impl ForecastOptions {
    /// Forecasts that begin inside the series.
    #[must_use]
    pub fn inside(self, inside: bool) -> Self {
        Self { inside, ..self }
    }

    /// Aggregates over the steps ahead.
    #[must_use]
    pub fn aggregate(self, aggregate: bool) -> Self {
        Self { aggregate, ..self }
    }

    /// Sets the number of joint sample paths.
    #[must_use]
    pub fn paths(self, paths: usize) -> Self {
        Self { paths, ..self }
    }

    /// Names what is out of range, if something is.
    ///
    /// # Errors
    /// When something is.
    pub fn check(&self) -> Result<()> {
        if self.paths > MOST_PATHS {
            return Err(Error::option("paths", format!("must be from 1 to {MOST_PATHS}, found {}", self.paths)));
        }
        Ok(())
    }
}

/// A query of the forecasts of some series, which are answered batch by batch, in the order of their origins.
#[derive(Clone, Debug)]
pub struct ForecastQuery<'a> {
    query: &'a Query,
    forecaster: &'a Forecaster,
    histories: &'a Histories,
    options: ForecastOptions,
    adaptive: Option<AdaptiveConformal>,
    kept: Vec<KeptCells<'a>>,
    rows: u64,
}

impl<'a> ForecastQuery<'a> {
    /// Refuses what forecasts cannot answer, before any is made.
    ///
    /// # Errors
    /// When two columns would have one name, or forecasts cannot answer.
    pub fn check(query: &Query, forecaster: &Forecaster, options: ForecastOptions) -> Result<()> {
        options.check()?;
        if query.novelty {
            return Err(Error::options("forecasts have no novelty"));
        }
        if query.conformal && options.aggregate {
            return Err(Error::options("conformal sets are for steps ahead, not for aggregates over them"));
        }
        let mut fields = position_fields(forecaster, options);
        // Of a hierarchy they are draws.
        let samples = options.aggregate || !forecaster.transform().spec.hierarchy.is_empty();
        fields.extend(if samples { query.sample_fields()? } else { query.fields(forecaster.model())? });
        fields.extend(path_fields(options.paths));
        unique(&fields)
    }

    /// The query about the series of a table. Conformal sets of what follows the end have adapted to what was missed before.
    ///
    /// # Errors
    /// When two columns would have one name, or forecasts cannot answer.
    pub fn new(
        query: &'a Query,
        forecaster: &'a Forecaster,
        table: &Table,
        histories: &'a Histories,
        options: ForecastOptions,
    ) -> Result<Self> {
        Self::check(query, forecaster, options)?;
        let adaptive = match (query.conformal, options.inside) {
            (true, true) => Some(AdaptiveConformal::new(&query.sets())),
            (true, false) => Some(forecaster.adaptive(table, histories, &query.sets())?),
            (false, _) => None,
        };
        Ok(Self { query, forecaster, histories, options, adaptive, kept: Vec::new(), rows: 0 })
    }

    /// Carries columns of the data over to the forecasts: the cell of a step that is in the data, else the one that all
    /// rows of its series share.
    ///
    /// # Errors
    /// When a column is absent, or two columns would have one name.
    pub fn keep(self, names: &'a [String], table: &'a Table) -> Result<Self> {
        let kept = KeptCells::of(names, table, self.histories)?;
        let mut fields = position_fields(self.forecaster, self.options);
        fields.extend(kept_fields(&kept));
        unique(&fields)?;
        Ok(Self { kept, ..self })
    }

    /// The adaptive conformal sets so far, for conformal sets.
    pub fn adaptive(&self) -> Option<&AdaptiveConformal> {
        self.adaptive.as_ref()
    }

    /// The columns of the next forecasts: series, origin and time, where the table has them, and the step ahead, before those of the
    /// predictions; paths after them.
    ///
    /// # Errors
    /// When two have one name, or there is not one prediction for each point.
    pub fn columns<'p>(&mut self, forecasts: &'p Forecasts) -> Result<Columns<'p>> {
        let Self { query, forecaster, histories, options, adaptive, kept, rows } = self;
        let Forecasts { points, predictions, .. } = forecasts;
        let columns = match adaptive {
            Some(adaptive) => {
                forecaster.adapt(adaptive, histories, forecasts)?;
                query.columns_with(predictions, *rows, Some(ConformalPredictor::Adaptive(adaptive)))?
            }
            None => query.columns(predictions, *rows)?,
        };
        *rows += points.len() as u64;
        let mut paths = Vec::new();
        if options.paths > 0 {
            let values = forecaster.paths(forecasts, options.paths, query.seed)?.into();
            paths.push(Block::Float { width: options.paths, values });
        }
        let blocks = position_blocks(forecaster, histories, points, *options);
        let fields = position_fields(forecaster, *options).into_iter().chain(kept_fields(kept));
        let cells = kept.iter().map(|column| column.block(histories, points));
        let before = fields.zip(blocks.into_iter().chain(cells)).collect();
        columns.between(before, (path_fields(options.paths), paths))
    }
}

fn path_fields(paths: usize) -> Vec<Field> {
    (1..=paths).map(|path| Field::float(format!("path_{path}"), "a path").scaled(Scale::Target)).collect()
}

/// The columns that say which series, origin, time and step a forecast is of.
fn position_fields(forecaster: &Forecaster, options: ForecastOptions) -> Vec<Field> {
    let roles = &forecaster.transform().spec;
    let mut fields = Vec::new();
    fields.extend(roles.key_columns().map(|name| Field::text(name, "the series column")));
    match (&roles.time, options.inside) {
        (Some(time), inside) => {
            let origin = if time == "origin" { "forecast_origin" } else { "origin" };
            fields.extend(inside.then(|| Field::text(origin, "the time of the origin")));
            fields.push(Field::text(time, "the time column"));
        }
        (None, true) => fields.push(Field::integer("origin_row", "the row of the origin")),
        (None, false) => {}
    }
    let is_taken = |name: &str| fields.iter().any(|field| field.name == name);
    let step = ["step", "step_ahead"].into_iter().find(|name| !is_taken(name)).unwrap_or("steps_ahead");
    fields.extend((!options.aggregate).then(|| Field::integer(step, "the step ahead")));
    fields
}

/// Their blocks.
fn position_blocks<'p>(
    forecaster: &Forecaster,
    histories: &Histories,
    points: &[ForecastPoint],
    options: ForecastOptions,
) -> Vec<Block<'p>> {
    let transform = forecaster.transform();
    let time = |point: &ForecastPoint, step: usize| histories.time_text(point.series, step);
    let text =
        |of: &dyn Fn(&ForecastPoint) -> String| Block::Text(points.iter().map(|point| of(point).into()).collect());
    let integer =
        |of: &dyn Fn(&ForecastPoint) -> usize| Block::Integer(points.iter().map(|point| of(point) as i64).collect());
    let mut blocks = Vec::new();
    for key in 0..transform.spec.key_columns().count() {
        blocks.push(text(&|point| histories.series[point.series].keys[key].clone()));
    }
    match (transform.spec.time.is_some(), options.inside) {
        (true, inside) => {
            if inside {
                blocks.push(text(&|point| time(point, point.origin)));
            }
            blocks.push(text(&|point| time(point, point.step())));
        }
        (false, true) => blocks.push(integer(&|point| histories.series[point.series].rows[point.origin] + 1)),
        (false, false) => {}
    }
    if !options.aggregate {
        blocks.push(integer(&|point| point.ahead));
    }
    blocks
}
