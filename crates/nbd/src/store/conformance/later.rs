//! A store whose operations end later and in any order.

use units::random::Random;

use crate::store::{Abilities, Ended, Extent, Operation, Pieces, Progress, Store};
use crate::wire::Errno;

/// Holds operations back, and starts what is below at any time before they end.
pub(crate) struct Later {
    below: Box<dyn Store>,
    held: Vec<(u32, Held)>,
    random: Random,
}

enum Held {
    Read { offset: u64, length: u32 },
    Write { offset: u64, data: Vec<u8>, durable: bool },
    Done(Result<(), Errno>),
}

impl Later {
    pub(crate) fn new(below: Box<dyn Store>, seed: u64) -> Self {
        Self { below, held: Vec::new(), random: Random::new(seed, 0x6c61_7465) }
    }

    fn carry_out(&mut self, slot: u32, held: &Held) -> Result<(), Errno> {
        let operation = match *held {
            Held::Read { offset, length } => Operation::Read { offset, length },
            Held::Write { offset, ref data, durable } => Operation::Write { offset, data, durable },
            Held::Done(result) => return result,
        };
        match self.below.start(slot, operation) {
            Progress::Ended(result) => result,
            Progress::Pending => panic!("what is below ends at once"),
        }
    }
}

impl Store for Later {
    fn size(&self) -> u64 {
        self.below.size()
    }

    fn abilities(&self) -> Abilities {
        self.below.abilities()
    }

    fn start(&mut self, slot: u32, operation: Operation<'_>) -> Progress {
        assert!(self.held.iter().all(|(held, _)| *held != slot), "slot {slot} is used twice");
        let held = match operation {
            Operation::Read { offset, length } => Held::Read { offset, length },
            Operation::Write { offset, data, durable } => Held::Write { offset, data: data.to_vec(), durable },
            other => match self.below.start(slot, other) {
                Progress::Ended(result) => Held::Done(result),
                Progress::Pending => panic!("what is below ends at once"),
            },
        };
        self.held.push((slot, held));
        Progress::Pending
    }

    fn collect(&mut self, ended: &mut Vec<Ended>) {
        let most = self.random.below(4);
        for _ in 0..most.min(self.held.len() as u64) {
            let at = self.random.below(self.held.len() as u64) as usize;
            let (slot, held) = self.held.swap_remove(at);
            let result = self.carry_out(slot, &held);
            ended.push(Ended { slot, result });
        }
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        self.below.lend(slot, offset, length, from, pieces);
    }

    fn release(&mut self, slot: u32) {
        self.below.release(slot);
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        self.below.extents(offset, length, most)
    }
}
