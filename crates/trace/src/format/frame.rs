//! Frames of blocks: a fixed header with checksums before the content.

use crc32c::crc32c;

/// Bytes at the start of each block, also the first ones of a file. The first is no text, the others show damage by
/// conversions of line ends.
pub const TRACE_MARK: [u8; 8] = *b"\x89FTrace\n";

/// Version of the format. Later versions may change the content of blocks, but not their headers.
pub const TRACE_VERSION: u16 = 1;

/// Length of the header of a block, in bytes.
pub const TRACE_HEADER_BYTES: usize = 56;

/// Maximum length of the content of a block, in bytes.
pub(super) const CONTENT_BYTES_MAX: u32 = 4 << 20;

/// Maximum number of requests of a block.
pub(super) const REQUESTS_MAX: u32 = 1 << 15;

/// What a block contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceBlockKind {
    /// Facts on the trace: all of them in the first block, new ones in later blocks.
    Facts,
    Requests,
    /// Nothing: the trace was completed.
    End,
    /// Something that a later version of the format added.
    Unknown,
}

/// Header of a block. From the headers alone an index can be built: a block ends [`Self::bytes`] after it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceBlockHeader {
    /// Version of the format.
    pub version: u16,
    /// What it contains.
    pub kind: TraceBlockKind,
    pub requests: u32,
    /// Number of requests in all blocks before it.
    pub requests_before: u64,
    /// Resolution of times, in nanoseconds; at least 1.
    pub tick_ns: u32,
    /// Instant of the first request, in ticks.
    pub first_tick: u64,
    /// Instant of the last request, in ticks.
    pub last_tick: u64,
    /// Length of the content, in bytes.
    pub(super) content: u32,
    /// Checksum of the content.
    pub(super) checksum: u32,
}

impl TraceBlockHeader {
    /// Reads the header of a block from its first [`TRACE_HEADER_BYTES`] bytes; `None` if there is no valid header.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; TRACE_HEADER_BYTES] = bytes.get(..TRACE_HEADER_BYTES)?.try_into().ok()?;
        let short = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(short(at)) | u64::from(short(at + 4)) << 32;
        if bytes[..8] != TRACE_MARK || short(52) != crc32c(&bytes[..52]) {
            return None;
        }
        let header = Self {
            version: u16::from_le_bytes([bytes[8], bytes[9]]),
            kind: match bytes[10] {
                1 => TraceBlockKind::Facts,
                2 => TraceBlockKind::Requests,
                3 => TraceBlockKind::End,
                _ => TraceBlockKind::Unknown,
            },
            content: short(12),
            requests: short(16),
            tick_ns: short(20),
            first_tick: long(24),
            last_tick: long(32),
            requests_before: long(40),
            checksum: short(48),
        };
        let is_bounded = header.content <= CONTENT_BYTES_MAX && header.requests <= REQUESTS_MAX;
        (is_bounded && header.tick_ns > 0).then_some(header)
    }

    /// Returns the length of the block with its header, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        TRACE_HEADER_BYTES as u64 + u64::from(self.content)
    }

    /// Returns the instant of the first request in nanoseconds.
    #[must_use]
    pub fn first_ns(&self) -> u64 {
        self.first_tick.saturating_mul(u64::from(self.tick_ns))
    }

    /// Returns the instant of the last request in nanoseconds.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        self.last_tick.saturating_mul(u64::from(self.tick_ns))
    }

    /// Fills the header in front of the content that was appended to `bytes` from `start` + [`TRACE_HEADER_BYTES`] on.
    pub(super) fn complete(mut self, bytes: &mut [u8], start: usize) {
        let (header, content) = bytes[start..].split_at_mut(TRACE_HEADER_BYTES);
        self.content = content.len() as u32;
        self.checksum = crc32c(content);
        debug_assert!(self.content <= CONTENT_BYTES_MAX && self.requests <= REQUESTS_MAX);
        let kind = match self.kind {
            TraceBlockKind::Facts => 1,
            TraceBlockKind::Requests => 2,
            TraceBlockKind::End => 3,
            TraceBlockKind::Unknown => 0,
        };
        header[..8].copy_from_slice(&TRACE_MARK);
        header[8..10].copy_from_slice(&self.version.to_le_bytes());
        header[10..12].copy_from_slice(&[kind, 0]);
        header[12..16].copy_from_slice(&self.content.to_le_bytes());
        header[16..20].copy_from_slice(&self.requests.to_le_bytes());
        header[20..24].copy_from_slice(&self.tick_ns.to_le_bytes());
        header[24..32].copy_from_slice(&self.first_tick.to_le_bytes());
        header[32..40].copy_from_slice(&self.last_tick.to_le_bytes());
        header[40..48].copy_from_slice(&self.requests_before.to_le_bytes());
        header[48..52].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = crc32c(&header[..52]);
        header[52..].copy_from_slice(&checksum.to_le_bytes());
    }
}
