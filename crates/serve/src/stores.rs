//! Opens the stores of exports.

use std::path::Path;

use engine::disk::{Disk, DiskOptions};
use engine::gate::WriteGate;
use nbd::store::faults::{FaultRates, FaultyStore};
use nbd::store::{Content, MemoryStore, Overlay, PatternStore, Pool, Store};
use units::{Problem, random::mix};

use crate::question::ServeQuestion;
use crate::request::ServeRequest;
use crate::requested::{BackingSpec, MIN_MEMORY_BYTES, RequestedExport};

/// Options and memory limits for opening stores.
pub(crate) struct StoreMode {
    direct: bool,
    read_only: bool,
    /// Memory limit of stores, and that of clients besides.
    data: Pool,
    client_bytes: u64,
    faults: FaultRates,
    /// Whether commands may enable faults later.
    controlled: bool,
    seed: u64,
}

impl StoreMode {
    pub(crate) fn new(options: &ServeRequest, question: &ServeQuestion) -> Self {
        let limit = question.memory_limit.unwrap_or_else(half_of_free_memory).max(MIN_MEMORY_BYTES);
        let holds = |requested: &RequestedExport| matches!(requested.store, BackingSpec::Memory | BackingSpec::Copy(_));
        let data = if question.requested.iter().any(holds) { limit - limit / 4 } else { 0 };
        Self {
            direct: options.direct,
            read_only: options.read_only,
            data: Pool::new(data),
            client_bytes: limit - data,
            faults: question.faults,
            controlled: options.control.is_some(),
            seed: question.seed,
        }
    }

    /// Returns the memory limit of clients, which excludes that of stores.
    pub(crate) fn client_bytes(&self) -> u64 {
        self.client_bytes
    }

    /// Opens store number `number`.
    ///
    /// # Errors
    /// The system's refusal.
    pub(crate) fn open(
        &self,
        requested: &RequestedExport,
        number: u64,
        gate: &WriteGate,
    ) -> Result<Box<dyn Store>, Problem> {
        let store = self.plain(requested, mix(self.seed, number), gate)?;
        let faulty = self.controlled || self.faults.in_store() != FaultRates::default();
        Ok(if faulty { Box::new(FaultyStore::new(store, self.faults, mix(self.seed, number))) } else { store })
    }

    fn plain(&self, requested: &RequestedExport, seed: u64, gate: &WriteGate) -> Result<Box<dyn Store>, Problem> {
        // Only existing files have no size here.
        let size = requested.size.unwrap_or_default();
        Ok(match &requested.store {
            BackingSpec::Memory => Box::new(MemoryStore::within(size, self.data.clone())),
            BackingSpec::Zero => Box::new(PatternStore::new(Content::Zeroes, size)),
            BackingSpec::Pattern => Box::new(PatternStore::new(Content::Offsets, size)),
            BackingSpec::Random => Box::new(PatternStore::new(Content::Random { seed }, size)),
            BackingSpec::File(path) => Box::new(self.disk(path, requested.size, self.read_only, gate)?),
            BackingSpec::Copy(path) => {
                let below = Box::new(self.disk(path, requested.size, true, gate)?);
                Box::new(Overlay::within(below, self.data.clone()))
            }
        })
    }

    fn disk(&self, path: &Path, bytes: Option<u64>, read_only: bool, gate: &WriteGate) -> Result<Disk, Problem> {
        let options = DiskOptions { bytes, direct: self.direct, read_only, ..DiskOptions::new(path) };
        Disk::open(&options, gate).map_err(Problem::from)
    }
}

/// Returns the files and devices that may not be written, one problem each.
#[must_use]
pub fn dangers(options: &ServeRequest, question: &ServeQuestion, gate: &WriteGate) -> Vec<Problem> {
    let requested = &question.requested;
    device::safety::note_inputs(requested.iter().filter_map(|requested| requested.store.path()));
    let written = requested.iter().filter_map(|requested| match &requested.store {
        BackingSpec::File(path) if !options.read_only => Some(path),
        _ => None,
    });
    written.filter_map(|path| gate.check(path).err()).map(Problem::from).collect()
}

/// Returns half of the free memory. More could displace other data on the host or get this process killed.
fn half_of_free_memory() -> u64 {
    let free = device::capacity::memory().map(|limit| limit.most);
    free.unwrap_or_else(|| probe::host(Path::new("/")).memory_bytes) / 2
}
