//! A panel: two axes, marks, a title and a legend, laid out without overlaps.

use crate::axis::Scale;
use crate::mark::Mark;
use crate::shape::{self, Frame};
use crate::svg::{Anchor, Font, Svg, coordinate, shortened, text_width};
use crate::tick::Ticks;
use crate::{Axis, Colour, legend};

const TICK_SIZE: f64 = 11.0;
const LABEL_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 13.0;
/// The smallest distance of ticks.
const TICK_DISTANCE_X: f64 = 46.0;
const TICK_DISTANCE_Y: f64 = 30.0;
/// The largest width of categories beside the y axis, as a fraction of the panel.
const CATEGORY_WIDTH: f64 = 0.34;
/// The largest length of rotated categories below the x axis.
const ROTATED_LENGTH: f64 = 84.0;

/// Two axes and their marks.
#[derive(Clone, Debug)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    marks: Vec<Mark>,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, marks: Vec::new() }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a mark, over the earlier ones.
    #[must_use]
    pub fn with(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Adds marks.
    #[must_use]
    pub fn with_all(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// Draws it into a rectangle of `size` at `at`.
    pub(crate) fn draw(&self, svg: &mut Svg, at: (f64, f64), size: (f64, f64)) {
        let x = self.x.scale(self.marks.iter().flat_map(Mark::x_values));
        let y = self.y.scale(self.marks.iter().flat_map(Mark::y_values));
        let (entries, lines) = legend::lay_out(&self.marks, size.0 - 8.0);
        let title = if self.title.is_empty() { 0.0 } else { TITLE_SIZE + 8.0 };
        let top = title + lines as f64 * legend::LINE + 8.0;

        // The y ticks determine the left margin and the width, which determine the x ticks and the bottom margin.
        let y_count = ((size.1 - top - 40.0) / TICK_DISTANCE_Y).floor().max(2.0) as usize;
        let y_ticks = self.y.marks(&y, y_count);
        let max_label = if self.y.is_categorical() { CATEGORY_WIDTH * size.0 } else { f64::INFINITY };
        let widest =
            y_ticks.marks.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max).min(max_label);
        let y_label = self.y.label_with(&y_ticks.unit);
        let left = widest + 10.0 + if y_label.is_empty() { 0.0 } else { LABEL_SIZE + 6.0 };
        let left = left + 2.0;
        let x_ticks = self.x_ticks(&x, size.0 - left);
        let last = x_ticks.marks.last().map_or(0.0, |(_, label)| text_width(label, TICK_SIZE));
        let right = if self.x.is_categorical() { 12.0 } else { 12f64.max(0.5 * last + 2.0) };
        let width = (size.0 - left - right).max(20.0);
        let x_ticks = self.x_ticks(&x, width);
        let slot = width / x_ticks.marks.len().max(1) as f64;
        let longest = x_ticks.marks.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max);
        let rotated = self.x.is_categorical() && longest > slot - 4.0;
        let x_label = self.x.label_with(&x_ticks.unit);
        let bottom = if rotated { 12.0 + 0.75 * longest.min(ROTATED_LENGTH) } else { TICK_SIZE + 9.0 }
            + if x_label.is_empty() { 2.0 } else { LABEL_SIZE + 6.0 };
        let height = (size.1 - top - bottom).max(20.0);

        let heading = Font { bold: true, ..Font::new(TITLE_SIZE, Colour::Text, Anchor::Start) };
        svg.write(
            (at.0 + 4.0, at.1 + TITLE_SIZE + 2.0),
            &shortened(&self.title, 1.05 * TITLE_SIZE, size.0 - 8.0),
            heading,
        );
        legend::draw(svg, &entries, (at.0 + 4.0, at.1 + title));
        let (left, top) = (at.0 + left, at.1 + top);
        let frame = Frame { x, y, width, height };
        grid(svg, (left, top), &frame, &y_ticks);

        self.draw_marks(svg, (left, top), &frame);
        let base = top + height;
        svg.stroke(
            &format!("M{} {}h{}", coordinate(left), coordinate(base), coordinate(width)),
            Colour::Muted,
            1.0,
            "",
        );
        x_axis(svg, (left, base), &x, width, &x_ticks, rotated.then_some(ROTATED_LENGTH));
        let font = Font::new(LABEL_SIZE, Colour::Text, Anchor::Middle);
        let position = (left + 0.5 * width, at.1 + size.1 - 4.0);
        svg.write(position, &shortened(&x_label, LABEL_SIZE, width), font);
        let end = Font::new(TICK_SIZE, Colour::Muted, Anchor::End);
        for (value, label) in &y_ticks.marks {
            let position = (left - 6.0, top + (1.0 - y.fraction(*value)) * height + 4.0);
            svg.write(position, &shortened(label, TICK_SIZE, max_label), end);
        }
        let position = (at.0 + LABEL_SIZE + 2.0, top + 0.5 * height);
        svg.write(position, &shortened(&y_label, LABEL_SIZE, height), Font { rotation: -90.0, ..font });
    }

    /// As many ticks as fit into `width`.
    fn x_ticks(&self, x: &Scale, width: f64) -> Ticks {
        let max_count = (width / TICK_DISTANCE_X).floor().max(2.0) as usize;
        let ticks = (2..=max_count).rev().map(|count| self.x.marks(x, count)).find(|ticks| {
            let longest = ticks.marks.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max);
            (longest + 10.0) * ticks.marks.len() as f64 <= width
        });
        ticks.unwrap_or_else(|| self.x.marks(x, 2))
    }

    /// Lines and areas are clipped at the frame by a nested SVG; points are drawn whole or not at all.
    fn draw_marks(&self, svg: &mut Svg, at: (f64, f64), frame: &Frame) {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        // Annotations are drawn last.
        let mut marks: Vec<&Mark> = self.marks.iter().collect();
        marks.sort_by_key(|mark| mark.is_annotation());
        for marks in marks.chunk_by(|a, b| a.is_points() == b.is_points()) {
            let (open, close) = if marks[0].is_points() {
                (format!("<g transform=\"translate({x} {y})\">\n"), "</g>\n")
            } else {
                let (width, height) = (coordinate(frame.width), coordinate(frame.height));
                let size = format!("width=\"{width}\" height=\"{height}\" overflow=\"hidden\"");
                (format!("<svg x=\"{x}\" y=\"{y}\" {size}>\n"), "</svg>\n")
            };
            svg.push(&open);
            marks.iter().for_each(|mark| shape::draw(svg, frame, mark));
            svg.push(close);
        }
    }
}

/// Grid lines at the y ticks.
fn grid(svg: &mut Svg, at: (f64, f64), frame: &Frame, ticks: &Ticks) {
    let line = |(value, _): &(f64, String)| {
        let y = at.1 + (1.0 - frame.y.fraction(*value)) * frame.height;
        format!("M{} {}h{}", coordinate(at.0), coordinate(y), coordinate(frame.width))
    };
    svg.stroke(&ticks.marks.iter().map(line).collect::<String>(), Colour::Grid, 1.0, "");
}

/// Ticks and labels below the x axis, which starts at `at`; rotated labels are shortened to that length.
fn x_axis(svg: &mut Svg, at: (f64, f64), scale: &Scale, width: f64, ticks: &Ticks, rotated: Option<f64>) {
    let mut d = String::new();
    let font = Font::new(TICK_SIZE, Colour::Muted, Anchor::Middle);
    // Labels that would touch the previous one are omitted.
    let mut free = f64::NEG_INFINITY;
    for (value, label) in &ticks.marks {
        let x = at.0 + scale.fraction(*value) * width;
        d.push_str(&format!("M{} {}v4", coordinate(x), coordinate(at.1)));
        if let Some(max_length) = rotated {
            if x >= free {
                let font = Font { rotation: -40.0, anchor: Anchor::End, ..font };
                svg.write((x + 3.0, at.1 + 15.0), &shortened(label, TICK_SIZE, max_length), font);
                free = x + TICK_SIZE + 1.0;
            }
            continue;
        }
        let half = 0.5 * text_width(label, TICK_SIZE);
        if x - half >= free {
            svg.write((x, at.1 + TICK_SIZE + 6.0), label, font);
            free = x + half + 6.0;
        }
    }
    svg.stroke(&d, Colour::Muted, 1.0, "");
}
