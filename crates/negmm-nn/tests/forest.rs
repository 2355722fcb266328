//! Forests: repeated rows, noise, files.

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::Dataset;
use negmm_nn::forest::{Forest, ForestConfig, TargetBins, read_forest, write_forest};
use negmm_nn::tensors::{Tensors, to_bytes};

const CONFIG: ForestConfig =
    ForestConfig { n_estimators: 20, min_samples_leaf: 2, max_features: 0.5, max_samples: 16_000 };

/// Two inputs; the target is a step of the first, and every row is there twice.
fn steps(rows: usize) -> Dataset {
    let mut rng = Rng::new(1, 0);
    let mut data = Dataset::new(2);
    for _ in 0..rows / 2 {
        let x = [rng.uniform() as f32, rng.uniform() as f32];
        let y = (5.0 * x[0]).floor();
        (0..2).for_each(|_| data.push(&x, y));
    }
    data
}

fn grown(data: &Dataset, bins: usize, seed: u64) -> Forest {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    Forest::grow(&CONFIG, data, &rows, &TargetBins::new(data, &rows, bins), seed)
}

fn weights(forest: &Forest, data: &Dataset) -> Vec<f64> {
    forest.predict(data).unwrap()
}

#[test]
fn recalls_repeated_rows() {
    let data = steps(400);
    let forest = grown(&data, 32, 1);
    assert_eq!(forest.components.len(), 5);
    for (row, weights) in weights(&forest, &data).chunks_exact(5).enumerate() {
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(weights[data.y()[row] as usize] > 0.9, "{row} {weights:?}");
    }
}

#[test]
fn weights_are_the_means_of_the_leaves_that_each_row_reaches_alone() {
    let mut rng = Rng::new(4, 0);
    let (mut train, mut data) = (Dataset::new(19), Dataset::new(19));
    for row in 0..403 {
        let mut x: Vec<f32> = (0..19).map(|_| rng.uniform() as f32).collect();
        if row < 200 {
            train.push(&x, rng.uniform() as f32);
        } else {
            // A missing number is on the left of every split.
            x[rng.below(19)] = f32::NAN;
            data.push(&x, 0.0);
        }
    }
    let forest = grown(&train, 16, 1);
    let width = forest.components.len();
    for (row, weights) in weights(&forest, &data).chunks_exact(width).enumerate() {
        let x = &data.x()[row * data.stride()..][..19];
        let mut own = vec![0.0; width];
        for tree in &forest.trees {
            let mut at = 0;
            while !tree.nodes[at].is_leaf() {
                let node = tree.nodes[at];
                at = usize::from(node.child) + usize::from(x[node.feature as usize] > node.number);
            }
            let leaf = tree.nodes[at].number as usize;
            for bin in forest.starts[leaf] as usize..forest.starts[leaf + 1] as usize {
                own[usize::from(forest.bins[bin])] += f64::from(forest.weights[bin]);
            }
        }
        let total: f64 = own.iter().sum();
        own.iter_mut().for_each(|weight| *weight /= total);
        assert_eq!(own, weights, "{row}");
    }
    let mut infinite = Dataset::new(19);
    infinite.push(&[f32::INFINITY; 19], 0.0);
    assert!(forest.predict(&infinite).unwrap_err().to_string().contains("expected a finite number, found inf"));
    assert!(forest.predict(&Dataset::new(18)).is_err());
}

#[test]
fn bins_have_about_equal_weight_and_atoms_are_their_own() {
    let mut data = Dataset::new(1);
    (0..100).for_each(|row| data.push(&[row as f32], if row < 30 { 0.0 } else { row as f32 }));
    let data = data.with_atoms(vec![0.0]);
    let rows: Vec<u32> = (0..100).collect();
    let bins = TargetBins::new(&data, &rows, 8);
    assert_eq!(bins.components[0], [0.0, 0.0]);
    assert!(bins.components.len() <= 8 && bins.components[1..].iter().all(|[_, sd]| *sd > 0.0));
    let mut counts = vec![0; bins.components.len()];
    rows.iter().for_each(|row| counts[usize::from(bins.bin(data.y()[*row as usize]))] += 1);
    assert_eq!(counts[0], 30);
    assert!(counts[1..].iter().all(|count| (8..=14).contains(count)), "{counts:?}");
}

#[test]
fn the_seed_decides() {
    let data = steps(200);
    assert_eq!(grown(&data, 32, 1), grown(&data, 32, 1));
    assert_ne!(grown(&data, 32, 1), grown(&data, 32, 2));
}

#[test]
fn comes_back_from_a_file_and_a_damaged_one_is_refused() {
    let data = steps(200);
    let forest = grown(&data, 32, 1);
    let read = |forest: &Forest, features: usize| {
        let bytes = to_bytes("key", String::new(), &write_forest(forest)).unwrap();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        read_forest(&Tensors::new(&file, ""), features)
    };
    assert_eq!(read(&forest, 2).unwrap(), forest);
    let changed = |change: fn(&mut Forest)| {
        let mut forest = forest.clone();
        change(&mut forest);
        read(&forest, 2)
    };
    assert!(changed(|forest| forest.bins[0] = 99).is_err());
    assert!(changed(|forest| forest.weights[0] = f32::NAN).is_err());
    assert!(changed(|forest| forest.starts[1] = u32::MAX).is_err());
    assert!(changed(|forest| forest.components[0][1] = -1.0).is_err());
    assert!(changed(|forest| forest.trees[0].nodes[0].feature = 7).is_err());
    assert!(changed(|forest| forest.trees[0].nodes[0].child = 0).is_err());
    assert!(changed(|forest| forest.trees[0].nodes[0].child = 40_000).is_err());
    assert!(changed(|forest| forest.trees[1].nodes.clear()).is_err());
    assert!(read(&forest, 1).is_err());
}
