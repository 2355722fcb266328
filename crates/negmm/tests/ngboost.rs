//! Properties of NGBoost: weights, units, seeds, early stopping, invalid arrays.

use std::sync::atomic::{AtomicBool, Ordering};

use negmm::Rng;
use negmm::data::split::holdout;
use negmm::method::NgBoost;
use negmm::ngboost::{Boosted, BoostingScore, Columns, Parts, Splits};
use negmm::train::Callbacks;
use negmm::{ErrorKind, Method, Result};

fn settings() -> NgBoost {
    NgBoost::default().n_estimators(60).validation_fraction(0.0).learning_rate(0.1)
}

/// Three features, the last with missing values and without effect; noise that grows with the second.
fn problem(rows: usize, seed: u64) -> (Vec<Vec<f32>>, Vec<f64>) {
    let mut rng = Rng::new(seed, 0);
    let mut columns = vec![Vec::new(), Vec::new(), Vec::new()];
    let mut y = Vec::new();
    for _ in 0..rows {
        let (a, b) = (rng.uniform(), rng.uniform());
        columns[0].push(a as f32);
        columns[1].push(b as f32);
        columns[2].push(if rng.below(3) == 0 { f32::NAN } else { rng.uniform() as f32 });
        let noise = (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
        y.push((6.0 * a).sin() + (0.1 + 0.6 * b) * noise);
    }
    (columns, y)
}

fn fit(settings: &NgBoost, columns: &[Vec<f32>], y: &[f64], weights: Option<&[f64]>) -> Result<Boosted> {
    settings.fit(&Columns::new(columns, y.len())?, y, weights, 1, &Callbacks::nothing())
}

fn predict(model: &Boosted, columns: &[Vec<f32>]) -> (Vec<f64>, Vec<f64>) {
    model.predict(&Columns::new(columns, columns[0].len()).unwrap()).unwrap()
}

fn assert_near(found: &[f64], expected: impl IntoIterator<Item = f64>, tolerance: f64) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{at}: {found} {expected}");
    }
}

#[test]
fn it_learns_mean_sd_and_which_feature_matters() {
    let (columns, y) = problem(3000, 1);
    for (score, splits) in [
        (BoostingScore::Log, Splits::Exact),
        (BoostingScore::Log, Splits::Histogram),
        (BoostingScore::Crps, Splits::Exact),
        (BoostingScore::CrpsOriginal, Splits::Exact),
    ] {
        let model = fit(&settings().score(score).splits(splits), &columns, &y, None).unwrap();
        let (means, sds) = predict(&model, &columns);
        let count = y.len() as f64;
        let truth = columns[0].iter().zip(&columns[1]).map(|(a, b)| (6.0 * f64::from(*a), 0.1 + 0.6 * f64::from(*b)));
        let (mut by_mean, mut by_sd) = (0.0, 0.0);
        for ((angle, sd), (found_mean, found_sd)) in truth.zip(means.iter().zip(&sds)) {
            by_mean += (found_mean - angle.sin()).abs() / count;
            by_sd += (found_sd - sd).abs() / count;
        }
        assert!(by_mean < 0.1 && by_sd < 0.08, "{score:?} {splits:?}: {by_mean} {by_sd}");
        let [mean, log_sd] = &model.importance;
        assert!(mean[0] > 0.8 && mean[2] < 0.05 && log_sd[2] < 0.2, "{:?}", model.importance);
        assert!((mean.iter().sum::<f64>() - 1.0).abs() < 1e-12 && (log_sd.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let falls = model.history.windows(2).all(|pair| pair[1].train <= pair[0].train + 1e-9);
        assert!(falls, "the training score does not rise");
    }
}

#[test]
fn integer_weights_are_repetitions() {
    let (columns, y) = problem(200, 2);
    let mut rng = Rng::new(3, 0);
    let times: Vec<usize> = (0..y.len()).map(|_| rng.below(4)).collect();
    let weights: Vec<f64> = times.iter().map(|times| *times as f64).collect();
    let repeat = |row: usize| std::iter::repeat_n(row, times[row]);
    let rows: Vec<usize> = (0..y.len()).flat_map(repeat).collect();
    let repeated: Vec<Vec<f32>> = columns.iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
    let targets: Vec<f64> = rows.iter().map(|row| y[*row]).collect();
    // Rows of weight 0 may lie on either side of splits that are equally good for the others.
    for (score, splits) in [
        (BoostingScore::Log, Splits::Exact),
        (BoostingScore::Crps, Splits::Exact),
        (BoostingScore::Log, Splits::Histogram),
    ] {
        let settings = settings().score(score).splits(splits);
        let weighted = predict(&fit(&settings, &columns, &y, Some(&weights)).unwrap(), &repeated);
        let expected = predict(&fit(&settings, &repeated, &targets, None).unwrap(), &repeated);
        assert_near(&weighted.0, expected.0, 1e-5);
        assert_near(&weighted.1, expected.1, 1e-5);
    }
}

#[test]
fn the_units_of_features_and_target_do_not_matter() {
    let (columns, y) = problem(300, 4);
    let settings = settings();
    let (means, sds) = predict(&fit(&settings, &columns, &y, None).unwrap(), &columns);
    let stretched: Vec<Vec<f32>> = columns.iter().map(|column| column.iter().map(|x| 8.0 * x).collect()).collect();
    let targets: Vec<f64> = y.iter().map(|y| 4.0 * y + 16.0).collect();
    let sigma_min = 4.0 * settings.sigma_min;
    let settings = settings.sigma_min(sigma_min);
    let (found_means, found_sds) = predict(&fit(&settings, &stretched, &targets, None).unwrap(), &stretched);
    assert_near(&found_means, means.iter().map(|mean| 4.0 * mean + 16.0), 1e-5);
    assert_near(&found_sds, sds.iter().map(|sd| 4.0 * sd), 1e-5);
}

#[test]
fn the_seed_decides() {
    let (columns, y) = problem(300, 5);
    let settings = settings().subsample(0.5).colsample(0.5).validation_fraction(0.2);
    let view = Columns::new(&columns, y.len()).unwrap();
    let fit = |seed| settings.fit(&view, &y, None, seed, &Callbacks::nothing()).unwrap();
    assert_eq!(fit(7), fit(7));
    assert_ne!(fit(7), fit(8));
}

#[test]
fn early_stopping_predicts_with_the_best_round() {
    let (columns, y) = problem(150, 6);
    let settings = settings().n_estimators(400).validation_fraction(0.3).patience(20).refit(false);
    let model = fit(&settings, &columns, &y, None).unwrap();
    let scores: Vec<f64> = model.history.iter().map(|round| round.validation.unwrap()).collect();
    let best = (0..scores.len()).min_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
    assert_eq!(model.rounds.len(), best + 1);
    assert_eq!(model.history.len(), best + 1 + 20);

    // The stream of the validation rows.
    let (_, held_out) = holdout(y.len(), 0.3, &mut Rng::new(1, 5 << 56));
    let x: Vec<Vec<f32>> =
        columns.iter().map(|column| held_out.iter().map(|row| column[*row as usize]).collect()).collect();
    let targets: Vec<f64> = held_out.iter().map(|row| y[*row as usize]).collect();
    let x = Columns::new(&x, targets.len()).unwrap();
    let staged = model.staged_scores(&x, &targets, BoostingScore::Log).unwrap();
    assert_near(&staged[1..], scores, 1e-12);
    let (means, sds) = model.predict(&x).unwrap();
    let nll = |((mean, sd), y): ((&f64, &f64), &f64)| {
        ((y - mean) / sd).powi(2) / 2.0 + (sd * sd * std::f64::consts::TAU).ln() / 2.0
    };
    let mean_nll = means.iter().zip(&sds).zip(&targets).map(nll).sum::<f64>() / targets.len() as f64;
    assert!((mean_nll - staged[best + 1]).abs() < 1e-9);

    let again = fit(&settings.refit(true), &columns, &y, None).unwrap();
    assert_eq!(again.rounds.len(), best + 1);
    assert_eq!(again.history, model.history);
    assert_ne!(again.rounds, model.rounds);
}

#[test]
fn it_stops_when_told_to() {
    let (columns, y) = problem(100, 7);
    let view = Columns::new(&columns, y.len()).unwrap();
    let cancel = AtomicBool::new(false);
    let progress = |progress: &negmm::train::Progress| {
        assert!(progress.epoch <= 5 && progress.epochs == 60 && !progress.last);
        cancel.store(progress.epoch == 5, Ordering::Relaxed);
    };
    let watch = Callbacks { progress: &progress, cancel: &cancel };
    let error = settings().fit(&view, &y, None, 1, &watch).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn odd_data_give_finite_predictions() {
    let nothing = f32::NAN;
    let long: Vec<f64> = (0..50).map(|row| if row == 7 { 1e30 } else { f64::from(row) }).collect();
    let ramp: Vec<f32> = (0..50).map(|row| row as f32).collect();
    let cases: Vec<(Vec<Vec<f32>>, Vec<f64>)> = vec![
        (vec![vec![1.0]], vec![2.0]),
        (vec![vec![1.0, 2.0]], vec![2.0, 3.0]),
        (vec![vec![1.0, 2.0, 3.0]], vec![2.0; 3]),
        (vec![], vec![1.0, 2.0, 4.0]),
        (vec![vec![nothing; 4]], vec![1.0, 2.0, 4.0, 5.0]),
        (vec![vec![3.0; 4]], vec![1.0, 2.0, 4.0, 5.0]),
        (vec![vec![nothing, 1.0, nothing, 1.0]], vec![1.0, 2.0, 1.0, 2.0]),
        (vec![vec![f32::MIN, f32::MAX, 0.0, -0.0]], vec![1.0, 2.0, 4.0, 5.0]),
        (vec![ramp.clone()], long),
        (vec![ramp.clone()], ramp.iter().map(|x| f64::from(*x) * 1e98).collect()),
        (vec![ramp.clone()], ramp.iter().map(|x| f64::from(x.floor() > 25.0)).collect()),
    ];
    for (number, (columns, y)) in cases.iter().enumerate() {
        for (score, splits) in [(BoostingScore::Log, Splits::Exact), (BoostingScore::Crps, Splits::Histogram)] {
            for validation in [0.0, 0.3] {
                let settings = settings().n_estimators(300).score(score).splits(splits).validation_fraction(validation);
                let model = fit(&settings, columns, y, None).unwrap();
                let (means, sds) = model.predict(&Columns::new(columns, y.len()).unwrap()).unwrap();
                assert!(means.iter().all(|mean| mean.is_finite()), "{number} {means:?}");
                assert!(sds.iter().all(|sd| *sd >= settings.sigma_min && sd.is_finite()), "{number} {sds:?}");
                assert_eq!(Boosted::from_parts(&model.to_parts(), columns.len()).unwrap().rounds, model.rounds);
            }
        }
    }
}

#[test]
fn wrong_data_are_refused() {
    let (columns, y) = problem(10, 8);
    let refused = |columns: &[Vec<f32>], y: &[f64], weights: Option<&[f64]>| {
        assert_eq!(fit(&settings(), columns, y, weights).unwrap_err().kind(), ErrorKind::Data);
    };
    refused(&columns, &y[..9], None);
    refused(&[], &[], None);
    refused(&[vec![f32::INFINITY]], &[1.0], None);
    refused(&[vec![1.0]], &[f64::NAN], None);
    refused(&columns, &y, Some(&[1.0; 9]));
    refused(&columns, &y, Some(&[0.0; 10]));
    refused(&columns, &y, Some(&[-1.0; 10]));
    let model = fit(&settings(), &columns, &y, None).unwrap();
    assert!(model.predict(&Columns::new(&columns[..2], 10).unwrap()).is_err());
    for (option, value) in [
        ("n-estimators", "0"),
        ("max-depth", "0"),
        ("max-depth", "13"),
        ("learning-rate", "0"),
        ("subsample", "1.5"),
        ("colsample", "-1"),
        ("min-samples-leaf", "0"),
        ("sigma-min", "0"),
        ("validation-fraction", "1"),
    ] {
        let mut method = Method::NgBoost(settings());
        assert!(method.set(option, value).unwrap_err().to_string().starts_with(&format!("{option} must be ")));
        assert_eq!(method, Method::NgBoost(settings()));
    }
    let unsound = settings().learning_rate(-0.1);
    assert_eq!(fit(&unsound, &columns, &y, None).unwrap_err().kind(), ErrorKind::Options);
    let refused = |option, value| Method::NgBoost(settings()).set(option, value).unwrap_err().to_string();
    assert_eq!(refused("refit", "perhaps"), "refit must be true or false, found \"perhaps\"");
    assert_eq!(refused("score", "rmse"), "score must be one of log, crps, crps-original, found \"rmse\"");
}

#[test]
fn arrays_that_are_no_model_are_refused() {
    let (columns, y) = problem(200, 9);
    let model = fit(&settings().n_estimators(5), &columns, &y, None).unwrap();
    let parts = model.to_parts();
    let back = Boosted::from_parts(&parts, 3).unwrap();
    assert_eq!((&back.rounds, back.start), (&model.rounds, model.start));
    assert_eq!(predict(&back, &columns), predict(&model, &columns));

    let changes: [fn(&mut Parts); 14] = [
        |parts| parts.start[0] = f64::NAN,
        |parts| parts.start[2] = 0.0,
        |parts| parts.scales[0] = f32::INFINITY,
        |parts| parts.scales.push(1.0),
        |parts| parts.sizes[1] += 1,
        |parts| parts.sizes.iter_mut().for_each(|size| *size = 0),
        |parts| parts.features[0] = 3,
        |parts| parts.numbers[2] = f32::NAN,
        |parts| parts.children[0] = 0,
        |parts| parts.children[0] = 2,
        |parts| parts.children[1] = 1,
        |parts| parts.children[2] = u16::MAX,
        |parts| parts.missing[0] = 2,
        |parts| parts.importance[0] = -1.0,
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = parts.clone();
        change(&mut changed);
        let error = Boosted::from_parts(&changed, 3).expect_err(&format!("change {number}"));
        assert_eq!(error.kind(), ErrorKind::Model);
    }
    // Accepted settings can predict.
    let mut rng = Rng::new(10, 0);
    for _ in 0..2000 {
        let mut changed = parts.clone();
        for _ in 0..1 + rng.below(3) {
            let (tree, node) = (rng.below(changed.sizes.len()), rng.below(changed.children.len()));
            match rng.below(5) {
                0 => changed.sizes[tree] = rng.below(20) as u16,
                1 => changed.features[node] = rng.below(5) as u32,
                2 => changed.children[node] = rng.below(20) as u16,
                3 => changed.missing[node] = rng.below(3) as u16,
                _ => changed.numbers[node] = f32::from_bits(rng.bits() as u32),
            }
        }
        if let Ok(model) = Boosted::from_parts(&changed, 3) {
            predict(&model, &columns);
        }
    }
}
