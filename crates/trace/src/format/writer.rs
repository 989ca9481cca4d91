//! Writing of traces.

use super::frame::{REQUESTS_MAX, TRACE_HEADER_BYTES, TRACE_VERSION, TraceBlockHeader, TraceBlockKind};
use super::{block, facts};
use crate::{TraceInfo, TraceRequest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWriterOptions {
    /// Resolution of times, in nanoseconds; a duration is wrong by less than that. Halving it costs about one bit for
    /// each of the three times of a request.
    pub tick_ns: u32,
    /// Number of requests of a block, at most 32,768. Smaller blocks lose less in a crash but compress worse.
    pub block_requests: u32,
}

impl Default for TraceWriterOptions {
    fn default() -> Self {
        Self { tick_ns: 500, block_requests: 16_384 }
    }
}

/// Turns requests into the bytes of a trace, in the order of their issue.
///
/// Requests may come in the order of issue or of completion. The writer keeps up to two blocks of them to sort: a
/// request that comes more than a block late is written out of order, which readers see from the headers. Memory is
/// bounded by these blocks, provided that the caller empties [`Self::output`].
#[derive(Debug)]
pub struct TraceWriter {
    options: TraceWriterOptions,
    /// Metadata of the trace; names may be added at any time, before the requests that use them.
    pub info: TraceInfo,
    /// What has been written of it.
    written_info: TraceInfo,
    /// Sorted requests, all issued before those of `newer` unless these are late.
    older: Vec<TraceRequest>,
    newer: Vec<TraceRequest>,
    /// Number of requests in written blocks.
    written: u64,
    output: Vec<u8>,
}

impl TraceWriter {
    /// Begins a trace; values out of range in `options` are replaced by the nearest valid ones.
    #[must_use]
    pub fn new(info: TraceInfo, options: TraceWriterOptions) -> Self {
        let options = TraceWriterOptions {
            tick_ns: options.tick_ns.max(1),
            block_requests: options.block_requests.clamp(1, REQUESTS_MAX),
        };
        let mut writer = Self {
            options,
            info,
            written_info: TraceInfo::default(),
            older: Vec::new(),
            newer: Vec::new(),
            written: 0,
            output: Vec::new(),
        };
        writer.write_facts();
        writer
    }

    /// Adds a request.
    #[inline]
    pub fn push(&mut self, request: &TraceRequest) {
        self.newer.push(*request);
        if self.newer.len() >= self.options.block_requests as usize {
            self.write_older();
        }
    }

    /// Returns finished blocks, to be written and cleared by the caller.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Ends blocks so that the output has all requests issued before an instant, in nanoseconds.
    ///
    /// A capture that does so once per second, with the earliest issue of a request in flight, loses no more than a
    /// second of completed requests when it is killed.
    pub fn write_before(&mut self, instant_ns: u64) {
        self.sort();
        let count = self.older.partition_point(|request| request.issued_ns < instant_ns);
        let later = self.older.split_off(count);
        let requests = std::mem::replace(&mut self.older, later);
        requests.chunks(self.options.block_requests as usize).for_each(|requests| self.write_requests(requests));
        if self.info != self.written_info {
            self.write_facts();
        }
    }

    /// Writes everything left and the mark of a complete trace, and returns what has not been taken from the output.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.write_before(u64::MAX);
        // A request at the very last instant.
        let requests = std::mem::take(&mut self.older);
        requests.chunks(self.options.block_requests as usize).for_each(|requests| self.write_requests(requests));
        self.write_block(TraceBlockKind::End, &[], |_| {});
        self.output
    }

    fn sort(&mut self) {
        if !self.newer.is_sorted_by_key(|request| request.issued_ns) {
            self.newer.sort_by_key(|request| request.issued_ns);
        }
        self.older.append(&mut self.newer);
        if !self.older.is_sorted_by_key(|request| request.issued_ns) {
            self.older.sort_by_key(|request| request.issued_ns);
        }
    }

    /// Writes a block, if there are two.
    fn write_older(&mut self) {
        let is_late = |newer: &TraceRequest| self.older.last().is_some_and(|older| newer.issued_ns < older.issued_ns);
        if !self.newer.is_sorted_by_key(|request| request.issued_ns) {
            self.newer.sort_by_key(|request| request.issued_ns);
        }
        if self.newer.first().is_some_and(is_late) {
            let count = self.older.len();
            self.older.append(&mut self.newer);
            self.older.sort_by_key(|request| request.issued_ns);
            self.newer.extend_from_slice(&self.older[count..]);
            self.older.truncate(count);
        }
        let mut requests = std::mem::take(&mut self.older);
        self.write_requests(&requests);
        requests.clear();
        self.older = std::mem::replace(&mut self.newer, requests);
    }

    fn write_requests(&mut self, requests: &[TraceRequest]) {
        if self.info != self.written_info {
            self.write_facts();
        }
        let Some(first) = requests.first() else { return };
        let tick_ns = u64::from(self.options.tick_ns);
        let first_tick = first.issued_ns / tick_ns;
        self.write_block(TraceBlockKind::Requests, requests, |output| {
            block::encode(requests, tick_ns, first_tick, output);
        });
        self.written += requests.len() as u64;
    }

    fn write_facts(&mut self) {
        for part in facts::changes(&self.info, &self.written_info) {
            self.write_block(TraceBlockKind::Facts, &[], |output| output.extend_from_slice(&part));
        }
        self.written_info = self.info.clone();
    }

    fn write_block(&mut self, kind: TraceBlockKind, requests: &[TraceRequest], content: impl FnOnce(&mut Vec<u8>)) {
        let start = self.output.len();
        self.output.resize(start + TRACE_HEADER_BYTES, 0);
        content(&mut self.output);
        let tick = |request: Option<&TraceRequest>| {
            request.map_or(0, |request| request.issued_ns / u64::from(self.options.tick_ns))
        };
        let header = TraceBlockHeader {
            version: TRACE_VERSION,
            kind,
            requests: requests.len() as u32,
            requests_before: self.written,
            tick_ns: self.options.tick_ns,
            first_tick: tick(requests.first()),
            last_tick: tick(requests.last()),
            content: 0,
            checksum: 0,
        };
        header.complete(&mut self.output, start);
    }
}
