//! Figures: one panel or several in one SVG, with a text alternative.

use crate::svg::{Svg, coordinate, escaped, shortened};
use crate::{Colour, Panel, Style};

/// The default size of a panel.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 280.0;
/// The gap between panels.
const GAP: f64 = 16.0;

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    title: String,
    description: String,
    columns: usize,
    size: (f64, f64),
    panels: Vec<Panel>,
}

impl Figure {
    /// An empty figure; title and description are its text alternative and are not drawn.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        let (title, description) = (title.into(), description.into());
        Self { title, description, columns: usize::MAX, size: (WIDTH, HEIGHT), panels: Vec::new() }
    }

    /// Sets the description.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets the number of panels side by side, at most; all by default.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// Sets the size of panels; 400 × 280 by default.
    #[must_use]
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.size = (width, height);
        self
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The figure as SVG.
    pub fn svg(&self, style: Style) -> String {
        let columns = self.columns.min(self.panels.len()).max(1);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let total = |count: usize, size: f64| count as f64 * size + (count - 1) as f64 * GAP;
        let (width, height) = (total(columns, self.size.0), total(rows, self.size.1));
        let (w, h) = (coordinate(width), coordinate(height));
        // A text alternative is read aloud and must be short.
        let (title, description) =
            (escaped(&shortened(&self.title, 1.0, 150.0)), escaped(&shortened(&self.description, 1.0, 800.0)));
        let mut svg = Svg { text: String::new(), style };
        svg.push(&format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" aria-label=\"{title}. {description}\""));
        match style {
            // A page has its own font and background, and a title would be shown as a tooltip.
            Style::Page => svg.push(">\n"),
            Style::File => {
                svg.push(" font-family=\"Helvetica, Arial, sans-serif\">\n");
                svg.push(&format!("<title>{title}</title>\n<desc>{description}</desc>\n"));
                svg.fill(&format!("M0 0H{w}V{h}H0Z"), Colour::Paper, "");
            }
        }
        for (number, panel) in self.panels.iter().enumerate() {
            let (column, row) = (number % columns, number / columns);
            let at = (column as f64 * (self.size.0 + GAP), row as f64 * (self.size.1 + GAP));
            panel.draw(&mut svg, at, self.size);
        }
        svg.push("</svg>\n");
        svg.text
    }
}
