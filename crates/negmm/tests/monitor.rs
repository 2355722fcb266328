//! The calibration monitor by simulation: rare false alarms, and an alarm for a change or for a model that was never calibrated.

use negmm::monitor::{Monitor, MonitorConfig};
use negmm::{Mixtures, Predictions};

fn normal(rows: usize, mean: f64, sd: f64) -> Predictions {
    Mixtures::new(1, vec![1.0; rows], vec![mean; rows], vec![sd; rows]).unwrap().into()
}

/// Rows as predicted, then rows with a shift and `sd` times the predicted sd.
fn watched(watching: MonitorConfig, seed: u64, (before, after): (usize, usize), mean: f64, sd: f64) -> Monitor {
    let rows = before + after;
    let mut y = normal(rows, 0.0, 1.0).sample(1, seed, 0);
    y[before..].iter_mut().for_each(|y| *y = mean + sd * *y);
    let mut monitor = Monitor::new(watching).unwrap();
    monitor.update(&normal(rows, 0.0, 1.0), &normal(rows, 1.0, 3.0), &y).unwrap();
    monitor
}

#[test]
fn false_alarms_are_as_rare_as_they_say() {
    let watching = MonitorConfig::default().alpha(0.1);
    let alarms = (0..150).filter(|seed| watched(watching, *seed, (2000, 0), 0.0, 1.0).status().alarm.is_some()).count();
    // 15 are expected at most; more than 27 are a thousandth of all cases.
    assert!(alarms <= 27, "{alarms}");
}

#[test]
fn a_change_and_a_stable_fault_sound_the_alarm() {
    for seed in 0..5 {
        let changed = watched(MonitorConfig::default(), seed, (2000, 1500), 0.0, 1.2).status();
        let alarm = changed.alarm.unwrap();
        assert!(alarm.row > 2000 && (1700..=2400).contains(&alarm.since), "{alarm:?}");
        let moved = watched(MonitorConfig::default(), seed, (1000, 500), 0.5, 1.0).status().alarm.unwrap();
        assert!(moved.row > 1000 && (900..=1100).contains(&moved.since), "{moved:?}");
        let always = watched(MonitorConfig::default(), seed, (0, 4000), 0.0, 1.1).status();
        assert!(always.alarm.unwrap().row < 4000 && always.score_sd.unwrap() > 1.05);
        assert!(always.coverage.iter().all(|found| found.lower <= found.empirical && found.empirical <= found.upper));
    }
}

#[test]
fn what_is_tolerated_sounds_no_alarm() {
    let lenient = MonitorConfig::default().tolerance(0.15);
    assert_eq!(watched(lenient, 1, (0, 5000), 0.1, 1.1).status().alarm, None);
    assert!(watched(lenient, 1, (0, 5000), 0.0, 1.5).status().alarm.is_some());
}

#[test]
fn rows_may_come_one_by_one_and_the_state_be_written_between_them() {
    let y = normal(60, 0.0, 1.3).sample(1, 1, 0);
    let mut whole = Monitor::new(MonitorConfig::default()).unwrap();
    whole.update(&normal(60, 0.0, 1.0), &normal(60, 0.0, 2.0), &y).unwrap();
    let mut single = Monitor::new(MonitorConfig::default()).unwrap();
    for y in &y {
        single.update(&normal(1, 0.0, 1.0), &normal(1, 0.0, 2.0), &[*y]).unwrap();
        single = serde_json::from_str(&serde_json::to_string(&single).unwrap()).unwrap();
    }
    assert_eq!(single, whole);
    assert_eq!((single.rows(), single.evidence().len()), (60, 60));
    assert!(single.update(&normal(2, 0.0, 1.0), &normal(2, 0.0, 1.0), &[1.0]).is_err());
    assert!(single.update(&normal(1, 0.0, 1.0), &normal(1, 0.0, 1.0), &[f64::NAN]).is_err());
    assert_eq!(single, whole);
    let verdict = single.status();
    assert!(verdict.crps.unwrap() < verdict.constant_crps.unwrap());
    assert!(Monitor::new(MonitorConfig::default().alpha(0.0)).is_err());
    assert!(Monitor::new(MonitorConfig::default().tolerance(f64::NAN)).is_err());
}

#[test]
fn a_long_watch_keeps_few_points() {
    let monitor = watched(MonitorConfig::default(), 3, (20_000, 0), 0.0, 1.0);
    assert!((300..=600).contains(&monitor.evidence().len()));
    assert!(monitor.evidence().map(|point| point.rows).is_sorted_by(|a, b| a < b));
}
