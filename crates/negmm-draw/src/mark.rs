//! Responsible for marks: what is drawn in a panel, and how it looks.

use crate::Ink;

/// Something drawn in a panel. Values that are not finite are left out; a line or band breaks there.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) shape: Shape,
    pub(crate) ink: Ink,
    pub(crate) opacity: f64,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
    pub(crate) name: String,
}

/// Which way a rule, range or bar stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Upright,
    Lying,
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
        way: Way,
    },
    Ranges {
        at: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        way: Way,
    },
    Rule {
        at: f64,
        way: Way,
    },
    Note {
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
        Self { shape, ink: Ink::Blue, opacity: 1.0, width: 1.5, dashed: false, name: String::new() }
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

    /// A histogram: between each two `edges` a bar from 0 up to its height.
    pub fn histogram(edges: &[f64], heights: &[f64]) -> Self {
        let boxes = edges.windows(2).zip(heights).map(|(ends, height)| [ends[0], ends[1], 0.0, *height]);
        Self::new(Shape::Bars { boxes: boxes.collect(), way: Way::Upright })
    }

    /// Upright bars around 0, 1, 2 …, each from `from` to `to`.
    pub fn bars(from: &[f64], to: &[f64]) -> Self {
        Self::new(Shape::Bars { boxes: around(from, to), way: Way::Upright })
    }

    /// As [`Mark::bars`], lying, for words on the y axis.
    pub fn lying_bars(from: &[f64], to: &[f64]) -> Self {
        Self::new(Shape::Bars { boxes: around(from, to), way: Way::Lying })
    }

    /// At each x an upright line from lower to upper.
    pub fn ranges(x: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        Self::new(Shape::Ranges { at: x.into(), lower: lower.into(), upper: upper.into(), way: Way::Upright })
    }

    /// At each y a lying line from lower to upper.
    pub fn lying_ranges(y: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        Self::new(Shape::Ranges { at: y.into(), lower: lower.into(), upper: upper.into(), way: Way::Lying })
    }

    /// An upright line through the whole panel.
    pub fn upright_rule(x: f64) -> Self {
        Self::new(Shape::Rule { at: x, way: Way::Upright })
    }

    /// A lying line through the whole panel.
    pub fn lying_rule(y: f64) -> Self {
        Self::new(Shape::Rule { at: y, way: Way::Lying })
    }

    /// A few words at a point.
    pub fn note(x: f64, y: f64, text: impl Into<String>) -> Self {
        Self::new(Shape::Note { x, y, text: text.into() }).ink(Ink::Muted)
    }

    /// A heat map over the rectangle `x` × `y`: `values` from 0 (the ground) to 1 (full colour), column after column from left
    /// to right, each from the bottom to the top; what lies beyond is cut off. It has one colour, whatever ink is asked for.
    pub fn heat(x: (f64, f64), y: (f64, f64), columns: usize, values: Vec<f64>) -> Self {
        Self::new(Shape::Heat { x, y, columns, values })
    }

    /// In this colour.
    #[must_use]
    pub fn ink(mut self, ink: Ink) -> Self {
        self.ink = ink;
        self
    }

    /// Seen through: 0 is invisible, 1 covers.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    /// The width of its lines, or the diameter of its points.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// With gaps in its lines.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Named in the legend. Marks with the same name share an entry, that of the first.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub(crate) fn is_points(&self) -> bool {
        matches!(self.shape, Shape::Points { .. })
    }

    pub(crate) fn is_note(&self) -> bool {
        matches!(self.shape, Shape::Note { .. })
    }

    /// The values along x that an axis must reach.
    pub(crate) fn x_values(&self) -> Vec<f64> {
        match &self.shape {
            Shape::Line { x, .. } | Shape::Band { x, .. } | Shape::Points { x, .. } => x.clone(),
            Shape::Bars { boxes, way } => box_values(boxes, *way == Way::Upright),
            Shape::Ranges { at, way: Way::Upright, .. } => at.clone(),
            Shape::Ranges { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Rule { at, way: Way::Upright } => vec![*at],
            Shape::Rule { .. } => Vec::new(),
            Shape::Note { x, .. } => vec![*x],
            Shape::Heat { x, .. } => vec![x.0, x.1],
        }
    }

    /// The values along y that an axis must reach.
    pub(crate) fn y_values(&self) -> Vec<f64> {
        match &self.shape {
            Shape::Line { y, .. } | Shape::Points { y, .. } => y.clone(),
            Shape::Band { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Bars { boxes, way } => box_values(boxes, *way == Way::Lying),
            Shape::Ranges { at, way: Way::Lying, .. } => at.clone(),
            Shape::Ranges { lower, upper, .. } => [lower.as_slice(), upper].concat(),
            Shape::Rule { at, way: Way::Lying } => vec![*at],
            Shape::Rule { .. } => Vec::new(),
            Shape::Note { y, .. } => vec![*y],
            Shape::Heat { y, .. } => vec![y.0, y.1],
        }
    }
}

/// Half the width of a bar around a whole number.
const HALF_BAR: f64 = 0.36;

fn around(from: &[f64], to: &[f64]) -> Vec<[f64; 4]> {
    let bar = |(at, (from, to)): (usize, (&f64, &f64))| [at as f64 - HALF_BAR, at as f64 + HALF_BAR, *from, *to];
    from.iter().zip(to).enumerate().map(bar).collect()
}

fn box_values(boxes: &[[f64; 4]], along: bool) -> Vec<f64> {
    boxes.iter().flat_map(|[start, end, from, to]| if along { [*start, *end] } else { [*from, *to] }).collect()
}
