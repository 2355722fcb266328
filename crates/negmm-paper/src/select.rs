//! Responsible for choosing among trials: the one with the smallest score, the first of equals.

/// The item with the smallest score; one without a finite score never wins over one that has it.
pub(crate) fn smallest<T>(items: impl IntoIterator<Item = T>, score: impl Fn(&T) -> f64) -> Option<T> {
    let level = |item: &T| Some(score(item)).filter(|score| score.is_finite()).unwrap_or(f64::INFINITY);
    items.into_iter().reduce(|best, item| if level(&item) < level(&best) { item } else { best })
}

#[cfg(test)]
mod tests {
    use super::smallest;

    #[test]
    fn the_first_of_the_smallest() {
        let items = [("a", f64::NAN), ("b", 2.0), ("c", 1.0), ("d", 1.0)];
        assert_eq!(smallest(items, |item| item.1).unwrap().0, "c");
        assert!(smallest(Vec::<(&str, f64)>::new(), |item| item.1).is_none());
    }
}
