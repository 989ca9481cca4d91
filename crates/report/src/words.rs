//! Findings in words: what is so, with its figures, and what to do about it.

use analyse::{Code, Finding, Quantity, Remedy};
use record::JobResult;
use units::{Bytes, Nanos, count, grouped, percent, significant};

use crate::fio::error_text;

/// A finding and its remedy, as a paragraph.
pub(crate) fn finding(finding: &Finding, job: &JobResult) -> String {
    let statement = statement(finding, job);
    match &finding.remedy {
        Some(remedy) => format!("{statement} {}", remedy_text(remedy, finding, job)),
        None => statement,
    }
}

/// The figures of one finding as text.
struct Figures<'a>(&'a Finding);

impl Figures<'_> {
    fn value(&self, quantity: Quantity) -> f64 {
        self.0.value(quantity).unwrap_or(0.0)
    }

    fn time(&self, quantity: Quantity) -> String {
        Nanos::new(self.value(quantity).round() as u64).to_string()
    }

    /// A time that may be hours.
    fn span(&self, quantity: Quantity) -> String {
        let secs = self.value(quantity) / 1e9;
        match secs {
            secs if secs < 120.0 => self.time(quantity),
            secs if secs < 7200.0 => format!("{} min", significant(secs / 60.0, 3)),
            secs if secs < 172_800.0 => format!("{} h", significant(secs / 3600.0, 3)),
            secs => format!("{} days", grouped((secs / 86_400.0) as u64)),
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

    /// A mean number of operations in flight.
    fn in_flight(&self, quantity: Quantity) -> String {
        significant(self.value(quantity), 3)
    }

    fn has(&self, quantity: Quantity) -> bool {
        self.0.value(quantity).is_some()
    }
}

fn statement(finding: &Finding, job: &JobResult) -> String {
    let figures = &Figures(finding);
    match finding.code {
        Code::NothingMeasured => {
            format!("No operation completed in {}, so there is nothing to judge.", figures.time(Quantity::Runtime))
        }
        Code::ErrorsSeen => errors(figures),
        Code::PageCacheMeasured => page_cache(figures),
        Code::BufferedWritesUnsynced => buffered_writes(figures),
        Code::HolesRead => format!(
            "Only {} of the file's {} were ever written; the rest are holes, which the file system answers without \
             asking the device.",
            figures.bytes(Quantity::WrittenBytes),
            figures.bytes(Quantity::FileBytes)
        ),
        Code::LatenessSignificant => format!(
            "The generator itself was late by {} on average, which is part of the mean response of {}.",
            figures.time(Quantity::LatenessMean),
            figures.time(Quantity::ResponseMean)
        ),
        Code::EngineNotAsynchronous => format!(
            "{} operations were to be in flight, but {} does one at a time, so there were at most {}.",
            figures.whole(Quantity::InFlightAsked),
            job.declared.engine,
            figures.whole(Quantity::InFlightPossible)
        ),
        Code::RateNotReached => format!("{}, and the queue was not the reason.", rate_missed(figures)),
        Code::QueueTooShallow => queue_too_shallow(figures),
        Code::GeneratorCpuBound => cpu_bound(figures),
        Code::QueueNotFilled => queue_not_filled(figures),
        Code::LatencyBound => latency_bound(figures),
        Code::DeviceFlat => device_flat(figures),
        Code::QueueFull => queue_full(figures),
        Code::ModelHeldBack => model_held_back(finding, figures),
        Code::ModelNotReached => model_not_reached(finding, figures),
        Code::RateKept => rate_kept(figures),
        Code::BurstOrDrift => burst_or_drift(finding, figures),
        Code::ShortRun => format!(
            "The run was short: {} operations in {}. Bursts, caches and garbage collection do not show in so little.",
            figures.whole(Quantity::Operations),
            figures.time(Quantity::Runtime)
        ),
        Code::Interrupted => format!("It was stopped after {}.", figures.time(Quantity::Runtime)),
        Code::NoDevice => format!(
            "There is no device behind this job: {} IOPS is what the generator itself can do, with {} of a processor.",
            figures.count(Quantity::Iops),
            figures.share(Quantity::CpuShare)
        ),
        Code::LimitUnknown => {
            "Latencies were not kept, so what limited the run cannot be told from its figures.".to_owned()
        }
    }
}

/// fio's error number for a block that is not what was written.
const EILSEQ: i32 = 84;

fn errors(figures: &Figures<'_>) -> String {
    let (errors, first) = (figures.value(Quantity::Errors) as u64, figures.value(Quantity::FirstError) as i32);
    let failed =
        if errors == 1 { "One operation failed".to_owned() } else { format!("{} operations failed", grouped(errors)) };
    if first == EILSEQ {
        let blocks = if errors == 1 { "One block is".to_owned() } else { format!("{} blocks are", grouped(errors)) };
        return format!("{blocks} not what was written: the verification failed.");
    }
    let which = if errors == 1 { "with" } else { "the first with" };
    format!("{failed}, {which} error {first} ({}).", error_text(first))
}

fn burst_or_drift(finding: &Finding, figures: &Figures<'_>) -> String {
    let reason = if figures.has(Quantity::CreditsGone) {
        format!(": the credits of {} ran out {} after the start", subject(finding), figures.span(Quantity::CreditsGone))
    } else {
        String::new()
    };
    format!(
        "Throughput changed during the run, from {} IOPS in its first third to {} in its last{reason}. An average of \
         both describes neither.",
        figures.count(Quantity::EarlyIops),
        figures.count(Quantity::LateIops)
    )
}

fn model_held_back(finding: &Finding, figures: &Figures<'_>) -> String {
    if figures.has(Quantity::CreditsGone) {
        return format!(
            "The limit is {}: its credits ran out {} after the start. It held {} of the operations back, each of all by \
             {} on average. {} IOPS are a mean of before and after.",
            subject(finding),
            figures.span(Quantity::CreditsGone),
            figures.share(Quantity::DecidedShare),
            figures.time(Quantity::HeldMean),
            figures.count(Quantity::Iops)
        );
    }
    format!(
        "The limit is {}: it held {} of the operations back, each of all by {} on average. {} IOPS is all it gives; \
         {} in flight would reach it too, and more only wait longer.{}",
        subject(finding),
        figures.share(Quantity::DecidedShare),
        figures.time(Quantity::HeldMean),
        figures.count(Quantity::Iops),
        figures.whole(Quantity::InFlightNeeded),
        credits(figures)
    )
}

/// How long credits last: a sentence with a blank before it.
fn credits(figures: &Figures<'_>) -> String {
    let (left, spent) = if figures.has(Quantity::ByteCreditsLeft) {
        (figures.bytes(Quantity::ByteCreditsLeft), figures.bytes(Quantity::ByteCreditsSpent))
    } else if figures.has(Quantity::CreditsLeft) {
        (figures.count(Quantity::CreditsLeft), figures.count(Quantity::CreditsSpent))
    } else {
        return String::new();
    };
    format!(" That is while credits last: {left} left, spent at {spent}/s: {}.", figures.span(Quantity::CreditsLast))
}

fn model_not_reached(finding: &Finding, figures: &Figures<'_>) -> String {
    let pace = format!(
        "Latency and depth set the pace: {} in flight / {} = {} IOPS.",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.time(Quantity::ServiceMean),
        figures.count(Quantity::Iops)
    );
    if finding.subject.is_none() {
        return pace;
    }
    format!(
        "{pace} The nearest limit, {}, was used to {}; it takes {} in flight to reach it.",
        subject(finding),
        figures.share(Quantity::Utilisation),
        figures.whole(Quantity::InFlightNeeded)
    )
}

fn subject(finding: &Finding) -> &str {
    finding.subject.as_deref().unwrap_or("The model")
}

fn page_cache(figures: &Figures<'_>) -> String {
    let why = if figures.has(Quantity::DeviceBytes) {
        format!(
            "the job read {}, the devices only {}",
            figures.bytes(Quantity::JobBytes),
            figures.bytes(Quantity::DeviceBytes)
        )
    } else if figures.has(Quantity::CachedShare) {
        format!("{} of the files was in memory when the run began", figures.share(Quantity::CachedShare))
    } else {
        format!("half of the random reads took {} or less, which no device does", figures.time(Quantity::ServiceP50))
    };
    format!("This measured the page cache, not the device: {why}.")
}

fn buffered_writes(figures: &Figures<'_>) -> String {
    let where_to = if figures.has(Quantity::DeviceBytes) {
        format!(
            ": {} were written, {} reached the devices",
            figures.bytes(Quantity::JobBytes),
            figures.bytes(Quantity::DeviceBytes)
        )
    } else {
        String::new()
    };
    format!("Writes ended in memory, and nothing waited until they were on the device{where_to}.")
}

fn rate_missed(figures: &Figures<'_>) -> String {
    if figures.has(Quantity::ByteRateAsked) {
        format!(
            "The rate was not reached: {}/s of {}/s",
            figures.bytes(Quantity::ByteRateReached),
            figures.bytes(Quantity::ByteRateAsked)
        )
    } else {
        format!(
            "The rate was not reached: {} of {} operations per second",
            figures.count(Quantity::RateReached),
            figures.count(Quantity::RateAsked)
        )
    }
}

fn queue_too_shallow(figures: &Figures<'_>) -> String {
    format!(
        "{}. It takes about {} operations in flight at the times measured ({} on average), and there could be {}.",
        rate_missed(figures),
        figures.in_flight(Quantity::InFlightNeeded),
        figures.time(Quantity::ServiceMean),
        figures.whole(Quantity::InFlightPossible)
    )
}

fn cpu_bound(figures: &Figures<'_>) -> String {
    let workers = figures.value(Quantity::Workers) as u64;
    let whose = if workers > 1 { format!("each of {workers} workers") } else { "the worker".to_owned() };
    format!(
        "The generator was the limit, not the device: {whose} kept {} of a processor busy.",
        figures.share(Quantity::CpuShare)
    )
}

/// Little's law with the run's own figures.
fn little(figures: &Figures<'_>) -> String {
    format!(
        "{} in flight = {} IOPS x {}",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.count(Quantity::Iops),
        figures.time(Quantity::ServiceMean)
    )
}

fn queue_not_filled(figures: &Figures<'_>) -> String {
    let why = if figures.has(Quantity::Thinktime) {
        format!(", for the job idles for {} between operations", figures.time(Quantity::Thinktime))
    } else {
        String::new()
    };
    format!(
        "The queue was not kept full: {} of {} possible ({}){why}. The device had time to spare.",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.whole(Quantity::InFlightPossible),
        little(figures)
    )
}

fn latency_bound(figures: &Figures<'_>) -> String {
    format!(
        "Latency was the limit: one operation at a time, {} each, makes {} IOPS whatever the device could do.",
        figures.time(Quantity::ServiceMean),
        figures.count(Quantity::Iops)
    )
}

fn device_flat(figures: &Figures<'_>) -> String {
    format!(
        "{} IOPS, flat, with the queue full: {}. Throughput varied by {} and the time of an operation by {}, which is \
         the mark of a limiter. Either there is one and more depth gives only more latency, or the device is that even \
         and more depth gives more.",
        figures.count(Quantity::Iops),
        little(figures),
        figures.share(Quantity::IntervalVariation),
        figures.share(Quantity::ServiceVariation)
    )
}

fn queue_full(figures: &Figures<'_>) -> String {
    format!(
        "{} IOPS with the queue full: {}. Either this is the device's limit and more depth gives only more latency, \
         or the depth is the limit and more of it gives more.",
        figures.count(Quantity::Iops),
        little(figures)
    )
}

fn rate_kept(figures: &Figures<'_>) -> String {
    let rate = if figures.has(Quantity::ByteRateAsked) {
        format!("{}/s", figures.bytes(Quantity::ByteRateReached))
    } else {
        format!("{} operations per second", figures.count(Quantity::RateReached))
    };
    let response = if figures.has(Quantity::ResponseMean) {
        format!(", answered in {} on average counted from when they were due", figures.time(Quantity::ResponseMean))
    } else {
        String::new()
    };
    let in_flight = if figures.has(Quantity::InFlightAchieved) {
        format!("; {} were in flight", figures.in_flight(Quantity::InFlightAchieved))
    } else {
        String::new()
    };
    format!("The rate was kept: {rate}{response}{in_flight}.")
}

fn remedy_text(remedy: &Remedy, finding: &Finding, job: &JobResult) -> String {
    match *remedy {
        Remedy::QueueingEngine { iodepth } if finding.code == Code::EngineNotAsynchronous => {
            format!("Use ioengine=io_uring to have {iodepth} in flight, or numjobs={iodepth} with iodepth=1.")
        }
        Remedy::QueueingEngine { iodepth } => {
            format!("Use ioengine=io_uring with iodepth={iodepth}.")
        }
        Remedy::RaiseDepth { iodepth } => format!("Set iodepth={iodepth}."),
        Remedy::CompareDepth { iodepth } => {
            format!(
                "Run again with iodepth={iodepth} to tell: if IOPS double, depth was the limit; if latency does, the device."
            )
        }
        Remedy::AddWorkers { numjobs } => format!("Spread the load with numjobs={numjobs}."),
        Remedy::Direct => "Set direct=1 to measure the device.".to_owned(),
        Remedy::SyncAtEnd => "Set direct=1, or end_fsync=1 to count the time until data is on the device.".to_owned(),
        Remedy::WriteFirst => {
            let path = job.evidence.targets.first().map_or("the file", |target| target.path.as_str());
            format!("Write {path} in full first, with rw=write.")
        }
        Remedy::RunLonger { runtime_s } => format!("Set runtime={runtime_s}s with time_based."),
    }
}

#[cfg(test)]
mod tests {
    use analyse::{Evidence, Severity, Source};

    use super::*;

    fn said(code: Code, evidence: &[(Quantity, f64)], remedy: Option<Remedy>) -> String {
        let figure = |&(quantity, value): &(Quantity, f64)| Evidence {
            quantity,
            value,
            unit: quantity.unit(),
            source: Source::Counters,
        };
        let evidence = evidence.iter().map(figure).collect();
        let job = JobResult {
            declared: record::Declared { engine: "psync".to_owned(), ..record::Declared::default() },
            ..JobResult::default()
        };
        finding(&Finding { code, severity: Severity::Info, subject: None, evidence, remedy }, &job)
    }

    #[test]
    fn the_page_cache_is_told_by_what_was_seen() {
        let counters = [(Quantity::JobBytes, 1073741824.0), (Quantity::DeviceBytes, 4096.0)];
        assert_eq!(
            said(Code::PageCacheMeasured, &counters, Some(Remedy::Direct)),
            "This measured the page cache, not the device: the job read 1 GiB, the devices only 4 KiB. Set direct=1 to \
             measure the device."
        );
        assert_eq!(
            said(Code::PageCacheMeasured, &[(Quantity::CachedShare, 0.9)], None),
            "This measured the page cache, not the device: 90.0% of the files was in memory when the run began."
        );
        assert_eq!(
            said(Code::PageCacheMeasured, &[(Quantity::ServiceP50, 2_040.0)], None),
            "This measured the page cache, not the device: half of the random reads took 2.04 us or less, which no \
             device does."
        );
    }

    #[test]
    fn a_remedy_follows_from_what_was_found() {
        let depths = [(Quantity::InFlightAsked, 32.0), (Quantity::InFlightPossible, 1.0)];
        assert_eq!(
            said(Code::EngineNotAsynchronous, &depths, Some(Remedy::QueueingEngine { iodepth: 32 })),
            "32 operations were to be in flight, but psync does one at a time, so there were at most 1. Use \
             ioengine=io_uring to have 32 in flight, or numjobs=32 with iodepth=1."
        );
        let one = [(Quantity::ServiceMean, 50_000.0), (Quantity::Iops, 19_800.0)];
        assert_eq!(
            said(Code::LatencyBound, &one, Some(Remedy::RaiseDepth { iodepth: 32 })),
            "Latency was the limit: one operation at a time, 50.0 us each, makes 19.8k IOPS whatever the device could \
             do. Set iodepth=32."
        );
        let busy = [(Quantity::Workers, 2.0), (Quantity::CpuShare, 0.97)];
        assert_eq!(
            said(Code::GeneratorCpuBound, &busy, Some(Remedy::AddWorkers { numjobs: 4 })),
            "The generator was the limit, not the device: each of 2 workers kept 97.0% of a processor busy. Spread the \
             load with numjobs=4."
        );
    }

    #[test]
    fn credits_say_how_long_they_last_and_when_they_were_gone() {
        let left = [
            (Quantity::DecidedShare, 0.99),
            (Quantity::Iops, 3_000.0),
            (Quantity::CreditsLeft, 5.39e6),
            (Quantity::CreditsSpent, 2_700.0),
            (Quantity::CreditsLast, 5.39e6 / 2_700.0 * 1e9),
        ];
        let text = said(Code::ModelHeldBack, &left, None);
        assert!(text.ends_with(" That is while credits last: 5.39M left, spent at 2.70k/s: 33.3 min."), "{text}");
        let gone = [(Quantity::EarlyIops, 12_000.0), (Quantity::LateIops, 8_000.0), (Quantity::CreditsGone, 60e9)];
        let text = said(Code::BurstOrDrift, &gone, None);
        assert!(text.contains("8.00k in its last: the credits of The model ran out 60.0 s after"), "{text}");
    }

    #[test]
    fn rates_are_told_in_their_unit() {
        let bytes = [(Quantity::ByteRateAsked, 2097152.0), (Quantity::ByteRateReached, 1048576.0)];
        assert_eq!(
            said(Code::RateNotReached, &bytes, None),
            "The rate was not reached: 1 MiB/s of 2 MiB/s, and the queue was not the reason."
        );
        let kept = [(Quantity::RateReached, 8_000.0), (Quantity::ResponseMean, 1_200_000.0)];
        assert_eq!(
            said(Code::RateKept, &kept, None),
            "The rate was kept: 8.00k operations per second, answered in 1.20 ms on average counted from when they \
             were due."
        );
    }

    #[test]
    fn one_error_is_not_several() {
        let errors = |n: f64| [(Quantity::Errors, n), (Quantity::FirstError, 5.0)];
        assert_eq!(
            said(Code::ErrorsSeen, &errors(1.0), None),
            "One operation failed, with error 5 (Input/output error)."
        );
        assert_eq!(
            said(Code::ErrorsSeen, &errors(1_200.0), None),
            "1,200 operations failed, the first with error 5 (Input/output error)."
        );
    }
}
