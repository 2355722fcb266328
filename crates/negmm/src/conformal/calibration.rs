//! Split-conformal calibration: conformity scores of the calibration set, by group, and the sets they give.

use serde::{Deserialize, Serialize};

use super::conformity_scores::ConformityScores;
use super::density_ratio::DensityRatio;
use super::guarantee::{GroupGuarantee, Guarantee};
use super::labels::Labels;
use negmm_dist::{Error, Predictions, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// Maximum number of groups: a column with more is not a grouping.
const MOST_GROUPS: usize = 1000;

/// The name of weights that follow from inputs, where a column has none.
const SHIFT: &str = "(weights of inputs)";

/// The kind of a prediction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// Central intervals.
    Intervals,
    /// Highest-density regions; of several targets too.
    Regions,
    /// Ellipsoids of several targets, by the Mahalanobis distance.
    Ellipsoids,
}

/// Prediction sets of one kind and nominal coverage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetSpec {
    /// The kind of set.
    pub kind: SetKind,
    /// Nominal coverage.
    pub coverage: f64,
}

impl SetSpec {
    /// Central intervals of this coverage.
    pub fn intervals(coverage: f64) -> Self {
        Self { kind: SetKind::Intervals, coverage }
    }

    /// Highest-density regions of this coverage.
    pub fn regions(coverage: f64) -> Self {
        Self { kind: SetKind::Regions, coverage }
    }
}

/// A calibration set under construction.
#[derive(Clone, Debug, Default)]
pub struct CalibrationSet {
    /// Conformity scores for intervals (of several targets: ellipsoids) and for regions.
    scores: Vec<(f64, f64)>,
    labels: Labels,
}

impl CalibrationSet {
    /// Adds rows that were not used for training: their predictions, targets and labels.
    ///
    /// # Errors
    /// When the numbers of targets and rows differ, or a target is NaN.
    pub fn add(&mut self, predictions: &Predictions, y: &[f64], labels: Labels) -> Result<()> {
        let scores = predictions.each_with(y, |row, y| (row.interval_tail(y), row.region_tail(y)))?;
        self.add_scores(scores, labels);
        Ok(())
    }

    /// Adds rows with these conformity scores, for ellipsoids and for regions.
    pub(crate) fn add_scores(&mut self, scores: impl IntoIterator<Item = (f64, f64)>, labels: Labels) {
        self.scores.extend(scores);
        self.labels.groups.extend(labels.groups);
        self.labels.weights.extend(labels.weights);
    }

    /// The rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.scores.len()
    }

    /// As [`CalibrationSet::calibration`] without a column of weights: each row is weighted by the ratio of the density of
    /// the inputs `new` to that of the calibration rows, `old`, which are encoded in the order in which they were added.
    ///
    /// # Errors
    /// As [`CalibrationSet::calibration`], and when there are too few rows.
    pub fn shifted(mut self, by: Option<&str>, old: &Dataset, new: &Dataset) -> Result<Calibration> {
        let ratio = DensityRatio::fit(old, new)?;
        self.labels.weights = ratio.weights(old);
        let calibration = self.calibration(by, Some(SHIFT))?;
        Ok(Calibration { weight: None, shift: Some(ratio), ..calibration })
    }

    /// The calibration from these rows; `by` is the column of groups, `weight` that of weights.
    ///
    /// # Errors
    /// When there are no rows, the numbers of groups or weights and rows differ, or a weight is negative.
    pub fn calibration(self, by: Option<&str>, weight: Option<&str>) -> Result<Calibration> {
        let Self { scores, labels: Labels { groups, weights } } = self;
        if scores.is_empty() {
            return Err(Error::data(
                "conformal prediction sets need at least 1 row that the model has not seen, found none",
            ));
        }
        if let Some(name) = weight {
            check_weights(name, &weights, scores.len())?;
        }
        let mut names: Vec<&str> = match by {
            Some(name) => {
                check_groups(name, groups.len(), scores.len())?;
                groups.iter().map(String::as_str).collect()
            }
            None => vec![""],
        };
        names.sort_unstable();
        names.dedup();
        if names.len() > MOST_GROUPS {
            let (name, found) = (by.unwrap_or_default(), names.len());
            return Err(Error::data(format!("column {name:?} has {found} groups, and {MOST_GROUPS} is the most")));
        }
        let mut rows = vec![(Vec::new(), Vec::new()); names.len()];
        for (row, (interval, region)) in scores.into_iter().enumerate() {
            let name = if by.is_some() { &groups[row] } else { "" };
            let own = if weight.is_some() { weights[row] } else { 1.0 };
            if own > 0.0 {
                let (intervals, regions) = &mut rows[names.binary_search(&name).unwrap_or(0)];
                intervals.push((interval, own));
                regions.push((region, own));
            }
        }
        let group = |(name, (intervals, regions)): (&str, (Vec<_>, Vec<_>))| Group {
            name: name.to_string(),
            rows: intervals.len(),
            intervals: ConformityScores::new(intervals),
            regions: ConformityScores::new(regions),
        };
        Ok(Calibration {
            by: by.map(str::to_string),
            weight: weight.map(str::to_string),
            shift: None,
            out_of_fold: false,
            groups: names.into_iter().zip(rows).map(group).collect(),
        })
    }
}

/// A conformal calibration of a model: it turns predictions into sets with a coverage guarantee.
///
/// ```
/// use negmm::conformal::{Calibration, ConformalPredictor, Labels, SetKind};
/// use negmm::{Interval, Mixtures, Predictions};
///
/// let normal = |rows: usize, sd: f64| {
///     Predictions::from(Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![sd; rows]).unwrap())
/// };
/// // A model whose sd is half of what it should be.
/// let predict = |rows: usize| normal(rows, 0.5);
/// let y = normal(999, 1.0).sample(1, 7, 0);
/// let calibration = Calibration::learn(&predict(999), &y)?;
/// let predictor = ConformalPredictor::Calibrated(&calibration, &Labels::default());
/// let Interval { lower, upper } = predictor.intervals(&predict(1), 0.9)?;
/// assert!(lower[0] < -1.5 && 1.5 < upper[0] && upper[0] < 1.8);
/// let sentence = calibration.guarantees(SetKind::Intervals, 0.9)[0].guarantee.to_string();
/// assert!(sentence.starts_with("at least 90 % on average; for this model at least 88.7 % with 90 % confidence"));
/// # Ok::<(), negmm::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    by: Option<String>,
    weight: Option<String>,
    /// The weights of rows by their inputs, where they were estimated.
    shift: Option<DensityRatio>,
    /// Whether the rows were predicted out of fold, by parts of the final model.
    out_of_fold: bool,
    groups: Vec<Group>,
}

/// The rows of one group; all rows where there are no groups.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    name: String,
    rows: usize,
    intervals: ConformityScores,
    regions: ConformityScores,
}

impl Group {
    fn scores(&self, sets: SetKind) -> &ConformityScores {
        match sets {
            SetKind::Intervals | SetKind::Ellipsoids => &self.intervals,
            SetKind::Regions => &self.regions,
        }
    }
}

/// A calibration without its conformity scores, as stored in a model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct CalibrationShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift: Option<DensityRatio>,
    #[serde(default, rename = "crossed")]
    out_of_fold: bool,
    /// Name and number of rows of each group.
    groups: Vec<(String, usize)>,
}

impl Calibration {
    /// The calibration from predictions of rows that were not used for training, and their targets.
    ///
    /// # Errors
    /// When the numbers of targets and rows differ, a target is NaN, or there are no rows.
    pub fn learn(predictions: &Predictions, y: &[f64]) -> Result<Self> {
        let mut rows = CalibrationSet::default();
        rows.add(predictions, y, Labels::default())?;
        rows.calibration(None, None)
    }

    /// The calibration from out-of-fold predictions, made by parts of the final model.
    pub(crate) fn of_out_of_fold(predictions: &Predictions, y: &[f64]) -> Result<Self> {
        Ok(Self { out_of_fold: true, ..Self::learn(predictions, y)? })
    }

    /// The column of groups, for guarantees within each group.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// The column of weights.
    pub fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// Whether rows are weighted by their inputs, towards those of other rows.
    pub fn is_shifted(&self) -> bool {
        self.shift.is_some()
    }

    /// The weights of encoded rows, where they follow from their inputs.
    pub fn shift_weights(&self, data: &Dataset) -> Option<Vec<f64>> {
        self.shift.as_ref().map(|shift| shift.weights(data))
    }

    fn is_weighted(&self) -> bool {
        self.weight.is_some() || self.shift.is_some()
    }

    /// Whether it comes from out-of-fold predictions rather than from a separate calibration set.
    pub fn is_out_of_fold(&self) -> bool {
        self.out_of_fold
    }

    /// Number of calibration rows.
    pub fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows).sum()
    }

    /// The guarantee of sets of this coverage in each group; without groups a single one with an empty name.
    pub fn guarantees(&self, sets: SetKind, coverage: f64) -> Vec<GroupGuarantee<'_>> {
        let of = |group: &Group| match (self.out_of_fold, self.is_weighted()) {
            (false, false) => Guarantee::split(coverage, group.rows, group.scores(sets)),
            (_, weighted) => Guarantee::without_bound(coverage, group.rows, weighted, group.scores(sets)),
        };
        self.groups.iter().map(|group| GroupGuarantee { group: &group.name, guarantee: of(group) }).collect()
    }

    /// Number of rows whose group is not in the calibration set: their sets are unbounded.
    pub fn unseen_groups(&self, labels: &Labels) -> usize {
        labels.groups.iter().filter(|name| self.by.is_some() && self.group(name).is_none()).count()
    }

    fn group(&self, name: &str) -> Option<&Group> {
        let at = self.groups.binary_search_by(|group| group.name.as_str().cmp(name)).ok()?;
        Some(&self.groups[at])
    }

    /// The model's own probability that the set of each row excludes; 0: the set is unbounded.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1, or the rows lack the labels that the calibration needs.
    pub fn outside(&self, sets: SetKind, coverage: f64, count: usize, labels: &Labels) -> Result<Vec<f64>> {
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::options(format!("expected a coverage strictly between 0 and 1, found {coverage}")));
        }
        if let Some(name) = &self.by {
            check_groups(name, labels.groups.len(), count)?;
        }
        if self.is_weighted() {
            check_weights(self.weight.as_deref().unwrap_or(SHIFT), &labels.weights, count)?;
        }
        let of = |group: Option<&Group>, weight| match group {
            Some(group) => group.scores(sets).threshold(coverage, weight).outside,
            None => 0.0,
        };
        if self.by.is_none() && !self.is_weighted() {
            return Ok(vec![of(self.groups.first(), 1.0); count]);
        }
        let of_row = |row: usize| {
            let group = if self.by.is_some() { self.group(&labels.groups[row]) } else { self.groups.first() };
            of(group, if self.is_weighted() { labels.weights[row] } else { 1.0 })
        };
        Ok((0..count).map(of_row).collect())
    }

    /// The stored parts: the shape as text, the conformity scores as tensors.
    pub(crate) fn write(&self) -> (CalibrationShape, Vec<Tensor>) {
        let groups = self.groups.iter().map(|group| (group.name.clone(), group.rows)).collect();
        let shape = CalibrationShape {
            by: self.by.clone(),
            weight: self.weight.clone(),
            shift: self.shift.clone(),
            out_of_fold: self.out_of_fold,
            groups,
        };
        let tensors = self.groups.iter().enumerate().flat_map(|(number, group)| {
            let tensor = |name: &str, scores: &ConformityScores| {
                let pairs = scores.scores.iter().zip(&scores.weights).flat_map(|(score, weight)| [*score, *weight]);
                Tensor::new(format!("calibration.{number}.{name}"), vec![scores.scores.len(), 2], pairs)
            };
            [tensor("intervals", &group.intervals), tensor("regions", &group.regions)]
        });
        (shape, tensors.collect())
    }

    /// The calibration from its stored parts.
    pub(crate) fn read(
        shape: CalibrationShape,
        features: usize,
        tensors: &Tensors<'_>,
    ) -> std::result::Result<Self, Flaw> {
        let CalibrationShape { by, weight, shift, out_of_fold, groups } = shape;
        if shift.as_ref().is_some_and(|shift| !shift.is_sound(features)) {
            return Err("the weights of its calibration are not those of its inputs".into());
        }
        let is_weighted = weight.is_some() || shift.is_some();
        if groups.is_empty() || by.is_none() && groups.len() > 1 || !groups.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the groups of its calibration are not in order".into());
        }
        let group = |(number, (name, rows)): (usize, (String, usize))| {
            let read = |what: &str| {
                let numbers: Vec<f64> = numbers_of(tensors, &format!("calibration.{number}.{what}"), None)?;
                let (scores, weights): (Vec<f64>, Vec<f64>) =
                    numbers.as_chunks().0.iter().map(|[a, b]| (*a, *b)).unzip();
                let sound = scores.is_sorted_by(|a, b| a < b)
                    && scores.iter().all(|score| (0.0..=1.0).contains(score))
                    && weights.iter().all(|weight| *weight > 0.0 && weight.is_finite())
                    && (is_weighted || weights.iter().sum::<f64>() == rows as f64)
                    && (rows > 0 || scores.is_empty());
                if sound {
                    Ok(ConformityScores { scores, weights })
                } else {
                    Err("the conformity scores of its calibration are not in order".to_string())
                }
            };
            Ok(Group { rows, intervals: read("intervals")?, regions: read("regions")?, name })
        };
        let groups = groups.into_iter().enumerate().map(group).collect::<std::result::Result<_, Flaw>>()?;
        Ok(Self { by, weight, shift, out_of_fold, groups })
    }
}

fn check_groups(name: &str, found: usize, rows: usize) -> Result<()> {
    if found == rows {
        return Ok(());
    }
    Err(Error::data(format!(
        "conformal prediction sets go by column {name:?}: expected {rows} groups, one for each row, found {found}"
    )))
}

fn check_weights(name: &str, weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        let found = weights.len();
        return Err(Error::data(format!(
            "conformal prediction sets are weighted by column {name:?}: expected {rows} weights, one for each row, found {found}"
        )));
    }
    match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        Some(row) => {
            let found = weights[row];
            Err(Error::data(format!(
                "column {name:?}: expected a weight that is finite and not negative, found {found}"
            ))
            .at_row(row as u64))
        }
        None => Ok(()),
    }
}
