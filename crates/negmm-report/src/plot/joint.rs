//! Plots of several targets: pairs with contours of the density, calibration of projections and of regions.

use negmm::JointMixtures;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::joint_rows::JointRows;
use crate::text::{count, num, percent};

/// The normal quantile of 97.5 %: bands of 95 %.
const Z: f64 = 1.959_963_984_540_054;
/// Steps of calibration curves.
const STEPS: usize = 50;
/// Cells of a density along each axis.
const CELLS: usize = 48;
/// Coverages of contours.
const CONTOURS: [f64; 2] = [0.5, 0.9];
/// Rows whose densities are averaged, and points that are drawn, at most.
const AVERAGED: usize = 150;
const POINTS: usize = 400;

/// A density on the cells of a rectangle: column by column from left to right, each from bottom to top.
struct Grid {
    x: (f64, f64),
    y: (f64, f64),
    density: Vec<f64>,
}

impl Grid {
    /// The mean density of a pair of targets over rows.
    fn new(mixtures: &JointMixtures, x: (f64, f64), y: (f64, f64)) -> Self {
        let at = |(low, high): (f64, f64), cell: usize| low + (high - low) * (cell as f64 + 0.5) / CELLS as f64;
        let mut density = vec![0.0; CELLS * CELLS];
        for row in mixtures.rows() {
            for (cell, sum) in density.iter_mut().enumerate() {
                *sum += row.log_pdf(&[at(x, cell / CELLS), at(y, cell % CELLS)]).exp() / mixtures.len() as f64;
            }
        }
        Self { x, y, density }
    }

    /// The density at the border of the region of this coverage within the rectangle.
    fn border(&self, coverage: f64) -> f64 {
        let mut sorted: Vec<f64> = self.density.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = sorted.iter().sum();
        let mut sum = 0.0;
        let inside = sorted.iter().take_while(|density| {
            sum += **density;
            sum < coverage * total
        });
        let at = inside.count();
        sorted.get(at).copied().unwrap_or(0.0)
    }

    /// The contour at a density, by marching squares: segments of two points, with gaps (NaN) between them.
    fn contour(&self, level: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        let position = |(low, high): (f64, f64), cell: f64| low + (high - low) * (cell + 0.5) / CELLS as f64;
        for column in 0..CELLS - 1 {
            for row in 0..CELLS - 1 {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(right, up)| {
                    let (column, row) = (column + right, row + up);
                    (column as f64, row as f64, self.density[column * CELLS + row])
                });
                let mut crossings = Vec::new();
                for at in 0..4 {
                    let ((x0, y0, a), (x1, y1, b)) = (corners[at], corners[(at + 1) % 4]);
                    if (a >= level) != (b >= level) {
                        let part = (level - a) / (b - a);
                        crossings.push((x0 + part * (x1 - x0), y0 + part * (y1 - y0)));
                    }
                }
                for pair in crossings.chunks_exact(2) {
                    for (x, y) in pair {
                        xs.push(position(self.x, *x));
                        ys.push(position(self.y, *y));
                    }
                    xs.push(f64::NAN);
                    ys.push(f64::NAN);
                }
            }
        }
        (xs, ys)
    }

    /// Heat map and contours.
    fn marks(&self) -> Vec<Mark> {
        let largest = self.density.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let values = self.density.iter().map(|density| (density / largest).sqrt()).collect();
        let mut marks = vec![Mark::heat(self.x, self.y, CELLS, values)];
        for (coverage, colour) in CONTOURS.into_iter().zip([Colour::Blue, Colour::Sky]) {
            let (x, y) = self.contour(self.border(coverage));
            marks.push(Mark::line(&x, &y).colour(colour).width(1.5).name(format!("{} region", percent(coverage))));
        }
        marks
    }
}

/// The range of a list, with a margin.
fn range(list: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = list
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let margin = 0.06 * (high - low).max(1e-9 * (1.0 + low.abs()));
    (low - margin, high + margin)
}

/// For each pair of targets the density over all rows, with the observed points.
pub fn pairs(rows: &JointRows) -> Vec<Plot> {
    let shown = evenly_spaced(rows.numbers.len(), POINTS);
    let averaged = rows.predictions.select(&evenly_spaced(rows.numbers.len(), AVERAGED));
    let targets = rows.predictions.targets();
    let of_pair = |(first, second): (usize, usize)| {
        let (x, y) = (rows.of_target(first), rows.of_target(second));
        let grid = Grid::new(
            &averaged.mixtures().of_targets(&[first, second]),
            range(x.iter().copied()),
            range(y.iter().copied()),
        );
        let inside = |coverage: f64| {
            let level = grid.border(coverage);
            let cell = |value: f64, (low, high): (f64, f64)| {
                (((value - low) / (high - low) * CELLS as f64) as usize).min(CELLS - 1)
            };
            let holds = |at: &usize| grid.density[cell(x[*at], grid.x) * CELLS + cell(y[*at], grid.y)] >= level;
            (0..x.len()).filter(holds).count() as f64 / x.len() as f64
        };
        let (a, b) = (crate::text::name(&targets[first].name), crate::text::name(&targets[second].name));
        let pick = |list: &[f64]| shown.iter().map(|at| list[*at]).collect::<Vec<f64>>();
        let panel =
            Panel::new(Axis::new(a.clone()).range(grid.x.0, grid.x.1), Axis::new(b.clone()).range(grid.y.0, grid.y.1))
                .with_all(grid.marks())
                .with(
                    Mark::points(&pick(&x), &pick(&y)).colour(Colour::Orange).opacity(0.6).width(3.0).name("observed"),
                );
        let table = TextTable::new(["row", "first", "second"])
            .filled(shown.iter().map(|at| vec![count(rows.numbers[*at]), num(x[*at]), num(y[*at])]));
        let table = TextTable { header: vec!["row".into(), a.clone(), b.clone()], ..table };
        let [half, most] = CONTOURS.map(|coverage| percent(inside(coverage)));
        Plot {
            name: format!("pair-{}-{}", first + 1, second + 1),
            caption: "The predicted density of both targets, averaged over rows, with the regions that hold 50 % and 90 % of it, \
                and the observed targets."
                .into(),
            figure: Figure::new(
                format!("{a} and {b}"),
                format!("{half} of the rows lie in the 50 % region and {most} in the 90 % region."),
            )
            .panel(panel),
            table,
        }
    };
    rows.pairs().into_iter().map(of_pair).collect()
}

/// One row: the predicted density of the pairs of targets, and what was observed.
pub fn joint_row(rows: &JointRows, row: usize) -> Plot {
    let one = rows.predictions.select(&[row]);
    let targets = rows.predictions.targets();
    let d = targets.len();
    let observed = &rows.y[row * d..][..d];
    let (mean, covariance) = (one.mixtures().row(0).mean(), one.mixtures().row(0).covariance());
    let reach = |target: usize| {
        let sd = covariance[target * (d + 1)].sqrt();
        let ends = [mean[target] - 3.5 * sd, mean[target] + 3.5 * sd, observed[target]];
        range(ends.into_iter())
    };
    let mut figure_panels = Vec::new();
    let mut table = TextTable::new(["target", "observed", "mean", "sd"]);
    for (at, target) in targets.iter().enumerate() {
        let sd = covariance[at * (d + 1)].sqrt();
        table.push([crate::text::name(&target.name), num(observed[at]), num(mean[at]), num(sd)]);
    }
    for (first, second) in rows.pairs() {
        let grid = Grid::new(&one.mixtures().of_targets(&[first, second]), reach(first), reach(second));
        let axis = |target: usize, (low, high): (f64, f64)| {
            Axis::new(crate::text::name(&targets[target].name)).range(low, high)
        };
        figure_panels.push(Panel::new(axis(first, grid.x), axis(second, grid.y)).with_all(grid.marks()).with(
            Mark::points(&[observed[first]], &[observed[second]]).colour(Colour::Orange).width(8.0).name("observed"),
        ));
    }
    let number = rows.numbers[row];
    let level = percent(rows.levels[0].1[row]);
    let figure = Figure::new(
        format!("Row {}", count(number)),
        format!("The smallest highest-density region with the observed targets has a coverage of {level}."),
    )
    .columns(if figure_panels.len() > 1 { 2 } else { 1 });
    Plot {
        name: format!("joint-row-{number}"),
        caption: "The predicted density of pairs of targets in this row, with regions of 50 % and 90 %.".into(),
        figure: figure_panels.into_iter().fold(figure, Figure::panel),
        table,
    }
}

/// Curves of observed against nominal coverage: the fraction of levels up to each nominal one.
fn coverage_figure(
    title: &str,
    description: String,
    curves: &[(String, Vec<f64>)],
    rows: usize,
) -> (Figure, TextTable) {
    let nominal: Vec<f64> = (0..=STEPS).map(|step| step as f64 / STEPS as f64).collect();
    let band = |level: &f64| {
        let half = Z * (level * (1.0 - level) / rows.max(1) as f64).sqrt();
        ((level - half).max(0.0), (level + half).min(1.0))
    };
    let (lower, upper): (Vec<f64>, Vec<f64>) = nominal.iter().map(band).unzip();
    let mut panel = Panel::new(
        Axis::new("nominal coverage").percent().range(0.0, 1.0),
        Axis::new("observed coverage").percent().range(0.0, 1.0),
    )
    .with(Mark::band(&nominal, &lower, &upper).colour(Colour::Orange).opacity(0.25).name("95 % band, if calibrated"))
    .with(Mark::line(&[0.0, 1.0], &[0.0, 1.0]).colour(Colour::Orange).width(1.0).dashed().name("calibrated"));
    let header = [vec!["nominal".to_string()], curves.iter().map(|(name, _)| name.clone()).collect()].concat();
    let mut table = TextTable { header, rows: Vec::new() };
    let observed = |levels: &[f64], nominal: f64| {
        levels.iter().filter(|level| **level <= nominal).count() as f64 / levels.len().max(1) as f64
    };
    for (number, (name, levels)) in curves.iter().enumerate() {
        let curve: Vec<f64> = nominal.iter().map(|nominal| observed(levels, *nominal)).collect();
        panel = panel.with(Mark::line(&nominal, &curve).colour(Colour::series(number)).width(1.8).name(name.clone()));
    }
    for step in (0..=STEPS).step_by(5) {
        let cells = curves.iter().map(|(_, levels)| percent(observed(levels, nominal[step])));
        table.push([percent(nominal[step])].into_iter().chain(cells));
    }
    (Figure::new(title, description).panel(panel), table)
}

/// Observed coverage of highest-density regions and ellipsoids.
pub fn joint_regions(rows: &JointRows) -> Plot {
    let curves: Vec<(String, Vec<f64>)> =
        rows.levels.iter().map(|(name, levels)| (name.to_string(), levels.clone())).collect();
    let inside = |levels: &[f64]| levels.iter().filter(|level| **level <= 0.9).count() as f64 / levels.len() as f64;
    let description = format!("Regions of 90 % contain {} of the rows.", percent(inside(&curves[0].1)));
    let (figure, table) = coverage_figure("Coverage of regions", description, &curves, rows.numbers.len());
    Plot {
        name: "region-coverage".into(),
        caption: "The fraction of rows inside joint regions of every level: below the diagonal the regions are too small, above it \
            too large."
            .into(),
        figure,
        table,
    }
}

/// Observed coverage of central intervals of each target, and of projections in directions.
pub fn projections(rows: &JointRows) -> Plot {
    let level = |pit: &f64| (2.0 * pit - 1.0).abs();
    let curves: Vec<(String, Vec<f64>)> =
        rows.projections.iter().map(|(name, pits)| (name.clone(), pits.iter().map(level).collect())).collect();
    let inside = |levels: &[f64]| levels.iter().filter(|level| **level <= 0.9).count() as f64 / levels.len() as f64;
    let gap = |curve: &&(String, Vec<f64>)| (inside(&curve.1) - 0.9).abs();
    let worst = curves.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)));
    let description = worst.map_or(String::new(), |(name, levels)| {
        format!("Of 90 % intervals those of {name} are furthest off: they contain {}.", percent(inside(levels)))
    });
    let (figure, table) = coverage_figure("Coverage of projections", description, &curves, rows.numbers.len());
    Plot {
        name: "projections".into(),
        caption: "Central intervals of each target and of projections of all targets in several directions. Calibrated targets with \
            directions off the diagonal have a wrong dependence."
            .into(),
        figure,
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contours_of_a_normal_density_are_circles_of_the_right_radius() {
        let one = JointMixtures::new(2, 1, vec![1.0], vec![0.0; 2], vec![1.0, 0.0, 1.0]).unwrap();
        let grid = Grid::new(&one, (-5.0, 5.0), (-5.0, 5.0));
        for coverage in CONTOURS {
            let radius = (-2.0 * (1.0 - coverage).ln()).sqrt();
            let (x, y) = grid.contour(grid.border(coverage));
            let distances: Vec<f64> =
                x.iter().zip(&y).map(|(x, y)| (x * x + y * y).sqrt()).filter(|distance| distance.is_finite()).collect();
            assert!(distances.len() > 60, "{}", distances.len());
            assert!(distances.iter().all(|distance| (distance - radius).abs() < 0.06), "{coverage}");
        }
    }
}
