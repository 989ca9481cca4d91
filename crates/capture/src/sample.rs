//! Sampling of the counters of a device, which is possible without privileges.

use std::path::Path;
use std::time::{Duration, Instant};

use results::capture::{SampleProgress, SampleResult};
use units::{Problem, ProblemCode};

use crate::error;
use crate::sample_file::SeriesFile;
use crate::sample_source::{CounterSample, CounterSource};
use crate::sample_summary::CounterSummary;
use crate::session::{CaptureHost, CaptureOptions};
use crate::target::CaptureTarget;

/// Permitted intervals. The kernel counts time in milliseconds, or in ticks of up to 10 ms.
const INTERVALS: std::ops::RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(3600);
/// Maximum time between two questions whether to end.
const WAIT: Duration = Duration::from_millis(50);
/// Minimum time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// Samples the counters of a device until the time is over or the host ends it. An error in between ends it too; it is
/// in the result beside what was counted before.
///
/// # Errors
/// Fails if there is no such device, an option needs requests, or counters or file cannot be opened.
pub fn sample(
    options: &CaptureOptions,
    interval: Duration,
    host: &mut dyn CaptureHost,
) -> Result<SampleResult, Problem> {
    refuse(options, interval)?;
    let root = Path::new("/");
    let target = CaptureTarget::find_counted(root, &options.asked)?;
    let source = CounterSource::open(root, &target)?;
    if let Some(output) = options.output.as_deref().filter(|output| target.has_file(root, output)) {
        let what = format!("{} is on {}, so its own writes are counted", output.display(), target.name);
        host.warn(&Problem::warning(ProblemCode::CaptureRequest, what).help("write it to another device"));
    }
    let create = |path: &std::path::PathBuf| SeriesFile::create(path, interval, &target);
    let file = options.output.as_ref().map(create).transpose()?;
    let first = source.read().map_err(|error| vanished(&source, &error))?;
    let mut session = SampleSession {
        options,
        interval,
        ticks: Ticks { start: first.at, interval, taken: 0, missed: 0 },
        summary: CounterSummary::new(nanos(interval)),
        progress_at: first.at,
        last: first,
        source,
        file,
    };
    let (ended, failure) = session.run(host);
    host.concluding();
    Ok(session.finish(target, ended, failure))
}

/// Refuses options that need requests.
fn refuse(options: &CaptureOptions, interval: Duration) -> Result<(), Problem> {
    let remedy = "omit the option, or capture requests as root without --sample";
    for (is_given, option, why) in [
        (options.process.is_some(), "--pid", "counters cover all processes"),
        (options.kept.is_some(), "--keep-last", "a counter series is kept complete; limit it with --max-size"),
        (options.anonymize, "--anonymize", "counters contain neither process names nor offsets"),
        (options.buffer_bytes.is_some(), "--buffer", "counters need no kernel buffer"),
        (options.source.is_some(), "--source", "counters are read from /sys"),
    ] {
        if is_given {
            return Err(error::usage(format!("{option} cannot be used with --sample: {why}"), remedy));
        }
    }
    if INTERVALS.contains(&interval) {
        return Ok(());
    }
    let given = units::Nanos::new(nanos(interval));
    let message = format!("--sample {given}: the interval must be from 10 ms to 1 h");
    Err(error::usage(message, "kernel counters have millisecond resolution: use 100ms or 1s"))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the error of a device whose counters can no longer be read.
fn vanished(source: &CounterSource, error: &std::io::Error) -> Problem {
    let message = format!("read {}: {error}", source.path().display());
    error::host(message, "reattach the device and start a new capture; the samples so far are valid")
}

/// Instants at which samples are due: multiples of the interval after the start, so that delays do not add up.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    start: Instant,
    interval: Duration,
    /// Number of the last tick.
    taken: u32,
    /// Number of ticks at which no sample was taken.
    missed: u64,
}

impl Ticks {
    /// Returns when the next sample is due.
    fn next(&self) -> Instant {
        self.start + self.interval.saturating_mul(self.taken.saturating_add(1))
    }

    /// Notes that a sample was taken, and counts the ticks that passed without one.
    fn take(&mut self, at: Instant) {
        let passed = at.saturating_duration_since(self.start).as_nanos() / self.interval.as_nanos().max(1);
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        self.missed += u64::from(passed.saturating_sub(self.taken.saturating_add(1)));
        self.taken = self.taken.max(passed);
    }
}

struct SampleSession<'a> {
    options: &'a CaptureOptions,
    interval: Duration,
    source: CounterSource,
    ticks: Ticks,
    last: CounterSample,
    summary: CounterSummary,
    file: Option<SeriesFile>,
    progress_at: Instant,
}

impl SampleSession<'_> {
    /// Takes samples until the end. Returns why it ended, and the error if that was one.
    fn run(&mut self, host: &mut dyn CaptureHost) -> (&'static str, Option<Problem>) {
        if let Err(error) = self.file.as_mut().map_or(Ok(()), |file| file.add(&self.last)) {
            return ("because writing the file failed", Some(error));
        }
        loop {
            let ended = self.wait(host);
            let is_rest = self.last.at.elapsed() < *INTERVALS.start();
            if let Some(ended) = ended.filter(|_| is_rest) {
                return (ended, None);
            }
            let sample = match self.source.read() {
                Ok(sample) => sample,
                Err(error) => return ("because the device disappeared", Some(vanished(&self.source, &error))),
            };
            self.ticks.take(sample.at);
            if let Err(error) = self.take(sample, host) {
                return ("because writing the file failed", Some(error));
            }
            let bytes = self.file.as_ref().map_or(0, SeriesFile::bytes);
            let is_full = self.options.bytes_max.is_some_and(|most| bytes >= most);
            if let Some(ended) = ended.or(is_full.then_some("at the size limit (--max-size)")) {
                return (ended, None);
            }
        }
    }

    /// Waits until the next sample is due, or the end. Returns why it ends, if it does.
    fn wait(&self, host: &dyn CaptureHost) -> Option<&'static str> {
        let due = self.ticks.next();
        let end = self.options.duration.map(|duration| self.ticks.start + duration);
        loop {
            let now = Instant::now();
            if host.is_ended() {
                return Some("by a signal");
            }
            if end.is_some_and(|end| now >= end) {
                return Some("after the requested duration");
            }
            if now >= due {
                return None;
            }
            let until = end.map_or(due, |end| end.min(due));
            std::thread::sleep(until.saturating_duration_since(now).min(WAIT));
        }
    }

    fn take(&mut self, sample: CounterSample, host: &mut dyn CaptureHost) -> Result<(), Problem> {
        let passed = sample.at.saturating_duration_since(self.last.at);
        let increase = self.summary.add(nanos(passed), &self.last.counters, &sample.counters);
        if sample.at.saturating_duration_since(self.progress_at) >= PROGRESS {
            self.progress_at = sample.at;
            let elapsed = sample.at.saturating_duration_since(self.ticks.start);
            let secs = passed.as_secs_f64().max(1e-9);
            let bytes = increase.map_or(0, |all| all.read.bytes().saturating_add(all.write.bytes()));
            host.sampled(&SampleProgress {
                elapsed_ns: nanos(elapsed),
                remaining_ns: self.options.duration.map(|all| nanos(all.saturating_sub(elapsed))),
                iops: increase.map_or(0.0, |increase| increase.requests() as f64) / secs,
                bytes_per_second: bytes as f64 / secs,
                samples: u64::from(self.ticks.taken) + 1 - self.ticks.missed,
            });
        }
        self.last = sample;
        self.file.as_mut().map_or(Ok(()), |file| file.add(&self.last))
    }

    fn finish(self, target: CaptureTarget, ended: &'static str, failure: Option<Problem>) -> SampleResult {
        let Self { options, interval, ticks, last, summary, file, .. } = self;
        let mut notes = target.notes;
        if target.takes_bios {
            notes.push(format!(
                "{} counts bios, which may differ from the requests of its underlying disks",
                target.name
            ));
        }
        SampleResult {
            asked: options.asked.clone(),
            device: target.name,
            device_bytes: target.bytes,
            notes,
            interval_ns: nanos(interval),
            duration_ns: summary.measured_ns,
            ended,
            intervals: summary.intervals,
            lengths_ns: summary.lengths_ns,
            missed: ticks.missed,
            restarts: summary.restarts,
            kinds: summary.kinds(),
            requests: summary.sum.requests(),
            counts_discards: last.counters.discard.is_some(),
            counts_flushes: last.counters.flush.is_some(),
            depth_mean: summary.depth_mean(),
            depth_seen_max: summary.depth_seen_max,
            busy_fraction: summary.busy_fraction(),
            failure,
            file: file.map(|file| file.written()),
        }
    }
}

#[cfg(test)]
mod tests {
    use results::capture::CaptureSource;

    use super::*;

    #[test]
    fn ticks_do_not_drift_and_missed_ones_are_counted() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut ticks = Ticks { start, interval: ms(100), taken: 0, missed: 0 };
        for (late, next, missed) in
            [(100, 200, 0), (207, 300, 0), (299, 300, 0), (301, 400, 0), (730, 800, 3), (800, 900, 3)]
        {
            ticks.take(start + ms(late));
            assert_eq!((ticks.next(), ticks.missed), (start + ms(next), missed), "{late}");
        }
    }

    #[test]
    fn options_that_need_requests_are_refused() {
        let of = |change: fn(&mut CaptureOptions)| {
            let mut options = CaptureOptions::default();
            change(&mut options);
            refuse(&options, Duration::from_secs(1))
        };
        assert_eq!(of(|_| ()), Ok(()));
        assert_eq!(of(|options| options.bytes_max = Some(1 << 20)), Ok(()));
        for (name, refused) in [
            ("--pid", of(|options| options.process = Some(1))),
            ("--keep-last", of(|options| options.kept = Some(crate::KeptPart::Bytes(1)))),
            ("--anonymize", of(|options| options.anonymize = true)),
            ("--buffer", of(|options| options.buffer_bytes = Some(1))),
            ("--source", of(|options| options.source = Some(CaptureSource::Tracefs))),
        ] {
            let problem = refused.unwrap_err();
            assert!(problem.what.starts_with(&format!("{name} cannot be used with --sample: ")), "{problem}");
            assert!(problem.help.is_some(), "{problem}");
        }
        for (interval, is_permitted) in [(9, false), (10, true), (3_600_000, true), (3_600_001, false)] {
            let refused = refuse(&CaptureOptions::default(), Duration::from_millis(interval));
            assert_eq!(refused.is_ok(), is_permitted, "{interval}");
        }
    }
}
