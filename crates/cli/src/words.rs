//! Prices, sources and words of the shell, as all pages write them.

use units::grouped;
use volume::{Jitter, JitterBasis, Merging, Source};

/// An amount of money: `1,234.50`.
pub(crate) fn amount(value: f64) -> String {
    let cents = (value * 100.0).round() as u64;
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
}

/// The title of a source and its date, as far as they are known.
pub(crate) fn cited(source: &Source) -> String {
    match (source.title.is_empty(), source.date.is_empty()) {
        (true, _) => "no source".to_owned(),
        (false, true) => format!("\"{}\"", source.title),
        (false, false) => format!("\"{}\", {}", source.title, source.date),
    }
}

/// How far ahead of an even schedule a limit admits, and where that is from: `5.00 ms (assumed)`.
pub(crate) fn jitter(jitter: &Jitter) -> String {
    let basis = match &jitter.basis {
        JitterBasis::Stated(source) => cited(source),
        basis => basis.name().to_owned(),
    };
    format!("{} ({basis})", jitter.time)
}

/// What the merging of sequential operations rests on: `"How EBS counts", 2020-06-08; assumed: that it is so for gp3`.
pub(crate) fn merging(merging: &Merging) -> String {
    let source = (!merging.source.title.is_empty()).then(|| cited(&merging.source));
    let assumed = (!merging.assumed.is_empty()).then(|| format!("assumed: {}", merging.assumed));
    source.into_iter().chain(assumed).collect::<Vec<_>>().join("; ")
}

/// A word of the shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+@,%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_shell_are_quoted_where_they_must() {
        assert_eq!(shell_word("/run/a.sock"), "/run/a.sock");
        assert_eq!(shell_word("nbd+unix:///?socket=/a"), "'nbd+unix:///?socket=/a'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn prices_and_sources_say_what_is_known() {
        assert_eq!(amount(1234.5), "1,234.50");
        let mut source = Source { title: "prices".to_owned(), ..Source::default() };
        assert_eq!(cited(&source), "\"prices\"");
        source.date = "2026-09".to_owned();
        assert_eq!(cited(&source), "\"prices\", 2026-09");
        assert_eq!(cited(&Source::default()), "no source");
    }
}
