//! Self-identifying blocks, for verification.
//!
//! A write consists of blocks of `verify_interval` bytes. Each begins with a header that holds its offset, the run's
//! seed and nonce, its worker and its file; its payload depends on these and the pass alone. So a block at the wrong
//! offset, of an earlier run, of another file or worker, and one with a wrong byte are distinguished without a record
//! of the writes, and the first wrong byte can be located.
//!
//! Where writes of a job may overlap, headers hold the number of the write instead of the pass, and a block must be
//! that of the last write to it. Such writes are issued one after another, so that the last one is known.
//!
//! A block that another worker may have overwritten is not checked: this worker's write may have been lost before.
//!
//! The nonce differs between otherwise identical runs: without it, a run whose writes are all lost would accept the
//! blocks of an identical earlier run. A job that only reads takes it from the first block and requires it in all
//! others. Blocks without a header (`verify=pattern`) have no nonce.

mod checksum;
mod fio_block;
mod fio_checksum;
mod fio_header;
mod fio_random;
mod header;
mod latest;
mod mismatch;
mod state;

use std::sync::Arc;

use job::{FIO_HEADER_BYTES, VerifyFormat, VerifyMethod, VerifyOptions};
use units::random::mix;

use crate::decision::Decision;
use crate::files::JobLayout;
use crate::filling::{fill_pattern, fill_random};
use crate::writers::Writers;
use checksum::Checksum;
pub use header::HEADER_BYTES;
use header::{BadField, PLAIN_HEADER_BYTES, VerifyHeader, WriteIdentity};
pub(crate) use latest::LatestWrites;
use mismatch::QUOTED_BYTES_MAX;
pub use mismatch::{Checked, Mismatch, WrongData};
pub use state::{SyncedWrites, VerifyState, WriteOrigin};

/// Maximum number of wrong bytes in a damaged header; with more it counts as missing.
const DAMAGED_BYTES_MAX: usize = 8;

/// Fills and checks verified blocks.
#[derive(Clone, Debug)]
pub(crate) struct Verifier {
    method: VerifyMethod,
    options: VerifyOptions,
    interval: u32,
    /// Offset of the header within a block.
    offset: usize,
    /// Memory for blocks whose header is moved to their start.
    moved: Vec<u8>,
    seed: u64,
    /// Nonce of blocks that are written, and of blocks that are read once it is known.
    nonce: Option<u32>,
    /// Index of this worker among all of the run.
    worker: u32,
    files: Arc<VerifiedFiles>,
    /// Identity in the blocks of each file that another job wrote, once known.
    learned: Vec<Option<u32>>,
    /// Whether headers hold the number of the write instead of the pass.
    pub(crate) numbered: bool,
    /// What blocks of this run must hold; `None` if another job wrote them.
    expected: Option<ExpectedWrites>,
}

/// The files that a job verifies, shared by all copies of a verifier.
#[derive(Debug)]
struct VerifiedFiles {
    /// Identity of each file.
    identities: Vec<u32>,
    /// Whether other workers write to the same region of each file.
    shared: Vec<bool>,
    writers: Option<Arc<Writers>>,
}

/// Expected writes in the blocks of this run.
#[derive(Clone, Debug)]
struct ExpectedWrites {
    passes: PassRange,
    /// Last write to each block, where writes may overlap.
    latest: Option<LatestWrites>,
    /// Whether a block must be of the last write, even if headers hold the pass.
    is_exact: bool,
}

/// Passes in which a block may have been written last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassRange {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Verifier {
    /// Creates a verifier. If `nonce` is `None`, it is taken from the first block checked.
    pub(crate) fn new(
        method: VerifyMethod,
        options: &VerifyOptions,
        interval: u32,
        seed: u64,
        nonce: Option<u32>,
        worker: u32,
        layout: &JobLayout,
    ) -> Self {
        let identity = |file| layout.identities.get(file).copied().unwrap_or(file as u32);
        let identities: Vec<u32> = (0..layout.files.len()).map(identity).collect();
        let writers = layout.writers.clone();
        let is_shared = |(&file, &region)| writers.as_ref().is_some_and(|all| all.shares(worker, file, region));
        let shared = identities.iter().zip(&layout.files).map(is_shared).collect();
        Self {
            method,
            options: options.clone(),
            interval: interval.max(1),
            offset: if method.has_header() { options.offset as usize } else { 0 },
            moved: Vec::new(),
            seed,
            nonce,
            worker,
            learned: vec![None; identities.len()],
            files: Arc::new(VerifiedFiles { identities, shared, writers }),
            numbered: false,
            expected: None,
        }
    }

    /// Returns the nonce in headers; `None` if blocks have no headers or it is not yet known.
    pub(crate) fn nonce(&self) -> Option<u32> {
        self.nonce.filter(|_| self.method.has_header() && self.options.format == VerifyFormat::Fathom)
    }

    /// Reports whether headers of Fathom hold worker and file.
    fn is_marked(&self) -> bool {
        self.method != VerifyMethod::Pattern && self.nonce.is_some_and(|nonce| nonce != 0)
    }

    /// Reports whether blocks show which write they are of. Without a nonce, Fathom's depend on the job alone.
    pub(crate) fn shows_writes(&self) -> bool {
        self.is_marked() || (self.options.format == VerifyFormat::Fio && self.method.has_header())
    }

    /// Returns the size of headers, including the checksum.
    fn header_bytes(&self) -> usize {
        match self.options.format {
            VerifyFormat::Fio => (FIO_HEADER_BYTES + self.method.fio_checksum_bytes()) as usize,
            VerifyFormat::Fathom if self.is_marked() => HEADER_BYTES,
            VerifyFormat::Fathom => PLAIN_HEADER_BYTES,
        }
    }

    fn identity(&self, file: u32) -> u32 {
        self.files.identities.get(file as usize).copied().unwrap_or(file)
    }

    /// Reports whether other workers write to the same region of this file.
    pub(crate) fn is_shared(&self, file: u32) -> bool {
        self.expected.is_some() && self.files.shared.get(file as usize).copied().unwrap_or(false)
    }

    /// Reports whether other workers write to a region of this one.
    pub(crate) fn shares_regions(&self) -> bool {
        self.files.shared.contains(&true)
    }

    /// Checks the data of a block that was trimmed.
    pub(crate) fn check_trimmed(&self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        if self.method == VerifyMethod::Null {
            return Ok(Checked::Good);
        }
        let zeroes = vec![0; data.len()];
        let checked = differs(WrongData::Trimmed, 0, &zeroes, data);
        checked.map(|()| Checked::Good).map_err(|flaw| flaw.into_mismatch(op.file, op.offset, data))
    }

    /// Returns the seed of a block's random payload.
    fn key(&self, seed: u64, nonce: u32, identity: Option<WriteIdentity>) -> u64 {
        let has_header = self.method != VerifyMethod::Pattern;
        let key = if nonce == 0 || !has_header { seed } else { mix(seed, u64::from(nonce)) };
        identity.map_or(key, |WriteIdentity { worker, file }| mix(key, u64::from(worker) << 32 | u64::from(file)))
    }

    /// Requires that blocks are of this run and of these passes, or of the last writes.
    pub(crate) fn expect(&mut self, passes: PassRange, latest: Option<LatestWrites>) {
        self.expected = Some(ExpectedWrites { passes, latest, is_exact: false });
    }

    /// Requires that blocks are of these writes of an earlier run.
    pub(crate) fn expect_exactly(&mut self, latest: LatestWrites) {
        let passes = PassRange { first: 0, last: 0 };
        self.expected = Some(ExpectedWrites { passes, latest: Some(latest), is_exact: true });
    }

    /// Reports whether the last write to the block failed.
    fn has_failed(&self, file: u32, block: u64) -> bool {
        let latest = self.expected.as_ref().and_then(|expected| expected.latest.as_ref());
        latest.is_some_and(|latest| latest.has_failed(file, block))
    }

    /// Records a write that failed.
    pub(crate) fn fail(&self, latest: &mut LatestWrites, op: &Decision) {
        latest.fail(op, self.interval);
    }

    /// Records a write that may not have completed.
    pub(crate) fn doubt(&self, latest: &mut LatestWrites, op: &Decision) {
        latest.doubt(op, self.interval);
    }

    /// Reports whether blocks must be of the last write to them.
    fn is_exact(&self) -> bool {
        self.numbered || self.expected.as_ref().is_some_and(|expected| expected.is_exact)
    }

    /// Reports whether it is unknown which write the block must be of.
    fn is_doubtful(&self, file: u32, block: u64) -> bool {
        let latest = self.expected.as_ref().and_then(|expected| expected.latest.as_ref());
        latest.is_some_and(|latest| latest.is_doubtful(file, block))
    }

    /// Returns the nonce that blocks are written with; 0 for none.
    pub(crate) fn nonce_or_none(&self) -> u32 {
        self.nonce.unwrap_or(0)
    }

    /// Sets the nonce of the run that wrote the blocks.
    pub(crate) fn set_nonce(&mut self, nonce: u32) {
        self.nonce = Some(nonce);
    }

    /// Records a write that may overlap others. Returns whether it covers a block that no earlier one covered.
    pub(crate) fn record(&self, latest: &mut LatestWrites, op: &Decision) -> bool {
        latest.record(op, self.interval)
    }

    /// Reports whether a write must be read back because it covers a block that has not been read.
    pub(crate) fn is_to_be_read(&mut self, op: &Decision) -> bool {
        let latest = self.expected.as_mut().and_then(|expected| expected.latest.as_mut());
        latest.is_none_or(|latest| latest.read(op, self.interval))
    }

    /// Returns the pass or write number that the header of a block must hold.
    fn pass_of(&self, op: &Decision, block: u64) -> u32 {
        let latest = self.expected.as_ref().filter(|_| self.is_exact()).and_then(|expected| expected.latest.as_ref());
        latest.and_then(|latest| latest.number(op.file, block)).unwrap_or(op.pass)
    }

    /// Fills the buffer of a write.
    pub(crate) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        if self.options.format == VerifyFormat::Fio {
            return self.fill_as_fio(op, buffer);
        }
        for (at, length) in blocks(buffer.len(), self.interval as usize) {
            let offset = op.offset + at as u64;
            let block = &mut buffer[at..at + length];
            self.fill_block(op.file, offset, self.pass_of(op, offset), block);
            swap_header(block, self.header_bytes(), self.offset);
        }
    }

    fn fill_block(&self, file: u32, offset: u64, pass: u32, block: &mut [u8]) {
        let nonce = self.nonce.unwrap_or(0);
        let file = self.identity(file);
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
        if self.options.pattern.bytes.is_empty() {
            fill_random(mix(mix(key, offset), u64::from(pass)), payload);
            return;
        }
        fill_pattern(&self.options.pattern, offset, payload);
    }

    /// Checks the data of a read.
    pub(crate) fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        let mut all = Checked::Good;
        if self.method == VerifyMethod::Null {
            return Ok(all);
        }
        // fio applies a pattern without headers to a whole write.
        let whole = self.method == VerifyMethod::Pattern && self.options.format == VerifyFormat::Fio;
        let interval = if whole { data.len().max(1) } else { self.interval as usize };
        for (at, length) in blocks(data.len(), interval) {
            let (offset, block) = (op.offset + at as u64, &data[at..at + length]);
            if !whole && self.has_failed(op.file, offset) {
                continue;
            }
            let checked = match self.method {
                VerifyMethod::Pattern => self.check_pattern(op, offset, block),
                _ if self.offset == 0 => self.check_block(op, offset, block),
                _ => self.check_moved(op, offset, block),
            };
            all = all.max(checked.map_err(|flaw| flaw.into_mismatch(op.file, offset, block))?);
        }
        Ok(all)
    }

    /// Checks a block whose header is not at its start.
    fn check_moved(&mut self, op: &Decision, offset: u64, block: &[u8]) -> Result<Checked, Flaw> {
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend_from_slice(block);
        let (head, header_at) = (self.header_bytes(), self.offset);
        swap_header(&mut moved, head, header_at);
        let checked = self.check_block(op, offset, &moved);
        self.moved = moved;
        checked.map_err(|flaw| Flaw { at: swapped(flaw.at, head, header_at), ..flaw })
    }

    fn check_pattern(&self, op: &Decision, offset: u64, block: &[u8]) -> Result<Checked, Flaw> {
        let mut good = vec![0; block.len()];
        self.fill_payload(self.seed, offset, op.pass, &mut good);
        for (at, length) in blocks(block.len(), self.interval as usize) {
            if self.has_failed(op.file, offset + at as u64) {
                good[at..at + length].copy_from_slice(&block[at..at + length]);
            }
        }
        differs(WrongData::Pattern, 0, &good, block).map(|()| Checked::Good)
    }

    /// Checks a block whose header is at its start.
    fn check_block(&mut self, op: &Decision, offset: u64, block: &[u8]) -> Result<Checked, Flaw> {
        if self.options.format == VerifyFormat::Fio {
            return self.check_fio_block(op, offset, block);
        }
        if block.len() < PLAIN_HEADER_BYTES {
            return Ok(Checked::HeaderOnly);
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
        Ok(checked.max(self.check_payload(&header, block, is_others)?))
    }

    fn check_payload(&self, header: &VerifyHeader, block: &[u8], is_others: bool) -> Result<Checked, Flaw> {
        if self.method == VerifyMethod::Meta {
            return Ok(Checked::HeaderOnly);
        }
        let payload = &block[header.bytes()..];
        let sum = Checksum::of(self.method, payload);
        let is_sound = VerifyHeader::sum_in(block, &sum) == sum.as_bytes();
        let compares_pattern = self.method == VerifyMethod::PatternHdr;
        // Seven bits miss some changes of one byte.
        let is_partial = self.method == VerifyMethod::Crc7;
        if is_sound && !compares_pattern && !is_partial {
            return Ok(Checked::Good);
        }
        let mut good = vec![0; payload.len()];
        let key = self.key(header.seed, header.nonce, header.identity);
        self.fill_payload(key, header.offset, header.pass, &mut good);
        let is_own = self.expected.is_some() && !is_others;
        let wrong_bytes = good.iter().zip(payload).filter(|(good, found)| good != found).count();
        if is_sound && is_partial && !is_own && wrong_bytes > payload.len() / 2 {
            // Of a job with another pattern.
            return Ok(Checked::Good);
        }
        let wrong = if compares_pattern { WrongData::Pattern } else { WrongData::Payload };
        differs(wrong, header.bytes(), &good, payload)?;
        if is_sound {
            return Ok(Checked::Good);
        }
        Err(Flaw::new(WrongData::Checksum, header::SUM_AT, sum.as_bytes()))
    }

    /// Locates the wrong byte of an invalid header if nearly all bytes are those that this job writes here.
    fn header_flaw(&self, op: &Decision, offset: u64, block: &[u8], bad: BadField) -> Flaw {
        let mut good = vec![0; block.len()];
        self.fill_block(op.file, offset, self.pass_of(op, offset), &mut good);
        let bytes = if self.is_marked() { HEADER_BYTES.min(block.len()) } else { PLAIN_HEADER_BYTES };
        let (good, found) = (&good[..bytes], &block[..bytes]);
        let wrong = good.iter().zip(found).filter(|(a, b)| a != b).count();
        match differs(WrongData::HeaderDamaged, 0, good, found) {
            Err(flaw) if wrong <= DAMAGED_BYTES_MAX => flaw,
            _ => Flaw::new(WrongData::Header, bad.at, &bad.expected),
        }
    }

    /// Reports whether another worker of the run that writes to the same region wrote this block.
    fn is_of_another_writer(&self, header: &VerifyHeader, file: u32) -> bool {
        let (Some(identity), Some(_)) = (header.identity, &self.expected) else { return false };
        let writers = self.files.writers.as_ref();
        identity.worker != self.worker
            && Some(header.nonce) == self.nonce
            && self.files.identities.get(file as usize) == Some(&identity.file)
            && writers.is_some_and(|all| all.covers(identity.worker, identity.file, header.offset))
    }

    fn check_header(&mut self, header: &VerifyHeader, op: &Decision, offset: u64) -> Result<Checked, Flaw> {
        let nonce = *self.nonce.get_or_insert(header.nonce);
        if header.nonce != nonce {
            return Err(Flaw::new(WrongData::Nonce, header::NONCE_AT, &nonce.to_le_bytes()));
        }
        let Some(expected) = &self.expected else {
            return self.learn_file(header, op.file).map(|()| Checked::Good);
        };
        if header.seed != self.seed && !self.options.any_seed {
            return Err(Flaw::new(WrongData::Seed, header::SEED_AT, &self.seed.to_le_bytes()));
        }
        if header.identity.is_some() != self.is_marked() {
            // An earlier release wrote it with this nonce.
            return Err(Flaw::new(WrongData::Nonce, header::VERSION_AT, &[]));
        }
        if header.identity.is_none() && self.is_shared(op.file) {
            return Ok(Checked::Overwritten);
        }
        let file = self.identity(op.file);
        if header.identity.is_some_and(|identity| identity.file != file) {
            return Err(Flaw::new(WrongData::File, header::FILE_AT, &file.to_le_bytes()));
        }
        if header.identity.is_some_and(|identity| identity.worker != self.worker) {
            return Err(Flaw::new(WrongData::Worker, header::WORKER_AT, &self.worker.to_le_bytes()));
        }
        if self.options.any_sequence || self.is_doubtful(op.file, offset) {
            return Ok(Checked::Good);
        }
        let number = self.pass_of(op, offset);
        if self.is_exact() && header.pass != number {
            let wrong = if self.numbered { WrongData::Write } else { WrongData::Pass };
            return Err(Flaw::new(wrong, header::PASS_AT, &number.to_le_bytes()));
        }
        if !self.is_exact() && (header.pass < expected.passes.first || header.pass > expected.passes.last) {
            return Err(Flaw::new(WrongData::Pass, header::PASS_AT, &expected.passes.last.to_le_bytes()));
        }
        Ok(Checked::Good)
    }

    /// Checks the file identity in blocks of another job: it must be the same in all blocks of a file and not that of
    /// another file of this job. A file may have been renamed since.
    fn learn_file(&mut self, header: &VerifyHeader, file: u32) -> Result<(), Flaw> {
        let (Some(found), Some(learned)) = (header.identity, self.learned.get_mut(file as usize)) else {
            return Ok(());
        };
        let identities = &self.files.identities;
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

/// A flaw in a block and its offset.
struct Flaw {
    wrong: WrongData,
    at: usize,
    expected: Vec<u8>,
}

impl Flaw {
    fn new(wrong: WrongData, at: usize, expected: &[u8]) -> Self {
        Self { wrong, at, expected: expected[..expected.len().min(QUOTED_BYTES_MAX)].to_vec() }
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

/// Splits `length` bytes into blocks of `interval`, returning start and length of each. The last block includes the
/// rest, which may be too small for a header.
fn blocks(length: usize, interval: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = (length / interval).max(1);
    (0..count).map(move |index| {
        let start = index * interval;
        (start, if index + 1 == count { length - start } else { interval })
    })
}

/// Exchanges the header at the start of a block with the bytes at `offset`, as fio does for `verify_offset`.
fn swap_header(block: &mut [u8], header: usize, offset: usize) {
    if offset == 0 || block.len() < offset + header {
        return;
    }
    for at in 0..header {
        block.swap(at, offset + at);
    }
}

/// Returns where [`swap_header`] moves the byte at `at`.
const fn swapped(at: usize, header: usize, offset: usize) -> usize {
    match at {
        _ if at < header => at + offset,
        _ if at >= offset && at < offset + header => at - offset,
        _ => at,
    }
}
