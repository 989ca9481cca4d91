//! Nearest word, for "did you mean".

/// Returns the word nearest to `text`, ignoring case, if it is near enough to be a typo: by the number of insertions,
/// deletions, replacements and swaps of neighbours.
#[must_use]
pub fn closest<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let length = text.chars().count();
    let limit = (length / 3).clamp(1, 4);
    // Each character too many or too few counts as one edit.
    let near = words.filter(|word| word.len().abs_diff(length) <= limit);
    let ranked = near
        .map(|word| (strsim::osa_distance(&lower, &word.to_lowercase()), word))
        .filter(|(slips, _)| *slips <= limit);
    ranked.min_by_key(|(slips, _)| *slips).map(|(_, word)| word)
}

/// Returns `` did you mean `WORD`? `` for the word nearest to `text`, or `otherwise` if none is near enough.
pub fn suggestion<'a>(text: &str, words: impl Iterator<Item = &'a str>, otherwise: impl FnOnce() -> String) -> String {
    closest(text, words).map_or_else(otherwise, |word| format!("did you mean `{word}`?"))
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
        assert_eq!(closest("titel", ["title"].into_iter()), Some("title"));
    }
}
