//! Encoded rows as bytes, so that another process or machine can train on them.

use serde::{Deserialize, Serialize};

use safetensors::tensor::SafeTensors;

use super::{CategoricalColumn, Dataset, Intervals, JointTargets};
use crate::tensors::{Flaw, Tensor, Tensors, numbers_of, text_of, to_bytes};
use negmm_dist::{Error, Result};

/// The name of the description among the tensors.
const KEY: &str = "negmm-data";

/// Largest number of features: more would allocate memory before the bytes are found to be too few.
const MAX_FEATURES: usize = 1 << 24;

/// Everything except the tensors.
#[derive(Serialize, Deserialize)]
struct Description {
    features: usize,
    window: Option<usize>,
    numbers: Vec<usize>,
    /// First feature and number of categories of each categorical column whose target encoding is still to be filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<(usize, usize)>,
    /// Whether rows have intervals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    intervals: bool,
    /// The number of targets, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    targets: Option<usize>,
    /// The atoms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    atoms: Vec<f32>,
}

/// The tensor with the categories of every row.
fn levels_name(column: usize) -> String {
    format!("levels.{column}")
}

impl Dataset {
    /// The bytes of all rows: safetensors.
    ///
    /// # Errors
    /// When memory is exhausted, or the rows are on disk.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.is_on_disk() {
            return Err(Error::options(
                "rows in a scratch file are not sent to other processes: fit without an executor",
            ));
        }
        let Self { features, window, numbers, levels, intervals, joint, atoms, .. } = self;
        let columns = levels.iter().map(|column| (column.first, column.levels)).collect();
        let description = Description {
            features: *features,
            window: *window,
            numbers: numbers.clone(),
            levels: columns,
            intervals: intervals.is_some(),
            targets: joint.as_ref().map(JointTargets::targets),
            atoms: atoms.clone(),
        };
        let text = serde_json::to_string(&description).map_err(|error| Error::data(error.to_string()))?;
        let rows = |name: &str, list: &[f32]| Tensor::list(name, list);
        let mut tensors = vec![rows("x", &self.x), rows("y", &self.y), rows("sample_weights", &self.sample_weights)];
        tensors.extend(levels.iter().enumerate().map(|(at, column)| Tensor::list(&levels_name(at), &column.codes)));
        if let Some(Intervals { lower, upper }) = intervals {
            tensors.extend([rows("lower", lower), rows("upper", upper)]);
        }
        tensors.extend(joint.iter().map(|joint| rows("targets", &joint.values)));
        to_bytes(KEY, text, &tensors).map_err(|error| Error::data(format!("the rows cannot be written: {error}")))
    }

    /// Reads the bytes of [`Dataset::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are no valid dataset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = || -> std::result::Result<Self, Flaw> {
            let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
            let tensors = Tensors::new(&file, "");
            let text = text_of(bytes, KEY).ok_or("they have no description")?;
            let Description { features, window, numbers, levels, intervals, targets, atoms } =
                serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if features > MAX_FEATURES {
                return Err("they have too many features".into());
            }
            let y: Vec<f32> = numbers_of(&tensors, "y", None)?;
            let empty = Self::new(features);
            let length = y.len().checked_mul(empty.stride).ok_or("they are too many")?;
            let sound = numbers.iter().all(|number| *number < features)
                && window.is_none_or(|window| window > 0 && features.is_multiple_of(window))
                && u32::try_from(y.len()).is_ok();
            if !sound {
                return Err("their description is out of range".into());
            }
            let column = |(at, (first, levels)): (usize, (usize, usize))| {
                Ok(CategoricalColumn { first, levels, codes: numbers_of(&tensors, &levels_name(at), None)? })
            };
            let levels = levels.into_iter().enumerate().map(column).collect::<std::result::Result<Vec<_>, Flaw>>()?;
            if !levels.iter().all(|column| column.is_sound(features, y.len())) {
                return Err("their levels are out of range".into());
            }
            let rows = |name: &str| numbers_of(&tensors, name, Some(&[y.len()]));
            let intervals =
                if intervals { Some(Intervals { lower: rows("lower")?, upper: rows("upper")? }) } else { None };
            let joint = match targets {
                Some(targets) => {
                    let length = y.len().checked_mul(targets).ok_or("they are too many")?;
                    Some(JointTargets { targets, values: numbers_of(&tensors, "targets", Some(&[length]))? })
                }
                None => None,
            };
            Ok(Self {
                joint,
                x: numbers_of(&tensors, "x", Some(&[length]))?,
                sample_weights: rows("sample_weights")?,
                intervals,
                atoms,
                y,
                window,
                numbers,
                levels,
                ..empty
            })
        };
        read().map_err(|flaw| Error::data(format!("these bytes are no encoded rows of negmm: {flaw}")))
    }

    /// A hash of all rows.
    pub fn fingerprint(&self) -> u64 {
        let Self { features, window, numbers, y, sample_weights, intervals, joint, atoms, .. } = self;
        // FNV-1a, a number at a time.
        let mixed = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x0100_0000_01b3);
        let sizes = [*features, window.unwrap_or(0), y.len()].into_iter().chain(numbers.iter().copied());
        let ends = intervals.iter().flat_map(|intervals| intervals.lower.iter().chain(&intervals.upper));
        let floats = y.iter().chain(sample_weights).chain(ends).chain(atoms);
        let floats = floats.chain(joint.iter().flat_map(|joint| &joint.values));
        let lists = sizes.map(|size| size as u64).chain(floats.map(|number| u64::from(number.to_bits())));
        let mut hash = lists.fold(0xcbf2_9ce4_8422_2325, mixed);
        self.each_row(|x, codes| {
            let row = x.iter().map(|x| x.to_bits()).chain(codes.iter().copied());
            hash = row.map(u64::from).fold(hash, mixed);
        });
        hash
    }
}
