//! Responsible for lines of cells: of CSV, or of JSON, an object a line.

use std::io::Write;

/// Lines that are being written, cell by cell.
#[derive(Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// What stands before each cell of a line of JSON: its name. None for CSV.
    keys: Option<Vec<String>>,
    /// Cells of the line that is being written.
    cells: usize,
}

impl Lines {
    /// Of CSV.
    pub fn csv() -> Self {
        Self::default()
    }

    /// Of JSON, for cells of these names.
    pub fn json<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self { keys: Some(names.map(|name| format!("{}:", quoted(name))).collect()), ..Self::default() }
    }

    /// The header of CSV.
    pub fn header(names: &[String]) -> Vec<u8> {
        let mut header = Self::csv();
        names.iter().for_each(|name| header.text(name));
        header.end();
        header.into_bytes()
    }

    /// Adds a cell of text; in JSON nothing is null.
    pub fn text(&mut self, text: &str) {
        self.begin();
        match self.keys {
            Some(_) if text.is_empty() => self.bytes.extend_from_slice(b"null"),
            Some(_) => self.bytes.extend_from_slice(quoted(text).as_bytes()),
            None if text.contains([',', '"', '\n', '\r']) => {
                let quoted = format!("\"{}\"", text.replace('"', "\"\""));
                self.bytes.extend_from_slice(quoted.as_bytes());
            }
            None => self.bytes.extend_from_slice(text.as_bytes()),
        }
    }

    /// Adds a number: the shortest text that reads back as the same. JSON has no place for one that is not finite: null.
    pub fn number(&mut self, x: f64) {
        self.begin();
        // Writing to memory does not fail.
        let _ = match self.keys {
            Some(_) if !x.is_finite() => write!(self.bytes, "null"),
            _ => write!(self.bytes, "{x:?}"),
        };
    }

    /// Adds a whole number.
    pub fn whole(&mut self, number: i64) {
        self.begin();
        let _ = write!(self.bytes, "{number}");
    }

    /// Ends the line.
    pub fn end(&mut self) {
        self.bytes.extend_from_slice(if self.keys.is_some() { b"}\n" } else { b"\n" });
        self.cells = 0;
    }

    /// All lines.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What stands before a cell.
    fn begin(&mut self) {
        if self.cells > 0 {
            self.bytes.push(b',');
        }
        if let Some(keys) = &self.keys {
            self.bytes.extend_from_slice(if self.cells == 0 { b"{" } else { b"" });
            self.bytes.extend_from_slice(keys[self.cells].as_bytes());
        }
        self.cells += 1;
    }
}

/// As JSON writes text.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(mut lines: Lines) -> String {
        lines.text("a,\"b\"");
        lines.number(0.1);
        lines.whole(-3);
        lines.end();
        lines.text("");
        lines.number(f64::INFINITY);
        lines.whole(7);
        lines.end();
        String::from_utf8(lines.into_bytes()).unwrap()
    }

    #[test]
    fn cells_become_lines() {
        assert_eq!(written(Lines::csv()), "\"a,\"\"b\"\"\",0.1,-3\n,inf,7\n");
        let expected = "{\"t\":\"a,\\\"b\\\"\",\"x\":0.1,\"n\\\"\":-3}\n{\"t\":null,\"x\":null,\"n\\\"\":7}\n";
        assert_eq!(written(Lines::json(["t", "x", "n\""].into_iter())), expected);
    }
}
