//! A store that completes operations asynchronously and in any order.

use units::random::Random;

use crate::store::{Operation, Pieces, Store, StoreCapabilities, StoreEnd, StoreProgress};
use nbd_wire::{Errno, Extent};

/// Delays operations, which start in the lower store at any time before they end.
pub(crate) struct Later {
    lower: Box<dyn Store>,
    held: Vec<(u32, Held)>,
    random: Random,
}

enum Held {
    Delayed(Operation<Vec<u8>>),
    Done(Result<(), Errno>),
}

impl Later {
    pub(crate) fn new(lower: Box<dyn Store>, seed: u64) -> Self {
        Self { lower, held: Vec::new(), random: Random::new(seed, 0x6c61_7465) }
    }

    fn carry_out(&mut self, slot: u32, operation: Operation<&[u8]>) -> Result<(), Errno> {
        match self.lower.start(slot, operation) {
            StoreProgress::Ended(result) => result,
            StoreProgress::Pending => panic!("the lower store must complete at once"),
        }
    }
}

impl Store for Later {
    fn size(&self) -> u64 {
        self.lower.size()
    }

    fn abilities(&self) -> StoreCapabilities {
        self.lower.abilities()
    }

    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        assert!(self.held.iter().all(|(held, _)| *held != slot), "slot {slot} is used twice");
        let held = match operation {
            Operation::Read { .. } | Operation::Write { .. } => Held::Delayed(operation.map(|data| data.to_vec())),
            other => Held::Done(self.carry_out(slot, other)),
        };
        self.held.push((slot, held));
        StoreProgress::Pending
    }

    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let most = self.random.below(4);
        for _ in 0..most.min(self.held.len() as u64) {
            let at = self.random.below(self.held.len() as u64) as usize;
            let (slot, held) = self.held.swap_remove(at);
            let result = match held {
                Held::Delayed(operation) => self.carry_out(slot, operation.map(Vec::as_slice)),
                Held::Done(result) => result,
            };
            ended.push(StoreEnd { slot, result });
        }
    }

    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        self.lower.lend(slot, offset, length, from, pieces);
    }

    fn release(&mut self, slot: u32) {
        self.lower.release(slot);
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        self.lower.extents(offset, length, most)
    }
}
