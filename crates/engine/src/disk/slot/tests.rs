use nbd::store::Pool;
use units::random::Random;

use super::*;

/// A fake kernel over bytes in memory, which makes short transfers and may lack allocation and discards.
struct Kernel {
    file: Vec<u8>,
    allocates: bool,
    discards: bool,
    pool: Pool,
    calls: Vec<DiskCall>,
    random: Random,
}

impl Kernel {
    fn new(size: u64, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let mut file = vec![0; size as usize];
        random.fill(&mut file);
        Self {
            file,
            allocates: seed % 2 == 1,
            discards: seed % 4 > 1,
            pool: Pool::default(),
            calls: Vec::new(),
            random,
        }
    }

    fn make(&mut self, call: DiskCall, slot: &mut DiskSlot, unit: u32) -> i32 {
        self.calls.push(call);
        if self.random.below(10) == 0 {
            return -libc::EINTR;
        }
        let buffer = slot.buffer.as_mut().and_then(|buffer| buffer.slice(Tag(0)));
        match call {
            DiskCall::Read { at, skip, length } => {
                let length = self.shortened(length, unit) as usize;
                let from = &self.file[at as usize..][..length];
                buffer.unwrap()[skip as usize..][..length].copy_from_slice(from);
                length as i32
            }
            DiskCall::Write { at, skip, length, .. } => {
                let length = self.shortened(length, unit) as usize;
                self.file[at as usize..][..length].copy_from_slice(&buffer.unwrap()[skip as usize..][..length]);
                length as i32
            }
            DiskCall::Allocate { at, length, .. } if self.allocates => self.zero(at, length),
            DiskCall::Discard { at, length } if self.discards => self.zero(at, length),
            DiskCall::Allocate { .. } | DiskCall::Discard { .. } => -libc::EOPNOTSUPP,
            DiskCall::DataSync | DiskCall::Advise { .. } => 0,
        }
    }

    fn shortened(&mut self, length: u32, unit: u32) -> u32 {
        let units = u64::from(length / unit);
        (1 + self.random.below(units.min(40)) as u32) * unit
    }

    fn zero(&mut self, at: u64, length: u64) -> i32 {
        self.file[at as usize..][..length as usize].fill(0);
        0
    }

    fn execute(
        &mut self,
        slot: &mut DiskSlot,
        operation: Operation<&[u8]>,
        geometry: &StoreGeometry,
    ) -> Result<(), Errno> {
        self.calls.clear();
        slot.take(operation, geometry)?;
        let mut next = slot.first_action(geometry);
        loop {
            match next {
                SlotAction::Ended(result) => {
                    slot.end(result, &self.pool);
                    return result;
                }
                SlotAction::Call(call) => {
                    let result = self.make(call, slot, geometry.unit);
                    next = slot.on_result(result, geometry);
                }
            }
        }
    }
}

const SIZE: u64 = 3 << 20;

fn geometry(unit: u32, grain: u32) -> StoreGeometry {
    StoreGeometry { size: SIZE, unit, grain, device: grain > 1, writable: true }
}

fn shapes() -> [StoreGeometry; 4] {
    [geometry(1, 1), geometry(1, 512), geometry(512, 1), geometry(4096, 4096)]
}

fn random_range(random: &mut Random) -> Range<usize> {
    let longest = [600, 10_000, 2_500_000][random.below(3) as usize];
    let start = random.below(SIZE) as usize;
    start..(start + 1 + random.below(longest) as usize).min(SIZE as usize)
}

#[test]
fn writes_and_zeroes_change_only_their_bytes_on_every_kernel() {
    for seed in 0..40 {
        let geometry = shapes()[seed as usize / 4 % 4];
        let (mut kernel, mut slot) = (Kernel::new(SIZE, seed), DiskSlot::default());
        for _ in 0..12 {
            let range = random_range(&mut kernel.random);
            let (offset, length) = (range.start as u64, range.len() as u64);
            let before = kernel.file.clone();
            let mut expected = before.clone();
            let data = vec![7; range.len()];
            let fast = kernel.random.below(4) == 0;
            let operation = match kernel.random.below(2) {
                0 => Operation::Write { offset, data: &data[..], durable: false },
                _ => Operation::Zero { offset, length, durable: false, allocated: false, fast },
            };
            expected[range.clone()].fill(if matches!(operation, Operation::Write { .. }) { 7 } else { 0 });
            match kernel.execute(&mut slot, operation, &geometry) {
                Ok(()) => assert!(kernel.file == expected, "seed {seed}: {geometry:?}, {range:?}"),
                Err(errno) => {
                    assert!(errno == Errno::NotSupported && fast, "seed {seed}: {errno}");
                    assert!(!kernel.allocates || geometry.device, "seed {seed}: refused without a reason");
                    assert!(kernel.file == before, "seed {seed}: refused and changed: {geometry:?}, {range:?}");
                }
            }
        }
    }
}

#[test]
fn reads_are_complete_despite_short_transfers() {
    for seed in 0..20 {
        let geometry = shapes()[seed as usize % 4];
        let (mut kernel, mut slot) = (Kernel::new(SIZE, seed), DiskSlot::default());
        let range = random_range(&mut kernel.random);
        let read = Operation::Read { offset: range.start as u64, length: range.len() as u32 };
        assert_eq!(slot.read(), None);
        kernel.execute(&mut slot, read, &geometry).unwrap();
        assert!(slot.read() == Some(&kernel.file[range.clone()]), "seed {seed}: {geometry:?}, {range:?}");
        slot.release(&kernel.pool);
        assert_eq!(slot.read(), None);
    }
}

#[test]
fn trims_change_only_whole_grains_and_succeed_without_support() {
    for seed in 0..40 {
        let geometry = shapes()[seed as usize / 4 % 4];
        let (mut kernel, mut slot) = (Kernel::new(SIZE, seed), DiskSlot::default());
        let range = random_range(&mut kernel.random);
        let before = kernel.file.clone();
        let trim = Operation::Trim { offset: range.start as u64, length: range.len() as u64, durable: false };
        assert_eq!(kernel.execute(&mut slot, trim, &geometry), Ok(()), "seed {seed}");
        let grain = geometry.grain as usize;
        let inner = range.start.next_multiple_of(grain)..(range.end / grain * grain).max(range.start);
        let deallocated = inner.start < inner.end && (kernel.allocates || (geometry.device && kernel.discards));
        let mut expected = before;
        if deallocated {
            expected[inner].fill(0);
        }
        assert!(kernel.file == expected, "seed {seed}: {geometry:?}, {range:?}");
    }
}

#[test]
fn durable_changes_end_with_a_durable_write_or_a_sync() {
    for (seed, geometry) in (0..8).flat_map(|seed| shapes().map(|geometry| (seed, geometry))) {
        let (mut kernel, mut slot) = (Kernel::new(SIZE, seed), DiskSlot::default());
        let write = Operation::Write { offset: 100, data: &[1; 9000][..], durable: true };
        kernel.execute(&mut slot, write, &geometry).unwrap();
        let writes: Vec<_> = kernel.calls.iter().filter(|call| matches!(call, DiskCall::Write { .. })).collect();
        assert!(writes.iter().all(|call| matches!(call, DiskCall::Write { durable: true, .. })), "{writes:?}");
        let (offset, length) = (100, 9000);
        let zero = Operation::Zero { offset, length, durable: true, allocated: false, fast: false };
        for operation in [zero, Operation::Trim { offset, length, durable: true }, Operation::Flush] {
            kernel.execute(&mut slot, operation, &geometry).unwrap();
            assert_eq!(kernel.calls.last(), Some(&DiskCall::DataSync), "seed {seed}: {operation:?}");
        }
    }
}

#[test]
fn a_read_beyond_the_end_of_a_truncated_file_fails() {
    for geometry in shapes() {
        let mut slot = DiskSlot::default();
        slot.take(Operation::Read { offset: 100, length: 4096 }, &geometry).unwrap();
        slot.first_action(&geometry);
        assert_eq!(slot.on_result(0, &geometry), SlotAction::Ended(Err(Errno::Io)));
    }
}
