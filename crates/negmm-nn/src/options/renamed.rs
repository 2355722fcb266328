//! Names that options had in earlier versions, which are still accepted.

/// Pairs of a former and the current name of an option. Config files, searches, the command line and Python accept the former names;
/// front ends print a notice if one is used. Model files store options by their former names.
pub const RENAMED: &[(&str, &str)] = &[
    ("averaging", "ema-decay"),
    ("batch", "batch-size"),
    ("columns-share", "colsample"),
    ("depth", "max-depth"),
    ("members", "ensemble-size"),
    ("min-leaf", "min-samples-leaf"),
    ("normal-scores", "quantile-transform"),
    ("rounds", "n-estimators"),
    ("rows-share", "subsample"),
    ("validation", "validation-fraction"),
];

/// The current name of an option: that of [`RENAMED`] if `name` is a former one, else `name` itself.
///
/// ```
/// use negmm_nn::options::current_name;
///
/// assert_eq!(current_name("batch"), "batch-size");
/// assert_eq!(current_name("eta"), "eta");
/// ```
pub fn current_name(name: &str) -> &str {
    RENAMED.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current)
}
