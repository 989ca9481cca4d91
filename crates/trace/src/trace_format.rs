//! Formats of traces.

use crate::format::TRACE_MARK;
use crate::import::{is_blkparse_event, is_blktrace_event, is_csv_header};

/// A format in which traces are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceFormat {
    /// Fathom's own.
    Fathom,
    /// fio's log of operations, version 2.
    FioIolog2,
    /// fio's log of operations, version 3.
    FioIolog3,
    /// Binary events of blktrace.
    Blktrace,
    /// Text of blkparse in its default format.
    Blkparse,
    /// CSV of the traces of Microsoft Research Cambridge.
    Msr,
    /// CSV of the traces of the SYSTOR '17 conference, at SNIA.
    Systor,
    /// CSV of the block traces of Alibaba.
    Alibaba,
    /// CSV of the block traces of Tencent.
    Tencent,
    /// CSV of the traces of CloudPhysics, converted from those of VMware.
    CloudPhysics,
}

impl TraceFormat {
    /// All formats.
    pub const ALL: [Self; 10] = [
        Self::Fathom,
        Self::FioIolog2,
        Self::FioIolog3,
        Self::Blktrace,
        Self::Blkparse,
        Self::Msr,
        Self::Systor,
        Self::Alibaba,
        Self::Tencent,
        Self::CloudPhysics,
    ];

    /// Returns its name, as in an option.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fathom => "fathom",
            Self::FioIolog2 => "iolog2",
            Self::FioIolog3 => "iolog3",
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::Msr => "msr",
            Self::Systor => "systor",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::CloudPhysics => "cloudphysics",
        }
    }

    /// Returns the format with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the resolution of its times, in nanoseconds. Requests of Tencent's traces bunch at whole seconds.
    #[must_use]
    pub fn resolution_ns(self) -> u64 {
        match self {
            Self::Fathom | Self::Blktrace | Self::Blkparse => 1,
            Self::Msr => 100,
            Self::FioIolog3 | Self::Systor | Self::Alibaba | Self::CloudPhysics => 1_000,
            Self::FioIolog2 => 1_000_000,
            Self::Tencent => 1_000_000_000,
        }
    }

    /// Returns whether it has the time from issue to completion.
    #[must_use]
    pub fn has_service_times(self) -> bool {
        matches!(self, Self::Fathom | Self::Blktrace | Self::Blkparse | Self::Msr | Self::Systor)
    }

    /// Returns the format of a trace with these first bytes: some 4,096 of them, or all there are.
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        if start.starts_with(&TRACE_MARK) {
            return Some(Self::Fathom);
        }
        if is_blktrace_event(start) {
            return Some(Self::Blktrace);
        }
        let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let first = lines.next()?;
        match first {
            b"fio version 2 iolog" => return Some(Self::FioIolog2),
            b"fio version 3 iolog" => return Some(Self::FioIolog3),
            line if is_blkparse_event(line) => return Some(Self::Blkparse),
            _ => {}
        }
        if is_csv_header(first) {
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
            4 if is(2, &["r", "w"]) => Some(Self::CloudPhysics),
            _ => None,
        }
    }

    fn of_csv_header(line: &[u8]) -> Option<Self> {
        match line.split(|byte| *byte == b',').count() {
            7 => Some(Self::Msr),
            6 => Some(Self::Systor),
            5 if line.to_ascii_lowercase().starts_with(b"device") => Some(Self::Alibaba),
            5 => Some(Self::Tencent),
            4 => Some(Self::CloudPhysics),
            _ => None,
        }
    }
}
