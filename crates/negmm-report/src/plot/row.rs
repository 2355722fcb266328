//! The plot of one row: its density or probabilities, its components, its interval and the observed target.

use negmm::Distribution;
use negmm::{DistributionKind, DistributionRef, Mixture};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable};
use crate::diagnostics::RowDiagnostics;
use crate::evaluation_set::EvaluationSet;
use crate::highlights::Highlight;
use crate::point_probabilities::{atoms, cells, step};
use crate::text::{count, num, percent};

/// Points of the curve.
const POINTS: usize = 120;
/// Components drawn, at most, and their smallest weight.
const MAX_COMPONENTS: usize = 8;
const MIN_WEIGHT: f64 = 0.02;
/// Components narrower than this fraction of the plot need more points.
const NARROW: f64 = 0.02;
/// Bars of the histogram of samples or quantiles.
const BARS: usize = 30;
/// What is shown of the tails beyond the outermost quantiles, as a fraction of their distance: two close outermost quantiles have
/// a narrow tail, two distant ones a tail that would leave nothing to see between them.
const TAIL: f64 = 0.25;

/// Levels of the quantiles in the table.
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The range of values that contains nearly the whole distribution and the observed target.
pub fn range(row: DistributionRef<'_>, y: f64) -> (f64, f64) {
    let (mut low, mut high) = (row.quantile(0.005), row.quantile(0.995));
    let mut spread = 0.5 * row.normal_sd();
    if let DistributionKind::Quantiles(quantiles) = row.kind
        && let [first, .., last] = quantiles.values
        && first < last
    {
        low = low.max(first - TAIL * (last - first));
        high = high.min(last + TAIL * (last - first));
        spread = 0.0;
    }
    let (low, high) = (low.min(y), high.max(y));
    let margin = (0.04 * (high - low)).max(spread).max(step(row).unwrap_or(0.0));
    // A single atom has no width.
    let margin = if margin > 1e-12 * high.abs().max(low.abs()) { margin } else { 0.5 + 0.5 * high.abs() };
    (low - margin, high + margin)
}

/// Points from `low` to `high` for a smooth curve: evenly spaced, denser at narrow components, and on both sides of bounds.
fn curve_points(row: DistributionRef<'_>, low: f64, high: f64) -> Vec<f64> {
    let mut points: Vec<f64> = (0..POINTS).map(|at| low + (high - low) * at as f64 / (POINTS - 1) as f64).collect();
    if let DistributionKind::Mixture(mixture) = row.kind {
        let components = mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds));
        for (_, (mean, sd)) in
            components.filter(|(weight, (_, sd))| **weight >= MIN_WEIGHT && **sd > 0.0 && **sd < NARROW * (high - low))
        {
            let near = (-8..=8).map(|step| mean + 0.4 * f64::from(step) * sd);
            points.extend(near.filter(|x| low < *x && *x < high));
        }
        let bounds = [
            row.support.lower.map(|lower| [lower.next_down(), lower]),
            row.support.upper.map(|upper| [upper, upper.next_up()]),
        ];
        points.extend(bounds.into_iter().flatten().flatten().filter(|x| low < *x && *x < high));
        points.sort_by(f64::total_cmp);
    }
    points
}

/// The plot of row `at`.
pub fn row(
    evaluation: &EvaluationSet,
    diagnostics: &RowDiagnostics,
    at: usize,
    highlight: Highlight,
    target: &str,
) -> Plot {
    let (row, y) = (evaluation.predictions.row(at), evaluation.y[at]);
    let panel = panel(row, diagnostics, y, target);
    let mut table = TextTable::new(["", target]);
    table.push(["observed".into(), num(y)]);
    table.push(["mean".into(), num(diagnostics.mean)]);
    table.push(["sd".into(), num(diagnostics.sd)]);
    for level in LEVELS {
        table.push([format!("{} % quantile", level * 100.0), num(row.quantile(level))]);
    }
    let number = count(evaluation.numbers[at]);
    Plot {
        name: highlight.name().into(),
        caption: format!("Row {number}: {}.", highlight.reason()),
        figure: Figure::new(
            format!("{}: row {number}", highlight.title()),
            format!(
                "Mean {}, 90 % interval from {} to {}; observed {} (PIT {}).",
                num(diagnostics.mean),
                num(diagnostics.lower),
                num(diagnostics.upper),
                num(y),
                percent(diagnostics.pit)
            ),
        )
        .panel(panel),
        table,
    }
}

/// The distribution, its mean and the observed target.
fn panel(row: DistributionRef<'_>, diagnostics: &RowDiagnostics, y: f64, target: &str) -> Panel {
    let (low, high) = range(row, y);
    let cells = cells(row, (low, high));
    let measure = if cells.is_some() { "probability" } else { "density" };
    let panel = Panel::new(Axis::new(target).range(low, high), Axis::new(measure).include(0.0));
    let panel = match (row.kind, cells) {
        (_, Some(cells)) => bars(panel, row, diagnostics, &cells),
        (DistributionKind::Mixture(mixture), None) => curve(panel, row, Some(mixture), diagnostics, low, high),
        // The density of quantiles has high peaks where two of them are close.
        (DistributionKind::Samples(_) | DistributionKind::Quantiles(_), None) => {
            histogram(panel, row, diagnostics, low, high)
        }
        (DistributionKind::Family(_), None) => curve(panel, row, None, diagnostics, low, high),
    };
    panel
        .with(Mark::vertical_rule(diagnostics.mean).colour(Colour::Blue).width(1.0).dashed().name("mean"))
        .with(Mark::vertical_rule(y).colour(Colour::Orange).width(2.0).name("observed"))
}

/// A bar for each value of a discrete distribution.
fn bars(panel: Panel, row: DistributionRef<'_>, diagnostics: &RowDiagnostics, cells: &[(f64, f64)]) -> Panel {
    let half = 0.5 * step(row).unwrap_or_default();
    let first = cells.iter().take(1).map(|(value, _)| value - half);
    let edges: Vec<f64> = first.chain(cells.iter().map(|(value, _)| value + half)).collect();
    let heights: Vec<f64> = cells.iter().map(|(_, mass)| *mass).collect();
    let bars = Mark::histogram(&edges, &heights).colour(Colour::Sky).name("probability");
    panel.with(bars).with(interval_band(diagnostics, &heights))
}

/// The density, its components, and a vertical line for each atom with its probability.
fn curve(
    panel: Panel,
    row: DistributionRef<'_>,
    mixture: Option<Mixture<'_>>,
    diagnostics: &RowDiagnostics,
    low: f64,
    high: f64,
) -> Panel {
    let (x, inside) = (curve_points(row, low, high), curve_points(row, diagnostics.lower, diagnostics.upper));
    let (lower, upper) = row.support.bounds();
    let at = |x: f64| if lower <= x && x <= upper { row.pdf(x) } else { 0.0 };
    let density = |x: &[f64]| x.iter().map(|x| at(*x)).collect::<Vec<f64>>();
    let zeros = vec![0.0; inside.len()];
    let band = Mark::band(&inside, &zeros, &density(&inside));
    let mut panel = panel.with(band.colour(Colour::Sky).opacity(0.4).name("90 % interval"));
    for component in mixture.map_or(Vec::new(), |mixture| components(mixture, &x, at)) {
        panel = panel.with(Mark::line(&x, &component).colour(Colour::Purple).width(1.0).dashed().name("components"));
    }
    let heights = density(&x);
    panel = panel.with(Mark::line(&x, &heights).colour(Colour::Blue).width(2.0).name("density"));
    let atoms: Vec<(f64, f64)> = atoms(row).into_iter().filter(|(value, _)| low < *value && *value < high).collect();
    // Probabilities have another scale than densities: the most probable atom is drawn a little higher than the density, so that its
    // label is above the curve.
    let highest = heights.iter().copied().filter(|height| *height > 0.0).reduce(f64::max).unwrap_or(1.0);
    let largest = atoms.iter().map(|(_, mass)| *mass).fold(f64::MIN_POSITIVE, f64::max);
    for (value, mass) in atoms {
        let top = 1.1 * highest * mass / largest;
        let spike = Mark::ranges(&[value], &[0.0], &[top]).colour(Colour::Blue).width(3.0).name("point probability");
        panel = panel.with(spike).with(Mark::annotation(value, top, percent(mass)));
    }
    panel
}

/// The densities at `x` of the heaviest components of a mixture with the density `at`; none for a single component.
fn components(mixture: Mixture<'_>, x: &[f64], at: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let visible = |k: &usize| mixture.weights[*k] >= MIN_WEIGHT && mixture.sds[*k] > 0.0;
    let mut heaviest: Vec<usize> = (0..mixture.weights.len()).filter(visible).collect();
    if heaviest.len() < 2 {
        return Vec::new();
    }
    heaviest.sort_by(|a, b| mixture.weights[*b].total_cmp(&mixture.weights[*a]));
    // Truncation scales all components by the same factor as the density.
    let factor = |x: f64| if mixture.pdf(x) > 0.0 { at(x) / mixture.pdf(x) } else { 0.0 };
    let density = |k: usize| x.iter().map(|x| mixture.component_pdf(k, *x) * factor(*x)).collect();
    heaviest.into_iter().take(MAX_COMPONENTS).map(density).collect()
}

/// A histogram of samples, or of the distribution between quantiles.
fn histogram(panel: Panel, row: DistributionRef<'_>, diagnostics: &RowDiagnostics, low: f64, high: f64) -> Panel {
    let edges: Vec<f64> = (0..=BARS).map(|edge| low + (high - low) * edge as f64 / BARS as f64).collect();
    let density = |ends: &[f64]| (row.cdf(ends[1]) - row.cdf(ends[0])) / (ends[1] - ends[0]);
    let heights: Vec<f64> = edges.windows(2).map(density).collect();
    let name = if matches!(row.kind, DistributionKind::Samples(_)) { "samples" } else { "quantiles" };
    let bars = Mark::histogram(&edges, &heights).colour(Colour::Sky).name(name);
    panel.with(bars).with(interval_band(diagnostics, &heights))
}

/// The interval, as a band at the foot of the bars.
fn interval_band(diagnostics: &RowDiagnostics, heights: &[f64]) -> Mark {
    let top = heights.iter().copied().fold(0.0, f64::max);
    let band = Mark::band(&[diagnostics.lower, diagnostics.upper], &[0.0; 2], &[0.04 * top; 2]);
    band.colour(Colour::Text).opacity(0.8).name("90 % interval")
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::family::Family;
    use negmm::quantiles::QuantileSets;
    use negmm::{Mixtures, Predictions, Support};
    use negmm_draw::Style;

    fn drawn(predictions: &Predictions, y: f64) -> String {
        let row = predictions.row(0);
        let svg = Figure::new("Row", "A row.").panel(panel(row, &RowDiagnostics::of(row, y), y, "y")).svg(Style::File);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    fn two(support: Support) -> Predictions {
        let mixtures = Mixtures::new(2, vec![0.25, 0.75], vec![0.0, 3.0], vec![0.0, 2.0]).unwrap();
        Predictions::from(mixtures).with_support(support).unwrap()
    }

    #[test]
    fn discrete_values_have_bars() {
        let counts = two(Support { lower: Some(0.0), step: Some(1.0), ..Support::default() });
        let row = counts.row(0);
        let cells = cells(row, range(row, 2.0)).unwrap();
        assert_eq!((cells[0].0, cells[1].0), (0.0, 1.0));
        assert!(cells.iter().map(|cell| cell.1).sum::<f64>() > 0.99);
        assert!(cells.iter().all(|(value, mass)| row.point_probability(*value) == *mass));
        let svg = drawn(&counts, 2.0);
        assert!(svg.contains("probability") && !svg.contains("density"));
        let fine = two(Support { lower: Some(0.0), step: Some(0.001), ..Support::default() });
        assert!(super::cells(fine.row(0), range(fine.row(0), 2.0)).is_none());
        assert!(drawn(&fine, 2.0).contains("density"));
    }

    #[test]
    fn counts_of_a_family_have_bars_and_close_quantiles_no_peaks() {
        let poisson = Predictions::from(vec![Family::named("poisson", &[("mean", 2.5)]).unwrap()]);
        let cells = cells(poisson.row(0), range(poisson.row(0), 2.0)).unwrap();
        assert_eq!(cells[0], (0.0, poisson.row(0).point_probability(0.0)));
        assert!(drawn(&poisson, 2.0).contains("probability"));
        // Nearly all of the distribution is between 0 and 3: the tail by the last two quantiles is cut.
        let sets = QuantileSets::new(vec![0.05, 0.5, 0.501, 0.9, 0.95], vec![0.0, 1.0, 1.0 + 1e-9, 1.1, 3.0]).unwrap();
        let quantiles = Predictions::from(sets);
        let (low, high) = range(quantiles.row(0), 1.0);
        assert!(low < 0.0 && 3.0 < high && high < 4.0, "{low} {high}");
        assert!(drawn(&quantiles, 1.0).contains("quantiles"));
    }

    #[test]
    fn an_atom_has_its_probability_beside_it() {
        let mixed = two(Support::default());
        assert_eq!(atoms(mixed.row(0)), [(0.0, 0.25)]);
        assert!(drawn(&mixed, 1.0).contains(&percent(0.25)) && drawn(&mixed, 1.0).contains("point probability"));
        let positive = two(Support { lower: Some(0.0), ..Support::default() });
        assert!(atoms(positive.row(0))[0].1 > 0.25);
        assert!(drawn(&positive, 1.0).contains(&percent(positive.row(0).point_probability(0.0))));
        let alone = Predictions::from(Mixtures::new(1, vec![1.0], vec![0.0], vec![0.0]).unwrap());
        assert!(drawn(&alone, 0.0).contains(&percent(1.0)));
    }

    #[test]
    fn the_density_ends_at_a_bound() {
        let bounded = two(Support { lower: Some(1.0), upper: Some(4.0), ..Support::default() });
        let points = curve_points(bounded.row(0), 0.0, 5.0);
        assert!(points.contains(&1.0) && points.contains(&1.0_f64.next_down()) && points.is_sorted());
        drawn(&bounded, 4.0);
    }
}
