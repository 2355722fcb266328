//! Mutations of model files: a valid file with some of its numbers, strings, lists and tensors replaced, and a matching checksum.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Extreme and special numbers.
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    1e-300,
    -1e-300,
    1e-9,
    1e9,
    1e38,
    -1e38,
    1e300,
    -1e300,
    4294967296.0,
    18446744073709551615.0,
];

/// Applies the mutations of a script to a file: four bytes each (tensor or metadata, position, replacement).
pub fn mutate(file: &[u8], script: &[u8]) -> Vec<u8> {
    let Ok(tensors) = SafeTensors::deserialize(file) else { return file.to_vec() };
    let length = file.first_chunk().map_or(0, |length| u64::from_le_bytes(*length)) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap_or_default();
    let text = header["__metadata__"]["negmm"].as_str().unwrap_or_default();
    let mut metadata: Value = serde_json::from_str(text).unwrap_or_default();
    let mut parts: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .filter(|(name, _)| *name != "checksum")
        .map(|(name, view)| (name.to_string(), view.dtype(), view.shape().to_vec(), view.data().to_vec()))
        .collect();
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    for change in script.as_chunks::<4>().0 {
        let [kind, high, low, what] = *change;
        let position = usize::from(high) << 8 | usize::from(low);
        if kind % 4 == 0 && !parts.is_empty() {
            let count = parts.len();
            mutate_tensor(&mut parts[position % count], position / count, what);
        } else {
            let count = size(&metadata);
            mutate_value(&mut metadata, position % count, what);
        }
    }
    let text = metadata.to_string();
    let sum = checksum(&text, &parts).to_le_bytes();
    let views = parts.iter().filter_map(|(name, dtype, shape, bytes)| {
        Some((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).ok()?))
    });
    let check = TensorView::new(Dtype::U64, vec![1], &sum).ok().map(|view| ("checksum", view));
    let information = HashMap::from([("negmm".to_string(), text)]);
    safetensors::serialize(views.chain(check), Some(information)).unwrap_or_default()
}

/// Number of values in a JSON tree.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(values) => 1 + values.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// Mutates the value at a position in depth-first order; the root is 0.
fn mutate_value(value: &mut Value, position: usize, what: u8) {
    if position == 0 {
        *value = replacement(value, what);
        return;
    }
    let mut position = position - 1;
    let children: Box<dyn Iterator<Item = &mut Value>> = match value {
        Value::Array(values) => Box::new(values.iter_mut()),
        Value::Object(values) => Box::new(values.values_mut()),
        _ => return,
    };
    for child in children {
        let size = size(child);
        if position < size {
            return mutate_value(child, position, what);
        }
        position -= size;
    }
}

fn replacement(value: &Value, what: u8) -> Value {
    let number = NUMBERS[usize::from(what) % NUMBERS.len()];
    let number = if number.fract() == 0.0 && number.abs() < 2e19 && what & 16 == 0 {
        if number < 0.0 { json!(number as i64) } else { json!(number as u64) }
    } else {
        json!(number)
    };
    match (value, what >> 5) {
        (Value::Array(values), 0) => Value::Array(values.iter().take(values.len() / 2).cloned().collect()),
        (Value::Array(values), 1) => Value::Array(values.iter().chain(values).cloned().collect()),
        (Value::Array(values), 2) => Value::Array(values.iter().rev().cloned().collect()),
        (Value::Array(values), 3) => Value::Array(values.iter().map(|_| number.clone()).collect()),
        (Value::Object(values), 0 | 1) => {
            let at = usize::from(what) % values.len().max(1);
            Value::Object(
                values.clone().into_iter().enumerate().filter(|(n, _)| *n != at).map(|(_, pair)| pair).collect(),
            )
        }
        (Value::Object(_), 2) => json!({}),
        (Value::String(text), 0 | 1) => json!(text.repeat(1000)),
        (Value::String(_), 2) => json!(""),
        (Value::String(_), 3) => json!("\u{1b}[31m"),
        (Value::Bool(truth), 0..=3) => json!(!truth),
        (_, 4) => Value::Null,
        (_, 5) => json!([number]),
        _ => number,
    }
}

/// Replaces one number or all numbers of a tensor, or reverses its shape.
fn mutate_tensor((_, dtype, shape, bytes): &mut (String, Dtype, Vec<usize>, Vec<u8>), position: usize, what: u8) {
    let width = match dtype {
        Dtype::F64 | Dtype::U64 | Dtype::I64 => 8,
        Dtype::F32 | Dtype::U32 | Dtype::I32 => 4,
        Dtype::U16 | Dtype::I16 => 2,
        _ => 1,
    };
    let count = bytes.len() / width;
    if what >= 240 || count == 0 {
        shape.reverse();
        return;
    }
    let number = NUMBERS[usize::from(what) % NUMBERS.len()];
    let (single, whole) = ((number as f32).to_le_bytes(), (number as i64).to_le_bytes());
    let new: &[u8] = match dtype {
        Dtype::F64 => &number.to_le_bytes(),
        Dtype::F32 => &single,
        _ => &whole[..width],
    };
    let at = position % count;
    bytes[at * width..][..width].copy_from_slice(new);
    if what & 32 != 0 {
        bytes.chunks_exact_mut(width).for_each(|number| number.copy_from_slice(new));
    }
}

/// The checksum of model files: FNV-1a of the metadata, then of each tensor's name, shape and bytes in the order of names.
fn checksum(text: &str, parts: &[(String, Dtype, Vec<usize>, Vec<u8>)]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(text.as_bytes());
    for (name, _, shape, bytes) in parts {
        add(name.as_bytes());
        shape.iter().for_each(|size| add(&(*size as u64).to_le_bytes()));
        add(bytes);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_script_changes_nothing() {
        for model in crate::models() {
            let same = mutate(&model, &[]);
            assert_eq!(negmm::Loaded::from_bytes(&same).unwrap(), negmm::Loaded::from_bytes(&model).unwrap());
        }
    }

    #[test]
    fn mutations_reach_the_validation_behind_the_checksum() {
        let model = crate::models().remove(0);
        let mut messages: Vec<String> = (0..200_u16)
            .filter_map(|position| {
                negmm::Loaded::from_bytes(&mutate(&model, &[1, (position >> 8) as u8, position as u8, 15])).err()
            })
            .map(|error| error.to_string())
            .collect();
        messages.sort();
        messages.dedup();
        assert!(messages.len() > 10 && messages.iter().all(|text| !text.contains("checksum")), "{messages:?}");
    }
}
