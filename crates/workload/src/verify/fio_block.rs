//! Fills and checks blocks in the layout of fio 3.33, so that each program checks the data of the other: always under
//! `fathom fio`, and under `fathom run` with `verify_format=fio`. The layout has no room for nonce and file, so seeds
//! depend on them.

use job::VerifyMethod;
use units::random::mix;

use super::fio_checksum::{Coverage, FioChecksum};
use super::fio_header::{self, FIO_HEADER, FioHeader, fio_number};
use super::header::BadField;
use super::{Checked, DAMAGED_BYTES_MAX, Flaw, Verifier, WrongData, differs, fio_random, swap_header};
use crate::decision::Decision;
use crate::filling::{fill_pattern, fill_random};

impl Verifier {
    /// Fills the buffer of a write. A pattern covers the whole write, with the offset of the write, as in fio.
    pub(super) fn fill_as_fio(&self, op: &Decision, buffer: &mut [u8]) {
        if !self.options.pattern.bytes.is_empty() {
            fill_pattern(&self.options.pattern, op.offset, buffer);
        }
        for (at, length) in super::blocks(buffer.len(), self.interval as usize) {
            let block = &mut buffer[at..at + length];
            self.fill_fio_block(op, op.offset + at as u64, block);
            swap_header(block, self.header_bytes(), self.offset);
        }
    }

    /// Fills a block that contains its part of the pattern, if there is one. The header is at its start.
    fn fill_fio_block(&self, op: &Decision, offset: u64, block: &mut [u8]) {
        let seed = self.fio_seed(self.worker, self.identity(op.file), self.pass_of(op, offset));
        let header = FioHeader {
            method: fio_number(self.method),
            length: block.len() as u32,
            seed,
            offset,
            thread: self.fio_thread(),
            number: op.sequence as u16,
        };
        let head = self.header_bytes();
        if !self.method.has_header() || block.len() < head {
            self.fill_fio_random(seed, offset, block);
            return;
        }
        self.fill_fio_random(seed, offset, &mut block[head..]);
        let sum = FioChecksum::of(self.method, &block[head..]);
        header.write(block);
        block[FIO_HEADER..head].copy_from_slice(sum.as_bytes());
    }

    fn fill_fio_random(&self, seed: u64, offset: u64, payload: &mut [u8]) {
        if self.options.pattern.bytes.is_empty() {
            fill_random(mix(seed, offset), payload);
        }
    }

    /// Returns the number of this job in headers.
    const fn fio_thread(&self) -> u16 {
        self.worker.wrapping_add(1) as u16
    }

    /// Returns the seed in blocks of a worker, a file, and a pass or write.
    fn fio_seed(&self, worker: u32, file: u32, pass: u32) -> u64 {
        let run = mix(self.seed, u64::from(self.nonce.unwrap_or(0)));
        mix(mix(run, u64::from(worker) << 32 | u64::from(file)), u64::from(pass))
    }

    /// Checks a block at `offset` whose header is at its start.
    pub(super) fn check_fio_block(&self, op: &Decision, offset: u64, block: &[u8]) -> Result<Checked, Flaw> {
        let head = self.header_bytes();
        if block.len() < head {
            return Ok(Checked::HeaderOnly);
        }
        let header = FioHeader::read(block).map_err(|bad| self.fio_header_flaw(op, offset, block, bad))?;
        if header.offset != offset {
            return Err(Flaw::new(WrongData::Offset, fio_header::OFFSET_AT, &offset.to_le_bytes()));
        }
        let length = block.len() as u32;
        let is_others = self.is_of_another_thread(&header, op.file, offset);
        if header.length != length {
            return match is_others {
                true => Ok(Checked::Overwritten),
                false => Err(Flaw::new(WrongData::Length, fio_header::LENGTH_AT, &length.to_le_bytes())),
            };
        }
        if !is_others && self.expected.is_some() {
            self.check_fio_fields(&header, op, offset)?;
        }
        let checked = self.check_fio_payload(&header, op, block, is_others)?;
        Ok(if is_others { Checked::Overwritten } else { checked })
    }

    /// Checks what headers of this run must hold.
    fn check_fio_fields(&self, header: &FioHeader, op: &Decision, offset: u64) -> Result<(), Flaw> {
        let method = fio_number(self.method);
        if header.method != method {
            return Err(Flaw::new(WrongData::Method, fio_header::METHOD_AT, &method.to_le_bytes()));
        }
        let Some(expected) = self.expected.as_ref().filter(|_| !self.options.any_seed && !self.options.any_sequence)
        else {
            return Ok(());
        };
        if self.is_doubtful(op.file, offset) {
            return Ok(());
        }
        let (first, last) = match self.is_exact() {
            true => (self.pass_of(op, offset), self.pass_of(op, offset)),
            false => (expected.passes.first, expected.passes.last),
        };
        let file = self.identity(op.file);
        let has_seed = |file, mut passes: std::ops::RangeInclusive<u32>| {
            passes.any(|pass| header.seed == self.fio_seed(self.worker, file, pass))
        };
        if has_seed(file, first..=last) {
            return Ok(());
        }
        let seed = self.fio_seed(self.worker, file, last).to_le_bytes();
        let wrong = match () {
            () if header.thread != self.fio_thread() => {
                return Err(Flaw::new(WrongData::Worker, fio_header::THREAD_AT, &self.fio_thread().to_le_bytes()));
            }
            () if self.numbered => WrongData::Write,
            () if has_seed(file, first.saturating_sub(EARLIER_PASSES)..=first) => WrongData::Pass,
            () if self.files.identities.iter().any(|&other| has_seed(other, first..=last)) => WrongData::File,
            () => WrongData::Seed,
        };
        Err(Flaw::new(wrong, fio_header::SEED_AT, &seed))
    }

    /// Reports whether a block may be of another worker of the run that writes to the same region.
    fn is_of_another_thread(&self, header: &FioHeader, file: u32, offset: u64) -> bool {
        let Some(writers) = self.files.writers.as_ref().filter(|_| self.expected.is_some()) else { return false };
        let worker = u32::from(header.thread.wrapping_sub(1));
        header.thread != self.fio_thread() && writers.covers(worker, self.identity(file), offset)
    }

    /// Checks a payload by its checksum, and compares it where the checksum does not cover it.
    fn check_fio_payload(
        &self,
        header: &FioHeader,
        op: &Decision,
        block: &[u8],
        is_others: bool,
    ) -> Result<Checked, Flaw> {
        if self.method == VerifyMethod::Meta {
            return Ok(Checked::HeaderOnly);
        }
        let head = self.header_bytes();
        let payload = &block[head..];
        let sum = FioChecksum::of(self.method, payload);
        let is_sound = &block[FIO_HEADER..head] == sum.as_bytes();
        let is_own = self.expected.is_some() && !is_others;
        let coverage = FioChecksum::coverage(self.method);
        if is_sound && coverage == Coverage::All {
            return Ok(Checked::Good);
        }
        let is_pattern = self.method == VerifyMethod::PatternHdr && !self.options.pattern.bytes.is_empty();
        let wrong = if is_pattern { WrongData::Pattern } else { WrongData::Payload };
        let (wrong_bytes, good) = self.nearest_payload(header, op, block, is_own);
        if is_pattern || (is_own && coverage != Coverage::All) || wrong_bytes <= payload.len() / 2 {
            differs(wrong, head, &good[head..], payload)?;
        } else if is_sound {
            // Of another job, with data that do not follow from the header.
            return Ok(if coverage == Coverage::None { Checked::HeaderOnly } else { Checked::Good });
        }
        differs(WrongData::Checksum, FIO_HEADER, sum.as_bytes(), &block[FIO_HEADER..head]).map(|()| Checked::Good)
    }

    /// Returns the block that this job, or if the block is not its own, another job or fio would have written with this
    /// header, and the number of bytes by which the payload differs from it.
    fn nearest_payload(&self, header: &FioHeader, op: &Decision, block: &[u8], is_own: bool) -> (usize, Vec<u8>) {
        let (start, head) = ((header.offset - op.offset) as usize, self.header_bytes());
        let of_write = |fill: &dyn Fn(&mut [u8])| {
            let mut whole = vec![0; op.length as usize];
            fill(&mut whole);
            whole[start..start + block.len()].to_vec()
        };
        let own = || match self.options.pattern.bytes.is_empty() {
            true => {
                let mut good = vec![0; block.len()];
                self.fill_fio_random(header.seed, header.offset, &mut good[head..]);
                good
            }
            false => of_write(&|whole| fill_pattern(&self.options.pattern, op.offset, whole)),
        };
        let differing = |good: Vec<u8>| {
            let wrong = good[head..].iter().zip(&block[head..]).filter(|(good, found)| good != found).count();
            (wrong, good)
        };
        let own = differing(own());
        if is_own || own.0 == 0 || !self.options.pattern.bytes.is_empty() {
            return own;
        }
        let of_fio = differing(of_write(&|whole| fio_random::fill(header.seed, whole)));
        if of_fio.0 < own.0 { of_fio } else { own }
    }

    /// Locates the wrong byte of an invalid header if nearly all bytes are those that this job writes here.
    fn fio_header_flaw(&self, op: &Decision, offset: u64, block: &[u8], bad: BadField) -> Flaw {
        let mut good = vec![0; block.len()];
        self.fill_fio_block(op, offset, &mut good);
        let (good, found) = (&good[..FIO_HEADER], &block[..FIO_HEADER]);
        let wrong = good.iter().zip(found).filter(|(good, found)| good != found).count();
        match differs(WrongData::HeaderDamaged, 0, good, found) {
            Err(flaw) if wrong <= DAMAGED_BYTES_MAX => flaw,
            _ => Flaw::new(WrongData::Header, bad.at, &bad.expected),
        }
    }
}

/// Number of passes before the expected one whose blocks are recognized as such.
const EARLIER_PASSES: u32 = 64;
