//! Scores joint `auto` on six tables with several targets, beside its forms alone and beside independent pools of single targets,
//! and prints a line for each: energy score (300 draws, the fair estimator, standardised targets), joint log score, variogram
//! score, CRPS and coverage of the sum, and seconds of the fit.
//!
//! ```text
//! joint [--sets a,b] [--splits N] [--split S] [--rows N] [--preset NAME] [--only joint|independent]
//! ```
//!
//! `--splits` is how many of the five splits (all), `--split` one of them from 0, `--rows` the most training rows. Data from the folder `NEGMM_DATA`, else
//! `../shared/data`.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use negmm::joint::{Copula, JointForm, JointMetrics, JointPart, fit_joint_with};
use negmm::method::NeGmm;
use negmm::{FitOptions, JointModel, Method, Model, Table, fit_with};
use negmm_bench::options::Options;

const SETS: [&str; 6] = ["enb", "jura", "slump", "births", "air", "house"];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--sets", "--splits", "--split", "--rows", "--preset", "--only"])?;
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
    if let Some(preset) = options.text("--preset") {
        joint.set("preset", preset)?;
        single.set("preset", preset)?;
    }
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
            if with_joint {
                let start = Instant::now();
                let fitted = fit_joint_with(&train, &names, &joint, &FitOptions::default())?;
                print("joint auto", &fitted.model, start.elapsed().as_secs_f64())?;
                for (name, energy) in &fitted.model.record().forms {
                    println!("# {set} {split}: held-out energy score of {name} {energy:.4}");
                }
                for part in fitted.model.parts() {
                    let what = format!("{} alone (weight {:.2})", part.form.name(), part.weight);
                    let alone = fitted.model.with_parts(vec![JointPart { weight: 1.0, form: part.form.clone() }])?;
                    print(&what, &alone, f64::NAN)?;
                }
            }
            if with_independent {
                let start = Instant::now();
                let models =
                    names.iter().map(|name| one(&train, name, &names, &single)).collect::<Result<Vec<_>, _>>()?;
                let seconds = start.elapsed().as_secs_f64();
                let d = names.len();
                let correlation = (0..d * d).map(|at| f64::from(u8::from(at / d == at % d))).collect();
                // Any joint model gives the targets their units.
                let mut quick = Method::from(NeGmm::default()).for_several_targets();
                quick.set("epochs", "1")?;
                let form = JointForm::Copula(Copula { models, correlation });
                let independent = fit_joint_with(&train, &names, &quick, &FitOptions::default())?.model;
                let independent = independent.with_parts(vec![JointPart { weight: 1.0, form }])?;
                print("independent pools", &independent, seconds)?;
            }
        }
    }
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
