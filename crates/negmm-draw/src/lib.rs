//! Draws figures as SVG: axes with round ticks, lines, bands, points, bars, ranges and heat maps, one panel or several.
//! It knows numbers and words, and nothing of where they come from.
//!
//! ```
//! use negmm_draw::{Axis, Figure, Ink, Mark, Panel, Style};
//!
//! let x: Vec<f64> = (0..=20).map(f64::from).collect();
//! let y: Vec<f64> = x.iter().map(|x| x * x).collect();
//! let lower: Vec<f64> = y.iter().map(|y| y - 20.0).collect();
//! let upper: Vec<f64> = y.iter().map(|y| y + 20.0).collect();
//! let panel = Panel::new(Axis::new("x"), Axis::new("y"))
//!     .with(Mark::band(&x, &lower, &upper).ink(Ink::Sky).opacity(0.3).name("90 % interval"))
//!     .with(Mark::line(&x, &y).ink(Ink::Blue).name("mean"))
//!     .with(Mark::points(&x, &y).ink(Ink::Text).opacity(0.6).name("data"));
//! let svg = Figure::new("A parabola", "y grows as the square of x.").panel(panel).svg(Style::File);
//! assert!(svg.starts_with("<svg "));
//! ```
//!
//! The same calls give the same bytes on every machine. Whatever text is handed over is shown as text: cut where it is too
//! long, escaped, and held to its own direction of writing.

mod axis;
mod figure;
mod ink;
mod legend;
mod mark;
mod panel;
mod png;
mod shape;
mod svg;
mod tick;

pub use axis::Axis;
pub use figure::Figure;
pub use ink::{Ink, Style, page_colours};
pub use mark::Mark;
pub use panel::Panel;
pub use svg::{escaped, shortened, text_width};
pub use tick::number;
