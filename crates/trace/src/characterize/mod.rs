//! What kind of load a trace is.
//!
//! A [`Characterizer`] sees each request once, in the order of issue, and keeps about 6 MiB, 300 bytes per process and 32
//! per device: 30 MiB for the greatest number of both, however long the trace.

mod arrivals;
mod depth;
mod findings;
mod histogram;
mod hot;
mod hurst;
mod processes;
mod profile;
mod reuse;
mod sampled;
mod series;
mod sizes;
mod streams;
mod windows;
mod zipf;

pub use findings::{TraceFinding, trace_findings};
pub use profile::{
    ArrivalProfile, BurstProfile, DepthProfile, DeviceProfile, HotProfile, HotShare, HurstEstimate, LoopProfile,
    MissRatioPoint, PerOperation, ProcessProfile, ReuseProfile, RunProfile, SequentialProfile, SizeProfile,
    TraceDistribution, TraceInterval, TraceProfile, TraceSeries, TraceSizeCount, TraceSizeRange, TraceTotals,
    WindowProfile, WorkingSetWindow, ZipfFit,
};

use arrivals::ArrivalCounts;
use depth::InFlight;
use histogram::WideHistogram;
use processes::Processes;
use reuse::Reuse;
use series::RateSeries;
use sizes::Sizes;
use streams::StreamTable;

use crate::{TraceOperation, TraceRequest};

/// Analyses requests in one pass.
#[derive(Clone, Debug)]
pub struct Characterizer {
    totals: TraceTotals,
    first: Option<u64>,
    /// Issue of the last request, in nanoseconds since the first one.
    now: u64,
    series: RateSeries,
    sizes: PerOperation<Sizes>,
    streams: StreamTable,
    in_flight: InFlight,
    arrivals: ArrivalCounts,
    processes: Processes,
    reuse: Reuse,
    service: PerOperation<WideHistogram>,
    queued: PerOperation<WideHistogram>,
    devices: Vec<DeviceProfile>,
}

impl Default for Characterizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Characterizer {
    /// Creates an analysis without requests.
    #[must_use]
    pub fn new() -> Self {
        Self {
            totals: TraceTotals::default(),
            first: None,
            now: 0,
            series: RateSeries::new(),
            sizes: PerOperation::default(),
            streams: StreamTable::new(),
            in_flight: InFlight::default(),
            arrivals: ArrivalCounts::default(),
            processes: Processes::default(),
            reuse: Reuse::new(),
            service: PerOperation::default(),
            queued: PerOperation::default(),
            devices: Vec::new(),
        }
    }

    /// Adds the next request. Requests come in the order of issue; one that is late is taken as issued with the one
    /// before, and counted in [`TraceTotals::late_requests`].
    #[inline]
    pub fn add(&mut self, request: &TraceRequest) {
        self.add_located(request);
    }

    /// Adds the next request. Returns its issue in nanoseconds since the first one, and the number of requests before it
    /// in its stream.
    #[inline]
    pub(crate) fn add_located(&mut self, request: &TraceRequest) -> (u64, u64) {
        let at = self.instant(request.issued_ns);
        self.count(request);
        self.series.add(at, request);
        self.sizes.get_mut(request.operation).add(request.length);
        self.in_flight.advance(at, &mut self.processes, &mut self.series);
        self.processes.issue(at, request, request.service_ns.is_some());
        if let Some(service) = request.service_ns {
            self.in_flight.issue(at.saturating_add(service), request.owner(), &mut self.processes);
            self.service.get_mut(request.operation).add(service, 1);
        }
        if let Some(queued) = request.queued_ns {
            self.queued.get_mut(request.operation).add(queued, 1);
        }
        let is_write = request.operation == TraceOperation::Write;
        self.arrivals.add(at, u64::from(request.length), is_write);
        if request.length > 0 && (is_write || request.operation == TraceOperation::Read) {
            let before = self.streams.add(request.device, is_write, request.offset, request.length);
            let new_blocks = self.reuse.add(at, request.device, request.offset, request.length, is_write);
            if new_blocks > 0.0 {
                self.series.at(at).new_blocks += new_blocks;
            }
            return (at, before);
        }
        (at, 0)
    }

    /// Returns the instant of an issue since the first one, which does not decrease.
    #[inline]
    fn instant(&mut self, issued_ns: u64) -> u64 {
        let first = *self.first.get_or_insert(issued_ns);
        let at = issued_ns.saturating_sub(first);
        if issued_ns < first.saturating_add(self.now) {
            self.totals.late_requests += 1;
            self.totals.late_ns_max = self.totals.late_ns_max.max(first.saturating_add(self.now) - issued_ns);
        }
        self.now = self.now.max(at);
        self.now
    }

    #[inline]
    fn count(&mut self, request: &TraceRequest) {
        let bytes = u64::from(request.length);
        let totals = &mut self.totals;
        *totals.requests.get_mut(request.operation) += 1;
        *totals.bytes.get_mut(request.operation) += bytes;
        totals.sync_requests += u64::from(request.is_sync);
        totals.sync_bytes += if request.is_sync { bytes } else { 0 };
        totals.sync_writes += u64::from(request.is_sync && request.operation == TraceOperation::Write);
        totals.meta_requests += u64::from(request.is_meta);
        totals.meta_bytes += if request.is_meta { bytes } else { 0 };
        totals.fua_requests += u64::from(request.is_fua);
        totals.fua_bytes += if request.is_fua { bytes } else { 0 };
        totals.preflush_requests += u64::from(request.is_preflush);
        totals.readahead_requests += u64::from(request.is_readahead);
        totals.readahead_bytes += if request.is_readahead { bytes } else { 0 };
        totals.failed_requests += u64::from(request.has_failed);
        totals.incomplete_requests += u64::from(request.service_ns.is_none());
        let device = self.device(request.device);
        device.requests += 1;
        device.bytes += bytes;
        // A flush has no position.
        if bytes > 0 {
            device.end_offset = device.end_offset.max(request.offset.saturating_add(bytes));
        }
    }

    #[inline]
    fn device(&mut self, index: u16) -> &mut DeviceProfile {
        let end = usize::from(index) + 1;
        while self.devices.len() < end {
            let device = self.devices.len() as u16;
            self.devices.push(DeviceProfile { device, requests: 0, bytes: 0, end_offset: 0 });
        }
        &mut self.devices[usize::from(index)]
    }

    /// Returns the characteristics of all requests.
    #[must_use]
    pub fn finish(mut self) -> TraceProfile {
        let last = self.in_flight.drain(self.now, &mut self.processes, &mut self.series);
        self.totals.first_issue_ns = self.first.unwrap_or(0);
        self.totals.issue_duration_ns = self.now;
        self.totals.duration_ns = last;
        let (processes, loops) = self.processes.profile();
        self.devices.retain(|device| device.requests > 0);
        TraceProfile {
            totals: self.totals,
            series: self.series.finish(),
            sizes: self.sizes.map(Sizes::profile),
            sequential: self.streams.finish(),
            depth: self.in_flight.profile(),
            arrivals: self.arrivals.finish(),
            loops,
            reuse: self.reuse.finish(self.now),
            service_ns: self.service.map(WideHistogram::distribution),
            queued_ns: self.queued.map(WideHistogram::distribution),
            processes,
            devices: self.devices,
        }
    }
}
