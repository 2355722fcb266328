//! The seeds of networks that are trained together.

use negmm_dist::math::rng::Rng;
use negmm_dist::streams;

/// The seed for initial weights, row order and dropout of network number `member`.
pub(super) fn member_seed(seed: u64, member: usize) -> u64 {
    Rng::new(seed, streams::MEMBERS + member as u64).bits()
}
