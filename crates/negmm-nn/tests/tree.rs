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

#[test]
fn rows_walk_to_the_leaves_of_a_deep_tree() {
    // A chain: each split sends a part of the rows to a leaf, the others on.
    let mut nodes = Vec::new();
    for level in 0..40_u16 {
        let leaf = Node::leaf(f32::from(level));
        if level > 0 {
            nodes.push(leaf);
        }
        nodes.push(Node { feature: 0, number: f32::from(level), child: 2 * level + 1, missing_right: false });
    }
    nodes.extend([Node::leaf(40.0), Node::leaf(41.0)]);
    let tree = Tree { nodes };
    let column: Vec<f32> = (0..53).map(|row| row as f32 * 0.8).collect();
    let rows = [column.clone()];
    let columns = Columns::new(&rows, 53).unwrap();
    let mut leaves = [7; 50];
    tree.walk(&columns, 3, &mut leaves);
    for (leaf, x) in leaves.iter().zip(&column[3..]) {
        let mut node = 0;
        while !tree.nodes[node].is_leaf() {
            node = usize::from(tree.nodes[node].child) + usize::from(*x > tree.nodes[node].number);
        }
        assert_eq!(*leaf as usize, node, "{x}");
    }
}
