//! Scores joint `auto` on six tables with several targets, beside its forms alone and beside independent pools of single targets,
//! and prints a line for each: energy score (300 draws, the fair estimator, standardised targets), joint log score, variogram
//! score, CRPS and coverage of the sum, and seconds of the fit. Independent pools are the product of the predictions of the targets;
//! their joint log score is the sum of those of the targets, for targets on a grid that of the probability of a cell. Up to 2,000
//! rows their models are those of the copula, which are the same; beyond they are fitted, with the default settings.
//! Seconds are of the processor.
//!
//! ```text
//! joint [--sets a,b] [--splits N] [--split S] [--rows N] [--set NAME=VALUE] [--only joint|independent] [--univariate 1]
//! ```
//!
//! `--set` sets an option of both methods, `--univariate` fits only that many of the targets for the time of a univariate fit.
//! `--splits` is how many of the five splits (all), `--split` one of them from 0, `--rows` the most training rows. Data from the folder `NEGMM_DATA`, else
//! `../shared/data`.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};

use negmm::joint::{JointForm, JointMetrics, JointPart, SCORE_DRAWS, fit_joint_with};
use negmm::{FitOptions, JointModel, Method, Model, Table, fit_with};
use negmm_bench::options::Options;
use negmm_bench::usage::own_cpu_seconds;
use negmm_dist::Distribution;
use negmm_dist::joint::{energy_of_draws, variogram_of_draws};

/// Rows up to which the copula has the models that independent pools have.
const CROSS_VALIDATED: usize = 2_000;
const SETS: [&str; 6] = ["enb", "jura", "slump", "births", "air", "house"];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--sets", "--splits", "--split", "--rows", "--set", "--only", "--univariate"])?;
    let splits: usize = options.get("--splits", usize::MAX)?;
    let only: Option<usize> = options.text("--split").map(|_| options.get("--split", 0)).transpose()?;
    let [with_joint, with_independent] = match options.text("--only") {
        None => [true, true],
        Some("joint") => [true, false],
        Some("independent") => [false, true],
        Some(other) => return Err(format!("--only cannot be {other:?}").into()),
    };
    let most: usize = options.get("--rows", usize::MAX)?;
    let sets: Vec<String> = options.list("--sets", SETS.map(str::to_string).to_vec())?;
    let (mut joint, mut single) = (Method::default().for_several_targets(), Method::default());
    if let Some(text) = options.text("--set") {
        let (name, value) = text.split_once('=').ok_or("--set needs NAME=VALUE")?;
        joint.set(name, value)?;
        single.set(name, value)?;
    }
    let univariate: usize = options.get("--univariate", 0)?;
    let data = std::env::var_os("NEGMM_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let folder = data.join("joint");
    let targets: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(folder.join("targets.json"))?)?;
    println!(
        "| set | split | what | energy | NLL | variogram | CRPS of sum | sum in 90 % | region in 90 % | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for set in &sets {
        let names: Vec<&str> =
            targets[set].as_array().ok_or("targets of a set")?.iter().filter_map(|name| name.as_str()).collect();
        let table = Table::read(folder.join(format!("{set}.csv.gz")))?;
        for (split, line) in unpacked(&folder.join(format!("splits/{set}.txt.gz")))?.lines().enumerate().take(splits) {
            if only.is_some_and(|only| only != split) {
                continue;
            }
            let test: Vec<usize> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
            let mut is_test = vec![false; table.rows()];
            test.iter().for_each(|row| is_test[*row] = true);
            let train: Vec<usize> = (0..table.rows()).filter(|row| !is_test[*row]).take(most).collect();
            let (train, test) = (table.select_rows(&train), table.select_rows(&test));
            let print = |what: &str, model: &JointModel, seconds: f64| -> Result<(), Box<dyn Error>> {
                let y = model.observed(&test)?;
                let scores = JointMetrics::new(&model.predict(&test)?, &y, None)?;
                println!(
                    "| {set} | {split} | {what} | {:.4} | {:.3} | {:.4} | {:.4} | {:.1} | {:.1} | {seconds:.1} |",
                    scores.energy,
                    scores.nll,
                    scores.variogram,
                    scores.crps_of_sum,
                    100.0 * scores.coverage_of_sum,
                    100.0 * scores.coverage[1],
                );
                Ok(())
            };
            let mut of_copula: Option<Vec<Model>> = None;
            if with_joint {
                let start = own_cpu_seconds();
                let fitted = fit_joint_with(&train, &names, &joint, &FitOptions::default())?;
                print("joint auto", &fitted.model, own_cpu_seconds() - start)?;
                for (name, energy) in &fitted.model.record().forms {
                    println!("# {set} {split}: held-out energy score of {name} {energy:.4}");
                }
                for part in fitted.model.parts() {
                    let what = format!("{} alone (weight {:.2})", part.form.name(), part.weight);
                    let alone = fitted.model.with_parts(vec![JointPart { weight: 1.0, form: part.form.clone() }])?;
                    print(&what, &alone, f64::NAN)?;
                    if let JointForm::Copula(copula) = &part.form {
                        of_copula = Some(copula.models.clone());
                    }
                }
            }
            for name in names.iter().take(univariate) {
                let start = own_cpu_seconds();
                one(&train, name, &names, &single)?;
                println!("# {set} {split}: {:.1} s for {name} alone", own_cpu_seconds() - start);
            }
            if with_independent {
                let start = own_cpu_seconds();
                let models = match of_copula.filter(|_| train.rows() <= CROSS_VALIDATED) {
                    Some(models) => models,
                    None => names.iter().map(|name| one(&train, name, &names, &single)).collect::<Result<_, _>>()?,
                };
                let seconds = own_cpu_seconds() - start;
                print_independent((set, split), &models, &train, &test, seconds)?;
            }
        }
    }
    Ok(())
}

/// Prints the scores of the product of the predictions of single targets, by the same number of draws as joint ones. Its joint log
/// score is the sum of those of the targets.
fn print_independent(
    (set, split): (&str, usize),
    models: &[Model],
    train: &Table,
    test: &Table,
    seconds: f64,
) -> Result<(), Box<dyn Error>> {
    let d = models.len();
    let (mut y, mut draws, mut nll) = (Vec::new(), Vec::new(), 0.0);
    let rows = test.rows();
    for (target, model) in models.iter().enumerate() {
        let name = &model.encoder().target().name;
        let column = |table: &Table| table.numbers(name).ok_or("a target").map(|list| list.map(|list| list.to_vec()));
        let (learnt, own) = (column(train)??, column(test)??);
        let mean = learnt.iter().sum::<f64>() / learnt.len() as f64;
        let sd = (learnt.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / learnt.len() as f64).sqrt();
        let predictions = model.predict(test)?;
        nll += predictions.rows().zip(&own).map(|(row, y)| row.log_score(*y)).sum::<f64>() / rows as f64;
        let standardised = |y: &f64| (y - mean) / sd;
        draws.push(predictions.sample(SCORE_DRAWS, target as u64, 0).iter().map(standardised).collect::<Vec<f64>>());
        y.push(own.iter().map(standardised).collect::<Vec<f64>>());
    }
    let mut sums = [0.0; 4];
    for row in 0..rows {
        let own: Vec<f64> = y.iter().map(|target| target[row]).collect();
        let vectors: Vec<f64> = (0..SCORE_DRAWS)
            .flat_map(|draw| draws.iter().map(move |target| target[row * SCORE_DRAWS + draw]))
            .collect();
        let mut sum_of_draws: Vec<f64> = vectors.chunks_exact(d).map(|vector| vector.iter().sum()).collect();
        sum_of_draws.sort_by(f64::total_cmp);
        let sum: f64 = own.iter().sum();
        let at = |level: f64| sum_of_draws[(level * (SCORE_DRAWS - 1) as f64).round() as usize];
        let inside = at(0.05) <= sum && sum <= at(0.95);
        let scores = [
            energy_of_draws(&vectors, &own),
            variogram_of_draws(&vectors, &own, 0.5),
            energy_of_draws(&sum_of_draws, &[sum]),
            f64::from(u8::from(inside)),
        ];
        sums.iter_mut().zip(scores).for_each(|(total, score)| *total += score / rows as f64);
    }
    let [energy, variogram, crps_of_sum, in_sum] = sums;
    println!(
        "| {set} | {split} | independent pools | {energy:.4} | {nll:.3} | {variogram:.4} | {crps_of_sum:.4} | {:.1} | | {seconds:.1} |",
        100.0 * in_sum
    );
    Ok(())
}

/// A model of one target, without the others among its inputs.
fn one(table: &Table, target: &str, all: &[&str], method: &Method) -> negmm::Result<Model> {
    let others = all.iter().filter(|name| **name != target).copied();
    let roles = negmm::data::ColumnRoles::default().ignore(others);
    fit_with(table, target, method, &FitOptions::default().inputs(roles)).map(|fitted| fitted.model)
}

fn unpacked(path: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}
