//! Seed corpus: small models of every kind.

use negmm::conformal::{CalibrationSet, Labels};
use negmm::data::{Column, ColumnRoles, Sequence, TargetSpec};
use negmm::forecast::{SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::{FitOptions, Loaded, Method, Rng, Table, fit_with};

/// Rows of the training table.
const ROWS: usize = 60;

/// Numbers, text, dates, missing cells, and targets of several kinds.
pub fn table() -> Table {
    let mut rng = Rng::new(1, 0);
    let mut column = |make: &mut dyn FnMut(&mut Rng) -> f64| (0..ROWS).map(|_| make(&mut rng)).collect::<Vec<f64>>();
    let x = column(&mut |rng| if rng.uniform() < 0.1 { f64::NAN } else { 10.0 * rng.uniform() });
    let index = column(&mut |rng| rng.below(4) as f64);
    let noise = column(&mut |rng| rng.uniform());
    let city = index.iter().map(|at| ["Oslo", "Łódź", "say \"hi\"", ""][*at as usize]);
    let city = city.map(|name| (!name.is_empty()).then_some(name));
    let day = (0..ROWS).map(|row| Some(format!("2024-{:02}-{:02}", 1 + row / 28, 1 + row % 28)));
    let at = |row: usize| if x[row].is_nan() { 5.0 } else { x[row] };
    let of = |make: &dyn Fn(usize) -> f64| Column::Numbers((0..ROWS).map(make).collect());
    let days: Vec<Option<String>> = day.collect();
    Table::new(vec![
        ("x", Column::Numbers(x.clone())),
        ("city", Column::text(city)),
        ("day", Column::text(days.iter().map(Option::as_deref))),
        ("same", Column::Numbers(vec![3.5; ROWS])),
        ("y", of(&|row| 100.0 + 3.0 * at(row) + 5.0 * noise[row])),
        ("count", of(&|row| (at(row) * noise[row]).floor())),
        ("rain", of(&|row| (at(row) * noise[row] - 2.0).max(0.0))),
        ("over", of(&|row| f64::from(noise[row] > 0.7))),
    ])
    .unwrap_or_else(|error| panic!("{error}"))
}

fn method(name: &str, options: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name(name).unwrap_or_else(|error| panic!("{error}"));
    options.iter().for_each(|(option, value)| method.set(option, value).unwrap_or_else(|error| panic!("{error}")));
    method
}

/// The bytes of a small model of every kind.
pub fn models() -> Vec<Vec<u8>> {
    const SHORT: [(&str, &str); 2] = [("epochs", "2"), ("hidden", "4")];
    const AUTO: [(&str, &str); 3] = [("ensemble-size", "1"), ("steps", "20"), ("hidden", "8")];
    let short = |name: &str, more: &[(&str, &str)]| method(name, &[&SHORT[..], more].concat());
    let plain = ColumnRoles::default();
    let day = ColumnRoles::default().dates(vec![("day".into(), None)]);
    let censored = TargetSpec::default().censored("over");
    let sequence = Sequence { column: "y".into(), window: 3 };
    let only_y = ColumnRoles::default().features(["y"]).sequence(sequence);
    let bounded = TargetSpec::default().lower(90.0).upper(200.0);
    let kinds = [
        (short("ne-gmm", &[("components", "2")]), "y", day),
        (short("mdn", &[]), "count", plain.clone()),
        (short("beta-nll", &[]), "y", ColumnRoles::default().target_spec(bounded)),
        (short("sample-net", &[("samples", "5")]), "y", plain.clone()),
        (short("ensemble", &[("ensemble-size", "2")]), "y", plain.clone()),
        (method("ngboost", &[("n-estimators", "3")]), "y", plain.clone()),
        (method("constant", &[]), "rain", plain.clone()),
        (method("auto", &AUTO), "rain", plain),
        (short("mdn", &[]), "y", ColumnRoles::default().target_spec(censored)),
        (short("ne-gmm", &[]), "y", only_y),
    ];
    let table = table();
    let fitted = kinds.into_iter().map(|(method, target, inputs)| {
        let fitted = fit_with(&table, target, &method, &FitOptions::default().inputs(inputs));
        fitted.and_then(|fitted| fitted.model.to_bytes()).unwrap_or_else(|error| panic!("{target}: {error}"))
    });
    fitted.chain([forecaster(&table)]).collect()
}

/// The first of the models with conformal calibration by groups.
pub fn calibrated(models: &[Vec<u8>], table: &Table) -> Vec<u8> {
    let Ok(Loaded::Model(model)) = Loaded::from_bytes(&models[0]) else { panic!("a model of rows") };
    let calibrated = || {
        let (mut set, groups) =
            (CalibrationSet::default(), (0..ROWS).map(|row| ["a", "b"][row % 2].to_string()).collect());
        let y = model.encoder().targets(table)?;
        set.add(&model.predict(table)?, &y, Labels { groups, weights: Vec::new() })?;
        let calibration = set.calibration(Some("city"), None)?;
        model.calibrated(calibration).to_bytes()
    };
    calibrated().unwrap_or_else(|error: negmm::Error| panic!("{error}"))
}

fn forecaster(table: &Table) -> Vec<u8> {
    let auto = Auto::default().hidden(vec![8]).steps(20);
    let roles = SeriesSpec::of("y").horizon(2);
    let fitted = fit_forecaster(table, &roles, &auto, &FitOptions::default());
    fitted.and_then(|fitted| fitted.forecaster.to_bytes()).unwrap_or_else(|error| panic!("{error}"))
}
