//! A client that keeps writing, and remembers what it was promised.

use std::io::{self, Read, Write};

use units::random::Random;

use super::client::{Client, FLUSH, WRITE, request};

pub(crate) const BLOCK: usize = 4096;
const SECTOR: usize = 512;
/// Requests in flight, each in a part of its own: two writes to one block have no order before the first is answered.
const SLOTS: u64 = 16;
const BLOCKS_PER_SLOT: u64 = 64;
const FUA: u16 = 1;

/// What was written where, under which number, and what came of it. Every word of a block holds the number of its write.
pub(crate) struct Ledger {
    /// By number.
    writes: Vec<Sent>,
    /// Numbers in the order of their replies.
    answered: Vec<usize>,
    /// By block, the last number that a reply was seen for.
    done: Vec<usize>,
    /// By block, the last number that a flush was answered for.
    kept: Vec<usize>,
}

struct Sent {
    first: usize,
    blocks: usize,
    answered: bool,
}

/// What a block has to hold at least.
#[derive(Clone, Copy)]
pub(crate) enum Promise {
    /// What was answered: the server lives.
    Answered,
    /// What was flushed as well: it was killed.
    Flushed,
}

impl Ledger {
    pub(crate) const BYTES: usize = (SLOTS * BLOCKS_PER_SLOT) as usize * BLOCK;

    pub(crate) fn new() -> Self {
        let zeroes = vec![0; Self::BYTES / BLOCK];
        // Number 0 stands for unwritten blocks.
        let nothing = Sent { first: 0, blocks: 0, answered: true };
        Self { writes: vec![nothing], answered: Vec::new(), done: zeroes.clone(), kept: zeroes }
    }

    /// How many writes were sent.
    pub(crate) fn writes(&self) -> usize {
        self.writes.len() - 1
    }

    /// How many blocks hold what was flushed.
    pub(crate) fn blocks_kept(&self) -> usize {
        self.kept.iter().filter(|number| **number > 0).count()
    }

    fn send(&mut self, first: usize, blocks: usize) -> usize {
        self.writes.push(Sent { first, blocks, answered: false });
        self.writes.len() - 1
    }

    fn answer(&mut self, number: usize, kept: bool) {
        let write = &mut self.writes[number];
        write.answered = true;
        let range = write.first..write.first + write.blocks;
        self.done[range.clone()].fill(number);
        if kept {
            self.kept[range].fill(number);
        }
        self.answered.push(number);
    }

    /// All that was answered before a flush was sent is kept.
    fn flush(&mut self, answered: usize) {
        for number in &self.answered[..answered] {
            let Sent { first, blocks, .. } = self.writes[*number];
            self.kept[first..first + blocks].iter_mut().for_each(|kept| *kept = (*kept).max(*number));
        }
    }

    /// Compares what there is with what was promised.
    ///
    /// # Errors
    /// The first sector that holds something else.
    pub(crate) fn check(&self, bytes: &[u8], promise: Promise) -> Result<(), String> {
        let floors = match promise {
            Promise::Answered => &self.done,
            Promise::Flushed => &self.kept,
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
        if numbers.len() > 1 && numbers.iter().all(|number| self.writes[*number].answered) {
            return Err(format!("is torn between writes that were all answered: {numbers:?}"));
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
    Flush { answered: usize },
}

/// Keeps requests in flight until `enough`, and leaves them there.
///
/// # Errors
/// When the server is gone.
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
            Pending::Write { number, fua } => ledger.answer(number, fua),
            Pending::Flush { answered } => ledger.flush(answered),
        }
        pending[slot as usize] = send(client, ledger, random, slot)?;
    }
    Ok(())
}

/// A flush now and then, else a write of some blocks of the slot's part.
fn send(client: &mut Client, ledger: &mut Ledger, random: &mut Random, slot: u64) -> io::Result<Pending> {
    if random.below(12) == 0 {
        client.stream.write_all(&request(FLUSH, 0, slot, 0, 0, &[]))?;
        return Ok(Pending::Flush { answered: ledger.answered.len() });
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
fn a_ledger_notices_what_is_lost_stray_or_torn() {
    let mut ledger = Ledger::new();
    let numbers: Vec<usize> = (0..3).map(|_| ledger.send(1, 1)).collect();
    ledger.answer(numbers[0], false);
    ledger.flush(1);
    ledger.answer(numbers[1], false);
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
    assert_eq!(check(1, [2, 2], Promise::Answered), "");
    assert_eq!(check(1, [2, 3], Promise::Answered), "", "the third is in flight");
    assert_eq!(check(1, [0, 1], Promise::Flushed), "sector 8 holds 0 and was promised 1");
    assert_eq!(check(1, [1, 2], Promise::Flushed), "sector 8 is torn between writes that were all answered: [2, 1]");
    assert_eq!(check(1, [2, 1], Promise::Answered), "sector 8 holds 1 and was promised 2");
    assert_eq!(check(2, [3, 3], Promise::Flushed), "sector 8 holds 0 and was promised 1");
    assert_eq!(check(0, [3, 3], Promise::Flushed), "sector 0 holds 3, which was never sent there");
}
