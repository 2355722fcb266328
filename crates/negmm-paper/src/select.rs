//! Selection of the best trial.

/// The item with the lowest score, the first of ties; a score that is not finite counts as infinite.
pub(crate) fn min_by_score<T>(items: impl IntoIterator<Item = T>, score: impl Fn(&T) -> f64) -> Option<T> {
    let finite = |item: &T| Some(score(item)).filter(|score| score.is_finite()).unwrap_or(f64::INFINITY);
    items.into_iter().reduce(|best, item| if finite(&item) < finite(&best) { item } else { best })
}

#[cfg(test)]
mod tests {
    use super::min_by_score;

    #[test]
    fn the_first_of_the_lowest_scores() {
        let items = [("a", f64::NAN), ("b", 2.0), ("c", 1.0), ("d", 1.0)];
        assert_eq!(min_by_score(items, |item| item.1).unwrap().0, "c");
        assert!(min_by_score(Vec::<(&str, f64)>::new(), |item| item.1).is_none());
    }
}
