//! Models of several targets.

use negmm::compare::{CompareOptions, Metric, Split, compare_joint};
use negmm::conformal::{CalibrationSet, CoverageGuarantee, Labels, SetKind};
use negmm::data::{Column, ColumnRoles};
use negmm::joint::{
    Chain, Combination, Copula, FittedJoint, JointForm, JointPart, JointPredictions, RegionKind, fit_joint,
    fit_joint_with,
};
use negmm::method::{Ensemble, Mdn, NeGmm, Pool};
use negmm::predict::JointQuery;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Interval, JointMixtures, JointModel, Loaded, Method, Model, Predictions, Query, Rng, Table};
use negmm_dist::math::normal;

/// Two targets around (x, -x) whose errors have a correlation of 0.8, and a third that is independent of them.
fn table(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let mut columns: [Vec<f64>; 4] = Default::default();
    for _ in 0..rows {
        let (x, common) = (draw(), draw());
        let values = [x, x + 0.5 * common, -x + 0.5 * (0.8 * common + 0.6 * draw()), 3.0 + draw()];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let names = ["x", "a", "b", "c"];
    Table::new(names.into_iter().zip(columns.map(Column::Numbers)).collect()).unwrap()
}

fn method() -> Method {
    let mut method = Method::from(NeGmm::default()).for_several_targets();
    method.configure(&[("epochs", "60"), ("components", "3"), ("hidden", "16")]).unwrap();
    method
}

#[test]
fn dependence_is_learnt_and_answers_follow_from_it() {
    let table = table(1500, 1);
    let model = fit_joint(&table, &["a", "b", "c"], &method()).unwrap();
    let predictions = model.predict(&table).unwrap();
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let correlation = |first: usize, second: usize| {
        mean(predictions.mixtures().rows().map(|row| row.correlation()[first * 3 + second]).collect())
    };
    assert!((correlation(0, 1) - 0.8).abs() < 0.1, "{}", correlation(0, 1));
    assert!(correlation(0, 2).abs() < 0.15, "{}", correlation(0, 2));
    // The sd of a - b given x is 0.5 sqrt(2 - 1.6); independent targets would have 0.71.
    let difference = Combination::parse("d = a - b", &predictions.names()).unwrap();
    let sd = mean(predictions.combination(&difference).sd());
    assert!((sd - 0.5 * 0.4f64.sqrt()).abs() < 0.07, "{sd}");
    // Knowing a halves the spread of b: 0.5 · 0.6.
    let known: Vec<f64> = table.numbers("a").unwrap().unwrap().to_vec();
    let conditional = predictions.conditional(&[0], &known).unwrap();
    assert_eq!(conditional.names(), ["b", "c"]);
    let (before, after) = (mean(predictions.marginal(1).sd()), mean(conditional.marginal(0).sd()));
    assert!((before - 0.5).abs() < 0.08 && (after - 0.3).abs() < 0.06, "{before} {after}");
    let scores = model.record().validation.as_ref().unwrap();
    assert!(scores.energy < 0.8 * model.record().baseline.as_ref().unwrap().energy);
    assert!((scores.energy / scores.energy_by_directions - 1.0).abs() < 0.05);
    // Joint draws have the correlation of the prediction.
    let draws = predictions.sample(1, 3, 0);
    let residual = |target: usize| {
        let mean = predictions.marginal(target).mean();
        draws.iter().skip(target).step_by(3).zip(mean).map(|(y, mean)| y - mean).collect::<Vec<f64>>()
    };
    let (a, b) = (residual(0), residual(1));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    assert!((dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt() - 0.8).abs() < 0.12);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_files_come_back() {
    let table = table(200, 2);
    let fitted = |threads: usize| -> FittedJoint {
        let engine = CpuEngine::new(threads);
        let options = FitOptions::default().seed(4).engine(&engine);
        fit_joint_with(&table, &["a", "b"], &method(), &options).unwrap()
    };
    let (one, three) = (fitted(1), fitted(3));
    let bytes = one.model.to_bytes().unwrap();
    assert_eq!(bytes, three.model.to_bytes().unwrap());
    let again = JointModel::from_bytes(&bytes).unwrap();
    assert_eq!(again, one.model);
    assert!(matches!(Loaded::from_bytes(&bytes).unwrap(), Loaded::Joint(_)));
    assert_eq!(again.predict(&table).unwrap(), one.model.predict(&table).unwrap());
    let refused = Model::from_bytes(&bytes).unwrap_err().to_string();
    assert_eq!(refused, "this file holds a model of several targets, not of one");
    // Any damage is found.
    for at in [bytes.len() / 2, bytes.len() - 3] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Loaded::from_bytes(&damaged).is_err());
    }
}

#[test]
fn mdn_and_ensembles_predict_jointly_too() {
    let table = table(120, 3);
    let mdn = Method::from(Mdn::default());
    let pooled = Method::from(Ensemble::default().ensemble_size(2).pool(Pool::Gaussian));
    for mut method in [mdn, Method::from(Ensemble::default().ensemble_size(2)), pooled] {
        method.set("epochs", "3").unwrap();
        let model = fit_joint(&table, &["a", "b"], &method.clone().for_several_targets()).unwrap();
        let predictions = model.predict(&table).unwrap();
        let gaussian = matches!(&method, Method::Ensemble(ensemble) if ensemble.pool == Pool::Gaussian);
        assert_eq!(predictions.mixtures().components() == 1, gaussian);
        assert_eq!(JointModel::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    }
}

#[test]
fn rows_that_lack_some_targets_are_learnt_from() {
    let complete = table(600, 5);
    let mut a = complete.numbers("a").unwrap().unwrap().to_vec();
    a.iter_mut().enumerate().filter(|(row, _)| row % 2 == 0).for_each(|(_, a)| *a = f64::NAN);
    let (x, b) = (complete.numbers("x").unwrap().unwrap(), complete.numbers("b").unwrap().unwrap());
    let columns = [("x", x.to_vec()), ("a", a), ("b", b.to_vec())];
    let partial = Table::new(columns.map(|(name, values)| (name, Column::Numbers(values))).into()).unwrap();
    let options = FitOptions::default();
    let fitted = fit_joint_with(&partial, &["a", "b"], &method(), &options).unwrap();
    assert!(fitted.warnings.iter().any(|warning| warning.to_string().starts_with("300 of 600 rows lack some targets")));
    let scores = fitted.model.record().validation.clone().unwrap();
    assert!(scores.rows < 90 && scores.crps[1] < 0.45, "{scores:?}");
    let predictions = fitted.model.predict(&complete).unwrap();
    let sd = predictions.marginal(0).sd().iter().sum::<f64>() / 600.0;
    assert!((sd - 0.5).abs() < 0.15, "{sd}");
}

#[test]
fn what_cannot_be_predicted_together_is_refused() {
    let table = table(60, 6);
    let refused = |targets: &[&str], method: &Method| fit_joint(&table, targets, method).unwrap_err().to_string();
    assert_eq!(refused(&["a", "a"], &method()), "the target \"a\" is named twice");
    assert_eq!(refused(&[], &method()), "a joint model has at least 1 target");
    let boosted = Method::by_name("ngboost").unwrap();
    let message = "method ngboost predicts one target: for several use auto, ne-gmm, mdn or ensemble";
    assert_eq!(refused(&["a", "b"], &boosted), message);
    let sum: Vec<f64> = {
        let (a, b) = (table.numbers("a").unwrap().unwrap(), table.numbers("b").unwrap().unwrap());
        a.iter().zip(b.iter()).map(|(a, b)| a + b).collect()
    };
    let more = |name: &str, values: Vec<f64>| {
        let more = Table::new(vec![(name, Column::Numbers(values))]).unwrap();
        table.renamed_with(table.names().to_vec(), more).unwrap()
    };
    let refused = |table: &Table, targets: &[&str]| fit_joint(table, targets, &method()).unwrap_err().to_string();
    let combination = "the target \"s\" is a linear combination of the other targets: leave it out";
    assert_eq!(refused(&more("s", sum), &["a", "b", "s"]), combination);
    let twice: Vec<f64> = table.numbers("a").unwrap().unwrap().iter().map(|a| 2.0 * a + 1.0).collect();
    let dependent = "the targets \"a\" and \"t\" determine each other exactly: leave one out";
    assert_eq!(refused(&more("t", twice), &["a", "t"]), dependent);
    let constant = "the target \"k\" is 2 in every row: leave it out";
    assert_eq!(refused(&more("k", vec![2.0; 60]), &["a", "k"]), constant);
    let roles = ColumnRoles::default().features(["a"]);
    let options = FitOptions::default().inputs(roles);
    assert!(fit_joint_with(&table, &["a", "b"], &method(), &options).is_err());
}

#[test]
fn auto_pools_forms_whose_marginals_are_those_of_their_models() {
    let table = table(160, 8);
    let mut method = Method::default().for_several_targets();
    method.configure(&[("preset", "fast"), ("steps", "120")]).unwrap();
    let fitted = |threads: usize| {
        let engine = CpuEngine::new(threads);
        let roles = ColumnRoles::default().ignore(["c"]);
        let options = FitOptions::default().engine(&engine).inputs(roles);
        fit_joint_with(&table, &["a", "b"], &method, &options).unwrap().model
    };
    let model = fitted(1);
    assert_eq!(model.to_bytes().unwrap(), fitted(3).to_bytes().unwrap());
    assert_eq!(JointModel::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    assert!((model.parts().iter().map(|part| part.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    let names: Vec<&str> = model.record().forms.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["joint networks", "copula", "chain", "linear", "forest", "constant"]);
    for part in model.parts() {
        let alone = model.with_parts(vec![JointPart { weight: 1.0, form: part.form.clone() }]).unwrap();
        let predictions = alone.predict(&table).unwrap();
        let (first, name) = match &part.form {
            JointForm::Copula(copula) => (&copula.models[0], "copula"),
            JointForm::Chain(chain) => (&chain.links[0], "chain"),
            _ => continue,
        };
        let (own, exact) = (predictions.marginal(0), first.predict(&table).unwrap());
        let scale = model.sigma_scales()[0];
        for row in 0..table.rows() {
            let apart = (own.mean()[row] - exact.mean()[row]).abs() / exact.sd()[row];
            assert!(apart < 0.1, "{name}, row {row}: {apart}");
        }
        // Not the sd, which far tails decide.
        let widths = |predictions: &Predictions| {
            let Interval { lower, upper } = predictions.interval(0.9).unwrap();
            upper.iter().zip(&lower).map(|(upper, lower)| upper - lower).sum::<f64>()
        };
        let ratio = widths(&own) / widths(&exact);
        assert!((ratio - 1.0).abs() < 0.1 + (scale - 1.0).abs(), "{name}: {ratio}");
    }
    assert!(model.with_parts(Vec::new()).is_err());
}

#[test]
fn targets_with_atoms_are_left_to_the_copula() {
    let complete = table(160, 9);
    let b: Vec<f64> = complete.numbers("b").unwrap().unwrap().iter().map(|b| b.max(0.0)).collect();
    let table = complete.with_columns([("b", Column::Numbers(b))]).unwrap();
    let mut method = Method::default().for_several_targets();
    method.configure(&[("preset", "fast"), ("steps", "60")]).unwrap();
    let model = fit_joint(&table, &["a", "b"], &method).unwrap();
    assert!(model.parts().iter().all(|part| part.form.name() == "copula"));
    let zero = model.predict(&table).unwrap().marginal(1).point_probability(0.0).unwrap();
    let mean = zero.iter().sum::<f64>() / 160.0;
    assert!((mean - 0.5).abs() < 0.15, "{mean}");
}

#[test]
fn columns_are_those_of_one_target_with_its_name_before_them() {
    let table = table(150, 7);
    let mut quick = method();
    quick.set("epochs", "3").unwrap();
    let model = fit_joint(&table, &["a", "b"], &quick).unwrap();
    let predictions = model.predict(&table).unwrap();
    let mut query = JointQuery::new(Query::default().quantiles([0.9]).draws(1));
    query.combinations = vec!["s = a + b".into()];
    query.correlation = true;
    query.check(&model).unwrap();
    let columns = query.columns(&predictions, &[], &[], None, (0, &[])).unwrap();
    let expected =
        "a_mean a_sd a_q0.9 b_mean b_sd b_q0.9 s_mean s_sd s_q0.9 correlation_a_b a_draw_1 b_draw_1 s_draw_1";
    assert_eq!(columns.names(), expected.split(' ').collect::<Vec<_>>());
    assert_eq!(columns.floats("b_q0.9").unwrap(), predictions.marginal(1).quantile(0.9).unwrap());
    let sum = columns.floats("s_draw_1").unwrap();
    let (a, b) = (columns.floats("a_draw_1").unwrap(), columns.floats("b_draw_1").unwrap());
    assert!((0..150).all(|row| (sum[row] - a[row] - b[row]).abs() < 1e-12));
    // Draws do not depend on the batches.
    let second = query.columns(&predictions.select(&[100]), &[], &[], None, (100, &[])).unwrap();
    assert_eq!(second.floats("a_draw_1").unwrap()[0], a[100]);
}

/// Predictions of rows × two normal targets with these sds and this correlation, in the units of a model's targets.
fn normals(model: &JointModel, rows: usize, sds: [f64; 2], correlation: f64) -> JointPredictions {
    let cross = correlation * sds[0] * sds[1];
    let covariance = [sds[0] * sds[0], cross, cross, sds[1] * sds[1]].repeat(rows);
    let all = JointMixtures::from_covariances(2, 1, vec![1.0; rows], vec![0.0; 2 * rows], &covariance).unwrap();
    JointPredictions::new(all, model.targets().to_vec().into())
}

#[test]
fn regions_of_a_normal_prediction_are_its_ellipses() {
    let mut quick = method();
    quick.set("epochs", "2").unwrap();
    let model = fit_joint(&table(60, 11), &["a", "b"], &quick).unwrap();
    let predictions = normals(&model, 200, [2.0, 0.5], 0.6);
    for coverage in [0.5, 0.9] {
        // The squared distance of two normal variables is exponential with mean 2.
        let radius = (-2.0 * (1.0f64 - coverage).ln()).sqrt();
        let area = std::f64::consts::PI * radius * radius * 2.0 * 0.5 * (1.0f64 - 0.36).sqrt();
        let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
        let ellipsoids = predictions.regions(RegionKind::Ellipsoid, coverage, 0).unwrap();
        let regions = predictions.regions(RegionKind::HighestDensity, coverage, 0).unwrap();
        let found = mean(ellipsoids.iter().map(|region| region.border).collect());
        assert!((found / radius - 1.0).abs() < 0.02, "{coverage}: {found} {radius}");
        for list in [&ellipsoids, &regions] {
            let volume = mean(list.iter().map(|region| region.volume).collect());
            assert!((volume / area - 1.0).abs() < 0.05, "{coverage}: {volume} {area}");
        }
        // Of one Gaussian both are the same set.
        let y = predictions.sample(1, 9, 0);
        let at = |kind| predictions.region_statistic(kind, &y).unwrap();
        let (density, distance) = (at(RegionKind::HighestDensity), at(RegionKind::Ellipsoid));
        let inside: Vec<bool> =
            (0..200).map(|row| regions[row].contains(RegionKind::HighestDensity, density[row])).collect();
        let other: Vec<bool> =
            (0..200).map(|row| ellipsoids[row].contains(RegionKind::Ellipsoid, distance[row])).collect();
        assert_eq!(inside, other);
        let held = inside.iter().filter(|inside| **inside).count() as f64 / 200.0;
        assert!((held - coverage).abs() < 0.09, "{held}");
    }
    assert!(predictions.regions(RegionKind::Ellipsoid, 1.0, 0).is_err());
    assert!(predictions.region_tails(RegionKind::Ellipsoid, &[0.0], 0).is_err());
}

#[test]
fn conformal_regions_keep_their_coverage_whatever_the_model_is() {
    let mut quick = method();
    quick.set("epochs", "2").unwrap();
    let model = fit_joint(&table(60, 12), &["a", "b"], &quick).unwrap();
    // Targets are correlated and have sds of 1; the model knows neither.
    let truth = normals(&model, 600, [1.0, 1.0], 0.8);
    let wrong = normals(&model, 600, [0.4, 0.7], -0.3);
    for kind in [RegionKind::HighestDensity, RegionKind::Ellipsoid] {
        let mut held = 0.0;
        let repeats = 30;
        for repeat in 0..repeats {
            let y = truth.sample(1, 100 + repeat, 0);
            let (known, new): (Vec<usize>, Vec<usize>) = ((0..300).collect(), (300..600).collect());
            let mut set = CalibrationSet::default();
            wrong.select(&known).add_to(&mut set, &y[..600], Labels::default()).unwrap();
            let calibration = set.calibration(None, None).unwrap();
            let own = wrong.select(&new);
            let labels = Labels::default();
            let regions = own.conformal_regions(kind, 0.9, (&calibration, &labels), 300).unwrap();
            let at = own.region_statistic(kind, &y[600..]).unwrap();
            held += regions.iter().zip(at).filter(|(region, at)| region.contains(kind, *at)).count() as f64 / 300.0;
        }
        let coverage = held / repeats as f64;
        assert!((coverage - 0.9).abs() < 0.02, "{kind:?}: {coverage}");
        let plain = wrong.regions(kind, 0.9, 0).unwrap();
        let at = wrong.region_statistic(kind, &truth.sample(1, 7, 0)).unwrap();
        let plain = plain.iter().zip(at).filter(|(region, at)| region.contains(kind, *at)).count() as f64 / 600.0;
        assert!(plain < 0.6, "{plain}");
    }
    let mut set = CalibrationSet::default();
    wrong.add_to(&mut set, &truth.sample(1, 5, 0), Labels::default()).unwrap();
    let calibrated = model.calibrated(set.calibration(None, None).unwrap());
    let again = JointModel::from_bytes(&calibrated.to_bytes().unwrap()).unwrap();
    assert_eq!(again, calibrated);
    let guarantees = again.calibration().unwrap().guarantees(SetKind::Ellipsoids, 0.9);
    assert!(matches!(guarantees[0].guarantee.kind, CoverageGuarantee::Split { bound } if bound > 0.87));
    let mut missing = vec![0.0; 1200];
    missing[7] = f64::NAN;
    let error = wrong.add_to(&mut CalibrationSet::default(), &missing, Labels::default()).unwrap_err();
    assert!(error.to_string().contains("need all targets"), "{error}");
}

#[test]
fn methods_of_several_targets_are_compared_on_the_same_splits() {
    let table = table(150, 13);
    let mut mdn = Method::from(Mdn::default()).for_several_targets();
    mdn.configure(&[("epochs", "10"), ("components", "2"), ("hidden", "8")]).unwrap();
    let methods = [method(), mdn];
    let splits = Split::folds(150, 3, 1).unwrap();
    let roles = ColumnRoles::default();
    let run = |threads| {
        let engine = CpuEngine::new(threads);
        let options = CompareOptions::new(&roles).engine(&engine);
        compare_joint(&table, &["a", "b"], &methods, &splits, &options).unwrap()
    };
    let (one, two) = (run(1), run(2));
    for (a, b) in one.scores.iter().flatten().zip(two.scores.iter().flatten()) {
        assert_eq!(a.scores, b.scores);
    }
    let metrics = one.metrics();
    assert_eq!(metrics[0], Metric::Energy);
    assert!(metrics.contains(&Metric::Nll) && !metrics.contains(&Metric::Crps));
    assert!(one.summary(0, Metric::Energy).mean < one.summary(1, Metric::Energy).mean);
    let options = CompareOptions::new(&roles);
    let error = compare_joint(&table, &["a", "b"], &[Method::by_name("ngboost").unwrap()], &splits, &options);
    assert!(error.unwrap_err().to_string().contains("predicts one target"));
    let error = compare_joint(&table, &["a", "a"], &methods, &splits, &options).unwrap_err().to_string();
    assert!(error.contains("named twice"), "{error}");
}

#[test]
fn a_forest_recalls_rows_that_networks_do_not() {
    // The targets are noise that follows from which of 40 groups of rows it is.
    let mut rng = Rng::new(5, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let groups: Vec<[f64; 2]> = (0..40).map(|_| [2.0 * draw(), 2.0 * draw()]).collect();
    let mut columns: [Vec<f64>; 3] = Default::default();
    for row in 0..400 {
        let own = groups[row * 7 % 40];
        let values = [(row * 7 % 40) as f64, own[0] + 0.1 * draw(), own[1] + 0.1 * draw()];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let names = ["x", "a", "b"];
    let table = Table::new(names.into_iter().zip(columns.map(Column::Numbers)).collect()).unwrap();
    let mut method = Method::default().for_several_targets();
    method.configure(&[("preset", "fast"), ("steps", "30")]).unwrap();
    let model = fit_joint(&table, &["a", "b"], &method).unwrap();
    let forms = &model.record().forms;
    let energy = |name: &str| forms.iter().find(|(form, _)| form == name).unwrap().1;
    assert!(energy("forest") < 0.5 * energy("joint networks"), "{forms:?}");
    let forest = model.parts().iter().find(|part| matches!(part.form, JointForm::Forest { .. })).unwrap();
    assert!(forest.weight > 0.3, "{}", forest.weight);
    assert_eq!(JointModel::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
}

#[test]
fn targets_that_no_row_has_together_are_refused() {
    let complete = table(60, 14);
    let column = |name: &str, kept: usize| {
        let values = complete.numbers(name).unwrap().unwrap().to_vec();
        let known = |(row, value): (usize, f64)| if row % 2 == kept { value } else { f64::NAN };
        Column::Numbers(values.into_iter().enumerate().map(known).collect())
    };
    let table = complete.with_columns([("a", column("a", 0)), ("b", column("b", 1))]).unwrap();
    for method in [method(), Method::default().for_several_targets()] {
        let error = fit_joint(&table, &["a", "b"], &method).unwrap_err().to_string();
        assert!(error.contains("at least 10 rows that have all targets, found 0"), "{error}");
    }
}

/// `auto` of several targets with a short training.
fn quick_auto(steps: &str) -> Method {
    let mut method = Method::default().for_several_targets();
    method.configure(&[("preset", "fast"), ("steps", steps)]).unwrap();
    method
}

#[test]
fn of_many_rows_the_forms_are_compared_by_their_own_folds() {
    let complete = table(2100, 15);
    let mut a = complete.numbers("a").unwrap().unwrap().to_vec();
    a.iter_mut().step_by(10).for_each(|a| *a = f64::NAN);
    let table = complete.with_columns([("a", Column::Numbers(a))]).unwrap();
    let roles = ColumnRoles::default().ignore(["c"]);
    let fitted = |threads: usize| {
        let engine = CpuEngine::new(threads);
        let options = FitOptions::default().engine(&engine).inputs(roles.clone());
        fit_joint_with(&table, &["a", "b"], &quick_auto("60"), &options).unwrap()
    };
    let one = fitted(1);
    assert_eq!(one.model.to_bytes().unwrap(), fitted(3).model.to_bytes().unwrap());
    assert_eq!(JointModel::from_bytes(&one.model.to_bytes().unwrap()).unwrap(), one.model);
    let names: Vec<&str> = one.model.record().forms.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["joint networks", "copula", "linear", "constant", "forest"]);
    // Rows without a target are not scored; the truth is linear.
    assert!(one.held_out.len() <= 1890 && one.held_out.iter().all(|row| row % 10 != 0));
    let energy = |name: &str| one.model.record().forms.iter().find(|(form, _)| form == name).unwrap().1;
    assert!(energy("linear") < 0.7 * energy("constant"), "{:?}", one.model.record().forms);
    let scores = one.model.record().validation.clone().unwrap();
    assert!((scores.coverage[1] - 0.9).abs() < 0.05, "{scores:?}");
}

#[test]
fn where_inputs_say_nothing_the_constant_predicts() {
    let mut rng = Rng::new(16, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let mut columns: [Vec<f64>; 4] = Default::default();
    for _ in 0..120 {
        let (common, more) = (draw(), draw());
        let values = [draw(), draw(), common, 0.6 * common + 0.8 * more];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let table = Table::new(["x", "z", "a", "b"].into_iter().zip(columns.map(Column::Numbers)).collect()).unwrap();
    let model = fit_joint(&table, &["a", "b"], &quick_auto("60")).unwrap();
    assert!(
        matches!(model.parts(), [JointPart { form: JointForm::Constant { .. }, .. }]),
        "{:?}",
        model.record().forms
    );
    assert_eq!(JointModel::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    let predictions = model.predict(&table).unwrap();
    let correlation = predictions.mixtures().row(0).correlation()[1];
    assert!((correlation - 0.6).abs() < 0.15, "{correlation}");
}

#[test]
fn targets_may_be_alike_in_the_training_rows_of_a_fold() {
    // A target with two other values, which one fold holds out together, and whole pairs of targets that agree but for a few rows.
    let complete = table(60, 17);
    let (a, b) = (complete.numbers("a").unwrap().unwrap(), complete.numbers("b").unwrap().unwrap());
    let rare: Vec<f64> = (0..60).map(|row| if row == 7 { 1.0 } else { 0.0 }).collect();
    let nearly: Vec<f64> = (0..60).map(|row| if row == 7 { b[row] } else { a[row] }).collect();
    for (name, values) in [("rare", rare), ("nearly", nearly)] {
        let more = Table::new(vec![(name, Column::Numbers(values))]).unwrap();
        let table = complete.renamed_with(complete.names().to_vec(), more).unwrap();
        let options = FitOptions::default().inputs(ColumnRoles::default().ignore(["b", "c"]));
        let fitted = fit_joint_with(&table, &["a", name], &quick_auto("30"), &options).unwrap();
        // The fold that holds out row 7 is not scored: it could not learn.
        assert!(fitted.held_out.len() < 60 && !fitted.held_out.contains(&7), "{name}: {:?}", fitted.held_out);
    }
}

#[test]
fn a_combination_of_targets_is_found_where_some_are_missing() {
    let complete = table(60, 18);
    let (a, b) = (complete.numbers("a").unwrap().unwrap(), complete.numbers("b").unwrap().unwrap());
    let sum: Vec<f64> = (0..60).map(|row| if row == 3 { f64::NAN } else { 5.0 + a[row] - 2.0 * b[row] }).collect();
    let more = Table::new(vec![("s", Column::Numbers(sum))]).unwrap();
    let table = complete.renamed_with(complete.names().to_vec(), more).unwrap();
    let error = fit_joint(&table, &["a", "b", "s"], &method()).unwrap_err().to_string();
    assert_eq!(error, "the target \"s\" is a linear combination of the other targets: leave it out");
}

#[test]
fn twenty_targets_have_covariances_of_low_rank() {
    // Each target is a common factor and noise of its own.
    let mut rng = Rng::new(19, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let names: Vec<String> = (0..20).map(|target| format!("y{target}")).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 21];
    for _ in 0..400 {
        let (x, common) = (draw(), draw());
        columns[20].push(x);
        columns[..20].iter_mut().for_each(|column| column.push(x + common + 0.5 * draw()));
    }
    let all =
        names.iter().map(String::as_str).chain(["x"]).zip(columns).map(|(name, list)| (name, Column::Numbers(list)));
    let table = Table::new(all.collect()).unwrap();
    let targets: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut method = method();
    method.set("epochs", "40").unwrap();
    let model = fit_joint(&table, &targets, &method).unwrap();
    let JointForm::Networks { head, .. } = &model.parts()[0].form else { panic!("networks") };
    assert_eq!((head.targets, head.rank), (20, Some(2)));
    assert_eq!(JointModel::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    let predictions = model.predict(&table).unwrap();
    let correlation = predictions.mixtures().rows().map(|row| row.correlation()[1]).sum::<f64>() / 400.0;
    // 1 / 1.25 given x.
    assert!((correlation - 0.8).abs() < 0.15, "{correlation}");
    let scores = model.record().validation.as_ref().unwrap();
    assert!(scores.energy < 0.85 * model.record().baseline.as_ref().unwrap().energy, "{scores:?}");
}

/// A target with two branches, and one that follows it in a curve.
fn curved(rows: usize) -> Table {
    let mut rng = Rng::new(20, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let mut columns: [Vec<f64>; 3] = Default::default();
    for row in 0..rows {
        let x = draw();
        let a = x + if row % 3 == 0 { -1.5 } else { 1.5 } + 0.4 * draw();
        columns.iter_mut().zip([x, a, a * a / 2.0 + 0.4 * draw()]).for_each(|(column, value)| column.push(value));
    }
    Table::new(["x", "a", "b"].into_iter().zip(columns.map(Column::Numbers)).collect()).unwrap()
}

/// A number that follows from both targets.
type Answer = fn(f64, f64) -> f64;

/// Probabilities of the answers of one row, from draws of (a, b), draws × 2, and from a prediction.
fn largest_difference(draws: &[f64], predictions: &JointPredictions) -> f64 {
    let probability = |of: Answer, threshold: f64| {
        let below = draws.chunks_exact(2).filter(|pair| of(pair[0], pair[1]) < threshold).count();
        below as f64 / (draws.len() / 2) as f64
    };
    let answers: [(&str, Answer); 4] =
        [("s = a", |a, _| a), ("s = b", |_, b| b), ("s = a + b", |a, b| a + b), ("s = a - b", |a, b| a - b)];
    let mut largest: f64 = 0.0;
    for (text, of) in answers {
        let own = predictions.combination(&Combination::parse(text, &["a", "b"]).unwrap());
        for threshold in [-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0] {
            let apart = own.below(threshold).unwrap()[0] - probability(of, threshold);
            largest = largest.max(apart.abs());
        }
    }
    largest
}

#[test]
fn expansions_into_nodes_are_near_the_copula_and_the_chain_themselves() {
    const DRAWS: usize = 20_000;
    let table = curved(300);
    let model_of = |target: &str, ignored: &[&str]| -> Model {
        let mut method = Method::default();
        method.configure(&[("preset", "fast"), ("steps", "200")]).unwrap();
        let options = FitOptions::default().inputs(ColumnRoles::default().ignore(ignored.to_vec()));
        negmm::fit_with(&table, target, &method, &options).unwrap().model
    };
    let (first, second, linked) = (model_of("a", &["b"]), model_of("b", &["a"]), model_of("b", &[]));
    let mut quick = method();
    quick.set("epochs", "1").unwrap();
    let model = fit_joint(&table, &["a", "b"], &quick).unwrap();
    let alone = |form: JointForm| model.with_parts(vec![JointPart { weight: 1.0, form }]).unwrap();
    let chain = alone(JointForm::Chain(Chain { links: vec![first.clone(), linked.clone()] }));
    let copula = Copula { models: vec![first.clone(), second.clone()], correlation: vec![1.0, 0.6, 0.6, 1.0] };
    let copula = alone(JointForm::Copula(copula));
    for row in [0, 7, 50] {
        let one = table.select_rows(&[row]);
        let many = table.select_rows(&[row; DRAWS]);
        // The chain: a from its model, then b from the other given a.
        let a = first.predict(&one).unwrap().sample(DRAWS, 1, 0);
        let given = many.with_columns([("a", Column::Numbers(a.clone()))]).unwrap();
        let b = linked.predict(&given).unwrap().sample(1, 2, 0);
        let draws: Vec<f64> = a.iter().zip(&b).flat_map(|(a, b)| [*a, *b]).collect();
        let apart = largest_difference(&draws, &chain.predict(&one).unwrap());
        assert!(apart < 0.06, "chain, row {row}: {apart}");
        // The copula: quantiles at correlated levels.
        let marginals = [first.predict(&one).unwrap(), second.predict(&one).unwrap()];
        let mut rng = Rng::new(21, row as u64);
        let mut draw = move || normal::quantile(rng.uniform());
        let draws: Vec<f64> = (0..DRAWS / 4)
            .flat_map(|_| {
                let z = draw();
                let levels = [z, 0.6 * z + 0.8 * draw()].map(normal::cdf);
                [0, 1].map(|target| marginals[target].quantile(levels[target]).unwrap()[0])
            })
            .collect();
        let apart = largest_difference(&draws, &copula.predict(&one).unwrap());
        assert!(apart < 0.04, "copula, row {row}: {apart}");
    }
}
