//! Responsible for the report of a forecaster: what follows, how good it was, and why.

use negmm::Result;
use negmm::data::Table;
use negmm::forecast::{Forecaster, Histories, Origins, Rolling};

use crate::picture::{self, Grid};
use crate::report::{Report, Section};
use crate::text::{counted, html, name, num, percent};

/// What a page says of a forecaster's scores.
const READING: &str = "Less is better for all errors; the other lines are naive forecasts that nobody should lose to, and shares inside \
    an interval should be what it says.";

impl Report {
    /// Explains `forecaster` by its forecasts of the series in `table`, which comes from a file called `source`: of those origins,
    /// and of what follows the end.
    ///
    /// # Errors
    /// When the table cannot be forecast.
    pub fn of_forecaster(forecaster: &Forecaster, table: &Table, origins: Origins, source: &str) -> Result<Self> {
        let histories = forecaster.histories(table)?;
        let future = forecaster.future(table, &histories);
        let fans = future.map(|future| picture::fans(forecaster, &histories, &future)).unwrap_or_default();
        let mut sections = vec![Section { id: "fit", heading: "What follows?", pictures: fans }];
        let (mut facts, mut scores) = (facts(forecaster, &histories, source), Grid::default());
        if forecaster.places(&histories, origins).iter().any(|place| !histories.value(place).is_nan()) {
            let rolling = forecaster.rolling(table, &histories, origins)?;
            facts.push(verdict(&rolling));
            scores = score_lines(&rolling);
            let pictures = picture::by_step(&rolling);
            sections.push(Section { id: "scores", heading: "Is it any good?", pictures });
            let pit = vec![picture::pit(&rolling)];
            sections.push(Section { id: "calibration", heading: "Can its probabilities be trusted?", pictures: pit });
        }
        let seasons = picture::seasons(forecaster, &histories).into_iter().collect();
        sections.push(Section { id: "inputs", heading: "What repeats itself?", pictures: seasons });
        let training = picture::training(forecaster.model());
        sections.push(Section { id: "training", heading: "How did the training go?", pictures: training });
        Ok(Self {
            target: name(&forecaster.recipe().roles.target),
            facts,
            scores,
            scores_reading: READING,
            sections: sections
                .into_iter()
                .filter(|section| section.id == "scores" || !section.pictures.is_empty())
                .collect(),
            rows: "{\"rows\":[]}".into(),
        })
    }
}

/// What the forecaster is and which series these are.
fn facts(forecaster: &Forecaster, histories: &Histories, source: &str) -> Vec<String> {
    let recipe = forecaster.recipe();
    let mut facts = vec![format!(
        "Forecasts of {}, {} ahead, each with a whole distribution; {} in {}, {}.",
        html(&name(&recipe.roles.target)),
        counted(recipe.roles.horizon, "step"),
        counted(histories.series.len(), "series"),
        html(&name(source)),
        recipe.clock.words(),
    )];
    facts.push(format!(
        "Measured from the {}, in units of recent changes; networks count {}, the law of recent changes {}.",
        html(&recipe.naive().name()),
        percent(forecaster.share()),
        percent(1.0 - forecaster.share()),
    ));
    facts.extend(histories.warnings.iter().map(|warning| format!("Note: {}.", html(warning))));
    facts
}

/// The forecaster beside the best of its rivals, in a sentence.
fn verdict(rolling: &Rolling) -> String {
    let own = &rolling.scores[0];
    rolling.best_rival().map_or(String::new(), |best| {
        let (than, share) = (html(&best.name), percent((1.0 - own.crps / best.crps).abs()));
        let better = if own.crps < best.crps { "better" } else { "worse" };
        format!(
            "In short: over {} its CRPS is {share} {better} than that of the best naive forecast, {than}.",
            counted(rolling.origins, "origin")
        )
    })
}

fn score_lines(rolling: &Rolling) -> Grid {
    let mut grid = Grid::new(["forecast", "CRPS", "NLL", "in 95 %", "width 95 %", "MASE", "WIS"]);
    for score in &rolling.scores {
        grid.push([
            score.name.clone(),
            num(score.crps),
            num(score.nll),
            percent(score.coverage95),
            num(score.width95),
            num(score.mase),
            num(score.wis),
        ]);
    }
    grid
}
