//! The line search of boosting.

use negmm_nn::ngboost::line_search;

/// The search as the original software writes it.
fn original(before: f64, norm: f64, score: impl Fn(f64) -> f64) -> f64 {
    let mut scale = 1.0;
    loop {
        let after = score(scale);
        if !after.is_finite() || after > before || scale > 256.0 {
            break;
        }
        scale *= 2.0;
    }
    loop {
        let after = score(scale);
        if norm * scale < 1e-4 || (after.is_finite() && after < before) {
            return scale;
        }
        scale *= 0.5;
    }
}

#[test]
fn line_search_is_the_original_one() {
    for best in [1e-9, 1e-3, 0.1, 0.4, 0.5, 1.0, 1.3, 7.0, 100.0, 511.0, 513.0, 1e6] {
        for norm in [1e-5, 0.01, 1.0, 50.0] {
            // Lowest at `best`, back at its start at twice that, infinite beyond thrice.
            let score = |scale: f64| {
                if scale > 3.0 * best { f64::INFINITY } else { (scale / best - 1.0).powi(2) }
            };
            assert_eq!(line_search(1.0, norm, score), original(1.0, norm, score), "{best} {norm}");
        }
    }
    assert_eq!(line_search(1.0, 1.0, |_| 0.5), 512.0);
    assert_eq!(line_search(1.0, 1.0, |_| 1.0), original(1.0, 1.0, |_| 1.0));
    assert_eq!(line_search(1.0, f64::NAN, |_| f64::NAN), 1.0);
}
