//! Figures as SVG: axes with round ticks, lines, bands, points, bars, ranges and heat maps, in one panel or several.
//!
//! ```
//! use negmm_draw::{Axis, Figure, Colour, Mark, Panel, Style};
//!
//! let x: Vec<f64> = (0..=20).map(f64::from).collect();
//! let y: Vec<f64> = x.iter().map(|x| x * x).collect();
//! let lower: Vec<f64> = y.iter().map(|y| y - 20.0).collect();
//! let upper: Vec<f64> = y.iter().map(|y| y + 20.0).collect();
//! let panel = Panel::new(Axis::new("x"), Axis::new("y"))
//!     .with(Mark::band(&x, &lower, &upper).colour(Colour::Sky).opacity(0.3).name("90 % interval"))
//!     .with(Mark::line(&x, &y).colour(Colour::Blue).name("mean"))
//!     .with(Mark::points(&x, &y).colour(Colour::Text).opacity(0.6).name("data"));
//! let svg = Figure::new("A parabola", "y grows as the square of x.").panel(panel).svg(Style::File);
//! assert!(svg.starts_with("<svg "));
//! ```
//!
//! The same calls give the same bytes on every machine. Text is always escaped, shortened where it is too long, and isolated in its
//! direction.

mod axis;
mod colour;
mod figure;
mod legend;
mod mark;
mod panel;
mod png;
mod shape;
mod svg;
mod tick;

pub use axis::Axis;
pub use colour::{Colour, Style, page_colours};
pub use figure::Figure;
pub use mark::Mark;
pub use panel::Panel;
pub use svg::{escaped, shortened, text_width};
pub use tick::number;
