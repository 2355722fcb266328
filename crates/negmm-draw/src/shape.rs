//! Drawing of marks: from values to SVG paths.

use std::fmt::Write;

use crate::axis::Scale;
use crate::mark::{Mark, Orientation, Shape};
use crate::png;
use crate::svg::{Anchor, Font, Svg, coordinate, shortened};

/// Font size of annotations.
const ANNOTATION_SIZE: f64 = 11.0;
/// The gap between bars.
const GAP: f64 = 1.0;

/// The mapping of values to coordinates in a rectangle of `width` × `height` at the origin.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub x: Scale,
    pub y: Scale,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        self.x.fraction(value) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        (1.0 - self.y.fraction(value)) * self.height
    }

    /// Whether a point lies inside, up to rounding.
    fn contains(&self, x: f64, y: f64) -> bool {
        let inside = |fraction: f64| (-1e-6..=1.0 + 1e-6).contains(&fraction);
        inside(self.x.fraction(x)) && inside(self.y.fraction(y))
    }

    /// `x y` for a path; `None` where it is not finite.
    fn point(&self, x: f64, y: f64) -> Option<String> {
        let position = (self.x(x), self.y(y));
        // Coordinates far outside the panel are clamped.
        let clamped = |at: f64, size: f64| coordinate(at.clamp(-4.0 * size, 5.0 * size));
        (position.0.is_finite() && position.1.is_finite())
            .then(|| format!("{} {}", clamped(position.0, self.width), clamped(position.1, self.height)))
    }
}

/// Draws a mark.
pub(crate) fn draw(svg: &mut Svg, frame: &Frame, mark: &Mark) {
    let mut more = String::new();
    if mark.opacity < 1.0 {
        let _ = write!(more, " opacity=\"{}\"", (mark.opacity * 100.0).round() / 100.0);
    }
    if mark.dashed {
        more.push_str(" stroke-dasharray=\"5 4\"");
    }
    match &mark.shape {
        Shape::Line { x, y } => {
            more.push_str(" stroke-linejoin=\"round\"");
            let points = x.iter().zip(y).map(|(x, y)| frame.point(*x, *y));
            svg.stroke(&polyline(points), mark.colour, mark.width, &more);
        }
        Shape::Band { x, lower, upper } => svg.fill(&band(frame, x, lower, upper), mark.colour, &more),
        Shape::Points { x, y } => {
            more.push_str(" stroke-linecap=\"round\"");
            let inside = |(x, y): &(&f64, &f64)| frame.contains(**x, **y);
            let points = x.iter().zip(y).filter(inside).filter_map(|(x, y)| frame.point(*x, *y));
            let d: String = points.map(|point| format!("M{point}h0")).collect();
            svg.stroke(&d, mark.colour, mark.width, &more);
        }
        Shape::Bars { boxes, orientation } => {
            let d: String = boxes.iter().filter_map(|bar| rectangle(frame, bar, *orientation)).collect();
            svg.fill(&d, mark.colour, &more);
        }
        Shape::Ranges { at, lower, upper, orientation } => {
            let ends = at.iter().zip(lower.iter().zip(upper));
            let range = |(at, (lower, upper)): (&f64, (&f64, &f64))| match orientation {
                Orientation::Vertical => Some(format!("M{}L{}", frame.point(*at, *lower)?, frame.point(*at, *upper)?)),
                Orientation::Horizontal => {
                    Some(format!("M{}L{}", frame.point(*lower, *at)?, frame.point(*upper, *at)?))
                }
            };
            svg.stroke(&ends.filter_map(range).collect::<String>(), mark.colour, mark.width, &more);
        }
        Shape::Rule { at, orientation } => {
            let d = match orientation {
                Orientation::Vertical => format!("M{} 0V{}", coordinate(frame.x(*at)), coordinate(frame.height)),
                Orientation::Horizontal => format!("M0 {}H{}", coordinate(frame.y(*at)), coordinate(frame.width)),
            };
            svg.stroke(&d, mark.colour, mark.width, &more);
        }
        Shape::Annotation { x, y, text } => {
            let at = (frame.x(*x), frame.y(*y));
            if at.0.is_finite() && at.1.is_finite() {
                let right = at.0 > 0.6 * frame.width;
                let anchor = if right { Anchor::End } else { Anchor::Start };
                let max_width = if right { at.0 - 8.0 } else { frame.width - at.0 - 8.0 };
                let position = (if right { at.0 - 5.0 } else { at.0 + 5.0 }, at.1.clamp(12.0, frame.height - 4.0));
                let font = Font { outlined: true, ..Font::new(ANNOTATION_SIZE, mark.colour, anchor) };
                svg.write(position, &shortened(text, ANNOTATION_SIZE, max_width), font);
            }
        }
        Shape::Heat { x, y, columns, values } => {
            let rows = values.len().checked_div(*columns).unwrap_or(0);
            if rows > 0 {
                let (left, right) = (frame.x(x.0), frame.x(x.1));
                let (bottom, top) = (frame.y(y.0), frame.y(y.1));
                let _ = writeln!(
                    svg.text,
                    "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"{}\"{more}/>",
                    coordinate(left),
                    coordinate(top),
                    coordinate(right - left),
                    coordinate(bottom - top),
                    png::data_uri(*columns, rows, values)
                );
            }
        }
    }
}

fn polyline(points: impl Iterator<Item = Option<String>>) -> String {
    let (mut d, mut pen_down) = (String::new(), false);
    for point in points {
        if let Some(point) = &point {
            let _ = write!(d, "{}{point}", if pen_down { 'L' } else { 'M' });
        }
        pen_down = point.is_some();
    }
    d
}

/// One closed path for each section without a gap: along the upper line, back along the lower.
fn band(frame: &Frame, x: &[f64], lower: &[f64], upper: &[f64]) -> String {
    let ends = x.iter().zip(lower.iter().zip(upper));
    let ends: Vec<Option<(String, String)>> =
        ends.map(|(x, (lower, upper))| Some((frame.point(*x, *lower)?, frame.point(*x, *upper)?))).collect();
    let mut d = String::new();
    for section in ends.split(Option::is_none).filter(|section| section.len() > 1) {
        let tops = section.iter().flatten().map(|(_, upper)| upper.as_str());
        let bottoms = section.iter().rev().flatten().map(|(lower, _)| lower.as_str());
        let outline: Vec<&str> = tops.chain(bottoms).collect();
        let _ = write!(d, "M{}Z", outline.join("L"));
    }
    d
}

fn rectangle(frame: &Frame, bar: &[f64; 4], orientation: Orientation) -> Option<String> {
    let [start, end, from, to] = *bar;
    let corners = match orientation {
        Orientation::Vertical => [frame.x(start), frame.x(end), frame.y(from), frame.y(to)],
        Orientation::Horizontal => [frame.x(from), frame.x(to), frame.y(start), frame.y(end)],
    };
    if !corners.iter().all(|corner| corner.is_finite()) {
        return None;
    }
    let [a, b, c, d] = corners;
    let (mut left, mut right, mut top, mut bottom) = (a.min(b), a.max(b), c.min(d), c.max(d));
    // A gap between neighbours, where there is room for one.
    match orientation {
        Orientation::Vertical if right - left > 4.0 * GAP => (left, right) = (left + 0.5 * GAP, right - 0.5 * GAP),
        Orientation::Horizontal if bottom - top > 4.0 * GAP => (top, bottom) = (top + 0.5 * GAP, bottom - 0.5 * GAP),
        _ => {}
    }
    let (left, right) = (left.max(-frame.width), right.min(2.0 * frame.width));
    let (top, bottom) = (top.max(-frame.height), bottom.min(2.0 * frame.height));
    Some(format!(
        "M{} {}H{}V{}H{}Z",
        coordinate(left),
        coordinate(top),
        coordinate(right),
        coordinate(bottom),
        coordinate(left)
    ))
}
