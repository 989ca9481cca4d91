//! Blocks that identify themselves, for verification.
//!
//! A write is cut into blocks of `verify_interval` bytes. Each begins with a header that holds its offset and the
//! run's seed and nonce, its worker and its file, and carries bytes that follow from these and the pass alone. So a block
//! found elsewhere, a block of an earlier run, of another file or of another worker and a block with one wrong byte are
//! told apart without remembering what was written, and the first wrong byte can be named.
//!
//! Where writes of a job may overlap, the number of the write stands in place of the pass, and a block has to be that of the
//! last write to it. Such writes are issued one after the other, so that the last one is known.
//!
//! A block that another worker may have written over is not checked: whether this worker's write was lost before cannot
//! be known.
//!
//! The nonce differs between runs that are otherwise identical: without it, a run whose writes are all lost would accept
//! what an identical run left there before. A job that only reads learns it from the first block and demands it of all
//! others. Blocks without a header (`verify=pattern`) have no place for it.

mod checksum;
mod header;
mod latest;

use std::fmt;
use std::sync::Arc;

use job::{VerifyMethod, VerifyPattern};
use units::random::mix;

use crate::decision::Decision;
use crate::files::JobLayout;
use crate::payload::{fill_random, repeat};
use crate::writers::Writers;
use checksum::Checksum;
pub use header::HEADER_BYTES;
use header::{BadField, PLAIN_HEADER_BYTES, VerifyHeader, WriteIdentity};
pub(crate) use latest::Latest;

/// Maximum number of bytes quoted by a [`Mismatch`].
const QUOTED: usize = 16;

/// With more wrong bytes than this, a header is not damaged but absent.
const DAMAGED_MOST: usize = 8;

/// Kinds of wrong data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongData {
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
    /// The header is that of another file.
    File,
    /// The header is that of a worker that does not write here.
    Worker,
    /// The header is that of an earlier or later pass: this pass's write is lost.
    Pass,
    /// The header is that of another write than the last one: that one is lost.
    Write,
    /// The bytes behind the header.
    Payload,
    /// The checksum in the header, while the bytes behind it are good.
    Checksum,
    /// The pattern.
    Pattern,
}

impl WrongData {
    /// Whether it is the header that does not hold, so that nothing is known of the bytes behind it.
    #[must_use]
    pub const fn is_in_header(self) -> bool {
        !matches!(self, Self::Payload | Self::Checksum | Self::Pattern)
    }
}

/// Result of checking a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// All of it is what was written last.
    Good,
    /// At least a block of it is not known to be this worker's: others write here as well. Otherwise it is sound.
    Overwritten,
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
    pub wrong: WrongData,
    /// What should stand from `offset` on; at most 16 bytes, none where that cannot be known.
    pub expected: Vec<u8>,
    /// What stands there; at most 16 bytes.
    pub found: Vec<u8>,
}

impl Mismatch {
    /// Whether it may be what a read finds that meets a write: a part of one block and a part of another. Where no header
    /// begins at all, it is not.
    #[must_use]
    pub const fn may_be_torn(&self) -> bool {
        match self.wrong {
            WrongData::HeaderDamaged | WrongData::Payload | WrongData::Checksum => true,
            WrongData::Header => self.offset != self.block,
            _ => false,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.wrong {
            WrongData::Header => "no verification header",
            WrongData::HeaderDamaged => "damaged verification header",
            WrongData::Method => "header of another verification method",
            WrongData::Length => "header of a block of another length",
            WrongData::Offset => "block of another place",
            WrongData::Seed => "block of another seed",
            WrongData::Nonce => "stale block of another run",
            WrongData::File => "block of another file",
            WrongData::Worker => "block of another worker",
            WrongData::Pass => "block of another pass",
            WrongData::Write => "block of an earlier write",
            WrongData::Payload => "wrong data",
            WrongData::Checksum => "wrong checksum",
            WrongData::Pattern => "wrong pattern",
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
    /// The worker that writes, among all of the run.
    worker: u32,
    places: Arc<Places>,
    /// The identity in the blocks of each file that another job wrote, once it is known.
    learned: Vec<Option<u32>>,
    /// Headers hold the number of the write, not the pass.
    numbered: bool,
    /// What blocks must be; `None` where another job wrote them.
    own: Option<Own>,
}

/// The files that a job verifies, the same for all copies of a verifier.
#[derive(Debug)]
struct Places {
    /// The identity of each file.
    identities: Vec<u32>,
    /// Whether other workers write to the same part of it.
    shared: Vec<bool>,
    writers: Option<Arc<Writers>>,
}

/// Expected identity of the run's blocks.
#[derive(Clone, Debug)]
struct Own {
    passes: PassRange,
    /// The last writes, where writes may overlap.
    latest: Option<Latest>,
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
        worker: u32,
        layout: &JobLayout,
    ) -> Self {
        let identities: Vec<u32> = (0..layout.files.len()).map(|file| layout.identity(file)).collect();
        let writers = layout.writers.clone();
        let is_shared = |(&file, &region)| writers.as_ref().is_some_and(|all| all.shares(worker, file, region));
        let shared = identities.iter().zip(&layout.files).map(is_shared).collect();
        Self {
            method,
            pattern: pattern.clone(),
            interval: interval.max(1),
            seed,
            nonce,
            worker,
            learned: vec![None; identities.len()],
            places: Arc::new(Places { identities, shared, writers }),
            numbered: false,
            own: None,
        }
    }

    /// The nonce in the headers of blocks; `None` where blocks have no headers, and before it is learned.
    pub(crate) fn nonce(&self) -> Option<u32> {
        self.nonce.filter(|_| self.method != VerifyMethod::Pattern && self.method != VerifyMethod::Null)
    }

    /// Whether headers say which worker wrote which file.
    pub(crate) fn is_marked(&self) -> bool {
        self.method != VerifyMethod::Pattern && self.nonce.is_some_and(|nonce| nonce != 0)
    }

    /// With the number of the write in headers in place of the pass.
    pub(crate) fn numbered(self) -> Self {
        Self { numbered: true, ..self }
    }

    /// Whether other workers write to the same part of this file.
    pub(crate) fn is_shared(&self, file: u32) -> bool {
        self.own.is_some() && self.places.shared.get(file as usize).copied().unwrap_or(false)
    }

    /// The number that all random payload of a block follows from.
    fn key(&self, seed: u64, nonce: u32, identity: Option<WriteIdentity>) -> u64 {
        let has_header = self.method != VerifyMethod::Pattern;
        let key = if nonce == 0 || !has_header { seed } else { mix(seed, u64::from(nonce)) };
        identity.map_or(key, |WriteIdentity { worker, file }| mix(key, u64::from(worker) << 32 | u64::from(file)))
    }

    /// Demands that blocks are of this run and of these passes, or of the last writes.
    pub(crate) fn demand(&mut self, passes: PassRange, latest: Option<Latest>) {
        self.own = Some(Own { passes, latest });
    }

    /// Takes note of a write that may overlap others. Returns whether it has a block that none before it had.
    pub(crate) fn note(&self, latest: &mut Latest, op: &Decision) -> bool {
        latest.note(op, self.interval)
    }

    /// Whether a write has to be read back: it has a block that was not read yet.
    pub(crate) fn is_to_be_read(&mut self, op: &Decision) -> bool {
        let latest = self.own.as_mut().and_then(|own| own.latest.as_mut());
        latest.is_none_or(|latest| latest.read(op, self.interval))
    }

    /// The pass or the number of the write that the header of a block has to hold.
    fn pass_of(&self, op: &Decision, block: u64) -> u32 {
        let latest = self.own.as_ref().filter(|_| self.numbered).and_then(|own| own.latest.as_ref());
        latest.and_then(|latest| latest.number(op.file, block)).unwrap_or(op.pass)
    }

    /// Fills a write's buffer.
    pub(crate) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        for (at, length) in blocks(buffer.len(), self.interval as usize) {
            let offset = op.offset + at as u64;
            self.fill_block(op.file, offset, self.pass_of(op, offset), &mut buffer[at..at + length]);
        }
    }

    fn fill_block(&self, file: u32, offset: u64, pass: u32, block: &mut [u8]) {
        let nonce = self.nonce.unwrap_or(0);
        let file = self.places.identities.get(file as usize).copied().unwrap_or(file);
        let identity = self.is_marked().then_some(WriteIdentity { worker: self.worker, file });
        let key = self.key(self.seed, nonce, identity);
        let (seed, length) = (self.seed, block.len() as u32);
        let header = VerifyHeader { method: header::number(self.method), length, pass, offset, seed, nonce, identity };
        if self.method == VerifyMethod::Pattern || block.len() < header.bytes() {
            self.fill_payload(key, offset, pass, block);
            return;
        }
        let (head, payload) = block.split_at_mut(header.bytes());
        self.fill_payload(key, offset, pass, payload);
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
    pub(crate) fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        let mut all = Checked::Good;
        if self.method == VerifyMethod::Null {
            return Ok(all);
        }
        for (at, length) in blocks(data.len(), self.interval as usize) {
            let (offset, block) = (op.offset + at as u64, &data[at..at + length]);
            let checked = if self.method == VerifyMethod::Pattern {
                self.check_pattern(offset, op.pass, block)
            } else {
                self.check_block(op, offset, block)
            };
            if checked.map_err(|flaw| flaw.into_mismatch(op.file, offset, block))? == Checked::Overwritten {
                all = Checked::Overwritten;
            }
        }
        Ok(all)
    }

    fn check_pattern(&self, offset: u64, pass: u32, block: &[u8]) -> Result<Checked, Flaw> {
        let mut good = vec![0; block.len()];
        self.fill_payload(self.seed, offset, pass, &mut good);
        differs(WrongData::Pattern, 0, &good, block).map(|()| Checked::Good)
    }

    fn check_block(&mut self, op: &Decision, offset: u64, block: &[u8]) -> Result<Checked, Flaw> {
        if block.len() < PLAIN_HEADER_BYTES {
            return Ok(Checked::Good);
        }
        let header = VerifyHeader::read(block).map_err(|bad| self.header_flaw(op, offset, block, bad))?;
        if header.offset != offset {
            return Err(Flaw::new(WrongData::Offset, header::OFFSET_AT, &offset.to_le_bytes()));
        }
        let is_others = self.is_of_another_writer(&header, op.file);
        let (method, length) = (header::number(self.method), block.len() as u32);
        if is_others && (header.method != method || header.length != length) {
            return Ok(Checked::Overwritten);
        }
        if header.method != method {
            return Err(Flaw::new(WrongData::Method, header::METHOD_AT, &[method]));
        }
        if header.length != length {
            return Err(Flaw::new(WrongData::Length, header::LENGTH_AT, &length.to_le_bytes()));
        }
        let checked = if is_others { Checked::Overwritten } else { self.check_header(&header, op, offset)? };
        self.check_payload(&header, block)?;
        Ok(checked)
    }

    fn check_payload(&self, header: &VerifyHeader, block: &[u8]) -> Result<(), Flaw> {
        let payload = &block[header.bytes()..];
        let sum = Checksum::of(self.method, payload);
        if VerifyHeader::sum_in(block, &sum) == sum.as_bytes() {
            return Ok(());
        }
        let mut good = vec![0; payload.len()];
        let key = self.key(header.seed, header.nonce, header.identity);
        self.fill_payload(key, header.offset, header.pass, &mut good);
        differs(WrongData::Payload, header.bytes(), &good, payload)?;
        Err(Flaw::new(WrongData::Checksum, header::SUM_AT, sum.as_bytes()))
    }

    /// What is wrong with a header that does not hold: which byte, if nearly all are what this job writes here.
    fn header_flaw(&self, op: &Decision, offset: u64, block: &[u8], bad: BadField) -> Flaw {
        let mut good = vec![0; block.len()];
        self.fill_block(op.file, offset, self.pass_of(op, offset), &mut good);
        let bytes = if self.is_marked() { HEADER_BYTES.min(block.len()) } else { PLAIN_HEADER_BYTES };
        let (good, found) = (&good[..bytes], &block[..bytes]);
        let wrong = good.iter().zip(found).filter(|(a, b)| a != b).count();
        match differs(WrongData::HeaderDamaged, 0, good, found) {
            Err(flaw) if wrong <= DAMAGED_MOST => flaw,
            _ => Flaw::new(WrongData::Header, bad.at, &bad.expected),
        }
    }

    /// Whether another worker of the run that writes here as well has written this block.
    fn is_of_another_writer(&self, header: &VerifyHeader, file: u32) -> bool {
        let (Some(identity), Some(_)) = (header.identity, &self.own) else { return false };
        let writers = self.places.writers.as_ref();
        identity.worker != self.worker
            && Some(header.nonce) == self.nonce
            && self.places.identities.get(file as usize) == Some(&identity.file)
            && writers.is_some_and(|all| all.covers(identity.worker, identity.file, header.offset))
    }

    fn check_header(&mut self, header: &VerifyHeader, op: &Decision, offset: u64) -> Result<Checked, Flaw> {
        let nonce = *self.nonce.get_or_insert(header.nonce);
        if header.nonce != nonce {
            return Err(Flaw::new(WrongData::Nonce, header::NONCE_AT, &nonce.to_le_bytes()));
        }
        let Some(own) = &self.own else {
            return self.learn_file(header, op.file).map(|()| Checked::Good);
        };
        if header.seed != self.seed {
            return Err(Flaw::new(WrongData::Seed, header::SEED_AT, &self.seed.to_le_bytes()));
        }
        if header.identity.is_some() != self.is_marked() {
            // An earlier release wrote it, with this nonce.
            return Err(Flaw::new(WrongData::Nonce, header::VERSION_AT, &[]));
        }
        if header.identity.is_none() && self.is_shared(op.file) {
            return Ok(Checked::Overwritten);
        }
        let file = self.places.identities.get(op.file as usize).copied().unwrap_or(op.file);
        if header.identity.is_some_and(|identity| identity.file != file) {
            return Err(Flaw::new(WrongData::File, header::FILE_AT, &file.to_le_bytes()));
        }
        if header.identity.is_some_and(|identity| identity.worker != self.worker) {
            return Err(Flaw::new(WrongData::Worker, header::WORKER_AT, &self.worker.to_le_bytes()));
        }
        let number = self.pass_of(op, offset);
        if self.numbered && header.pass != number {
            return Err(Flaw::new(WrongData::Write, header::PASS_AT, &number.to_le_bytes()));
        }
        if !self.numbered && (header.pass < own.passes.first || header.pass > own.passes.last) {
            return Err(Flaw::new(WrongData::Pass, header::PASS_AT, &own.passes.last.to_le_bytes()));
        }
        Ok(Checked::Good)
    }

    /// Demands of blocks that another job wrote that those of a file agree and are of no other file of this job. A file may
    /// have been renamed since.
    fn learn_file(&mut self, header: &VerifyHeader, file: u32) -> Result<(), Flaw> {
        let (Some(found), Some(learned)) = (header.identity, self.learned.get_mut(file as usize)) else {
            return Ok(());
        };
        let identities = &self.places.identities;
        let here = identities[file as usize];
        let expected = learned.unwrap_or(here);
        let is_elsewhere = found.file != here && identities.contains(&found.file);
        if found.file == expected || (learned.is_none() && !is_elsewhere) {
            *learned = Some(found.file);
            return Ok(());
        }
        Err(Flaw::new(WrongData::File, header::FILE_AT, &expected.to_le_bytes()))
    }
}

/// A flaw within a block, with its place.
struct Flaw {
    wrong: WrongData,
    at: usize,
    expected: Vec<u8>,
}

impl Flaw {
    fn new(wrong: WrongData, at: usize, expected: &[u8]) -> Self {
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

fn differs(wrong: WrongData, start: usize, good: &[u8], found: &[u8]) -> Result<(), Flaw> {
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
