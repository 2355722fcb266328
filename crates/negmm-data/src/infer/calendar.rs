//! The civil calendar: days since 1970-01-01 to year, month and day and back, exact for every year.

/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_ERA: i64 = 146_097;
/// Days from 0000-03-01, where the first era begins, to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// The year; 0 is the year before year 1.
    pub year: i64,
    /// 1 … 12.
    pub month: i64,
    /// 1 … 31.
    pub day: i64,
}

impl Date {
    /// That day, where the calendar has it.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let date = Self { year, month, day };
        ((1..=12).contains(&month) && day >= 1 && day <= date.days_of_month()).then_some(date)
    }

    fn days_of_month(self) -> i64 {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Days since 1970-01-01. Years that begin in March put the leap day last; the months from March on then begin at the
    /// days (153 m + 2) / 5 of the year (Howard Hinnant, "chrono-compatible low-level date algorithms").
    pub fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
    }

    /// The day `days` days after 1970-01-01: the inverse of [`Date::days`].
    pub fn of_days(days: i64) -> Self {
        let shifted = days.saturating_add(DAYS_TO_1970);
        let (era, of_era) = (shifted.div_euclid(DAYS_OF_ERA), shifted.rem_euclid(DAYS_OF_ERA));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        Self { year: year + era * 400 + i64::from(month <= 2), month, day }
    }

    /// Days since the first of January of its year.
    pub fn day_of_year(self) -> i64 {
        self.days() - Self { year: self.year, month: 1, day: 1 }.days()
    }
}

/// The day of the week of a day since 1970-01-01, a Thursday: 0 is Monday.
pub fn weekday(days: i64) -> usize {
    (days + 3).rem_euclid(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(year: i64, month: i64, day: i64) -> i64 {
        Date::new(year, month, day).unwrap().days()
    }

    #[test]
    fn known_days() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(1969, 12, 31), -1);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(1, 1, 1), -719_162);
        assert_eq!(days(9999, 12, 31), 2_932_896);
        assert_eq!(days(-1, 12, 31) + 1, days(0, 1, 1));
        assert_eq!(days(-4000, 1, 1), -2_180_498);
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut date = Date { year: -401, month: 1, day: 1 };
        for day in date.days()..=days(2401, 1, 1) {
            assert_eq!((Date::of_days(day), date.days()), (date, day));
            assert!(Date::new(date.year, date.month, date.day).is_some());
            date = match date {
                Date { year, month: 12, day: 31 } => Date { year: year + 1, month: 1, day: 1 },
                date if date.day == date.days_of_month() => Date { month: date.month + 1, day: 1, ..date },
                date => Date { day: date.day + 1, ..date },
            };
        }
    }

    #[test]
    fn days_that_are_not_there() {
        for (year, month, day) in
            [(1900, 2, 29), (2023, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 13, 1), (2024, 1, 0)]
        {
            assert_eq!(Date::new(year, month, day), None);
        }
        assert!(Date::new(2000, 2, 29).is_some() && Date::new(2024, 2, 29).is_some());
    }

    #[test]
    fn days_of_year_and_week() {
        assert_eq!(Date::new(2024, 12, 31).unwrap().day_of_year(), 365);
        assert_eq!(Date::new(2023, 3, 1).unwrap().day_of_year(), 59);
        assert_eq!(weekday(days(2012, 10, 2)), 1);
        assert_eq!(weekday(days(2024, 2, 25)), 6);
        assert_eq!(weekday(days(1, 1, 1)), 0);
    }
}
