//! The characteristics of a trace, compared verbatim.
#![allow(clippy::disallowed_methods, reason = "tests compare with files, and write them on request")]

use report::{ResultDocument, ResultFormat, SheetStyle};
use trace::{
    BacklogLimit, Characterizer, JobComparison, JobLoop, JobOmission, LoadDifference, LoadDimension, LoadLatency,
    TraceCopy, TraceEnd, TraceFinding, TraceFormat, TraceInfo, TraceInput, TraceOperation, TraceRequest, TraceStudy,
    TraceWindow, TraceWriter, TraceWriterOptions, VolumeComparison, scan_trace, trace_findings,
};

use crate::html::wellformed;
use crate::traces;

/// Returns the report of the bytes of a trace.
fn read(name: &str, format: TraceFormat, bytes: &[u8]) -> TraceStudy {
    let mut pieces = bytes.chunks(1 << 16);
    let mut characterizer = Characterizer::new();
    let feed = |input: &mut TraceInput, file: usize| {
        match pieces.next() {
            Some(piece) => input.feed(file, piece),
            None => input.end_input(file),
        }
        Ok::<(), ()>(())
    };
    let condition = scan_trace(TraceInput::new(name, format, 1), TraceWindow::ALL, feed, |requests, _| {
        requests.iter().for_each(|request| characterizer.add(request));
        Ok(())
    });
    let profile = characterizer.finish();
    let findings = trace_findings(&profile, 64 << 30);
    let condition = condition.unwrap();
    TraceStudy {
        name: name.to_owned(),
        window: TraceWindow::ALL,
        condition,
        profile,
        findings,
        copies: Vec::new(),
        job: None,
    }
}

/// A database of 12 s with bursts of page writes every 3 s, each of 48 ms.
fn checkpoints() -> Vec<TraceRequest> {
    let mut requests = traces::database(240_000, 7);
    for burst in 1..4u64 {
        for index in 0..12_000u64 {
            let issued_ns = burst * 3_000_000_000 + index * 4_000;
            let offset = (units::random::mix(index, burst) % (1 << 20)) << 13;
            let operation = TraceOperation::Write;
            requests.push(TraceRequest {
                issued_ns,
                offset,
                length: 8_192,
                operation,
                service_ns: Some(300_000),
                process: 7,
                ..TraceRequest::default()
            });
        }
    }
    requests.sort_by_key(|request| request.issued_ns);
    requests
}

fn database() -> TraceStudy {
    read("db.trace", TraceFormat::Fathom, &traces::write(&checkpoints(), TraceWriterOptions::default()))
}

fn render(report: &TraceStudy, format: ResultFormat) -> String {
    ResultDocument::Trace(report).render(format, SheetStyle { width: 80, ..SheetStyle::default() })
}

/// Returns the text with all figures and findings.
fn detailed(report: &TraceStudy) -> String {
    ResultDocument::Trace(report).render(ResultFormat::Text, SheetStyle { width: 80, colour: false, details: true })
}

/// Compares with a file; `FATHOM_WRITE_EXPECTED=1` writes it.
fn expect(file: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(file);
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{} differs; FATHOM_WRITE_EXPECTED=1 writes:\n{found}", path.display());
}

#[test]
fn a_database_as_text_markdown_json_and_page() {
    let mut report = database();
    let copy = TraceCopy {
        file: "db.csv".to_owned(),
        format: TraceFormat::Alibaba,
        requests: 247_000,
        omitted: 5_000,
        bytes: 9_000_000,
    };
    report.copies.push(copy);
    expect("trace.txt", &detailed(&report));
    expect("trace-answer.txt", &render(&report, ResultFormat::Text));
    expect("trace.md", &render(&report, ResultFormat::Markdown));
    let json = render(&report, ResultFormat::Json);
    let mut document: serde_json::Value = serde_json::from_str(&json).unwrap();
    // The columns have 1,500 rows.
    let series = document.as_object_mut().unwrap().remove("series").unwrap();
    let sum = |column: &serde_json::Value| {
        column.as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).sum::<u64>()
    };
    assert_eq!(Some(sum(&series["requests"]["read"])), document["totals"]["requests"]["read"].as_u64());
    expect("trace.json", &(serde_json::to_string_pretty(&document).unwrap() + "\n"));
    expect("trace.html", &render(&report, ResultFormat::Html));
}

/// Returns a job that differs in some dimensions, and on one volume.
fn job() -> JobComparison {
    let difference = |dimension: LoadDimension, trace: f64, job: f64, difference: f64| LoadDifference {
        dimension,
        trace: Some(trace),
        job: Some(job),
        difference,
        tolerance: dimension.tolerance(),
        is_matched: difference.abs() <= dimension.tolerance(),
    };
    let load = |iops: f64, p99_ns: u64| LoadLatency { iops, p50_ns: 774_000, p99_ns, p99_9_ns: 2 * p99_ns };
    let volume =
        |volume: &str, trace: LoadLatency, job: LoadLatency| VolumeComparison { volume: volume.to_owned(), trace, job };
    JobComparison {
        file: "db.fio".to_owned(),
        sections: 12,
        job_loop: JobLoop::Open,
        bytes: 11 << 30,
        omissions: vec![JobOmission::AveragedPhases { phases: 7 }, JobOmission::FlushesAboveWrites { flushes: 1_200 }],
        differences: vec![
            difference(LoadDimension::Rate, 20_000.0, 19_950.0, -0.0025),
            difference(LoadDimension::BytesRate, 2e8, 2.01e8, 0.005),
            difference(LoadDimension::ReadFraction, 0.65, 0.651, 0.001),
            difference(LoadDimension::Sizes, 0.0, 0.021, 0.021),
            difference(LoadDimension::Dispersion(10), 33.9, 18.2, -0.463),
            difference(LoadDimension::Wait(BacklogLimit::Requests(4000)), 28.7e6, 34.8e6, 0.211),
            difference(LoadDimension::Footprint, 5e9, 5.2e9, 0.04),
            difference(LoadDimension::HotAccesses(5), 0.5, 0.44, -0.06),
            difference(LoadDimension::MissRatio(10), 0.76, 0.78, 0.02),
        ],
        volumes: vec![
            volume("gcp/pd-ssd,size=500GiB", load(20_000.0, 1_253_000), load(19_950.0, 1_269_000)),
            volume("aws/gp3,size=100GiB", load(3_000.0, 82_313_000), load(3_000.0, 56_885_000)),
        ],
        not_simulated: None,
    }
}

#[test]
fn a_job_beside_its_trace() {
    let mut report = read(
        "db.trace",
        TraceFormat::Fathom,
        &traces::write(&traces::database(2_000, 7), TraceWriterOptions::default()),
    );
    report.job = Some(Box::new(job()));
    expect("trace-job.txt", &detailed(&report));
    let short = render(&report, ResultFormat::Text);
    for part in ["\n  matched      6 of 9 dimensions\n", "\n  not matched  "] {
        assert!(short.contains(part), "{part}: {short}");
    }
    let json: serde_json::Value = serde_json::from_str(&render(&report, ResultFormat::Json)).unwrap();
    expect("trace-job.json", &(serde_json::to_string_pretty(&json["job"]).unwrap() + "\n"));
    for format in [ResultFormat::Markdown, ResultFormat::Html] {
        let text = render(&report, format);
        assert!(text.contains("dispersion at 10.0 ms") && text.contains("aws/gp3"), "{format:?}");
    }
    assert!(report::job_comment(&report).iter().all(|line| !line.contains('\n')));
}

/// Returns one of each kind of finding.
fn findings() -> Vec<TraceFinding> {
    vec![
        TraceFinding::BurstyWrites {
            bursts: 12,
            duration_ns_p50: 40_000_000,
            interval_ns_p50: 30_000_000_000,
            rate_to_mean: 3.1,
            requests_fraction: 0.2,
        },
        TraceFinding::RatePeak { width_ns: 1_000_000_000, peak_to_mean: 3.4, rate_per_s_max: 12_300.0 },
        TraceFinding::LongRangeDependence { hurst: 0.85, standard_error: 0.03 },
        TraceFinding::LogWrites {
            continuing_fraction: 0.98,
            streams_p50: 1,
            sync_fraction: 1.0,
            flushes_per_write: 0.5,
        },
        TraceFinding::FrequentFlushes { flushes_per_s: 412.0, flushes_per_write: 0.5 },
        TraceFinding::ReadsFitInMemory {
            cache_bytes: 4 << 30,
            read_hit_ratio: 0.83,
            read_footprint_bytes: 7e9,
            continuing_fraction: 0.01,
        },
        TraceFinding::ReadsDoNotRepeat { read_miss_ratio: 0.97 },
        TraceFinding::DepthOne { busy_time_fraction: 0.83, service_ns_mean: 117_000.0 },
        TraceFinding::ClosedLoop { score: 0.93, think_ns_p50: 34_000 },
        TraceFinding::OpenLoop { score: 0.03 },
        TraceFinding::FewLargeRequests { bytes_min: 131_072, requests_fraction: 0.043, bytes_fraction: 0.71 },
        TraceFinding::HotSpot { blocks_percent: 5.0, accesses_fraction: 0.62, zipf_theta: Some(0.98) },
        TraceFinding::QueuedLonger { queued_ns_mean: 3.1e6, service_ns_mean: 0.9e6 },
        TraceFinding::Failures { requests: 12 },
        TraceFinding::LateRequests { requests: 1_234, late_ns_max: 3_400_000 },
    ]
}

#[test]
fn every_finding_has_a_sentence_and_is_documented() {
    let mut report = database();
    report.findings = findings();
    report.condition.errors.clear();
    let text = detailed(&report);
    let start = text.find("\n  advice: Bursts of").unwrap();
    expect("trace-findings.txt", &text[start..]);
    let page = report::findings_markdown();
    for finding in findings() {
        assert!(page.contains(&format!("\n## {}\n", finding.code())), "{}", finding.code());
    }
    assert_eq!(page.matches("\n## ").count(), analyse::Code::ALL.len() + findings().len());
}

#[test]
fn limits_of_the_figures_are_said() {
    let mut report = database();
    report.condition.info.lost = Some(12_345);
    report.condition.missing = 1_000;
    report.condition.error_count = 3;
    report.condition.end = TraceEnd::Truncated { position: 4_096, bytes: 77 };
    report.condition.format = TraceFormat::Tencent;
    report.condition.info.is_anonymous = true;
    report.profile.totals.incomplete_requests = 5;
    report.window = TraceWindow { from_ns: 1_000_000_000, end_ns: 5_000_000_000 };
    let text = detailed(&report);
    expect("trace-limits.txt", &text[..text.find("\n  operation").unwrap()]);
    let page = render(&report, ResultFormat::Html);
    assert_eq!(page.matches("Incomplete</span>").count(), 4);
    let document: serde_json::Value = serde_json::from_str(&render(&report, ResultFormat::Json)).unwrap();
    assert_eq!(document["is_incomplete"], true);
    assert_eq!(document["warnings"].as_array().unwrap().len(), 7);
}

#[test]
fn names_from_a_trace_are_harmless() {
    let mut report = database();
    let hostile = "<script>alert(1)</script>|\u{1b}[31m\n\u{202e}\"&";
    report.name = hostile.to_owned();
    report.condition.info.source = hostile.to_owned();
    report.condition.info.processes = vec![hostile.to_owned(); 8];
    report.condition.info.devices = vec![(hostile.to_owned(), None)];
    let page = render(&report, ResultFormat::Html);
    wellformed::check(&page).unwrap();
    assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let text = render(&report, ResultFormat::Text);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    let markdown = render(&report, ResultFormat::Markdown);
    assert!(!markdown.contains("<script") && !markdown.contains('\u{1b}'));
    serde_json::from_str::<serde_json::Value>(&render(&report, ResultFormat::Json)).unwrap();
}

#[test]
fn text_fits_the_width() {
    let mut report = database();
    report.condition.info.processes = vec!["a process with a name of more than sixty characters".repeat(2); 8];
    for width in [60, 80, 120] {
        let text =
            ResultDocument::Trace(&report).render(ResultFormat::Text, SheetStyle { width, ..SheetStyle::default() });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
    }
}

#[test]
fn odd_traces_are_rendered() {
    let one = [TraceRequest::default()];
    let late = [TraceRequest { issued_ns: u64::MAX, offset: u64::MAX, length: u32::MAX, ..TraceRequest::default() }];
    let zero_length: Vec<TraceRequest> = (0..500)
        .map(|index| TraceRequest { issued_ns: index, service_ns: Some(0), ..TraceRequest::default() })
        .collect();
    let wild = traces::wild(20_000, 3);
    for requests in [&[][..], &one, &late, &zero_length, &wild] {
        let mut characterizer = Characterizer::new();
        requests.iter().for_each(|request| characterizer.add(request));
        let profile = characterizer.finish();
        let findings = trace_findings(&profile, 64 << 30);
        let few = traces::write(&traces::database(2_000, 7), TraceWriterOptions::default());
        let report = TraceStudy { profile, findings, ..read("db.trace", TraceFormat::Fathom, &few) };
        for format in [ResultFormat::Text, ResultFormat::Markdown, ResultFormat::Json, ResultFormat::Html] {
            let document = render(&report, format);
            if format == ResultFormat::Html {
                wellformed::check(&document).unwrap();
            }
            let is_number = !document.contains("NaN") && !document.contains("inf ");
            assert!(document.len() > 100 && is_number, "{} requests, {format:?}:\n{document}", requests.len());
        }
    }
}

/// A database of 800 requests per second for 12.5 s, with a checkpoint of 300 page writes every 3 s.
fn example() -> Vec<TraceRequest> {
    let is_page_write = |request: &TraceRequest| request.operation == TraceOperation::Write && !request.is_sync;
    let mut requests = traces::database(10_000, 1);
    requests.retain(|request| !is_page_write(request));
    requests.iter_mut().for_each(|request| request.issued_ns *= 25);
    for checkpoint in 1..5u64 {
        for index in 0..300u64 {
            let page = units::random::mix(index, checkpoint) % (1 << 20);
            requests.push(TraceRequest {
                issued_ns: checkpoint * 3_000_000_000 + index * 130_000,
                offset: page << 13,
                length: 8_192,
                operation: TraceOperation::Write,
                queued_ns: Some(index * 2_000),
                service_ns: Some(300_000 + index * 1_000),
                ..TraceRequest::default()
            });
        }
    }
    requests.sort_by_key(|request| request.issued_ns);
    requests
}

#[test]
fn the_example_shows_a_database_with_checkpoints() {
    let info = TraceInfo {
        source: "an example".to_owned(),
        devices: vec![("nvme0n1".to_owned(), Some(400 << 30))],
        processes: ["checkpointer", "backend 1", "backend 2", "backend 3", "backend 4", "backend 5", "backend 6"]
            .map(str::to_owned)
            .to_vec(),
        lost: Some(0),
        ..TraceInfo::default()
    };
    let mut writer = TraceWriter::new(info, TraceWriterOptions::default());
    example().iter().for_each(|request| writer.push(request));
    let bytes = writer.finish();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/checkpoints.trace");
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(std::fs::read(&path).unwrap_or_default() == bytes, "FATHOM_WRITE_EXPECTED=1 writes {}", path.display());
    let report = read("checkpoints.trace", TraceFormat::Fathom, &bytes);
    let codes: Vec<&str> = report.findings.iter().map(TraceFinding::code).collect();
    assert!(["bursty-writes", "rate-peak", "log-writes"].iter().all(|code| codes.contains(code)), "{codes:?}");
    assert!(render(&report, ResultFormat::Text).contains("Like a transactional database"));
}
