//! Predicts a whole distribution for every row of a data set: a neural network maps the row to a Gaussian mixture and is
//! trained with the logarithmic score and the closed-form energy score. Mean, sd, quantiles, intervals, tail probabilities
//! and samples of the prediction are exact.
//!
//! ```
//! use negmm::method::{Auto, Preset};
//! use negmm::{Interval, Method, Model, Toy, fit};
//!
//! // One input, two branches: y is near x³ or near -x³.
//! let table = Toy::Bimodal.sample(500, &mut negmm::Rng::new(1, 0));
//! // auto, a calibrated pool of NE-GMMs
//! let method = Method::Auto(Auto::default().preset(Preset::Fast).steps(200));
//! let model = fit(&table, "y", &method)?;
//!
//! let predictions = model.predict(&table)?;
//! let Interval { lower, upper } = predictions.interval(0.9)?;
//! let probability_above_20 = predictions.above(20.0)?;
//! let crps = predictions.crps(&model.encoder().targets(&table)?)?;
//!
//! let again = Model::from_bytes(&model.to_bytes()?)?;
//! assert_eq!(predictions.quantile(0.95)?, again.predict(&table)?.quantile(0.95)?);
//! # let _ = (lower, upper, probability_above_20, crps);
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! Options can also be set from text: `Method::by_name("auto")?.set("preset", "fast")`.
//!
//! Data flow:
//!
//! | from | to | module |
//! |---|---|---|
//! | a CSV or Parquet file | [`Table`] | [`data`] |
//! | [`Table`] | [`data::Dataset`], by an [`Encoder`] | [`data`] |
//! | [`data::Dataset`] | [`train::Job`]s, by a [`Method`] | [`method`] |
//! | [`train::Job`]s | trained weights, by an [`train::Engine`] with [`net`] and [`score`] | [`train`] |
//! | weights and encoder | [`Model`] and its file | [`model`] |
//! | [`Table`] and [`Model`] | [`Predictions`]: exact [`Mixtures`] or [`samples`] in the target's unit | [`mixture`] |
//! | [`Predictions`] and [`Query`] | [`Columns`]: names, types and values, as CSV, JSON or Arrow | [`predict`] |
//! | [`Predictions`] and targets | [`Metrics`] | [`metrics`]; of censored targets [`censored`] |
//! | a [`Table`] of series and their [`forecast::SeriesSpec`] | a distribution for each step ahead | [`forecast`] |
//! | anybody's predictions, as a [`Table`] | [`Predictions`]; scores and tests | [`prediction_table`], [`verification`] |
//! | a [`Model`] and rows | contributions of columns to any answer, rows worth measuring | [`explain`] |
//! | [`Predictions`] and targets | recalibrated quantiles | [`recalibration`] |
//! | search spaces | the best configuration, with a journal of trials | [`tune`] |

mod accelerator;
pub mod by_group;
pub mod compare;
pub mod conformal;
pub mod explain;
pub mod forecast;
pub mod joint;
mod loaded;
pub mod method;
pub mod model;
pub mod monitor;
pub mod predict;
pub mod prediction_table;
pub mod recalibration;
mod standardised;
mod toy;
pub mod tune;

#[doc(hidden)]
pub use negmm_dist::suggestion;

/// Tables, type inference and encoding.
pub mod data {
    #[cfg(feature = "parquet")]
    #[doc(inline)]
    pub use negmm_data::{ArrowColumn, ParquetStream, ParquetWriter};
    #[doc(inline)]
    pub use negmm_data::{
        Atoms, CategoricalColumn, Categories, CellType, CensoredTargets, Chunk, Column, ColumnRoles, ColumnType,
        CsvStream, Dataset, Dialect, DrawnRows, ENCODED_LIMIT, EncodedTable, Encoder, EncoderOptions, Encoding,
        Extrapolation, FilesStream, Input, Intervals, KeptColumn, KeptType, Kind, MAX_CATEGORIES, MISSING, MOST_WINDOW,
        NO_CATEGORY, Novelty, NumberEncoding, NumberFormat, PredictedRows, QuantileTransform, ROW_ALIGN, RowStream,
        STATISTICS, Schema, ScratchTable, Sequence, Table, TableSize, Target, TargetEncoding, TargetSpec, TextEncoding,
        TimeDifference, TimeEncoding, TimeFormat, TimeOrder, TimePart, TypedColumn, Warnings, files_of, memory_limit,
        table_size, windows,
    };
    #[doc(inline)]
    pub use negmm_nn::scratch::Scratch;

    /// Splits of rows: training and validation, folds, groups, blocks in time.
    pub mod split {
        #[doc(inline)]
        pub use negmm_data::split::{blocks, grouped_folds, grouped_holdout, holdout, k_folds, repeated, tail};
    }

    /// Formats of dates and times.
    pub mod time {
        #[doc(inline)]
        pub use negmm_data::time::{Ambiguous, TimeFormat, clock, iso, moment, seconds_of};
    }
}

/// Gaussian mixtures.
pub mod mixture {
    #[doc(inline)]
    pub use negmm_dist::mixture::{Mixture, Mixtures, QuantileLevel, TailQuantile};
}

/// Predictions that are sets of samples.
pub mod samples {
    #[doc(inline)]
    pub use negmm_dist::samples::{SampleSet, SampleSets};
}

/// Scores of predictions against targets.
pub mod metrics {
    #[doc(inline)]
    pub use negmm_dist::metrics::{Metrics, MetricsAccumulator, PIT_BINS};
    #[doc(inline)]
    pub use negmm_dist::{ByCoverage, COVERAGES};
}

/// Predictions that are quantiles or histograms.
pub mod quantiles {
    #[doc(inline)]
    pub use negmm_dist::quantiles::{QuantileSet, QuantileSets};
}

/// Parametric families.
pub mod family {
    #[doc(inline)]
    pub use negmm_dist::family::{FAMILIES, Family, Shape};
}

/// Forecast verification: scores, calibration tests, decompositions and comparisons of anybody's predictions.
pub mod verification {
    #[doc(inline)]
    pub use negmm_dist::verification::*;
}

/// Scores of censored targets.
pub mod censored {
    #[doc(inline)]
    pub use negmm_dist::censored::{
        CALIBRATION_BINS, Censored, KaplanMeier, brier_times, concordance, integrated_brier,
    };
}

/// Proper scores with gradients, in `f64`.
pub mod score {
    #[doc(inline)]
    pub use negmm_dist::score::{
        Gradient, beta_nll, energy, hybrid, interval, log, logit_gradient, sample_energy, sinkhorn,
    };
}

/// Networks: their shape and parameters.
pub mod net {
    #[doc(inline)]
    pub use negmm_nn::net::{
        Activation, Atom, Atoms, Bounds, EmbeddedInput, GaussianHead, Head, JointHead, Layer, Lstm, LstmLayer,
        MAX_ATOMS, MAX_COMPONENTS, MAX_LSTM_LAYERS, MAX_LSTM_UNITS, MAX_SAMPLES, MIN_SAMPLES, MixtureHead, Network,
        ParameterView, Parameters, Periodic, SampleHead, Stem,
    };
}

/// Training: jobs, engines and their configuration.
pub mod train {
    #[doc(inline)]
    pub use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn};
    #[doc(inline)]
    pub use negmm_nn::train::{
        Callbacks, CpuEngine, Engine, Epoch, Estimate, Finish, ForestJob, History, Isa, Job, JobGroup, JobGroups,
        LinearJob, NetworkJob, Objective, Optimiser, Progress, Queue, SD_FACTORS, Schedule, Selection, Trained,
        TrainedNetwork, TrainingConfig, TrainingPlan, TreesJob, Validation, train,
    };
}

/// Natural-gradient boosting: its settings, fitted trees and their columns.
pub mod ngboost {
    #[doc(inline)]
    pub use negmm_nn::ngboost::{
        Boosted, BoostingScore, Columns, NgBoost, Node, Parts, Round, RoundScore, Splits, TrainedTrees, Tree,
    };
}

/// Random forests whose leaves hold the distribution of their targets.
pub mod forest {
    #[doc(inline)]
    pub use negmm_nn::forest::{Forest, ForestConfig, JointForest};
}

/// Options of methods: names, ranges, values and former names.
pub mod options {
    #[doc(inline)]
    pub use negmm_nn::options::{OptionInfo, RENAMED, ValueKind, current_name};
}

/// Threads of the library.
pub mod threads {
    #[doc(inline)]
    pub use negmm_nn::threads::{limit, pool};
}

pub use accelerator::Accelerator;
pub use joint::{JointModel, JointPredictions};
pub use loaded::Loaded;
pub use method::Method;
pub use model::{FitOptions, Model, UpdateOptions, fit, fit_with};
#[doc(inline)]
pub use negmm_data::{Encoder, Table};
#[doc(inline)]
pub use negmm_dist::{
    Distribution, DistributionKind, DistributionRef, Error, ErrorKind, HighestDensityRegion, Hint, Interval,
    JointMixture, JointMixtures, Location, LocationPart, Metrics, Mixture, Mixtures, Predictions, QuantileAccelerator,
    Result, Rng, Skill, SkillAccumulator, Support, TailQuantile, Warning, Wording,
};
pub use predict::{Columns, Query};
pub use toy::Toy;
