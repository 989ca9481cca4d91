//! A writing client that records acknowledged and flushed writes.

use std::io::{self, Read, Write};

use units::random::Random;

use super::client::{Client, FLUSH, WRITE, request};

pub(crate) const BLOCK: usize = 4096;
const SECTOR: usize = 512;
/// Requests in flight, each in its own region: two concurrent writes to one block have no order.
const SLOTS: u64 = 16;
const BLOCKS_PER_SLOT: u64 = 64;
const FUA: u16 = 1;

/// Writes with their numbers, places and states. Every word of a block holds the number of its write.
pub(crate) struct Ledger {
    /// Writes by number.
    writes: Vec<SentWrite>,
    /// Numbers in the order of their replies.
    acknowledged: Vec<usize>,
    /// The last acknowledged number of each block.
    done: Vec<usize>,
    /// The last flushed number of each block.
    flushed: Vec<usize>,
}

struct SentWrite {
    first: usize,
    blocks: usize,
    acknowledged: bool,
}

/// The minimum that a block must hold.
#[derive(Clone, Copy)]
pub(crate) enum Promise {
    /// Acknowledged writes, if the server still runs.
    Acknowledged,
    /// Flushed writes, if the server was killed.
    Flushed,
}

impl Ledger {
    pub(crate) const BYTES: usize = (SLOTS * BLOCKS_PER_SLOT) as usize * BLOCK;

    pub(crate) fn new() -> Self {
        let zeroes = vec![0; Self::BYTES / BLOCK];
        // Number 0 stands for unwritten blocks.
        let nothing = SentWrite { first: 0, blocks: 0, acknowledged: true };
        Self { writes: vec![nothing], acknowledged: Vec::new(), done: zeroes.clone(), flushed: zeroes }
    }

    /// Returns the number of writes sent.
    pub(crate) fn writes(&self) -> usize {
        self.writes.len() - 1
    }

    /// Returns the number of blocks with flushed writes.
    pub(crate) fn blocks_flushed(&self) -> usize {
        self.flushed.iter().filter(|number| **number > 0).count()
    }

    fn send(&mut self, first: usize, blocks: usize) -> usize {
        self.writes.push(SentWrite { first, blocks, acknowledged: false });
        self.writes.len() - 1
    }

    fn acknowledge(&mut self, number: usize, flushed: bool) {
        let write = &mut self.writes[number];
        write.acknowledged = true;
        let range = write.first..write.first + write.blocks;
        self.done[range.clone()].fill(number);
        if flushed {
            self.flushed[range].fill(number);
        }
        self.acknowledged.push(number);
    }

    /// Marks the writes as flushed that were acknowledged before the flush was sent.
    fn flush(&mut self, acknowledged: usize) {
        for number in &self.acknowledged[..acknowledged] {
            let SentWrite { first, blocks, .. } = self.writes[*number];
            self.flushed[first..first + blocks].iter_mut().for_each(|flushed| *flushed = (*flushed).max(*number));
        }
    }

    /// Compares content with a promise.
    ///
    /// # Errors
    /// The first sector that breaks the promise.
    pub(crate) fn check(&self, bytes: &[u8], promise: Promise) -> Result<(), String> {
        let floors = match promise {
            Promise::Acknowledged => &self.done,
            Promise::Flushed => &self.flushed,
        };
        for (at, sector) in bytes.chunks(SECTOR).enumerate() {
            let block = at * SECTOR / BLOCK;
            self.check_sector(sector, block, floors[block]).map_err(|wrong| format!("sector {at} {wrong}"))?;
        }
        Ok(())
    }

    fn check_sector(&self, sector: &[u8], block: usize, floor: usize) -> Result<(), String> {
        let mut numbers: Vec<usize> =
            sector.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()) as usize).collect();
        numbers.dedup();
        if let Some(stray) = numbers.iter().find(|number| !self.may_hold(block, **number)) {
            return Err(format!("holds {stray}, which was never sent there"));
        }
        if let Some(lost) = numbers.iter().find(|number| **number < floor) {
            return Err(format!("holds {lost} and was promised {floor}"));
        }
        if numbers.len() > 1 && numbers.iter().all(|number| self.writes[*number].acknowledged) {
            return Err(format!("is torn between acknowledged writes: {numbers:?}"));
        }
        Ok(())
    }

    fn may_hold(&self, block: usize, number: usize) -> bool {
        number == 0
            || self.writes.get(number).is_some_and(|write| (write.first..write.first + write.blocks).contains(&block))
    }
}

#[derive(Clone, Copy)]
enum Pending {
    Write { number: usize, fua: bool },
    Flush { acknowledged: usize },
}

/// Keeps requests in flight until `enough`, and leaves the last ones unanswered.
///
/// # Errors
/// If the server disconnects.
pub(crate) fn load(
    client: &mut Client,
    ledger: &mut Ledger,
    random: &mut Random,
    enough: impl Fn() -> bool,
) -> io::Result<()> {
    let mut pending = Vec::new();
    for slot in 0..SLOTS {
        pending.push(send(client, ledger, random, slot)?);
    }
    while !enough() {
        let mut reply = [0; 16];
        client.stream.read_exact(&mut reply)?;
        assert_eq!(reply[4..8], [0; 4], "an error was replied");
        let slot = u64::from_be_bytes(reply[8..].try_into().unwrap());
        match pending[slot as usize] {
            Pending::Write { number, fua } => ledger.acknowledge(number, fua),
            Pending::Flush { acknowledged } => ledger.flush(acknowledged),
        }
        pending[slot as usize] = send(client, ledger, random, slot)?;
    }
    Ok(())
}

/// Sends a flush sometimes, otherwise a write to blocks of the slot's region.
fn send(client: &mut Client, ledger: &mut Ledger, random: &mut Random, slot: u64) -> io::Result<Pending> {
    if random.below(12) == 0 {
        client.stream.write_all(&request(FLUSH, 0, slot, 0, 0, &[]))?;
        return Ok(Pending::Flush { acknowledged: ledger.acknowledged.len() });
    }
    let blocks = 1 + random.below(6);
    let first = slot * BLOCKS_PER_SLOT + random.below(BLOCKS_PER_SLOT - blocks);
    let fua = random.below(12) == 0;
    let number = ledger.send(first as usize, blocks as usize);
    let data = (number as u64).to_le_bytes().repeat(blocks as usize * BLOCK / 8);
    let flags = if fua { FUA } else { 0 };
    client.stream.write_all(&request(WRITE, flags, slot, first * BLOCK as u64, data.len() as u32, &data))?;
    Ok(Pending::Write { number, fua })
}

#[test]
fn a_ledger_finds_lost_stray_and_torn_writes() {
    let mut ledger = Ledger::new();
    let numbers: Vec<usize> = (0..3).map(|_| ledger.send(1, 1)).collect();
    ledger.acknowledge(numbers[0], false);
    ledger.flush(1);
    ledger.acknowledge(numbers[1], false);
    let disk = |block: usize, words: [u64; 2]| {
        let mut bytes = vec![0; 4 * BLOCK];
        for (half, word) in bytes[block * BLOCK..][..BLOCK].chunks_mut(BLOCK / 2).zip(words) {
            half.copy_from_slice(&word.to_le_bytes().repeat(BLOCK / 16));
        }
        bytes[block * BLOCK..][..8].copy_from_slice(&words[1].to_le_bytes());
        bytes
    };
    let check = |block, words, promise| ledger.check(&disk(block, words), promise).err().unwrap_or_default();
    assert_eq!(check(1, [1, 1], Promise::Flushed), "");
    assert_eq!(check(1, [2, 2], Promise::Acknowledged), "");
    assert_eq!(check(1, [2, 3], Promise::Acknowledged), "", "the third is in flight");
    assert_eq!(check(1, [0, 1], Promise::Flushed), "sector 8 holds 0 and was promised 1");
    assert_eq!(check(1, [1, 2], Promise::Flushed), "sector 8 is torn between acknowledged writes: [2, 1]");
    assert_eq!(check(1, [2, 1], Promise::Acknowledged), "sector 8 holds 1 and was promised 2");
    assert_eq!(check(2, [3, 3], Promise::Flushed), "sector 8 holds 0 and was promised 1");
    assert_eq!(check(0, [3, 3], Promise::Flushed), "sector 0 holds 3, which was never sent there");
}
