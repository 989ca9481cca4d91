//! Escaping of untrusted text, one function per output format: names of jobs, files and hosts, disk models, server
//! messages, and strings in the output of other programs.

use std::borrow::Cow;

use units::{is_hidden, printable, push_printable};

/// Escapes a complete output for a terminal. Line breaks, tabs and (with `colour`) Fathom's own colour sequences stay.
/// A hidden character in a JSON string becomes a JSON escape, so that the document keeps its meaning.
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

/// Returns the length of the colour sequence `ESC [ CODES m` at the start of `text`, or zero.
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

/// Escapes a CSV field. A leading apostrophe keeps spreadsheets from evaluating a cell that begins like a formula.
pub(crate) fn csv(text: &str) -> String {
    let text = printable(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { Cow::Owned(format!("'{text}")) } else { text };
    let quote = text.contains([',', '"', ';']) || text.starts_with([' ', '\'']) || text.ends_with(' ');
    if quote { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

/// Quotes a word for a POSIX shell, if needed.
#[must_use]
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+@,%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Quotes a command line for a POSIX shell.
pub(crate) fn shell_line(arguments: &[String]) -> String {
    arguments.iter().map(|argument| shell(argument)).collect::<Vec<_>>().join(" ")
}

/// Escapes Markdown text, including table cells, so that it contains no markup, links or HTML.
pub(crate) fn markdown(text: &str) -> String {
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
            // Not emphasis within a word.
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => out.push_str("\\_"),
            // GitHub's Markdown turns `http://…` and `www.…` into links.
            ':' if after == '/' => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            // Start of a heading, list, rule or quotation.
            '#' | '>' if out.is_empty() => out.extend(['\\', letter]),
            '+' | '-' | '~' if out.is_empty() && (after == ' ' || after == letter) => out.extend(['\\', letter]),
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

/// Returns text as inline code of Markdown.
pub(crate) fn markdown_code(text: &str) -> String {
    format!("`{}`", printable(text).replace('`', "'").replace('|', "\\|"))
}

/// Escapes text for HTML, SVG and XML, in elements and attributes. Characters that XML forbids and overrides of the
/// text direction are replaced.
pub(crate) fn xml(text: &str) -> String {
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

#[cfg(test)]
mod tests;
