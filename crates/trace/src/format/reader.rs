//! Reading of traces.

use super::frame::{TRACE_HEADER_BYTES, TRACE_MARK, TRACE_VERSION, TraceBlockHeader, TraceBlockKind};
use super::{block, facts};
use crate::{TraceInfo, TraceRequest};

/// Bytes of a trace that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceDamage {
    /// Position of the first, in bytes from the start.
    pub position: u64,
    /// How many were skipped.
    pub bytes: u64,
    /// Description, one sentence without a full stop.
    pub what: &'static str,
}

/// What [`crate::TraceInput::next`] or [`TraceReader::next`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStep {
    /// Requests were appended.
    Requests,
    /// More bytes of a file are needed: the index of the file.
    NeedsInput(usize),
    /// Nothing follows.
    End(TraceEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    Complete,
    /// It ends after a complete block: its writer was killed, or is still writing.
    Unfinished,
    /// It ends within a block.
    Truncated {
        /// Position of that block, in bytes from the start.
        position: u64,
        /// Number of bytes of it.
        bytes: u64,
    },
}

/// Turns the bytes of a trace into requests, one block at a time.
///
/// Requests of a block are in the order of issue; a block whose first instant is before the last one of the block
/// before it has late requests. Memory is bounded by one block and what the caller feeds at once.
#[derive(Debug, Default)]
pub struct TraceReader {
    info: TraceInfo,
    buffer: Vec<u8>,
    /// Start of the unread part of the buffer, and its position in the trace.
    start: usize,
    position: u64,
    /// Position and description of damage whose end is searched.
    damage: Option<(u64, &'static str)>,
    has_ended: bool,
    is_complete: bool,
    read: u64,
    missing: u64,
}

impl TraceReader {
    /// Begins to read a trace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the following bytes of the trace.
    pub fn feed(&mut self, bytes: &[u8]) {
        // Moving the rest less often than that keeps the cost linear.
        if self.start >= self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that no bytes follow.
    pub fn end_input(&mut self) {
        self.has_ended = true;
    }

    /// Returns the metadata of the trace, as far as it has been read.
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// Returns how many requests of damaged blocks are missing, as far as later blocks show.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Reads up to the end of the next block of requests, which are appended to `requests`.
    ///
    /// # Errors
    /// Returns the bytes that are not valid and were skipped. Reading can go on.
    pub fn next(&mut self, requests: &mut Vec<TraceRequest>) -> Result<TraceStep, TraceDamage> {
        loop {
            if let Some(step) = self.block(requests) {
                return step;
            }
        }
    }

    /// Reads a block; `None` to go on with the next.
    fn block(&mut self, requests: &mut Vec<TraceRequest>) -> Option<Result<TraceStep, TraceDamage>> {
        let unread = &self.buffer[self.start..];
        let Some(header) = TraceBlockHeader::parse(unread) else {
            if unread.len() < TRACE_HEADER_BYTES {
                return self.at_end();
            }
            self.search("expected a block");
            return None;
        };
        if let Some((position, what)) = self.damage.take() {
            return Some(Err(TraceDamage { position, bytes: self.position - position, what }));
        }
        let Some(content) = unread.get(TRACE_HEADER_BYTES..header.bytes() as usize) else {
            return self.at_end();
        };
        if crc32c::crc32c(content) != header.checksum {
            self.search("block checksum mismatch");
            return None;
        }
        if header.version > TRACE_VERSION {
            self.search("block written by a newer version of Fathom");
            return None;
        }
        self.content(header, requests)
    }

    /// Takes the content of a block, whose checksum is right.
    fn content(
        &mut self,
        header: TraceBlockHeader,
        requests: &mut Vec<TraceRequest>,
    ) -> Option<Result<TraceStep, TraceDamage>> {
        let content = &self.buffer[self.start + TRACE_HEADER_BYTES..self.start + header.bytes() as usize];
        let before = requests.len();
        let step = match header.kind {
            TraceBlockKind::Facts => facts::apply(content, &mut self.info).map(|()| None),
            TraceBlockKind::Requests => {
                block::decode(content, header.requests as usize, header.tick_ns.into(), header.first_tick, requests)
                    .map(|()| Some(Ok(TraceStep::Requests)))
            }
            TraceBlockKind::End | TraceBlockKind::Unknown => Some(None),
        };
        let Some(step) = step else {
            requests.truncate(before);
            self.search("invalid block content");
            return None;
        };
        self.missing = self.missing.saturating_add(header.requests_before.saturating_sub(self.read));
        self.read = self.read.max(header.requests_before).saturating_add(header.requests.into());
        self.is_complete = header.kind == TraceBlockKind::End;
        self.skip(header.bytes() as usize);
        step
    }

    fn skip(&mut self, bytes: usize) {
        self.start += bytes;
        self.position += bytes as u64;
    }

    /// Goes on to the next mark of a block after this position, or as far as there may be none.
    fn search(&mut self, what: &'static str) {
        self.damage.get_or_insert((self.position, what));
        let after = &self.buffer[self.start + 1..];
        let next = after.windows(TRACE_MARK.len()).position(|window| window == TRACE_MARK);
        self.skip(1 + next.unwrap_or(after.len().saturating_sub(TRACE_MARK.len() - 1)));
    }

    /// Returns the step for an incomplete block; `None` to go on.
    fn at_end(&mut self) -> Option<Result<TraceStep, TraceDamage>> {
        if !self.has_ended {
            return Some(Ok(TraceStep::NeedsInput(0)));
        }
        let unread = &self.buffer[self.start..];
        // A block that seems to be longer than the rest may have lost bytes, with complete blocks behind it.
        let has_more = unread.len() > TRACE_HEADER_BYTES
            && unread[1..].windows(TRACE_MARK.len()).any(|window| window == TRACE_MARK);
        if has_more {
            self.search("incomplete block");
            return None;
        }
        let (position, bytes) = (self.position, unread.len() as u64);
        if let Some((position, what)) = self.damage.take() {
            self.skip(bytes as usize);
            return Some(Err(TraceDamage { position, bytes: self.position - position, what }));
        }
        Some(Ok(TraceStep::End(match () {
            () if bytes > 0 => TraceEnd::Truncated { position, bytes },
            () if self.is_complete => TraceEnd::Complete,
            () => TraceEnd::Unfinished,
        })))
    }
}
