//! Recognition of formats.

use super::{blkparse, blktrace, csv};
use crate::TraceFormat;
use crate::format::TRACE_MARK;

/// Maximum number of lines above the first event of `blkparse`.
const AROUND_MAX: usize = 8;

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
            // Prose, fences, a command or the rest of a cut line may precede the first whole event.
            line if std::iter::once(line).chain(lines.clone().take(AROUND_MAX)).any(blkparse::is_event) => {
                return Some(Self::Blkparse);
            }
            _ => {}
        }
        if is_fio_log(start) {
            return None;
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

/// Reports whether a text is a log of fio over time (`write_iops_log`, `write_lat_log`, `write_bw_log`), of any version: time
/// in ms, value, kind, block size and, since fio 3, offset and priority, separated by a comma and a blank.
pub(super) fn is_fio_log(start: &[u8]) -> bool {
    let is_whole = |field: &&str| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex =
        |field: &str| field.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let entry = |line: &[u8]| -> Option<u64> {
        let fields: Vec<&str> = std::str::from_utf8(line).ok()?.split(", ").collect();
        let [time, value, kind, bytes, others @ ..] = &fields[..] else { return None };
        let is_entry = [time, value, bytes].into_iter().all(&is_whole)
            && matches!(*kind, "0" | "1" | "2")
            && others.len() <= 3
            && others.iter().all(|field| is_whole(field) || is_hex(field));
        is_entry.then(|| time.parse().ok()).flatten()
    };
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let times: Vec<Option<u64>> = lines.take(2).map(entry).collect();
    !times.is_empty() && times.iter().all(Option::is_some) && times.is_sorted()
}
