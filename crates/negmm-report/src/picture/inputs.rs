//! Responsible for the inputs: which matter, and how the prediction changes along them.

use negmm::{Model, Result};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture, spread};
use crate::cases::Cases;
use crate::importance::Importance;
use crate::slice::{Slice, slice};
use crate::text::{count, name, num};

/// Inputs in the picture of importance, and with a picture of their own.
const BARS: usize = 12;
const SLICES: usize = 4;
/// Rows shown as dots.
const POINTS: usize = 600;
/// Pixels of the heat map for a word, with a gap between two words.
const WORD_PIXELS: usize = 12;

/// The importance of all inputs, and the prediction along the first.
pub fn inputs(model: &Model, cases: &Cases, importance: &[Importance]) -> Result<Vec<Picture>> {
    let mut pictures = Vec::new();
    if importance.len() > 1 {
        pictures.push(bars(importance));
    }
    let target = name(&model.encoder().target().name);
    for input in importance {
        if pictures.len() == SLICES + usize::from(importance.len() > 1) {
            break;
        }
        if let Some(slice) = slice(model, cases, &input.name)? {
            let number = pictures.len() + usize::from(importance.len() == 1);
            pictures.push(along(&slice, &target, number, importance.len() > 1));
        }
    }
    Ok(pictures)
}

fn bars(importance: &[Importance]) -> Picture {
    let shown = &importance[..importance.len().min(BARS)];
    let names: Vec<String> = shown.iter().map(|input| name(&input.name)).collect();
    let losses: Vec<f64> = shown.iter().map(|input| input.loss).collect();
    let mut table = Grid::new(["input", "CRPS grows by"]);
    shown.iter().zip(&names).for_each(|(input, name)| table.push([name.clone(), num(input.loss)]));
    let panel = Panel::new(
        Axis::new("CRPS grows by").include(0.0),
        Axis::words("", &names).range(names.len() as f64 - 0.5, -0.5),
    )
    .with(Mark::lying_bars(&vec![0.0; losses.len()], &losses).ink(Ink::Blue));
    let more = importance.len() - shown.len();
    let rest = if more > 0 { format!(" The other {} matter less.", count(more)) } else { String::new() };
    Picture {
        file: "importance".into(),
        reading: format!(
            "How much worse the CRPS becomes when an input's values change places between rows: long bars matter, none \
             means that the model does not use it.{rest}"
        ),
        figure: Figure::new(
            "What matters",
            format!("The most important of {} inputs is {}.", count(importance.len()), names[0]),
        )
        .panel_size(400.0, 90.0 + 22.0 * names.len().max(3) as f64)
        .panel(panel),
        table,
    }
}

fn along(slice: &Slice, target: &str, number: usize, others: bool) -> Picture {
    let input = name(&slice.name);
    let (low, high) = slice.range;
    let title = format!("Prediction along {input}");
    let held =
        if others { ", all other inputs held at typical values (dots: rows, whatever their other inputs)" } else { "" };
    let axis = slice.unit.as_ref().map_or_else(|| input.clone(), |unit| format!("{input}, {unit}"));
    let labels = |at: usize| slice.words.as_ref().map_or_else(|| num(slice.x[at]), |words| name(&words[at]));
    let table = Grid::new([axis.as_str(), "mean", "90 % from", "90 % to"]).filled(
        spread(slice.x.len(), 24)
            .into_iter()
            .map(|at| vec![labels(at), num(slice.mean[at]), num(slice.lower[at]), num(slice.upper[at])]),
    );
    let shown = spread(slice.data.0.len(), POINTS);
    let (x, y): (Vec<f64>, Vec<f64>) =
        shown.iter().map(|at| (slice.data.0[*at], slice.data.1[*at])).filter(|(x, _)| x.is_finite()).unzip();
    let y_axis = Axis::new(target).range(low, high);
    let rows = slice.heat.len() / slice.x.len();
    let measure = if slice.discrete { "probability" } else { "density" };
    let panel = match &slice.words {
        None => {
            let half = 0.5 * (slice.x[1] - slice.x[0]);
            let ends = (slice.x[0] - half, slice.x[slice.x.len() - 1] + half);
            Panel::new(Axis::new(&axis).range(ends.0, ends.1), y_axis)
                .with(Mark::heat(ends, (low, high), slice.x.len(), slice.heat.clone()).name(measure))
                .with(Mark::points(&x, &y).ink(Ink::Text).opacity(0.45).width(2.2).name("rows"))
                .with(Mark::line(&slice.x, &slice.lower).ink(Ink::Orange).width(1.2).dashed().name("90 % interval"))
                .with(Mark::line(&slice.x, &slice.upper).ink(Ink::Orange).width(1.2).dashed().name("90 % interval"))
                .with(Mark::line(&slice.x, &slice.mean).ink(Ink::Orange).width(1.8).name("mean"))
        }
        Some(words) => {
            let words: Vec<String> = words.iter().map(|word| name(word)).collect();
            let gap = vec![0.0; rows];
            let columns = slice.heat.chunks(rows).flat_map(|column| {
                let pixel = |at: usize| if (2..WORD_PIXELS - 2).contains(&at) { column } else { &gap };
                (0..WORD_PIXELS).flat_map(pixel).copied().collect::<Vec<f64>>()
            });
            let ends = (-0.5, words.len() as f64 - 0.5);
            let heat = columns.collect();
            // Rows of a word side by side, not on top of each other.
            let beside = |(at, x): (usize, &f64)| x + ((at as f64 * 0.618_033_988_749).fract() - 0.5) * 0.5;
            let x: Vec<f64> = x.iter().enumerate().map(beside).collect();
            Panel::new(Axis::words(&input, &words), y_axis)
                .with(Mark::heat(ends, (low, high), words.len() * WORD_PIXELS, heat).name(measure))
                .with(Mark::points(&x, &y).ink(Ink::Text).opacity(0.45).width(2.2).name("rows"))
                .with(
                    Mark::ranges(&slice.x, &slice.lower, &slice.upper)
                        .ink(Ink::Orange)
                        .width(2.0)
                        .name("90 % interval"),
                )
                .with(Mark::points(&slice.x, &slice.mean).ink(Ink::Orange).width(7.0).name("mean"))
        }
    };
    Picture {
        file: format!("along-{number}"),
        reading: format!(
            "The stronger the blue, the more likely: the predicted distribution at every value of the input{held}."
        ),
        figure: Figure::new(
            title,
            format!(
                "The mean of {target} runs from {} to {}.",
                num(slice.mean[0]),
                num(slice.mean[slice.mean.len() - 1])
            ),
        )
        .panel(panel),
        table,
    }
}
