//! Layouts of events and of pages of the ring buffer, as the kernel describes them in tracefs.

use units::{Problem, ProblemCode};

/// Position of a field in the bytes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldLayout {
    /// Position of the first byte.
    pub(crate) offset: usize,
    /// Length in bytes.
    pub(crate) bytes: usize,
}

impl FieldLayout {
    /// Returns the bytes of the field; `None` if the event is too short.
    #[inline]
    pub(crate) fn of(self, event: &[u8]) -> Option<&[u8]> {
        event.get(self.offset..self.offset + self.bytes)
    }

    /// Returns the value of an unsigned field of at most 8 bytes; zero if the event is too short.
    #[inline]
    pub(crate) fn value(self, event: &[u8]) -> u64 {
        match self.of(event) {
            Some(&[a, b, c, d]) => u32::from_ne_bytes([a, b, c, d]).into(),
            Some(&[a, b, c, d, e, f, g, h]) => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            Some(&[a, b]) => u16::from_ne_bytes([a, b]).into(),
            Some(&[a]) => a.into(),
            _ => 0,
        }
    }
}

/// Greatest position and length of a field. An event is never longer than a page of 64 KiB.
const FIELD_END_MAX: usize = 1 << 16;

/// Fields that the kernel describes in a `format` or `header_page` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldTable {
    /// Number of the event, if the file has one.
    pub(crate) id: Option<u16>,
    fields: Vec<(String, FieldLayout)>,
}

impl FieldTable {
    /// Parses lines such as `field:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;` and `ID: 2104`. Other lines
    /// are skipped.
    ///
    /// # Errors
    /// Returns the line that is not understood and why.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut table = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            let failed = |why: &str| unknown(format!("line {number}: {why}: `{}`", units::printable(&shortened(line))));
            if let Some(id) = line.strip_prefix("ID:") {
                table.id = Some(id.trim().parse().map_err(|_| failed("invalid event ID"))?);
            } else if let Some(field) = line.strip_prefix("field:") {
                table.fields.push(field_of(field).ok_or_else(|| failed("invalid field description"))?);
            }
        }
        Ok(table)
    }

    pub(crate) fn field(&self, name: &str) -> Option<FieldLayout> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }

    /// Returns the field of a name, which has one of these lengths.
    ///
    /// # Errors
    /// Returns a sentence if there is no such field.
    pub(crate) fn required(&self, name: &str, bytes: &[usize]) -> Result<FieldLayout, Problem> {
        match self.field(name) {
            None => Err(unknown(format!("no field `{name}`"))),
            Some(field) if !bytes.contains(&field.bytes) => {
                Err(unknown(format!("the field `{name}` has {} bytes instead of {}", field.bytes, bytes[0])))
            }
            Some(field) => Ok(field),
        }
    }
}

/// Returns the problem of a layout that is not understood.
pub(crate) fn unknown(what: impl Into<String>) -> Problem {
    Problem::error(ProblemCode::Capture, what)
}

fn shortened(line: &str) -> String {
    line.chars().take(60).collect()
}

fn field_of(text: &str) -> Option<(String, FieldLayout)> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    // `char rwbs[10]`: the name is the last word, without the length of an array.
    let name = declaration.split_whitespace().last()?.split('[').next()?.to_owned();
    let (mut offset, mut bytes) = (None, None);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.trim().parse().ok(),
            Some(("size", value)) => bytes = value.trim().parse().ok(),
            _ => {}
        }
    }
    let layout = FieldLayout { offset: offset?, bytes: bytes? };
    (layout.offset.saturating_add(layout.bytes) <= FIELD_END_MAX).then_some((name, layout))
}

/// Layout of a page of the ring buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageLayout {
    pub(crate) timestamp: FieldLayout,
    pub(crate) commit: FieldLayout,
    /// Position of the events.
    pub(crate) data: usize,
}

impl PageLayout {
    /// Parses `events/header_page`.
    ///
    /// # Errors
    /// Returns a sentence if the file is not understood.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let table = FieldTable::parse(text)?;
        let timestamp = table.required("timestamp", &[8])?;
        let commit = table.required("commit", &[8, 4])?;
        let data = table.field("data").ok_or_else(|| unknown("no field `data`"))?.offset;
        Ok(Self { timestamp, commit, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_the_kernel_are_read() {
        let table = FieldTable::parse(include_str!("../tests/data/block_rq_issue.format")).unwrap();
        assert_eq!(table.id, Some(2104));
        assert_eq!(table.field("sector"), Some(FieldLayout { offset: 16, bytes: 8 }));
        assert_eq!(table.field("rwbs"), Some(FieldLayout { offset: 34, bytes: 10 }));
        assert_eq!(table.field("common_pid"), Some(FieldLayout { offset: 4, bytes: 4 }));
        assert_eq!(table.field("cmd"), Some(FieldLayout { offset: 60, bytes: 4 }));
        let page = PageLayout::parse(include_str!("../tests/data/header_page")).unwrap();
        assert_eq!((page.timestamp.offset, page.commit.offset, page.data), (0, 8, 16));
    }

    #[test]
    fn odd_formats_are_errors_with_their_line() {
        for (text, error) in [
            ("ID: x", "line 1: invalid event ID: `ID: x`"),
            ("\n field:int a; offset:-1; size:4;", "line 2: invalid field description"),
            ("field:int a; offset:4;", "line 1: invalid field description"),
            ("field:int a; offset:99999999999999999999; size:4;", "line 1: invalid field description"),
            ("field:int a; offset:65535; size:4;", "line 1: invalid field description"),
            ("field:", "line 1: invalid field description"),
        ] {
            let found = FieldTable::parse(text).unwrap_err();
            assert!(found.what.starts_with(error), "{text:?}: {found}");
        }
        assert_eq!(FieldTable::parse("").unwrap(), FieldTable::default());
        let table = FieldTable::parse("field:int a; offset:0; size:3;").unwrap();
        assert_eq!(table.required("a", &[4]).unwrap_err().what, "the field `a` has 3 bytes instead of 4");
        assert_eq!(table.required("b", &[4]).unwrap_err().what, "no field `b`");
        assert!(PageLayout::parse("field: u64 timestamp; offset:0; size:4;").is_err());
    }
}
