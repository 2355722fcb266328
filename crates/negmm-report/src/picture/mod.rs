//! Responsible for pictures: a figure with its heading, a sentence on how to read it, and the table behind it.

mod calibration;
mod fit;
mod forecast;
mod inputs;
mod row;
mod scores;
mod sharpness;
mod survival;
mod training;

use negmm_draw::Figure;

pub use calibration::calibration;
pub use fit::fit;
pub use forecast::{by_step, fans, pit, seasons};
pub use inputs::inputs;
pub use row::{LEVELS, atoms, cells, ends as row_ends, row};
pub use scores::{score_lines, scores};
pub use sharpness::sharpness;
pub use survival::survival;
pub use training::training;

/// One picture.
pub struct Picture {
    /// Its file's name, without the ending.
    pub file: String,
    /// How to read it, in a sentence.
    pub reading: String,
    pub figure: Figure,
    pub table: Grid,
}

/// A table of words: its headings and its lines.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub heading: Vec<String>,
    pub lines: Vec<Vec<String>>,
}

/// Lines of a table behind a picture, at most; more are thinned out.
const MOST_LINES: usize = 40;

impl Grid {
    pub fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { heading: heading.map(String::from).into(), lines: Vec::new() }
    }

    pub fn push(&mut self, line: impl IntoIterator<Item = String>) {
        self.lines.push(line.into_iter().collect());
    }

    /// With these lines, thinned out evenly where there are many.
    pub fn filled(mut self, lines: impl IntoIterator<Item = Vec<String>>) -> Self {
        let lines: Vec<Vec<String>> = lines.into_iter().collect();
        self.lines = spread(lines.len(), MOST_LINES).into_iter().map(|at| lines[at].clone()).collect();
        self
    }
}

/// At most `most` of the numbers below `count`, evenly spread from the first to the last.
pub fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|at| at * (count - 1) / (most - 1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_thinned_out_evenly() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(100, 4), [0, 33, 66, 99]);
        assert_eq!(spread(5, 1), [0]);
    }
}
