//! Schedules of the learning rate.

use negmm_nn::train::Schedule;

#[test]
fn cosine_rises_to_one_and_falls_to_zero() {
    let factor = |step| Schedule::Cosine.factor(step, 1000);
    assert!((factor(0) - 1.0 / 30.0).abs() < 1e-12);
    assert_eq!(factor(29), 1.0);
    assert_eq!(factor(30), 1.0);
    assert!((factor(515) - 0.5).abs() < 1e-3);
    assert!(factor(999) < 1e-5 && factor(999) > 0.0);
    assert_eq!(Schedule::Constant.factor(999, 1000), 1.0);
    assert!(Schedule::Cosine.factor(0, 1).is_finite());
    let factor = |step| Schedule::WarmUp.factor(step, 1000);
    assert_eq!((factor(14), factor(29), factor(999)), (0.5, 1.0, 1.0));
}
