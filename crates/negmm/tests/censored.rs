//! Targets of which intervals are known: what methods learn from them, and which refuse them.

use std::sync::Arc;

use negmm::data::Dataset;
use negmm::math::normal;
use negmm::{Method, Rng};

/// y = 2 x + noise with an sd of 0.5, of which nothing is seen above a limit that hides about 40 % of the rows.
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
    assert!(method("mdn", &[]).plan(&data, 1).is_ok());
    // Cells are no trouble to anybody.
    let y = data.y().to_vec();
    let cells =
        Dataset::clone(&data).with_intervals(y.iter().map(|y| y - 0.1).collect(), y.iter().map(|y| y + 0.1).collect());
    assert!(method("sample-net", &[]).plan(&Arc::new(cells), 1).is_ok());
}
