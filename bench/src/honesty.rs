//! Simulated data of many kinds, each with rows of its own future: do printed scores come true?

use negmm::Rng;
use negmm_dist::math::normal;

/// Rows of tables, and fresh rows; of tables in the order of time as many as a held-out block has.
const ROWS: usize = 600;
const FRESH: usize = 300;
const FRESH_DAYS: usize = ROWS / 15;

/// Files and options of a fit, and the fresh rows that it is scored on.
pub struct Simulation {
    /// The training rows, as CSV.
    pub train: String,
    /// The fresh rows; for series the whole history, whose last `horizon` steps are fresh.
    pub fresh: String,
    /// Options of `fit`.
    pub options: Vec<&'static str>,
    /// Options of `evaluate`.
    pub evaluation: Vec<String>,
}

/// A kind of data: its name, whether printed scores must be those of fresh rows (else a warning is due), and its maker.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Whether a warning is due, since rows are held out in another way than they will be used.
    pub warns: bool,
    make: fn(&mut Draws) -> Simulation,
}

impl Kind {
    /// The data of a seed.
    pub fn simulate(&self, seed: u64) -> Simulation {
        (self.make)(&mut Draws(Rng::new(seed, 0)))
    }
}

/// All kinds.
pub const KINDS: [Kind; 20] = [
    Kind { name: "independent", warns: false, make: |draws| independent(draws, false, ROWS) },
    Kind { name: "independent, dates", warns: false, make: |draws| independent(draws, true, ROWS) },
    Kind { name: "few rows", warns: false, make: |draws| independent(draws, false, 40) },
    Kind { name: "groups", warns: false, make: groups },
    Kind { name: "duplicates", warns: true, make: duplicates },
    Kind { name: "heavy tails", warns: false, make: heavy_tails },
    Kind { name: "counts", warns: false, make: counts },
    Kind { name: "censored", warns: false, make: censored },
    // Months that are new are predicted worse than those between known neighbours.
    Kind { name: "season, dates", warns: true, make: |draws| dated(draws, season, &[]) },
    Kind { name: "season, --time", warns: false, make: |draws| dated(draws, season, &["--time", "date"]) },
    Kind { name: "walk, dates", warns: true, make: |draws| dated(draws, walk, &[]) },
    Kind { name: "walk, --time", warns: false, make: |draws| dated(draws, walk, &["--time", "date"]) },
    Kind { name: "drift, dates", warns: true, make: |draws| dated(draws, drift, &[]) },
    Kind { name: "drift, --time", warns: false, make: |draws| dated(draws, drift, &["--time", "date"]) },
    Kind { name: "trend, --time", warns: false, make: |draws| dated(draws, trend, &["--time", "date"]) },
    Kind { name: "series: season", warns: false, make: |draws| series(draws, season) },
    Kind { name: "series: trend", warns: false, make: |draws| series(draws, trend) },
    Kind { name: "series: walk", warns: false, make: |draws| series(draws, walk) },
    // All are in the same part of the season that they share: what holds then may not hold later.
    Kind { name: "many series", warns: true, make: |draws| many_series(draws, true) },
    Kind { name: "many, own seasons", warns: false, make: |draws| many_series(draws, false) },
];

/// Random numbers.
struct Draws(Rng);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    fn normal(&mut self) -> f64 {
        normal::quantile(self.0.uniform())
    }
}

/// Header and lines, divided after `rows` lines.
fn divided(header: &str, lines: &[String], rows: usize) -> (String, String) {
    let text = |lines: &[String]| format!("{header}\n{}\n", lines.join("\n"));
    (text(&lines[..rows]), text(&lines[rows..]))
}

fn table(header: &str, lines: &[String], rows: usize, options: &[&'static str]) -> Simulation {
    let (train, fresh) = divided(header, lines, rows);
    Simulation { train, fresh, options: [&["--target", "y"], options].concat(), evaluation: Vec::new() }
}

/// The date of a day, from 2015 on, in months of 28 days.
fn date(day: usize) -> String {
    format!("{}-{:02}-{:02}", 2015 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
}

/// The date of a day of 2015.
fn calendar_date(day: usize) -> String {
    let (mut month, mut day) = (0, day);
    let days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while day >= days[month] {
        day -= days[month];
        month += 1;
    }
    format!("2015-{:02}-{:02}", month + 1, day + 1)
}

fn independent(draws: &mut Draws, dates: bool, rows: usize) -> Simulation {
    let lines: Vec<String> = (0..rows + FRESH)
        .map(|row| {
            let (x, z) = (draws.normal(), draws.normal());
            let y = (2.0 * x).sin() + 0.3 * z + (0.3 + 0.2 * x.abs()) * draws.normal();
            let date = if dates { format!("{},", date(row)) } else { String::new() };
            format!("{date}{x:.4},{z:.4},{y:.4}")
        })
        .collect();
    table(if dates { "date,x,z,y" } else { "x,z,y" }, &lines, rows, &[])
}

/// Six rows of each group, whose inputs hardly differ, with an effect of its own; fresh rows are of new groups.
fn groups(draws: &mut Draws) -> Simulation {
    let mut lines = Vec::new();
    for group in 0..(ROWS + FRESH) / 6 {
        let (center, effect) = (draws.normal(), draws.normal());
        for _ in 0..6 {
            let x = center + 0.01 * draws.normal();
            lines.push(format!("{group},{x:.4},{:.4}", x + effect + 0.3 * draws.normal()));
        }
    }
    table("group,x,y", &lines, ROWS, &["--group", "group"])
}

/// Each row three times; fresh rows are new.
fn duplicates(draws: &mut Draws) -> Simulation {
    let mut lines = Vec::new();
    for _ in 0..ROWS / 3 + FRESH {
        let x: [f64; 4] = std::array::from_fn(|_| draws.normal());
        let y = x[0] + 0.5 * x[1] * x[2] + draws.normal();
        let line = format!("{:.4},{:.4},{:.4},{:.4},{y:.4}", x[0], x[1], x[2], x[3]);
        let times = if lines.len() < ROWS { 3 } else { 1 };
        lines.extend(vec![line; times]);
    }
    table("a,b,c,d,y", &lines, ROWS, &[])
}

/// Student's t with three degrees of freedom.
fn heavy_tails(draws: &mut Draws) -> Simulation {
    let lines: Vec<String> = (0..ROWS + FRESH)
        .map(|_| {
            let x = draws.normal();
            let square: f64 = (0..3).map(|_| draws.normal()).map(|z| z * z / 3.0).sum();
            format!("{x:.4},{:.4}", x + draws.normal() / square.sqrt())
        })
        .collect();
    table("x,y", &lines, ROWS, &[])
}

fn counts(draws: &mut Draws) -> Simulation {
    let lines: Vec<String> = (0..ROWS + FRESH)
        .map(|_| {
            let x = draws.normal();
            let (limit, mut product, mut count) = ((-(0.5 + 0.6 * x).exp()).exp(), draws.uniform(), 0);
            while product > limit {
                product *= draws.uniform();
                count += 1;
            }
            format!("{x:.4},{count}")
        })
        .collect();
    table("x,y", &lines, ROWS, &[])
}

/// Right-censored at a random limit.
fn censored(draws: &mut Draws) -> Simulation {
    let lines: Vec<String> = (0..ROWS + FRESH)
        .map(|_| {
            let x = draws.normal();
            let (y, limit) = (5.0 + x + draws.normal(), 4.0 + 4.0 * draws.uniform());
            format!("{x:.4},{},{:.4}", u8::from(y > limit), y.min(limit))
        })
        .collect();
    table("x,cut,y", &lines, ROWS, &["--censored", "cut"])
}

/// The level of each day: what a table with dates and a series have in common.
type Levels = fn(&mut Draws, usize) -> Vec<(f64, f64)>;

/// Level and slope of an input: a random walk.
fn walk(draws: &mut Draws, days: usize) -> Vec<(f64, f64)> {
    let mut level = 0.0;
    let mut next = || {
        level += draws.normal();
        (level, 0.5)
    };
    (0..days).map(|_| next()).collect()
}

/// The slope grows.
fn drift(_: &mut Draws, days: usize) -> Vec<(f64, f64)> {
    (0..days).map(|day| (0.0, 1.0 + day as f64 / 300.0)).collect()
}

fn trend(_: &mut Draws, days: usize) -> Vec<(f64, f64)> {
    (0..days).map(|day| (day as f64 / 100.0, 0.5)).collect()
}

/// Months of 28 days.
fn season(_: &mut Draws, days: usize) -> Vec<(f64, f64)> {
    let angle = |day: usize| std::f64::consts::TAU * (day % 28) as f64 / 28.0;
    (0..days).map(|day| (2.0 * angle(day).sin(), 0.5)).collect()
}

fn dated(draws: &mut Draws, levels: Levels, options: &[&'static str]) -> Simulation {
    let levels = levels(draws, ROWS + FRESH_DAYS);
    let lines: Vec<String> = levels
        .into_iter()
        .enumerate()
        .map(|(day, (level, slope))| {
            let x = draws.normal();
            format!("{},{x:.4},{:.4}", date(day), level + slope * x + 0.3 * draws.normal())
        })
        .collect();
    table("date,x,y", &lines, ROWS, options)
}

/// Steps ahead of a forecast, and fresh steps.
const HORIZON: usize = 7;
const FRESH_STEPS: usize = 42;

fn series(draws: &mut Draws, levels: Levels) -> Simulation {
    let steps = 400 + FRESH_STEPS;
    let lines: Vec<String> =
        levels(draws, steps).into_iter().map(|(level, _)| format!("{:.4}", level + 0.5 * draws.normal())).collect();
    let (train, _) = divided("y", &lines, steps - FRESH_STEPS);
    let (fresh, _) = divided("y", &lines, steps);
    let evaluation = vec!["--test-size".into(), FRESH_STEPS.to_string()];
    Simulation { train, fresh, options: vec!["--sequence", "y", "--horizon", "7"], evaluation }
}

/// Twenty series of days with levels of their own and a season of 28 days, at the same time in all of them or not.
fn many_series(draws: &mut Draws, at_once: bool) -> Simulation {
    let (mut train, mut fresh) = (Vec::new(), Vec::new());
    for name in 0..20 {
        let level = 10.0 * draws.normal();
        let days = 84 + FRESH_STEPS;
        let later = if at_once { 0 } else { (28.0 * draws.uniform()) as usize };
        for (day, (season, _)) in season(draws, days + later).into_iter().skip(later).enumerate() {
            let line = format!("{name},{},{:.4}", calendar_date(day), level + season + 0.5 * draws.normal());
            if day < days - FRESH_STEPS {
                train.push(line.clone());
            }
            fresh.push(line);
        }
    }
    let text = |lines: &[String]| format!("id,date,y\n{}\n", lines.join("\n"));
    let options = vec!["--sequence", "y", "--series", "id", "--time", "date", "--horizon", "7"];
    let evaluation = vec!["--test-size".into(), (FRESH_STEPS).to_string()];
    debug_assert_eq!(HORIZON, 7);
    Simulation { train: text(&train), fresh: text(&fresh), options, evaluation }
}
