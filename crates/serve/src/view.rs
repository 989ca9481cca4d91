//! A server as its observers see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nbd::server::{Snapshot, TurnedAway};
use report::serve::ServerStats;
use units::Nanos;

use crate::rates::RecentRates;
use crate::stats::{self, ExportFacts};

/// A server as others see it, without asking it anything.
#[derive(Clone, Debug)]
pub struct RecentView {
    known: Arc<Mutex<Vec<ExportFacts>>>,
    seed: u64,
    shown: Arc<Mutex<Snapshot>>,
    recent: Arc<Mutex<Recent>>,
}

#[derive(Debug, Default)]
struct Recent {
    last: Snapshot,
    rates: RecentRates,
}

/// Rates are over at least so long.
const RATE_OVER: Nanos = Nanos::from_millis(900);

impl RecentView {
    pub(crate) fn new(known: Vec<ExportFacts>, seed: u64, shown: Arc<Mutex<Snapshot>>) -> Self {
        Self { known: Arc::new(Mutex::new(known)), seed, shown, recent: Arc::default() }
    }

    /// To be called about once a second. Returns whether anything was done since the last time.
    pub fn look(&self) -> bool {
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
    #[must_use]
    pub fn served(&self) -> ServerStats {
        self.of(&self.snapshot())
    }

    /// All there is to tell of a snapshot.
    #[must_use]
    pub fn of(&self, snapshot: &Snapshot) -> ServerStats {
        stats::stats(&self.known(), self.seed, snapshot, &self.rates())
    }

    /// The exports have other volumes from now on, in their order.
    pub(crate) fn set_volumes(&self, volumes: impl Iterator<Item = Option<String>>) {
        self.known().iter_mut().zip(volumes).for_each(|(known, volume)| known.volume = volume);
    }

    fn known(&self) -> MutexGuard<'_, Vec<ExportFacts>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was done in the last second.
    #[must_use]
    pub fn rates(&self) -> RecentRates {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).rates.clone()
    }

    /// How many clients were turned away, and why.
    #[must_use]
    pub fn turned_away(&self) -> TurnedAway {
        self.snapshot().turned_away
    }

    /// How many clients there are.
    #[must_use]
    pub fn connected(&self) -> u64 {
        self.snapshot().exports.iter().map(|(_, tally)| tally.connected).sum()
    }

    fn snapshot(&self) -> Snapshot {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
