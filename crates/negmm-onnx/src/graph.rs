//! ONNX graphs: values, nodes and the bytes of the file.
//!
//! Field numbers are those of `onnx.proto3`.

use std::collections::HashMap;

use crate::proto::Message;

/// The version of the format: that of ONNX 1.13, which brought opset 18.
const IR_VERSION: i64 = 8;
/// The opset version, and that of models with text operators.
const OPSET: i64 = 18;
const OPSET_OF_TEXT: i64 = 20;
/// The opset version of the ML operators.
const ML_OPSET: i64 = 3;
/// The domain of those operators.
const ML: &str = "ai.onnx.ml";

/// A tensor in the graph, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(String);

/// The element type of a tensor, with its number in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Float = 1,
    Integer = 7,
    Text = 8,
    Double = 11,
}

/// A dimension of a shape: a number or a symbolic name.
#[derive(Clone, Copy, Debug)]
pub enum Dimension {
    Fixed(usize),
    Symbolic(&'static str),
}

/// An attribute of a node.
#[derive(Clone, Debug)]
pub enum Attribute<'a> {
    Integer(i64),
    Integers(&'a [i64]),
    Texts(&'a [String]),
    Doubles(&'a [f64]),
}

/// A graph builder.
#[derive(Debug, Default)]
pub struct Graph {
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    nodes: Vec<Message>,
    constants: Vec<Message>,
    /// Existing constants by type, shape and bytes.
    known: HashMap<(i64, Vec<usize>, Vec<u8>), Value>,
    /// Number of generated names.
    made: usize,
    splits_text: bool,
}

impl Graph {
    /// Adds an input.
    pub fn input(&mut self, name: &str, kind: Type, shape: &[Dimension]) -> Value {
        self.inputs.push(value_info(name, kind, shape));
        Value(name.to_string())
    }

    /// Makes a value an output.
    pub fn output(&mut self, name: &str, value: &Value, kind: Type, shape: &[Dimension]) {
        self.add("", "Identity", &[value], &[name.to_string()], &[]);
        self.outputs.push(value_info(name, kind, shape));
    }

    fn fresh(&mut self) -> String {
        self.made += 1;
        format!("negmm/{}", self.made)
    }

    fn add(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&Value],
        outputs: &[String],
        attributes: &[(&str, Attribute<'_>)],
    ) {
        let mut node = Message::default();
        inputs.iter().for_each(|input| node.put(1, &input.0));
        outputs.iter().for_each(|output| node.put(2, output));
        node.put(3, outputs[0].replace('/', "_"));
        node.put(4, operator);
        attributes.iter().for_each(|(name, attribute)| node.message(5, attribute.to_message(name)));
        if !domain.is_empty() {
            node.put(7, domain);
        }
        self.nodes.push(node);
    }

    /// Adds a node with one output.
    pub fn op(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.op_with(operator, inputs, &[])
    }

    /// Adds a node with attributes.
    pub fn op_with(&mut self, operator: &str, inputs: &[&Value], attributes: &[(&str, Attribute<'_>)]) -> Value {
        self.splits_text |= operator.starts_with("String");
        let name = self.fresh();
        self.add("", operator, inputs, std::slice::from_ref(&name), attributes);
        Value(name)
    }

    /// Adds a node with several outputs; unused ones have no name.
    pub fn outputs_of(
        &mut self,
        operator: &str,
        inputs: &[&Value],
        used: &[bool],
        attributes: &[(&str, Attribute<'_>)],
    ) -> Vec<Value> {
        self.splits_text |= operator.starts_with("String");
        let names: Vec<String> = used.iter().map(|used| if *used { self.fresh() } else { String::new() }).collect();
        // A node has the name of its first named output.
        let mut node = Message::default();
        inputs.iter().for_each(|input| node.put(1, &input.0));
        names.iter().for_each(|output| node.put(2, output));
        node.put(4, operator);
        attributes.iter().for_each(|(name, attribute)| node.message(5, attribute.to_message(name)));
        self.nodes.push(node);
        names.into_iter().filter(|name| !name.is_empty()).map(Value).collect()
    }

    /// Adds a node of the ML domain.
    pub fn ml(&mut self, operator: &str, input: &Value, attributes: &[(&str, Attribute<'_>)]) -> Value {
        let name = self.fresh();
        self.add(ML, operator, &[input], std::slice::from_ref(&name), attributes);
        Value(name)
    }

    fn constant(&mut self, kind: Type, shape: &[usize], bytes: Vec<u8>) -> Value {
        let key = (kind as i64, shape.to_vec(), bytes);
        if let Some(value) = self.known.get(&key) {
            return value.clone();
        }
        let value = Value(self.fresh());
        self.constants.push(tensor(&value.0, kind, shape, &key.2));
        self.known.insert(key, value.clone());
        value
    }

    /// Constant doubles.
    pub fn doubles(&mut self, shape: &[usize], numbers: &[f64]) -> Value {
        self.constant(Type::Double, shape, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    /// Constant floats.
    pub fn floats(&mut self, shape: &[usize], numbers: &[f32]) -> Value {
        self.constant(Type::Float, shape, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    /// Constant integers.
    pub fn integers(&mut self, numbers: &[i64]) -> Value {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(Type::Integer, &[numbers.len()], bytes)
    }

    /// A scalar integer.
    pub fn integer(&mut self, number: i64) -> Value {
        self.constant(Type::Integer, &[], number.to_le_bytes().to_vec())
    }

    /// A scalar text.
    pub fn text(&mut self, text: &str) -> Value {
        let value = Value(self.fresh());
        let mut message = Message::default();
        message.integer(2, Type::Text as i64);
        message.put(6, text);
        message.put(8, &value.0);
        self.constants.push(message);
        value
    }

    /// A scalar double.
    pub fn number(&mut self, number: f64) -> Value {
        self.doubles(&[], &[number])
    }

    /// The bytes of the file; `notes` are metadata, names and texts.
    pub fn into_bytes(self, notes: &[(&str, String)]) -> Vec<u8> {
        let mut graph = Message::default();
        self.nodes.into_iter().for_each(|node| graph.message(1, node));
        graph.put(2, "negmm");
        self.constants.into_iter().for_each(|constant| graph.message(5, constant));
        self.inputs.into_iter().for_each(|input| graph.message(11, input));
        self.outputs.into_iter().for_each(|output| graph.message(12, output));
        let mut model = Message::default();
        model.integer(1, IR_VERSION);
        model.put(2, "negmm");
        model.put(3, env!("CARGO_PKG_VERSION"));
        model.message(7, graph);
        let opset = if self.splits_text { OPSET_OF_TEXT } else { OPSET };
        for (domain, version) in [("", opset), (ML, ML_OPSET)] {
            let mut set = Message::default();
            set.put(1, domain);
            set.integer(2, version);
            model.message(8, set);
        }
        for (name, text) in notes {
            let mut note = Message::default();
            note.put(1, name);
            note.put(2, text);
            model.message(14, note);
        }
        model.into_bytes()
    }
}

/// Arithmetic.
impl Graph {
    pub fn add2(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Add", &[a, b])
    }

    pub fn sub(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Sub", &[a, b])
    }

    pub fn mul(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Mul", &[a, b])
    }

    pub fn div(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Div", &[a, b])
    }

    /// a + number
    pub fn plus(&mut self, a: &Value, number: f64) -> Value {
        let number = self.number(number);
        self.add2(a, &number)
    }

    /// a · number
    pub fn times(&mut self, a: &Value, number: f64) -> Value {
        let number = self.number(number);
        self.mul(a, &number)
    }

    /// max(a, number)
    pub fn at_least(&mut self, a: &Value, number: f64) -> Value {
        let number = self.number(number);
        self.op("Max", &[a, &number])
    }

    /// min(a, number)
    pub fn at_most(&mut self, a: &Value, number: f64) -> Value {
        let number = self.number(number);
        self.op("Min", &[a, &number])
    }

    /// Clamps to a range, which may be infinite.
    pub fn within(&mut self, a: &Value, low: f64, high: f64) -> Value {
        let mut a = a.clone();
        if low > f64::NEG_INFINITY {
            a = self.at_least(&a, low);
        }
        if high < f64::INFINITY {
            a = self.at_most(&a, high);
        }
        a
    }

    /// Sums over an axis, which stays with a length of 1.
    pub fn sum(&mut self, a: &Value, axis: i64) -> Value {
        self.reduced("ReduceSum", a, axis, true)
    }

    /// Reduces over an axis, which stays with a length of 1 if `keep`.
    pub fn reduced(&mut self, operator: &str, a: &Value, axis: i64, keep: bool) -> Value {
        let axes = self.integers(&[axis]);
        self.op_with(operator, &[a, &axes], &[("keepdims", Attribute::Integer(i64::from(keep)))])
    }

    pub fn cast(&mut self, a: &Value, kind: Type) -> Value {
        self.op_with("Cast", &[a], &[("to", Attribute::Integer(kind as i64))])
    }

    /// Concatenation along an axis.
    pub fn concat(&mut self, parts: &[&Value], axis: i64) -> Value {
        match parts {
            [alone] => (*alone).clone(),
            parts => self.op_with("Concat", parts, &[("axis", Attribute::Integer(axis))]),
        }
    }

    /// A constant of 1 × numbers, repeated for each of `rows`.
    pub fn repeated(&mut self, constant: &Value, rows: &Value) -> Value {
        let count = self.op_with("Shape", &[rows], &[("end", Attribute::Integer(1))]);
        let one = self.integers(&[1]);
        let shape = self.concat(&[&count, &one], 0);
        self.op("Expand", &[constant, &shape])
    }

    pub fn unsqueeze(&mut self, a: &Value, axis: i64) -> Value {
        let axes = self.integers(&[axis]);
        self.op("Unsqueeze", &[a, &axes])
    }

    pub fn reshape(&mut self, a: &Value, shape: &[i64]) -> Value {
        let shape = self.integers(shape);
        self.op("Reshape", &[a, &shape])
    }

    /// The elements at `indices` along an axis.
    pub fn gather(&mut self, a: &Value, indices: &Value, axis: i64) -> Value {
        self.op_with("Gather", &[a, indices], &[("axis", Attribute::Integer(axis))])
    }
}

impl Attribute<'_> {
    fn to_message(&self, name: &str) -> Message {
        let mut message = Message::default();
        message.put(1, name);
        let kind = match self {
            Self::Integer(number) => {
                message.integer(3, *number);
                2
            }
            Self::Integers(numbers) => {
                message.integers(8, numbers);
                7
            }
            Self::Texts(texts) => {
                texts.iter().for_each(|text| message.put(9, text));
                8
            }
            Self::Doubles(numbers) => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                message.message(5, tensor("", Type::Double, &[numbers.len()], &bytes));
                4
            }
        };
        message.integer(20, kind);
        message
    }
}

fn tensor(name: &str, kind: Type, shape: &[usize], bytes: &[u8]) -> Message {
    let mut message = Message::default();
    message.integers(1, &shape.iter().map(|side| *side as i64).collect::<Vec<_>>());
    message.integer(2, kind as i64);
    message.put(8, name);
    message.put(9, bytes);
    message
}

fn value_info(name: &str, kind: Type, shape: &[Dimension]) -> Message {
    let mut sides = Message::default();
    for side in shape {
        let mut dimension = Message::default();
        match side {
            Dimension::Fixed(length) => dimension.integer(1, *length as i64),
            Dimension::Symbolic(name) => dimension.put(2, name),
        }
        sides.message(1, dimension);
    }
    let mut tensor = Message::default();
    tensor.integer(1, kind as i64);
    tensor.message(2, sides);
    let mut of_type = Message::default();
    of_type.message(1, tensor);
    let mut info = Message::default();
    info.put(1, name);
    info.message(2, of_type);
    info
}
