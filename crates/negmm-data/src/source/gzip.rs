//! A gzip decoder for files of several members, with errors that name what is not a member.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use negmm_dist::Error;

/// How a member begins.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A reader of what was packed.
pub(crate) struct Gzip<R: Read> {
    /// None only while it is being changed.
    member: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Gzip<R> {
    pub fn new(reader: R) -> Self {
        Self { member: Some(GzDecoder::new(BufReader::new(reader))) }
    }

    /// Goes on to the next member, where there is one.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(member) = self.member.take() else { return Ok(false) };
        let mut rest = member.into_inner();
        // Tapes and blocks are filled up with zeros.
        loop {
            let waiting = rest.fill_buf()?;
            let zeros = waiting.iter().take_while(|byte| **byte == 0).count();
            let at_end = waiting.is_empty();
            if at_end {
                return Ok(false);
            }
            if zeros < waiting.len() {
                break;
            }
            rest.consume(zeros);
        }
        let zeros = rest.buffer().iter().take_while(|byte| **byte == 0).count();
        if zeros > 0 || rest.buffer()[0] != MAGIC[0] {
            return Err(io::Error::other(Error::data("the gzip stream is followed by bytes that are none")));
        }
        self.member = Some(GzDecoder::new(rest));
        Ok(true)
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else { return Ok(0) };
            let count = member.read(buffer).map_err(explained)?;
            if count > 0 || buffer.is_empty() || !self.advance()? {
                return Ok(count);
            }
        }
    }
}

fn explained(error: io::Error) -> io::Error {
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the gzip stream is truncated",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "the gzip stream is corrupt",
        _ => return error,
    };
    io::Error::other(Error::data(message).with_source(error))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        Gzip::new(bytes).read_to_string(&mut text).map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn members_follow_each_other_and_nothing_else_does() {
        let two = [packed("a,b\n"), packed("1,2\n")].concat();
        assert_eq!(unpacked(&two), Ok("a,b\n1,2\n".into()));
        assert_eq!(unpacked(&[&two[..], &[0; 20_000]].concat()), Ok("a,b\n1,2\n".into()));
        let other = Err("the gzip stream is followed by bytes that are none".to_string());
        assert_eq!(unpacked(&[&two[..], b"rest"].concat()), other);
        assert_eq!(unpacked(&[&two[..], b"\0\0rest"].concat()), other);
        assert_eq!(unpacked(&two[..two.len() - 3]), Err("the gzip stream is truncated".into()));
        assert_eq!(unpacked(&[&two[..], &MAGIC].concat()), Err("the gzip stream is truncated".into()));
        assert_eq!(unpacked(&[&MAGIC[..], b"not gzip at all"].concat()), Err("the gzip stream is corrupt".into()));
    }
}
