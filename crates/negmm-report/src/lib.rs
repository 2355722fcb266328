//! Explains a fitted model: its predictions for the rows of a table become pictures, and these one HTML file that opens
//! anywhere, or an SVG file each.
//!
//! ```
//! use negmm::{Method, Rng, Toy, fit};
//! use negmm_report::{Cases, Report};
//!
//! let table = Toy::Bimodal.sample(300, &mut Rng::new(1, 0));
//! let mut method = Method::by_name("ne-gmm")?;
//! method.set("epochs", "5")?;
//! let model = fit(&table, "y", &method)?;
//! let report = Report::new(&model, &Cases::of_table(&model, &table, None)?, "toy2")?;
//! assert!(report.html().starts_with("<!doctype html>"));
//! assert!(report.svgs().any(|(name, svg)| name == "pit" && svg.starts_with("<svg ")));
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! | from | to | room |
//! |---|---|---|
//! | a file, read once, or a table | [`Cases`]: all of its rows or a random sample | `cases`, `reservoir` |
//! | cases and model | `Answers`: everything asked of the predictions | `answers`, `importance`, `slice`, `notable` |
//! | answers | `Picture`s: a figure, a sentence on how to read it, the table behind it | `picture` |
//! | a comparison of methods | one figure | `comparison` |
//! | pictures | the page | `page`, `picker` |
//!
//! The same model and rows give the same bytes, and whatever column names and cells hold is shown as text.

mod answers;
mod cases;
mod comparison;
mod forecast;
mod importance;
mod notable;
mod page;
mod picker;
mod picture;
mod report;
mod reservoir;
mod slice;
mod text;
mod time_axis;

pub use cases::{Cases, Gather};
pub use comparison::comparison;
pub use page::STYLE;
pub use report::Report;
