//! The pool of `auto`: training by fold, out-of-fold predictions, sigma scales and stacking weights.
//!
//! Predictions of held-out rows are cross-fitted: each of the two parts of a fold is predicted by the checkpoints
//! that were selected on the other part, with the sigma scale and the stacking weights of the other folds.

use std::sync::Arc;

use super::constant;
use super::few_rows::constant_sd;
use super::finish::{FitOutput, OutOfFold, history_of, unexpected_results};
use super::sigma_scale::{self, SigmaScales, score};
use super::stacking::Stacking;
use super::{Member, Method, Part, Predictor};
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Mixtures, Predictions, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::net::{Head, Parameters};
use negmm_nn::ngboost::TrainedTrees;
use negmm_nn::train::{Job, NetworkJob, Trained, TrainedNetwork, TreesJob};

/// The training of all folds.
#[derive(Clone, Debug)]
pub(super) struct Folds {
    /// Networks, the same number for each fold, ordered by fold.
    pub(super) networks: Vec<NetworkJob>,
    /// Trees, one for each fold or none.
    pub(super) trees: Vec<TreesJob>,
    pub(super) folds: Vec<Fold>,
    /// The training rows; jobs and folds index them from 0.
    pub(super) data: Arc<Dataset>,
    /// The index of each of them among all rows.
    pub(super) numbers: Vec<u32>,
}

/// The held-out rows of a fold.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// Rows; those for checkpoint selection come first.
    pub(super) rows: Vec<u32>,
    /// Number of rows for checkpoint selection.
    pub(super) checked: usize,
    /// Index of the second cross-fitting part; 0: there is none.
    pub(super) half: usize,
    /// The target encoding from the training rows.
    pub(super) statistics: Arc<TargetEncoding>,
}

/// The held-out rows, ordered by fold; all lists are parallel.
#[derive(Clone, Debug)]
pub(super) struct HeldOutRows {
    pub(super) rows: Vec<u32>,
    pub(super) folds: Vec<u32>,
    /// Standardised.
    pub(super) y: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// Lower and upper ends of each target's interval, where some targets are intervals.
    pub(super) intervals: Option<(Vec<f64>, Vec<f64>)>,
    /// The bounds of all targets, if there are any.
    pub(super) bounds: Option<[f64; 2]>,
}

impl HeldOutRows {
    /// The interval of a row's target, where it is not a single number.
    pub(super) fn interval(&self, row: usize) -> Option<(f64, f64)> {
        let (lower, upper) = self.intervals.as_ref()?;
        Some((lower[row], upper[row])).filter(|(lower, upper)| lower < upper)
    }
}

/// HeldOutRows-out predictions of one member of the pool, and its sigma scale for each fold.
struct MemberPredictions {
    mixtures: Mixtures,
    /// For held-out predictions, from the other folds.
    out_of_fold_scales: Vec<f64>,
    /// For the final pool, from the fold itself.
    pooled_scales: Vec<f64>,
}

impl Folds {
    /// The training jobs: networks, then trees.
    pub(super) fn jobs(&self) -> Vec<Job> {
        let networks = self.networks.iter().cloned().map(Job::from);
        networks.chain(self.trees.iter().cloned().map(Job::from)).collect()
    }

    /// Assembles the results of [`Folds::jobs`], in their order.
    pub(super) fn finish(self, method: Method, trained: Vec<Trained>) -> Result<FitOutput> {
        let (networks, trees) = self.sorted(trained)?;
        let head = self.networks.first().ok_or_else(unexpected_results)?.objective.head();
        let held_out = self.held_out_rows();
        let each = self.each();
        let mut predicted = Vec::with_capacity(each + 2);
        for member in 0..each {
            predicted.push(self.calibrated(self.by_networks(head, &networks, member)?, &held_out));
        }
        if !trees.is_empty() {
            predicted.push(self.calibrated(by_trees(&trees)?, &held_out));
        }
        let constant = predicted.len();
        predicted.push(self.by_constant());
        let likelihoods: Vec<Vec<f64>> = predicted
            .iter()
            .map(|MemberPredictions { mixtures, out_of_fold_scales, .. }| {
                let of_row =
                    |row: usize| -score(&held_out, mixtures, row, out_of_fold_scales[held_out.folds[row] as usize]);
                (0..held_out.rows.len()).map(of_row).collect()
            })
            .collect();
        let stacking = Stacking::new(&likelihoods, &held_out.folds, &held_out.weights);
        let weights = stacking.weights();
        let mut histories: Vec<_> = networks.iter().map(|network| network.history.clone()).collect();
        histories.extend(self.trees.iter().zip(&trees).map(|(job, trees)| history_of(job, &trees.boosted)));
        let mut parts = Vec::new();
        for (member, weight) in weights[..each].iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let members = (0..self.folds.len()).map(|fold| {
                let number = fold * each + member;
                self.member(number, networks[number].parameters.clone(), predicted[member].pooled_scales[fold])
            });
            parts.push(Part { weight: *weight, predictor: networks_of(members.collect(), head) });
        }
        if !trees.is_empty() && weights[each] > 0.0 {
            let weight = weights[each] / trees.len() as f64;
            parts.extend(trees.into_iter().zip(&self.folds).map(|(trees, fold)| Part {
                weight,
                predictor: Predictor::Trees { boosted: trees.boosted, statistics: fold.statistics.clone() },
            }));
        }
        if weights[constant] > 0.0 {
            let distribution = constant::distribution_of_all(&self.data, constant_sd(self.data.len()));
            parts.push(Part { weight: weights[constant], predictor: Predictor::Constant { distribution } });
        }
        let out_of_fold = self.out_of_fold(&held_out, predicted, &stacking);
        Ok(FitOutput { method, predictor: Predictor::of_parts(parts), histories, out_of_fold })
    }

    /// Number of networks per fold.
    fn each(&self) -> usize {
        self.networks.len() / self.folds.len()
    }

    /// Networks and trees, if they match the plan.
    fn sorted(&self, trained: Vec<Trained>) -> Result<(Vec<TrainedNetwork>, Vec<TrainedTrees>)> {
        let (mut networks, mut trees) = (Vec::new(), Vec::new());
        for trained in trained {
            match trained {
                Trained::Network(trained) => networks.push(trained),
                Trained::Trees(trained) => trees.push(trained),
            }
        }
        let fits = networks.len() == self.networks.len()
            && trees.len() == self.trees.len()
            && networks.iter().zip(&self.networks).all(|(trained, job)| {
                let fits = |parameters: &Parameters| parameters.chunks().len() == job.network.chunks();
                fits(&trained.parameters) && trained.cross_fitted.iter().flatten().all(fits)
            });
        if fits { Ok((networks, trees)) } else { Err(unexpected_results()) }
    }

    fn held_out_rows(&self) -> HeldOutRows {
        let rows: Vec<u32> = self.folds.iter().flat_map(|fold| fold.rows.iter().copied()).collect();
        let folds = self.folds.iter().enumerate();
        let folds = folds.flat_map(|(number, fold)| std::iter::repeat_n(number as u32, fold.rows.len())).collect();
        let pick = |list: &[f32]| rows.iter().map(|row| f64::from(list[*row as usize])).collect();
        let intervals = self.data.intervals().map(|ends| (pick(ends.lower()), pick(ends.upper())));
        let bounds = self.data.bounds().ends().map(|ends| ends.map(f64::from));
        HeldOutRows {
            y: pick(self.data.y()),
            weights: pick(self.data.sample_weights()),
            intervals,
            bounds,
            folds,
            rows,
        }
    }

    /// Network `number` with these parameters.
    fn member(&self, number: usize, parameters: Parameters, sigma_scale: f64) -> Member {
        let statistics = self.folds[number / self.each()].statistics.clone();
        Member { network: self.networks[number].network.clone(), parameters, sigma_scale, statistics }
    }

    /// Cross-fitted predictions of network `member` of each fold: each part by the checkpoint selected on the other.
    fn by_networks(&self, head: Head, networks: &[TrainedNetwork], member: usize) -> Result<Mixtures> {
        let each = self.each();
        let mut predicted = Vec::new();
        for (at, fold) in self.folds.iter().enumerate() {
            let number = at * each + member;
            let TrainedNetwork { parameters, cross_fitted, .. } = &networks[number];
            let (checked, unchecked) = fold.rows.split_at(fold.checked);
            let (first, second) = checked.split_at(fold.half);
            let [by_second, by_first] =
                cross_fitted.as_ref().map_or([parameters; 2], |[first, second]| [first, second]);
            for (rows, parameters) in [(first, by_second), (second, by_first), (unchecked, parameters)] {
                if !rows.is_empty() {
                    let single = networks_of(vec![self.member(number, parameters.clone(), 1.0)], head);
                    let predictions = single.predict(&self.data.select(rows), Isa::best())?;
                    predicted.push(predictions.mixtures().ok_or_else(unexpected_results)?.clone());
                }
            }
        }
        Ok(Mixtures::concatenate_rows(predicted))
    }

    /// The constant baseline of each fold, from its training targets.
    fn by_constant(&self) -> MemberPredictions {
        let predicted = self.folds.iter().enumerate().map(|(number, fold)| {
            let train = &self.networks[number * self.each()].train;
            constant::distribution(&self.data, train, constant_sd(train.len())).repeated(fold.rows.len())
        });
        let ones = vec![1.0; self.folds.len()];
        MemberPredictions {
            mixtures: Mixtures::concatenate_rows(predicted.collect()),
            out_of_fold_scales: ones.clone(),
            pooled_scales: ones,
        }
    }

    /// Adds the sigma scales.
    fn calibrated(&self, mixtures: Mixtures, held_out: &HeldOutRows) -> MemberPredictions {
        let (rows, scales) = (self.data.len(), SigmaScales::of(&mixtures, held_out));
        let folds = 0..self.folds.len();
        let out_of_fold_scales =
            folds.clone().map(|fold| sigma_scale::out_of_fold(rows, scales.without(fold as u32))).collect();
        let pooled_scales = folds.map(|fold| sigma_scale::pooled(rows, self.each(), scales.of_fold(fold))).collect();
        MemberPredictions { mixtures, out_of_fold_scales, pooled_scales }
    }

    /// Out-of-fold predictions of the pool, in the order of the rows, with the sigma scales and stacking weights of
    /// the other folds. The last member, the constant, is also the baseline.
    fn out_of_fold(&self, held_out: &HeldOutRows, predicted: Vec<MemberPredictions>, stacking: &Stacking) -> OutOfFold {
        let weights: Vec<Vec<f64>> = (0..self.folds.len() as u32).map(|fold| stacking.weights_without(fold)).collect();
        let mut order: Vec<usize> = (0..held_out.rows.len()).collect();
        order.sort_unstable_by_key(|at| held_out.rows[*at]);
        let baseline = predicted[predicted.len() - 1].mixtures.clone().take(&order, |_| (1.0, 1.0));
        let mut parts = Vec::with_capacity(predicted.len());
        for (part, MemberPredictions { mixtures, out_of_fold_scales, .. }) in predicted.into_iter().enumerate() {
            if weights.iter().any(|weights| weights[part] > 0.0) {
                parts.push(mixtures.take(&order, |row| {
                    let fold = held_out.folds[row] as usize;
                    (weights[fold][part], out_of_fold_scales[fold])
                }));
            }
        }
        let sizes = parts.iter().map(Mixtures::components).collect();
        let predictions = Predictions::from(Mixtures::concatenate_components(&parts)).of_members_of(sizes);
        OutOfFold {
            rows: order.iter().map(|at| self.numbers[held_out.rows[*at] as usize]).collect(),
            folds: order.iter().map(|at| held_out.folds[*at]).collect(),
            predictions: Standardised::new(predictions, Pool::Mixture),
            baseline: Standardised::new(baseline.into(), Pool::Mixture),
        }
    }
}

fn networks_of(members: Vec<Member>, head: Head) -> Predictor {
    Predictor::Networks { members, head, pool: Pool::Mixture }
}

/// HeldOutRows-out predictions of the trees of each fold.
fn by_trees(trees: &[TrainedTrees]) -> Result<Mixtures> {
    let (mut means, mut sds) = (Vec::new(), Vec::new());
    for trees in trees {
        let (more_means, more_sds) = trees.held_out.as_ref().ok_or_else(unexpected_results)?;
        means.extend_from_slice(more_means);
        sds.extend_from_slice(more_sds);
    }
    Ok(Mixtures::from_parts_unchecked(1, vec![1.0; means.len()], means, sds))
}
