//! The paper's trend plots: closing prices over time, with the end of the training period.

use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Prices, Stock};

/// One panel per stock.
pub(super) fn trends(stocks: &[Stock], prices: &[Prices]) -> Figure {
    let figure = Figure::new(
        "Closing prices of the stocks",
        "Daily closing prices; the dashed line divides the training period from the test period.",
    )
    .columns(1)
    .panel_size(760.0, 260.0);
    stocks.iter().zip(prices).fold(figure, |figure, (stock, prices)| figure.panel(trend(stock, prices)))
}

fn trend(stock: &Stock, prices: &Prices) -> Panel {
    let close = prices.close();
    let days: Vec<f64> = (0..close.len()).map(|day| day as f64).collect();
    let first_test = prices.split.train.len();
    Panel::new(Axis::new("").ticks(quarters(&prices.dates)), Axis::new("closing price, USD"))
        .title(stock.name.to_uppercase())
        .with(Mark::line(&days, close).colour(Colour::Blue).width(1.2).name("closing price"))
        .with(
            Mark::vertical_rule(first_test as f64 - 0.5)
                .colour(Colour::Orange)
                .width(1.2)
                .dashed()
                .name("start of the test period"),
        )
}

/// The first trading day of every second quarter, by year and month.
fn quarters(dates: &[String]) -> Vec<(f64, String)> {
    let month = |date: &String| date.get(..7).unwrap_or_default().to_string();
    let mut ticks = Vec::new();
    for day in 1..dates.len() {
        let (before, now) = (month(&dates[day - 1]), month(&dates[day]));
        if before != now && (now.ends_with("-01") || now.ends_with("-07")) {
            ticks.push((day as f64, now));
        }
    }
    ticks
}
