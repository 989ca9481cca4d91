//! Lines and their fields.

use units::{Place, Problem, ProblemCode};

use super::{FieldError, excerpt};

/// Maximum length of a line, in bytes.
const LINE_BYTES_MAX: usize = 4_096;

/// Divides what is fed into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Start of the unread part.
    start: usize,
    /// Up to where the unread part has no end of a line.
    searched: usize,
    /// Number of lines that were returned.
    count: u64,
    /// Position of the unread part.
    position: u64,
    has_ended: bool,
    /// Whether the rest of a long line is passed over.
    is_in_long_line: bool,
}

/// What follows in a text.
pub(super) enum LineStep {
    /// A line, without its end, as a range of the buffer.
    Line(std::ops::Range<usize>),
    /// More bytes are needed.
    NeedsInput,
    /// A line is too long.
    TooLong,
    End,
}

impl Lines {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn get(&self, line: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    pub(super) fn next(&mut self) -> LineStep {
        loop {
            let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let end = found.map_or(self.buffer.len(), |found| self.searched + found);
            let (start, length) = (self.start, end - self.start);
            let is_complete = found.is_some() || self.has_ended && length > 0;
            if !is_complete && length <= LINE_BYTES_MAX {
                self.searched = end;
                return if self.has_ended { LineStep::End } else { LineStep::NeedsInput };
            }
            let next = (end + 1).min(self.buffer.len());
            self.position += (next - start) as u64;
            (self.start, self.searched) = (next, next);
            let was_in_long_line = std::mem::replace(&mut self.is_in_long_line, !is_complete);
            self.count += u64::from(!was_in_long_line);
            if was_in_long_line {
                continue;
            }
            if length > LINE_BYTES_MAX {
                return LineStep::TooLong;
            }
            let trimmed = length - usize::from(self.buffer[start..end].ends_with(b"\r"));
            return LineStep::Line(start..start + trimmed);
        }
    }

    /// Places an error on the line that was returned last.
    pub(super) fn place(&self, name: &str, line: &[u8], error: FieldError, remedy: &str) -> Problem {
        let before = String::from_utf8_lossy(line.get(..error.column).unwrap_or_default());
        let place = Place {
            source: name.into(),
            line: usize::try_from(self.count).unwrap_or(usize::MAX),
            column: before.chars().count() + 1,
            length: 1,
            text: excerpt(line).into(),
        };
        Problem::error(ProblemCode::Trace, error.what).at(place).help(remedy)
    }
}

/// A field of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Field<'a> {
    pub(super) text: &'a [u8],
    /// Bytes of the line before it.
    column: usize,
}

impl<'a> Field<'a> {
    pub(super) fn error(self, expected: &str) -> FieldError {
        let what = match self.text {
            [] => format!("{expected} is missing"),
            text => format!("`{}` is not {expected}", excerpt(&text[..text.len().min(40)])),
        };
        FieldError { column: self.column, what }
    }

    /// Reads a whole number.
    pub(super) fn number(self, expected: &str) -> Result<u64, FieldError> {
        self.decimal(0, expected)
    }

    /// Reads a number in units of 10 to the power of minus `digits`; digits beyond that are cut.
    pub(super) fn decimal(self, digits: usize, expected: &str) -> Result<u64, FieldError> {
        decimal(self.text, digits).ok_or_else(|| self.error(expected))
    }

    /// Reads a length in bytes.
    pub(super) fn length(self, unit: u64) -> Result<u32, FieldError> {
        let length = self.number("a length")?.checked_mul(unit).and_then(|length| u32::try_from(length).ok());
        length.ok_or_else(|| self.error("a length below 4 GiB"))
    }

    /// Reads an offset in multiples of `unit` bytes.
    pub(super) fn offset(self, unit: u64) -> Result<u64, FieldError> {
        self.number("an offset")?.checked_mul(unit).ok_or_else(|| self.error("an offset below 16 EiB"))
    }
}

fn decimal(text: &[u8], digits: usize) -> Option<u64> {
    let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) if digits > 0 => (&text[..point], &text[point + 1..]),
        _ => (text, &[][..]),
    };
    if whole.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let fraction = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(digits);
    whole.iter().copied().chain(fraction).try_fold(0u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Divides a line at every `,`; fields have no spaces around them. At most `N` fields, the others are empty; also
/// returns how many there are.
pub(super) fn comma_fields<const N: usize>(line: &[u8]) -> ([Field<'_>; N], usize) {
    let mut fields = [Field { text: &[], column: line.len() }; N];
    let (mut start, mut count) = (0, 0);
    for text in line.split(|byte| *byte == b',') {
        if let Some(field) = fields.get_mut(count) {
            let blank = text.len() - text.trim_ascii_start().len();
            *field = Field { text: text.trim_ascii(), column: start + blank };
        }
        count += 1;
        start += text.len() + 1;
    }
    (fields, count)
}

/// Divides a line at spaces, as [`comma_fields`].
pub(super) fn space_fields<const N: usize>(line: &[u8]) -> ([Field<'_>; N], usize) {
    let mut fields = [Field { text: &[], column: line.len() }; N];
    let (mut start, mut count) = (0, 0);
    for text in line.split(u8::is_ascii_whitespace) {
        if !text.is_empty() {
            if let Some(field) = fields.get_mut(count) {
                *field = Field { text, column: start };
            }
            count += 1;
        }
        start += text.len() + 1;
    }
    (fields, count)
}
