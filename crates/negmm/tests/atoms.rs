//! Atoms: networks learn their probabilities, and predictions have them exactly.

use std::sync::Arc;

use negmm::data::Dataset;
use negmm::method::FitOutput;
use negmm::train::{Callbacks, CpuEngine, train};
use negmm_dist::math::lanes::Isa;
use negmm_dist::math::normal;

use negmm::{Method, Rng};

const ATOM: f32 = -0.7;

/// Half of the rows with x above 0.5 and one in ten of those with x below -0.5 have the value at the atom, the rest are normal around x.
fn with_atom(rows: usize) -> Arc<Dataset> {
    let mut rng = Rng::new(4, 0);
    let mut data = Dataset::new(1);
    for _ in 0..rows {
        let x = (0.5 + 0.5 * rng.uniform()) * if rng.uniform() < 0.5 { 1.0 } else { -1.0 };
        let probability = if x > 0.0 { 0.5 } else { 0.1 };
        let y = if rng.uniform() < probability { ATOM } else { (x + 0.4 * normal::quantile(rng.uniform())) as f32 };
        data.push(&[x as f32], y);
    }
    Arc::new(data.with_atoms(vec![ATOM]))
}

fn learn(method: &Method, data: &Arc<Dataset>) -> FitOutput {
    let plan = method.plan(data, 1).unwrap();
    let trained = train(CpuEngine::all_cores(), &plan.jobs(), &Callbacks::nothing());
    plan.finish(trained).unwrap()
}

#[test]
fn networks_learn_how_probable_an_atom_is() {
    let data = with_atom(1000);
    let mut rows = Dataset::new(1);
    [-0.9, -0.6, 0.6, 0.9].into_iter().for_each(|x| rows.push(&[x], 0.0));
    let settings = [
        ("mdn", vec![("components", "3"), ("hidden", "24"), ("epochs", "60")]),
        ("ne-gmm", vec![("components", "3"), ("hidden", "24"), ("epochs", "60")]),
        ("auto", vec![("components", "3"), ("hidden", "24"), ("steps", "300"), ("folds", "3")]),
    ];
    for (name, options) in settings {
        let mut method = Method::by_name(name).unwrap();
        options.iter().for_each(|(option, value)| method.set(option, value).unwrap());
        let learnt = learn(&method, &data);
        let predictions = learnt.predictor.predict(&rows, Isa::best()).unwrap();
        let mixtures = predictions.mixtures().unwrap();
        assert_eq!(Some(mixtures.components()), learnt.predictor.components());
        for (row, mixture) in mixtures.rows().enumerate() {
            let atoms: Vec<usize> = (0..mixtures.components()).filter(|k| mixture.sds[*k] == 0.0).collect();
            // In a pool the empirical distribution and the tails have further components.
            assert!(name == "auto" || atoms.len() * 4 == mixtures.components(), "{name}");
            assert!(atoms.iter().all(|k| mixture.means[*k] == f64::from(ATOM)), "{name}");
            let probability: f64 = atoms.iter().map(|k| mixture.weights[*k]).sum();
            let expected = [0.1, 0.1, 0.5, 0.5][row];
            assert!((probability - expected).abs() < 0.1, "{name}, row {row}: {probability} instead of {expected}");
        }
    }
}
