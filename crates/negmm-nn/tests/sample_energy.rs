//! The energy score of samples: sorting networks, and scores by hand.

use negmm_dist::score::sample_energy::{gradient, value, value_by_pairs};
use negmm_nn::loss::sample_energy::{Exchange, merge_exchange};

/// A network that sorts every sequence of zeros and ones sorts everything (Knuth's 0-1 principle).
#[test]
fn exchanges_sort_zeros_and_ones() {
    for count in 0..=13 {
        let exchanges = merge_exchange(count);
        for bits in 0..1usize << count {
            let mut numbers: Vec<usize> = (0..count).map(|bit| bits >> bit & 1).collect();
            for &Exchange { low, high } in &exchanges {
                if numbers[low as usize] > numbers[high as usize] {
                    numbers.swap(low as usize, high as usize);
                }
            }
            assert!(numbers.is_sorted(), "{count} {bits:b}");
        }
    }
}

#[test]
fn score_by_hand() {
    // |0 - 1| and |4 - 1| average to 2; the pairs are 0, 4, 4, 0.
    assert_eq!(value_by_pairs(&[0.0, 4.0], 1.0), 1.0);
    assert_eq!(value(&[0.0, 4.0], 1.0), 1.0);
    assert_eq!(gradient(&[4.0, 0.0], 1.0), [0.25, -0.25]);
    assert_eq!((value(&[2.0], 5.0), gradient(&[2.0], 5.0)), (3.0, vec![-1.0]));
    // All on the target: nothing pulls.
    assert_eq!(gradient(&[3.0; 4], 3.0), [0.0; 4]);
}
