//! Plots of what makes predictions sure or unsure: contributions to the mean, the sd and the upper tail, and the sd and quantiles
//! along inputs.

use negmm::explain::Dependence;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable};
use crate::explanation::Explained;
use crate::text::{count, counted, name, num};
use crate::time_axis::TimeAxis;

/// Inputs in a plot.
const SHOWN: usize = 10;
/// Categories of an input along which curves are drawn.
const CATEGORIES: usize = 8;
/// The place of the mean, the sd and the 95 % quantile among the answers of contributions.
const MEAN: usize = 0;
const SD: usize = 1;
const TAIL: usize = 2;
/// The ranks that are low and high values.
const LOW: f64 = 1.0 / 3.0;
const HIGH: f64 = 2.0 / 3.0;

/// All plots of the section.
pub fn explanation(explained: &Explained, target: &str) -> Vec<Plot> {
    let mut plots = vec![sizes(explained, target), of_rows(explained, target)];
    plots.extend(explained.curves.iter().enumerate().map(|(number, curve)| along(curve, target, number + 1)));
    plots
}

/// The mean |contribution| of each input to the sd, to the upper tail and to the mean.
fn sizes(explained: &Explained, target: &str) -> Plot {
    let Explained { contributions, order, .. } = explained;
    let shown = &order[..order.len().min(SHOWN)];
    let names: Vec<String> = shown.iter().map(|column| name(&contributions.columns()[*column])).collect();
    let of = |answer: usize| {
        let all = contributions.mean_absolute(answer, None);
        shown.iter().map(|column| all[*column]).collect::<Vec<f64>>()
    };
    let [sd, tail, mean] = [SD, TAIL, MEAN].map(of);
    let mut table = TextTable::new(["input", "to the sd", "to the 95 % quantile", "to the mean"]);
    for (at, name) in names.iter().enumerate() {
        table.push([name.clone(), num(sd[at]), num(tail[at]), num(mean[at])]);
    }
    let panel = |title: &str, values: &[f64], colour: Colour| {
        let axis = Axis::categories("", &names).range(names.len() as f64 - 0.5, -0.5);
        Panel::new(Axis::new("mean |contribution|").include(0.0), axis)
            .with(Mark::horizontal_bars(&vec![0.0; values.len()], values).colour(colour))
            .title(title)
    };
    let most = (0..sd.len()).reduce(|best, at| if sd[at] > sd[best] { at } else { best }).unwrap_or(0);
    let more = order.len() - shown.len();
    let rest = if more > 0 { format!(" The other {} matter less.", count(more)) } else { String::new() };
    Plot {
        name: "contributions".into(),
        caption: format!(
            "Shapley values of the inputs, their size averaged over {}: how much an input moves the sd, the upper \
             tail and the mean of {target} away from the usual ones (the averages over {} of training), in the target's unit.{rest}",
            counted(contributions.rows(), "row"),
            counted(explained.background, "row"),
        ),
        figure: Figure::new(
            "What moves the sd, the upper tail and the mean",
            format!("{} moves the sd most, by {} on average.", names[most], num(sd[most])),
        )
        .panel_size(400.0, 100.0 + 22.0 * names.len().max(3) as f64)
        .columns(1)
        .panel(panel("To the sd", &sd, Colour::Orange))
        .panel(panel("To the 95 % quantile", &tail, Colour::Sky))
        .panel(panel("To the mean", &mean, Colour::Blue)),
        table,
    }
}

/// The contributions to the sd, to the upper tail and to the mean of single rows, a dot each.
fn of_rows(explained: &Explained, target: &str) -> Plot {
    let Explained { contributions, order, .. } = explained;
    let shown = &order[..order.len().min(SHOWN)];
    let names: Vec<String> = shown.iter().map(|column| name(&contributions.columns()[*column])).collect();
    let values = |answer: usize, column: usize| -> Vec<f64> {
        (0..contributions.rows()).map(|row| contributions.contributions(row, answer)[column]).collect()
    };
    let mut table = TextTable::new(["input", "to the sd: lowest", "highest", "row with the highest"]);
    for (column, name) in shown.iter().zip(&names) {
        let values = values(SD, *column);
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        if let Some(row) = (0..values.len()).reduce(|best, row| if values[row] > values[best] { row } else { best }) {
            table.push([name.clone(), num(lowest), num(values[row]), count(explained.numbers[row])]);
        }
    }
    let panel = |answer: usize, title: &str, label: &str| {
        let axis = Axis::categories("", &names).range(names.len() as f64 - 0.5, -0.5);
        let panel = Panel::new(Axis::new(label).include(0.0), axis)
            .with(Mark::vertical_rule(0.0).colour(Colour::Muted).width(1.0))
            .title(title);
        panel.with_all(dots(explained, shown, |column| values(answer, column)))
    };
    let error = match contributions.is_exact() {
        true => String::new(),
        false => format!(" Standard error of a dot: about {} of the sd.", num(contributions.typical_error(SD))),
    };
    let [sd, tail, mean] = [SD, TAIL, MEAN].map(|answer| num(contributions.base(0, answer)));
    Plot {
        name: "contributions-rows".into(),
        caption: format!(
            "A dot for each row. To the sd: right of 0 the input makes the prediction less sure than usual (sd {sd}), left \
             of it surer. To the 95 % quantile: it makes high outcomes higher or lower than usual ({tail}). To the mean: it \
             makes the prediction higher or lower than usual ({mean}). The dots of a row add up to its prediction minus the \
             usual one. Low and high are the lower and the upper third of the input's values.{error}",
        ),
        figure: Figure::new(
            "What makes single rows sure or unsure",
            format!(
                "Contributions to the sd, the 95 % quantile and the mean of {target} in {}.",
                counted(contributions.rows(), "row")
            ),
        )
        .panel_size(400.0, 110.0 + 26.0 * names.len().max(3) as f64)
        .columns(1)
        .panel(panel(SD, "To the sd", "contribution to the sd"))
        .panel(panel(TAIL, "To the 95 % quantile", "contribution to the 95 % quantile"))
        .panel(panel(MEAN, "To the mean", "contribution to the mean")),
        table,
    }
}

/// Dots of the contributions of inputs, coloured by the values of the inputs.
fn dots(explained: &Explained, shown: &[usize], values: impl Fn(usize) -> Vec<f64>) -> Vec<Mark> {
    // Low, middle and high values, and those without an order.
    let mut points: [(Vec<f64>, Vec<f64>); 4] = Default::default();
    for (at, column) in shown.iter().enumerate() {
        let ranks = explained.ranks(*column);
        for (row, value) in values(*column).into_iter().enumerate() {
            let kind = match ranks.as_ref().map(|ranks| ranks[row]) {
                Some(rank) if rank < LOW => 0,
                Some(rank) if rank > HIGH => 2,
                Some(rank) if rank.is_finite() => 1,
                _ => 3,
            };
            points[kind].0.push(value);
            // Jitter keeps rows apart.
            points[kind].1.push(at as f64 + ((row as f64 * 0.618_033_988_749).fract() - 0.5) * 0.6);
        }
    }
    let kinds = [
        ("low value", Colour::Blue),
        ("middle", Colour::Grey),
        ("high value", Colour::Orange),
        ("text or missing", Colour::Text),
    ];
    let marks = kinds.into_iter().zip(&points).filter(|(_, (x, _))| !x.is_empty());
    marks
        .map(|((kind, colour), (x, y))| Mark::points(x, y).colour(colour).opacity(0.65).width(4.0).name(kind))
        .collect()
}

/// The sd and quantiles along an input.
fn along(curve: &Dependence, target: &str, number: usize) -> Plot {
    let input = name(&curve.column);
    let shown = if curve.numbers.is_some() { curve.values.len() } else { curve.values.len().min(CATEGORIES) };
    let (x, axis, labels): (Vec<f64>, Axis, Vec<String>) = match &curve.numbers {
        None => {
            let names: Vec<String> = curve.values[..shown].iter().map(|value| name(value)).collect();
            ((0..shown).map(|at| at as f64).collect(), Axis::categories(&input, &names), names)
        }
        Some(numbers) if is_time(curve) => {
            let time = TimeAxis::new(numbers[0], numbers[shown - 1]);
            let x = numbers.iter().map(|seconds| time.position(*seconds)).collect();
            (x, Axis::new(format!("{input}, {}", time.label)), curve.values.clone())
        }
        Some(numbers) => (numbers.clone(), Axis::new(&input), numbers.iter().map(|number| num(*number)).collect()),
    };
    let of = |answer: usize| &curve.partial[answer][..shown];
    let mut table = TextTable::new([input.as_str(), "sd", "5 %", "median", "95 %"]);
    for (at, label) in labels.iter().enumerate() {
        table.push([label.clone(), num(of(0)[at]), num(of(1)[at]), num(of(2)[at]), num(of(3)[at])]);
    }
    let mut spread = Panel::new(axis.clone(), Axis::new(format!("sd of {target}")).include(0.0)).title("The sd");
    let mut quantiles = Panel::new(axis, Axis::new(target)).title("Quantiles");
    if curve.numbers.is_some() {
        for own in &curve.individual[0] {
            spread = spread.with(Mark::line(&x, own).colour(Colour::Grey).opacity(0.35).width(0.8).name("single rows"));
        }
        spread = spread.with(Mark::line(&x, of(0)).colour(Colour::Orange).width(2.2).name("mean over rows"));
        quantiles = quantiles
            .with(Mark::band(&x, of(1), of(3)).colour(Colour::Sky).opacity(0.35).name("5 % to 95 %"))
            .with(Mark::line(&x, of(2)).colour(Colour::Blue).width(1.8).name("median"));
    } else {
        let jitter = |row: usize| ((row as f64 * 0.618_033_988_749).fract() - 0.5) * 0.5;
        let own = curve.individual[0].iter().enumerate();
        let dots = own.flat_map(|(row, own)| (0..shown).map(move |at| (at as f64 + jitter(row), own[at])));
        let (dots_x, dots_y): (Vec<f64>, Vec<f64>) = dots.unzip();
        spread = spread
            .with(Mark::points(&dots_x, &dots_y).colour(Colour::Grey).opacity(0.5).width(2.5).name("single rows"))
            .with(Mark::points(&x, of(0)).colour(Colour::Orange).width(7.0).name("mean over rows"));
        quantiles = quantiles
            .with(Mark::ranges(&x, of(1), of(3)).colour(Colour::Sky).width(3.0).name("5 % to 95 %"))
            .with(Mark::points(&x, of(2)).colour(Colour::Blue).width(7.0).name("median"));
    }
    let at = |better: fn(f64, f64) -> bool| {
        (0..shown).reduce(|best, at| if better(of(0)[at], of(0)[best]) { at } else { best }).unwrap_or(0)
    };
    let (low, high) = (at(|a, b| a < b), at(|a, b| a > b));
    Plot {
        name: format!("along-{number}"),
        caption: "The sd and the quantiles while the input takes other values and all other inputs stay as they are in each row \
            (partial dependence; thin: single rows). Combinations of values that no row has are included."
            .into(),
        figure: Figure::new(
            format!("How sure along {input}"),
            format!(
                "The sd is lowest, {}, at {}, and highest, {}, at {}.",
                num(of(0)[low]),
                labels[low],
                num(of(0)[high]),
                labels[high]
            ),
        )
        .columns(1)
        .panel(spread)
        .panel(quantiles),
        table,
    }
}

/// Whether the values of a column are dates.
fn is_time(curve: &Dependence) -> bool {
    curve.values.first().is_some_and(|value| value.parse::<f64>().is_err())
}
