//! Nearest word, for "did you mean".

/// Returns the word nearest to `text`, if it is near enough to be a typo.
#[must_use]
pub fn closest<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = text.chars().count();
    let limit = (length / 3).clamp(1, 4);
    // Each character too many or too few counts as one edit.
    let near = words.filter(|word| word.len().abs_diff(length) <= limit);
    let ranked = near.map(|word| (distance(text, word), word)).filter(|(slips, _)| *slips <= limit);
    ranked.min_by_key(|(slips, _)| *slips).map(|(_, word)| word)
}

/// Returns `` did you mean `WORD`? `` for the word nearest to `text`, or `otherwise` if none is near enough.
pub fn suggestion<'a>(text: &str, words: impl Iterator<Item = &'a str>, otherwise: impl FnOnce() -> String) -> String {
    closest(text, words).map_or_else(otherwise, |word| format!("did you mean `{word}`?"))
}

/// Returns the optimal string alignment distance, ignoring case: the number of insertions, deletions, replacements and
/// swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let lower = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    let (a, b) = (lower(a), lower(b));
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let mut slips = (row[j] + usize::from(a[i] != b[j])).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                slips = slips.min(before[j - 1] + 1);
            }
            next.push(slips);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_and_nothing_far_fetched() {
        let words = ["iodepth", "numjobs", "runtime", "rw"];
        assert_eq!(closest("iodeph", words.into_iter()), Some("iodepth"));
        assert_eq!(closest("IODEPTH", words.into_iter()), Some("iodepth"));
        assert_eq!(closest("numjob", words.into_iter()), Some("numjobs"));
        assert_eq!(closest("latency", words.into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(closest("titel", ["title"].into_iter()), Some("title"));
        assert_eq!(distance("ca", "ac"), 1);
    }
}
