//! The pool of `auto`: training by fold, out-of-fold predictions, sigma scales, stacking weights and tails.
//!
//! Every row is held out once in each repeat of the cross-validation. Predictions of held-out rows are cross-fitted: each
//! of the two parts of a fold is predicted by the checkpoints that were selected on the other part, with the sigma scale
//! and the stacking weights of the other folds.

use std::sync::Arc;

use rayon::prelude::*;

use super::finish::{FitOutput, OutOfFold, history_of, unexpected_results};
use super::member_predictions::{MemberPredictions, PooledRows, log_likelihood, log_pool_scale, pooled};
use super::mixture_network::bounds_to_learn;
use super::pool_scale::log_scales_of_folds;
use super::stacking::{RowScores, Stacking};
use super::tails::{self, Tail, with_tails};
use super::tilt::{Tilt, Tilts};
use super::{Member, MemberKind, Method, Part, Predictor, constant, whole_pool};
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Mixtures, Predictions, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::empirical::empirical_distribution;
use negmm_nn::net::{Head, Network, Parameters};
use negmm_nn::ngboost::TrainedTrees;
use negmm_nn::train::{History, Job, Trained, TrainedNetwork};

/// Maximum number of rows that stacking weights are fitted to: more would hardly change them.
const MAX_STACKING_ROWS: usize = 4_000;

/// The training of all members.
#[derive(Clone, Debug)]
pub(super) struct Folds {
    pub(super) members: Vec<MemberJobs>,
    /// The folds of the first repeat, of the second, …
    pub(super) folds: Vec<Fold>,
    /// How often each row is held out.
    pub(super) repeats: usize,
    /// Whether predictions get tails.
    pub(super) tails: bool,
    /// The training rows; jobs and folds index them from 0.
    pub(super) data: Arc<Dataset>,
    /// The index of each of them among all rows.
    pub(super) numbers: Vec<u32>,
}

/// The jobs of a member of the pool.
#[derive(Clone, Debug)]
pub(super) struct MemberJobs {
    pub(super) kind: MemberKind,
    /// The same number for each fold, ordered by fold.
    pub(super) jobs: Vec<Job>,
    /// Trained on all rows, with their target encodings; they predict instead of those of the folds where there are any.
    pub(super) on_all_rows: Vec<(Job, Arc<TargetEncoding>)>,
}

/// The held-out rows of a fold.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// Rows; those for checkpoint selection come first.
    pub(super) rows: Vec<u32>,
    /// The training rows.
    pub(super) train: Arc<[u32]>,
    /// Number of rows for checkpoint selection; 0: others select.
    pub(super) checked: usize,
    /// Index of the second cross-fitting part; 0: there is none.
    pub(super) half: usize,
    /// The target encoding from the training rows.
    pub(super) statistics: Arc<TargetEncoding>,
}

/// The held-out rows in their order; all lists are parallel.
#[derive(Clone, Debug)]
pub(super) struct HeldOutRows {
    pub(super) rows: Vec<u32>,
    /// The fold of the first repeat.
    pub(super) folds: Vec<u32>,
    /// Standardised.
    pub(super) y: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// Lower and upper ends of each target's interval, where some targets are intervals.
    pub(super) intervals: Option<(Vec<f64>, Vec<f64>)>,
    /// The bounds of all targets, if there are any.
    pub(super) bounds: Option<[f64; 2]>,
    /// Whether each target is censored.
    pub(super) censored: Vec<bool>,
    /// Whether folds are blocks of time, in order.
    pub(super) in_time_order: bool,
}

impl HeldOutRows {
    /// Whether the rows of the fold `other` may choose something for the predictions of the fold `fold`: those of all
    /// other folds, or those before it.
    pub(super) fn informs(&self, other: u32, fold: u32) -> bool {
        if self.in_time_order { other < fold } else { other != fold }
    }

    /// Some of the rows.
    fn select(&self, rows: &[usize]) -> Self {
        let pick = |list: &[f64]| rows.iter().map(|row| list[*row]).collect::<Vec<f64>>();
        Self {
            rows: rows.iter().map(|row| self.rows[*row]).collect(),
            folds: rows.iter().map(|row| self.folds[*row]).collect(),
            y: pick(&self.y),
            weights: pick(&self.weights),
            intervals: self.intervals.as_ref().map(|(lower, upper)| (pick(lower), pick(upper))),
            bounds: self.bounds,
            censored: rows.iter().map(|row| self.censored[*row]).collect(),
            in_time_order: self.in_time_order,
        }
    }

    /// The interval of a row's target, where it is not a single number.
    pub(super) fn interval(&self, row: usize) -> Option<(f64, f64)> {
        let (lower, upper) = self.intervals.as_ref()?;
        Some((lower[row], upper[row])).filter(|(lower, upper)| lower < upper)
    }
}

/// A trained model that predicts, with its target encoding.
type TrainedModel<'a> = (&'a Job, Trained, Arc<TargetEncoding>);

impl Folds {
    /// The training jobs: those of the first member, of the second, …
    pub(super) fn jobs(&self) -> Vec<Job> {
        let of_member = |member: &MemberJobs| {
            let on_all_rows = member.on_all_rows.iter().map(|(job, _)| job.clone());
            member.jobs.iter().cloned().chain(on_all_rows).collect::<Vec<_>>()
        };
        self.members.iter().flat_map(of_member).collect()
    }

    /// Assembles the results of [`Folds::jobs`], in their order.
    pub(super) fn finish(self, method: Method, trained: Vec<Trained>) -> Result<FitOutput> {
        let held_out = self.held_out_rows();
        let mut trained = trained.into_iter();
        let (mut predictions, mut models, mut histories) = (Vec::new(), Vec::new(), Vec::new());
        for member in &self.members {
            let of_folds: Vec<Trained> = trained.by_ref().take(member.jobs.len()).collect();
            if of_folds.len() != member.jobs.len() {
                return Err(unexpected_results());
            }
            histories.extend(member.jobs.iter().zip(&of_folds).filter_map(|(job, trained)| history(job, trained)));
            let lists = self.out_of_fold_lists(member, &of_folds, &held_out)?;
            let own: Vec<TrainedModel<'_>> = if member.on_all_rows.is_empty() {
                let per_fold = self.per_fold(member);
                let fold = |number: usize| self.folds[number / per_fold].statistics.clone();
                let models = member.jobs.iter().zip(of_folds).enumerate();
                models.map(|(number, (job, trained))| (job, trained, fold(number))).collect()
            } else {
                let each = member.on_all_rows.iter();
                each.map(|(job, statistics)| {
                    let trained = trained.next().ok_or_else(unexpected_results)?;
                    histories.extend(history(job, &trained));
                    Ok((job, trained, statistics.clone()))
                })
                .collect::<Result<_>>()?
            };
            // The sds of bins are not a forest's own.
            predictions.push(match member.kind {
                MemberKind::Forest => MemberPredictions::unscaled(lists, own.len(), self.per_repeat()),
                _ => MemberPredictions::scaled(lists, own.len(), &held_out),
            });
            models.push((member.kind, own));
        }
        if trained.next().is_some() {
            return Err(unexpected_results());
        }
        predictions.push(self.constant(&held_out));
        let linear = models.iter().position(|(kind, _)| *kind == MemberKind::Linear);
        let simple = [predictions.len() - 1].into_iter().chain(linear).collect();
        let stacking = Stacking::new(predictions.len(), simple, self.row_scores(&held_out, &predictions));
        let (weights, without) = stacking.weights(self.per_repeat(), |other, fold| held_out.informs(other, fold));
        let (mut out_of_fold, tilt, tails) = self.out_of_fold(&held_out, &predictions, &without);
        let pool_scale = libm::exp(log_pool_scale(&predictions, &weights, &tails, &held_out));
        if let (None, Some(printed)) = (&tilt, out_of_fold.predictions.mixtures()) {
            let scored: Vec<usize> = (0..held_out.rows.len()).filter(|row| self.is_scored(&held_out, *row)).collect();
            let printed = (printed, scored.as_slice());
            out_of_fold.pool_ratio = whole_pool::ratio(&predictions, &held_out, printed, &without, pool_scale);
        }
        let mut parts = Vec::new();
        for (((kind, models), weight), predictions) in models.into_iter().zip(&weights).zip(&predictions) {
            if *weight > 0.0 {
                parts.extend(parts_of(kind, models, *weight, pool_scale * predictions.pooled_scale)?);
            }
        }
        let weight = weights[weights.len() - 1];
        if weight > 0.0 {
            let distribution = constant::empirical_of_all(&self.data);
            parts.push(Part { weight, kind: MemberKind::Constant, predictor: Predictor::Constant { distribution } });
        }
        let predictor = Predictor::of_parts(parts, tilt, tails, held_out.bounds);
        Ok(FitOutput { method, predictor, histories, out_of_fold })
    }

    /// Number of folds of one repeat.
    fn per_repeat(&self) -> usize {
        self.folds.len() / self.repeats
    }

    /// Whether a held-out row is scored: not in the first of several blocks of time, for which nothing could be chosen.
    fn is_scored(&self, held_out: &HeldOutRows, row: usize) -> bool {
        !held_out.in_time_order || self.per_repeat() == 1 || held_out.folds[row] > 0
    }

    /// Number of models of a member for each fold.
    fn per_fold(&self, member: &MemberJobs) -> usize {
        member.jobs.len() / self.folds.len()
    }

    fn held_out_rows(&self) -> HeldOutRows {
        let first = self.folds[..self.per_repeat()].iter().zip(0_u32..);
        let mut order: Vec<(u32, u32)> =
            first.flat_map(|(fold, number)| fold.rows.iter().map(move |row| (*row, number))).collect();
        order.sort_unstable();
        let (rows, folds): (Vec<u32>, Vec<u32>) = order.into_iter().unzip();
        let pick = |list: &[f32]| rows.iter().map(|row| f64::from(list[*row as usize])).collect();
        HeldOutRows {
            y: pick(self.data.y()),
            weights: pick(self.data.sample_weights()),
            intervals: self.data.intervals().map(|ends| (pick(ends.lower()), pick(ends.upper()))),
            bounds: bounds_to_learn(&self.data).ends().map(|ends| ends.map(f64::from)),
            censored: rows.iter().map(|row| self.data.is_censored(*row as usize)).collect(),
            in_time_order: self.data.times().is_some(),
            folds,
            rows,
        }
    }

    /// Cross-fitted predictions of all held-out rows: a list for each repeat and each model per fold.
    fn out_of_fold_lists(
        &self,
        member: &MemberJobs,
        trained: &[Trained],
        held_out: &HeldOutRows,
    ) -> Result<Vec<Mixtures>> {
        let per_fold = self.per_fold(member);
        // Held-out rows are in order.
        let position = |row: &u32| held_out.rows.partition_point(|other| other < row);
        let mut lists = Vec::with_capacity(self.repeats * per_fold);
        for repeat in 0..self.repeats {
            for model in 0..per_fold {
                let (mut mixtures, mut order) = (Vec::new(), vec![0; held_out.rows.len()]);
                let mut count = 0;
                for number in repeat * self.per_repeat()..(repeat + 1) * self.per_repeat() {
                    let (fold, at) = (&self.folds[number], number * per_fold + model);
                    mixtures.extend(self.fold_predictions(fold, &member.jobs[at], &trained[at])?);
                    for row in &fold.rows {
                        order[position(row)] = count;
                        count += 1;
                    }
                }
                lists.push(Mixtures::concatenate_rows(of_equal_width(mixtures)).take(&order, |_| (1.0, 1.0)));
            }
        }
        Ok(lists)
    }

    /// Predictions of a fold's rows: each part by the checkpoint that was selected on the other.
    fn fold_predictions(&self, fold: &Fold, job: &Job, trained: &Trained) -> Result<Vec<Mixtures>> {
        let predicted = |predictor: Predictor, rows: &[u32]| -> Result<Mixtures> {
            let predictions = predictor.predict(&self.data.select(rows), Isa::best())?;
            predictions.into_mixtures().ok_or_else(unexpected_results)
        };
        match (job, trained) {
            (Job::Network(job), Trained::Network(TrainedNetwork { parameters, cross_fitted, .. })) => {
                let (checked, unchecked) = fold.rows.split_at(fold.checked);
                let (first, second) = checked.split_at(fold.half);
                let [by_second, by_first] =
                    cross_fitted.as_ref().map_or([parameters; 2], |[first, second]| [first, second]);
                [(first, by_second), (second, by_first), (unchecked, parameters)]
                    .into_iter()
                    .filter(|(rows, _)| !rows.is_empty())
                    .map(|(rows, parameters)| {
                        let member = member(&job.network, parameters, 1.0, &fold.statistics)?;
                        predicted(networks(vec![member], job.objective.head()), rows)
                    })
                    .collect()
            }
            (Job::Linear(job), Trained::Network(trained)) => {
                let member = member(&job.network(), &trained.parameters, 1.0, &fold.statistics)?;
                Ok(vec![predicted(networks(vec![member], Head::Mixture(job.head)), &fold.rows)?])
            }
            (Job::Forest(_), Trained::Forest(forest)) => {
                let (forest, statistics) = (forest.clone(), fold.statistics.clone());
                Ok(vec![predicted(Predictor::Forest { forest, statistics }, &fold.rows)?])
            }
            (Job::Trees(_), Trained::Trees(trees)) if fold.checked == 0 => {
                let (boosted, statistics) = (trees.boosted.clone(), fold.statistics.clone());
                Ok(vec![predicted(Predictor::Trees { boosted, statistics }, &fold.rows)?])
            }
            (Job::Trees(_), Trained::Trees(trees)) => {
                let (means, sds) = trees.held_out.clone().ok_or_else(unexpected_results)?;
                Ok(vec![Mixtures::from_parts_unchecked(1, vec![1.0; means.len()], means, sds)])
            }
            _ => Err(unexpected_results()),
        }
    }

    /// The empirical distribution of each fold's training targets.
    fn constant(&self, held_out: &HeldOutRows) -> MemberPredictions {
        let folds = &self.folds[..self.per_repeat()];
        let of_folds: Vec<Mixtures> =
            folds.iter().map(|fold| empirical_distribution(&self.data, &fold.train)).collect();
        let of_folds = Mixtures::concatenate_rows(of_equal_width(of_folds));
        let fold_of_row: Vec<usize> = held_out.folds.iter().map(|fold| *fold as usize).collect();
        MemberPredictions::unscaled(vec![of_folds.take(&fold_of_row, |_| (1.0, 1.0))], 1, folds.len())
    }

    /// What stacking needs to know of each row: with the sigma scales of the final pool.
    fn row_scores(&self, held_out: &HeldOutRows, members: &[MemberPredictions]) -> Vec<RowScores> {
        let every = held_out.rows.len().div_ceil(MAX_STACKING_ROWS).max(1);
        let rows: Vec<usize> = (0..held_out.rows.len()).step_by(every).collect();
        let lists: Vec<Vec<Mixtures>> = members.iter().map(|member| member.as_pooled(&rows, 1.0)).collect();
        let held_out = &held_out.select(&rows);
        let scores = |row: usize| {
            let (mut distances, mut pairs) = (Vec::new(), Vec::new());
            // The CRPS of a truncated mixture is no such sum.
            if !held_out.censored[row] && held_out.bounds.is_none() {
                let distance = |list: &Mixtures| list.row(row).mean_distance_from(held_out.y[row]);
                let mean = |lists: &Vec<Mixtures>| lists.iter().map(distance).sum::<f64>() / lists.len() as f64;
                distances = lists.iter().map(mean).collect();
                pairs = vec![0.0; members.len() * members.len()];
                for (m, first) in lists.iter().enumerate() {
                    pairs[m * members.len() + m] = members[m].mean_distance(first, row);
                    for (n, second) in lists.iter().enumerate().take(m) {
                        // Of different training sets where there are such.
                        let pair = first[0].row(row).mean_distance(second[second.len() - 1].row(row));
                        (pairs[m * members.len() + n], pairs[n * members.len() + m]) = (pair, pair);
                    }
                }
            }
            RowScores {
                fold: held_out.folds[row],
                weight: held_out.weights[row],
                log_likelihoods: lists.iter().map(|lists| log_likelihood(held_out, lists, row)).collect(),
                distances,
                pairs,
            }
        };
        (0..rows.len()).into_par_iter().map(scores).collect()
    }

    /// Out-of-fold predictions of the pool, with sigma scales, stacking weights, tilt and tails from the other folds, and
    /// tilt and tails from all. The last member, the constant, is also the baseline. The first of several blocks of time, for which
    /// nothing could be chosen, is left out.
    fn out_of_fold(
        &self,
        held_out: &HeldOutRows,
        members: &[MemberPredictions],
        without: &[Vec<f64>],
    ) -> (OutOfFold, Option<Tilt>, Vec<Tail>) {
        let weights = |fold: usize, member: usize| without[fold][member];
        let scales = |fold: usize, member: usize| members[member].out_of_fold_scales[fold];
        let PooledRows { mixtures, scaled, .. } = pooled(members, held_out, None, weights, scales);
        let pool_scales = log_scales_of_folds(&mixtures, &scaled, held_out);
        let pool_scales: Vec<f64> = pool_scales.into_iter().map(libm::exp).collect();
        let scales = |fold: usize, member: usize| pool_scales[fold] * scales(fold, member);
        let PooledRows { mixtures: mut pooled, mut sizes, .. } = pooled(members, held_out, None, weights, scales);
        // Rows of a group are not independent, so that the gain of a tilt has no standard error.
        let tilts = self.data.groups().is_none().then(|| Tilts::of(&pooled, held_out));
        let Tilts { of_folds, of_all: tilt } = tilts.unwrap_or_default();
        if tilt.is_some() {
            pooled = Tilt::applied(&pooled, &sizes, |row| of_folds[held_out.folds[row] as usize].as_ref());
            sizes.iter_mut().for_each(|size| *size *= 2);
        }
        let all: Vec<usize> = (0..held_out.rows.len()).collect();
        let likelihoods: Vec<tails::Likelihoods> =
            all.par_iter().map(|row| tails::likelihoods(held_out, &pooled, *row)).collect();
        let fitted = |counts: &dyn Fn(u32) -> bool| {
            if !self.tails {
                return Vec::new();
            }
            let rows = all.iter().filter(|row| counts(held_out.folds[**row]) && held_out.weights[**row] > 0.0);
            tails::fitted(rows.map(|row| (held_out.weights[*row], likelihoods[*row])))
        };
        let by_fold: Vec<Vec<Tail>> =
            (0..self.per_repeat() as u32).map(|fold| fitted(&|other| held_out.informs(other, fold))).collect();
        let count = by_fold[by_fold.len() - 1].len();
        sizes.extend(vec![1; count]);
        let scored: Vec<usize> = all.iter().copied().filter(|row| self.is_scored(held_out, *row)).collect();
        let unchanged = |_| (1.0, 1.0);
        let (pooled, baseline) = if scored.len() == all.len() {
            (pooled, members[members.len() - 1].lists[0].clone())
        } else {
            (pooled.take(&scored, unchanged), members[members.len() - 1].lists[0].clone().take(&scored, unchanged))
        };
        let predictions = with_tails(pooled, count, |at| &by_fold[held_out.folds[scored[at]] as usize]);
        let out_of_fold = OutOfFold {
            rows: scored.iter().map(|row| self.numbers[held_out.rows[*row] as usize]).collect(),
            folds: scored.iter().map(|row| held_out.folds[*row]).collect(),
            predictions: Standardised::new(Predictions::from(predictions).of_members_of(sizes), Pool::Mixture),
            baseline: Standardised::new(baseline.into(), Pool::Mixture),
            pool_ratio: None,
        };
        (out_of_fold, tilt, fitted(&|_| true))
    }
}

/// Mixtures with fewer components than others get components of weight 0.
fn of_equal_width(lists: Vec<Mixtures>) -> Vec<Mixtures> {
    let width = lists.iter().map(Mixtures::components).max().unwrap_or(1);
    lists.into_iter().map(|list| list.padded_to(width)).collect()
}

/// The record of a training that has one.
fn history(job: &Job, trained: &Trained) -> Option<History> {
    match (job, trained) {
        (Job::Network(_), Trained::Network(trained)) => Some(trained.history.clone()),
        (Job::Trees(job), Trained::Trees(trees)) => Some(history_of(job, &trees.boosted)),
        _ => None,
    }
}

fn member(
    network: &Network,
    parameters: &Parameters,
    sigma_scale: f64,
    statistics: &Arc<TargetEncoding>,
) -> Result<Member> {
    if parameters.chunks().len() != network.chunks() {
        return Err(unexpected_results());
    }
    let (network, parameters, statistics) = (network.clone(), parameters.clone(), statistics.clone());
    Ok(Member { network, parameters, sigma_scale, statistics })
}

fn networks(members: Vec<Member>, head: Head) -> Predictor {
    Predictor::Networks { members, head, pool: Pool::Mixture }
}

/// The parts of the final pool that the models of a member become.
fn parts_of(kind: MemberKind, models: Vec<TrainedModel<'_>>, weight: f64, sigma_scale: f64) -> Result<Vec<Part>> {
    let each = weight / models.len() as f64;
    let (mut members, mut head, mut parts) = (Vec::new(), None, Vec::new());
    for (job, trained, statistics) in models {
        match (job, trained) {
            (Job::Network(job), Trained::Network(trained)) => {
                members.push(member(&job.network, &trained.parameters, sigma_scale, &statistics)?);
                head = Some(job.objective.head());
            }
            (Job::Linear(job), Trained::Network(trained)) => {
                members.push(member(&job.network(), &trained.parameters, sigma_scale, &statistics)?);
                head = Some(Head::Mixture(job.head));
            }
            (Job::Trees(_), Trained::Trees(TrainedTrees { mut boosted, .. })) => {
                boosted.start[1] += libm::log(sigma_scale);
                boosted.sigma_min *= sigma_scale;
                let predictor = Predictor::Trees { boosted, statistics };
                parts.push(Part { weight: each, kind, predictor });
            }
            (Job::Forest(_), Trained::Forest(forest)) => {
                parts.push(Part { weight: each, kind, predictor: Predictor::Forest { forest, statistics } });
            }
            _ => return Err(unexpected_results()),
        }
    }
    if let Some(head) = head {
        parts.push(Part { weight, kind, predictor: networks(members, head) });
    }
    Ok(parts)
}
