//! Recognition of formats.

use super::{blkparse, blktrace, csv};
use crate::TraceFormat;
use crate::format::TRACE_MARK;

impl TraceFormat {
    /// Returns the format of a trace with these first bytes: some 4,096 of them, or all there are.
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        if start.starts_with(&TRACE_MARK) {
            return Some(Self::Fathom);
        }
        if start.first_chunk().is_some_and(|magic| blktrace::version_of(*magic).is_some()) {
            return Some(Self::Blktrace);
        }
        let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let first = lines.next()?;
        match first {
            b"fio version 2 iolog" => return Some(Self::FioIolog2),
            b"fio version 3 iolog" => return Some(Self::FioIolog3),
            line if blkparse::is_event(line) => return Some(Self::Blkparse),
            _ => {}
        }
        if csv::is_header(first) {
            return lines.next().and_then(Self::of_csv).or_else(|| Self::of_csv_header(first));
        }
        Self::of_csv(first)
    }

    fn of_csv(line: &[u8]) -> Option<Self> {
        let fields: Vec<Vec<u8>> =
            line.split(|byte| *byte == b',').take(8).map(|field| field.trim_ascii().to_ascii_lowercase()).collect();
        let is = |index: usize, words: &[&str]| {
            fields.get(index).is_some_and(|field| words.iter().any(|word| word.as_bytes() == field.as_slice()))
        };
        match fields.len() {
            7 if is(3, &["read", "write"]) => Some(Self::Msr),
            6 if is(2, &["r", "w", ""]) => Some(Self::Systor),
            5 if is(1, &["r", "w"]) => Some(Self::Alibaba),
            5 if is(3, &["0", "1"]) => Some(Self::Tencent),
            5 if is(0, &["1", "2"]) && fields[2].len() == 2 => Some(match fields[1].len() {
                // 10 digits reach the year 2286 in seconds since 1970, and not three hours in microseconds.
                ..=10 => Self::VscsiSeconds,
                _ => Self::Vscsi,
            }),
            4 if is(2, &["r", "w"]) => Some(Self::CloudPhysics),
            _ => None,
        }
    }

    fn of_csv_header(line: &[u8]) -> Option<Self> {
        match line.split(|byte| *byte == b',').count() {
            7 => Some(Self::Msr),
            6 => Some(Self::Systor),
            5 if line.to_ascii_lowercase().starts_with(b"device") => Some(Self::Alibaba),
            5 if line.to_ascii_lowercase().starts_with(b"version") => Some(Self::Vscsi),
            5 => Some(Self::Tencent),
            4 => Some(Self::CloudPhysics),
            _ => None,
        }
    }
}
