//! Encoded rows as bytes.

use negmm_nn::dataset::Dataset;

#[test]
fn rows_round_trip_bit_by_bit() {
    let mut data = Dataset::new(3);
    for row in 0..5 {
        data.push(&[row as f32, f32::NAN, -0.0], f32::from_bits(0x7fc0_0001 + row));
    }
    let data = data.with_sample_weights(&[1.0, 0.0, 2.0, 0.5, 1e-3]).with_numbers(vec![0, 2]);
    let again = Dataset::from_bytes(&data.to_bytes().unwrap()).unwrap();
    let bits = |list: &[f32]| list.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    for (a, b) in [(data.x(), again.x()), (data.y(), again.y()), (data.sample_weights(), again.sample_weights())] {
        assert_eq!(bits(a), bits(b));
    }
    assert_eq!((again.features(), again.numbers(), again.window()), (3, &[0, 2][..], None));
    assert_eq!(data.fingerprint(), again.fingerprint());
    assert_ne!(data.fingerprint(), data.select(&[0, 1, 2, 4, 3]).fingerprint());
}

#[test]
fn intervals_round_trip_and_take_no_bytes_if_there_are_none() {
    let plain = Dataset::from_parts(1, vec![0.0; 48], vec![1.0, 2.0, 3.0]);
    let bytes = plain.to_bytes().unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("intervals"));
    assert!(Dataset::from_bytes(&bytes).unwrap().intervals().is_none());
    let data = plain.clone().with_intervals(vec![1.0, f32::NEG_INFINITY, 2.5], vec![1.0, 2.0, 3.5]);
    let again = Dataset::from_bytes(&data.to_bytes().unwrap()).unwrap();
    assert_eq!((again.intervals(), again.fingerprint()), (data.intervals(), data.fingerprint()));
    assert_ne!(data.fingerprint(), plain.fingerprint());
}

#[test]
fn atoms_round_trip_bit_by_bit() {
    let plain = Dataset::from_parts(1, vec![0.0; 64], vec![-1.1, 0.3, -1.1, 0.1]);
    let data = plain.clone().with_atoms(vec![-1.1, 1.0 / 3.0]);
    let again = Dataset::from_bytes(&data.to_bytes().unwrap()).unwrap();
    assert_eq!((again.atoms(), again.fingerprint()), (data.atoms(), data.fingerprint()));
    assert_ne!(data.fingerprint(), plain.fingerprint());
    assert_eq!(data.select(&[1]).atoms(), data.atoms());
    assert_eq!((data.fraction_equal_to(-1.1), data.fraction_equal_to(1.0 / 3.0)), (0.5, 0.0));
}

#[test]
fn invalid_bytes_are_refused() {
    let bytes = Dataset::from_parts(1, vec![0.0; 32], vec![1.0, 2.0]).to_bytes().unwrap();
    assert!(Dataset::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    assert!(Dataset::from_bytes(b"").is_err());
    let wrong = String::from_utf8_lossy(&bytes).replacen("\\\"features\\\":1", "\\\"features\\\":9", 1);
    assert!(Dataset::from_bytes(wrong.as_bytes()).is_err());
}
