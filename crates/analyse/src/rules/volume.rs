//! Rules that compare figures with a modelled volume.

use crate::expectation::{CapKind, ExpectedCap, ExpectedPoint, LargerFigure, REACHED};
use crate::{Code, EvidenceSource, Expectation, Finding, Observation, Quantity, Remedy, Severity};
use units::requests_in_flight;

/// Relative difference up to which caps are reached at the same time.
const EQUAL: f64 = 0.005;

/// Fraction of the expected throughput from which a shortfall does not matter. A queue that is always full is limited by a
/// cap that is as near.
const SHORT: f64 = 0.9;

/// Factor over the knee from which latency is mostly queueing.
const BEYOND: f64 = 2.0;

/// Factor over the latency without queueing from which requests queued, or went to another volume.
const WAITED: f64 = 1.5;

/// The same factor if that latency is assumed, where providers promise no more than a number of digits, and no more are in
/// flight than the limit takes.
const WAITED_BEYOND_ASSUMED: f64 = 5.0;

/// Relative difference up to which the model's latency is the measured one, so that its forecast can be trusted.
const ALIKE: f64 = 0.15;

/// Busy fraction from which a device is never idle; bursts leave it idle in between.
const NEVER_IDLE: f64 = 0.9;

/// Fractions of the latency without queueing below which the requests did not go to this volume: of one that is published,
/// measured (in part with a queue), and assumed, where only what no network or medium can do counts.
const TOO_FAST: f64 = 0.5;
const TOO_FAST_MEASURED: f64 = 0.25;
const TOO_FAST_ASSUMED: f64 = 0.125;

/// An observation and the volume to compare it with.
pub(super) struct VolumeCase<'a, 'b> {
    pub(super) seen: &'a Observation,
    pub(super) volume: &'a Expectation<'b>,
    pub(super) iops: f64,
    iops_source: EvidenceSource,
}

impl<'a, 'b> VolumeCase<'a, 'b> {
    pub(super) fn of(seen: &'a Observation, volume: &'a Expectation<'b>) -> Option<Self> {
        let iops = seen.iops?;
        Some(Self { seen, volume, iops: iops.value(), iops_source: iops.source })
    }

    /// Returns the caps that credits do not suspend at this rate, lowest first, so most utilized first.
    fn in_force(&self) -> impl Iterator<Item = &'a ExpectedCap> {
        let iops = self.iops;
        self.volume.caps.iter().filter(move |cap| !cap.is_burst(iops) || self.is_spent(cap))
    }

    /// Reports whether the credits of a cap must be spent: a queue that is always full stays at its rate.
    fn is_spent(&self, cap: &ExpectedCap) -> bool {
        let burst = self.volume.depth_for(self.volume.burst_iops);
        self.iops <= (2.0 - SHORT) * cap.iops && burst.is_some_and(|depth| self.is_kept_full(depth))
    }

    /// Reports whether far more operations than a depth were always in flight, so that most of each one's time is waiting.
    fn is_kept_full(&self, depth: f64) -> bool {
        let Some(alone_ns) = self.volume.alone_ns else { return false };
        let is_full = self.seen.closed && self.waited(alone_ns) || self.is_slow_without_bursts();
        // Half of the operations of such a queue do not find it empty.
        let is_usual = self.seen.median_ns.is_none_or(|median| median.value() > WAITED * alone_ns);
        is_full && is_usual && self.in_flight().is_some_and(|in_flight| in_flight > BEYOND * depth.max(1.0))
    }

    /// Returns the most utilized cap, if it is reached; at equal utilization, a cap of the volume before one of its
    /// machine.
    fn reached(&self) -> Option<&'a ExpectedCap> {
        let lowest = self.in_force().next().filter(|_| !self.is_above())?;
        let equal = self.in_force().filter(|cap| cap.iops <= (1.0 + EQUAL) * lowest.iops);
        let named = equal.min_by_key(|cap| !matches!(cap.kind, CapKind::VolumeIops | CapKind::VolumeBytes))?;
        let is_near =
            || self.iops >= SHORT * named.iops && self.knee(named).is_some_and(|knee| self.is_kept_full(knee));
        (self.iops >= (1.0 - REACHED) * named.iops || is_near()).then_some(named)
    }

    /// Returns the highest rate that the volume ever gives, including bursts and the provider's tolerance.
    fn admits(&self) -> f64 {
        let plain = self.volume.caps.iter().filter(|cap| cap.credits.is_none()).map(ExpectedCap::admits);
        let other = if self.volume.caps.is_empty() { (1.0 + REACHED) * self.volume.burst_iops } else { f64::INFINITY };
        plain.fold(other, f64::min)
    }

    /// Reports whether the rate exceeds that, given its rounding.
    fn is_above(&self) -> bool {
        let most =
            self.admits().min(self.mean_with_credits().map_or(f64::INFINITY, |(_, mean)| (1.0 + REACHED) * mean));
        self.seen.iops.is_some_and(|iops| iops.low > most)
    }

    /// Returns the highest mean rate of a run of this length that begins with full credits, and the cap that bounds it.
    fn mean_with_credits(&self) -> Option<(&'a ExpectedCap, f64)> {
        self.volume.mean_with_credits(self.seen.seconds?)
    }

    /// Reports whether the rate spends credits.
    fn is_burst(&self) -> bool {
        self.volume.binding().is_some_and(|lowest| lowest.is_burst(self.iops) && !self.is_spent(lowest))
    }

    /// Returns the operations in flight that reach a cap.
    fn knee(&self, cap: &ExpectedCap) -> Option<f64> {
        self.volume.depth_for(cap.iops).filter(|knee| *knee > 0.0)
    }

    fn finding(&self, code: Code, severity: Severity) -> Finding {
        Finding::new(code, severity).about(&self.volume.volume).with(Quantity::Iops, self.iops, self.iops_source)
    }

    /// Starts a finding about fewer operations than a cap allows, with the actual and the needed operations in flight.
    fn shallow(&self, code: Code, cap: &ExpectedCap, in_flight: f64, needed: f64) -> Finding {
        let source = self.seen.in_flight.map_or(EvidenceSource::LittlesLaw, |known| known.source);
        self.finding(code, Severity::Advice)
            .with(Quantity::CapIops, cap.iops, EvidenceSource::Model)
            .with(Quantity::InFlightAchieved, in_flight, source)
            .with(Quantity::InFlightNeeded, needed, EvidenceSource::LittlesLaw)
    }

    /// Returns the mean size of the operations if a cap is stated in bytes.
    fn block_of(&self, cap: &ExpectedCap) -> Option<f64> {
        let in_bytes = matches!(cap.kind, CapKind::VolumeBytes | CapKind::Egress);
        self.seen.mean_bytes().filter(|_| in_bytes).map(|block| block.value())
    }

    fn bytes_source(&self) -> EvidenceSource {
        self.seen.bytes_per_second.map_or(self.iops_source, |bytes| bytes.source)
    }

    fn in_flight(&self) -> Option<f64> {
        Some(self.seen.in_flight()?.value())
    }

    /// Reports whether requests took longer than the volume takes without queueing.
    fn waited(&self, alone_ns: f64) -> bool {
        // With less than one in flight, as a mean of requests one at a time, nothing queued.
        let queued = self.is_counted() || self.in_flight().is_none_or(|in_flight| in_flight >= SHORT);
        let knee = self.volume.knee().unwrap_or(0.0);
        let may_be_slow = self.volume.latency_is_assumed
            && self.in_flight().is_some_and(|in_flight| in_flight < BEYOND * knee.max(1.0));
        let factor = if may_be_slow { WAITED_BEYOND_ASSUMED } else { WAITED };
        queued && self.seen.latency_ns.is_some_and(|latency| latency.value() > factor * alone_ns)
    }

    /// Reports whether requests took less time than the volume needs.
    fn is_too_fast(&self) -> bool {
        let factor = match (self.volume.latency_is_measured, self.volume.latency_is_assumed) {
            (true, _) => TOO_FAST_MEASURED,
            (_, true) => TOO_FAST_ASSUMED,
            (false, false) => TOO_FAST,
        };
        let (alone_ns, latency) = (self.volume.alone_ns, self.seen.latency_ns);
        alone_ns.zip(latency).is_some_and(|(alone_ns, latency)| latency.high < factor * alone_ns)
    }

    /// Simulates the volume at another depth; `None` if its latency is not that of the observation.
    fn forecast(&self, in_flight: u64) -> Option<ExpectedPoint> {
        let (alone_ns, latency) = (self.volume.alone_ns?, self.seen.latency_ns);
        let is_alike =
            latency.is_none_or(|latency| (latency.value() / alone_ns - 1.0).abs() <= ALIKE || self.waited(alone_ns));
        if is_alike { (self.volume.at)(in_flight as f64) } else { None }
    }

    /// Reports whether a device was busy all the time with requests that took longer than that, which bursts do not
    /// explain.
    fn is_slow_without_bursts(&self) -> bool {
        let never_idle = self.seen.busy.is_some_and(|busy| busy.value() >= NEVER_IDLE);
        self.is_counted() && never_idle && self.volume.alone_ns.is_some_and(|alone_ns| self.waited(alone_ns))
    }

    /// Reports whether the figures are device counters of an interval.
    fn is_counted(&self) -> bool {
        self.seen.is_counted() && !self.seen.since_boot
    }

    fn per_worker(&self, total: f64) -> u64 {
        requests_in_flight(total).div_ceil(self.seen.workers.unwrap_or(1).max(1))
    }
}

/// Checks which cap is reached.
pub(super) fn cap(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let cap = case.reached()?;
    // Fewer in flight than the model needs were enough.
    let knee =
        case.knee(cap).filter(|knee| case.in_flight().is_none_or(|in_flight| in_flight >= (1.0 - REACHED) * knee));
    let (code, severity) = match cap.kind {
        CapKind::VolumeIops => (Code::VolumeIopsCap, Severity::Info),
        CapKind::VolumeBytes => (Code::VolumeThroughputCap, Severity::Info),
        CapKind::Machine => (Code::MachineCap, Severity::Advice),
        CapKind::Egress => (Code::EgressCap, Severity::Advice),
        CapKind::Station => (Code::StationCap, Severity::Info),
    };
    let block = case.block_of(cap);
    // Above the nominal rate by more than rounding.
    let above = Some(case.iops / cap.iops - 1.0).filter(|above| *above > REACHED);
    let tolerance = above.map(|_| cap.tolerance).filter(|tolerance| *tolerance > 0.0);
    // What credits would give, if they were not spent.
    let burst = Some(case.volume.burst_iops).filter(|_| cap.is_burst(case.iops));
    // The next cap, if this one were lifted, which may be as low.
    let others =
        case.volume.caps.iter().filter(|other| other.name != cap.name && other.iops >= (1.0 - EQUAL) * cap.iops);
    let next = others.map(|other| other.iops).reduce(f64::min);
    let finding = case
        .finding(code, severity)
        .about(&cap.name)
        .with(Quantity::CapIops, cap.iops, EvidenceSource::Model)
        .with(Quantity::BytesPerSecondMade, block.map(|block| case.iops * block), case.bytes_source())
        .with(Quantity::CapBytesPerSecond, block.map(|block| cap.iops * block), EvidenceSource::Model)
        .with(Quantity::NextCapIops, next, EvidenceSource::Model)
        .with(Quantity::InFlightAchieved, case.in_flight(), EvidenceSource::LittlesLaw)
        .with(Quantity::KneeInFlight, knee, EvidenceSource::Model)
        .with(Quantity::AboveNominal, above, case.iops_source)
        .with(Quantity::Tolerance, tolerance, EvidenceSource::Model)
        .with(Quantity::BurstIops, burst, EvidenceSource::Model);
    Some(finding)
}

/// Checks whether the size of the volume, or what was provisioned, determines its limit.
pub(super) fn size(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let cap = case.reached().filter(|cap| matches!(cap.kind, CapKind::VolumeIops | CapKind::VolumeBytes))?;
    // Figures of larger volumes are sustained ones.
    if case.is_burst() {
        return None;
    }
    let larger = case.volume.larger?;
    let finding = |code| {
        case.finding(code, Severity::Info)
            .with(Quantity::CapIops, cap.iops, EvidenceSource::Model)
            .with(Quantity::VolumeBytes, case.volume.bytes as f64, EvidenceSource::Model)
            .with(Quantity::LargerIops, larger.iops, EvidenceSource::Model)
    };
    Some(match larger.figure {
        LargerFigure::Size { bytes, iops, bytes_per_second } => finding(Code::SizeTooSmall)
            .with(Quantity::LargerBytes, bytes as f64, EvidenceSource::Model)
            .remedy(Remedy::GrowVolume { bytes, iops, bytes_per_second }),
        LargerFigure::ProvisionedIops(iops) => finding(Code::ProvisionedTooLow).remedy(Remedy::ProvisionIops { iops }),
        LargerFigure::ProvisionedThroughput(bytes_per_second) => {
            finding(Code::ProvisionedTooLow).remedy(Remedy::ProvisionThroughput { bytes_per_second })
        }
    })
}

/// Checks whether the throughput limit is reached before the IOPS limit.
pub(super) fn bytes_first(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    case.reached().filter(|cap| cap.kind == CapKind::VolumeBytes)?;
    let (break_even, block) = (case.volume.break_even_bytes?, case.seen.mean_bytes()?);
    (block.low >= break_even).then(|| {
        let finding = case.finding(Code::BytesBeforeIops, Severity::Info).with_figure(Quantity::BlockBytes, block);
        finding.with(Quantity::BreakEvenBytes, break_even, EvidenceSource::Model)
    })
}

/// Checks whether reads and writes draw on one budget.
pub(super) fn shared(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let cap = case.reached().filter(|cap| cap.shared)?;
    let reads = case.seen.read_share.filter(|share| (0.02..=0.98).contains(share))?;
    let finding = case
        .finding(Code::SharedBudget, Severity::Info)
        .about(&cap.name)
        .with(Quantity::ReadShare, reads, case.iops_source)
        .with(Quantity::CapIops, cap.iops, EvidenceSource::Model);
    Some(finding)
}

/// Checks whether too few operations were in flight to reach the lowest cap. If only device counters are known, there was
/// no queue to keep full: the application had no more requests, or issues too few at a time.
pub(super) fn too_shallow(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let cap = case.volume.binding().filter(|cap| case.iops < (1.0 - REACHED) * cap.iops)?;
    let (in_flight, alone_ns, seen) = (case.in_flight()?, case.volume.alone_ns?, case.seen);
    let (counted, waited) = (case.is_counted(), case.waited(alone_ns));
    // Measured latency is more exact than the model, unless it includes queueing.
    let unqueued = seen.latency_ns.filter(|_| !waited);
    let (latency_ns, source) =
        unqueued.map_or((alone_ns, EvidenceSource::Model), |known| (known.value(), known.source));
    let needed = (cap.iops * latency_ns / 1e9).max(case.volume.least_depth());
    let queued = if counted { case.is_slow_without_bursts() } else { waited || !seen.closed };
    // Requests that a cache served tell nothing of the volume.
    if in_flight >= (1.0 - REACHED) * needed || queued || too_fast(case).is_some() {
        return None;
    }
    let finding =
        case.shallow(Code::QueueTooShallow, cap, in_flight, needed).with(Quantity::ServiceMean, latency_ns, source);
    let finding = with_volume_of_machine(case, cap, finding);
    // A run has a job, which has a depth; a claim of a database has not.
    let is_of_job = matches!(case.iops_source, EvidenceSource::Counters | EvidenceSource::Printed);
    if counted || seen.database.is_some() && !is_of_job {
        let wanted = requests_in_flight(needed);
        let reads = seen.read_share.is_none_or(|share| share >= 0.5);
        let finding = finding
            .with_figure(Quantity::LatencyMean, seen.latency_ns)
            .with_figure(Quantity::BusyShare, seen.busy.map(|busy| seen.over_all(busy)))
            .with(Quantity::HostCpuShare, seen.host_cpu, source_of_counters(seen))
            .remedy(Remedy::MoreInFlight { in_flight: wanted, reads, database: seen.database })
            .counterfactual(case.forecast(wanted));
        return Some(finding);
    }
    let iodepth = case.per_worker(needed);
    let remedy = match seen.queues {
        Some(false) => Remedy::QueueingEngine { iodepth },
        _ => Remedy::RaiseDepth { iodepth },
    };
    let forecast = case.forecast(iodepth * seen.workers.unwrap_or(1).max(1));
    Some(finding.with_figure(Quantity::InFlightPossible, seen.depth).remedy(remedy).counterfactual(forecast))
}

/// Adds what the volume could do, and how long credits last, to a finding whose cap is one of the machine.
fn with_volume_of_machine(case: &VolumeCase<'_, '_>, cap: &ExpectedCap, finding: Finding) -> Finding {
    if !matches!(cap.kind, CapKind::Machine | CapKind::Egress) {
        return finding;
    }
    let of_volume =
        case.volume.caps.iter().filter(|cap| matches!(cap.kind, CapKind::VolumeIops | CapKind::VolumeBytes));
    let burst = case.volume.burst_iops;
    let lasts = case.volume.credits_last(burst).filter(|(first, _)| first.name == cap.name).map(|(_, secs)| secs * 1e9);
    finding
        .about(&cap.name)
        .with(Quantity::NextCapIops, of_volume.map(|cap| cap.iops).reduce(f64::min), EvidenceSource::Model)
        .with(Quantity::BurstIops, lasts.map(|_| burst), EvidenceSource::Model)
        .with(Quantity::BurstLasts, lasts, EvidenceSource::Model)
}

/// Returns where CPU time comes from: the counters that also have the requests.
fn source_of_counters(seen: &Observation) -> EvidenceSource {
    seen.iops.map_or(EvidenceSource::Iostat, |iops| iops.source)
}

/// Checks for enough operations in flight on average, but in bursts with idle time between them.
pub(super) fn uneven(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let cap = case.volume.binding().filter(|cap| case.is_counted() && case.iops < (1.0 - REACHED) * cap.iops)?;
    let (in_flight, alone_ns, latency) = (case.in_flight()?, case.volume.alone_ns?, case.seen.latency_ns?);
    let busy = case.seen.busy.filter(|busy| busy.value() < NEVER_IDLE)?;
    let needed = case.knee(cap)?;
    (case.waited(alone_ns) && in_flight >= (1.0 - REACHED) * needed).then(|| {
        case.shallow(Code::QueueNotFilled, cap, in_flight, needed)
            .with(Quantity::ServiceMean, alone_ns, EvidenceSource::Model)
            .with_figure(Quantity::LatencyMean, latency)
            .with_figure(Quantity::BusyShare, case.seen.over_all(busy))
            .with(Quantity::HostCpuShare, case.seen.host_cpu, source_of_counters(case.seen))
    })
}

/// Checks for a queue far beyond the knee, where latency is mostly queueing.
pub(super) fn beyond_knee(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let (in_flight, knee) = (case.in_flight()?, case.knee(case.reached()?)?);
    let latency = case.seen.latency_ns?;
    if in_flight <= BEYOND * knee.max(1.0) {
        return None;
    }
    let total = requests_in_flight(knee);
    // Each worker has at least one operation in flight.
    let remedy = match case.seen.workers.unwrap_or(1) > total {
        _ if case.seen.is_counted() => Remedy::FewerInFlight { in_flight: total },
        true => Remedy::FewerWorkers { numjobs: total },
        false => Remedy::LowerDepth { iodepth: case.per_worker(knee), total },
    };
    let finding = case
        .finding(Code::BeyondKnee, Severity::Advice)
        .with(Quantity::InFlightAchieved, in_flight, EvidenceSource::LittlesLaw)
        .with(Quantity::KneeInFlight, knee, EvidenceSource::Model)
        .with(Quantity::KneeFactor, in_flight / total as f64, EvidenceSource::Model)
        .with_figure(Quantity::LatencyMean, latency)
        .remedy(remedy)
        // Sustained throughput does not describe a burst.
        .counterfactual((case.volume.at)(total as f64).filter(|_| !case.is_burst()));
    Some(finding)
}

/// Longest runtime to advise, in seconds.
const RUNTIME_MAX_S: u64 = 43_200;

/// Checks for more than the sustained rate, but no more than a burst allows.
pub(super) fn burst_running(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let (cap, burst) = (case.volume.binding()?, case.volume.burst_iops);
    if !case.is_burst() || case.is_above() {
        return None;
    }
    let finding = case
        .finding(Code::BurstRunning, Severity::Warning)
        .about(&cap.name)
        .with(Quantity::BurstIops, burst, EvidenceSource::Model)
        .with(Quantity::Runtime, case.seen.seconds.map(|secs| secs * 1e9), EvidenceSource::Counters);
    let (Some((_, secs)), Some((first, lasts))) =
        (case.volume.credits_last(burst), case.volume.credits_last(case.iops))
    else {
        return Some(finding.with(Quantity::CapIops, cap.iops, EvidenceSource::Model));
    };
    // A longer run includes both levels in its mean.
    let finding = finding.about(&first.name).with(Quantity::CapIops, first.iops, EvidenceSource::Model);
    let ended = case.seen.seconds.is_some_and(|seconds| seconds >= 0.95 * lasts);
    let runtime_s = (2.0 * lasts).ceil().max(1.0) as u64;
    let remedy = match ended {
        true => Some(Remedy::Ramp { ramp_s: secs.ceil() as u64 }),
        false => Some(Remedy::RunLonger { runtime_s }).filter(|_| runtime_s <= RUNTIME_MAX_S),
    };
    let shown = if ended { secs } else { lasts };
    Some(finding.with(Quantity::BurstLasts, shown * 1e9, EvidenceSource::Model).remedy(remedy))
}

/// Checks for more than the volume can give at all.
pub(super) fn above(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    // A mechanical drive has no cap; its maximum is the throughput of a full queue.
    let cap = case.volume.caps.iter().find(|cap| cap.credits.is_none());
    let (name, most) = cap.map_or((&case.volume.volume, case.volume.burst_iops), |cap| (&cap.name, cap.iops));
    // A mean that credits do not last for.
    let mean = case.mean_with_credits().filter(|(_, mean)| *mean < most);
    case.is_above().then(|| {
        let finding = case.finding(Code::AboveExpectation, Severity::Warning);
        let finding = match mean {
            Some((cap, _)) => finding.about(&cap.name).with(
                Quantity::Runtime,
                case.seen.seconds.map(|s| s * 1e9),
                EvidenceSource::Counters,
            ),
            None => finding.about(name),
        };
        let block = cap.and_then(|cap| case.block_of(cap));
        finding
            .with(Quantity::CapIops, mean.map_or(most, |(_, mean)| mean), EvidenceSource::Model)
            .with(Quantity::BytesPerSecondMade, block.map(|block| case.iops * block), case.bytes_source())
            .with(Quantity::CapBytesPerSecond, block.map(|block| most * block), EvidenceSource::Model)
    })
}

/// Checks for enough operations in flight, but less throughput than expected.
pub(super) fn below(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    // At the limit the volume gives all it can, whatever a short simulation predicts.
    if case.reached().is_some() {
        return None;
    }
    // Without a block size, which limit holds is not known. Fewer than one in flight leave the volume idle in between.
    if case.seen.mean_bytes().is_none() || case.in_flight()? < SHORT {
        return None;
    }
    let expected = (case.volume.at)(case.in_flight()?)?;
    // Operations took longer than they would on the volume.
    let slower = case.seen.latency_ns.is_some_and(|latency| latency.low > expected.latency_ns / SHORT);
    // Below the knee, the model is as good as its latency.
    if !case.volume.latency_is_measured && case.volume.alone_ns.is_some_and(|alone_ns| !case.waited(alone_ns)) {
        return None;
    }
    let kept_full = case.seen.closed && slower || case.is_slow_without_bursts();
    (kept_full && case.seen.iops?.high < SHORT * expected.iops).then(|| {
        case.finding(Code::BelowExpectation, Severity::Warning)
            .with(Quantity::InFlightAchieved, expected.in_flight, EvidenceSource::LittlesLaw)
            .with(Quantity::ExpectedIops, expected.iops, EvidenceSource::Model)
            .with(Quantity::ExpectedLatency, expected.latency_ns, EvidenceSource::Model)
            .with_figure(Quantity::LatencyMean, case.seen.latency_ns)
            // A limit of the machine that is not known comes before the host.
            .remedy((!case.volume.machine_is_unknown).then_some(Remedy::Doctor))
    })
}

/// Checks for reads of a job that complete faster than the volume can answer: unwritten blocks, or a cache. Counters of a
/// device have neither the job nor its file.
pub(super) fn too_fast(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let (alone_ns, latency) = (case.volume.alone_ns?, case.seen.latency_ns?);
    let reads = case.seen.read_share.is_some_and(|share| share > 0.5);
    (reads && !case.seen.is_counted() && case.is_too_fast()).then(|| {
        case.finding(Code::UnwrittenBlocks, Severity::Warning)
            .with_figure(Quantity::LatencyMean, latency)
            .with(Quantity::ExpectedLatency, alone_ns, EvidenceSource::Model)
            .remedy(Remedy::WriteFirst)
    })
}

/// Checks for fewer CPUs than the provider's rule requires.
pub(super) fn cpus(case: &VolumeCase<'_, '_>) -> Option<Finding> {
    let (cpus, per_cpu) = (case.seen.cpus?, case.volume.iops_per_cpu?);
    let wanted = case.volume.binding()?.iops / per_cpu;
    (wanted > cpus.high).then(|| {
        case.finding(Code::CpusShort, Severity::Advice)
            .with_figure(Quantity::Cpus, cpus)
            .with(Quantity::CpusNeeded, wanted.ceil(), EvidenceSource::Model)
            .with(Quantity::IopsPerCpu, per_cpu, EvidenceSource::Model)
    })
}
