//! Blocks that say what they are, so that reading them back shows whether they are still that.
//!
//! A write is cut into blocks of `verify_interval` bytes. Each begins with a header that holds its offset and the
//! run's seed and nonce, and carries bytes that follow from (seed, nonce, offset, pass) alone. So a block found elsewhere, a
//! block of an earlier run and a block with one wrong byte are told apart without remembering what was written, and
//! the first wrong byte can be named.
//!
//! The nonce differs between runs that are otherwise identical: without it, a run whose writes are all lost would accept
//! what an identical run left there before. A job that only reads learns it from the first block and demands it of all
//! others. Blocks without a header (`verify=pattern`) have no place for it.

mod checksum;
mod header;

use std::fmt;

use job::{VerifyMethod, VerifyPattern};
use units::random::mix;

use crate::decision::Decision;
use crate::payload::{fill_random, repeat};
use checksum::Checksum;
pub use header::HEADER_BYTES;
use header::{BadField, Header};

/// How many expected and found bytes a [`Mismatch`] quotes at most.
const QUOTED: usize = 16;

/// With more wrong bytes than this, a header is not damaged but absent.
const DAMAGED_MOST: usize = 8;

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No header begins here.
    Header,
    /// A header begins here, and some of its bytes are wrong.
    HeaderDamaged,
    /// The header was made by another verification method.
    Method,
    /// The header is that of a block of another length.
    Length,
    /// The header is that of a block from another place.
    Offset,
    /// The header is that of a block written with another seed.
    Seed,
    /// The header is that of another run: this run's write is lost.
    Nonce,
    /// The header is that of an earlier or later pass: this pass's write is lost.
    Pass,
    /// The bytes behind the header.
    Payload,
    /// The checksum in the header, while the bytes behind it are good.
    Checksum,
    /// The pattern.
    Pattern,
}

impl Wrong {
    /// Whether it is the header that does not hold, so that nothing is known of the bytes behind it.
    #[must_use]
    pub const fn is_in_header(self) -> bool {
        !matches!(self, Self::Payload | Self::Checksum | Self::Pattern)
    }
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which file.
    pub file: u32,
    /// Where the block begins, in bytes from the start of the file.
    pub block: u64,
    /// How many bytes the block has.
    pub length: u32,
    /// The first wrong byte, in bytes from the start of the file.
    pub offset: u64,
    /// What is wrong.
    pub wrong: Wrong,
    /// What should stand from `offset` on; at most 16 bytes, none where that cannot be known.
    pub expected: Vec<u8>,
    /// What stands there; at most 16 bytes.
    pub found: Vec<u8>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.wrong {
            Wrong::Header => "no verification header",
            Wrong::HeaderDamaged => "damaged verification header",
            Wrong::Method => "header of another verification method",
            Wrong::Length => "header of a block of another length",
            Wrong::Offset => "block of another place",
            Wrong::Seed => "block of another seed",
            Wrong::Nonce => "stale block of another run",
            Wrong::Pass => "block of another pass",
            Wrong::Payload => "wrong data",
            Wrong::Checksum => "wrong checksum",
            Wrong::Pattern => "wrong pattern",
        };
        write!(f, "{what} at offset {} (block at {}): expected ", self.offset, self.block)?;
        hex(f, &self.expected)?;
        write!(f, ", found ")?;
        hex(f, &self.found)
    }
}

impl std::error::Error for Mismatch {}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    if bytes.is_empty() {
        return write!(f, "something else");
    }
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Makes and checks verified blocks.
#[derive(Clone, Debug)]
pub(crate) struct Verifier {
    method: VerifyMethod,
    pattern: VerifyPattern,
    interval: u32,
    seed: u64,
    /// The nonce of blocks: of those that are written, and of those that are read once it is known.
    nonce: Option<u32>,
    /// The seed and the passes that blocks must have; `None` where another job wrote them.
    own: Option<PassRange>,
}

/// Passes in which a block may have been written last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassRange {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Verifier {
    /// `nonce` is that of the run; `None` has it learned from the first block that is checked.
    pub(crate) fn new(
        method: VerifyMethod,
        pattern: &VerifyPattern,
        interval: u32,
        seed: u64,
        nonce: Option<u32>,
    ) -> Self {
        Self { method, pattern: pattern.clone(), interval: interval.max(1), seed, nonce, own: None }
    }

    /// The nonce in the headers of blocks; `None` where blocks have no headers, and before it is learned.
    pub(crate) fn nonce(&self) -> Option<u32> {
        self.nonce.filter(|_| self.method != VerifyMethod::Pattern && self.method != VerifyMethod::Null)
    }

    /// The number that all random payload of a block follows from.
    fn key(&self, seed: u64, nonce: u32) -> u64 {
        let has_header = self.method != VerifyMethod::Pattern;
        if nonce == 0 || !has_header { seed } else { mix(seed, u64::from(nonce)) }
    }

    /// Demands that blocks are of this run and of these passes.
    pub(crate) fn demand(&mut self, passes: PassRange) {
        self.own = Some(passes);
    }

    /// Fills a write's buffer.
    pub(crate) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        for (at, length) in blocks(buffer.len(), self.interval as usize) {
            self.fill_block(op.offset + at as u64, op.pass, &mut buffer[at..at + length]);
        }
    }

    fn fill_block(&self, offset: u64, pass: u32, block: &mut [u8]) {
        let nonce = self.nonce.unwrap_or(0);
        let key = self.key(self.seed, nonce);
        if self.method == VerifyMethod::Pattern || block.len() < HEADER_BYTES {
            self.fill_payload(key, offset, pass, block);
            return;
        }
        let length = block.len() as u32;
        let (head, payload) = block.split_at_mut(HEADER_BYTES);
        self.fill_payload(key, offset, pass, payload);
        let header = Header { method: header::number(self.method), length, pass, offset, seed: self.seed, nonce };
        header.write(&Checksum::of(self.method, payload), head);
    }

    fn fill_payload(&self, key: u64, offset: u64, pass: u32, payload: &mut [u8]) {
        if self.pattern.bytes.is_empty() {
            fill_random(mix(mix(key, offset), u64::from(pass)), payload);
            return;
        }
        let mut pattern = self.pattern.bytes.clone();
        for &place in &self.pattern.offsets {
            let end = (place + 8).min(pattern.len());
            if place < end {
                pattern[place..end].copy_from_slice(&offset.to_le_bytes()[..end - place]);
            }
        }
        repeat(&pattern, payload);
    }

    /// Checks what was read.
    pub(crate) fn check(&mut self, op: &Decision, data: &[u8]) -> Result<(), Mismatch> {
        if self.method == VerifyMethod::Null {
            return Ok(());
        }
        for (at, length) in blocks(data.len(), self.interval as usize) {
            let (offset, block) = (op.offset + at as u64, &data[at..at + length]);
            let checked = if self.method == VerifyMethod::Pattern {
                self.check_pattern(offset, op.pass, block)
            } else {
                self.check_block(offset, op.pass, block)
            };
            checked.map_err(|flaw| flaw.into_mismatch(op.file, offset, block))?;
        }
        Ok(())
    }

    fn check_pattern(&self, offset: u64, pass: u32, block: &[u8]) -> Result<(), Flaw> {
        let mut good = vec![0; block.len()];
        self.fill_payload(self.seed, offset, pass, &mut good);
        differs(Wrong::Pattern, 0, &good, block)
    }

    fn check_block(&mut self, offset: u64, pass: u32, block: &[u8]) -> Result<(), Flaw> {
        if block.len() < HEADER_BYTES {
            return Ok(());
        }
        let header = Header::read(block).map_err(|bad| self.header_flaw(offset, pass, block, bad))?;
        self.check_header(&header, offset, block)?;
        let payload = &block[HEADER_BYTES..];
        let sum = Checksum::of(self.method, payload);
        if Header::sum_in(block, &sum) == sum.as_bytes() {
            return Ok(());
        }
        let mut good = vec![0; payload.len()];
        self.fill_payload(self.key(header.seed, header.nonce), header.offset, header.pass, &mut good);
        differs(Wrong::Payload, HEADER_BYTES, &good, payload)?;
        Err(Flaw::new(Wrong::Checksum, header::SUM_AT, sum.as_bytes()))
    }

    /// What is wrong with a header that does not hold: which byte, if nearly all are what this job writes here.
    fn header_flaw(&self, offset: u64, pass: u32, block: &[u8], bad: BadField) -> Flaw {
        let mut good = vec![0; block.len()];
        self.fill_block(offset, pass, &mut good);
        let (good, found) = (&good[..HEADER_BYTES], &block[..HEADER_BYTES]);
        let wrong = good.iter().zip(found).filter(|(a, b)| a != b).count();
        match differs(Wrong::HeaderDamaged, 0, good, found) {
            Err(flaw) if wrong <= DAMAGED_MOST => flaw,
            _ => Flaw::new(Wrong::Header, bad.at, &bad.expected),
        }
    }

    fn check_header(&mut self, header: &Header, offset: u64, block: &[u8]) -> Result<(), Flaw> {
        let method = header::number(self.method);
        let length = block.len() as u32;
        if header.offset != offset {
            return Err(Flaw::new(Wrong::Offset, header::OFFSET_AT, &offset.to_le_bytes()));
        }
        if header.method != method {
            return Err(Flaw::new(Wrong::Method, header::METHOD_AT, &[method]));
        }
        if header.length != length {
            return Err(Flaw::new(Wrong::Length, header::LENGTH_AT, &length.to_le_bytes()));
        }
        let nonce = *self.nonce.get_or_insert(header.nonce);
        if header.nonce != nonce {
            return Err(Flaw::new(Wrong::Nonce, header::NONCE_AT, &nonce.to_le_bytes()));
        }
        let Some(passes) = self.own else { return Ok(()) };
        if header.seed != self.seed {
            return Err(Flaw::new(Wrong::Seed, header::SEED_AT, &self.seed.to_le_bytes()));
        }
        if header.pass < passes.first || header.pass > passes.last {
            return Err(Flaw::new(Wrong::Pass, header::PASS_AT, &passes.last.to_le_bytes()));
        }
        Ok(())
    }
}

/// What is wrong within a block, and where.
struct Flaw {
    wrong: Wrong,
    at: usize,
    expected: Vec<u8>,
}

impl Flaw {
    fn new(wrong: Wrong, at: usize, expected: &[u8]) -> Self {
        Self { wrong, at, expected: expected[..expected.len().min(QUOTED)].to_vec() }
    }

    fn into_mismatch(self, file: u32, block: u64, bytes: &[u8]) -> Mismatch {
        let quoted = self.expected.len().max(4);
        let found = bytes[self.at..(self.at + quoted).min(bytes.len())].to_vec();
        let offset = block + self.at as u64;
        let length = bytes.len() as u32;
        Mismatch { file, block, length, offset, wrong: self.wrong, expected: self.expected, found }
    }
}

fn differs(wrong: Wrong, start: usize, good: &[u8], found: &[u8]) -> Result<(), Flaw> {
    match good.iter().zip(found).position(|(a, b)| a != b) {
        Some(at) => Err(Flaw::new(wrong, start + at, &good[at..])),
        None => Ok(()),
    }
}

/// Cuts `length` bytes into blocks of `interval`: start and length of each. What is left at the end belongs to
/// the last block, since it may be too small for a header.
fn blocks(length: usize, interval: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = (length / interval).max(1);
    (0..count).map(move |index| {
        let start = index * interval;
        (start, if index + 1 == count { length - start } else { interval })
    })
}
