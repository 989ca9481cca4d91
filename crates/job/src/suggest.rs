//! "Did you mean": the nearest of some words.

/// The word nearest to `text`, if any is near enough to be a slip of the fingers.
pub(crate) fn closest<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = text.chars().count();
    let limit = (length / 3).clamp(1, 4);
    // Each character too many or too few is a slip of its own.
    let near = words.filter(|word| word.len().abs_diff(length) <= limit);
    let ranked = near.map(|word| (distance(text, word), word)).filter(|(slips, _)| *slips <= limit);
    ranked.min_by_key(|(slips, _)| *slips).map(|(_, word)| word)
}

/// How many characters to insert, remove or replace to make one text of the other (Levenshtein), case ignored.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_far_fetched() {
        let words = ["iodepth", "numjobs", "runtime", "rw"];
        assert_eq!(closest("iodeph", words.into_iter()), Some("iodepth"));
        assert_eq!(closest("IODEPTH", words.into_iter()), Some("iodepth"));
        assert_eq!(closest("numjob", words.into_iter()), Some("numjobs"));
        assert_eq!(closest("latency", words.into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
