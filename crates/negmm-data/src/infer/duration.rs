//! Lengths of time as programs write them: `0 days 00:10:00` (pandas), `1 day, 0:10:00` (Python), `PT10M` (ISO 8601).

use crate::infer::cursor::Cursor;
use crate::infer::datetime::seconds_of;

const NANOSECONDS: i64 = 1_000_000_000;

/// The seconds of a length of time; none where the text is no such length.
pub(crate) fn duration(text: &str) -> Option<f64> {
    let (text, sign) = match text.strip_prefix('-') {
        Some(rest) => (rest, -1),
        None => (text, 1),
    };
    let mut cursor = Cursor::new(text);
    let nanoseconds = if cursor.eat(b"P").is_some() { sign * iso(&mut cursor)? } else { days(&mut cursor, sign)? };
    cursor.is_at_end().then_some(())?;
    Some(seconds_of(nanoseconds, NANOSECONDS))
}

/// Days, and hours, minutes and seconds that are added to them or taken away: `-1 days +23:50:00`.
fn days(cursor: &mut Cursor<'_>, sign: i64) -> Option<i64> {
    let days = sign * cursor.number(1..=6)?;
    (cursor.blanks() && matches!(cursor.word(), "day" | "days")).then_some(())?;
    let day = 86_400 * NANOSECONDS;
    if cursor.is_at_end() {
        return days.checked_mul(day);
    }
    cursor.eat(b",");
    cursor.blanks().then_some(())?;
    let sign = if cursor.eat(b"+-") == Some(b'-') { -1 } else { 1 };
    let hours = cursor.number(1..=2)?;
    cursor.eat(b":")?;
    let minutes = cursor.number(2..=2)?;
    cursor.eat(b":")?;
    let seconds = cursor.number(2..=2)?;
    let rest = (hours * 3600 + minutes * 60 + seconds) * NANOSECONDS + fraction(cursor)?;
    days.checked_mul(day)?.checked_add(sign * rest)
}

/// `1DT2H3M4.5S`, after the P.
fn iso(cursor: &mut Cursor<'_>) -> Option<i64> {
    let (mut total, mut units) = (0i64, &[(b'W', 604_800), (b'D', 86_400)][..]);
    let mut found = false;
    loop {
        if units[0].0 != b'H' && cursor.eat(b"T").is_some() {
            units = &[(b'H', 3600), (b'M', 60), (b'S', 1)];
        }
        if cursor.is_at_end() {
            return found.then_some(total);
        }
        let number = cursor.number(1..=12)?;
        let fraction = fraction(cursor)?;
        let unit = cursor.eat(b"WDHMS")?;
        let at = units.iter().position(|(letter, _)| *letter == unit)?;
        (fraction == 0 || unit == b'S').then_some(())?;
        total = total.checked_add(number.checked_mul(units[at].1)?.checked_mul(NANOSECONDS)?)?.checked_add(fraction)?;
        found = true;
    }
}

/// The decimals of a second, as nanoseconds; those beyond are dropped, as no program writes them.
fn fraction(cursor: &mut Cursor<'_>) -> Option<i64> {
    if cursor.eat(b".").is_none() {
        return Some(0);
    }
    let digits = cursor.digits();
    let first = cursor.number(1..=9)?;
    while cursor.digits() > 0 {
        cursor.number(1..=9)?;
    }
    Some(first * 10i64.pow(9 - digits.min(9) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_seconds() {
        for (text, seconds) in [
            ("0 days 00:10:00", Some(600.0)),
            ("-1 days +23:50:00", Some(-600.0)),
            ("1 days", Some(86_400.0)),
            ("0 days 00:00:00.250000", Some(0.25)),
            ("-1 days +23:59:59.900000", Some(-0.1)),
            ("1 day, 0:10:00", Some(87_000.0)),
            ("PT10M", Some(600.0)),
            ("P1DT2H3M4.5S", Some(93_784.5)),
            ("-PT0.1S", Some(-0.1)),
            ("P2W", Some(1_209_600.0)),
            ("P", None),
            ("PT", None),
            ("PT5D", None),
            ("10 days ago", None),
            ("00:10:00", None),
            ("5", None),
            ("999999 days", None),
            ("", None),
        ] {
            assert_eq!(duration(text), seconds, "{text}");
        }
    }
}
