//! Runs for pages.

use analyse::analyse;
use record::{
    Declared, DeclaredSizes, DirectionResult, HostRecord, IntervalRecord, JobResult, LatencyStats, Measured, Run,
    SCHEMA, SeriesRecord, Tool,
};
use report::ReportedRun;
use report::html::{PageSubject, page};
use units::PerKind;

/// Returns latencies around 1.3 ms with a tail.
pub(crate) fn latency(count: u64) -> LatencyStats {
    let buckets =
        vec![(975, count * 60 / 100), (990, count * 35 / 100), (1018, count * 49 / 1000), (1088, count / 1000 + 1)];
    LatencyStats {
        count,
        min_ns: 860_000,
        max_ns: 4_210_000,
        mean_ns: 1_314_620.0,
        stddev_ns: 211_020.0,
        buckets,
        ..LatencyStats::default()
    }
}

/// Returns a job with one interval per second.
pub(crate) fn job(name: &str, seconds: u64) -> JobResult {
    let interval = |second: u64| {
        let ios = 24_000 + second * 7_919 % 900;
        IntervalRecord {
            ios: [ios, 0, 0],
            bytes: [ios * 4096, 0, 0],
            service_ns: ios * 1_300_000,
            service_ns_max: 4_000_000 + second % 7,
        }
    };
    let ios = seconds * 24_300;
    let read = DirectionResult {
        ios,
        bytes: ios * 4096,
        runtime_ns: seconds * 1_000_000_000,
        service: latency(ios),
        ..DirectionResult::default()
    };
    let series = SeriesRecord { width_ns: 1_000_000_000, pace_ns: 0, intervals: (0..seconds).map(interval).collect() };
    let result = Measured { read, series, runtime_ns: seconds * 1_000_000_000, workers: 1, ..Measured::default() };
    let size = DeclaredSizes { min: 4096, max: 4096 };
    let declared = Declared {
        engine: "io_uring".to_owned(),
        device: true,
        queues: true,
        iodepth: 32,
        iodepth_effective: 32,
        in_flight_asked: Some(32),
        in_flight_possible: Some(32),
        rw: "randread".to_owned(),
        block_sizes: PerKind { read: size, write: size, trim: size },
        direct: true,
        ..Declared::default()
    };
    JobResult { name: name.to_owned(), workers: 1, declared, result, ..JobResult::default() }
}

pub(crate) fn run(jobs: Vec<JobResult>) -> Run {
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fathom".to_owned(), version: "0.1.0".to_owned() },
        taken_unix_ms: 1_795_257_536_410,
        seed: Some(42),
        host: HostRecord { hostname: "box".to_owned(), kernel: "Linux 6.1".to_owned(), cpus: 2 },
        command_line: ["fathom", "run", "first try.fio"].map(str::to_owned).to_vec(),
        jobs,
        ..Run::default()
    }
}

/// Returns the page of named runs.
pub(crate) fn page_of(runs: &[(&str, &Run)]) -> String {
    let verdicts: Vec<_> = runs.iter().map(|(_, run)| analyse(run)).collect();
    let named = runs.iter().zip(&verdicts);
    let shown = named.map(|(&(name, run), verdicts)| ReportedRun { name, run, verdicts, written: None });
    page(&shown.map(PageSubject::Run).collect::<Vec<_>>())
}
