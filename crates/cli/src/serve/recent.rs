//! What was done in the last second.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nbd::server::{Snapshot, TallyKind, TurnedAway};
use report::serve::ServerStats;
use units::Nanos;

use super::figures::{self, ExportFacts};

/// Operations and bytes a second of each export and kind.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentRates(Vec<[(f64, f64); 5]>);

impl RecentRates {
    /// Of one kind of one export.
    pub(super) fn of(&self, export: usize, kind: TallyKind) -> (f64, f64) {
        self.0.get(export).map_or((0.0, 0.0), |kinds| kinds[kind as usize])
    }

    /// All together.
    pub(super) fn total(&self) -> (f64, f64) {
        self.0.iter().flatten().fold((0.0, 0.0), |sum, rate| (sum.0 + rate.0, sum.1 + rate.1))
    }

    fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let secs = after.age.since(before.age).secs_f64();
        if secs <= 0.0 {
            return Self::default();
        }
        let exports = before.exports.iter().zip(&after.exports);
        Self(
            exports
                .map(|((_, before), (_, after))| {
                    std::array::from_fn(|kind| {
                        let (before, after) = (&before.kinds[kind], &after.kinds[kind]);
                        let grown = |before: u64, after: u64| after.saturating_sub(before) as f64 / secs;
                        (grown(before.operations, after.operations), grown(before.bytes, after.bytes))
                    })
                })
                .collect(),
        )
    }
}

/// A server as others see it, without asking it anything.
#[derive(Clone)]
pub(super) struct RecentView {
    known: Arc<Mutex<Vec<ExportFacts>>>,
    seed: u64,
    shown: Arc<Mutex<Snapshot>>,
    recent: Arc<Mutex<Recent>>,
}

#[derive(Default)]
struct Recent {
    last: Snapshot,
    rates: RecentRates,
}

/// Rates are over at least so long.
const RATE_OVER: Nanos = Nanos::from_millis(900);

impl RecentView {
    pub(super) fn new(known: Vec<ExportFacts>, seed: u64, shown: Arc<Mutex<Snapshot>>) -> Self {
        Self { known: Arc::new(Mutex::new(known)), seed, shown, recent: Arc::default() }
    }

    /// To be called about once a second. Returns whether anything was done since the last time.
    pub(super) fn look(&self) -> bool {
        let snapshot = self.snapshot();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let over = snapshot.age.since(recent.last.age);
        let busy = over > Nanos::ZERO;
        if over >= RATE_OVER || !busy {
            recent.rates = RecentRates::between(&recent.last, &snapshot);
            recent.last = snapshot;
        }
        busy
    }

    /// All there is to tell.
    pub(super) fn served(&self) -> ServerStats {
        self.of(&self.snapshot())
    }

    /// All there is to tell of a snapshot.
    pub(super) fn of(&self, snapshot: &Snapshot) -> ServerStats {
        figures::stats(&self.known(), self.seed, snapshot, &self.rates())
    }

    /// The exports have other volumes from now on, in their order.
    pub(super) fn set_volumes(&self, volumes: impl Iterator<Item = Option<String>>) {
        self.known().iter_mut().zip(volumes).for_each(|(known, volume)| known.volume = volume);
    }

    fn known(&self) -> MutexGuard<'_, Vec<ExportFacts>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was done in the last second.
    pub(super) fn rates(&self) -> RecentRates {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).rates.clone()
    }

    /// How many clients were turned away, and why.
    pub(super) fn turned_away(&self) -> TurnedAway {
        self.snapshot().turned_away
    }

    /// How many clients there are.
    pub(super) fn connected(&self) -> u64 {
        self.snapshot().exports.iter().map(|(_, tally)| tally.connected).sum()
    }

    fn snapshot(&self) -> Snapshot {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
