//! UTF-16 with a byte order mark, as spreadsheets write it, to UTF-8.

use std::io::{self, Read};

use negmm_dist::Error;

/// Bytes that are decoded at once.
const AT_ONCE: usize = 1 << 16;

/// A decoder; the bytes come from a reader that it is given at each call.
pub(crate) struct Utf16 {
    unit: fn([u8; 2]) -> u16,
    /// Bytes that are not decoded yet: half of a unit, or the first unit of a pair.
    pending: Vec<u8>,
    /// Decoded text, and how much of it was read.
    text: Vec<u8>,
    read: usize,
}

impl Utf16 {
    /// The decoder of a file that begins with these bytes, if they are a byte order mark.
    pub fn by_mark(start: &[u8]) -> Option<Self> {
        let unit = match start {
            [0xff, 0xfe] => u16::from_le_bytes,
            [0xfe, 0xff] => u16::from_be_bytes,
            _ => return None,
        };
        Some(Self { unit, pending: Vec::new(), text: Vec::new(), read: 0 })
    }

    /// Reads some text of what follows in `bytes`.
    pub fn read(&mut self, bytes: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() {
            let before = self.pending.len();
            bytes.by_ref().take(AT_ONCE as u64).read_to_end(&mut self.pending)?;
            if self.pending.len() == before {
                return if before == 0 { Ok(0) } else { Err(broken()) };
            }
            self.decode()?;
        }
        let count = buffer.len().min(self.text.len() - self.read);
        buffer[..count].copy_from_slice(&self.text[self.read..][..count]);
        self.read += count;
        Ok(count)
    }

    /// Decodes what is pending, but for the beginning of a character.
    fn decode(&mut self) -> io::Result<()> {
        let (pairs, rest) = self.pending.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|pair| (self.unit)(*pair)).collect();
        let mut left = rest.to_vec();
        if units.pop_if(|unit| (0xd800..0xdc00).contains(unit)).is_some() {
            left = [&pairs[units.len()][..], rest].concat();
        }
        let text: Result<String, _> = char::decode_utf16(units).collect();
        self.text = text.map_err(|_| broken())?.into_bytes();
        self.read = 0;
        self.pending = left;
        Ok(())
    }
}

fn broken() -> io::Error {
    io::Error::other(Error::data("expected text in UTF-16, as the byte order mark says, found other bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Decoded;

    fn encoded(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn decoded(bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        let mut reader = Decoded::new(bytes, "x.csv").unwrap();
        reader.read_to_string(&mut text).map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn both_orders_and_characters_of_two_units_are_read() {
        // Long enough that characters lie across the pieces which are decoded at once.
        let text = "name,Größe\n\u{1d6fc},5 €\n".repeat(9_001);
        let marked = format!("\u{feff}{text}");
        assert_eq!(decoded(&encoded(&marked, u16::to_le_bytes)), Ok(text.clone()));
        assert_eq!(decoded(&encoded(&marked, u16::to_be_bytes)), Ok(text));
        assert_eq!(decoded("\u{feff}a\n".as_bytes()), Ok("\u{feff}a\n".into()));
        assert_eq!(decoded(b"a"), Ok("a".into()));
        assert_eq!(decoded(&[0xff, 0xfe]), Ok(String::new()));
    }

    #[test]
    fn what_is_no_utf_16_is_refused() {
        for bytes in [&b"\xff\xfea"[..], b"\xff\xfea\0\0\xd8", b"\xff\xfe\0\xdca\0"] {
            let message = decoded(bytes).unwrap_err();
            assert_eq!(message, "expected text in UTF-16, as the byte order mark says, found other bytes");
        }
    }
}
