//! Where requests come from: programs in the kernel (BPF), or the events of tracefs.
//!
//! Programs cost a load about half as much as events (`cargo xtask bench capture`), so they are the default. Events
//! need no type information of the kernel, and also show bios; they are taken where programs cannot be loaded.

use results::capture::CaptureSource;
use trace::TraceRequest;
use units::Problem;

use crate::counters::{CompletionCounts, CounterReading};
use crate::names::ProcessNames;
use crate::pairing::PairingCounts;

/// Records the requests of a device. It begins when it is created.
pub(crate) trait RequestSource {
    /// Waits until there may be something to read, but not for long.
    fn wait(&self);

    /// Reads what there is, at most until an instant.
    fn read(&mut self, batch: &mut RequestBatch, until_ns: u64) -> Result<(), Problem>;

    /// Returns the names of the processes of all requests so far.
    fn names(&self) -> &ProcessNames;

    /// Returns how many events or records were lost so far. Fails if the kernel does not say.
    fn lost(&mut self) -> Result<u64, Problem>;

    /// Ends recording, reads the rest, and adds the requests in flight, without service times.
    fn finish(&mut self, batch: &mut RequestBatch) -> Result<(), Problem>;

    /// Returns the counts so far.
    fn counts(&self) -> PairingCounts;

    /// Returns when it began, on the clock of captures.
    fn start_ns(&self) -> u64;

    /// Returns what it is.
    fn kind(&self) -> CaptureSource;
}

/// Requests that were read, and the completions that the kernel counts.
#[derive(Debug, Default)]
pub(crate) struct RequestBatch {
    pub(crate) requests: Vec<TraceRequest>,
    /// With the first reading of the counters, where they can be compared.
    pub(crate) completions: Option<(CompletionCounts, CounterReading)>,
}

impl RequestBatch {
    /// Counts a completion.
    #[inline]
    pub(crate) fn count(&mut self, time_ns: u64, request: &TraceRequest) {
        if let Some((counts, _)) = &mut self.completions {
            counts.add(time_ns, request);
        }
    }
}
