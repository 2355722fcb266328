//! Censored targets: what methods learn from them, and which methods refuse them.

use negmm_dist::Distribution;
use std::sync::Arc;

use negmm::data::Dataset;
use negmm::train::{Callbacks, CpuEngine, train};
use negmm::{Method, Mixture, Rng};
use negmm_dist::math::lanes::Isa;
use negmm_dist::math::normal;

/// y = 2 x + noise with an sd of 0.5, right-censored at a limit above about 60 % of the rows.
fn censored(rows: usize, seed: u64) -> (Dataset, Vec<f32>, Vec<f32>) {
    let mut rng = Rng::new(seed, 0);
    let (mut data, mut lower, mut upper) = (Dataset::new(1), Vec::new(), Vec::new());
    for _ in 0..rows {
        let x = 2.0 * rng.uniform() - 1.0;
        let y = 2.0 * x + 0.5 * normal::quantile(rng.uniform());
        let limit = 1.2 * rng.uniform() - 0.2;
        data.push(&[x as f32], y.min(limit) as f32);
        lower.push(y.min(limit) as f32);
        upper.push(if y > limit { f32::INFINITY } else { y as f32 });
    }
    (data, lower, upper)
}

/// The same rows with x and y mirrored at 0, which does not change how y depends on x: what was right-censored is left-censored.
fn mirrored((data, lower, upper): (Dataset, Vec<f32>, Vec<f32>)) -> (Dataset, Vec<f32>, Vec<f32>) {
    let mut other = Dataset::new(1);
    (0..data.len()).for_each(|row| other.push(&[-data.x()[row * data.stride()]], -data.y()[row]));
    let negative = |ends: Vec<f32>| ends.into_iter().map(|end| -end).collect();
    (other, negative(upper), negative(lower))
}

fn method(name: &str, options: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name(name).unwrap();
    options.iter().for_each(|(option, value)| method.set(option, value).unwrap());
    method
}

#[test]
fn methods_of_the_energy_score_alone_refuse_censored_targets() {
    let (data, lower, upper) = censored(50, 1);
    let hidden = upper.iter().filter(|upper| upper.is_infinite()).count();
    assert!((10..30).contains(&hidden), "{hidden}");
    let data = Arc::new(data.with_intervals(lower, upper));
    let refused = |method: Method| method.plan(&data, 1).unwrap_err().to_string();
    assert_eq!(refused(method("sample-net", &[])), "sample-net cannot learn from censored targets");
    assert_eq!(
        refused(method("ensemble", &[("member", "sample-net")])),
        "sample-net cannot learn from censored targets"
    );
    assert_eq!(
        refused(method("ne-gmm", &[("eta", "0")])),
        "ne-gmm with eta 0 cannot learn from censored targets; use a larger eta"
    );
    assert!(refused(method("auto", &[("eta", "0")])).contains("eta 0"));
    assert_eq!(
        refused(method("ngboost", &[("score", "crps")])),
        "ngboost with the CRPS score cannot learn from censored targets; set score to log"
    );
    assert!(method("mdn", &[]).plan(&data, 1).is_ok());
    // Cells are no trouble to anybody.
    let y = data.y().to_vec();
    let cells =
        Dataset::clone(&data).with_intervals(y.iter().map(|y| y - 0.1).collect(), y.iter().map(|y| y + 0.1).collect());
    assert!(method("sample-net", &[]).plan(&Arc::new(cells), 1).is_ok());
}

/// Where the truth of [`censored`] is compared: from where everything is seen to where little is.
const PLACES: [f32; 5] = [-0.8, -0.4, 0.0, 0.3, 0.6];

/// How far predicted means and sds are from the truth, on average over the rows.
fn errors(method: &Method, data: Dataset) -> (f64, f64) {
    let plan = method.plan(&Arc::new(data), 1).unwrap();
    let trained = train(CpuEngine::all_cores(), &plan.jobs(), &Callbacks::nothing());
    let predictor = plan.finish(trained).unwrap().predictor;
    let mut rows = Dataset::new(1);
    PLACES.into_iter().for_each(|x| rows.push(&[x], 0.0));
    let predictions = predictor.predict(&rows, Isa::best()).unwrap();
    let error = |(x, row): (f32, Mixture<'_>)| ((row.mean() - 2.0 * f64::from(x)).abs(), (row.sd() - 0.5).abs());
    let errors = PLACES.into_iter().zip(predictions.mixtures().unwrap().rows()).map(error);
    let (mean, sd) = errors.fold((0.0, 0.0), |sum, error| (sum.0 + error.0, sum.1 + error.1));
    (mean / PLACES.len() as f64, sd / PLACES.len() as f64)
}

#[test]
fn what_is_hidden_is_learnt_from_intervals() {
    let network = [("hidden", "24"), ("epochs", "150"), ("components", "1")];
    let methods = [
        method("mdn", &network),
        method("ne-gmm", &network),
        method("beta-nll", &network[..2]),
        method("auto", &[("hidden", "24"), ("steps", "400"), ("folds", "3")]),
        method(
            "ngboost",
            &[("n-estimators", "1000"), ("learning-rate", "0.02"), ("max-depth", "1"), ("min-samples-leaf", "100")],
        ),
    ];
    let right = methods.iter().map(|method| (method, censored(1500, 7)));
    // Those of all kinds of members.
    let left = methods[3..].iter().map(|method| (method, mirrored(censored(1500, 7))));
    for (method, (data, lower, upper)) in right.chain(left) {
        let cut = errors(method, data.clone());
        let known = errors(method, data.with_intervals(lower, upper));
        let better = known.0 < cut.0 / 3.0 && known.1 < 0.6 * cut.1 && known.0 < 0.1;
        assert!(better, "{}: (mean, sd) are off by {known:?}, without intervals by {cut:?}", method.name());
    }
}
