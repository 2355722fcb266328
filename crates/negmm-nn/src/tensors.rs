//! Named tensors in safetensors files, for models, jobs and their results.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// What is wrong with a file, in words.
pub type Flaw = String;

/// A named tensor: little-endian numbers.
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// The type of its numbers.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers, little-endian.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of these numbers.
    pub fn new<T: Number>(name: impl Into<String>, shape: Vec<usize>, numbers: impl IntoIterator<Item = T>) -> Self {
        let bytes = numbers.into_iter().flat_map(|number| number.bytes().into_iter()).collect();
        Self { name: name.into(), dtype: T::DTYPE, shape, bytes }
    }

    pub(crate) fn list<T: Number>(name: &str, numbers: &[T]) -> Self {
        Self::new(name, vec![numbers.len()], numbers.iter().copied())
    }
}

/// A type of numbers in tensors.
pub trait Number: Copy {
    /// Its type in the file.
    const DTYPE: Dtype;
    /// Its bytes, little-endian.
    fn bytes(self) -> Vec<u8>;
    /// The numbers of these bytes.
    fn read(bytes: &[u8]) -> Vec<Self>;
}

/// Implements [`Number`] for a type.
macro_rules! number {
    ($type:ty, $dtype:expr) => {
        impl Number for $type {
            const DTYPE: Dtype = $dtype;
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn read(bytes: &[u8]) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                chunks.iter().map(|chunk| <$type>::from_le_bytes(*chunk)).collect()
            }
        }
    };
}

number!(f32, Dtype::F32);
number!(f64, Dtype::F64);
number!(u8, Dtype::U8);
number!(u16, Dtype::U16);
number!(u32, Dtype::U32);
number!(u64, Dtype::U64);

/// A safetensors file of these tensors, and a text under the name `key`.
pub fn to_bytes(key: &str, text: String, tensors: &[Tensor]) -> Result<Vec<u8>, Flaw> {
    let mut views = Vec::new();
    for tensor in tensors {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
        views.push((tensor.name.as_str(), view.map_err(|error| error.to_string())?));
    }
    let metadata = HashMap::from([(key.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| error.to_string())
}

/// The text under the name `key`, if there is one.
pub fn text_of(bytes: &[u8], key: &str) -> Option<String> {
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    header.metadata().as_ref()?.get(key).cloned()
}

/// The tensors of a file whose names have a prefix, which is left out.
pub struct Tensors<'a> {
    file: &'a SafeTensors<'a>,
    prefix: String,
}

impl<'a> Tensors<'a> {
    /// The tensors whose names have `prefix`.
    pub fn new(file: &'a SafeTensors<'a>, prefix: impl Into<String>) -> Self {
        Self { file, prefix: prefix.into() }
    }

    /// The tensors among them whose names continue with `prefix`.
    pub fn of(&self, prefix: &str) -> Self {
        Self::new(self.file, format!("{}{prefix}", self.prefix))
    }
}

/// The numbers of a tensor, which must have this type and, if given, this shape.
pub fn numbers_of<T: Number>(tensors: &Tensors<'_>, name: &str, shape: Option<&[usize]>) -> Result<Vec<T>, Flaw> {
    let name = &format!("{}{name}", tensors.prefix);
    let view = tensors.file.tensor(name).map_err(|_| format!("it has no tensor {name:?}"))?;
    if view.dtype() != T::DTYPE || shape.is_some_and(|shape| view.shape() != shape) {
        return Err(format!("tensor {name:?} has the wrong shape"));
    }
    Ok(T::read(view.data()))
}
