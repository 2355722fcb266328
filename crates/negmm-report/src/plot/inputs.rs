//! Plots of the permutation importance and of the effects of the inputs.

use negmm::{Model, Result};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::evaluation_set::EvaluationSet;
use crate::importance::Importance;
use crate::input_effect::{InputEffect, input_effect};
use crate::text::{count, name, num};

/// Inputs in the importance plot, and effect plots.
const BARS: usize = 12;
const EFFECTS: usize = 4;
/// Rows shown as points.
const POINTS: usize = 600;
/// Pixels of the heat map for a category, with the gap between two.
const CATEGORY_PIXELS: usize = 12;

/// The importance of all inputs, and the effects of the most important.
pub fn inputs(model: &Model, evaluation: &EvaluationSet, importance: &[Importance]) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    if importance.len() > 1 {
        plots.push(importance_plot(importance));
    }
    let target = name(&model.encoder().target().name);
    for input in importance {
        if plots.len() == EFFECTS + usize::from(importance.len() > 1) {
            break;
        }
        if let Some(effect) = input_effect(model, evaluation, &input.name)? {
            let number = plots.len() + usize::from(importance.len() == 1);
            plots.push(effect_plot(&effect, &target, number, importance.len() > 1));
        }
    }
    Ok(plots)
}

fn importance_plot(importance: &[Importance]) -> Plot {
    let shown = &importance[..importance.len().min(BARS)];
    let names: Vec<String> = shown.iter().map(|input| name(&input.name)).collect();
    let increases: Vec<f64> = shown.iter().map(|input| input.crps_increase).collect();
    let mut table = TextTable::new(["input", "increase of the CRPS"]);
    shown.iter().zip(&names).for_each(|(input, name)| table.push([name.clone(), num(input.crps_increase)]));
    let panel = Panel::new(
        Axis::new("increase of the CRPS").include(0.0),
        Axis::categories("", &names).range(names.len() as f64 - 0.5, -0.5),
    )
    .with(Mark::horizontal_bars(&vec![0.0; increases.len()], &increases).colour(Colour::Blue));
    let more = importance.len() - shown.len();
    let rest = if more > 0 { format!(" The other {} matter less.", count(more)) } else { String::new() };
    Plot {
        name: "importance".into(),
        caption: format!(
            "Permutation importance: the increase of the mean CRPS when the values of an input are permuted between rows. An \
             input without a bar has no influence.{rest}"
        ),
        figure: Figure::new(
            "Importance of the inputs",
            format!("The most important of {} inputs is {}.", count(importance.len()), names[0]),
        )
        .panel_size(400.0, 90.0 + 22.0 * names.len().max(3) as f64)
        .panel(panel),
        table,
    }
}

fn effect_plot(effect: &InputEffect, target: &str, number: usize, others: bool) -> Plot {
    let input = name(&effect.name);
    let (low, high) = effect.range;
    let title = format!("Effect of {input}");
    let others =
        if others { ", with all other inputs at typical values (points: rows with any other inputs)" } else { "" };
    let axis = effect.unit.as_ref().map_or_else(|| input.clone(), |unit| format!("{input}, {unit}"));
    let labels =
        |at: usize| effect.categories.as_ref().map_or_else(|| num(effect.x[at]), |categories| name(&categories[at]));
    let table = TextTable::new([axis.as_str(), "mean", "90 % from", "90 % to"]).filled(
        evenly_spaced(effect.x.len(), 24)
            .into_iter()
            .map(|at| vec![labels(at), num(effect.mean[at]), num(effect.lower[at]), num(effect.upper[at])]),
    );
    let shown = evenly_spaced(effect.data.0.len(), POINTS);
    let (x, y): (Vec<f64>, Vec<f64>) =
        shown.iter().map(|at| (effect.data.0[*at], effect.data.1[*at])).filter(|(x, _)| x.is_finite()).unzip();
    let y_axis = Axis::new(target).range(low, high);
    let rows = effect.heat.len() / effect.x.len();
    let measure = if effect.discrete { "probability" } else { "density" };
    let panel = match &effect.categories {
        None => {
            let half = 0.5 * (effect.x[1] - effect.x[0]);
            let ends = (effect.x[0] - half, effect.x[effect.x.len() - 1] + half);
            Panel::new(Axis::new(&axis).range(ends.0, ends.1), y_axis)
                .with(Mark::heat(ends, (low, high), effect.x.len(), effect.heat.clone()).name(measure))
                .with(Mark::points(&x, &y).colour(Colour::Text).opacity(0.45).width(2.2).name("rows"))
                .with(
                    Mark::line(&effect.x, &effect.lower)
                        .colour(Colour::Orange)
                        .width(1.2)
                        .dashed()
                        .name("90 % interval"),
                )
                .with(
                    Mark::line(&effect.x, &effect.upper)
                        .colour(Colour::Orange)
                        .width(1.2)
                        .dashed()
                        .name("90 % interval"),
                )
                .with(Mark::line(&effect.x, &effect.mean).colour(Colour::Orange).width(1.8).name("mean"))
        }
        Some(categories) => {
            let categories: Vec<String> = categories.iter().map(|category| name(category)).collect();
            let gap = vec![0.0; rows];
            let columns = effect.heat.chunks(rows).flat_map(|column| {
                let pixel = |at: usize| if (2..CATEGORY_PIXELS - 2).contains(&at) { column } else { &gap };
                (0..CATEGORY_PIXELS).flat_map(pixel).copied().collect::<Vec<f64>>()
            });
            let ends = (-0.5, categories.len() as f64 - 0.5);
            let heat = columns.collect();
            // Jitter keeps the rows of a category apart.
            let jittered = |(at, x): (usize, &f64)| x + ((at as f64 * 0.618_033_988_749).fract() - 0.5) * 0.5;
            let x: Vec<f64> = x.iter().enumerate().map(jittered).collect();
            Panel::new(Axis::categories(&input, &categories), y_axis)
                .with(Mark::heat(ends, (low, high), categories.len() * CATEGORY_PIXELS, heat).name(measure))
                .with(Mark::points(&x, &y).colour(Colour::Text).opacity(0.45).width(2.2).name("rows"))
                .with(
                    Mark::ranges(&effect.x, &effect.lower, &effect.upper)
                        .colour(Colour::Orange)
                        .width(2.0)
                        .name("90 % interval"),
                )
                .with(Mark::points(&effect.x, &effect.mean).colour(Colour::Orange).width(7.0).name("mean"))
        }
    };
    Plot {
        name: format!("effect-{number}"),
        caption: format!("The predicted distribution at every value of the input (darker: more likely){others}."),
        figure: Figure::new(
            title,
            format!(
                "The mean of {target} goes from {} to {}.",
                num(effect.mean[0]),
                num(effect.mean[effect.mean.len() - 1])
            ),
        )
        .panel(panel),
        table,
    }
}
