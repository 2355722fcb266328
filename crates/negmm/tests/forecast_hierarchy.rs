//! Forecasts of hierarchies, holidays, and times of the clock on the wall.

use negmm::data::Column;
use negmm::forecast::{ALL, BacktestOrigins, Forecaster, Forecasts, Histories, Holiday, SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::{FitOptions, Rng, Table};

fn quick() -> Auto {
    Auto::default().hidden(vec![16]).steps(200).folds(2)
}

fn text(name: &str, cells: Vec<String>) -> (String, Column) {
    (name.to_string(), Column::text(cells.iter().map(|cell| Some(cell.as_str()))))
}

/// Four shops in two regions, with sales that share a factor of the region.
fn shops(steps: usize) -> Table {
    let mut rng = Rng::new(5, 0);
    let (mut region, mut shop, mut step, mut y) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut shared: Vec<[f64; 2]> = Vec::new();
    for _ in 0..steps {
        shared.push([12.0 * (rng.uniform() - 0.5), 12.0 * (rng.uniform() - 0.5)]);
    }
    for number in 0..4 {
        for (at, shared) in shared.iter().enumerate() {
            region.push(["north", "south"][number / 2].to_string());
            shop.push(format!("shop {number}"));
            step.push(at as f64);
            y.push(50.0 + 10.0 * number as f64 + shared[number / 2] + 2.0 * (rng.uniform() - 0.5));
        }
    }
    Table::new(vec![
        text("region", region),
        text("shop", shop),
        ("t".into(), Column::Numbers(step)),
        ("y".into(), Column::Numbers(y)),
    ])
    .unwrap()
}

fn spec() -> SeriesSpec {
    SeriesSpec::of("y").time("t").hierarchy(["region", "shop"]).horizon(3).seasonal_periods(vec![])
}

fn future(forecaster: &Forecaster, table: &Table) -> (Histories, Forecasts) {
    let histories = forecaster.histories(table).unwrap();
    let forecasts = forecaster.future(table, &histories).unwrap();
    (histories, forecasts)
}

#[test]
fn forecasts_of_a_hierarchy_add_up() {
    let table = shops(90);
    let fitted = fit_forecaster(&table, &spec(), &quick(), &FitOptions::default()).unwrap();
    let forecaster = Forecaster::from_bytes(&fitted.forecaster.to_bytes().unwrap()).unwrap();
    assert_eq!(forecaster, fitted.forecaster);
    let (histories, forecasts) = future(&forecaster, &table);
    let names: Vec<&str> = histories.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names[..3], ["(all)/(all)", "north/(all)", "south/(all)"]);
    assert_eq!((names.len(), histories.series[0].keys[0].as_str()), (7, ALL));
    assert_eq!(forecasts.points.len(), 7 * 3);
    let means = forecasts.predictions.mean();
    let at = |series: usize, step: usize| series * 3 + step;
    for step in 0..3 {
        let parts: f64 = (3..7).map(|shop| means[at(shop, step)]).sum();
        assert!((means[at(0, step)] - parts).abs() < 1e-9 * parts, "{} {parts}", means[at(0, step)]);
        assert!((means[at(1, step)] - means[at(3, step)] - means[at(4, step)]).abs() < 1e-8);
        assert!((parts - 260.0).abs() < 15.0, "{parts}");
    }
    // Paths add up one by one.
    let paths = forecaster.paths(&forecasts, 50, 3).unwrap();
    for path in 0..50 {
        let of = |series: usize| paths[at(series, 1) * 50 + path];
        assert!((of(0) - (3..7).map(of).sum::<f64>()).abs() < 1e-8);
    }
    assert!(forecaster.paths(&forecasts, 5_000, 3).unwrap_err().to_string().contains("at most 1000"));
    // Shops of a region rise and fall together: their sum is more spread than if they did not.
    let sd = |series: usize| forecasts.predictions.sd()[at(series, 0)];
    let independent = (sd(3) * sd(3) + sd(4) * sd(4)).sqrt();
    assert!(sd(1) > 1.2 * independent, "{} {independent}", sd(1));
    let scores = forecaster.energy_scores().unwrap();
    assert!(scores.bottom_up < scores.independent, "{scores:?}");
}

/// Eight shops that take customers from each other: a noisy share of a seasonal sum that is nearly known.
fn rivals(steps: usize) -> Table {
    let mut rng = Rng::new(7, 0);
    let (mut shop, mut time, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..steps {
        let noise: Vec<f64> = (0..8).map(|_| 60.0 * (rng.uniform() - 0.5)).collect();
        let mean = noise.iter().sum::<f64>() / 8.0;
        for (number, noise) in noise.iter().enumerate() {
            shop.push(format!("shop {number}"));
            time.push(step as f64);
            let season = 20.0 * (std::f64::consts::TAU * step as f64 / 8.0).sin();
            y.push(100.0 + 0.4 * step as f64 + season + noise - mean);
        }
    }
    Table::new(vec![text("shop", shop), ("t".into(), Column::Numbers(time)), ("y".into(), Column::Numbers(y))]).unwrap()
}

#[test]
fn min_t_is_used_where_the_sum_is_better_known_than_its_parts() {
    let table = rivals(120);
    let spec = SeriesSpec::of("y").time("t").hierarchy(["shop"]).horizon(4).seasonal_periods(vec![8]);
    let fitted = fit_forecaster(&table, &spec, &quick(), &FitOptions::default()).unwrap();
    let forecaster = Forecaster::from_bytes(&fitted.forecaster.to_bytes().unwrap()).unwrap();
    let scores = forecaster.energy_scores().unwrap();
    let min_t = scores.min_t.unwrap();
    assert!(forecaster.is_reconciled() && min_t < 0.99 * scores.bottom_up, "{scores:?}");
    // The draws of the sum are still those of its parts.
    let (_, forecasts) = future(&forecaster, &table);
    let mean = forecasts.predictions.mean();
    for ahead in 0..4 {
        let parts: f64 = (1..9).map(|shop| mean[4 * shop + ahead]).sum();
        assert!((mean[ahead] - parts).abs() < 1e-6 * parts, "{} {parts}", mean[ahead]);
    }
}

#[test]
fn a_backtest_scores_the_whole() {
    let table = shops(90);
    let forecaster = fit_forecaster(&table, &spec(), &quick(), &FitOptions::default()).unwrap().forecaster;
    let histories = forecaster.histories(&table).unwrap();
    let origins = BacktestOrigins::default().test_size(30);
    let backtest = forecaster.backtest(&table, &histories, origins).unwrap();
    let whole = backtest.whole.unwrap();
    assert_eq!((backtest.scores[0].rows, whole.origins, backtest.origins), (7 * 30, 10, 70));
    assert!(whole.energy_score < whole.independent, "{whole:?}");
    // Points that are asked for alone are the same as among all.
    let points = forecaster.points(&histories, origins);
    let all = forecaster.predict(&table, &histories, points.clone()).unwrap();
    let one = forecaster.predict(&table, &histories, vec![points[40]]).unwrap();
    assert_eq!(one.predictions.mean()[0], all.predictions.mean()[40]);
}

#[test]
fn hierarchies_that_cannot_be_are_refused() {
    let complaint = |table: &Table, spec: &SeriesSpec, options: &FitOptions<'_>| {
        fit_forecaster(table, spec, &quick(), options).unwrap_err().to_string()
    };
    let table = shops(30);
    let rows: Vec<usize> = (0..table.rows() - 5).collect();
    let early = complaint(&table.select_rows(&rows), &spec(), &FitOptions::default());
    assert!(early.contains("\"north/shop 0\" and \"south/shop 3\" of the hierarchy do not end"), "{early}");
    let outcome = negmm::data::TargetSpec::default().upper(100.0);
    let bounded = FitOptions::default().inputs(negmm::data::ColumnRoles::default().target_spec(outcome));
    assert!(complaint(&table, &spec(), &bounded).contains("bounds of series are not those of their sums"));
    let absent = complaint(&table, &spec().hierarchy(["country"]), &FitOptions::default());
    assert!(absent.contains("country"), "{absent}");
}

/// 120 weeks of days with a weekend, and every 52 weeks a day without sales.
fn days() -> (Table, Vec<Holiday>) {
    let mut rng = Rng::new(8, 0);
    let (mut times, mut y, mut holidays) = (Vec::new(), Vec::new(), Vec::new());
    for day in 0..840_i64 {
        let usual = if day % 7 > 4 { 60.0 } else { 100.0 };
        let closed = day % 364 == 100 || day % 364 == 210;
        y.push((if closed { 0.2 * usual } else { usual }) + 4.0 * (rng.uniform() - 0.5));
        times.push((day + 4) as f64 * 86_400.0);
        if closed {
            holidays.push(Holiday::new(day + 4, "closed", None));
        }
    }
    // The next one follows the end by two days.
    holidays.push(Holiday::new(842 + 4, "closed", None));
    let table = Table::new(vec![("day", Column::Times(times)), ("y", Column::Numbers(y))]).unwrap();
    (table, holidays)
}

#[test]
fn a_holiday_ahead_is_forecast_as_earlier_ones_were() {
    let (table, holidays) = days();
    let with = SeriesSpec::of("y").time("day").horizon(5).seasonal_periods(vec![7]).holidays(holidays);
    let fitted = fit_forecaster(&table, &with, &quick(), &FitOptions::default()).unwrap();
    let forecaster = Forecaster::from_bytes(&fitted.forecaster.to_bytes().unwrap()).unwrap();
    let means = future(&forecaster, &table).1.predictions.mean();
    // Days 840 to 844: Monday to Friday, the third of them closed.
    for (step, mean) in means.iter().enumerate() {
        let truth = if step == 2 { 20.0 } else { 100.0 };
        assert!((mean - truth).abs() < 12.0, "{step}: {mean}");
    }
    let without = fit_forecaster(&table, &with.clone().holidays(vec![]), &quick(), &FitOptions::default()).unwrap();
    let (own, other) = (&forecaster.scores()[0], &without.forecaster.scores()[0]);
    assert!(own.crps <= other.crps, "{own:?} {other:?}");
    assert!(future(&without.forecaster, &table).1.predictions.mean()[2] > 60.0);
    let (table, holidays) = days();
    let wrong = SeriesSpec::of("y").holidays(holidays);
    let error = fit_forecaster(&table, &wrong, &quick(), &FitOptions::default()).unwrap_err().to_string();
    assert!(error.contains("steps of a day or a part of it"), "{error}");
}

#[test]
fn summer_time_does_not_shift_the_day() {
    // Hours of Berlin around 2024-10-27, when 02:00 comes twice, with a peak at 12:00 on the wall.
    let mut lines = vec!["when,y".to_string()];
    for hour in 0..24 * 20 {
        // From 2024-10-17T00:00+02:00 on; the clock goes back after 10 days and 3 hours.
        let summer = hour < 243;
        let local = if summer { hour } else { hour - 1 };
        let value = 10.0 + if local % 24 == 12 { 90.0 } else { (local % 24) as f64 / 10.0 };
        let offset = if summer { "+02:00" } else { "+01:00" };
        lines.push(format!(
            "2024-{:02}-{:02}T{:02}:00:00{offset},{value}",
            10 + (local / 24 + 16) / 31,
            (local / 24 + 16) % 31 + 1,
            local % 24
        ));
    }
    let table = Table::read_from((lines.join("\n") + "\n").as_bytes(), "berlin").unwrap();
    let spec = SeriesSpec::of("y").time("when").horizon(24).seasonal_periods(vec![24]);
    let histories = Histories::read(&table, &spec, None).unwrap();
    assert!(histories.on_the_wall());
    assert!(
        histories.warnings[0].message().starts_with("clocks were put back: one time step"),
        "{:?}",
        histories.warnings
    );
    let series = &histories.series[0];
    assert_eq!(series.len(), 24 * 20 - 1);
    assert!((0..series.len()).all(|step| (series.values[step] == 100.0) == (step % 24 == 12)));
    assert_eq!(histories.time_text(0, series.len()), "2024-11-05T23:00+01:00");
    // In spring an hour is missing.
    let spring = "when,y\n2024-03-30T22:00:00+01:00,-2\n2024-03-30T23:00:00+01:00,-1\n2024-03-31T00:00:00+01:00,1\n2024-03-31T01:00:00+01:00,2\n2024-03-31T03:00:00+02:00,4\n\
                  2024-03-31T04:00:00+02:00,5\n2024-03-31T05:00:00+02:00,6\n";
    let table = Table::read_from(spring.as_bytes(), "berlin").unwrap();
    let histories = Histories::read(&table, &SeriesSpec::of("y").time("when"), None).unwrap();
    assert!(histories.series[0].values[4].is_nan() && histories.series[0].values[5] == 4.0);
}
