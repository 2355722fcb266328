//! A zstd decoder with errors in the words of the others.

use std::io::{self, BufReader, Read};

use ::zstd::stream::read::Decoder;

use negmm_dist::Error;

/// A reader of what was packed, in one frame or several.
pub(crate) struct Zstd<R: Read>(Decoder<'static, BufReader<R>>);

impl<R: Read> Zstd<R> {
    pub fn new(reader: R) -> io::Result<Self> {
        Decoder::new(reader).map(Self)
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(explained)
    }
}

fn explained(error: io::Error) -> io::Error {
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the zstd stream is truncated",
        // The library has no other errors of its own.
        io::ErrorKind::Other => "the zstd stream is corrupt",
        _ => return error,
    };
    io::Error::other(Error::data(message).with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        let read = Zstd::new(bytes).and_then(|mut zstd| zstd.read_to_string(&mut text));
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn frames_follow_each_other_and_damage_is_named() {
        let packed = |text: &str| ::zstd::encode_all(text.as_bytes(), 3).unwrap();
        let two = [packed("a,b\n"), packed("1,2\n")].concat();
        assert_eq!(unpacked(&two), Ok("a,b\n1,2\n".into()));
        assert_eq!(unpacked(&two[..two.len() - 3]), Err("the zstd stream is truncated".into()));
        assert_eq!(unpacked(&[&two[..], b"rest"].concat()), Err("the zstd stream is corrupt".into()));
    }
}
