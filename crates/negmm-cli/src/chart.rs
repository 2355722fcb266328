//! Text plots: a predictive density over one input.

use negmm::Distribution;
use negmm::Interval;
use negmm::Predictions;

/// Shades from the lowest to the highest density.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The densities of `columns` (one prediction for each column, from left to right) over y, with observed points as dots.
///
/// Each column is scaled to its own maximum, so that wide distributions stay visible beside narrow ones.
pub fn density(columns: &Predictions, x: (f64, f64), points: &[(f64, f64)], height: usize) -> String {
    let (low, high) = columns
        .rows()
        .map(|column| column.interval(0.998))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), Interval { lower, upper }| {
            (low.min(lower), high.max(upper))
        });
    let width = columns.len();
    let step = (high - low) / height as f64;
    let mut cells = vec![vec![SHADES[0]; width]; height];
    for (at, column) in columns.rows().enumerate() {
        let inside = |line: usize| {
            let top = high - line as f64 * step;
            column.cdf(top) - column.cdf(top - step)
        };
        let masses: Vec<f64> = (0..height).map(inside).collect();
        let most = masses.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for (line, mass) in masses.iter().enumerate() {
            let shade = (mass / most * SHADES.len() as f64) as usize;
            cells[line][at] = SHADES[shade.min(SHADES.len() - 1)];
        }
    }
    for (px, py) in points {
        let at = ((px - x.0) / (x.1 - x.0) * width as f64) as usize;
        let line = (high - py) / step;
        if at < width && line >= 0.0 && (line as usize) < height && cells[line as usize][at] == SHADES[0] {
            cells[line as usize][at] = '·';
        }
    }
    let mut text = String::new();
    for (line, cells) in cells.iter().enumerate() {
        let label = match line {
            0 => format!("{high:>8.1}"),
            _ if line == height / 2 => format!("{:>8.1}", high - (line as f64 + 0.5) * step),
            _ if line == height - 1 => format!("{low:>8.1}"),
            _ => " ".repeat(8),
        };
        text.push_str(&format!("{label} │{}\n", cells.iter().collect::<String>().trim_end()));
    }
    text.push_str(&format!("{:>8} └{}\n", "", "─".repeat(width)));
    let (left, right) = (format!("{:.0}", x.0), format!("{:.0}", x.1));
    text.push_str(&format!("{:>8}  {left}{}{right}", "y over x", " ".repeat(width - left.len() - right.len())));
    text
}
