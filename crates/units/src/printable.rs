//! Makes text safe to print.

use std::borrow::Cow;
use std::fmt::Write;

/// Reports whether a character moves the cursor, changes the terminal, or reorders the surrounding text.
#[inline]
#[must_use]
pub fn is_hidden(letter: char) -> bool {
    letter.is_control() || is_bidirectional(letter) || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// Reports whether a character overrides or isolates the direction of text (Unicode Standard Annex #9).
#[inline]
const fn is_bidirectional(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes all hidden characters of `text` as in `\u001b`, including line breaks and tabs.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|letter| push_printable(&mut out, letter));
    Cow::Owned(out)
}

/// Appends one character in the form of [`printable`]. All hidden characters have four hexadecimal digits, so the
/// escapes are also valid in JSON strings.
pub fn push_printable(out: &mut String, letter: char) {
    if is_hidden(letter) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{:04x}", u32::from(letter));
    } else {
        out.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert!(matches!(printable("rand_read é 日本"), Cow::Borrowed(_)));
        assert_eq!(
            printable("a\u{1b}[2J\nb\r\u{7}\u{9b}\u{202e}\t"),
            r"a\u001b[2J\u000ab\u000d\u0007\u009b\u202e\u0009"
        );
    }

    #[test]
    fn no_hidden_character_needs_more_than_four_digits() {
        assert!((0x1_0000..=0x10_ffff).filter_map(char::from_u32).all(|letter| !is_hidden(letter)));
    }
}
