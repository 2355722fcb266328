//! Calendar features of a time in a graph: time of year, day of the week, time of day.

use std::f64::consts::TAU;

use negmm::data::TimePart;

use crate::graph::{Graph, Type, Value};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Days of a year on average.
const YEAR: f64 = 365.2425;
/// Days of 400 years, and from 0000-03-01, where they begin, to 1970-01-01.
const DAYS_OF_ERA: f64 = 146_097.0;
const DAYS_TO_1970: f64 = 719_468.0;
/// Days from the first of March to the end of the year, and to the first of March in a year without a leap day.
const MARCH_TO_NEW_YEAR: f64 = 306.0;
const TO_MARCH: f64 = 59.0;
/// 1970-01-01 was a Thursday, three days after Monday.
const THURSDAY: f64 = 3.0;
/// Harmonics of a phase.
const HARMONICS: usize = 2;

/// The features of a part, rows × features, of seconds since 1970, and whether they are numbers that vary, not 0 or 1.
pub fn part(graph: &mut Graph, part: &TimePart, seconds: &Value) -> (Value, bool) {
    // Missing times become any number.
    let missing = graph.op("IsNaN", &[seconds]);
    let zero = graph.number(0.0);
    let seconds = graph.op("Where", &[&missing, &zero, seconds]);
    let length = graph.number(DAY);
    let days = graph.div(&seconds, &length);
    let whole = graph.op("Floor", &[&days]);
    let of_day = graph.sub(&days, &whole);
    match part {
        TimePart::TimeOfDay => (phase(graph, &of_day), true),
        TimePart::TimeOfYear => {
            let days = day_of_year(graph, &whole);
            let fraction = graph.add2(&days, &of_day);
            let year = graph.number(YEAR);
            let turns = graph.div(&fraction, &year);
            (phase(graph, &turns), true)
        }
        TimePart::DayOfWeek(seen) => {
            let shifted = graph.plus(&whole, THURSDAY);
            let day = remainder(graph, &shifted, 7.0);
            let seen = graph.doubles(&[1, seen.len()], &seen.iter().map(|day| *day as f64).collect::<Vec<_>>());
            let same = graph.op("Equal", &[&day, &seen]);
            (graph.cast(&same, Type::Double), false)
        }
    }
}

/// Sine and cosine of a phase in turns, and of its double.
fn phase(graph: &mut Graph, turns: &Value) -> Value {
    let mut parts = Vec::new();
    for harmonic in 1..=HARMONICS {
        let angle = graph.times(turns, TAU * harmonic as f64);
        parts.push(graph.op("Sin", &[&angle]));
        parts.push(graph.op("Cos", &[&angle]));
    }
    graph.concat(&parts.iter().collect::<Vec<_>>(), 1)
}

/// Integer division.
fn quotient(graph: &mut Graph, a: &Value, b: f64) -> Value {
    let b = graph.number(b);
    let quotient = graph.div(a, &b);
    graph.op("Floor", &[&quotient])
}

/// a - b · quotient(a, b)
fn remainder(graph: &mut Graph, a: &Value, b: f64) -> Value {
    let quotient = quotient(graph, a, b);
    let whole = graph.times(&quotient, b);
    graph.sub(a, &whole)
}

/// Days since the first of January, of days since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn day_of_year(graph: &mut Graph, days: &Value) -> Value {
    let shifted = graph.plus(days, DAYS_TO_1970);
    let of_era = remainder(graph, &shifted, DAYS_OF_ERA);
    // Years that begin in March have the leap day last.
    let mut leapless = of_era.clone();
    for (length, sign) in [(1460.0, -1.0), (36_524.0, 1.0), (146_096.0, -1.0)] {
        let leaps = quotient(graph, &of_era, length);
        let leaps = graph.times(&leaps, sign);
        leapless = graph.add2(&leapless, &leaps);
    }
    let year = quotient(graph, &leapless, 365.0);
    let mut before = graph.times(&year, 365.0);
    for (length, sign) in [(4.0, 1.0), (100.0, -1.0)] {
        let leaps = quotient(graph, &year, length);
        let leaps = graph.times(&leaps, sign);
        before = graph.add2(&before, &leaps);
    }
    let from_march = graph.sub(&of_era, &before);
    let new_year = graph.number(MARCH_TO_NEW_YEAR);
    let next_year = graph.op("GreaterOrEqual", &[&from_march, &new_year]);
    let in_next = graph.plus(&from_march, -MARCH_TO_NEW_YEAR);
    // A year of the era is a leap year by the same rule as the year itself.
    let leap = leap_year(graph, &year);
    let in_same = graph.plus(&from_march, TO_MARCH);
    let in_same = graph.add2(&in_same, &leap);
    graph.op("Where", &[&next_year, &in_next, &in_same])
}

/// 1 in a leap year, else 0.
fn leap_year(graph: &mut Graph, year: &Value) -> Value {
    let zero = graph.number(0.0);
    let [by_4, by_100, by_400] = [4.0, 100.0, 400.0].map(|length| {
        let rest = remainder(graph, year, length);
        graph.op("Equal", &[&rest, &zero])
    });
    let plain = graph.op("Not", &[&by_100]);
    let exceptional = graph.op("Or", &[&plain, &by_400]);
    let leap = graph.op("And", &[&by_4, &exceptional]);
    graph.cast(&leap, Type::Double)
}
