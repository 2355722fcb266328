//! Combining mixtures: concatenation of rows and of components, and reordering.

use super::{Mixtures, rows_of};

impl Mixtures {
    /// The rows `order`, in this order. `scaled` gives a factor for the weights and one for the sds of each row. The weights need not
    /// sum to 1 then, see [`Mixtures::concatenate_components`].
    #[must_use]
    pub fn take(self, order: &[usize], scaled: impl Fn(usize) -> (f64, f64)) -> Self {
        let width = self.components;
        // One list after the other, so that only one of them is in memory twice.
        let pick = |list: Vec<f64>| rows_of(&list, width, order);
        let (mut weights, means, mut sds) = (pick(self.weights), pick(self.means), pick(self.sds));
        for (at, row) in order.iter().enumerate() {
            let ((weight_factor, sd_factor), own) = (scaled(*row), at * width..(at + 1) * width);
            weights[own.clone()].iter_mut().for_each(|weight| *weight *= weight_factor);
            sds[own].iter_mut().for_each(|sd| *sd *= sd_factor);
        }
        Self { components: width, weights, means, sds }
    }

    /// Some rows, in this order.
    #[must_use]
    pub fn selected(&self, rows: &[usize]) -> Self {
        let pick = |list: &[f64]| rows_of(list, self.components, rows);
        let (weights, means, sds) = (pick(&self.weights), pick(&self.means), pick(&self.sds));
        Self { components: self.components, weights, means, sds }
    }

    /// Each row y becomes y · scale + shift, with its own shift and scale.
    #[must_use]
    pub fn rescaled_by_row(mut self, shifts_and_scales: impl Iterator<Item = (f64, f64)>) -> Self {
        let means = self.means.chunks_exact_mut(self.components);
        let rows = means.zip(self.sds.chunks_exact_mut(self.components)).zip(shifts_and_scales);
        for ((means, sds), (shift, scale)) in rows {
            means.iter_mut().for_each(|mean| *mean = *mean * scale + shift);
            sds.iter_mut().for_each(|sd| *sd = (*sd * scale).max(f64::MIN_POSITIVE));
        }
        self
    }

    /// Moves each atom to the nearest of these values.
    pub(crate) fn move_atoms(&mut self, values: &[f64]) {
        for (mean, _) in self.means.iter_mut().zip(&self.sds).filter(|(_, sd)| **sd == 0.0) {
            let distance = |value: &&f64| (**value - *mean).abs();
            if let Some(nearest) = values.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
                *mean = *nearest;
            }
        }
    }

    /// All rows, repeated `times` times.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        let Self { components, weights, means, sds } = self;
        let (weights, means, sds) = (weights.repeat(times), means.repeat(times), sds.repeat(times));
        Self { components: *components, weights, means, sds }
    }

    /// All weights times `factor`, for [`Mixtures::concatenate_components`].
    #[must_use]
    pub fn scale_weights(mut self, factor: f64) -> Self {
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        self
    }

    /// For each row the components of all parts; their weights sum to 1 together.
    pub fn concatenate_components(parts: &[Self]) -> Self {
        let components = parts.iter().map(|part| part.components).sum();
        let rows = parts.first().map_or(0, Self::len);
        let join = |list: fn(&Self) -> &[f64]| {
            let mut joined = Vec::with_capacity(rows * components);
            for row in 0..rows {
                for part in parts {
                    joined.extend_from_slice(&list(part)[row * part.components..][..part.components]);
                }
            }
            joined
        };
        Self { components, weights: join(Self::weights), means: join(Self::means), sds: join(Self::sds) }
    }

    /// The rows of all parts, which have the same number of components.
    pub fn concatenate_rows(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or(Self { components: 1, weights: vec![], means: vec![], sds: vec![] });
        for part in parts {
            all.weights.extend(part.weights);
            all.means.extend(part.means);
            all.sds.extend(part.sds);
        }
        all
    }

    /// The same with further components of weight 0, up to `components`.
    #[must_use]
    pub fn padded_to(self, components: usize) -> Self {
        let missing = components.saturating_sub(self.components);
        if missing == 0 {
            return self;
        }
        let pad = |list: &[f64], value: f64| -> Vec<f64> {
            let rows = list.chunks_exact(self.components);
            rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(value, missing))).collect()
        };
        let (weights, means, sds) = (pad(&self.weights, 0.0), pad(&self.means, 0.0), pad(&self.sds, 1.0));
        Self { components, weights, means, sds }
    }
}
