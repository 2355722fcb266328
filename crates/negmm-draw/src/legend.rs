//! Legends: the names of marks with a sample of each.

use crate::Colour;
use crate::mark::{Mark, Shape};
use crate::svg::{Anchor, Font, Svg, coordinate, shortened, text_width};

const SIZE: f64 = 11.0;
const SAMPLE: f64 = 18.0;
const GAP: f64 = 14.0;
/// Height of a line.
pub(crate) const LINE: f64 = 17.0;

/// An entry and its position.
pub(crate) struct Entry<'a> {
    mark: &'a Mark,
    name: String,
    at: (f64, f64),
}

/// The entries in lines of at most `width`, and the number of lines.
pub(crate) fn lay_out(marks: &[Mark], width: f64) -> (Vec<Entry<'_>>, usize) {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut x, mut line) = (0.0, 0usize);
    for mark in marks.iter().filter(|mark| !mark.name.is_empty()) {
        if entries.iter().any(|entry| entry.mark.name == mark.name) {
            continue;
        }
        let name = shortened(&mark.name, SIZE, (width - SAMPLE - 5.0).max(20.0));
        let entry_width = SAMPLE + 5.0 + text_width(&name, SIZE);
        if x > 0.0 && x + entry_width > width {
            (x, line) = (0.0, line + 1);
        }
        entries.push(Entry { mark, name, at: (x, line as f64 * LINE) });
        x += entry_width + GAP;
    }
    let lines = if entries.is_empty() { 0 } else { line + 1 };
    (entries, lines)
}

/// Draws the entries with their corner at `at`.
pub(crate) fn draw(svg: &mut Svg, entries: &[Entry<'_>], at: (f64, f64)) {
    for Entry { mark, name, at: (x, y) } in entries {
        let (left, middle) = (at.0 + x, at.1 + y + 8.0);
        let (x, y, end) = (coordinate(left), coordinate(middle), coordinate(left + SAMPLE));
        let mut more =
            if mark.opacity < 1.0 { format!(" opacity=\"{}\"", mark.opacity.max(0.25)) } else { String::new() };
        if mark.dashed {
            more.push_str(" stroke-dasharray=\"5 4\"");
        }
        let block = |offset: f64, width: f64| {
            let start = coordinate(left + offset * SAMPLE);
            format!("M{start} {}h{}v10h-{}z", coordinate(middle - 5.0), coordinate(width), coordinate(width))
        };
        match &mark.shape {
            Shape::Line { .. } | Shape::Rule { .. } => {
                svg.stroke(&format!("M{x} {y}H{end}"), mark.colour, mark.width.max(1.5), &more)
            }
            Shape::Ranges { .. } => {
                svg.stroke(&format!("M{x} {y}H{end}"), mark.colour, mark.width.max(2.0), &more);
            }
            Shape::Points { .. } => {
                let d = format!("M{} {y}h0", coordinate(left + 0.5 * SAMPLE));
                svg.stroke(&d, mark.colour, mark.width.max(5.0), " stroke-linecap=\"round\"");
            }
            Shape::Band { .. } | Shape::Bars { .. } => svg.fill(&block(0.0, SAMPLE), mark.colour, &more),
            Shape::Heat { .. } => {
                let colour = crate::png::COLOUR;
                for (step, opacity) in [0.15, 0.4, 0.7, 1.0].into_iter().enumerate() {
                    let d = block(0.25 * step as f64, 0.25 * SAMPLE);
                    let [red, green, blue] = colour;
                    svg.push(&format!(
                        "<path d=\"{d}\" fill=\"#{red:02x}{green:02x}{blue:02x}\" opacity=\"{opacity}\"/>\n"
                    ));
                }
            }
            Shape::Annotation { .. } => {}
        }
        svg.write((left + SAMPLE + 5.0, middle + 4.0), name, Font::new(SIZE, Colour::Text, Anchor::Start));
    }
}
