//! Rules for whether the numbers are trustworthy.

use record::{DiskUse, PageCacheCounts, RunOutcome, TargetFacts, TargetKind, Unchecked};

use crate::facts::Facts;
use crate::rules::model;
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Median latency in nanoseconds below which reads did not come from a storage device: the fastest devices alone take 5
/// µs, and the kernel adds to that.
const CACHE_NS_MAX: f64 = 10_000.0;

const SECTOR_BYTES: u64 = 512;

/// Minimum run time of fio, in nanoseconds, for its device counters to be meaningful.
const COUNTERS_NS: f64 = 1e9;

pub(crate) fn errors(facts: Facts<'_>) -> Option<Finding> {
    let (result, job) = (facts.result(), facts.job);
    if result.errors == 0 && job.error == 0 {
        return None;
    }
    let tolerated = facts.declared().continue_on_error && job.error == 0;
    let severity = if tolerated { Severity::Warning } else { Severity::Distrust };
    let first = if result.first_error == 0 { job.error } else { result.first_error };
    let finding = Finding::new(Code::ErrorsSeen, severity)
        // fio does not count operations that ended the job.
        .with(Quantity::Errors, (result.errors > 0).then_some(result.errors as f64), EvidenceSource::Counters)
        .with(Quantity::FirstError, f64::from(first), EvidenceSource::Counters);
    Some(finding)
}

/// Checks for written blocks that a verifying job did not read back, unless the user chose so.
pub(crate) fn not_verified(facts: Facts<'_>) -> Option<Finding> {
    let verified = facts.job.verified.as_ref()?;
    let unchecked = verified.unchecked.filter(|unchecked| !unchecked.is_chosen())?;
    // The amount of data written by an earlier run is unknown.
    let in_part = verified.written == 0 && verified.checked > 0 && unchecked != Unchecked::Payload;
    let finding = Finding::new(Code::NotVerified, if in_part { Severity::Warning } else { Severity::Distrust })
        .with(Quantity::BlocksWritten, verified.written as f64, EvidenceSource::Counters)
        .with(Quantity::BlocksChecked, verified.checked as f64, EvidenceSource::Counters);
    Some(finding)
}

/// Checks whether workers of one job read blocks of different runs. Within one worker that is a mismatch.
pub(crate) fn several_runs(facts: Facts<'_>) -> Option<Finding> {
    facts.job.verified.as_ref().filter(|verified| verified.written == 0)?;
    let of_job = facts.run.jobs.iter().filter(|job| job.name == facts.job.name);
    let mut nonces: Vec<u32> =
        of_job.filter_map(|job| job.verified.as_ref()).flat_map(|of| of.nonces.clone()).collect();
    nonces.sort_unstable();
    nonces.dedup();
    let finding = || {
        let runs = nonces.len() as f64;
        Finding::new(Code::SeveralRuns, Severity::Distrust).with(Quantity::RunsFound, runs, EvidenceSource::Counters)
    };
    // Each rank of a run on many hosts draws a nonce of its own.
    let ranks = facts.run.fleet.as_ref().map_or(1, |fleet| fleet.members.len().max(1));
    (nonces.len() > ranks).then(finding)
}

/// Checks for reads from the page cache. Device counters decide; without them, what was cached before the run; without
/// both, a speed that no device reaches. Readahead makes sequential buffered reads fast, so speed only counts for
/// random reads.
pub(crate) fn page_cache(facts: Facts<'_>) -> Option<Finding> {
    let read = &facts.result().read;
    if is_direct(facts) || !facts.has_device() || read.ios == 0 {
        return None;
    }
    let remedy = if is_unknown(facts) { Remedy::DirectUnlessGiven } else { Remedy::Direct };
    let finding = Finding::new(Code::PageCacheMeasured, cache_severity(facts)).remedy(remedy);
    let device_bytes = device_bytes(facts, |disk| (disk.read_ios, disk.read_sectors), |cache| cache.fetched_bytes);
    if let Some(device_bytes) = device_bytes {
        let job_bytes: u64 = facts.run.jobs.iter().map(|job| job.result.read.bytes).sum();
        let finding = finding.with(Quantity::JobBytes, job_bytes as f64, EvidenceSource::Counters);
        let finding = finding.with(Quantity::DeviceBytes, device_bytes as f64, device_source(facts));
        return (device_bytes < job_bytes / 2).then_some(finding);
    }
    let cached = cached_share(&facts.job.evidence.targets).filter(|&fraction| fraction >= 0.5);
    let median = read.with_percentiles().percentile_ns(50.0).map(|ns| ns as f64);
    // Where the engine blocks at submission, completion follows at once, whatever the device took.
    let waits = read.submission.mean_ns >= CACHE_NS_MAX || read.latency.min_ns as f64 >= CACHE_NS_MAX;
    let fast = median.filter(|&ns| ns < CACHE_NS_MAX && !waits && facts.declared().rw.starts_with("rand"));
    let finding = finding.with(Quantity::CachedShare, cached, EvidenceSource::PageCache);
    let finding = finding.with(Quantity::ServiceP50, fast, EvidenceSource::Histogram);
    (cached.is_some() || fast.is_some()).then_some(finding)
}

/// Checks for writes that ended in memory, unless device counters show that nearly all of them reached the device.
pub(crate) fn buffered_writes(facts: Facts<'_>) -> Option<Finding> {
    let write = &facts.result().write;
    if is_direct(facts) || facts.declared().syncs || !facts.has_device() || write.ios == 0 || write.bytes == 0 {
        return None;
    }
    let device_bytes =
        device_bytes(facts, |disk| (disk.write_ios, disk.write_sectors), |cache| cache.written_back_bytes);
    let job_bytes: u64 = facts.run.jobs.iter().map(|job| job.result.write.bytes).sum();
    // If it is unknown whether the page cache was bypassed, only counters and times that no device reaches show that it
    // was not.
    let is_memory = is_faster_than_devices(facts) || few_requests(facts);
    let unknown = is_unknown(facts) && device_bytes.is_none() && !is_memory;
    if unknown || device_bytes.is_some_and(|bytes| bytes as f64 >= 0.9 * job_bytes as f64) {
        return None;
    }
    let finding = Finding::new(Code::BufferedWritesUnsynced, cache_severity(facts))
        .with(Quantity::JobBytes, job_bytes as f64, EvidenceSource::Counters)
        .with(Quantity::DeviceBytes, device_bytes.map(|bytes| bytes as f64), device_source(facts))
        .remedy(if is_unknown(facts) { Remedy::SyncAtEndUnlessDirect } else { Remedy::SyncAtEnd });
    Some(finding)
}

/// Reports whether writes that wait for each other took less time than those of the fastest devices.
fn is_faster_than_devices(facts: Facts<'_>) -> bool {
    const DEVICE_NS_MIN: f64 = 5_000.0;
    let write = &facts.result().write;
    let mean_ns = write.service.mean_ns.max(write.latency.mean_ns);
    !facts.declared().queues && mean_ns > 0.0 && mean_ns < DEVICE_NS_MIN
}

/// Reports whether all devices together completed and merged fewer than half as many writes as jobs issued, each of which
/// would be a request at least.
fn few_requests(facts: Facts<'_>) -> bool {
    let disks = &facts.run.disks;
    let requests = |disk: &DiskUse| disk.write_ios + disk.write_merges;
    let written: u64 = facts.run.jobs.iter().map(|job| job.result.write.ios).sum();
    are_counted(facts, |disk| disk.write_ios > 0) && disks.iter().map(requests).sum::<u64>() < written / 2
}

/// Reports whether operations are known to bypass the page cache.
fn is_direct(facts: Facts<'_>) -> bool {
    facts.declared().known_direct() == Some(true)
}

/// Reports whether the source leaves `direct` unknown.
fn is_unknown(facts: Facts<'_>) -> bool {
    facts.declared().known_direct().is_none()
}

/// Returns the severity of cached operations: a warning if the job asked for the page cache, else distrust. A job that
/// verifies is run for its data, not for its figures.
fn cache_severity(facts: Facts<'_>) -> Severity {
    let intended = facts.chose_cache() || facts.declared().verify || facts.declared().header_only;
    if intended { Severity::Warning } else { Severity::Distrust }
}

/// Returns the bytes that all devices transferred, if their counters are complete: an import may have operations
/// without sectors. Modelled volumes use the counters of their page caches.
fn device_bytes(
    facts: Facts<'_>,
    pick: fn(&DiskUse) -> (u64, u64),
    modelled: fn(&PageCacheCounts) -> u64,
) -> Option<u64> {
    if let Some(model) = facts.run.model.as_ref().filter(|model| !model.page_caches.is_empty()) {
        return Some(model.page_caches.iter().map(modelled).sum());
    }
    let is_whole = |disk: &DiskUse| matches!(pick(disk), (0, _) | (_, 1..));
    are_counted(facts, is_whole).then(|| facts.run.disks.iter().map(|disk| pick(disk).1 * SECTOR_BYTES).sum())
}

/// Reports whether the devices of all hosts have counters, as a condition says, over all the time.
fn are_counted(facts: Facts<'_>, is_whole: impl Fn(&DiskUse) -> bool) -> bool {
    let disks = &facts.run.disks;
    // The counters of some hosts say nothing about the bytes of all.
    let counted =
        |host: &str| disks.iter().any(|disk| disk.name.strip_prefix(host).is_some_and(|rest| rest.starts_with(':')));
    if facts.run.fleet.as_ref().is_some_and(|fleet| fleet.members.iter().any(|member| !counted(&member.hostname))) {
        return false;
    }
    // fio samples the counters every quarter of a second, but not at the end.
    let longest_ns = facts.run.jobs.iter().map(|job| job.result.elapsed_ns() as f64).fold(0.0, f64::max);
    let seen = facts.run.tool.name != "fio" || longest_ns >= COUNTERS_NS;
    // Linux counts no operations of RAM disks.
    let counts = |disk: &DiskUse| !disk.name.rsplit(':').next().is_some_and(is_ram_disk);
    // Nor any of a device whose `iostats` are off.
    let is_kept =
        disks.iter().any(|disk| disk.read_ios + disk.write_ios + disk.read_ticks_ms + disk.write_ticks_ms > 0);
    seen && is_kept && disks.iter().all(|disk| counts(disk) && is_whole(disk))
}

/// Reports whether a device is a RAM disk: `ram0`.
fn is_ram_disk(name: &str) -> bool {
    name.strip_prefix("ram")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the source of device counters.
fn device_source(facts: Facts<'_>) -> EvidenceSource {
    if facts.run.model.is_some() { EvidenceSource::Model } else { EvidenceSource::DiskCounters }
}

/// Returns the cached fraction of all targets for which it is known, weighted by size.
fn cached_share(targets: &[TargetFacts]) -> Option<f64> {
    let known = || targets.iter().filter_map(|target| Some((target.size as f64, target.cached_before?)));
    let size: f64 = known().map(|(size, _)| size).sum();
    (size > 0.0).then(|| known().map(|(size, fraction)| size * fraction).sum::<f64>() / size)
}

/// Checks for reads of unwritten parts, which the filesystem answers without the device.
pub(crate) fn holes(facts: Facts<'_>) -> Option<Finding> {
    let (read, write) = (&facts.result().read, &facts.result().write);
    if read.ios == 0 || write.ios > 0 || !facts.has_device() {
        return None;
    }
    let regular = facts.job.evidence.targets.iter().filter(|target| target.kind == TargetKind::Regular);
    let known = regular.filter_map(|target| Some((target.size, target.allocated?)));
    let (size, written) = known.fold((0u64, 0u64), |(size, written), (s, w)| (size + s, written + w.min(s)));
    if size == 0 || written as f64 >= 0.9 * size as f64 {
        return None;
    }
    let finding = Finding::new(Code::HolesRead, Severity::Distrust)
        .with(Quantity::FileBytes, size as f64, EvidenceSource::Files)
        .with(Quantity::WrittenBytes, written as f64, EvidenceSource::Files)
        .remedy(Remedy::WriteFirst);
    Some(finding)
}

/// Checks for a change of throughput that an average hides: exhausted credits, a full cache, a warm-up.
pub(crate) fn drift(facts: Facts<'_>) -> Option<Finding> {
    let (early, late) = facts.series().early_and_late()?;
    if !facts.has_device() || early <= 0.0 || (0.8..1.25).contains(&(late / early)) {
        return None;
    }
    let runtime_s = (facts.result().elapsed_ns() as f64 / 1e9 * 5.0).ceil() as u64;
    // A longer run does not help if the reason is known.
    let reason = facts.run.model.as_ref().filter(|_| late < early);
    let reason = reason.and_then(|known| model::spent(known.stages_of(facts.job)));
    // A trace varies by itself.
    if facts.job.replay.is_some() && reason.is_none() {
        return None;
    }
    let phases = reason.and_then(|(_, gone_ns)| facts.series().before_and_after(gone_ns));
    let (early, late) = phases.unwrap_or((early, late));
    let finding = Finding::new(Code::BurstOrDrift, Severity::Advice)
        .with(Quantity::EarlyIops, early, EvidenceSource::Intervals)
        .with(Quantity::LateIops, late, EvidenceSource::Intervals);
    Some(match reason.filter(|_| phases.is_some()) {
        Some((stage, gone_ns)) => {
            let finding = finding.about(&stage.name).with(Quantity::CreditsGone, gone_ns, EvidenceSource::Model);
            let ramp_s = (gone_ns / 1e9).ceil() as u64;
            // A trace is replayed from its beginning.
            if facts.job.replay.is_none() { finding.remedy(Remedy::Ramp { ramp_s }) } else { finding }
        }
        None if facts.job.replay.is_some() => finding,
        None => finding.remedy(Remedy::RunLonger { runtime_s: runtime_s.max(300) }),
    })
}

pub(crate) fn short_run(facts: Facts<'_>) -> Option<Finding> {
    let (ios, elapsed_ns) = (facts.result().ios(), facts.result().elapsed_ns() as f64);
    // A model shows the same in a second of its own time as in an hour.
    let modelled = facts.run.model.is_some();
    // A replay is as long as its trace.
    if modelled
        || facts.job.replay.is_some()
        || !facts.has_device()
        || ios == 0
        || elapsed_ns <= 0.0
        || (elapsed_ns >= 5e9 && ios >= 1_000)
    {
        return None;
    }
    let finding = Finding::new(Code::ShortRun, Severity::Info)
        .with(Quantity::Runtime, elapsed_ns, EvidenceSource::Counters)
        .with(Quantity::Operations, ios as f64, EvidenceSource::Counters)
        .remedy(Remedy::RunLonger { runtime_s: if elapsed_ns < 5e9 { 30 } else { 300 } });
    Some(finding)
}

pub(crate) fn interrupted(facts: Facts<'_>) -> Option<Finding> {
    let elapsed_ns = facts.result().elapsed_ns() as f64;
    (facts.run.outcome == RunOutcome::Interrupted).then(|| {
        Finding::new(Code::Interrupted, Severity::Info).with(Quantity::Runtime, elapsed_ns, EvidenceSource::Counters)
    })
}
