//! Predictive distributions and their scores, exactly, in `f64`: Gaussian mixtures, sets of samples, [quantiles] and
//! histograms, parametric [families](family); bounded, rounded and atomic targets; quantiles, highest-density regions, CRPS, log
//! score, energy score, coverage, censored scores, and [forecast verification](verification) of anybody's predictions.
//!
//! Nothing here reads or writes files. `math` is also what `negmm-nn` trains with.

pub mod accelerator;
mod by_coverage;
pub mod censored;
pub mod censored_targets;
pub mod distribution;
pub mod distribution_ref;
mod error;
pub mod family;
mod grid;
pub mod highest_density;
mod hint;
mod interval;
pub mod joint;
mod location;
#[doc(hidden)]
pub mod math;
pub mod metrics;
pub mod mixture;
#[doc(hidden)]
pub mod novelty;
pub mod predictive;
pub mod quantiles;
#[doc(hidden)]
pub mod quote;
pub mod samples;
pub mod score;
mod sentence;
pub mod skill;
#[doc(hidden)]
pub mod streams;
mod suggestion;
pub mod support;
pub mod verification;
mod warning;
#[doc(hidden)]
pub mod weights;
mod wording;

pub use accelerator::QuantileAccelerator;
pub use by_coverage::{ByCoverage, COVERAGES};
pub use censored_targets::CensoredTargets;
pub use distribution::Distribution;
pub use distribution_ref::{DistributionKind, DistributionRef};
pub use error::{Error, ErrorKind, Result};
pub use family::Family;
pub use highest_density::HighestDensityRegion;
pub use hint::Hint;
pub use interval::Interval;
pub use joint::{JointMixture, JointMixtures};
pub use location::{Location, LocationPart};
pub use math::rng::Rng;
pub use metrics::Metrics;
pub use mixture::{Mixture, Mixtures, TailQuantile};
pub use novelty::Novelty;
pub use predictive::{MemberMoments, Predictions};
pub use quantiles::QuantileSets;
pub use skill::{Skill, SkillAccumulator};
#[doc(hidden)]
pub use suggestion::suggestion;
pub use support::Support;
pub use warning::Warning;
pub use wording::Wording;
