//! A store in sparse memory.

use super::blocks::BLOCK_BYTES;
use super::blocks::{parts, split};
use super::sparse::{Sparse, SparseBlock};
use super::{Extents, Operation, Pieces, Pool, Store, StoreCapabilities, StoreProgress};
use nbd_wire::{Errno, Extent};

/// A store in memory, which takes memory only for written blocks. Its content ends with the process.
pub struct MemoryStore {
    size: u64,
    blocks: Sparse,
}

impl MemoryStore {
    /// Creates a store of `size` zero bytes that takes at most `limit_bytes` of memory; then writes fail with
    /// [`Errno::NoSpace`].
    #[must_use]
    pub fn new(size: u64, limit_bytes: u64) -> Self {
        Self::within(size, Pool::new(limit_bytes))
    }

    /// Creates a store whose limit may be shared with other stores.
    #[must_use]
    pub fn within(size: u64, pool: Pool) -> Self {
        // Allocated zeroes take no memory but reserve it for later writes.
        Self { size, blocks: Sparse::new(size, pool, BLOCK_BYTES) }
    }

    /// Returns the bytes that count towards the limit.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        self.blocks.allocated_bytes()
    }

    fn zero(&mut self, offset: u64, length: u64, allocated: bool) -> Result<(), Errno> {
        let (edges, whole) = split(offset, length, self.size);
        for edge in edges.into_iter().flatten() {
            match self.blocks.get(edge.number) {
                SparseBlock::Data(_) => self.blocks.allocate(edge.number)?[edge.inside()].fill(0),
                SparseBlock::Absent if allocated => self.blocks.zero(edge.number..edge.number + 1)?,
                SparseBlock::Absent | SparseBlock::Zero => {}
            }
        }
        if allocated {
            return self.blocks.zero(whole);
        }
        self.blocks.clear(whole);
        Ok(())
    }
}

impl Store for MemoryStore {
    fn size(&self) -> u64 {
        self.size
    }

    fn abilities(&self) -> StoreCapabilities {
        StoreCapabilities { write: true, trim: true, fast_zero: true }
    }

    fn start(&mut self, _slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        StoreProgress::Ended(match operation {
            Operation::Read { .. } | Operation::Flush | Operation::Cache { .. } => Ok(()),
            Operation::Write { offset, data, .. } => self.blocks.write(offset, data),
            Operation::Zero { offset, length, allocated, .. } => self.zero(offset, length, allocated),
            Operation::Trim { offset, length, .. } => {
                self.blocks.clear(split(offset, length, self.size).1);
                Ok(())
            }
        })
    }

    fn lend<'a>(&'a self, _slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        for part in parts(offset + u64::from(from), u64::from(length - from)) {
            let lent = match self.blocks.get(part.number) {
                SparseBlock::Data(bytes) => pieces.push(&bytes[part.inside()]),
                SparseBlock::Absent | SparseBlock::Zero => pieces.push_zeroes(part.length) == part.length,
            };
            if !lent {
                return;
            }
        }
    }

    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
        let mut extents = Extents::new(length, most);
        let mut number = offset / BLOCK_BYTES;
        let mut before = offset % BLOCK_BYTES;
        while extents.left() > 0 {
            let (block, span) = self.blocks.get_run(number);
            let (hole, zero) = (block == SparseBlock::Absent, !matches!(block, SparseBlock::Data(_)));
            extents.push(Extent { length: span.saturating_mul(BLOCK_BYTES) - before, hole, zero });
            (number, before) = (number + span, 0);
        }
        Ok(extents.into_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{self, TestedStore};
    use super::*;

    #[test]
    fn conforms() {
        for size in [1, 4096, 200_000, 1 << 20] {
            let make = |_| Box::new(MemoryStore::new(size, u64::MAX)) as Box<dyn Store>;
            conformance::check(make, &TestedStore { content: vec![0; size as usize], ..TestedStore::default() });
        }
    }

    #[test]
    fn an_exabyte_opens_at_once_and_is_one_extent() {
        let size = 1 << 60;
        let mut memory = MemoryStore::new(size, 1 << 20);
        assert_eq!(memory.allocated_bytes(), 0);
        let all = |memory: &mut MemoryStore| memory.extents(0, size, 10).unwrap();
        assert_eq!(all(&mut memory), [Extent { length: size, hole: true, zero: true }]);
        assert_eq!(memory.start(0, write(size / 3, &[1; 10])), StoreProgress::Ended(Ok(())));
        let lengths: Vec<u64> = all(&mut memory).iter().map(|extent| extent.length).collect();
        let before = size / 3 / BLOCK_BYTES * BLOCK_BYTES;
        assert_eq!(lengths, [before, BLOCK_BYTES, size - before - BLOCK_BYTES]);
        let trim = Operation::Trim { offset: 0, length: size, durable: false };
        assert_eq!(memory.start(0, trim), StoreProgress::Ended(Ok(())));
        assert_eq!((memory.allocated_bytes(), all(&mut memory).len()), (0, 1));
    }

    #[test]
    fn writes_beyond_the_limit_fail_and_existing_blocks_stay_writable() {
        let mut memory = MemoryStore::new(1 << 30, 10 * BLOCK_BYTES);
        let full = (0u64..).find(|at| memory.start(0, write(at * BLOCK_BYTES, &[1])) != StoreProgress::Ended(Ok(())));
        assert_eq!(full, Some(9), "nine blocks and their tree are within the limit of ten");
        assert_eq!(memory.start(0, write(1 << 29, &[1])), StoreProgress::Ended(Err(Errno::NoSpace)));
        assert_eq!(memory.start(0, write(8 * BLOCK_BYTES, &[2; 4096])), StoreProgress::Ended(Ok(())));
        let trim = Operation::Trim { offset: 0, length: 2 * BLOCK_BYTES, durable: false };
        assert_eq!(memory.start(0, trim), StoreProgress::Ended(Ok(())));
        assert_eq!(memory.start(0, write(1 << 29, &[1])), StoreProgress::Ended(Ok(())));
    }

    /// On f52613e, each export of a server had the whole limit for itself.
    #[test]
    fn exports_share_one_limit() {
        let pool = Pool::new(10 * BLOCK_BYTES);
        let mut disks = [0, 1].map(|_| MemoryStore::within(1 << 30, pool.clone()));
        let written = (0..20)
            .filter(|at| disks[at % 2].start(0, write(*at as u64 * BLOCK_BYTES, &[1])) == StoreProgress::Ended(Ok(())));
        assert_eq!(written.count(), 9, "nine blocks and two trees are within the limit of ten");
        let trim = Operation::Trim { offset: 0, length: 1 << 30, durable: false };
        assert_eq!(disks[0].start(0, trim), StoreProgress::Ended(Ok(())));
        assert_eq!(disks[1].start(0, write(1 << 29, &[1])), StoreProgress::Ended(Ok(())));
    }

    #[test]
    fn allocated_zeroes_reserve_memory() {
        let mut memory = MemoryStore::new(1 << 30, 10 * BLOCK_BYTES);
        let zero = Operation::Zero { offset: 0, length: 6 * BLOCK_BYTES, durable: false, allocated: true, fast: true };
        assert_eq!(memory.start(0, zero), StoreProgress::Ended(Ok(())));
        assert_eq!(memory.extents(0, 4096, 1).unwrap(), [Extent { length: 4096, hole: false, zero: true }]);
        while memory.start(0, write(1 << 29, &[1; 5 << 16])) == StoreProgress::Ended(Ok(())) {}
        assert_eq!(memory.start(0, write(0, &[1; 6 << 16])), StoreProgress::Ended(Ok(())), "memory was reserved");
    }

    #[test]
    fn reads_are_lent_without_a_copy() {
        let mut memory = MemoryStore::new(1 << 20, u64::MAX);
        memory.start(0, write(0, &[7; 4096]));
        let address = |memory: &MemoryStore| {
            let mut slices = [std::io::IoSlice::new(&[]); 4];
            let mut pieces = Pieces::new(&mut slices);
            memory.lend(0, 0, 4096, 0, &mut pieces);
            (pieces.slices().len(), pieces.slices()[0].as_ptr())
        };
        assert_eq!(address(&memory), address(&memory));
        assert_eq!(address(&memory).0, 1);
    }

    fn write(offset: u64, data: &[u8]) -> Operation<&[u8]> {
        Operation::Write { offset, data, durable: false }
    }
}
