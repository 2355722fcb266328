//! Snapshot tests: each figure is compared byte by byte with its file under `snapshots/`. After an intended change run with
//! `NEGMM_BLESS=1`, review the files and commit them.

use negmm_draw::{Axis, Colour, Figure, Mark, Panel, Style};
use std::path::Path;

#[track_caller]
fn matches_snapshot(name: &str, figure: &Figure) {
    let svg = figure.svg(Style::File);
    assert_eq!(svg, figure.svg(Style::File), "the same figure gives the same bytes");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.svg"));
    if std::env::var_os("NEGMM_BLESS").is_some() {
        std::fs::write(&path, &svg).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    assert!(svg == before, "{name}.svg is drawn differently:\n{svg}");
    balanced(&svg);
}

/// Every element that is opened is closed, in order.
#[track_caller]
fn balanced(svg: &str) {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag that ends");
        let name = |tag: &str| tag.split([' ', '/']).next().unwrap().to_string();
        match tag.strip_prefix('/') {
            Some(end) => assert_eq!(open.pop().as_deref(), Some(end)),
            None if tag.ends_with('/') => {}
            None => open.push(name(tag)),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| low + (high - low) * at as f64 / (count - 1) as f64).collect()
}

/// Rational, so that no machine computes it differently.
fn bump(z: f64) -> f64 {
    1.0 / (1.0 + z * z)
}

#[test]
fn a_density_over_x_with_data_mean_and_bands() {
    let (columns, rows) = (60, 48);
    let x = grid(-3.0, 3.0, columns);
    let y = grid(-10.0, 10.0, rows);
    let mean: Vec<f64> = x.iter().map(|x| x * x - 3.0).collect();
    let heat = mean.iter().flat_map(|mean| y.iter().map(move |y| bump(y - mean))).collect();
    let shifted = |by: f64| mean.iter().map(|mean| mean + by).collect::<Vec<_>>();
    let panel = Panel::new(Axis::new("x").range(-3.0, 3.0), Axis::new("y").range(-10.0, 10.0))
        .title("Predictive density")
        .with(Mark::heat((-3.0, 3.0), (-10.0, 10.0), columns, heat).name("density"))
        .with(Mark::line(&x, &shifted(-2.0)).colour(Colour::Orange).width(1.0).dashed().name("95 % interval"))
        .with(Mark::line(&x, &shifted(2.0)).colour(Colour::Orange).width(1.0).dashed().name("95 % interval"))
        .with(Mark::line(&x, &mean).colour(Colour::Orange).name("mean"))
        .with(Mark::points(&x, &shifted(0.7)).colour(Colour::Text).opacity(0.6).width(3.0).name("data"));
    matches_snapshot("density", &Figure::new("Density", "A parabola with noise.").panel(panel));
}

#[test]
fn a_time_series_with_bands_and_a_split_line() {
    let t = grid(0.0, 400.0, 201);
    let y: Vec<f64> = t.iter().map(|t| 1000.0 + 40.0 * bump((t - 120.0) / 60.0) + (t * 0.618).fract()).collect();
    let moved = |by: f64| y.iter().map(|y| y + by).collect::<Vec<_>>();
    let panel = Panel::new(Axis::new("day"), Axis::new("price"))
        .with(Mark::band(&t, &moved(-8.0), &moved(8.0)).colour(Colour::Sky).opacity(0.3).name("95 % interval"))
        .with(Mark::band(&t, &moved(-3.0), &moved(3.0)).colour(Colour::Sky).opacity(0.5).name("50 % interval"))
        .with(Mark::line(&t, &moved(0.2)).colour(Colour::Text).width(1.0).name("observed"))
        .with(Mark::line(&t, &y).colour(Colour::Blue).name("mean"))
        .with(Mark::vertical_rule(300.0).colour(Colour::Muted).width(1.0).dashed())
        .with(Mark::annotation(300.0, 1045.0, "test"));
    let figure = Figure::new("Time series", "A price over 400 days.").panel_size(720.0, 280.0).panel(panel);
    matches_snapshot("time", &figure);
}

#[test]
fn bars_ranges_and_words_in_several_panels() {
    let words = ["ne-gmm", "mdn", "a method with quite a long name", "constant"].map(String::from);
    let at = grid(0.0, 3.0, 4);
    let scores =
        Panel::new(Axis::new("CRPS, less is better").include(0.0), Axis::categories("", &words).range(3.5, -0.5))
            .title("Scores")
            .with(Mark::horizontal_bars(&[0.0; 4], &[1.0, 1.2, 1.5, 2.4]).colour(Colour::Sky))
            .with(Mark::horizontal_ranges(&at, &[0.9, 1.1, 1.3, 2.3], &[1.1, 1.3, 1.7, 2.5]).colour(Colour::Text));
    let heights = [3.0, 5.0, 9.0, 4.0, 2.0];
    let histogram = Panel::new(Axis::new("width").range(0.0, 1.0), Axis::new("rows").include(0.0))
        .title("Histogram")
        .with(Mark::histogram(&grid(0.0, 1.0, 6), &heights).colour(Colour::Blue).name("rows"))
        .with(Mark::horizontal_rule(4.6).colour(Colour::Orange).dashed().name("expected"));
    let categorical = Panel::new(Axis::categories("city", &words), Axis::new("share").percent().range(0.0, 1.0))
        .with(Mark::bars(&[0.0; 4], &[0.2, 0.4, 0.6, 0.8]).colour(Colour::Blue).name("within"))
        .with(Mark::bars(&[0.2, 0.4, 0.6, 0.8], &[1.0; 4]).colour(Colour::Orange).name("between"));
    let gaps = Panel::new(Axis::new("x"), Axis::new("y"))
        .with(Mark::line(&[0.0, 1.0, f64::NAN, 3.0, 4.0], &[1e-7, 2e-7, 0.0, 3e-7, 1e-7]))
        .with(Mark::band(&[0.0, 1.0, 2.0, 3.0], &[0.0; 4], &[1e-7, f64::INFINITY, 1e-7, 2e-7]).colour(Colour::Green));
    let figure = Figure::new("Panels", "Four panels.").columns(2).panel_size(360.0, 240.0);
    matches_snapshot("panels", &figure.panel(scores).panel(histogram).panel(categorical).panel(gaps));
}

#[test]
fn odd_words_stay_words() {
    let script = "</text><script>alert(1)</script>";
    let words =
        [script.to_string(), "\"quotes\" & 'ticks'".into(), "😀 emoji".into(), "שלום עולם".into(), "x".repeat(10_000)];
    let panel = Panel::new(Axis::categories(script, &words), Axis::new("y".repeat(10_000)))
        .title(script)
        .with(Mark::bars(&[0.0; 5], &[1.0, 2.0, 3.0, 2.0, 1.0]).name(script))
        .with(Mark::annotation(1.0, 2.5, script));
    let figure = Figure::new(script, script).panel(panel);
    assert!(!figure.svg(Style::Page).contains("<script"));
    matches_snapshot("words", &figure);
}

#[test]
fn nothing_one_point_and_the_same_number() {
    let empty =
        Panel::new(Axis::new("x"), Axis::new("y")).with(Mark::line(&[], &[])).with(Mark::points(&[f64::NAN], &[1.0]));
    let one = Panel::new(Axis::new("x"), Axis::new("y")).with(Mark::points(&[2.0], &[5e9]).name("one"));
    let same = Panel::new(Axis::new("x"), Axis::new("y")).with(Mark::line(&[1.0, 2.0], &[0.0, 0.0]));
    let huge = Panel::new(Axis::new("x"), Axis::new("y")).with(Mark::line(&[f64::MIN, f64::MAX], &[-1e-300, 1e-300]));
    let figure = Figure::new("Edges", "").columns(2).panel_size(300.0, 200.0);
    let figure = figure.panel(empty).panel(one).panel(same).panel(huge);
    assert!(!figure.svg(Style::File).contains("NaN"));
    matches_snapshot("edges", &figure);
}
