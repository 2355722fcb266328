//! Responsible for the picture of one row: its density or probabilities, its components, its interval and what was observed.

use negmm::{Law, Mixture, Row};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture};
use crate::answers::RowAnswers;
use crate::cases::Cases;
use crate::notable::Kind;
use crate::text::{count, num, percent};

/// Points of the curve.
const POINTS: usize = 120;
/// Components drawn, and the smallest weight worth a line.
const COMPONENTS: usize = 8;
const LEAST_WEIGHT: f64 = 0.02;
/// Components narrower than this share of the picture need more points.
const NARROW: f64 = 0.02;
/// Bars of the histogram of samples.
const BARS: usize = 30;
/// More values of a grid than this are shown by a density.
const MOST_CELLS: f64 = 200.0;

/// The quantiles that are told.
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The range of the target that shows the whole distribution and the observed target.
pub fn ends(row: Row<'_>, y: f64) -> (f64, f64) {
    let (low, high) = (row.quantile(0.005).min(y), row.quantile(0.995).max(y));
    let margin = (0.04 * (high - low)).max(0.5 * row.normal_sd()).max(row.support.step.unwrap_or(0.0));
    // One atom alone has no width to go by.
    let margin = if margin > 1e-12 * high.abs().max(low.abs()) { margin } else { 0.5 + 0.5 * high.abs() };
    (low - margin, high + margin)
}

/// The values of the grid between two ends and their probabilities, where there is a grid and they are not too many.
pub fn cells(row: Row<'_>, (low, high): (f64, f64)) -> Option<Vec<(f64, f64)>> {
    let step = row.support.step?;
    let (lower, upper) = row.support.bounds();
    let (first, last) = (row.support.nearest(low.max(lower)), row.support.nearest(high.min(upper)));
    let count = ((last - first) / step).round();
    let value = |cell: usize| row.support.nearest(first + cell as f64 * step);
    (count <= MOST_CELLS).then(|| (0..=count as usize).map(|cell| (value(cell), row.mass(value(cell)))).collect())
}

/// The places of the atoms and their probabilities, where there is no grid.
pub fn atoms(row: Row<'_>) -> Vec<(f64, f64)> {
    let Law::Mixture(mixture) = row.law else { return Vec::new() };
    if row.support.step.is_some() {
        return Vec::new();
    }
    let atom = |(place, sd): (&f64, &f64)| (*sd == 0.0).then_some(*place);
    let mut places: Vec<f64> = mixture.means.iter().zip(mixture.sds).filter_map(atom).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places.into_iter().map(|place| (place, row.mass(place))).filter(|(_, mass)| *mass > 0.0).collect()
}

/// Places from `low` to `high` for a smooth curve: evenly spread, more where components are narrow, and both sides of bounds.
fn places(row: Row<'_>, low: f64, high: f64) -> Vec<f64> {
    let mut places: Vec<f64> = (0..POINTS).map(|at| low + (high - low) * at as f64 / (POINTS - 1) as f64).collect();
    if let Law::Mixture(mixture) = row.law {
        let components = mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds));
        for (_, (mean, sd)) in components
            .filter(|(weight, (_, sd))| **weight >= LEAST_WEIGHT && **sd > 0.0 && **sd < NARROW * (high - low))
        {
            let near = (-8..=8).map(|step| mean + 0.4 * f64::from(step) * sd);
            places.extend(near.filter(|place| low < *place && *place < high));
        }
        let bounds = [
            row.support.lower.map(|lower| [lower.next_down(), lower]),
            row.support.upper.map(|upper| [upper, upper.next_up()]),
        ];
        places.extend(bounds.into_iter().flatten().flatten().filter(|place| low < *place && *place < high));
        places.sort_by(f64::total_cmp);
    }
    places
}

/// The picture of row `at`.
pub fn row(cases: &Cases, answers: &RowAnswers, at: usize, kind: Kind, target: &str) -> Picture {
    let (row, y) = (cases.predictions.row(at), cases.y[at]);
    let panel = panel(row, answers, y, target);
    let mut table = Grid::new(["", target]);
    table.push(["observed".into(), num(y)]);
    table.push(["mean".into(), num(answers.mean)]);
    table.push(["sd".into(), num(answers.sd)]);
    for level in LEVELS {
        table.push([format!("{} % quantile", level * 100.0), num(row.quantile(level))]);
    }
    let number = count(cases.numbers[at]);
    Picture {
        file: kind.file().into(),
        reading: format!("Row {number}, {}.", kind.reason()),
        figure: Figure::new(
            format!("{}: row {number}", kind.title()),
            format!(
                "Mean {}, 90 % interval from {} to {}; observed {}, above {} of the predicted distribution.",
                num(answers.mean),
                num(answers.lower),
                num(answers.upper),
                num(y),
                percent(answers.pit)
            ),
        )
        .panel(panel),
        table,
    }
}

/// The distribution, its mean and what was observed.
fn panel(row: Row<'_>, answers: &RowAnswers, y: f64, target: &str) -> Panel {
    let (low, high) = ends(row, y);
    let cells = cells(row, (low, high));
    let measure = if cells.is_some() { "probability" } else { "density" };
    let panel = Panel::new(Axis::new(target).range(low, high), Axis::new(measure).include(0.0));
    let panel = match (row.law, cells) {
        (_, Some(cells)) => bars(panel, row, answers, &cells),
        (Law::Mixture(mixture), None) => curve(panel, row, mixture, answers, low, high),
        (Law::Samples(samples), None) => histogram(panel, samples.values, answers, low, high),
    };
    panel
        .with(Mark::upright_rule(answers.mean).ink(Ink::Blue).width(1.0).dashed().name("mean"))
        .with(Mark::upright_rule(y).ink(Ink::Orange).width(2.0).name("observed"))
}

/// A bar for each value of the grid.
fn bars(panel: Panel, row: Row<'_>, answers: &RowAnswers, cells: &[(f64, f64)]) -> Panel {
    let half = 0.5 * row.support.step.unwrap_or_default();
    let first = cells.iter().take(1).map(|(value, _)| value - half);
    let edges: Vec<f64> = first.chain(cells.iter().map(|(value, _)| value + half)).collect();
    let heights: Vec<f64> = cells.iter().map(|(_, mass)| *mass).collect();
    let bars = Mark::histogram(&edges, &heights).ink(Ink::Sky).name("probability");
    panel.with(bars).with(underline(answers, &heights))
}

/// The density, its components, and an upright line for each atom with its probability.
fn curve(panel: Panel, row: Row<'_>, mixture: Mixture<'_>, answers: &RowAnswers, low: f64, high: f64) -> Panel {
    let (x, inside) = (places(row, low, high), places(row, answers.lower, answers.upper));
    let (lower, upper) = row.support.bounds();
    let at = |x: f64| if lower <= x && x <= upper { row.pdf(x) } else { 0.0 };
    let density = |x: &[f64]| x.iter().map(|x| at(*x)).collect::<Vec<f64>>();
    let nothing = vec![0.0; inside.len()];
    let band = Mark::band(&inside, &nothing, &density(&inside));
    let mut panel = panel.with(band.ink(Ink::Sky).opacity(0.4).name("90 % interval"));
    let seen = |k: &usize| mixture.weights[*k] >= LEAST_WEIGHT && mixture.sds[*k] > 0.0;
    let mut heaviest: Vec<usize> = (0..mixture.weights.len()).filter(seen).collect();
    heaviest.sort_by(|a, b| mixture.weights[*b].total_cmp(&mixture.weights[*a]));
    if heaviest.len() > 1 {
        // Between bounds all are higher by as much as the density is.
        let higher = |x: f64| if mixture.pdf(x) > 0.0 { at(x) / mixture.pdf(x) } else { 0.0 };
        for k in heaviest.into_iter().take(COMPONENTS) {
            let part: Vec<f64> = x.iter().map(|x| mixture.component_pdf(k, *x) * higher(*x)).collect();
            panel = panel.with(Mark::line(&x, &part).ink(Ink::Purple).width(1.0).dashed().name("components"));
        }
    }
    let heights = density(&x);
    panel = panel.with(Mark::line(&x, &heights).ink(Ink::Blue).width(2.0).name("density"));
    let atoms: Vec<(f64, f64)> = atoms(row).into_iter().filter(|(place, _)| low < *place && *place < high).collect();
    // A probability has no place on an axis of densities: the most probable atom is a little higher than the density, so that its
    // label is above it.
    let highest = heights.iter().copied().filter(|height| *height > 0.0).reduce(f64::max).unwrap_or(1.0);
    let most = atoms.iter().map(|(_, mass)| *mass).fold(f64::MIN_POSITIVE, f64::max);
    for (place, mass) in atoms {
        let top = 1.1 * highest * mass / most;
        let spike = Mark::ranges(&[place], &[0.0], &[top]).ink(Ink::Blue).width(3.0).name("one value");
        panel = panel.with(spike).with(Mark::note(place, top, percent(mass)));
    }
    panel
}

/// How many samples lie where.
fn histogram(panel: Panel, samples: &[f64], answers: &RowAnswers, low: f64, high: f64) -> Panel {
    let edges: Vec<f64> = (0..=BARS).map(|edge| low + (high - low) * edge as f64 / BARS as f64).collect();
    let step = (high - low) / BARS as f64;
    let mut heights = vec![0.0; BARS];
    for value in samples {
        let bar = ((value - low) / step) as usize;
        heights[bar.min(BARS - 1)] += 1.0 / (samples.len() as f64 * step);
    }
    let bars = Mark::histogram(&edges, &heights).ink(Ink::Sky).name("samples");
    panel.with(bars).with(underline(answers, &heights))
}

/// The interval, below bars.
fn underline(answers: &RowAnswers, heights: &[f64]) -> Mark {
    let top = heights.iter().copied().fold(0.0, f64::max);
    let band = Mark::band(&[answers.lower, answers.upper], &[0.0; 2], &[0.04 * top; 2]);
    band.ink(Ink::Text).opacity(0.8).name("90 % interval")
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Predictions, Support};
    use negmm_draw::Style;

    fn drawn(predictions: &Predictions, y: f64) -> String {
        let row = predictions.row(0);
        let svg = Figure::new("Row", "A row.").panel(panel(row, &RowAnswers::of(row, y), y, "y")).svg(Style::File);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    fn two(support: Support) -> Predictions {
        let mixtures = Mixtures::new(2, vec![0.25, 0.75], vec![0.0, 3.0], vec![0.0, 2.0]).unwrap();
        Predictions::from(mixtures).with_support(support).unwrap()
    }

    #[test]
    fn values_of_a_grid_have_bars() {
        let counts = two(Support { lower: Some(0.0), step: Some(1.0), ..Support::default() });
        let row = counts.row(0);
        let cells = cells(row, ends(row, 2.0)).unwrap();
        assert_eq!((cells[0].0, cells[1].0), (0.0, 1.0));
        assert!(cells.iter().map(|cell| cell.1).sum::<f64>() > 0.99);
        assert!(cells.iter().all(|(value, mass)| row.mass(*value) == *mass));
        let svg = drawn(&counts, 2.0);
        assert!(svg.contains("probability") && !svg.contains("density"));
        let fine = two(Support { lower: Some(0.0), step: Some(0.001), ..Support::default() });
        assert!(super::cells(fine.row(0), ends(fine.row(0), 2.0)).is_none());
        assert!(drawn(&fine, 2.0).contains("density"));
    }

    #[test]
    fn an_atom_has_its_probability_beside_it() {
        let mixed = two(Support::default());
        assert_eq!(atoms(mixed.row(0)), [(0.0, 0.25)]);
        assert!(drawn(&mixed, 1.0).contains(&percent(0.25)) && drawn(&mixed, 1.0).contains("one value"));
        let positive = two(Support { lower: Some(0.0), ..Support::default() });
        assert!(atoms(positive.row(0))[0].1 > 0.25);
        assert!(drawn(&positive, 1.0).contains(&percent(positive.row(0).mass(0.0))));
        let alone = Predictions::from(Mixtures::new(1, vec![1.0], vec![0.0], vec![0.0]).unwrap());
        assert!(drawn(&alone, 0.0).contains(&percent(1.0)));
    }

    #[test]
    fn the_density_ends_at_a_bound() {
        let bounded = two(Support { lower: Some(1.0), upper: Some(4.0), ..Support::default() });
        let places = places(bounded.row(0), 0.0, 5.0);
        assert!(places.contains(&1.0) && places.contains(&1.0_f64.next_down()) && places.is_sorted());
        drawn(&bounded, 4.0);
    }
}
