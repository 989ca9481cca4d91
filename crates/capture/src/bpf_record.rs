//! Records of requests, as `bpf/requests.bpf.c` writes them. What they mean is decided here, not in the programs.

use trace::{TraceOperation, TraceRequest};

use crate::names::{COMM_BYTES, ProcessNames};
use crate::target::SECTOR_BYTES;

/// Length of a record in words of 64 bits.
pub(crate) const RECORD_WORDS: usize = 8;

const REQUEUED: u8 = 1;
const UNMATCHED: u8 = 2;
const UNTIMED: u8 = 3;
const FAILED: u8 = 0x80;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordStatus {
    /// The request is completed.
    Finished,
    /// The driver gave it back.
    Requeued,
    /// It is completed, and its issue was not seen.
    Unmatched,
    /// It is completed, and when was not seen.
    Untimed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestRecord {
    pub(crate) issued_ns: u64,
    /// Time of completion, or a later one if it was not seen; in a slot the address of the request, or zero if the slot is free.
    pub(crate) key: u64,
    /// Time at which it came into the queue; of an unmatched one, its creation. Zero if it is unknown.
    pub(crate) queued_at_ns: u64,
    pub(crate) sector: u64,
    pub(crate) length: u32,
    pub(crate) flags: u32,
    /// Number of the issue.
    pub(crate) number: u32,
    thread: u32,
    comm: [u8; COMM_BYTES],
}

impl RequestRecord {
    /// Reads a record.
    #[inline]
    pub(crate) fn new(words: [u64; RECORD_WORDS]) -> Self {
        let halves = |word: u64| {
            let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
            (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
        };
        let [issued_ns, key, queued_at_ns, sector, sizes, numbers, ..] = words;
        let ((length, flags), (number, thread)) = (halves(sizes), halves(numbers));
        let mut comm = [0; COMM_BYTES];
        comm[..8].copy_from_slice(&words[6].to_ne_bytes());
        comm[8..].copy_from_slice(&words[7].to_ne_bytes());
        Self { issued_ns, key, queued_at_ns, sector, length, flags, number, thread, comm }
    }

    /// Reads a record out of its bytes; `None` if there are too few.
    #[inline]
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 8 * RECORD_WORDS] = bytes.first_chunk()?;
        let mut words = [0; RECORD_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        Some(Self::new(words))
    }

    fn status_bits(&self) -> u8 {
        self.comm[COMM_BYTES - 1]
    }

    /// Returns what the record says.
    #[inline]
    pub(crate) fn status(&self) -> RecordStatus {
        match self.status_bits() & !FAILED {
            REQUEUED => RecordStatus::Requeued,
            UNMATCHED => RecordStatus::Unmatched,
            UNTIMED => RecordStatus::Untimed,
            _ => RecordStatus::Finished,
        }
    }

    /// Reports whether the device reported an error.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.status_bits() & FAILED != 0
    }

    #[inline]
    pub(crate) fn operation(&self) -> TraceOperation {
        operation(self.flags, self.length)
    }

    /// Returns the request, without a time of completion.
    #[inline]
    pub(crate) fn request(&self, names: &mut ProcessNames) -> TraceRequest {
        let mut comm = self.comm;
        comm[COMM_BYTES - 1] = 0;
        let has = |bit: u32| self.flags >> bit & 1 == 1;
        let operation = self.operation();
        // Commands of the driver and flushes have no position.
        let has_place = operation != TraceOperation::Flush && operation != TraceOperation::Other;
        TraceRequest {
            issued_ns: self.issued_ns,
            queued_ns: (self.queued_at_ns != 0).then(|| self.issued_ns.saturating_sub(self.queued_at_ns)),
            service_ns: None,
            offset: if has_place { self.sector.saturating_mul(SECTOR_BYTES) } else { 0 },
            length: if has_place { self.length } else { 0 },
            operation,
            is_sync: has(SYNC_BIT),
            is_meta: has(META_BIT),
            is_fua: has(FUA_BIT),
            is_preflush: has(PREFLUSH_BIT) && operation != TraceOperation::Flush,
            is_readahead: has(READAHEAD_BIT),
            has_failed: self.has_failed(),
            process: names.index(self.thread, comm),
            waiting: None,
            device: 0,
        }
    }

    #[inline]
    pub(crate) fn completed(&self, names: &mut ProcessNames) -> TraceRequest {
        TraceRequest { service_ns: Some(self.key.saturating_sub(self.issued_ns)), ..self.request(names) }
    }
}

// `enum req_op` and `enum req_flag_bits` of include/linux/blk_types.h.
const OPERATION_BITS: u32 = 8;
const SYNC_BIT: u32 = 11;
const META_BIT: u32 = 12;
const FUA_BIT: u32 = 17;
const PREFLUSH_BIT: u32 = 18;
const READAHEAD_BIT: u32 = 19;

#[inline]
fn operation(flags: u32, length: u32) -> TraceOperation {
    match flags & ((1 << OPERATION_BITS) - 1) {
        0 => TraceOperation::Read,
        // Writing, and appending to a zone.
        1 | 7 => TraceOperation::Write,
        2 => TraceOperation::Flush,
        // Discarding, also for good.
        3 | 5 => TraceOperation::Discard,
        9 if length > 0 => TraceOperation::WriteZeroes,
        _ => TraceOperation::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(flags: u32, status: u8) -> [u64; RECORD_WORDS] {
        let pair = |low: u32, high: u32| {
            let ([a, b, c, d], [e, f, g, h]) = (low.to_ne_bytes(), high.to_ne_bytes());
            u64::from_ne_bytes([a, b, c, d, e, f, g, h])
        };
        let last = u64::from_ne_bytes([b's', 0, 0, 0, 0, 0, 0, status]);
        [1000, 5000, 700, 8, pair(4096, flags), pair(9, 4711), u64::from_ne_bytes(*b"postgres"), last]
    }

    #[test]
    fn a_record_becomes_a_request() {
        let mut names = ProcessNames::default();
        let record = RequestRecord::new(words(1 | 1 << SYNC_BIT | 1 << FUA_BIT, FAILED));
        let request = record.completed(&mut names);
        let expected = TraceRequest {
            issued_ns: 1000,
            queued_ns: Some(300),
            service_ns: Some(4000),
            offset: 4096,
            length: 4096,
            operation: TraceOperation::Write,
            is_sync: true,
            is_fua: true,
            has_failed: true,
            ..TraceRequest::default()
        };
        assert_eq!((request, record.number, record.status()), (expected, 9, RecordStatus::Finished));
        assert_eq!(names.names(), ["postgress/4711"]);
        let bytes: Vec<u8> = words(0, UNMATCHED).iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(RequestRecord::of_bytes(&bytes).unwrap().status(), RecordStatus::Unmatched);
        assert_eq!(RequestRecord::of_bytes(&bytes[1..]), None);
        assert_eq!(RequestRecord::new(words(0, UNTIMED)).status(), RecordStatus::Untimed);
    }

    #[test]
    fn flushes_and_commands_have_no_position() {
        let mut names = ProcessNames::default();
        for (flags, operation) in [(2 | 1 << PREFLUSH_BIT, TraceOperation::Flush), (34, TraceOperation::Other)] {
            let request = RequestRecord::new(words(flags, 0)).completed(&mut names);
            assert_eq!((request.operation, request.offset, request.length), (operation, 0, 0));
            assert!(!request.is_preflush);
        }
    }
}
