//! Early stopping.

use negmm_nn::train::EarlyStopping;

#[test]
fn stops_after_patience_epochs_without_a_better_score() {
    let mut stopping = EarlyStopping::new(2);
    assert!(stopping.improves(0, 1.0));
    assert!(!stopping.improves(1, f64::NAN));
    assert!(!stopping.exhausted(1));
    assert!(!stopping.improves(2, 1.0));
    assert!(stopping.exhausted(2));
    assert_eq!(stopping.best_epoch(), 0);
    assert!(!EarlyStopping::new(0).exhausted(1_000_000));
}
