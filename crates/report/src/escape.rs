//! Neutralizes text that others chose, in one place for each kind of output: names of jobs, files and hosts, models of
//! disks, messages of servers, strings in the output of other programs.

use std::borrow::Cow;

use units::{is_hidden, printable, push_printable};

/// A whole output for a terminal: no control character but line breaks and tabs, and the colours of our own where there
/// are colours. A hidden character within a string of JSON becomes its escape, so that the document stays the same.
#[must_use]
pub fn terminal(text: &str, colour: bool) -> Cow<'_, str> {
    if !text.chars().any(|letter| is_hidden(letter) && !matches!(letter, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let colours = if colour { colour_at(rest) } else { 0 };
        match letter {
            _ if colours > 0 => out.push_str(&rest[..colours]),
            '\n' | '\t' => out.push(letter),
            letter => push_printable(&mut out, letter),
        }
        rest = &rest[colours.max(letter.len_utf8())..];
    }
    Cow::Owned(out)
}

/// Length of the colour sequence at the start of `text`: `ESC [ CODES m`; zero where there is none.
fn colour_at(text: &str) -> usize {
    let Some((codes, _)) = text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) else { return 0 };
    if codes.len() > 16 || !codes.chars().all(|letter| letter.is_ascii_digit() || letter == ';') {
        return 0;
    }
    let of_palette = codes.split_once("38;5;").map_or(codes, |(before, _)| before.trim_end_matches(';'));
    let harmless = |code: &str| matches!(code, "" | "0" | "1" | "2" | "4" | "22" | "39") || is_foreground(code);
    if of_palette.split(';').all(harmless) { codes.len() + 3 } else { 0 }
}

fn is_foreground(code: &str) -> bool {
    matches!(code.parse::<u8>(), Ok(30..=37 | 90..=97))
}

/// A field of CSV. Spreadsheets carry out a cell that begins like a formula; behind an apostrophe it is text.
#[must_use]
pub fn csv(text: &str) -> String {
    let text = printable(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { Cow::Owned(format!("'{text}")) } else { text };
    let quote = text.contains([',', '"', ';']) || text.starts_with([' ', '\'']) || text.ends_with(' ');
    if quote { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

/// Quotes a word for a POSIX shell, where it needs quotes.
#[must_use]
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+@,%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Text in Markdown, in a cell of a table too, in which nothing is markup, a link or HTML.
#[must_use]
pub fn markdown(text: &str) -> String {
    let joined = text.replace(['\n', '\r', '\t'], " ");
    let text = printable(&joined);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let after = text[at + letter.len_utf8()..].chars().next().unwrap_or(' ');
        match letter {
            '<' if after.is_alphabetic() || matches!(after, '/' | '!' | '?') => out.push_str("&lt;"),
            '&' if after.is_alphabetic() || after == '#' => out.push_str("&amp;"),
            '|' | '`' | '*' | '[' | ']' | '\\' => out.extend(['\\', letter]),
            // Within a word it is none.
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => out.push_str("\\_"),
            // `http://…` and `www.…` are links of GitHub's Markdown.
            ':' if after == '/' => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            // A heading, a list, a rule or a quotation.
            '#' | '>' if out.is_empty() => out.extend(['\\', letter]),
            '+' | '-' | '~' if out.is_empty() && (after == ' ' || after == letter) => out.extend(['\\', letter]),
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

/// Code within a line of Markdown.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    format!("`{}`", printable(text).replace('`', "'").replace('|', "\\|"))
}

/// Text in HTML, SVG and XML in which nothing is markup, in elements and in attributes alike. What no document may hold
/// is replaced, and so is what overrides the direction of letters.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// The value of a label of OpenMetrics, between its quotes.
#[must_use]
pub fn label(text: &str) -> String {
    let kept = |letter: char| letter == '\n' || !is_hidden(letter);
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if kept(letter) { shown.push(letter) } else { push_printable(&mut shown, letter) }
    }
    shown.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
