//! Forecasts of long series in batches are the same as at once.

use negmm::conformal::{AdaptiveConformal, SetSpec};
use negmm::data::Column;
use negmm::forecast::{
    BacktestOrigins, ForecastPoint, Forecaster, Forecasts, Histories, SeriesSpec, StepScores, fit_forecaster,
};
use negmm::method::Auto;
use negmm::predict::{ForecastOptions, ForecastQuery};
use negmm::{FitOptions, Interval, Predictions, Query, Rng, Table};

const HORIZON: usize = 6;
fn every_step() -> BacktestOrigins {
    BacktestOrigins::default().stride(1)
}

/// Series in the long format, with some values missing.
fn table(series: usize, steps: usize) -> Table {
    let mut rng = Rng::new(3, 0);
    let (mut names, mut words, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..series {
        for step in 0..steps {
            let season = 10.0 * (std::f64::consts::TAU * step as f64 / 12.0).sin();
            names.push(format!("s{number}"));
            // More of them than a batch has points.
            words.push(format!("w{}", names.len()));
            y.push(if step % 31 == 9 { f64::NAN } else { 50.0 + season + 3.0 * rng.uniform() });
        }
    }
    let text = |cells: &[String]| Column::text(cells.iter().map(|cell| Some(cell.as_str())));
    let columns = [("id", text(&names)), ("word", text(&words)), ("y", Column::Numbers(y))];
    Table::new(columns.map(|(name, column)| (name.to_string(), column)).to_vec()).unwrap()
}

fn forecaster(table: &Table) -> Forecaster {
    let roles = SeriesSpec::of("y").horizon(HORIZON).series("id").past_covariates(["word"]).seasonal_periods(vec![12]);
    let auto = Auto::default().hidden(vec![16]).steps(100);
    fit_forecaster(table, &roles, &auto, &FitOptions::default()).unwrap().forecaster
}

/// A series with more origins than a batch has, and more series than a batch has ends of.
fn long_and_many() -> (Forecaster, [(Table, Option<BacktestOrigins>); 2]) {
    let forecaster = forecaster(&table(2, 150));
    (forecaster, [(table(1, 900), Some(every_step())), (table(700, 20), None)])
}

fn all_at_once(
    forecaster: &Forecaster,
    table: &Table,
    histories: &Histories,
    origins: Option<BacktestOrigins>,
) -> Forecasts {
    match origins {
        Some(origins) => forecaster.predict(table, histories, forecaster.points(histories, origins)).unwrap(),
        None => forecaster.future(table, histories).unwrap(),
    }
}

fn batches(
    forecaster: &Forecaster,
    table: &Table,
    histories: &Histories,
    origins: Option<BacktestOrigins>,
) -> Vec<Forecasts> {
    let batches: Vec<Forecasts> =
        forecaster.batches(table, histories, origins).unwrap().map(|batch| batch.unwrap()).collect();
    assert!(batches.len() > 1 && batches.iter().all(|batch| batch.points.len().is_multiple_of(HORIZON)));
    batches
}

#[test]
fn answers_are_those_of_all_places_at_once() {
    let query = Query::default().interval([0.9]).components(true).draws(2).conformal(true).seed(7);
    let (forecaster, tables) = long_and_many();
    for (table, origins) in tables {
        let histories = forecaster.histories(&table).unwrap();
        let options = ForecastOptions::default().inside(origins.is_some()).paths(2);
        let lines = |batches: &[Forecasts]| {
            let mut queried = ForecastQuery::new(&query, &forecaster, &table, &histories, options).unwrap();
            let rows = batches.iter().flat_map(|forecasts| queried.columns(forecasts).unwrap().csv_rows().unwrap());
            let rows = String::from_utf8(rows.collect()).unwrap();
            (rows, queried.adaptive().unwrap().coverage(SetSpec::intervals(0.9)).unwrap())
        };
        let expected = lines(&[all_at_once(&forecaster, &table, &histories, origins)]);
        let found = lines(&batches(&forecaster, &table, &histories, origins));
        assert_eq!(found.0.lines().count(), expected.0.lines().count());
        assert!(found == expected);
    }
}

#[test]
fn scores_are_the_means_of_those_of_all_places() {
    let (forecaster, [(table, _), _]) = long_and_many();
    let histories = forecaster.histories(&table).unwrap();
    let rolling = forecaster.backtest(&table, &histories, every_step()).unwrap();
    let mut points = forecaster.points(&histories, every_step());
    points.retain(|point| !histories.value(point).is_nan());
    let forecasts = forecaster.predict(&table, &histories, points).unwrap();
    let Forecasts { points, predictions, .. } = &forecasts;
    let own = ("forecast".to_string(), predictions.clone());
    let baselines = forecaster.baselines(&histories, points);
    let all: Vec<(String, Predictions)> =
        [own].into_iter().chain(baselines.into_iter().map(|own| (own.name, own.predictions))).collect();
    assert_eq!((rolling.scores.len(), rolling.steps.len()), (all.len(), HORIZON));
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let check = |found: &StepScores, predictions: &Predictions, points: &[ForecastPoint]| {
        let y: Vec<f64> = points.iter().map(|point| histories.value(point)).collect();
        let Interval { lower, upper } = predictions.interval(0.95).unwrap();
        let widths: Vec<f64> = lower.iter().zip(&upper).map(|(lower, upper)| upper - lower).collect();
        let low = predictions.pit(&y).unwrap().iter().filter(|pit| **pit < 0.1).count();
        let expected = (points.len(), mean(&predictions.crps(&y).unwrap()), mean(&predictions.nll(&y).unwrap()));
        assert_eq!((found.rows, found.crps, found.nll), expected, "{found:?}");
        assert_eq!(found.width95, mean(&widths));
        assert!((found.pit[0] - low as f64 / y.len() as f64).abs() < 1e-12);
    };
    for (found, (name, predictions)) in rolling.scores.iter().zip(&all) {
        assert_eq!(&found.name, name);
        check(found, predictions, points);
    }
    for found in &rolling.steps {
        let rows: Vec<usize> = (0..points.len()).filter(|row| Some(points[*row].ahead) == found.step).collect();
        check(found, &predictions.select(&rows), &rows.iter().map(|row| points[*row]).collect::<Vec<_>>());
    }
    let mut adaptive = AdaptiveConformal::new(&[SetSpec::intervals(rolling.adaptive.coverage)]);
    forecaster.adapt(&mut adaptive, &histories, &forecasts).unwrap();
    let covered = adaptive.coverage(SetSpec::intervals(rolling.adaptive.coverage)).unwrap();
    let empirical = covered.covered as f64 / covered.targets as f64;
    assert_eq!((rolling.adaptive.empirical, rolling.adaptive.bound), (empirical, covered.bound));
}

#[test]
fn nothing_to_score_is_said() {
    let (data, few) = (table(2, 150), table(1, 5));
    let forecaster = forecaster(&data);
    let histories = forecaster.histories(&few).unwrap();
    let message = forecaster.backtest(&few, &histories, every_step()).unwrap_err().to_string();
    assert_eq!(message, "no forecast has an observed value to be scored by");
    assert_eq!(forecaster.batches(&few, &histories, Some(every_step())).unwrap().count(), 0);
}
