//! Leaves of trees.

use negmm_dist::math::rng::Rng;
use negmm_nn::ngboost::{Columns, Node, Tree};

#[test]
fn visiting_all_splits_and_walking_find_the_same_leaves() {
    let mut rng = Rng::new(1, 0);
    let split = |feature, number, child, missing_right| Node { feature, number, child, missing_right };
    let tree = Tree {
        nodes: vec![
            split(0, 0.5, 1, true),
            split(1, 0.3, 3, false),
            split(0, 0.75, 5, false),
            Node::leaf(1.0),
            split(1, 0.6, 7, true),
            Node::leaf(2.0),
            Node::leaf(3.0),
            Node::leaf(4.0),
            Node::leaf(5.0),
        ],
    };
    let mut draw = || if rng.below(5) == 0 { f32::NAN } else { rng.uniform() as f32 };
    let columns: Vec<Vec<f32>> = (0..2).map(|_| (0..300).map(|_| draw()).collect()).collect();
    let columns = Columns::new(&columns, 300).unwrap();
    let (mut visited, mut walked) = ([0; 200], [0; 200]);
    tree.leaves(&columns, 50, &mut visited);
    tree.walk(&columns, 50, &mut walked);
    assert_eq!(visited, walked);
    assert!((3..9).filter(|leaf| *leaf != 4).all(|leaf| walked.contains(&leaf)));
}
