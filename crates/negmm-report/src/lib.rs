//! Reports of fitted models: scores, calibration and effects as plots, in one self-contained HTML file or an SVG file each.
//!
//! ```
//! use negmm::{Method, Rng, Toy, fit};
//! use negmm_report::{EvaluationSet, Report};
//!
//! let table = Toy::Bimodal.sample(300, &mut Rng::new(1, 0));
//! let mut method = Method::by_name("ne-gmm")?;
//! method.set("epochs", "5")?;
//! let model = fit(&table, "y", &method)?;
//! let report = Report::new(&model, &EvaluationSet::of_table(&model, &table, None)?, "toy2")?;
//! assert!(report.html().starts_with("<!doctype html>"));
//! assert!(report.svgs().any(|(name, svg)| name == "pit" && svg.starts_with("<svg ")));
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! | from | to | module |
//! |---|---|---|
//! | a file, read once, or a table | [`EvaluationSet`]: all of its rows or a random sample | `evaluation_set`, `reservoir` |
//! | evaluation set and model | `Diagnostics`: statistics of each row, scores, importance, effects | `diagnostics`, `importance`, `input_effect`, `highlights` |
//! | evaluation set and model | contributions to mean and sd, dependence along inputs | `explanation` |
//! | diagnostics | `Plot`s: a figure, its caption, its data as a table | `plot` |
//! | a comparison of methods | one figure | `comparison` |
//! | plots | the page | `page`, `row_selector` |
//!
//! The same model and rows give the same bytes, and column names and cells are always escaped.

mod comparison;
mod diagnostics;
mod evaluation_set;
mod explanation;
mod forecast;
mod groups;
mod highlights;
mod importance;
mod input_effect;
mod joint;
mod joint_rows;
mod page;
mod plot;
mod point_probabilities;
mod predictions;
mod report;
mod reservoir;
mod row_selector;
mod text;
mod time_axis;

pub use comparison::comparison;
pub use evaluation_set::{EvaluationSet, EvaluationSetBuilder};
pub use page::STYLE;
pub use predictions::PredictionSetBuilder;
pub use report::Report;
