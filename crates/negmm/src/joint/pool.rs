//! The pool of `auto` for several targets: its forms, and their stacking weights by held-out energy score.
//!
//! With few rows the forms are compared by cross-validation, a chain among them, and sds are scaled by what that shows; with
//! many, forms are compared by the held-out predictions of their own folds, where a row is predicted by fewer networks than the pool
//! has, so that they would say too much of its width. Where the pool is not clearly better than the constant, the constant predicts.

use std::collections::BTreeMap;

use super::chain::Chain;
use super::copula::{self, Copula};
use super::linear::{JointLinear, around};
use super::networks::{NetworkForm, train_networks};
use super::scales::Scales;
use super::targets::EncodedTargets;
use super::{JointForm, JointPart, forest, stacking};
use crate::method::{Auto, Method, Preset};
use crate::model::{FitOptions, Fitted, Model, fit_with};
use negmm_data::{ColumnRoles, Table};
use negmm_dist::{Error, JointMixtures, Predictions, Result, Rng, streams};
use negmm_nn::dataset::split::{grouped_folds, k_folds};
use negmm_nn::train::History;

/// Rows up to which forms are compared by cross-validation, and its folds.
const CROSS_VALIDATED: usize = 2_000;
const FOLDS: usize = 3;
/// Rows up to which there are more folds: a fold is a large part of the few rows.
const FEW: usize = 500;
const FOLDS_OF_FEW: usize = 5;
/// Held-out rows at most by which the forms of more rows are compared.
const MOST_COMPARED: usize = 2_000;
/// Targets up to which the models of single targets have the whole effort with many rows.
const MOST_THOROUGH: usize = 3;
/// Targets up to which there is a chain: its slopes ask every link once for each target before it.
const MOST_LINKS: usize = 6;
/// Rows with all targets that a forest needs.
const LEAST_OF_FOREST: usize = 20;

/// The pool with its held-out predictions of standardised targets.
pub(super) struct Pool {
    pub(super) parts: Vec<JointPart>,
    pub(super) rows: Vec<usize>,
    pub(super) held_out: JointMixtures,
    pub(super) histories: Vec<History>,
    /// The held-out energy score of each form.
    pub(super) energies: Vec<(String, f64)>,
    /// The factors of sds.
    pub(super) scales: Scales,
}

/// Fits the pool of `auto`.
pub(super) fn fit(encoded: &EncodedTargets, auto: &Auto, options: &FitOptions<'_>) -> Result<Pool> {
    if encoded.table.rows() <= CROSS_VALIDATED {
        few_rows(encoded, auto, options)
    } else {
        many_rows(encoded, auto, options)
    }
}

/// Whether targets have atoms, of which networks and chains know nothing.
fn has_atoms(encoded: &EncodedTargets) -> bool {
    encoded.targets.iter().any(|target| target.atoms.is_some())
}

/// The settings of models of single targets.
fn of_one_target(auto: &Auto) -> Method {
    Method::Auto(Auto { eta: Auto::default().eta.min(auto.eta.max(ETA_OF_ONE)), ..auto.clone() })
}

/// Weight of the logarithmic score in models of single targets, at least.
const ETA_OF_ONE: f64 = 0.5;

/// The roles of columns for one target, with those in `inputs` among its inputs.
fn roles_of(roles: &ColumnRoles, names: &[String], target: usize, inputs: &[String]) -> ColumnRoles {
    let others = names.iter().enumerate().filter(|(at, name)| *at != target && !inputs.contains(name));
    let ignore = roles.ignore.iter().cloned().chain(others.map(|(_, name)| name.clone()));
    let mut own = roles.clone().ignore(ignore);
    if let Some(features) = &mut own.features {
        features.extend(inputs.iter().cloned());
    }
    own
}

/// A model of one target, from the rows that have it.
fn fit_one(
    (table, names): (&Table, &[String]),
    (target, inputs): (usize, &[String]),
    auto: &Auto,
    options: &FitOptions<'_>,
) -> Result<(Fitted, Vec<usize>)> {
    let known = table.rows_with(&names[target])?;
    let own = if known.len() == table.rows() { table.clone() } else { table.select_rows(&known) };
    let roles = roles_of(&options.inputs, names, target, inputs);
    let options = FitOptions { inputs: roles, ..options.clone() };
    Ok((fit_with(&own, &names[target], &of_one_target(auto), &options)?, known))
}

/// The copula over models of single targets with their held-out predictions: for each target a list by row.
struct CopulaFit {
    copula: Copula,
    /// For each target its held-out predictions, and the index of each table row among them.
    held_out: Vec<(Predictions, Vec<Option<usize>>)>,
}

fn fit_copula(table: &Table, names: &[String], y: &[f64], auto: &Auto, options: &FitOptions<'_>) -> Result<CopulaFit> {
    let d = names.len();
    let (mut models, mut held_out, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for target in 0..d {
        let (fitted, known) = fit_one((table, names), (target, &[]), auto, options)?;
        let mut index = vec![None; table.rows()];
        let mut score = vec![f64::NAN; table.rows()];
        let own = copula::normal_scores(&fitted.held_out.predictions, &fitted.held_out.y)?;
        for (at, row) in fitted.held_out.rows.iter().enumerate() {
            index[known[*row]] = Some(at);
            score[known[*row]] = if y[known[*row] * d + target].is_nan() { f64::NAN } else { own[at] };
        }
        models.push(fitted.model);
        held_out.push((fitted.held_out.predictions, index));
        scores.push(score);
    }
    Ok(CopulaFit { copula: Copula { models, correlation: copula::correlation(&scores) }, held_out })
}

/// The links of a chain; the first is that of the copula.
fn fit_chain(first: &Model, table: &Table, names: &[String], auto: &Auto, options: &FitOptions<'_>) -> Result<Chain> {
    let mut links = vec![first.clone()];
    for target in 1..names.len() {
        links.push(fit_one((table, names), (target, &names[..target]), auto, options)?.0.model);
    }
    Ok(Chain { links })
}

/// Which forms a pool has.
fn has_chain(encoded: &EncodedTargets) -> bool {
    encoded.targets.len() <= MOST_LINKS && !has_atoms(encoded)
}

fn has_forest(encoded: &EncodedTargets) -> bool {
    encoded.complete_rows() >= LEAST_OF_FOREST && !has_atoms(encoded)
}

/// The constant of a training table.
fn constant(encoded: &EncodedTargets) -> JointForm {
    JointForm::Constant { covariance: encoded.covariance() }
}

/// All forms, fitted to a table: networks where there are no atoms, then the copula, the chain, the linear model, a forest and the
/// constant.
fn forms(encoded: &EncodedTargets, auto: &Auto, options: &FitOptions<'_>) -> Result<(Vec<JointForm>, Vec<History>)> {
    let names = encoded.names();
    let (mut forms, mut histories) = (Vec::new(), Vec::new());
    if !has_atoms(encoded) {
        let networks = train_networks(encoded, &Method::Auto(auto.clone()), options)?;
        histories = networks.histories;
        forms.push(networks.form);
    }
    let copula = fit_copula(&encoded.table, &names, &encoded.y, auto, options)?.copula;
    let chain =
        has_chain(encoded).then(|| fit_chain(&copula.models[0], &encoded.table, &names, auto, options)).transpose()?;
    forms.push(JointForm::Copula(copula));
    forms.extend(chain.map(JointForm::Chain));
    if !has_atoms(encoded) {
        forms.push(JointForm::Linear(JointLinear::fit(&encoded.data)));
    }
    if has_forest(encoded) {
        forms.push(forest::fit(encoded, options.seed));
    }
    if !has_atoms(encoded) {
        forms.push(constant(encoded));
    }
    Ok((forms, histories))
}

/// Few rows: the forms are compared by cross-validation, with a smaller effort, and then fitted to all rows.
fn few_rows(encoded: &EncodedTargets, auto: &Auto, options: &FitOptions<'_>) -> Result<Pool> {
    let (rows, names) = (encoded.table.rows(), encoded.names());
    let rng = &mut Rng::new(options.seed, streams::JOINT_FIT);
    let count = if rows <= FEW { FOLDS_OF_FEW } else { FOLDS };
    let folds = match encoded.data.groups() {
        Some(groups) => grouped_folds(groups, count, rng),
        None => k_folds(rows, count, rng),
    };
    let effort =
        Auto { preset: if auto.preset == Preset::Best { Preset::Medium } else { Preset::Fast }, ..auto.clone() };
    // By name, since a fold may lack a form: of few rows with a target it may see no atom.
    let mut held_out: BTreeMap<&'static str, Vec<Option<JointMixtures>>> = BTreeMap::new();
    let mut is_scored = vec![false; rows];
    for fold in folds.iter().filter(|fold| !fold.is_empty()) {
        let is_held_out = |row: &usize| fold.contains(&(*row as u32));
        let (test, train): (Vec<usize>, Vec<usize>) = (0..rows).partition(is_held_out);
        let Some(own) = EncodedTargets::of_fold(
            &encoded.table.select_rows(&train),
            &names,
            &Method::Auto(effort.clone()),
            &options.inputs,
            options.seed,
        )?
        else {
            continue;
        };
        test.iter().for_each(|row| is_scored[*row] = true);
        let (forms, _) = forms(&own, &effort, options)?;
        let table = encoded.table.select_rows(&test);
        let (data, _) = own.encoder.encode_features(&table)?;
        for form in &forms {
            let held_out = held_out.entry(form.name()).or_insert_with(|| vec![None; rows]);
            let predicted = own.in_units(form.predict(&own.targets, &table, &data)?);
            let predicted = encoded.standardise(predicted);
            test.iter().enumerate().for_each(|(at, row)| held_out[*row] = Some(predicted.select(&[at])));
        }
    }
    let complete: Vec<usize> = (0..rows).filter(|row| encoded.is_complete(*row) && is_scored[*row]).collect();
    let (all, histories) = forms(encoded, auto, options)?;
    let (mut kept, mut predictions) = (Vec::new(), Vec::new());
    for form in all {
        let of_rows = held_out.get(form.name());
        let own: Vec<JointMixtures> =
            complete.iter().filter_map(|row| of_rows.and_then(|of_rows| of_rows[*row].clone())).collect();
        if own.len() == complete.len() && !own.is_empty() {
            predictions.push(JointMixtures::concatenate_rows(&own));
            kept.push(form);
        }
    }
    if kept.is_empty() {
        return Err(encoded
            .table
            .locate(Error::data("no form of the joint distribution could be scored on held-out rows")));
    }
    let mut pool = stacked(encoded, kept, &predictions, complete, histories);
    pool.scales = Scales::of_pool(encoded, &pool.rows, &pool.held_out);
    pool.held_out = pool.scales.apply(pool.held_out);
    Ok(pool)
}

/// Many rows: the forms are compared by the held-out predictions of their own folds, of some of the rows.
fn many_rows(encoded: &EncodedTargets, auto: &Auto, options: &FitOptions<'_>) -> Result<Pool> {
    let (names, rows) = (encoded.names(), encoded.table.rows());
    let networks = match has_atoms(encoded) {
        true => None,
        false => Some(train_networks(encoded, &Method::Auto(auto.clone()), options)?),
    };
    let effort = match auto.preset {
        Preset::Medium if names.len() > MOST_THOROUGH => Preset::Fast,
        preset => preset,
    };
    let one = Auto { preset: effort, n_repeats: auto.n_repeats.or(Some(1)), ..auto.clone() };
    let CopulaFit { copula, held_out } = fit_copula(&encoded.table, &names, &encoded.y, &one, options)?;
    let of_networks = |row: usize| networks.as_ref().is_none_or(|networks| networks.rows.binary_search(&row).is_ok());
    let complete: Vec<usize> = (0..rows)
        .filter(|row| {
            encoded.is_complete(*row) && held_out.iter().all(|(_, index)| index[*row].is_some()) && of_networks(*row)
        })
        .collect();
    let complete: Vec<usize> =
        complete.iter().copied().step_by(complete.len().div_ceil(MOST_COMPARED).max(1)).collect();
    let marginals: Vec<Predictions> = held_out
        .iter()
        .map(|(predictions, index)| {
            predictions.select(&complete.iter().filter_map(|row| index[*row]).collect::<Vec<_>>())
        })
        .collect();
    let expanded = copula::expand(&marginals.iter().collect::<Vec<_>>(), &copula.correlation)?;
    let (mut forms, mut predictions, mut histories) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(NetworkForm { form, rows, held_out, histories: own }) = networks {
        let at: Vec<usize> = complete.iter().filter_map(|row| rows.binary_search(row).ok()).collect();
        predictions.push(held_out.select(&at));
        forms.push(form);
        histories = own;
    }
    predictions.push(encoded.standardise(expanded));
    forms.push(JointForm::Copula(copula));
    if !has_atoms(encoded) {
        let d = encoded.targets.len();
        let (linear, means) = JointLinear::fit_with_held_out(&encoded.data);
        predictions.push(around(d, means, &linear.covariance)?.select(&complete));
        forms.push(JointForm::Linear(linear));
        predictions.push(around(d, vec![0.0; d * complete.len()], &encoded.covariance())?);
        forms.push(constant(encoded));
    }
    let held_out = if has_forest(encoded) { forest::held_out(encoded, options.seed)? } else { None };
    if let Some(held_out) = held_out {
        predictions.push(held_out.select(&complete));
        forms.push(forest::fit(encoded, options.seed));
    }
    Ok(stacked(encoded, forms, &predictions, complete, histories))
}

/// The pool of forms with the weights that have the best held-out energy score.
fn stacked(
    encoded: &EncodedTargets,
    forms: Vec<JointForm>,
    held_out: &[JointMixtures],
    rows: Vec<usize>,
    histories: Vec<History>,
) -> Pool {
    let y: Vec<f64> = rows.iter().flat_map(|row| encoded.scaled(*row)).collect();
    let numbers: Vec<usize> = (0..rows.len()).collect();
    let constant = forms.iter().position(|form| matches!(form, JointForm::Constant { .. }));
    let (weights, alone) = stacking::weights(held_out, &y, &numbers, constant);
    let energies = forms.iter().zip(alone).map(|(form, energy)| (form.name().to_string(), energy)).collect();
    let pooled = JointMixtures::pool(&weights.iter().copied().zip(held_out).collect::<Vec<_>>());
    let parts = forms.into_iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
    let parts = parts.map(|(form, weight)| JointPart { weight: *weight, form }).collect();
    let scales = Scales::none(encoded.targets.len());
    Pool { parts, rows, held_out: pooled, histories, energies, scales }
}
