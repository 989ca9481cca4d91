//! Lines and numbers of a text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::error::Category;
use units::{Place, Problem, ProblemCode};

use super::{MAKE, enclosed, is_header, is_of_result, is_result, prefix};

/// Note on a truncated last line.
pub(super) const CUT_LINE: &str = "the last line is truncated and ignored";

/// A text without terminal effects: colours and overwritten lines.
#[derive(Debug)]
pub(super) struct InputText {
    name: String,
    /// All lines, joined by `\n`.
    pub(super) whole: String,
    /// Start and end of each line.
    lines: Vec<(usize, usize)>,
    /// Whether the last line is terminated.
    pub(super) ended: bool,
    /// Line that the next one may continue.
    continued: Option<usize>,
}

impl InputText {
    /// Decodes a text; binary and empty input is refused.
    pub(super) fn of(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if let Some(error) = super::refuse_binary(name, bytes) {
            return Err(error);
        }
        let mail = quoted_printable(bytes);
        let raw = enclosed::opened(decoded(mail.as_deref().unwrap_or(bytes)));
        let mut text = Self {
            name: name.to_owned(),
            whole: String::with_capacity(raw.len()),
            lines: Vec::new(),
            ended: raw.ends_with('\n') || raw.lines().next_back().is_some_and(is_elision),
            continued: None,
        };
        let is_page = !raw.contains('{') && TAGS.split('|').any(|tag| raw.contains(&format!("</{tag}>")));
        let shown = raw.lines().map(shown).map(of_python);
        let mut shown: Vec<String> =
            if is_page { shown.map(|line| without_tags(&line)).collect() } else { shown.collect() };
        prefix::remove_marks(&mut shown);
        let prefix = prefix::Prefix::of(&shown);
        for line in &shown {
            text.push(without_interrupt(prefix.as_ref().map_or(line, |prefix| prefix.strip(line))));
        }
        if text.whole.trim().is_empty() {
            return Err(text.error(0, "", "the input is empty", MAKE));
        }
        Ok(text)
    }

    /// Adds a line. One that continues a line before it is added to that, and an empty line takes its place.
    fn push(&mut self, line: &str) {
        /// Maximum number of lines that continue one.
        const MOST: usize = 8;
        let continued =
            self.continued.filter(|&index| self.lines.len() - index <= MOST && continues(self.line(index), line));
        if let Some(index) = continued {
            let following = self.lines.len() - index;
            self.whole.truncate(self.lines[index].1);
            self.lines.truncate(index + 1);
            self.whole.push(' ');
            self.whole.push_str(line.trim());
            self.lines[index].1 = self.whole.len();
            for _ in 0..following {
                self.whole.push('\n');
                self.lines.push((self.whole.len(), self.whole.len()));
            }
        } else {
            let start = self.whole.len();
            self.whole.push_str(line);
            self.continued = (!line.trim().is_empty()).then_some(self.lines.len());
            self.lines.push((start, self.whole.len()));
        }
        self.whole.push('\n');
    }

    /// Iterates over all lines.
    pub(super) fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.lines.iter().map(|&(start, end)| &self.whole[start..end])
    }

    /// Iterates over the lines that have an end, with their indices. The numbers of one without an end may be cut off.
    pub(super) fn whole_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().enumerate().take(self.len() - usize::from(self.is_cut()))
    }

    /// Says that the last line is not among the whole ones, if it has content.
    pub(super) fn cut_note(&self) -> Option<String> {
        self.is_cut().then(|| "the last line has no newline, may be truncated, and is ignored".to_owned())
    }

    fn is_cut(&self) -> bool {
        !self.ended && self.lines().next_back().is_some_and(|line| !line.trim().is_empty())
    }

    /// Returns the name of the input.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn line(&self, index: usize) -> &str {
        self.lines.get(index).map_or("", |&(start, end)| &self.whole[start..end])
    }

    /// Returns the offset of a line in the text.
    pub(super) fn start_of(&self, index: usize) -> usize {
        self.lines.get(index).map_or(self.whole.len(), |&(start, _)| start)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Reports whether a line is the last one and unterminated: it may be truncated.
    pub(super) fn may_be_cut(&self, index: usize) -> bool {
        !self.ended && index + 1 == self.len()
    }

    /// Returns an error at a part of a line, which must be a slice of it; otherwise at the start of the line.
    pub(super) fn error(
        &self,
        index: usize,
        part: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let line = self.line(index);
        let offset = (part.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
        let inside = offset <= line.len() && line.is_char_boundary(offset);
        let column = if inside { line[..offset].chars().count() } else { 0 };
        self.error_at(index, column + 1, if inside { part.chars().count() } else { 0 }, what, remedy)
    }

    /// Returns an error at the last line before `end`, where a document was truncated.
    pub(super) fn cut_off(&self, end: usize, what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        let last = (0..end.min(self.len())).rev().find(|&index| !self.line(index).trim().is_empty()).unwrap_or(0);
        let problem = self.error_at(last, self.line(last).chars().count() + 1, 0, what, remedy);
        Problem { code: ProblemCode::CutOff, ..problem }
    }

    /// Returns an error at a character of a line.
    pub(super) fn error_at(
        &self,
        index: usize,
        column: usize,
        length: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        let place = Place {
            source: self.name.as_str().into(),
            line: index + 1,
            column,
            length,
            text: self.line(index).chars().take(SHOWN).collect::<String>().into(),
        };
        Problem::error(ProblemCode::UnreadableInput, what).at(place).help(remedy)
    }
}

/// Decodes UTF-8; bytes that are not are Latin-1, as in mails, where a no-break space is one byte.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.utf8_chunks().fold(String::with_capacity(bytes.len()), |text, chunk| {
            text + chunk.valid() + &chunk.invalid().iter().copied().map(char::from).collect::<String>()
        })),
    }
}

/// Decodes the texts that mails encode as quoted-printable: `=3D` for `=`, and `=` at the end of a line that goes on.
/// Without headers, which say which texts are, all of it must be.
fn quoted_printable(bytes: &[u8]) -> Option<Vec<u8>> {
    const HEADER: &[u8] = b"content-transfer-encoding:";
    let lines = || bytes.split_inclusive(|&byte| byte == b'\n');
    let encoding = |line: &[u8]| {
        let (name, value) = line.split_at_checked(HEADER.len())?;
        name.eq_ignore_ascii_case(HEADER).then(|| value.trim_ascii().eq_ignore_ascii_case(b"quoted-printable"))
    };
    let has_headers = lines().filter_map(encoding).any(|is_quoted| is_quoted);
    // Whether this text is encoded, and the one behind these headers.
    let (mut is_encoded, mut next) = (!has_headers, None);
    let (mut decoded, mut goes_on) = (Vec::with_capacity(bytes.len()), false);
    for line in lines() {
        let text = line.trim_ascii_end();
        if has_headers {
            // The next mail of several.
            let begins_mail = text.starts_with(b"From ") && text.last().is_some_and(u8::is_ascii_digit);
            next = encoding(line).or(next);
            is_encoded = if text.is_empty() { next.take().unwrap_or(is_encoded) } else { is_encoded && next.is_none() };
            is_encoded &= !begins_mail;
        }
        if !is_encoded {
            decoded.extend_from_slice(line);
            continue;
        }
        let continued = text.strip_suffix(b"=").filter(|_| text.len() < line.len());
        goes_on |= continued.is_some();
        let mut rest = continued.unwrap_or(line);
        while let Some((&byte, behind)) = rest.split_first() {
            let hex = |at: usize| char::from(*behind.get(at)?).to_digit(16);
            let coded = if byte == b'=' { hex(0).zip(hex(1)) } else { None };
            if byte == b'=' && coded.is_none() && !has_headers {
                return None;
            }
            decoded.push(coded.map_or(byte, |(high, low)| (high * 16 + low) as u8));
            rest = &behind[if coded.is_some() { 2 } else { 0 }..];
        }
    }
    (goes_on || has_headers).then_some(decoded)
}

/// Reports whether a line says that an author left out the rest: `...`, `[...]`, `<snip>`. No program prints it, so that it
/// is not the cut end of a line.
pub(super) fn is_elision(line: &str) -> bool {
    const WORDS: [&str; 7] = ["snip", "snipped", "output", "truncated", "omitted", "cut", "etc"];
    let words = || line.split(|c: char| c.is_whitespace() || ".…[](){}<>-".contains(c)).filter(|word| !word.is_empty());
    (line.contains("...") || line.contains('…') || words().next().is_some())
        && words().all(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Maximum number of characters of a line that an error contains.
const SHOWN: usize = 240;

/// Returns a line as a terminal shows it: without colours, and only the last of overwritten text. What a shell and the
/// place where it was pasted add is removed too.
fn shown(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let line = without_interrupt(line);
    // A progress line without its carriage return.
    let eta = line.starts_with("Jobs: ").then(|| line.split_once("[eta ")?.1.split_once(']')).flatten();
    let line = eta.map_or(line, |(_, rest)| if rest.trim().is_empty() { line } else { rest });
    if line.trim_start().starts_with("```") {
        return String::new();
    }
    let plain = without_bold(line);
    let line = plain.as_deref().unwrap_or(line);
    if line.contains(|c| PASTED.iter().any(|(pasted, _)| *pasted == c)) {
        let typed = |c: char| PASTED.iter().find(|(pasted, _)| *pasted == c).map_or(Some(c), |(_, typed)| *typed);
        return without_colours(&line.chars().filter_map(typed).collect::<String>());
    }
    without_colours(line)
}

/// Returns a line without the `^C` that ended the program.
fn without_interrupt(line: &str) -> &str {
    line.trim_start().strip_prefix("^C").unwrap_or(line)
}

/// Returns a line of figures without the asterisks of bold words, as in Markdown: `**IOPS=4737k**`.
fn without_bold(line: &str) -> Option<String> {
    let parts: Vec<&str> = line.split("**").collect();
    let is_word = |part: &&str| !part.is_empty() && part.trim() == *part && !part.contains('*');
    let is_bold = parts.len() > 1 && parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(is_word);
    (is_bold && line.contains('=') && !line.contains('"')).then(|| parts.concat())
}

/// Characters that web pages and word CPUs put in place of others.
const PASTED: [(char, Option<char>); 9] = [
    ('\u{a0}', Some(' ')),
    ('\u{2007}', Some(' ')),
    ('\u{202f}', Some(' ')),
    ('\u{200b}', None),
    ('\u{feff}', None),
    ('\u{201c}', Some('"')),
    ('\u{201d}', Some('"')),
    ('\u{201e}', Some('"')),
    ('\u{2212}', Some('-')),
];

/// Returns a line of a log with fio's document as Python prints it, as JSON on its own.
fn of_python(line: String) -> String {
    let document = line.find("{'fio version'").and_then(|at| line[at..].rfind('}').map(|end| &line[at..=at + end]));
    let Some(document) = document.filter(|document| !document.contains('"')) else { return line };
    let words = [("'", "\""), (": None", ": null"), (": True", ": true"), (": False", ": false")];
    let json = words.iter().fold(document.to_owned(), |json, (python, json_word)| json.replace(python, json_word));
    if serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok() { json } else { line }
}

/// Returns a line without control sequences of terminals.
fn without_colours(line: &str) -> String {
    static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b(?:\[[^@-~]*(?:[@-~]|$))?").ok());
    without(line, line.contains('\u{1b}').then_some(&*SEQUENCE))
}

/// HTML tags of inline markup.
const TAGS: &str = "span|strong|font|code|pre|br";

/// Returns a line of HTML source as a browser shows it.
fn without_tags(line: &str) -> String {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(&format!("</*(?:{TAGS})(?:[^A-Za-z0-9>][^>]*)?>")).ok());
    without(line, Some(&*TAG))
}

/// Returns a line without what a pattern matches.
fn without(line: &str, pattern: Option<&Option<Regex>>) -> String {
    pattern.and_then(Option::as_ref).map_or_else(|| line.to_owned(), |of| of.replace_all(line, "").into_owned())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Printed {
    pub(super) value: f64,
    /// Unit of its last digit.
    pub(super) step: f64,
    pub(super) decimals: u32,
}

impl Printed {
    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, step: self.step * factor, ..self }
    }
}

/// Parses the number at the start of a text, after whitespace, and returns the rest.
pub(super) fn printed(text: &str) -> Option<(Printed, &str)> {
    let body = text.trim_start();
    let whole = digits(body);
    if whole == 0 {
        return None;
    }
    let fraction = body[whole..].strip_prefix('.').map_or(0, digits);
    // A trailing point was truncated.
    if fraction == 0 && body[whole..].starts_with('.') {
        return None;
    }
    let length = if fraction > 0 { whole + 1 + fraction } else { whole };
    let value: f64 = body[..length].parse().ok().filter(|value: &f64| *value < 1e19)?;
    let decimals = u32::try_from(fraction).ok()?;
    Some((Printed { value, step: 0.1_f64.powi(i32::try_from(fraction).ok()?), decimals }, &body[length..]))
}

/// Counts leading digits.
pub(super) fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// Returns a line number, from 1.
pub(super) fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Words before `=` that begin no line of fio's normal output.
const KEYS: &str = "min max avg stdev samples per usr sys ctx majf minf short dropped drop total target window percentile \
                    depth io bw iops runt jobs err pid ioengine iodepth aggrb minb maxb mint maxt run";

/// Reports whether a line continues the one before it, which is of fio's normal output.
pub(super) fn continues(before: &str, line: &str) -> bool {
    let (before, line) = (before.trim(), line.trim());
    // The unit at the end of the rows of `pg_test_fsync`.
    if before.ends_with("usecs/") && line == "op" {
        return true;
    }
    let Some((key, _)) = line.split_once('=') else { return false };
    let is_of_group = ["READ: ", "WRITE: ", "TRIM: ", "MIXED: "].iter().any(|kind| before.starts_with(kind));
    let is_of_fio = before.starts_with('|')
        || before.contains(": (g")
        || before.contains('=') && (is_of_group || is_of_result(before));
    if !is_of_fio || is_header(line) || is_result(line) {
        return false;
    }
    // A fraction of a class, `>=64=0.0%`, whose `>` may be taken for that of a quotation, or a percentile,
    // `99.95th=[15680]`.
    let is_class = line.starts_with(">=") || line.starts_with("=64=") || key.parse::<u32>().is_ok();
    let is_percentile = key.strip_suffix("th").is_some_and(|percent| percent.parse::<f64>().is_ok());
    match before.starts_with('|') {
        true => is_percentile,
        false => is_class && line.contains('%') || KEYS.split(' ').any(|known| known == key),
    }
}

/// Converts an error of the JSON parser in a document on some lines into an error with its place in the text.
pub(super) fn json_error(text: &InputText, lines: Range<usize>, error: &serde_json::Error, remedy: &str) -> Problem {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    match error.classify() {
        Category::Eof => text.cut_off(lines.end, "the document is truncated", remedy),
        _ => {
            let at = lines.start + error.line().saturating_sub(1);
            // An error at the end of a line is reported at column 0 of the next one.
            let (at, column) = match error.column() {
                0 if at > lines.start => (at - 1, text.line(at - 1).chars().count() + 1),
                column => (at, column.max(1)),
            };
            text.error_at(at, column, 0, format!("invalid input: {what}"), remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_overwritten_text_are_removed() {
        assert_eq!(shown("\u{1b}[35;1m  63.50\u{1b}[0m\u{1b}[34m x"), "  63.50 x");
        assert_eq!(shown("Jobs: 1 [eta 00m:01s]\rJobs: 1 [eta 00m:00s]\r"), "Jobs: 1 [eta 00m:00s]");
        assert_eq!(shown("a\u{1b}"), "a");
        assert_eq!(without_tags("<span class=\"x\">iops=21</strong>691, a < b, <b></y>"), "iops=21691, a < b, <b></y>");
        assert_eq!(shown("a\u{1b}[3"), "a");
        assert_eq!(shown("Jobs: 1 (f=1): [r(1)][100.0%][eta 00m:00s]a: (groupid=0"), "a: (groupid=0");
        assert_eq!(shown("^C  read:\u{a0}IOPS=64"), "  read: IOPS=64");
        assert_eq!(shown("```json"), "");
        assert_eq!(shown("  read: **IOPS=4737k**, **BW=1**"), "  read: IOPS=4737k, BW=1");
        for line in ["*****a=1****", "a = 2**3", "**a**", "{\"a\": \"**=**\"}"] {
            assert_eq!(shown(line), line);
        }
    }

    #[test]
    fn marks_of_what_was_left_out_are_no_cut_lines() {
        for mark in ["...", " [...]", "…", "<snip>", "... (output truncated)"] {
            assert!(is_elision(mark), "{mark}");
        }
        for line in ["", "  lat (usec): min=1, avg=2...", "output: 5", "-", "[99.0%]"] {
            assert!(!is_elision(line), "{line}");
        }
    }

    #[test]
    fn quoted_printable_mails_are_decoded() {
        let decoded = |text: &str| quoted_printable(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(decoded("min=3D5, ma=\r\nx=3D9 =\n7\n").as_deref(), Some("min=5, max=9 7\n"));
        for plain in ["min=30, max=55", "=====\nA=\n", "a=\nb=x", "", "a="] {
            assert_eq!(decoded(plain), None, "{plain}");
        }
        // With headers, whose own `=` made the whole text look like no mail.
        let part =
            |encoding: &str| format!("X: charset=\"utf-8\"\nContent-Transfer-Encoding: {encoding}\nY: b=\n\na=3D1\n");
        let (quoted, plain) = (part("Quoted-Printable"), part("7bit"));
        let mails = format!("{quoted}{plain}{quoted}b=c=\nd\nFrom a@b Mon Sep 17 00:00:00 2001\n\na=3D1\n");
        let read = quoted.replace("=3D", "=");
        let expected = format!("{read}{plain}{read}b=cd\nFrom a@b Mon Sep 17 00:00:00 2001\n\na=3D1\n");
        assert_eq!(self::decoded(&quoted_printable(mails.as_bytes()).unwrap()), expected);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin_1() {
        assert_eq!(decoded(b"lat: \xa0min= 5, caf\xe9 \xc2\xb5s"), "lat: \u{a0}min= 5, caf\u{e9} \u{b5}s");
    }

    #[test]
    fn numbers_keep_the_unit_of_their_last_digit() {
        let read = |text| printed(text).map(|(n, rest)| (n.value, n.step, n.decimals, rest));
        assert_eq!(read("  24.1k"), Some((24.1, 0.1, 1, "k")));
        assert_eq!(read("2823MiB"), Some((2823.0, 1.0, 0, "MiB")));
        assert_eq!(read("7."), None);
        assert_eq!(read("k"), None);
        assert_eq!(read(&"9".repeat(400)), None);
    }
}
