//! The encoding of protocol buffers, as far as ONNX needs it.
//!
//! A message is a sequence of fields, each a tag (field number · 8 + wire type) and a value: a varint (wire type 0), or a length and
//! bytes (2), which are text, a nested message or packed numbers.

/// A message builder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    bytes: Vec<u8>,
}

const VARINT: u64 = 0;
const LENGTH: u64 = 2;

impl Message {
    /// The bytes of all fields.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn tag(&mut self, field: u64, kind: u64) {
        self.varint(field << 3 | kind);
    }

    /// An integer; a negative one takes ten bytes.
    pub fn integer(&mut self, field: u64, number: i64) {
        self.tag(field, VARINT);
        self.varint(number as u64);
    }

    /// Bytes, or text.
    pub fn put(&mut self, field: u64, bytes: impl AsRef<[u8]>) {
        self.tag(field, LENGTH);
        self.varint(bytes.as_ref().len() as u64);
        self.bytes.extend_from_slice(bytes.as_ref());
    }

    /// A message.
    pub fn message(&mut self, field: u64, message: Self) {
        self.put(field, message.bytes);
    }

    /// Packed integers.
    pub fn integers(&mut self, field: u64, numbers: &[i64]) {
        let mut packed = Self::default();
        numbers.iter().for_each(|number| packed.varint(*number as u64));
        self.message(field, packed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification.
    #[test]
    fn fields_match_the_specification() {
        let mut message = Message::default();
        message.integer(1, 150);
        assert_eq!(message.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.put(2, "testing");
        outer.message(3, message);
        assert_eq!(outer.into_bytes(), *b"\x12\x07testing\x1a\x03\x08\x96\x01");
        let mut packed = Message::default();
        packed.integers(6, &[3, 270, 86_942]);
        assert_eq!(packed.into_bytes(), [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
    }

    #[test]
    fn negative_numbers_take_ten_bytes() {
        let mut message = Message::default();
        message.integer(1, -2);
        assert_eq!(message.into_bytes(), [8, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }
}
