//! fio's logs of operations (`write_iolog`, `read_iolog`).
//!
//! Version 3 has a time in microseconds in each line. Version 2 has `wait` lines, whose time fio takes as milliseconds
//! since the start, although its manual says otherwise; so does this module.

use super::FieldError;
use super::lines::{Field, space_fields};
use crate::TraceOperation;

/// Nanoseconds of the times of each version.
const MILLISECOND_NS: u64 = 1_000_000;
const MICROSECOND_NS: u64 = 1_000;

/// What a line says.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedOperation<'a> {
    pub(super) time_ns: u64,
    pub(super) file: &'a [u8],
    pub(super) operation: TraceOperation,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Reads a log.
#[derive(Debug)]
pub(super) struct Iolog {
    has_times: bool,
    now_ns: u64,
}

impl Iolog {
    /// `has_times` for version 3.
    pub(super) fn new(has_times: bool) -> Self {
        Self { has_times, now_ns: 0 }
    }

    /// Reads a line; `None` if it is no operation.
    pub(super) fn line<'a>(
        &mut self,
        line: &'a [u8],
        is_first: bool,
    ) -> Result<Option<LoggedOperation<'a>>, FieldError> {
        if is_first && line.starts_with(b"fio version ") {
            return Ok(None);
        }
        let (all, count) = space_fields::<6>(line);
        if count == 0 {
            return Ok(None);
        }
        let fields = if self.has_times { [all[1], all[2], all[3], all[4]] } else { [all[0], all[1], all[2], all[3]] };
        let [file, action, offset, length] = fields;
        if self.has_times {
            self.now_ns = scaled(all[0], MICROSECOND_NS)?;
        }
        let operation = match action.text {
            b"add" | b"open" | b"close" | b"unlink" => return Ok(None),
            b"read" => TraceOperation::Read,
            b"write" => TraceOperation::Write,
            b"trim" => TraceOperation::Discard,
            b"sync" | b"datasync" | b"sync_file_range" => TraceOperation::Flush,
            b"wait" if !self.has_times => {
                self.now_ns = self.now_ns.max(scaled(offset, MILLISECOND_NS)?);
                return Ok(None);
            }
            _ => return Err(action.error("an action of this version of the log")),
        };
        let mut logged = LoggedOperation {
            time_ns: self.now_ns,
            file: file.text,
            operation,
            offset: offset.offset(1)?,
            length: length.length(1)?,
        };
        if operation == TraceOperation::Flush {
            // fio gives the offset of an earlier write.
            (logged.offset, logged.length) = (0, 0);
        }
        Ok(Some(logged))
    }
}

fn scaled(field: Field, unit_ns: u64) -> Result<u64, FieldError> {
    field.number("a time")?.checked_mul(unit_ns).ok_or_else(|| field.error("a time"))
}
