//! Grids: values that are a step apart, and the cells around them.

/// Tolerance of values of a grid, in steps: for decimals and steps of ten digits, and as much as targets of a recognised grid may
/// be off.
const ROUNDING: f64 = 1e-3;

/// The values origin + index · step from the first index to the last, each of which may be infinite.
///
/// The cell of a value v is (v - step/2, v + step/2]; the cells of the first and the last value are unbounded. Indices are whole numbers
/// as f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    origin: f64,
    step: f64,
    lower: f64,
    upper: f64,
    /// Indices of the ends.
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl Grid {
    /// The values from `lower` to `upper`, which are of the grid or infinite.
    pub(crate) fn new(origin: f64, step: f64, lower: f64, upper: f64) -> Self {
        let index = |bound: f64| ((bound - origin) / step).round();
        Self { origin, step, lower, upper, first: index(lower), last: index(upper) }
    }

    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    fn steps_from_origin(&self, y: f64) -> f64 {
        (y - self.origin) / self.step
    }

    fn at(&self, steps: f64) -> f64 {
        // 3 / 10 is the double nearest to 0.3, 3 · 0.1 is not.
        let parts = (1.0 / self.step).round();
        let exact = parts > 1.0 && (parts * self.step - 1.0).abs() < 4.0 * f64::EPSILON;
        self.origin + if exact { steps / parts } else { steps * self.step }
    }

    /// The value with that index, or the nearest one of the grid.
    pub(crate) fn value(&self, index: f64) -> f64 {
        if index <= self.first {
            self.lower
        } else if index >= self.last {
            self.upper
        } else {
            self.at(index)
        }
    }

    /// The upper end of the cell with that index; -inf before the first cell.
    pub(crate) fn edge(&self, index: f64) -> f64 {
        if index >= self.last {
            f64::INFINITY
        } else if index < self.first {
            f64::NEG_INFINITY
        } else {
            self.at(index + 0.5)
        }
    }

    /// Both ends of the cell with that index.
    pub(crate) fn ends(&self, index: f64) -> (f64, f64) {
        (self.edge(index - 1.0), self.edge(index))
    }

    /// The index of the largest value up to `y`, also beyond the first and the last.
    pub(crate) fn up_to(&self, y: f64) -> f64 {
        (self.steps_from_origin(y) + ROUNDING).floor()
    }

    /// The ends of the cells of the values above `low` and up to `high`.
    pub(crate) fn edges_between(&self, low: f64, high: f64) -> (f64, f64) {
        (self.edge(self.up_to(low)), self.edge(self.up_to(high)))
    }

    /// The index of `y`, if it is a value of the grid.
    pub(crate) fn index(&self, y: f64) -> Option<f64> {
        let index = self.steps_from_origin(y).round();
        let near = (self.steps_from_origin(y) - index).abs() <= ROUNDING;
        (near && self.first <= index && index <= self.last).then_some(index)
    }

    /// The index of the cell that `y` lies in.
    pub(crate) fn cell(&self, y: f64) -> f64 {
        (self.steps_from_origin(y) - 0.5).ceil().clamp(self.first, self.last)
    }

    /// The value of the cell that `y` lies in.
    pub(crate) fn rounded(&self, y: f64) -> f64 {
        self.value(self.cell(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_decimals_that_were_written() {
        let tenths = Grid::new(0.0, 0.1, 0.0, 0.7);
        assert_eq!((tenths.first, tenths.last), (0.0, 7.0));
        assert_eq!([3.0, 6.0, 9.0, -1.0].map(|index| tenths.value(index)), [0.3, 0.6, 0.7, 0.0]);
        assert_eq!([0.3, 0.1 + 0.2, 0.31, 0.8].map(|y| tenths.index(y)), [Some(3.0), Some(3.0), None, None]);
        assert_eq!([-0.1, 0.3, 0.1 + 0.2, 0.39, 5.0].map(|y| tenths.up_to(y)), [-1.0, 3.0, 3.0, 3.0, 50.0]);
        assert_eq!([-9.0, 0.26, 0.34, 9.0].map(|y| tenths.rounded(y)), [0.0, 0.3, 0.3, 0.7]);
        let fives = Grid::new(2.0, 5.0, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!((fives.value(-3.0), fives.rounded(11.0), fives.index(-13.0)), (-13.0, 12.0, Some(-3.0)));
        assert_eq!((fives.value(f64::INFINITY), fives.edge(f64::NEG_INFINITY)), (f64::INFINITY, f64::NEG_INFINITY));
    }

    #[test]
    fn a_cell_has_its_upper_end() {
        let grid = Grid::new(0.0, 1.0, 0.0, f64::INFINITY);
        assert_eq!([0.5, 0.500_001, 1.5, -7.0].map(|y| grid.cell(y)), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!([-1.0, 0.0, 3.0].map(|index| grid.edge(index)), [f64::NEG_INFINITY, 0.5, 3.5]);
        let one = Grid::new(0.0, 1.0, 4.0, 4.0);
        assert_eq!((one.edge(3.0), one.edge(4.0), one.rounded(1e300)), (f64::NEG_INFINITY, f64::INFINITY, 4.0));
    }
}
