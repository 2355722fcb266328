//! The report of a forecaster: forecasts, backtest scores, calibration, seasonality.

use negmm::Result;
use negmm::data::Table;
use negmm::forecast::{Backtest, BacktestOrigins, Forecaster, Histories};

use crate::page::{Page, Scores, Section};
use crate::plot::{self, TextTable};
use crate::report::Report;
use crate::text::{counted, html, name, num, percent};

/// The caption of the table of scores.
const SCORES_CAPTION: &str = "Lower is better for all errors; the other rows are naive baselines; the coverage of an interval should \
    be its nominal level.";

impl Report {
    /// Reports on `forecaster` by a backtest on the series in `table` from these origins, and by its forecasts after the end; the table
    /// comes from a file called `source`.
    ///
    /// # Errors
    /// When the table cannot be forecast.
    pub fn of_forecaster(
        forecaster: &Forecaster,
        table: &Table,
        origins: BacktestOrigins,
        source: &str,
    ) -> Result<Self> {
        let histories = forecaster.histories(table)?;
        let future = forecaster.future(table, &histories);
        let fans = future.map(|future| plot::fans(forecaster, &histories, &future)).unwrap_or_default();
        let mut sections = vec![Section { id: "fit", heading: "Forecasts", plots: fans }];
        let (mut facts, mut scores) = (facts(forecaster, &histories, source), TextTable::default());
        if forecaster.points(&histories, origins).iter().any(|point| !histories.value(point).is_nan()) {
            let rolling = forecaster.backtest(table, &histories, origins)?;
            facts.push(summary(&rolling));
            scores = score_table(&rolling);
            let plots = plot::by_step(&rolling);
            sections.push(Section { id: "scores", heading: "Backtest scores", plots });
            let pit = vec![plot::pit(&rolling)];
            sections.push(Section { id: "calibration", heading: "Calibration", plots: pit });
        }
        let seasons = plot::seasons(forecaster, &histories).into_iter().collect();
        sections.push(Section { id: "inputs", heading: "Seasonality", plots: seasons });
        let training = plot::training(forecaster.model());
        sections.push(Section { id: "training", heading: "Training", plots: training });
        let page = Page {
            target: name(&forecaster.transform().spec.target),
            facts,
            scores: vec![Scores::new(SCORES_CAPTION, scores)],
            sections: sections
                .into_iter()
                .filter(|section| section.id == "scores" || !section.plots.is_empty())
                .collect(),
            rows: "{\"rows\":[]}".into(),
        };
        Ok(Self { page })
    }
}

/// Sentences about the forecaster and the series.
fn facts(forecaster: &Forecaster, histories: &Histories, source: &str) -> Vec<String> {
    let transform = forecaster.transform();
    let mut facts = vec![format!(
        "Probabilistic forecasts of {}, {} ahead; {} in {}, {}.",
        html(&name(&transform.spec.target)),
        counted(transform.spec.horizon, "step"),
        counted(histories.series.len(), "series"),
        html(&name(source)),
        transform.frequency.words(),
    )];
    facts.push(format!(
        "Scaled changes from the {} are modelled; stacking weights: networks {}, empirical changes {}.",
        html(&transform.naive().name()),
        percent(forecaster.network_weight()),
        percent(1.0 - forecaster.network_weight()),
    ));
    facts.extend(histories.warnings.iter().map(|warning| format!("Note: {}.", html(&warning.to_string()))));
    facts
}

/// The forecaster compared with the best baseline, in a sentence.
fn summary(rolling: &Backtest) -> String {
    let own = &rolling.scores[0];
    rolling.best_baseline().map_or(String::new(), |best| {
        let (than, difference) = (html(&best.name), percent((1.0 - own.crps / best.crps).abs()));
        let better = if own.crps < best.crps { "better" } else { "worse" };
        format!(
            "Summary: over {} its CRPS is {difference} {better} than that of the best baseline, {than}.",
            counted(rolling.origins, "origin")
        )
    })
}

fn score_table(rolling: &Backtest) -> TextTable {
    let mut table = TextTable::new(["forecast", "CRPS", "NLL", "coverage 95 %", "width 95 %", "MASE", "WIS"]);
    for score in &rolling.scores {
        table.push([
            score.name.clone(),
            num(score.crps),
            num(score.nll),
            percent(score.coverage95),
            num(score.width95),
            num(score.mase),
            num(score.wis),
        ]);
    }
    table
}
