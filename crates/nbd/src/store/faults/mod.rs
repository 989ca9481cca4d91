//! Reproducible fault injection.
//!
//! [`FaultRates`] are the requested probabilities. [`Faults`] draws the fault of each operation. [`FaultyStore`]
//! injects faults that a store can have; the server injects stalls and disconnections. [`InjectedFaults`] counts both.

mod rates;
mod store;

use std::ops::Add;

use units::Nanos;
use units::random::Random;
use volume::RequestKind;

pub use rates::{FaultRates, Stall};
pub use store::FaultyStore;

/// Kinds of injected faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Reads and writes that fail with `EIO`.
    Eio,
    /// Flushes that fail with `EIO`.
    FlushEio,
    /// Writes that fail with `ENOSPC`.
    Enospc,
    /// Writes of which only the first sectors are written.
    Torn,
    /// Writes that succeed and change nothing.
    Lost,
    /// Reads that return one flipped bit.
    Corrupt,
    /// Operations that complete late.
    Stall,
    /// Flushes that complete late.
    FlushStall,
    /// Operations that disconnect the client.
    Disconnect,
}

impl FaultKind {
    /// All kinds in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Eio,
        Self::FlushEio,
        Self::Enospc,
        Self::Torn,
        Self::Lost,
        Self::Corrupt,
        Self::Stall,
        Self::FlushStall,
        Self::Disconnect,
    ];

    /// Returns the key of its probability, which is also its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eio => "eio",
            Self::FlushEio => "flush_eio",
            Self::Enospc => "enospc",
            Self::Torn => "torn",
            Self::Lost => "lost",
            Self::Corrupt => "corrupt",
            Self::Stall => "stall",
            Self::FlushStall => "flush_stall",
            Self::Disconnect => "disconnect",
        }
    }

    /// Reports whether [`FaultyStore`] injects it; the server injects the others.
    #[must_use]
    pub const fn is_of_store(self) -> bool {
        !matches!(self, Self::Stall | Self::FlushStall | Self::Disconnect)
    }

    /// Returns the stream of random numbers that decides about it.
    const fn stream(self) -> u64 {
        // In the order of the kinds.
        [2, 7, 5, 1, 4, 6, 3, 8, 0][self as usize]
    }
}

/// An injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Fails with `EIO` and does nothing.
    Eio,
    /// Fails a flush with `EIO`.
    FlushEio,
    /// Fails a write with `ENOSPC`.
    Enospc,
    /// Writes only the first sectors of 512 bytes, then fails with `EIO`.
    Torn {
        /// Number of sectors written, less than the write touches.
        sectors: u32,
    },
    /// Lets a write succeed without changing anything.
    Lost,
    /// Flips a bit of the data returned by a read.
    Corrupt {
        /// Index of the byte in the read.
        byte: u32,
        /// Index of the bit in the byte, from 0 to 7.
        bit: u8,
    },
    /// Delays completion by this time.
    Stall(Nanos),
    /// Delays completion of a flush by this time.
    FlushStall(Nanos),
    /// Disconnects the client without a reply.
    Disconnect,
}

impl Fault {
    /// Returns the kind under which it is counted.
    #[must_use]
    pub const fn kind(self) -> FaultKind {
        match self {
            Self::Eio => FaultKind::Eio,
            Self::FlushEio => FaultKind::FlushEio,
            Self::Enospc => FaultKind::Enospc,
            Self::Torn { .. } => FaultKind::Torn,
            Self::Lost => FaultKind::Lost,
            Self::Corrupt { .. } => FaultKind::Corrupt,
            Self::Stall(_) => FaultKind::Stall,
            Self::FlushStall(_) => FaultKind::FlushStall,
            Self::Disconnect => FaultKind::Disconnect,
        }
    }
}

/// Counts of injected faults by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InjectedFaults([u64; FaultKind::ALL.len()]);

impl InjectedFaults {
    /// Returns the count of a kind.
    #[must_use]
    pub const fn of(&self, kind: FaultKind) -> u64 {
        self.0[kind as usize]
    }

    /// Increments the count of a kind.
    pub fn count(&mut self, kind: FaultKind) {
        self.0[kind as usize] += 1;
    }
}

impl Add for InjectedFaults {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind] + more.0[kind]))
    }
}

/// Draws faults of operations. They follow from the seed and earlier operations; faults of one kind do not depend on
/// the rates of another.
#[derive(Clone, Debug)]
pub struct Faults {
    rates: FaultRates,
    any: bool,
    /// Generators by [`FaultKind`].
    random: [Random; FaultKind::ALL.len()],
}

/// Unit of torn writes, in bytes.
pub(super) const SECTOR_BYTES: u64 = 512;

impl Faults {
    /// Creates a sequence of faults for a seed.
    #[must_use]
    pub fn new(rates: FaultRates, seed: u64) -> Self {
        let random = FaultKind::ALL.map(|kind| Random::new(seed, 0x6661_756c_7400 + kind.stream()));
        Self { rates, any: rates != FaultRates::default(), random }
    }

    /// Changes the rates from the next operation on.
    pub fn set_rates(&mut self, rates: FaultRates) {
        (self.rates, self.any) = (rates, rates != FaultRates::default());
    }

    /// Draws the fault of the next operation, of `length` bytes; `kind` is `None` if it neither transfers, changes nor
    /// flushes anything. Reads, writes and flushes can fail, writes can be torn or lost, reads can be corrupted, and
    /// any operation can stall or disconnect. If several faults coincide, the gravest is returned.
    #[inline]
    pub fn next(&mut self, kind: Option<RequestKind>, length: u64) -> Option<Fault> {
        if self.any { self.draw(kind, length) } else { None }
    }

    fn draw(&mut self, kind: Option<RequestKind>, length: u64) -> Option<Fault> {
        let (reads, writes) = (kind == Some(RequestKind::Read) && length > 0, kind == Some(RequestKind::Write));
        let flushes = kind == Some(RequestKind::Flush);
        // Draws all kinds each time, so that the rate of one does not affect another.
        let disconnect = self.happens(FaultKind::Disconnect);
        let torn = writes && self.happens(FaultKind::Torn);
        let eio = (reads || writes) && self.happens(FaultKind::Eio);
        let flush_eio = flushes && self.happens(FaultKind::FlushEio);
        let enospc = writes && self.happens(FaultKind::Enospc);
        let lost = writes && self.happens(FaultKind::Lost);
        let corrupt = reads && self.happens(FaultKind::Corrupt);
        let flush_stall = flushes && self.happens(FaultKind::FlushStall);
        let stall = self.happens(FaultKind::Stall);
        if disconnect {
            Some(Fault::Disconnect)
        } else if torn {
            let sectors = self.random[FaultKind::Torn as usize].below(length.div_ceil(SECTOR_BYTES).max(1));
            Some(Fault::Torn { sectors: u32::try_from(sectors).unwrap_or(u32::MAX) })
        } else if eio {
            Some(Fault::Eio)
        } else if flush_eio {
            Some(Fault::FlushEio)
        } else if enospc {
            Some(Fault::Enospc)
        } else if lost {
            Some(Fault::Lost)
        } else if corrupt {
            let bit = self.random[FaultKind::Corrupt as usize].below(length.min(u64::from(u32::MAX)) * 8);
            Some(Fault::Corrupt { byte: (bit / 8) as u32, bit: (bit % 8) as u8 })
        } else if flush_stall && !(stall && self.rates.stall.time > self.rates.flush_stall.time) {
            Some(Fault::FlushStall(self.rates.flush_stall.time))
        } else {
            stall.then_some(Fault::Stall(self.rates.stall.time))
        }
    }

    fn happens(&mut self, kind: FaultKind) -> bool {
        let chance = self.rates.chance(kind);
        chance > 0.0 && self.random[kind as usize].unit() < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: FaultRates = FaultRates {
        eio: 0.02,
        flush_eio: 0.06,
        enospc: 0.05,
        torn: 0.03,
        lost: 0.04,
        corrupt: 0.07,
        disconnect: 0.01,
        stall: Stall { chance: 0.05, time: Nanos::from_secs(2) },
        flush_stall: Stall { chance: 0.08, time: Nanos::from_secs(3) },
    };

    fn drawn(rates: FaultRates, seed: u64, kind: RequestKind) -> Vec<Option<Fault>> {
        let mut faults = Faults::new(rates, seed);
        (0..100_000).map(|_| faults.next(Some(kind), 4096)).collect()
    }

    /// Checks the fraction of operations with faults of a kind.
    #[track_caller]
    fn close(faults: &[Option<Fault>], kind: FaultKind, wanted: f64) {
        let found = faults.iter().flatten().filter(|fault| fault.kind() == kind).count() as f64 / faults.len() as f64;
        assert!((found / wanted - 1.0).abs() < 0.1, "{found} for {wanted} of {kind:?}");
    }

    #[test]
    fn faults_have_their_rates_and_repeat_with_their_seed() {
        let writes = drawn(ALL, 3, RequestKind::Write);
        assert_eq!(writes, drawn(ALL, 3, RequestKind::Write));
        assert_ne!(writes, drawn(ALL, 4, RequestKind::Write));
        let mut left = 1.0;
        let kinds = [FaultKind::Disconnect, FaultKind::Torn, FaultKind::Eio, FaultKind::Enospc, FaultKind::Lost];
        for kind in kinds {
            close(&writes, kind, ALL.chance(kind) * left);
            left *= 1.0 - ALL.chance(kind);
        }
        close(&writes, FaultKind::Stall, 0.05 * left);
        close(&drawn(ALL, 3, RequestKind::Read), FaultKind::Corrupt, 0.07 * 0.99 * 0.98);
        let flushes = drawn(ALL, 3, RequestKind::Flush);
        close(&flushes, FaultKind::FlushEio, 0.06 * 0.99);
        close(&flushes, FaultKind::FlushStall, 0.08 * 0.99 * 0.94);
    }

    #[test]
    fn each_kind_of_operation_has_its_own_faults() {
        let kinds = |kind: Option<RequestKind>| {
            let mut faults = Faults::new(ALL, 1);
            let drawn: Vec<FaultKind> = (0..100_000).filter_map(|_| faults.next(kind, 4096)).map(Fault::kind).collect();
            FaultKind::ALL.into_iter().filter(|kind| drawn.contains(kind)).collect::<Vec<_>>()
        };
        use FaultKind::{Corrupt, Disconnect, Eio, Enospc, FlushEio, FlushStall, Lost, Stall, Torn};
        assert_eq!(kinds(Some(RequestKind::Read)), [Eio, Corrupt, Stall, Disconnect]);
        assert_eq!(kinds(Some(RequestKind::Write)), [Eio, Enospc, Torn, Lost, Stall, Disconnect]);
        assert_eq!(kinds(Some(RequestKind::Flush)), [FlushEio, Stall, FlushStall, Disconnect]);
        assert_eq!(kinds(Some(RequestKind::Trim)), [Stall, Disconnect]);
        assert_eq!(kinds(None), [Stall, Disconnect]);
    }

    #[test]
    fn torn_writes_keep_less_than_they_touch_and_any_bit_of_a_read_can_flip() {
        let kept: Vec<u32> = drawn(ALL, 9, RequestKind::Write)
            .into_iter()
            .filter_map(|fault| if let Some(Fault::Torn { sectors }) = fault { Some(sectors) } else { None })
            .collect();
        assert!((0..8).all(|sectors| kept.contains(&sectors)) && kept.iter().all(|&sectors| sectors < 8));
        let flipped: Vec<(u32, u8)> = drawn(ALL, 9, RequestKind::Read)
            .into_iter()
            .filter_map(|fault| if let Some(Fault::Corrupt { byte, bit }) = fault { Some((byte, bit)) } else { None })
            .collect();
        assert!(flipped.iter().all(|(byte, bit)| *byte < 4096 && *bit < 8));
        assert!((0..8).all(|bit| flipped.iter().any(|flip| flip.1 == bit)));
        assert!(flipped.iter().any(|flip| flip.0 < 64) && flipped.iter().any(|flip| flip.0 >= 4032));
    }

    #[test]
    fn the_rate_of_one_fault_does_not_affect_another() {
        let at = |rates: FaultRates| -> Vec<usize> {
            let faults = drawn(rates, 2, RequestKind::Write);
            (0..faults.len()).filter(|&at| faults[at] == Some(Fault::Disconnect)).collect()
        };
        assert_eq!(at(ALL), at(FaultRates { disconnect: ALL.disconnect, ..FaultRates::default() }));
    }

    #[test]
    fn changed_rates_apply_from_the_next_operation_on() {
        let mut faults = Faults::new(FaultRates::default(), 5);
        assert_eq!(faults.next(Some(RequestKind::Write), 512), None);
        faults.set_rates(FaultRates { enospc: 1.0, ..FaultRates::default() });
        assert_eq!(faults.next(Some(RequestKind::Write), 512), Some(Fault::Enospc));
        assert_eq!(faults.next(Some(RequestKind::Read), 512), None);
        faults.set_rates(FaultRates::default());
        assert_eq!(faults.next(Some(RequestKind::Write), 512), None);
    }
}
