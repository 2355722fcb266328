//! The stocks of the paper: its measures of risk, its periods, and the persistence baseline.

#[path = "../../negmm/tests/common/external.rs"]
mod external;

use negmm::tune::{Journal, RunOptions};
use negmm_paper::finance::{Plan, STOCKS, Volatility};
use negmm_paper::{Effort, Report};

#[test]
fn the_volatility_table_is_the_papers() {
    let Some(data) = external::data("") else { return };
    let published = [["0.0203", "0.3216", "0.4460"], ["0.0522", "0.8284", "0.8347"], ["0.1248", "1.9807", "0.8832"]];
    for (stock, published) in STOCKS.iter().zip(published) {
        let Volatility { daily, annual, drawdown } = stock.read(&data).unwrap().volatility();
        assert_eq!([daily, annual, drawdown].map(|figure| format!("{figure:.4}")), published, "{}", stock.name);
    }
}

#[test]
fn the_periods_have_the_right_days() {
    let Some(data) = external::data("") else { return };
    for (stock, (train, test)) in STOCKS.iter().zip([(901, 127), (335, 106), (314, 231)]) {
        let prices = stock.read(&data).unwrap();
        assert_eq!((prices.split.train.len(), prices.split.test.len()), (train, test), "{}", stock.name);
        assert_eq!(prices.dates.len(), prices.close().len());
    }
}

fn mean(report: &Report, data: &str, method: &str, metric: &str) -> f64 {
    let fits = |entry: &&negmm_paper::Entry| entry.data == data && entry.method == method && entry.metric == metric;
    report.entries.iter().find(fits).unwrap().ours.mean
}

#[test]
fn persistence_beats_the_constant_by_far() {
    let Some(data) = external::data("") else { return };
    let plan = Plan {
        stocks: STOCKS.to_vec(),
        methods: vec!["constant".into()],
        runs: 1,
        effort: Effort::Quick,
        overrides: Vec::new(),
        seed: 0,
    };
    let report = plan.run(&data, &mut Journal::in_memory(), &RunOptions::default()).unwrap().unwrap();
    for stock in STOCKS {
        let score = |method, metric| mean(&report, stock.name, method, metric);
        assert!(score("persistence", "rmse") < 0.4 * score("constant", "rmse"), "{}", stock.name);
        assert!(score("persistence", "crps") < 0.4 * score("constant", "crps"), "{}", stock.name);
    }
    // The error of persistence is the root mean square of the changes.
    let prices = STOCKS[0].read(&data).unwrap();
    let close = &prices.close()[900..];
    let squares: f64 = close.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    assert!((mean(&report, "goog", "persistence", "rmse") - (squares / 127.0).sqrt()).abs() < 1e-12);
    assert_eq!(report.tables[0].rows[1], ["goog", "0.0203", "0.0203", "0.3216", "0.3216", "0.4460", "0.4460"]);
}
