//! The results file: one JSON line for each dataset, method and split, appended as soon as it is known.

use negmm::Distribution;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use negmm::{DistributionRef, Interval, Predictions};
use serde::{Deserialize, Serialize};

/// One method on one split of one dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The dataset.
    pub set: String,
    /// The method with its settings, or the peer.
    pub method: String,
    /// The split, counted from 0.
    pub split: usize,
    /// Scores, or the reason why it was skipped.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Scores, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    /// It was not run.
    Skipped {
        /// Why.
        skipped: String,
    },
    /// It was run.
    Scored(FitScores),
}

/// All scores of one fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitScores {
    /// Of all test rows.
    #[serde(flatten)]
    pub all: Means,
    /// Seconds of the fit.
    pub seconds: f64,
    /// Seconds of predicting the test rows.
    pub seconds_predict: f64,
    /// Of the test rows whose inputs are in no training row; none without such rows.
    pub new: Option<Means>,
}

/// Means over test rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Means {
    /// Test rows.
    pub rows: usize,
    /// Logarithmic score, where the prediction has a density.
    pub nll: Option<f64>,
    /// -log of the probability within half a step of the target, where targets lie on a grid.
    pub mass_nll: Option<f64>,
    /// Energy score.
    pub crps: f64,
    /// Root mean squared error of the mean.
    pub rmse: f64,
    /// Fraction of targets inside the central 95 % interval.
    pub coverage95: f64,
    /// Mean width of that interval.
    pub width95: f64,
}

/// The scores of each test row.
#[derive(Debug)]
pub struct RowScores {
    nll: Vec<f64>,
    mass_nll: Option<Vec<f64>>,
    crps: Vec<f64>,
    squared_error: Vec<f64>,
    inside: Vec<f64>,
    width: Vec<f64>,
}

impl RowScores {
    /// Scores predictions against their targets, which lie on a grid of that step if there is one.
    pub fn of(predictions: &Predictions, y: &[f64], step: Option<f64>) -> negmm::Result<Self> {
        let Interval { lower, upper } = predictions.interval(0.95)?;
        let density = if predictions.samples().is_some() { predictions.moment_matched() } else { predictions.clone() };
        let mass_nll = |step: f64| density.rows().zip(y).map(|(row, y)| -mass(row, *y, step).ln()).collect();
        Ok(Self {
            nll: predictions.nll(y)?,
            mass_nll: step.map(mass_nll),
            crps: predictions.crps(y)?,
            squared_error: predictions.mean().iter().zip(y).map(|(mean, y)| (mean - y) * (mean - y)).collect(),
            inside: y.iter().enumerate().map(|(at, y)| f64::from(lower[at] <= *y && *y <= upper[at])).collect(),
            width: upper.iter().zip(&lower).map(|(upper, lower)| upper - lower).collect(),
        })
    }

    /// Means over the selected rows; none without any.
    pub fn means(&self, chosen: &[bool]) -> Option<Means> {
        let rows = chosen.iter().filter(|chosen| **chosen).count();
        let mean = |scores: &[f64]| {
            scores.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(score, _)| score).sum::<f64>() / rows as f64
        };
        (rows > 0).then(|| Means {
            rows,
            nll: Some(mean(&self.nll)),
            mass_nll: self.mass_nll.as_deref().map(mean),
            crps: mean(&self.crps),
            rmse: mean(&self.squared_error).sqrt(),
            coverage95: mean(&self.inside),
            width95: mean(&self.width),
        })
    }
}

/// The probability within half a `step` of `y`, from the tail without cancellation; never 0.
fn mass(row: DistributionRef<'_>, y: f64, step: f64) -> f64 {
    let (below, above) = (y - 0.5 * step, y + 0.5 * step);
    let mass = if y < row.mean() { row.cdf(above) - row.cdf(below) } else { row.survival(below) - row.survival(above) };
    mass.max(f64::MIN_POSITIVE)
}

/// The lines of a file; none where there is no file yet.
pub fn read(path: &Path) -> Result<Vec<Line>, String> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("{}, line {}: {error}", path.display(), number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

/// The lines of several files, which must exist.
pub fn read_all(files: &[String]) -> Result<Vec<Line>, String> {
    if let Some(missing) = files.iter().find(|file| !Path::new(file).exists()) {
        return Err(format!("there is no file {missing}"));
    }
    Ok(files.iter().map(|file| read(Path::new(file))).collect::<Result<Vec<_>, _>>()?.concat())
}

/// Adds a line, whole, at the end of a file.
pub fn append(path: &Path, line: &Line) -> Result<(), String> {
    let text = serde_json::to_string(line).map_err(|error| error.to_string())? + "\n";
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::Mixtures;

    /// Standard normal predictions.
    fn standard(rows: usize) -> Predictions {
        Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![1.0; rows]).unwrap().into()
    }

    #[test]
    fn scores_of_chosen_rows() {
        let scores = RowScores::of(&standard(3), &[0.0, 1.0, -30.0], Some(1.0)).unwrap();
        assert_eq!(scores.means(&[false; 3]), None);
        let means = scores.means(&[true, true, false]).unwrap();
        assert_eq!((means.rows, means.coverage95), (2, 1.0));
        // (ln(2 pi) + 1 / 2) / 2, and the standard normal cdf at 0.5 and 1.5.
        assert!((means.nll.unwrap() - (0.918_939 + 0.25)).abs() < 1e-6);
        let mass = -0.5 * (0.382_925_f64.ln() + (0.933_193_f64 - 0.691_462).ln());
        assert!((means.mass_nll.unwrap() - mass).abs() < 1e-5);
        assert!((means.rmse - 0.5_f64.sqrt()).abs() < 1e-12);
        assert!((means.width95 - 3.919_928).abs() < 1e-6);
        let far = scores.means(&[false, false, true]).unwrap();
        assert_eq!(far.coverage95, 0.0);
        assert!(far.mass_nll.unwrap() > 400.0 && far.mass_nll.unwrap().is_finite());
    }

    #[test]
    fn lines_come_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        assert_eq!(read(&path).unwrap(), []);
        let scores = RowScores::of(&standard(2), &[0.0, 1.0], None).unwrap();
        let all = scores.means(&[true, true]).unwrap();
        let score = FitScores { new: scores.means(&[true, false]), all, seconds: 0.5, seconds_predict: 0.1 };
        let skipped = Outcome::Skipped { skipped: "too slow".into() };
        let outcomes = [Outcome::Scored(score), skipped];
        let lines =
            outcomes.map(|outcome| Line { set: "yacht".into(), method: "constant".into(), split: 3, outcome }).to_vec();
        lines.iter().for_each(|line| append(&path, line).unwrap());
        assert_eq!(read(&path).unwrap(), lines);
        std::fs::write(&path, "{\"set\": \"yacht\"}\n").unwrap();
        assert!(read(&path).unwrap_err().contains("line 1"));
    }
}
