//! Networks of all targets: their training, and their pooled predictions.

use super::JointForm;
use super::targets::EncodedTargets;
use crate::method::{JointNetworks, Member, Method, raw_outputs};
use crate::model::FitOptions;
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Error, JointMixtures, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::net::JointHead;
use negmm_nn::train::{History, Job, Trained, TrainedNetwork, train};

/// The form of joint networks, with held-out predictions of standardised targets.
pub(super) struct NetworkForm {
    pub(super) form: JointForm,
    /// The held-out rows, in order.
    pub(super) rows: Vec<usize>,
    pub(super) held_out: JointMixtures,
    pub(super) histories: Vec<History>,
}

/// Trains the joint networks of a method. Held-out rows are predicted by the networks that did not learn from them.
pub(super) fn train_networks(
    encoded: &EncodedTargets,
    method: &Method,
    options: &FitOptions<'_>,
) -> Result<NetworkForm> {
    let JointNetworks { jobs, statistics, head } = method.joint_networks(&encoded.data, options.seed)?;
    let list: Vec<Job> = jobs.iter().cloned().map(Job::from).collect();
    let trained = train(options.engine, &list, &options.watch).into_iter().collect::<Result<Vec<_>>>()?;
    let (mut members, mut histories) = (Vec::new(), Vec::new());
    let mut held_out: Vec<Vec<JointMixtures>> = vec![Vec::new(); encoded.data.len()];
    // Networks with the same validation rows predict them as a pool; those of folds each their own.
    for ((job, statistics), trained) in jobs.iter().zip(statistics).zip(trained) {
        let Trained::Network(TrainedNetwork { parameters, history, cross_fitted, .. }) = trained else {
            return Err(Error::options("the results are not those of the plan's jobs"));
        };
        let member = |parameters| Member {
            network: job.network.clone(),
            parameters,
            sigma_scale: 1.0,
            statistics: statistics.clone(),
        };
        let halves = match cross_fitted {
            Some([first, second]) => {
                let (one, other) = job.validation.split_at(job.plan.cross_fitting_split);
                vec![(one, member(first)), (other, member(second))]
            }
            None => vec![(&job.validation[..], member(parameters.clone()))],
        };
        for (rows, member) in halves {
            let own = predict(&[member], &head, &encoded.data.select(rows))?;
            for (at, row) in rows.iter().enumerate() {
                held_out[*row as usize].push(own.select(&[at]));
            }
        }
        members.push(member(parameters));
        histories.push(history);
    }
    let rows: Vec<usize> = (0..held_out.len()).filter(|row| !held_out[*row].is_empty()).collect();
    let pooled: Vec<JointMixtures> = rows
        .iter()
        .map(|row| {
            let weight = 1.0 / held_out[*row].len() as f64;
            JointMixtures::pool(&held_out[*row].iter().map(|one| (weight, one)).collect::<Vec<_>>())
        })
        .collect();
    if pooled.is_empty() {
        return Err(Error::options("there are no validation rows: leave validation-fraction above 0"));
    }
    Ok(NetworkForm {
        form: JointForm::Networks { members, head },
        rows,
        held_out: JointMixtures::concatenate_rows(&pooled),
        histories,
    })
}

/// The pool of networks with equal weights.
pub(super) fn predict(members: &[Member], head: &JointHead, data: &Dataset) -> Result<JointMixtures> {
    let raw = raw_outputs(members, head.outputs(), data, Isa::best())?;
    let each = members.len() * head.outputs();
    let of_member = |member: usize| -> Result<JointMixtures> {
        let own = raw.chunks_exact(each).flat_map(|row| &row[member * head.outputs()..][..head.outputs()]);
        head.mixtures(&own.copied().collect::<Vec<f64>>())
    };
    let all = (0..members.len()).map(of_member).collect::<Result<Vec<_>>>()?;
    let weight = 1.0 / members.len() as f64;
    Ok(JointMixtures::pool(&all.iter().map(|mixtures| (weight, mixtures)).collect::<Vec<_>>()))
}
