//! fio prints one run as text and as JSON: the figures parsed from the text must equal the JSON's within their digits.
//! The same applies to text written by Fathom.

use job::OutputFormat;
use record::{DataKind, DirectionResult, Input, JobResult, LatencyStats, Quote, Quoted, Run, SampleRecord, read_input};
use report::fio::{FioOptions, FioVersion, document};

use crate::fio::installed::{Fio, installed_fio};

/// Jobs in addition to those of the writer's tests, which check the text of their own jobs, with arguments separated by blanks.
const JOBS: &[(&str, &str)] = &[
    ("verified", "--name=a --filename=f --size=2m --rw=randwrite --verify=crc32c --fdatasync=8"),
    ("refused", "--name=a --filename=f --size=64k --rw=randtrim --ioengine=psync"),
    ("decimal", "--name=a --filename=f --size=9m --kb_base=1000 --bs=512 --direct=0"),
    ("several", "--name=a --size=1m --rw=rw --name=b --size=1m --rw=write --bs=64k --name=c --size=1m --new_group"),
    (
        "limited",
        "--name=a --filename=f --size=1m --rw=randread --latency_target=10ms --latency_window=100ms --iodepth=16 --ioengine=libaio --latency_percentile=99",
    ),
    ("as one", "--name=a --filename=f --size=2m --rw=randrw --unified_rw_reporting=1"),
    ("shared", "--group_reporting=1 --name=a --size=1m --rw=write --numjobs=3 --name=b --size=1m --rw=write"),
    ("steady", "--name=a --filename=f --size=1m --steadystate=iops:90% --ss_dur=1 --time_based --runtime=3"),
];

#[test]
fn parsed_text_of_fio_equals_its_json() {
    let Some(fio) = installed_fio() else { return };
    let more: Vec<(&str, Vec<&str>)> = JOBS.iter().map(|(label, words)| (*label, words.split(' ').collect())).collect();
    std::thread::scope(|scope| {
        for (label, arguments) in &more {
            scope.spawn(|| check(&fio, label, arguments));
        }
    });
}

fn check(fio: &Fio, label: &str, arguments: &[&str]) {
    agree_in(label, &fio.output(&[&["--output-format=json,normal", "--eta=never"], arguments].concat()));
}

/// Compares the text that fio printed for a run with the JSON beside it.
pub(super) fn agree_in(label: &str, printed: &str) {
    let json = read(label, printed);
    let text = read(label, &without_json(printed));
    assert_eq!(text.tool, json.tool, "{label}");
    agree(label, &text, &json);
    if label == "as one" {
        return;
    }
    for version in [FioVersion::V3_33, FioVersion::V3_42] {
        let options = FioOptions { version, ..FioOptions::default() };
        let ours = document(&json, &[OutputFormat::Normal], options);
        agree(label, &read(label, &ours), &json);
    }
}

#[track_caller]
fn read(label: &str, text: &str) -> Run {
    match read_input(label, text.as_bytes(), None) {
        Ok(Input::Run(run)) => *run,
        other => panic!("{label}: {other:?} of\n{text}"),
    }
}

/// Removes the JSON document, which is between lines that consist of a brace.
fn without_json(printed: &str) -> String {
    let mut inside = false;
    let kept = printed.lines().filter(|line| {
        let document = inside || *line == "{";
        inside = document && *line != "}";
        !document
    });
    kept.map(|line| format!("{line}\n")).collect()
}

fn agree(label: &str, text: &Run, json: &Run) {
    assert_eq!(text.jobs.len(), json.jobs.len(), "{label}");
    for (text, json) in text.jobs.iter().zip(&json.jobs) {
        same_job(&format!("{label}, {}", json.name), text, json);
    }
    assert_eq!(text.disks.len(), json.disks.len(), "{label}");
    for (text, json) in text.disks.iter().zip(&json.disks) {
        assert!((text.util_percent - json.util_percent).abs() < 0.011, "{label}");
        let known = record::DiskUse {
            read_sectors: text.read_sectors,
            write_sectors: text.write_sectors,
            util_percent: text.util_percent,
            ..json.clone()
        };
        assert_eq!(*text, known, "{label}");
    }
    for quote in &text.quotes {
        let Some(value) = of_group_or_device(json, quote) else { panic!("{label}: {quote:?}") };
        assert!(value.iter().any(|value| quote.agrees_with(*value)), "{label}: {quote:?} is none of {value:?}");
    }
}

fn same_job(label: &str, text: &JobResult, json: &JobResult) {
    let shared = label.starts_with("shared");
    // The JSON of a result of several jobs has only the workers of the first job.
    let workers = |job: &JobResult| if shared { 4 } else { job.workers };
    let head = |job: &JobResult| (job.name.clone(), job.group, job.error, workers(job), job.description.clone());
    assert_eq!(head(text), head(json), "{label}");
    let declared = |job: &JobResult| {
        let declared = &job.declared;
        let depths = (declared.in_flight_asked, declared.in_flight_possible, declared.queues);
        (declared.rw.clone(), declared.engine.clone(), depths, declared.continue_on_error, declared.verify)
    };
    // The JSON of a search for a depth has only the final one; of a result of several jobs, only the first job's.
    if !label.starts_with("limited") && !shared {
        assert_eq!(declared(text), declared(json), "{label}");
    }
    for quote in &text.quotes {
        let value = value_of(json, quote);
        assert!(quote.agrees_with(value), "{label}: {quote:?} is {value}");
    }
    let (a, b) = (&text.result, &json.result);
    for kind in DataKind::ALL {
        same_direction(&format!("{label}, {}", kind.name()), a.kind(kind), b.kind(kind), &text.quotes, kind);
    }
    let few = (b.ios() as f64 * 0.007).max(1.0);
    assert!(a.sync.count.abs_diff(b.sync.count) as f64 <= few, "{label}: {} and {}", a.sync.count, b.sync.count);
    same_latency(label, &a.sync, &b.sync, &text.quotes, None, Quoted::SyncMeanNs);
    let cpu = |m: &record::Measured| {
        (m.cpu.context_switches, m.cpu.major_faults, m.cpu.minor_faults, m.errors, m.first_error)
    };
    assert_eq!(cpu(a), cpu(b), "{label}");
    let share = |m: &record::Measured| [m.cpu_percent(m.cpu.user_ns), m.cpu_percent(m.cpu.system_ns)];
    near(label, &share(a), &share(b), 0.0101);
    for (a, b) in [(&a.depth, &b.depth), (&a.submit, &b.submit), (&a.complete, &b.complete)] {
        near(label, &a.percent(), &b.percent(), 0.101);
    }
    let (ours, theirs) = (a.latency_shares(), b.latency_shares());
    near(label, &ours.ns, &theirs.ns, 0.0101);
    near(label, &ours.us, &theirs.us, 0.0101);
    near(label, &ours.ms, &theirs.ms, 0.0101);
    // fio prints no runtime of workers, so the longest runtime represents each, with a precision of milliseconds.
    assert!(shared || a.runtime_ms() + 2 >= b.runtime_ms(), "{label}: {} of {}", a.runtime_ms(), b.runtime_ms());
}

fn near(label: &str, text: &[f64], json: &[f64], within: f64) {
    let same = text.iter().zip(json).all(|(text, json)| (text - json).abs() <= within);
    assert!(same, "{label}: {text:?} and {json:?}");
}

fn same_direction(label: &str, text: &DirectionResult, json: &DirectionResult, quotes: &[Quote], kind: DataKind) {
    let counts = |d: &DirectionResult| (d.ios, d.short_ios, d.drop_ios, d.runtime_ns);
    assert_eq!(counts(text), counts(json), "{label}");
    let kind = Some(kind);
    same_latency(label, &text.submission, &json.submission, quotes, kind, Quoted::SubmissionMeanNs);
    same_latency(label, &text.service, &json.service, quotes, kind, Quoted::ServiceMeanNs);
    same_latency(label, &text.latency, &json.latency, quotes, kind, Quoted::LatencyMeanNs);
    same_samples(label, &text.bandwidth_kib, &json.bandwidth_kib);
    same_samples(label, &text.iops_samples, &json.iops_samples);
}

fn same_latency(
    label: &str,
    text: &LatencyStats,
    json: &LatencyStats,
    quotes: &[Quote],
    kind: Option<DataKind>,
    what: Quoted,
) {
    assert_eq!(text.count == 0, json.count == 0, "{label}, {what:?}");
    if json.count == 0 {
        return;
    }
    if kind.is_some() {
        assert_eq!(text.count, json.count, "{label}, {what:?}");
    }
    let quote = quotes.iter().find(|quote| quote.what == what && quote.kind == kind).expect("a mean was printed");
    // Means have two decimals.
    let unit = (quote.step * 100.0).round();
    let within = |text: f64, json: f64, what: &str| {
        let slack = unit.max(json * 1e-4);
        assert!((text - json).abs() <= slack, "{label}, {what}: {text} and {json}");
    };
    within(text.min_ns as f64, json.min_ns as f64, "min");
    within(text.max_ns as f64, json.max_ns as f64, "max");
    assert!((text.stddev_ns - json.stddev_ns).abs() <= quote.step, "{label}");
    for (percent, ns) in &text.quoted {
        let exact = json.fio_percentiles_ns(&[*percent]);
        let (_, exact) = exact.first().expect("JSON has the same percentiles");
        // Percentiles have a separate unit, and no decimals.
        let slack = if ns.is_multiple_of(1_000_000) {
            1e6
        } else if ns.is_multiple_of(1000) {
            1e3
        } else {
            0.0
        };
        assert!((*ns as f64 - *exact as f64).abs() <= slack, "{label}, {what:?} p{percent}: {ns} and {exact}");
    }
}

fn same_samples(label: &str, text: &SampleRecord, json: &SampleRecord) {
    assert_eq!(text.count, json.count, "{label}");
    // Large values are printed in MiB/s.
    let unit = if json.max > 1e6 { 1024.0 } else { 1.0 };
    near(label, &[text.min, text.max, text.mean, text.stddev], &[json.min, json.max, json.mean, json.stddev], unit);
}

/// Returns the JSON's value of a figure that the text prints for a job.
fn value_of(json: &JobResult, quote: &Quote) -> f64 {
    let direction = quote.kind.map(|kind| json.result.kind(kind));
    let of = |pick: fn(&DirectionResult) -> f64| direction.map_or(f64::NAN, pick);
    match quote.what {
        Quoted::Iops => of(DirectionResult::fio_iops),
        Quoted::BytesPerSecond => of(|d| d.fio_bytes_per_second() as f64),
        Quoted::Bytes => of(|d| d.bytes as f64),
        Quoted::RuntimeNs => of(|d| d.runtime_ns as f64),
        Quoted::Operations => of(|d| d.ios as f64),
        Quoted::Syncs => json.result.sync.count as f64,
        Quoted::SubmissionMeanNs => of(|d| d.submission.mean_ns),
        Quoted::ServiceMeanNs => of(|d| d.service.mean_ns),
        Quoted::LatencyMeanNs => of(|d| d.latency.mean_ns),
        Quoted::SyncMeanNs => json.result.sync.mean_ns,
        Quoted::SampledBytesPerSecond => {
            // With `kb_base=1000`, the values that JSON calls KiB are kB.
            of(|d| d.bandwidth_kib.mean) * if json.declared.kb_base == 1000 { 1000.0 } else { 1024.0 }
        }
        Quoted::SampledIops => of(|d| d.iops_samples.mean),
        _ => f64::NAN,
    }
}

/// Returns the JSON's values of a figure of a reporting group or a device.
fn of_group_or_device(json: &Run, quote: &Quote) -> Option<Vec<f64>> {
    let of = quote.of.as_deref()?;
    if let Some(disk) = json.disks.iter().find(|disk| disk.name == of) {
        let (ios, ticks_ms) = match quote.kind {
            Some(DataKind::Write) => (disk.write_ios, disk.write_ticks_ms),
            _ => (disk.read_ios, disk.read_ticks_ms),
        };
        return Some(vec![match quote.what {
            Quoted::DeviceOperations => ios as f64,
            Quoted::DeviceTicksNs => ticks_ms as f64 * 1e6,
            Quoted::DeviceInQueueNs => disk.in_queue_ms as f64 * 1e6,
            _ => disk.util_percent / 100.0,
        }]);
    }
    let totals = json.group_totals(of.parse().ok()?, quote.kind?)?;
    Some(match quote.what {
        Quoted::GroupBytes => vec![totals.bytes as f64],
        Quoted::GroupBytesPerSecond => vec![totals.bytes_per_second as f64],
        _ => vec![totals.runtime_ms_min as f64 * 1e6, totals.runtime_ms_max as f64 * 1e6],
    })
}
