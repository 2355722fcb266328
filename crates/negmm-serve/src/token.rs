//! The bearer token that requests must carry.

use std::path::Path;

use axum::http::{HeaderMap, header};
use negmm::{Error, Result};

/// A secret.
pub struct Token(Vec<u8>);

impl Token {
    /// Reads it from a file; whitespace around it is ignored.
    ///
    /// # Errors
    /// When there is no such file, it is empty, or the token contains whitespace.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        match text.trim() {
            "" => Err(Error::options("expected a token, found nothing").in_file(path)),
            token if token.contains(char::is_whitespace) => {
                Err(Error::options("a token must not contain whitespace").in_file(path))
            }
            token => Ok(Self(token.as_bytes().to_vec())),
        }
    }

    /// Whether a request carries it, compared in constant time.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let (scheme, given) = given.split_at_checked("Bearer ".len()).unwrap_or_default();
        let mut different = u8::from(!scheme.eq_ignore_ascii_case(b"Bearer ")) | u8::from(given.len() != self.0.len());
        for (at, byte) in self.0.iter().enumerate() {
            different |= byte ^ given.get(at).copied().unwrap_or(0);
        }
        std::hint::black_box(different) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token(b"secret".to_vec());
        for (given, right) in [
            ("Bearer secret", true),
            ("bearer secret", true),
            ("Bearer secreT", false),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer ", false),
            ("Basic secret", false),
            ("secret", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, given.parse().unwrap());
            assert_eq!(token.is_in(&headers), right, "{given:?}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
    }
}
