//! The marks of a panel: lines, bands, points, bars, ranges, rules, annotations and heat maps.

use crate::Colour;

/// A mark. Values that are not finite are omitted; a line or band has a gap there.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) shape: Shape,
    pub(crate) colour: Colour,
    pub(crate) opacity: f64,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
    pub(crate) name: String,
}

/// The orientation of a rule, range or bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orientation {
    Vertical,
    Horizontal,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Line {
        x: Vec<f64>,
        y: Vec<f64>,
    },
    Band {
        x: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    },
    Points {
        x: Vec<f64>,
        y: Vec<f64>,
    },
    /// Boxes: from `start` to `end` along the axis, from `from` to `to` across it.
    Bars {
        boxes: Vec<[f64; 4]>,
        orientation: Orientation,
    },
    Ranges {
        at: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        orientation: Orientation,
    },
    Rule {
        at: f64,
        orientation: Orientation,
    },
    Annotation {
        x: f64,
        y: f64,
        text: String,
    },
    Heat {
        x: (f64, f64),
        y: (f64, f64),
        columns: usize,
        values: Vec<f64>,
    },
}

impl Mark {
    fn new(shape: Shape) -> Self {
        Self { shape, colour: Colour::Blue, opacity: 1.0, width: 1.5, dashed: false, name: String::new() }
    }

    /// A line through points.
    pub fn line(x: &[f64], y: &[f64]) -> Self {
        Self::new(Shape::Line { x: x.into(), y: y.into() })
    }

    /// The area between two lines.
    pub fn band(x: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        Self::new(Shape::Band { x: x.into(), lower: lower.into(), upper: upper.into() }).opacity(0.25)
    }

    /// Points; their width is the diameter.
    pub fn points(x: &[f64], y: &[f64]) -> Self {
        Self::new(Shape::Points { x: x.into(), y: y.into() }).width(4.0)
    }

    /// A histogram: a bar between each two `edges`, from 0 to its height.
    pub fn histogram(edges: &[f64], heights: &[f64]) -> Self {
        let boxes = edges.windows(2).zip(heights).map(|(ends, height)| [ends[0], ends[1], 0.0, *height]);
        Self::new(Shape::Bars { boxes: boxes.collect(), orientation: Orientation::Vertical })
    }

    /// Vertical bars at 0, 1, 2 …, each from `from` to `to`.
    pub fn bars(from: &[f64], to: &[f64]) -> Self {
        Self::new(Shape::Bars { boxes: boxes(from, to), orientation: Orientation::Vertical })
    }

    /// Horizontal bars at 0, 1, 2 …, for categories on the y axis.
    pub fn horizontal_bars(from: &[f64], to: &[f64]) -> Self {
        Self::new(Shape::Bars { boxes: boxes(from, to), orientation: Orientation::Horizontal })
    }

    /// A vertical line at each x, from lower to upper.
    pub fn ranges(x: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        Self::new(Shape::Ranges {
            at: x.into(),
            lower: lower.into(),
            upper: upper.into(),
            orientation: Orientation::Vertical,
        })
    }

    /// A horizontal line at each y, from lower to upper.
    pub fn horizontal_ranges(y: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        Self::new(Shape::Ranges {
            at: y.into(),
            lower: lower.into(),
            upper: upper.into(),
            orientation: Orientation::Horizontal,
        })
    }

    /// A vertical line across the panel.
    pub fn vertical_rule(x: f64) -> Self {
        Self::new(Shape::Rule { at: x, orientation: Orientation::Vertical })
    }

    /// A horizontal line across the panel.
    pub fn horizontal_rule(y: f64) -> Self {
        Self::new(Shape::Rule { at: y, orientation: Orientation::Horizontal })
    }

    /// Text at a point.
    pub fn annotation(x: f64, y: f64, text: impl Into<String>) -> Self {
        Self::new(Shape::Annotation { x, y, text: text.into() }).colour(Colour::Muted)
    }

    /// A heat map over the rectangle `x` × `y`: `values` from 0 (background) to 1 (full colour), column by column from left to
    /// right, each from bottom to top; values outside are clipped. Its colour is fixed.
    pub fn heat(x: (f64, f64), y: (f64, f64), columns: usize, values: Vec<f64>) -> Self {
        Self::new(Shape::Heat { x, y, columns, values })
    }

    /// Sets the colour.
    #[must_use]
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Sets the opacity: 0 is invisible, 1 is opaque.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    /// Sets the width of lines, or the diameter of points.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Dashes the lines.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Sets the name in the legend. Marks of the same name share the entry of the first.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub(crate) fn is_points(&self) -> bool {
        matches!(self.shape, Shape::Points { .. })
    }

    pub(crate) fn is_annotation(&self) -> bool {
        matches!(self.shape, Shape::Annotation { .. })
    }

    /// The x values that the axis must include.
    pub(crate) fn x_values(&self) -> Vec<f64> {
        match &self.shape {
            Shape::Line { x, .. } | Shape::Band { x, .. } | Shape::Points { x, .. } => x.clone(),
            Shape::Bars { boxes, orientation } => box_values(boxes, *orientation == Orientation::Vertical),
            Shape::Ranges { at, orientation: Orientation::Vertical, .. } => at.clone(),
            Shape::Ranges { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Rule { at, orientation: Orientation::Vertical } => vec![*at],
            Shape::Rule { .. } => Vec::new(),
            Shape::Annotation { x, .. } => vec![*x],
            Shape::Heat { x, .. } => vec![x.0, x.1],
        }
    }

    /// The y values that the axis must include.
    pub(crate) fn y_values(&self) -> Vec<f64> {
        match &self.shape {
            Shape::Line { y, .. } | Shape::Points { y, .. } => y.clone(),
            Shape::Band { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Bars { boxes, orientation } => box_values(boxes, *orientation == Orientation::Horizontal),
            Shape::Ranges { at, orientation: Orientation::Horizontal, .. } => at.clone(),
            Shape::Ranges { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Rule { at, orientation: Orientation::Horizontal } => vec![*at],
            Shape::Rule { .. } => Vec::new(),
            Shape::Annotation { y, .. } => vec![*y],
            Shape::Heat { y, .. } => vec![y.0, y.1],
        }
    }
}

/// Half the width of a bar.
const HALF_BAR: f64 = 0.36;

fn boxes(from: &[f64], to: &[f64]) -> Vec<[f64; 4]> {
    let bar = |(at, (from, to)): (usize, (&f64, &f64))| [at as f64 - HALF_BAR, at as f64 + HALF_BAR, *from, *to];
    from.iter().zip(to).enumerate().map(bar).collect()
}

fn box_values(boxes: &[[f64; 4]], along: bool) -> Vec<f64> {
    boxes.iter().flat_map(|[start, end, from, to]| if along { [*start, *end] } else { [*from, *to] }).collect()
}
