use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nbd::server::{RejectedClients, Snapshot};
use results::serve::ServerStats;
use units::Nanos;

use crate::stats::{self, ExportFacts, RecentRates};

/// A view of a server for observers, from its published snapshots.
#[derive(Clone, Debug)]
pub struct RecentView {
    facts: Arc<Mutex<Vec<ExportFacts>>>,
    seed: u64,
    shown: Arc<Mutex<Snapshot>>,
    recent: Arc<Mutex<Recent>>,
}

#[derive(Debug, Default)]
struct Recent {
    last: Snapshot,
    rates: RecentRates,
}

/// Minimum period of rates.
const RATE_OVER: Nanos = Nanos::from_millis(900);

impl RecentView {
    pub(crate) fn new(facts: Vec<ExportFacts>, seed: u64, shown: Arc<Mutex<Snapshot>>) -> Self {
        Self { facts: Arc::new(Mutex::new(facts)), seed, shown, recent: Arc::default() }
    }

    /// Updates the rates; called about once per second. Returns whether the server has published a new snapshot.
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

    /// Returns the current statistics.
    #[must_use]
    pub fn served(&self) -> ServerStats {
        self.of(&self.snapshot())
    }

    #[must_use]
    pub fn of(&self, snapshot: &Snapshot) -> ServerStats {
        stats::stats(&self.facts(), self.seed, snapshot, &self.rates())
    }

    pub(crate) fn set_volumes(&self, volumes: impl Iterator<Item = Option<String>>) {
        self.facts().iter_mut().zip(volumes).for_each(|(facts, volume)| facts.stats.volume = volume);
    }

    fn facts(&self) -> MutexGuard<'_, Vec<ExportFacts>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rates of the last second.
    #[must_use]
    pub fn rates(&self) -> RecentRates {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).rates.clone()
    }

    /// Returns the counts of refused and disconnected clients.
    #[must_use]
    pub fn turned_away(&self) -> RejectedClients {
        self.snapshot().turned_away
    }

    /// Returns the number of connected clients.
    #[must_use]
    pub fn connected(&self) -> u64 {
        self.snapshot().exports.iter().map(|(_, tally)| tally.connected).sum()
    }

    fn snapshot(&self) -> Snapshot {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
