//! Citations of sources and assumptions.

use crate::{Jitter, JitterBasis, LimitSource, Merging};

/// Returns the title of a source and its date, as far as they are known.
#[must_use]
pub fn cited(source: &LimitSource) -> String {
    match (source.title.is_empty(), source.date.is_empty()) {
        (true, _) => "no source".to_owned(),
        (false, true) => format!("\"{}\"", source.title),
        (false, false) => format!("\"{}\", {}", source.title, source.date),
    }
}

/// Returns how far ahead of an even schedule a limit admits operations, and the basis for it: `5.00 ms (assumed)`.
#[must_use]
pub fn cited_jitter(jitter: &Jitter) -> String {
    let basis = match &jitter.basis {
        JitterBasis::Stated(source) => cited(source),
        basis => basis.name().to_owned(),
    };
    format!("{} ({basis})", jitter.time)
}

/// Returns the basis for the merging of sequential operations: `"How EBS counts", 2020-06-08; assumed: also for gp3`.
#[must_use]
pub fn cited_merging(merging: &Merging) -> String {
    let source = (!merging.source.title.is_empty()).then(|| cited(&merging.source));
    let assumed = (!merging.assumed.is_empty()).then(|| format!("assumed: {}", merging.assumed));
    source.into_iter().chain(assumed).collect::<Vec<_>>().join("; ")
}

/// Joins notes about limits, those with the same text together: `volume IOPS, burst IOPS: ...`.
#[must_use]
pub fn joined_by_text(notes: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut known: Vec<(String, String)> = Vec::new();
    for (limit, text) in notes {
        match known.iter_mut().find(|(_, other)| *other == text) {
            Some((limits, _)) => *limits = format!("{limits}, {limit}"),
            None => known.push((limit, text)),
        }
    }
    known.into_iter().map(|(limits, text)| format!("{limits}: {text}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_cited_as_far_as_it_is_known() {
        let mut source = LimitSource { title: "prices".to_owned(), ..LimitSource::default() };
        assert_eq!(cited(&source), "\"prices\"");
        source.date = "2026-09".to_owned();
        assert_eq!(cited(&source), "\"prices\", 2026-09");
        assert_eq!(cited(&LimitSource::default()), "no source");
    }
}
