//! Faults on purpose, by a seed.
//!
//! [`Rates`] are what was asked for, [`Faults`] decides for one operation after the other, and [`Faulty`] carries out what
//! can be done in a store. Stalls and lost connections are for whoever answers clients.

mod rates;
mod store;

use units::Nanos;
use units::random::Random;
use volume::Kind;

pub use rates::{Rates, Stall};
pub use store::Faulty;

/// What goes wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails with `EIO` and does nothing.
    Eio,
    /// It ends later by so much.
    Stall(Nanos),
    /// Only its first sectors of 512 bytes, so many of them, are written; then it fails with `EIO`.
    Torn {
        /// Less than the write touches.
        sectors: u32,
    },
    /// It is a write that succeeds and changes nothing.
    Lost,
    /// The connection is lost without an answer.
    Disconnect,
}

/// Decides which operations go wrong. The decisions follow from the seed and from the operations before; those of one sort
/// of fault do not depend on the rates of another.
#[derive(Clone, Debug)]
pub struct Faults {
    rates: Rates,
    disconnect: Random,
    torn: Random,
    eio: Random,
    stall: Random,
    lost: Random,
}

/// What writes are torn into.
pub(super) const SECTOR_BYTES: u64 = 512;

impl Faults {
    /// The faults under a seed.
    #[must_use]
    pub fn new(rates: Rates, seed: u64) -> Self {
        let stream = |number: u64| Random::new(seed, 0x6661_756c_7400 + number);
        Self { rates, disconnect: stream(0), torn: stream(1), eio: stream(2), stall: stream(3), lost: stream(4) }
    }

    /// What goes wrong with the next operation, of `length` bytes. Reads and writes fail, writes are torn or lost, and any
    /// operation stalls or loses its connection; where several happen at once, the gravest is told.
    pub fn next(&mut self, kind: Kind, length: u64) -> Option<Fault> {
        let (reads, writes) = (kind == Kind::Read, kind == Kind::Write);
        let disconnect = happens(&mut self.disconnect, self.rates.disconnect);
        let torn = writes && happens(&mut self.torn, self.rates.torn);
        let eio = (reads || writes) && happens(&mut self.eio, self.rates.eio);
        let lost = writes && happens(&mut self.lost, self.rates.lost);
        let stall = happens(&mut self.stall, self.rates.stall.chance);
        if disconnect {
            Some(Fault::Disconnect)
        } else if torn {
            let sectors = self.torn.below(length.div_ceil(SECTOR_BYTES));
            Some(Fault::Torn { sectors: u32::try_from(sectors).unwrap_or(u32::MAX) })
        } else if eio {
            Some(Fault::Eio)
        } else if lost {
            Some(Fault::Lost)
        } else {
            stall.then_some(Fault::Stall(self.rates.stall.time))
        }
    }
}

fn happens(random: &mut Random, chance: f64) -> bool {
    chance > 0.0 && random.unit() < chance
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Rates = Rates {
        eio: 0.02,
        torn: 0.03,
        lost: 0.04,
        disconnect: 0.01,
        stall: Stall { chance: 0.05, time: Nanos::from_secs(2) },
    };

    fn drawn(rates: Rates, seed: u64, kind: Kind) -> Vec<Option<Fault>> {
        let mut faults = Faults::new(rates, seed);
        (0..100_000).map(|_| faults.next(kind, 4096)).collect()
    }

    #[test]
    fn faults_are_as_frequent_as_asked_for_and_repeat_with_their_seed() {
        let faults = drawn(ALL, 3, Kind::Write);
        assert_eq!(faults, drawn(ALL, 3, Kind::Write));
        assert_ne!(faults, drawn(ALL, 4, Kind::Write));
        let share = |wanted: fn(&Fault) -> bool| {
            faults.iter().flatten().filter(|fault| wanted(fault)).count() as f64 / faults.len() as f64
        };
        let close = |share: f64, wanted: f64| assert!((share / wanted - 1.0).abs() < 0.1, "{share} for {wanted}");
        close(share(|fault| *fault == Fault::Disconnect), 0.01);
        close(share(|fault| matches!(fault, Fault::Torn { .. })), 0.03 * 0.99);
        close(share(|fault| *fault == Fault::Eio), 0.02 * 0.99 * 0.97);
        close(share(|fault| *fault == Fault::Lost), 0.04 * 0.99 * 0.97 * 0.98);
        close(share(|fault| *fault == Fault::Stall(Nanos::from_secs(2))), 0.05 * 0.99 * 0.97 * 0.98 * 0.96);
    }

    #[test]
    fn each_kind_of_operation_has_its_own_faults() {
        let reads = drawn(ALL, 1, Kind::Read);
        assert!(reads.contains(&Some(Fault::Eio)) && !reads.iter().flatten().any(is_torn), "reads are not torn");
        let flushes = drawn(ALL, 1, Kind::Flush);
        assert!(flushes.contains(&Some(Fault::Disconnect)) && !flushes.contains(&Some(Fault::Eio)));
    }

    fn is_torn(fault: &Fault) -> bool {
        matches!(fault, Fault::Torn { .. })
    }

    #[test]
    fn torn_writes_keep_less_than_they_touch() {
        let kept: Vec<u32> = drawn(ALL, 9, Kind::Write)
            .into_iter()
            .filter_map(|fault| if let Some(Fault::Torn { sectors }) = fault { Some(sectors) } else { None })
            .collect();
        assert!((0..8).all(|sectors| kept.contains(&sectors)) && kept.iter().all(|&sectors| sectors < 8));
    }

    #[test]
    fn the_rate_of_one_fault_does_not_move_another() {
        let at = |rates: Rates| -> Vec<usize> {
            let faults = drawn(rates, 2, Kind::Write);
            (0..faults.len()).filter(|&at| faults[at] == Some(Fault::Disconnect)).collect()
        };
        assert_eq!(at(ALL), at(Rates { disconnect: ALL.disconnect, ..Rates::default() }));
    }
}
