//! Atoms: single values that have a probability of their own, beside a density.

use serde::{Deserialize, Serialize};

/// Largest number of atoms of a head.
pub const MAX_ATOMS: usize = 4;

/// The sd of an atom in a panel, in units of the standardised target. There an atom is a very narrow component: its energy score is
/// that of a single value, with errors of E|X - y| and E|X - X'| below twice this sd.
pub(crate) const ATOM_SD: f32 = 1e-6;

/// A value with a probability of its own. Files store the fields by former names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Atom {
    /// The value, in units of the standardised target: exactly that of the rows that have it.
    #[serde(rename = "place")]
    pub value: f32,
    /// The fraction of the rows that have it: its probability at the start of training.
    #[serde(rename = "share")]
    pub probability: f32,
}

/// The atoms of a head; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Atom>", into = "Vec<Atom>")]
pub struct Atoms {
    list: [Atom; MAX_ATOMS],
    count: usize,
}

impl Atoms {
    /// No atom.
    pub const NONE: Self = Self { list: [Atom { value: 0.0, probability: 0.0 }; MAX_ATOMS], count: 0 };

    /// The first [`MAX_ATOMS`] of `atoms`.
    pub fn new(atoms: impl IntoIterator<Item = Atom>) -> Self {
        let mut kept = Self::NONE;
        for (slot, atom) in kept.list.iter_mut().zip(atoms) {
            *slot = atom;
            kept.count += 1;
        }
        kept
    }

    /// All of them.
    pub fn list(&self) -> &[Atom] {
        &self.list[..self.count]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_sound(&self) -> bool {
        let atoms = self.list();
        let distinct = (1..atoms.len()).all(|at| atoms[..at].iter().all(|other| other.value != atoms[at].value));
        distinct && atoms.iter().all(|atom| atom.value.is_finite() && (0.0..=1.0).contains(&atom.probability))
    }

    /// The logits that give atoms their initial probabilities beside `components` components with logits of 0.
    pub(super) fn initial_logits(&self, components: usize) -> impl Iterator<Item = f32> {
        /// Smallest initial probability of an atom and of the density, so that both can still be learnt.
        const LEAST: f32 = 1e-3;
        let rest = (1.0 - self.list().iter().map(|atom| atom.probability).sum::<f32>()).max(LEAST);
        self.list().iter().map(move |atom| libm::logf(components as f32 * atom.probability.max(LEAST) / rest))
    }
}

impl TryFrom<Vec<Atom>> for Atoms {
    type Error = String;

    fn try_from(atoms: Vec<Atom>) -> Result<Self, String> {
        if atoms.len() > MAX_ATOMS {
            return Err(format!("a head has {MAX_ATOMS} atoms at most, found {}", atoms.len()));
        }
        Ok(Self::new(atoms))
    }
}

impl From<Atoms> for Vec<Atom> {
    fn from(atoms: Atoms) -> Self {
        atoms.list().to_vec()
    }
}
