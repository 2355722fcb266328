//! Heads of mixtures as text.

use negmm_nn::net::{Atom, Atoms, Head, MixtureHead};

fn head(atoms: Atoms) -> Head {
    Head::Mixture(MixtureHead { atoms, ..MixtureHead::new(2, 1e-3) })
}

#[test]
fn a_head_without_atoms_is_stored_as_before() {
    const TEXT: &str = r#"{"kind":"mixture","components":2,"sd_floor":0.001,"sd_ceiling":null,"mean_bound":null}"#;
    assert_eq!(serde_json::to_string(&head(Atoms::NONE)).unwrap(), TEXT);
    assert_eq!(serde_json::from_str::<Head>(TEXT).unwrap(), head(Atoms::NONE));
}

#[test]
fn atoms_round_trip_bit_by_bit_and_are_checked() {
    let atom = |value: f32| Atom { value, probability: 0.1 };
    let values = [1.0 / 3.0, -0.1, 7.7e-5, 1e9];
    let whole = head(Atoms::new(values.map(atom)));
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Head>(&text).unwrap(), whole);
    assert_eq!((whole.check(), whole.outputs(), whole.components()), (Ok(()), 10, Some(6)));
    assert!(serde_json::from_str::<Head>(&text.replace("[{", r#"[{"place":2.0,"share":0.0},{"#)).is_err());
    assert!(head(Atoms::new([atom(0.5), atom(0.5)])).check().is_err());
    assert!(head(Atoms::new([atom(f32::NAN)])).check().is_err());
}
