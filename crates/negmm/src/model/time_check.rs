//! Whether rows that are held out at random tell how new rows will be predicted, and how the data change in time.
//!
//! Cheap models, a linear one and a forest, predict the newest rows twice: from the rows before them, and from as many rows
//! drawn at random among all others, their neighbours in time included. Independent rows have the same errors both ways.

use crate::model::Drift;
use negmm_data::{EncodedTable, Encoder, Encoding, TimeOrder};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Hint, Result, Warning, streams};
use negmm_nn::dataset::Dataset;
use negmm_nn::forest::{Forest, ForestConfig, TargetBins};
use negmm_nn::linear::Linear;

/// Rows at least; at most the newest of them are used.
const LEAST_ROWS: usize = 100;
const MOST_ROWS: usize = 6_000;
/// The newest 1/NEWEST_PART of the rows is predicted.
const NEWEST_PART: usize = 5;
/// Parts of these rows of which each is predicted from the others.
const RANDOM_PARTS: usize = 4;
/// Blocks of time whose mean differences give the standard error, since errors of neighbours are alike.
const BLOCKS: usize = 16;
/// Standard errors and ratio of mean absolute errors beyond which the difference counts.
const CLEAR: f64 = 3.0;
const LEAST_RATIO: f64 = 1.1;
/// The same for the correlation of errors of neighbours: where it is this large, known neighbours make errors a tenth
/// smaller. The newest rows must then be predicted worse, too, by this many standard errors.
const NEIGHBOURS_CLEAR: f64 = 4.0;
const LEAST_CORRELATION: f64 = 0.2;
const ALIKE_CLEAR: f64 = 1.0;
/// The forest, and the components of its targets.
const FOREST: ForestConfig =
    ForestConfig { n_estimators: 20, min_samples_leaf: 3, max_features: 0.5, max_samples: MOST_ROWS };
const COMPONENTS: usize = 32;

/// The rows of a table in the order of time, the newest of many.
struct Ordered<'a> {
    data: &'a Dataset,
    rows: Vec<u32>,
}

/// What is found for a table whose rows have an order in time: a warning where it was not asked to hold out the newest
/// rows though it should have been, and the drift.
pub(super) fn check(encoded: &EncodedTable, seed: u64) -> Result<(Option<Warning>, Option<Drift>)> {
    let EncodedTable { encoder, data, .. } = encoded;
    let Some(order) = encoded.time.as_ref().filter(|_| data.len() >= LEAST_ROWS && encoded.censored.is_none()) else {
        return Ok((None, None));
    };
    let mut rows: Vec<u32> = (0..data.len() as u32).collect();
    rows.sort_by_key(|row| order.ranks[*row as usize]);
    let [by_line, by_forest] = residuals(data, encoder, order, &rows, seed)?;
    let neighbours = Neighbours::of(&least([by_line, by_forest.clone()]));
    let drift = Drift::measured(encoded, order, &rows, by_forest);
    if order.is_given {
        return Ok((None, drift));
    }
    let newest = &data.select(&rows[rows.len().saturating_sub(MOST_ROWS)..]).filled();
    let ordered = Ordered { rows: (0..newest.len() as u32).collect(), data: newest };
    let warning = ordered.warning(&order.name, &neighbours, seed)?;
    Ok((warning, drift))
}

impl Ordered<'_> {
    /// A warning where the newest rows are predicted clearly worse from the rows before them.
    fn warning(&self, name: &str, neighbours: &Neighbours, seed: u64) -> Result<Option<Warning>> {
        let count = self.rows.len() / NEWEST_PART;
        let (past, newest) = self.rows.split_at(self.rows.len() - count);
        let mut rng = Rng::new(seed, streams::TIME_CHECK);
        let forward = least(errors(self.data, past, newest, seed)?);
        let mut shuffled: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut shuffled);
        let mut random = [vec![0.0; count], vec![0.0; count]];
        for part in 0..RANDOM_PARTS {
            let own: Vec<usize> = shuffled.iter().skip(part).step_by(RANDOM_PARTS).copied().collect();
            let mut is_own = vec![false; count];
            own.iter().for_each(|at| is_own[*at] = true);
            let others = (0..count).filter(|at| !is_own[*at]).map(|at| newest[at]);
            let mut train: Vec<u32> = past.iter().copied().chain(others).collect();
            rng.shuffle(&mut train);
            train.truncate(past.len());
            let rows: Vec<u32> = own.iter().map(|at| newest[*at]).collect();
            for (all, errors) in random.iter_mut().zip(errors(self.data, &train, &rows, seed)?) {
                own.iter().zip(errors).for_each(|(at, error)| all[*at] = error);
            }
        }
        let random = least(random);
        let ratio = mean(&forward) / mean(&random);
        let differences: Vec<f64> = forward.iter().zip(&random).map(|(forward, random)| forward - random).collect();
        let errors = standard_errors(&differences);
        let why = if errors > CLEAR && ratio > LEAST_RATIO {
            format!(
                "errors of simple models for the newest rows by {name:?} are {} if they learn from older rows than if they learn \
                 from random ones",
                match ratio {
                    2.0.. => format!("{ratio:.1} times larger"),
                    _ => format!("{:.0} % larger", 100.0 * (ratio - 1.0)),
                }
            )
        } else if neighbours.are_alike() && errors > ALIKE_CLEAR {
            format!(
                "rows that are neighbours by {name:?} have errors alike (correlation {:.2}), and rows that are held out at random \
                 lie between such neighbours",
                neighbours.correlation
            )
        } else {
            return Ok(None);
        };
        let message = format!("the held-out scores are optimistic for newer rows: {why}");
        let settings = vec![("time", name.to_string())];
        Ok(Some(Warning::new(message).with_hint(Hint::SetOptions { settings }.when("to hold out the newest rows"))))
    }
}

/// How alike the errors of rows are that are neighbours in time, of models that know nothing of the time but what comes
/// again: the time of day and the day of the week.
struct Neighbours {
    /// The correlation of each error with the next.
    correlation: f64,
    /// The same in standard errors.
    errors: f64,
}

impl Neighbours {
    fn of(residuals: &[f64]) -> Self {
        let center = mean(residuals);
        let squares = residuals.iter().map(|residual| (residual - center) * (residual - center)).sum::<f64>();
        let products: Vec<f64> = residuals.windows(2).map(|pair| (pair[0] - center) * (pair[1] - center)).collect();
        let sum: f64 = products.iter().sum();
        let error = products.iter().map(|product| product * product).sum::<f64>().sqrt();
        Self { correlation: sum / squares, errors: sum / error }
    }

    fn are_alike(&self) -> bool {
        self.errors > NEIGHBOURS_CLEAR && self.correlation > LEAST_CORRELATION
    }
}

/// Out-of-fold errors of a linear model and a forest that know nothing of the time but what comes again, in the order of
/// `rows`.
fn residuals(data: &Dataset, encoder: &Encoder, order: &TimeOrder, rows: &[u32], seed: u64) -> Result<[Vec<f64>; 2]> {
    let first: usize = encoder
        .inputs()
        .iter()
        .take_while(|input| input.name != order.name)
        .map(|input| input.encoding.features())
        .sum();
    let passing = match encoder.inputs().iter().find(|input| input.name == order.name).map(|own| &own.encoding) {
        Some(Encoding::Time(encoding)) => encoding.passing(),
        Some(encoding) => (0..encoding.features()).collect(),
        None => Vec::new(),
    };
    let every = rows.len().div_ceil(MOST_ROWS);
    let rows: Vec<u32> = rows.iter().step_by(every).copied().collect();
    let mut data = data.select(&rows).filled();
    passing.into_iter().for_each(|feature| data.clear_features(first + feature..first + feature + 1));
    let mut shuffled: Vec<u32> = (0..rows.len() as u32).collect();
    Rng::new(seed, streams::TIME_CHECK + 1).shuffle(&mut shuffled);
    let mut residuals = [vec![0.0; rows.len()], vec![0.0; rows.len()]];
    for part in 0..2 {
        let own: Vec<u32> = shuffled.iter().skip(part).step_by(2).copied().collect();
        let train: Vec<u32> = shuffled.iter().skip(1 - part).step_by(2).copied().collect();
        for (residuals, predicted) in residuals.iter_mut().zip(predictions(&data, &train, &own, seed)?) {
            for (row, predicted) in own.iter().zip(predicted) {
                residuals[*row as usize] = f64::from(data.y()[*row as usize]) - predicted;
            }
        }
    }
    Ok(residuals)
}

/// The absolute errors of a linear model and of a forest.
fn errors(data: &Dataset, train: &[u32], rows: &[u32], seed: u64) -> Result<[Vec<f64>; 2]> {
    let error = |predicted: Vec<f64>| {
        predicted.iter().zip(rows).map(|(mean, row)| (mean - f64::from(data.y()[*row as usize])).abs()).collect()
    };
    Ok(predictions(data, train, rows, seed)?.map(error))
}

/// The means that a linear model and a forest predict for rows.
fn predictions(data: &Dataset, train: &[u32], rows: &[u32], seed: u64) -> Result<[Vec<f64>; 2]> {
    let filled;
    let data = if data.levels().is_empty() {
        data
    } else {
        filled = data.with_statistics(train, &mut Rng::new(seed, streams::STATISTICS)).0;
        &filled
    };
    let chosen = data.select(rows);
    // The mean itself, not that of a latent value.
    let observed = data.select(train).without_intervals();
    let linear = Linear::fit(&observed, &(0..train.len() as u32).collect::<Vec<_>>(), 1);
    let of_row = |row: &[f32]| -> f64 {
        linear.intercept + row.iter().zip(&linear.coefficients).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>()
    };
    let by_line = chosen.x().chunks_exact(chosen.stride()).map(of_row).collect();
    let forest = Forest::grow(&FOREST, data, train, &TargetBins::new(data, train, COMPONENTS), seed);
    let weights = forest.predict(&chosen)?;
    let mean = |weights: &[f64]| weights.iter().zip(&forest.components).map(|(weight, [mean, _])| weight * mean).sum();
    let by_forest = weights.chunks_exact(forest.components.len()).map(mean).collect();
    Ok([by_line, by_forest])
}

/// The errors of the model whose mean size is smaller.
fn least([first, second]: [Vec<f64>; 2]) -> Vec<f64> {
    let size = |errors: &[f64]| mean(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>());
    if size(&first) < size(&second) { first } else { second }
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

/// The mean in standard errors, by the means of blocks.
fn standard_errors(list: &[f64]) -> f64 {
    let length = (list.len() / BLOCKS).max(1);
    let means: Vec<f64> = list.chunks_exact(length).map(mean).collect();
    let center = mean(&means);
    let variance = means.iter().map(|mean| (mean - center) * (mean - center)).sum::<f64>() / (means.len() - 1) as f64;
    center / (variance / means.len() as f64).sqrt()
}
