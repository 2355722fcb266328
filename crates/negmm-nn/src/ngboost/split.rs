//! Comparison of the splits of a node.
//!
//! A split into parts with weights W₁, W₂ (W = W₁ + W₂) and sums of gradients S₁, S₂ (S = S₁ + S₂) lowers the weighted sum of
//! squares by W₁ W₂ / W · (S₁/W₁ - S₂/W₂)² = W d² / (W₁ W₂) with d = S₁ - W₁ S/W. Within a node W is the same for all
//! splits, so the larger d² / (W₁ W₂) wins; to compare one with the best so far takes no division.

/// Sums over rows: weighted gradients, weights, and the rows themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NodeTotal {
    pub sum: f64,
    pub weight: f64,
    pub rows: f64,
}

impl NodeTotal {
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        self.weight += other.weight;
        self.rows += other.rows;
    }
}

/// The gain that a split of a node has to exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    /// d² / (W₁ W₂) of the best split so far.
    quotient: f64,
    /// S / W and W of the node.
    mean: f64,
    weight: f64,
}

impl Threshold {
    /// Whether the split with these sums on its left may be better; nearly all are not. Always false where the mean is NaN.
    #[inline(always)]
    pub fn is_passed(&self, sum: f64, weight: f64) -> bool {
        let difference = sum - self.mean * weight;
        difference * difference > self.quotient * (weight * (self.weight - weight))
    }
}

/// The best split of a node so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BestSplit {
    pub to_beat: Threshold,
    total: NodeTotal,
    least_rows: f64,
    point: Option<SplitPoint>,
}

/// A split of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitPoint {
    pub feature: u32,
    pub threshold: f32,
    pub missing_right: bool,
}

impl BestSplit {
    /// No split yet of a node with these sums; each side needs at least `least_rows` rows.
    pub fn none(total: NodeTotal, least_rows: usize) -> Self {
        let mean = total.sum / total.weight;
        // Gains of the size of rounding errors do not count.
        let to_beat = Threshold { quotient: f64::EPSILON * mean * mean, mean, weight: total.weight };
        Self { to_beat, total, least_rows: least_rows as f64, point: None }
    }

    pub fn total(&self) -> &NodeTotal {
        &self.total
    }

    /// The best split and by how much it lowers the weighted sum of squares.
    pub fn found(&self) -> Option<(SplitPoint, f64)> {
        self.point.map(|point| (point, self.to_beat.quotient * self.to_beat.weight))
    }

    /// Considers the split of `feature` between the values `lower` and `upper` (`None`: between all values and missing). `left` are the
    /// sums of the rows below, `missing` those of the rows without a value, which are tried on both sides.
    #[inline(never)]
    pub fn consider(
        &mut self,
        feature: u32,
        left: &NodeTotal,
        missing: Option<&NodeTotal>,
        lower: f32,
        upper: Option<f32>,
    ) {
        let larger_right = |left: &NodeTotal, total: &NodeTotal| total.rows > 2.0 * left.rows;
        let Some(missing) = missing.filter(|missing| missing.rows > 0.0) else {
            if self.improves(left) {
                let missing_right = larger_right(left, &self.total);
                self.point = Some(SplitPoint { feature, threshold: between(lower, upper), missing_right });
            }
            return;
        };
        if self.improves(left) {
            self.point = Some(SplitPoint { feature, threshold: between(lower, upper), missing_right: true });
        }
        let mut with_missing = *left;
        with_missing.add(missing);
        if upper.is_some() && self.improves(&with_missing) {
            self.point = Some(SplitPoint { feature, threshold: between(lower, upper), missing_right: false });
        }
    }

    fn improves(&mut self, left: &NodeTotal) -> bool {
        let difference = left.sum - self.to_beat.mean * left.weight;
        let product = left.weight * (self.to_beat.weight - left.weight);
        let better = self.to_beat.is_passed(left.sum, left.weight)
            && left.rows >= self.least_rows
            && self.total.rows - left.rows >= self.least_rows
            && product > 0.0;
        if better {
            self.to_beat.quotient = difference * difference / product;
        }
        better
    }
}

/// The middle of two values, rounded so that it is not the upper one.
fn between(lower: f32, upper: Option<f32>) -> f32 {
    let Some(upper) = upper else { return f32::MAX };
    let middle = (0.5 * (f64::from(lower) + f64::from(upper))) as f32;
    if middle < upper { middle } else { lower }
}
