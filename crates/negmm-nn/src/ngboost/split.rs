//! Comparison of the splits of a node.
//!
//! A split into parts with weights W₁, W₂ (W = W₁ + W₂) and sums of gradients S₁, S₂ (S = S₁ + S₂) lowers the weighted sum of
//! squares by W₁ W₂ / W · (S₁/W₁ - S₂/W₂)² = W d² / (W₁ W₂) with d = S₁ - W₁ S/W. Within a node W is the same for all
//! splits, so the larger d² / (W₁ W₂) wins; to compare one with the best so far takes no division.

/// Sums over rows: weighted gradients, weights, and the rows themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub sum: f64,
    pub weight: f64,
    pub rows: f64,
}

impl Total {
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        self.weight += other.weight;
        self.rows += other.rows;
    }
}

/// What a split of a node has to beat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// d² / (W₁ W₂) of the best split so far.
    quotient: f64,
    /// S / W and W of the node.
    mean: f64,
    weight: f64,
}

impl Bar {
    /// Whether the split with these sums on its left may be better; nearly all are not. Always false where the mean is NaN.
    #[inline(always)]
    pub fn is_passed(&self, sum: f64, weight: f64) -> bool {
        let difference = sum - self.mean * weight;
        difference * difference > self.quotient * (weight * (self.weight - weight))
    }
}

/// The best split of a node so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Best {
    pub bar: Bar,
    total: Total,
    least_rows: f64,
    place: Option<Place>,
}

/// Where a node is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub feature: u32,
    pub threshold: f32,
    pub missing_right: bool,
}

impl Best {
    /// No split yet of a node with these sums; each part is to have `least_rows`.
    pub fn none(total: Total, least_rows: usize) -> Self {
        let mean = total.sum / total.weight;
        // What rounding alone can make of equal gradients is no gain.
        let bar = Bar { quotient: f64::EPSILON * mean * mean, mean, weight: total.weight };
        Self { bar, total, least_rows: least_rows as f64, place: None }
    }

    pub fn total(&self) -> &Total {
        &self.total
    }

    /// Where the best split is, and by how much it lowers the weighted sum of squares.
    pub fn found(&self) -> Option<(Place, f64)> {
        self.place.map(|place| (place, self.bar.quotient * self.bar.weight))
    }

    /// Considers the split of `feature` between the values `lower` and `upper` (`None`: between all values and missing), where
    /// `left` is what lies below and `missing` what has no value: it is tried on both sides.
    #[inline(never)]
    pub fn consider(&mut self, feature: u32, left: &Total, missing: Option<&Total>, lower: f32, upper: Option<f32>) {
        let larger_right = |left: &Total, total: &Total| total.rows > 2.0 * left.rows;
        let Some(missing) = missing.filter(|missing| missing.rows > 0.0) else {
            if self.improves(left) {
                let missing_right = larger_right(left, &self.total);
                self.place = Some(Place { feature, threshold: between(lower, upper), missing_right });
            }
            return;
        };
        if self.improves(left) {
            self.place = Some(Place { feature, threshold: between(lower, upper), missing_right: true });
        }
        let mut with_missing = *left;
        with_missing.add(missing);
        if upper.is_some() && self.improves(&with_missing) {
            self.place = Some(Place { feature, threshold: between(lower, upper), missing_right: false });
        }
    }

    fn improves(&mut self, left: &Total) -> bool {
        let difference = left.sum - self.bar.mean * left.weight;
        let product = left.weight * (self.bar.weight - left.weight);
        let better = self.bar.is_passed(left.sum, left.weight)
            && left.rows >= self.least_rows
            && self.total.rows - left.rows >= self.least_rows
            && product > 0.0;
        if better {
            self.bar.quotient = difference * difference / product;
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
