//! Sentences of findings: statement, remedy and outlook.

use analyse::{Code, Explanation, Finding, Quantity, Remedy, Severity};
use record::{JobResult, Unchecked};
use units::{Bytes, Nanos, count, grouped, percent, requests_in_flight, significant};

pub(crate) mod changes;
mod databases;
mod explain;
mod figures;
mod measured;
mod pages;
mod providers;
mod ranks;
mod run;
mod totals;
mod volume;

pub(crate) use databases::{setting_line, settings};
pub(crate) use explain::{Origin, explain_answer};
pub(crate) use measured::{JOBS_ANSWERED, rests_on, run_answers, tail_is_assumed};
pub(crate) use pages::run_findings_markdown;
pub(crate) use providers::{azure_sku, create as create_volume, create_machine};
pub(crate) use run::{replay, replay_notes, replay_tone};
pub(crate) use run::{verified, verified_tone};
pub(crate) use totals::{LARGE_BYTES, TotalFigures, limit, modelled_percentile};

/// Formats a percentile: `2.8 ms`, `\u{2265} 17.1 s` in the last class of a histogram, `-` if it is unknown.
pub(crate) fn percentile(percentile: Option<record::Percentile>) -> String {
    match percentile {
        Some(known) => format!("{}{}", if known.at_least { "\u{2265}" } else { "" }, Nanos::new(known.ns)),
        None => "-".to_owned(),
    }
}

pub(crate) const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Advice => "advice",
        Severity::Warning => "warning",
        Severity::Distrust => "distrust",
    }
}

/// What the sentences of a finding need to know about its job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentenceContext<'a> {
    pub engine: &'a str,
    /// Path of the job's first file.
    pub path: &'a str,
    /// Why some written blocks were not verified.
    pub unchecked: Option<Unchecked>,
    /// Whether the job verifies.
    pub verify: bool,
    /// Whether the figures come from an observed device or a claim, which has no job options to set.
    pub observed: bool,
    /// Whether it is unknown how long the job ran.
    pub untimed: bool,
    /// Whether a steady state ended the job.
    pub steady: bool,
}

impl Default for SentenceContext<'_> {
    fn default() -> Self {
        Self {
            engine: "the engine",
            path: "the file",
            unchecked: None,
            verify: false,
            observed: false,
            untimed: false,
            steady: false,
        }
    }
}

impl<'a> From<&'a JobResult> for SentenceContext<'a> {
    fn from(job: &'a JobResult) -> Self {
        let path = job.evidence.targets.first().map_or(Self::default().path, |target| target.path.as_str());
        let unchecked = job.verified.as_ref().and_then(|verified| verified.unchecked);
        Self {
            engine: &job.declared.engine,
            path,
            unchecked,
            verify: job.declared.verify,
            observed: false,
            untimed: job.untimed,
            steady: job.steady.as_ref().is_some_and(|steady| steady.is_attained),
        }
    }
}

impl<'a> From<&'a Explanation> for SentenceContext<'a> {
    fn from(explanation: &'a Explanation) -> Self {
        let engine = explanation.engine.as_deref();
        Self {
            engine: engine.unwrap_or(Self::default().engine),
            observed: engine.is_none(),
            verify: explanation.verifies,
            steady: explanation.ended_steady,
            ..Self::default()
        }
    }
}

/// The sentences of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentenceParts {
    /// What was found.
    pub statement: String,
    /// What to change.
    pub remedy: Option<String>,
    /// What the model predicts after the change.
    pub outlook: Option<String>,
}

pub(crate) fn parts<'a>(finding: &Finding, about: impl Into<SentenceContext<'a>>) -> SentenceParts {
    let about = about.into();
    let outlook = finding.counterfactual.map(|point| {
        let (in_flight, latency) = (whole_number(point.in_flight), Nanos::new(point.latency_ns.round() as u64));
        format!("With {in_flight} in flight: {} IOPS at {latency}.", count(point.iops))
    });
    let remedy = finding.remedy.as_ref().map(|remedy| remedy_text(remedy, finding, about));
    SentenceParts { statement: capitalized(&statement(finding, about)), remedy, outlook }
}

/// Returns the sentences of a finding as one paragraph.
pub(crate) fn finding<'a>(finding: &Finding, about: impl Into<SentenceContext<'a>>) -> String {
    let SentenceParts { statement, remedy, outlook } = parts(finding, about);
    std::iter::once(statement).chain(remedy).chain(outlook).collect::<Vec<_>>().join(" ")
}

/// Joins words: `a, b and c`.
pub(crate) fn joined(words: &[impl AsRef<str>], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} {conjunction} {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// Returns a text with a small first letter; names and abbreviations stay as they are: `PostgreSQL`, `IOPS`.
fn uncapitalized(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !word.chars().skip(1).any(char::is_uppercase) => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Returns a text with a capital first letter; names of volumes stay as they are: `aws/gp3`.
pub(crate) fn capitalized(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('/')) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Formats a number of requests in flight: three significant digits, no fraction from 100 on.
pub(crate) fn whole_number(in_flight: f64) -> String {
    if in_flight >= 100.0 || in_flight.fract() == 0.0 {
        grouped(in_flight.round() as u64)
    } else {
        significant(in_flight, 3)
    }
}

/// Formats a duration in minutes, hours or days where it is long enough.
fn span(secs: f64) -> String {
    match secs {
        secs if secs < 120.0 => format!("{} s", significant(secs, 3)),
        secs if secs < 7200.0 => format!("{} min", significant(secs / 60.0, 3)),
        secs if secs < 172_800.0 => format!("{} h", significant(secs / 3600.0, 3)),
        secs => format!("{} days", grouped((secs / 86_400.0) as u64)),
    }
}

/// Formats the figures of a finding.
struct SentenceFigures<'a>(&'a Finding);

impl SentenceFigures<'_> {
    fn value(&self, quantity: Quantity) -> f64 {
        self.0.value(quantity).unwrap_or(0.0)
    }

    fn time(&self, quantity: Quantity) -> String {
        Nanos::new(self.value(quantity).round() as u64).to_string()
    }

    /// Formats a duration in minutes, hours or days where it is long enough.
    fn span(&self, quantity: Quantity) -> String {
        match self.value(quantity) / 1e9 {
            secs if secs < 120.0 => self.time(quantity),
            secs => span(secs),
        }
    }

    fn bytes(&self, quantity: Quantity) -> String {
        Bytes::new(self.value(quantity) as u64).to_string()
    }

    fn count(&self, quantity: Quantity) -> String {
        count(self.value(quantity))
    }

    fn whole(&self, quantity: Quantity) -> String {
        grouped(self.value(quantity) as u64)
    }

    fn share(&self, quantity: Quantity) -> String {
        percent(self.value(quantity))
    }

    /// Formats how many operations must be in flight.
    fn needed(&self, quantity: Quantity) -> String {
        grouped(requests_in_flight(self.value(quantity)))
    }

    /// Formats a mean number of operations in flight.
    fn in_flight(&self, quantity: Quantity) -> String {
        significant(self.value(quantity), 3)
    }

    fn has(&self, quantity: Quantity) -> bool {
        self.0.value(quantity).is_some()
    }

    /// Returns `text()` if the finding has the quantity, or else an empty string.
    fn clause(&self, quantity: Quantity, text: impl FnOnce() -> String) -> String {
        if self.has(quantity) { text() } else { String::new() }
    }
}

fn statement(finding: &Finding, about: SentenceContext<'_>) -> String {
    let figures = &SentenceFigures(finding);
    match finding.code {
        Code::NothingMeasured if !figures.has(Quantity::Runtime) => {
            "No operation completed before the job failed.".to_owned()
        }
        Code::NothingMeasured if figures.value(Quantity::Runtime) == 0.0 => "No operation completed.".to_owned(),
        Code::NothingMeasured => {
            format!("No operation completed in {}.", figures.time(Quantity::Runtime))
        }
        Code::ErrorsSeen => run::errors(figures, about.engine),
        Code::NotVerified => run::not_verified(figures, about.unchecked),
        Code::SeveralRuns => run::several_runs(figures),
        Code::PageCacheMeasured => run::page_cache(figures),
        Code::BufferedWritesUnsynced => run::buffered_writes(figures),
        Code::HolesRead => format!(
            "Only {} of the file's {} was ever written; the filesystem serves the rest, holes, without the device.",
            figures.bytes(Quantity::WrittenBytes),
            figures.bytes(Quantity::FileBytes)
        ),
        Code::LatenessSignificant => format!(
            "The generator itself was late by {} on average, a part of the mean response time of {}.",
            figures.time(Quantity::LatenessMean),
            figures.time(Quantity::ResponseMean)
        ),
        Code::EngineNotAsynchronous => run::not_asynchronous(figures, about.engine),
        Code::RateNotReached => run::rate_not_reached(finding, figures),
        Code::QueueTooShallow => match (figures.has(Quantity::CapIops), finding.remedy) {
            (true, Some(Remedy::MoreInFlight { database, .. })) => volume::too_few_in_flight(figures, database),
            (true, _) => volume::too_shallow(finding, figures),
            (false, _) => run::queue_too_shallow(figures),
        },
        Code::GeneratorCpuBound => run::cpu_bound(figures),
        Code::SharedLimit => ranks::shared_limit(figures),
        Code::RanksMissedRate => ranks::missed_rate(figures),
        Code::HostCpuBound => ranks::host_cpu(finding, figures),
        Code::HostLinkBound => ranks::host_link(finding, figures),
        Code::RankStraggler => ranks::straggler(finding, figures),
        Code::RankSharesUnequal => ranks::unequal(finding, figures),
        Code::QueueNotFilled if figures.has(Quantity::CapIops) => volume::uneven(figures),
        Code::QueueNotFilled => run::queue_not_filled(figures),
        Code::LatencyBound => run::latency_bound(figures),
        Code::DeviceFlat => run::device_flat(figures),
        Code::QueueFull => run::queue_full(figures),
        Code::CgroupThrottle => run::cgroup_throttle(finding, figures),
        Code::DepthBound | Code::DeviceBound | Code::NearKnee => run::probed(finding.code, figures),
        Code::NotRepeated => run::not_repeated(figures),
        Code::ModelHeldBack => run::model_held_back(finding, figures),
        Code::ModelNotReached => run::model_not_reached(finding, figures),
        Code::RateKept => run::rate_kept(figures),
        Code::BurstOrDrift => run::burst_or_drift(finding, figures),
        Code::ShortRun => format!(
            "The run is short, {} in {}: too short to show bursts, caches and garbage collection.",
            run::operations(figures),
            figures.time(Quantity::Runtime)
        ),
        Code::Interrupted => format!("The run was stopped after {}.", figures.time(Quantity::Runtime)),
        Code::NoDevice if about.engine == "cpuio" => {
            format!("This job only uses CPU time: {}.", figures.share(Quantity::CpuShare))
        }
        Code::NoDevice if matches!(about.engine, "net" | "netsplice") => format!(
            "There is no device: this is the speed of the connection, {} IOPS with {} of a CPU.",
            figures.count(Quantity::Iops),
            figures.share(Quantity::CpuShare)
        ),
        Code::NoDevice
            if (0.0..0.5).contains(&figures.value(Quantity::CpuShare)) && figures.has(Quantity::CpuShare) =>
        {
            format!(
                "There is no device, and the job used only {} of a CPU: {} IOPS is its rate or think time, not the speed \
                 of the generator.",
                figures.share(Quantity::CpuShare),
                figures.count(Quantity::Iops)
            )
        }
        Code::NoDevice => format!(
            "There is no device: {} IOPS is the speed of the generator itself{}.",
            figures.count(Quantity::Iops),
            figures.clause(Quantity::CpuShare, || format!(", with {} of a CPU", figures.share(Quantity::CpuShare)))
        ),
        Code::MetadataOnly => format!(
            "This job transfers no data: {} metadata operations per second, with {} of a CPU. Throughput has no meaning.",
            figures.count(Quantity::Iops),
            figures.share(Quantity::CpuShare)
        ),
        Code::LittleContradicted => figures::little_contradicted(figures),
        Code::LittleHolds => figures::little_holds(figures),
        Code::DepthNeeded => figures::depth_needed(figures),
        Code::FiguresDisagree => figures::disagree(finding, figures),
        Code::UnitsMixed => figures::units_mixed(figures),
        Code::SinceBoot => figures::since_boot(figures),
        Code::SyncsTooSlow => figures::syncs(figures),
        Code::OddBlockSize => figures::odd_block(figures),
        Code::RequestsSplit => figures::split(figures),
        Code::SmallRegion => figures::small_region(figures),
        Code::MechanicalDisk => figures::mechanical(figures),
        Code::UtilMisread => figures::util(figures),
        Code::UtilContradicted => figures::util_contradicted(figures),
        Code::MeanWithoutSpread => figures::mean_alone(figures),
        Code::Throttled => figures::throttled(figures),
        Code::NotSteady => figures::not_steady(figures),
        Code::WarmupCounted => figures::warmup(figures),
        Code::BurstUsedUp => figures::burst_used_up(figures),
        Code::VolumeIopsCap | Code::VolumeThroughputCap | Code::MachineCap | Code::EgressCap | Code::StationCap => {
            volume::cap(finding, figures)
        }
        Code::LatencyTarget => run::latency_target(figures),
        Code::SizeTooSmall => volume::size(figures),
        Code::ProvisionedTooLow => volume::provisioned(figures),
        Code::BytesBeforeIops => volume::bytes_first(figures),
        Code::SharedBudget => volume::shared(finding, figures),
        Code::BeyondKnee => volume::beyond_knee(figures),
        Code::BurstRunning => volume::burst_running(finding, figures),
        Code::AboveExpectation => volume::above(finding, figures),
        Code::BelowExpectation => volume::below(finding, figures),
        Code::UnwrittenBlocks => volume::unwritten(figures),
        Code::CpusShort => volume::cpus(figures),
        Code::LimitUnknown if finding.subject.is_some() => run::one_kind_timed(finding, figures),
        Code::LimitUnknown if figures.has(Quantity::UnlikeJobs) => run::unlike_jobs(figures),
        Code::LimitUnknown if figures.has(Quantity::InFlightPossible) => {
            "More requests were in flight than the depth allows, so the limit is unknown.".to_owned()
        }
        Code::LimitUnknown if figures.has(Quantity::InFlightAchieved) => run::depth_unknown(figures),
        Code::LimitUnknown if figures.has(Quantity::SyncMean) || figures.has(Quantity::SyncP99) => {
            "Only syncs were measured, so the limit of reads and writes is unknown.".to_owned()
        }
        Code::LimitUnknown if about.untimed => {
            "Rate and latency are not both known, so the limit is unknown.".to_owned()
        }
        Code::LimitUnknown => "Latencies are unknown, so the limit is unknown.".to_owned(),
    }
}

fn subject(finding: &Finding) -> &str {
    finding.subject.as_deref().unwrap_or("the model")
}

fn comparison(option: &str, value: u64) -> String {
    format!(
        "Run again with {option}={value}: if IOPS double, the depth is the limit; if latency doubles, the device is."
    )
}

fn remedy_text(remedy: &Remedy, finding: &Finding, about: SentenceContext<'_>) -> String {
    match *remedy {
        Remedy::QueueingEngine { iodepth } if finding.code == Code::EngineNotAsynchronous => {
            let total = finding.value(Quantity::InFlightAsked).map_or(iodepth, |asked| asked.round() as u64);
            format!("Use ioengine=io_uring to have {total} in flight, or numjobs={total} with iodepth=1.")
        }
        Remedy::QueueingEngine { iodepth } => {
            format!("Use ioengine=io_uring with iodepth={iodepth}.")
        }
        Remedy::RaiseDepth { iodepth } => format!("Set iodepth={iodepth}."),
        Remedy::CompareDepth { iodepth } => comparison("iodepth", iodepth),
        Remedy::CompareWorkers { numjobs } => comparison("numjobs", numjobs),
        Remedy::AddWorkers { numjobs } => format!("Distribute the load with numjobs={numjobs}."),
        Remedy::Direct => "Set direct=1 to measure the device.".to_owned(),
        Remedy::DirectUnlessGiven => "If direct=1 was not given, set it to measure the device.".to_owned(),
        Remedy::SyncAtEnd => "Set direct=1, or end_fsync=1 to count the time until data is on the device.".to_owned(),
        Remedy::SyncAtEndUnlessDirect => {
            "If direct=1 was not given, set it, or set end_fsync=1 to count the time until data is on the device."
                .to_owned()
        }
        Remedy::SeparateResults => "Omit group_reporting to judge each job.".to_owned(),
        Remedy::EndTogether => "Give all workers the same runtime, and no size that ends some early.".to_owned(),
        Remedy::WriteFirst => format!("Write {} in full first, with rw=write.", about.path),
        // fio verifies nothing under time_based with a synchronous engine.
        Remedy::RunLonger { runtime_s } if about.verify => {
            format!("Raise loops until the run takes {runtime_s} s; each loop is verified.")
        }
        Remedy::RunLonger { runtime_s } if about.steady => {
            format!("Set steadystate_duration={runtime_s}s.")
        }
        Remedy::RunLonger { runtime_s } if about.observed => format!("Measure for {}.", span(runtime_s as f64)),
        Remedy::Ramp { ramp_s } if about.observed => format!("Exclude the first {}.", span(ramp_s as f64)),
        Remedy::RunLonger { runtime_s } => format!("Set runtime={runtime_s}s with time_based."),
        Remedy::Ramp { ramp_s } if finding.code == Code::BurstOrDrift => {
            let sustained = SentenceFigures(finding).count(Quantity::LateIops);
            format!("Plan with the sustained {sustained} IOPS; ramp_time={ramp_s}s measures that phase alone.")
        }
        Remedy::Ramp { ramp_s } => format!("Exclude it with ramp_time={ramp_s}s."),
        Remedy::LowerDepth { iodepth, total } => {
            format!(
                "Set iodepth={iodepth} ({total} in flight over all workers): nearly the same IOPS at lower latency."
            )
        }
        Remedy::FewerWorkers { numjobs } => {
            format!("Set numjobs={numjobs} with iodepth=1: nearly the same IOPS at lower latency.")
        }
        Remedy::BlockSize { bytes } => format!("Set bs={bytes}."),
        Remedy::LargerRequests { bytes } => format!(
            "Raise /sys/block/DEVICE/queue/max_sectors_kb to {} if the device allows it; `fathom doctor` shows its \
             value.",
            bytes.div_ceil(1024)
        ),
        Remedy::GrowVolume { bytes, iops, bytes_per_second } => {
            let iops = iops.map(|iops| format!("iops={iops}"));
            let throughput = bytes_per_second.map(|rate| format!("throughput={}", volume::throughput_words(rate)));
            let provisioned = joined(&[iops, throughput].into_iter().flatten().collect::<Vec<_>>(), "and");
            let provisioned = match provisioned.as_str() {
                "" => String::new(),
                keys => format!(" and provision {keys}"),
            };
            format!("Grow the volume to {}{provisioned}.", volume::size_words(bytes as f64))
        }
        Remedy::ProvisionIops { iops } => format!("Provision more IOPS, up to {} at this size.", grouped(iops)),
        Remedy::ProvisionThroughput { bytes_per_second } => {
            let most = volume::throughput_words(bytes_per_second);
            format!("Provision more throughput, up to {most} at this size.")
        }
        Remedy::FewerInFlight { in_flight } => format!(
            "Keep {in_flight} requests in flight: nearly the same IOPS at lower latency (fewer connections or jobs at a time, \
             smaller batches)."
        ),
        Remedy::MoreInFlight { in_flight, reads, database } => databases::more_in_flight(in_flight, reads, database),
        Remedy::Percentiles => "Look at percentiles (p50, p99, p99.9) too.".to_owned(),
        Remedy::Doctor => "Check the host with `fathom doctor`.".to_owned(),
        Remedy::FasterSyncs => "Use a dedicated disk for etcd, or one with faster syncs. `fathom doctor` checks the \
                                host settings."
            .to_owned(),
        Remedy::CompareHosts | Remedy::MoreHosts | Remedy::FewerRanks { .. } | Remedy::CompareRanks { .. } => {
            ranks::remedy(remedy, finding)
        }
    }
}

#[cfg(test)]
mod tests {
    use analyse::{Evidence, EvidenceSource, Severity};

    use super::*;

    fn sentence(code: Code, evidence: &[(Quantity, f64)], remedy: Option<Remedy>) -> String {
        sentence_on("psync", code, evidence, remedy)
    }

    fn sentence_on(engine: &str, code: Code, evidence: &[(Quantity, f64)], remedy: Option<Remedy>) -> String {
        let figure = |&(quantity, value): &(Quantity, f64)| Evidence {
            quantity,
            value,
            unit: quantity.unit(),
            source: EvidenceSource::Counters,
        };
        let evidence = evidence.iter().map(figure).collect();
        let job = JobResult {
            declared: record::Declared { engine: engine.to_owned(), ..record::Declared::default() },
            ..JobResult::default()
        };
        let found = Finding { code, severity: Severity::Info, subject: None, evidence, remedy, counterfactual: None };
        finding(&found, &job)
    }

    /// 10.3 was said to be 10 to 10 within rounding.
    #[test]
    fn bounds_have_as_many_digits_as_the_figure_between_them() {
        let holds = |[implied, low, high]: [f64; 3]| {
            let evidence = [
                (Quantity::InFlightImplied, implied),
                (Quantity::InFlightImpliedLow, low),
                (Quantity::InFlightImpliedHigh, high),
                (Quantity::InFlightPossible, 10.0),
                (Quantity::Apart, 0.017),
            ];
            sentence(Code::LittleHolds, &evidence, None)
        };
        let text = holds([10.275, 10.16, 10.39]);
        assert!(text.ends_with("= 10.3 (10.2 to 10.4, within rounding) in flight of 10 possible."), "{text}");
        assert!(text.starts_with("The figures agree to within 1.7%: "), "{text}");
        assert!(holds([1.0, 0.94, 1.03]).contains("1.0 (0.9 to 1.0, within"), "{}", holds([1.0, 0.94, 1.03]));
        assert!(holds([0.5, 0.494, 0.506]).contains("0.500 (0.494 to 0.506, within"));
        assert!(holds([12_000.0, 11_990.4, 12_010.0]).contains("12,000 (11,990 to 12,010, within"));
    }

    #[test]
    fn page_cache_statement_names_the_evidence() {
        let counters = [(Quantity::JobBytes, 1073741824.0), (Quantity::DeviceBytes, 4096.0)];
        assert_eq!(
            sentence(Code::PageCacheMeasured, &counters, Some(Remedy::Direct)),
            "This measured the page cache, not the device: the job read 1 GiB, the devices only 4 KiB. Set direct=1 to \
             measure the device."
        );
        assert_eq!(
            sentence(Code::PageCacheMeasured, &[(Quantity::CachedShare, 0.9)], None),
            "This measured the page cache, not the device: 90.0% of the files was cached at the start."
        );
        assert_eq!(
            sentence(Code::PageCacheMeasured, &[(Quantity::ServiceP50, 2_040.0)], None),
            "This measured the page cache, not the device: half of the random reads took 2.04 us or less, faster \
             than any device."
        );
    }

    #[test]
    fn a_partly_filled_queue_is_not_called_full() {
        let with = |achieved| {
            [
                (Quantity::Iops, 16_000.0),
                (Quantity::ServiceMean, 806_250.0),
                (Quantity::InFlightAchieved, achieved),
                (Quantity::InFlightPossible, 16.0),
            ]
        };
        let text = sentence(Code::QueueFull, &with(12.9), None);
        assert!(text.starts_with("16.0k IOPS with the queue kept at 12.9 of 16 (12.9 in flight = "), "{text}");
        let text = sentence(Code::QueueFull, &with(15.9), None);
        assert!(text.starts_with("16.0k IOPS with the queue full (15.9 in flight = "), "{text}");
    }

    /// Regression: a bursting volume was reported as "used to 2,176 %".
    #[test]
    fn utilisation_above_one_is_reported_as_burst_credits() {
        let figures = [(Quantity::Utilisation, 21.76), (Quantity::InFlightAchieved, 1.0)];
        let text = sentence(Code::ModelHeldBack, &figures, None);
        assert!(text.contains("burst credits raised it to 21.8 times its sustained rate"), "{text}");
    }

    /// Regression: f52613e advised `time_based` for short runs of verifying jobs, which then verified nothing.
    #[test]
    fn no_finding_advises_disabling_verification() {
        let (iodepth, numjobs, bytes) = (32, 4, 4096);
        let remedies = [
            Remedy::QueueingEngine { iodepth },
            Remedy::RaiseDepth { iodepth },
            Remedy::CompareDepth { iodepth },
            Remedy::CompareWorkers { numjobs },
            Remedy::AddWorkers { numjobs },
            Remedy::Direct,
            Remedy::SyncAtEnd,
            Remedy::DirectUnlessGiven,
            Remedy::SyncAtEndUnlessDirect,
            Remedy::WriteFirst,
            Remedy::RunLonger { runtime_s: 30 },
            Remedy::Ramp { ramp_s: 5 },
            Remedy::LowerDepth { iodepth, total: 64 },
            Remedy::FewerWorkers { numjobs },
            Remedy::BlockSize { bytes },
            Remedy::LargerRequests { bytes },
            Remedy::GrowVolume { bytes, iops: None, bytes_per_second: None },
            Remedy::ProvisionIops { iops: 16_000 },
            Remedy::ProvisionThroughput { bytes_per_second: bytes },
            Remedy::Percentiles,
            Remedy::Doctor,
            Remedy::SeparateResults,
            Remedy::EndTogether,
            Remedy::MoreInFlight { in_flight: 16, reads: true, database: None },
            Remedy::CompareHosts,
            Remedy::MoreHosts,
            Remedy::FewerRanks { ranks: 8 },
            Remedy::CompareRanks { ranks: 8 },
            Remedy::FasterSyncs,
            Remedy::FewerInFlight { in_flight: 3 },
        ];
        // A match, so that a new remedy cannot be added without extending the list above.
        let place = |remedy: &Remedy| match remedy {
            Remedy::QueueingEngine { .. } => 0,
            Remedy::RaiseDepth { .. } => 1,
            Remedy::CompareDepth { .. } => 2,
            Remedy::CompareWorkers { .. } => 3,
            Remedy::AddWorkers { .. } => 4,
            Remedy::Direct => 5,
            Remedy::SyncAtEnd => 6,
            Remedy::DirectUnlessGiven => 7,
            Remedy::SyncAtEndUnlessDirect => 8,
            Remedy::WriteFirst => 9,
            Remedy::RunLonger { .. } => 10,
            Remedy::Ramp { .. } => 11,
            Remedy::LowerDepth { .. } => 12,
            Remedy::FewerWorkers { .. } => 13,
            Remedy::BlockSize { .. } => 14,
            Remedy::LargerRequests { .. } => 15,
            Remedy::GrowVolume { .. } => 16,
            Remedy::ProvisionIops { .. } => 17,
            Remedy::ProvisionThroughput { .. } => 18,
            Remedy::Percentiles => 19,
            Remedy::Doctor => 20,
            Remedy::SeparateResults => 21,
            Remedy::EndTogether => 22,
            Remedy::MoreInFlight { .. } => 23,
            Remedy::CompareHosts => 24,
            Remedy::MoreHosts => 25,
            Remedy::FewerRanks { .. } => 26,
            Remedy::CompareRanks { .. } => 27,
            Remedy::FasterSyncs => 28,
            Remedy::FewerInFlight { .. } => 29,
        };
        assert!(remedies.iter().map(place).eq(0..remedies.len()));
        let declared = record::Declared { verify: true, ..record::Declared::default() };
        let unchecked =
            [Unchecked::Stopped, Unchecked::Runtime, Unchecked::Failed, Unchecked::Cached, Unchecked::Payload];
        let unchecked: Vec<_> = unchecked.into_iter().map(Some).chain([None]).collect();
        for (code, (remedy, unchecked)) in Code::ALL.iter().flat_map(|code| {
            remedies.iter().flat_map(|r| unchecked.iter().map(move |u| (r, *u))).map(move |of| (*code, of))
        }) {
            let verified =
                unchecked.map(|unchecked| record::Verified { unchecked: Some(unchecked), ..Default::default() });
            let job = JobResult { declared: declared.clone(), verified, ..JobResult::default() };
            let (severity, remedy) = (Severity::Advice, Some(*remedy));
            let found = Finding { code, severity, subject: None, evidence: vec![], remedy, counterfactual: None };
            let text = finding(&found, &job);
            for option in ["time_based", "do_verify", "verify=0", "verify=null", "runtime=", "without verify"] {
                assert!(!text.contains(option), "{code:?}, {remedy:?}: {text}");
            }
        }
        for word in ["do_verify", "verify=0", "verify=null", "without `verify`"] {
            assert!(!run_findings_markdown().contains(word), "{word}");
        }
    }

    /// A longer `runtime` was advised, which a steady state cuts short.
    #[test]
    fn a_job_that_a_steady_state_ends_is_not_given_more_time() {
        let steady = record::SteadyRecord { is_attained: true, ..record::SteadyRecord::default() };
        let job = JobResult { steady: Some(steady), ..JobResult::default() };
        let (code, severity, remedy) = (Code::ShortRun, Severity::Info, Some(Remedy::RunLonger { runtime_s: 30 }));
        let found = Finding { code, severity, subject: None, evidence: vec![], remedy, counterfactual: None };
        let text = finding(&found, &job);
        assert!(text.ends_with("Set steadystate_duration=30s."), "{text}");
        let run = record::Run { jobs: vec![job], ..record::Run::default() };
        let seen = analyse::Observation::of(&run, &run.jobs[0]);
        let text = self::finding(&found, &analyse::explain_job(&run, 0, &seen, None));
        assert!(text.ends_with("Set steadystate_duration=30s."), "{text}");
    }

    #[test]
    fn remedies_match_their_findings() {
        let depths = [(Quantity::InFlightAsked, 32.0), (Quantity::InFlightPossible, 1.0)];
        assert_eq!(
            sentence(Code::EngineNotAsynchronous, &depths, Some(Remedy::QueueingEngine { iodepth: 32 })),
            "The engine psync issues one operation at a time, so iodepth=32 gave at most 1 in flight. Use \
             ioengine=io_uring to have 32 in flight, or numjobs=32 with iodepth=1."
        );
        // The depth of each worker was advised where that of all was asked for.
        let asked = [(Quantity::InFlightAsked, 512.0), (Quantity::SubmissionShare, 0.9)];
        let all = sentence(Code::EngineNotAsynchronous, &asked, Some(Remedy::QueueingEngine { iodepth: 64 }));
        assert!(all.ends_with("to have 512 in flight, or numjobs=512 with iodepth=1."), "{all}");
        // A depth that is not known was 0.
        let waits = sentence(Code::EngineNotAsynchronous, &[(Quantity::SubmissionShare, 0.9)], Some(Remedy::Direct));
        assert!(waits.starts_with("The engine psync spent 90.0% of its time in submission, which waited"), "{waits}");
        let one = [(Quantity::ServiceMean, 50_000.0), (Quantity::Iops, 19_800.0)];
        assert_eq!(
            sentence(Code::LatencyBound, &one, Some(Remedy::RaiseDepth { iodepth: 32 })),
            "Latency is the limit: one operation at a time at 50.0 us gives 19.8k IOPS, regardless of the device. Set \
             iodepth=32."
        );
        let busy = [(Quantity::Workers, 2.0), (Quantity::CpuShare, 0.97)];
        assert_eq!(
            sentence(Code::GeneratorCpuBound, &busy, Some(Remedy::AddWorkers { numjobs: 4 })),
            "The generator is the limit, not the device: each of 2 workers used 97.0% of a CPU. Distribute the load \
             with numjobs=4."
        );
    }

    #[test]
    fn credit_statements_say_how_long_credits_last_and_when_they_ran_out() {
        let left = [
            (Quantity::DecidedShare, 0.99),
            (Quantity::Iops, 3_000.0),
            (Quantity::CreditsLeft, 5.39e6),
            (Quantity::CreditsSpent, 2_700.0),
            (Quantity::CreditsLast, 5.39e6 / 2_700.0 * 1e9),
        ];
        let text = sentence(Code::ModelHeldBack, &left, None);
        assert!(text.ends_with(" Burst credits: 5.39M left; at 2.70k/s they last 33.3 min."), "{text}");
        let gone = [(Quantity::EarlyIops, 12_000.0), (Quantity::LateIops, 8_000.0), (Quantity::CreditsGone, 60e9)];
        let text = sentence(Code::BurstOrDrift, &gone, None);
        assert!(text.contains("12.0k IOPS for 60.0 s, then 8.00k: the burst credits of the model ran out."), "{text}");
    }

    #[test]
    fn rates_are_reported_in_their_unit() {
        let bytes = [(Quantity::ByteRateAsked, 2097152.0), (Quantity::ByteRateReached, 1048576.0)];
        assert_eq!(
            sentence(Code::RateNotReached, &bytes, None),
            "Missed the requested rate: 1 MiB/s of 2 MiB/s, although the queue was deep enough."
        );
        let kept = [(Quantity::RateReached, 8_000.0), (Quantity::ResponseMean, 1_200_000.0)];
        assert_eq!(
            sentence(Code::RateKept, &kept, None),
            "The requested rate was sustained: 8.00k IOPS; mean response time 1.20 ms."
        );
    }

    #[test]
    fn a_single_error_is_in_the_singular() {
        let errors = |n: f64| [(Quantity::Errors, n), (Quantity::FirstError, 5.0)];
        assert_eq!(
            sentence(Code::ErrorsSeen, &errors(1.0), None),
            "1 operation failed, with error 5 (Input/output error)."
        );
        assert_eq!(
            sentence(Code::ErrorsSeen, &errors(1_200.0), None),
            "1,200 operations failed, the first with error 5 (Input/output error)."
        );
    }

    #[test]
    fn errors_that_were_not_counted_ended_the_job() {
        let error = |number: f64| [(Quantity::FirstError, number)];
        assert_eq!(sentence(Code::ErrorsSeen, &error(22.0), None), "The job ended with error 22 (Invalid argument).");
        assert_eq!(
            sentence(Code::ErrorsSeen, &error(84.0), None),
            "Verification failed: a block differs from what was written."
        );
    }

    #[test]
    fn windows_numbers_a_failed_verification_42() {
        let text = |engine| sentence_on(engine, Code::ErrorsSeen, &[(Quantity::FirstError, 42.0)], None);
        assert_eq!(text("windowsaio"), "Verification failed: a block differs from what was written.");
        assert!(text("psync").contains("error 42"));
    }

    #[test]
    fn discards_are_no_writes_of_a_rate() {
        let kept = [
            (Quantity::RateAsked, 1_000.0),
            (Quantity::RateReached, 1_000.0),
            (Quantity::WriteRateAsked, 500.0),
            (Quantity::WriteRateReached, 500.0),
        ];
        assert_eq!(
            sentence(Code::RateKept, &kept, None),
            "The requested rate was sustained: 1.00k IOPS (500 writes, the rest discards)."
        );
    }
}
