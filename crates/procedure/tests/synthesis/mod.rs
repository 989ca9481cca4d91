//! Jobs for traces of known loads: their sections, what they do, and their latencies beside those of the trace.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "fio reads a file, and tests print figures")]

mod loads;

use std::sync::Arc;
use units::{Problem, ProblemCode};

use procedure::synthesis::JobFile;
use runner::Uninterrupted;
use trace::{
    BacklogLimit, JobComparison, JobLoop, JobOmission, JobSynthesizer, LoadDifference, LoadDimension, SectionPace,
    SynthesisError, SynthesizedJob, TraceCondition, TraceEnd, TraceFormat, TraceInfo, TraceOperation, TraceRequest,
    TraceStudy, TraceWindow, TraceWriter, TraceWriterOptions,
};
use units::random::Random;

use crate::cases::cases;
use crate::model::{MemoryTraces, model};

fn encoded(requests: &[TraceRequest]) -> Vec<u8> {
    let devices = vec![("sda".to_owned(), None)];
    let info = TraceInfo { source: "test".into(), devices, processes: vec!["db".into()], ..TraceInfo::default() };
    let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

/// A trace with its job.
struct Synthesis {
    job: SynthesizedJob,
    text: String,
    report: TraceStudy,
}

fn synthesized(requests: &[TraceRequest]) -> Result<Synthesis, SynthesisError> {
    let mut synthesizer = JobSynthesizer::new();
    requests.iter().for_each(|request| synthesizer.add(request));
    let (profile, job) = synthesizer.finish();
    let job = job?;
    let condition = TraceCondition {
        format: TraceFormat::Fathom,
        info: TraceInfo::default(),
        end: TraceEnd::Complete,
        errors: Vec::new(),
        error_count: 0,
        missing: 0,
        early: 0,
        requests: requests.len() as u64,
    };
    let window = TraceWindow::ALL;
    let (findings, copies) = (Vec::new(), Vec::new());
    let mut report = TraceStudy { name: "t".to_owned(), window, condition, profile, findings, copies, job: None };
    let text = JobFile { job: &job, name: "t.fio" }.write(&mut report, |_| Vec::new());
    Ok(Synthesis { job, text, report })
}

/// Compares a job with its trace, of which `requests` are written if its latencies are compared too.
fn compared(name: &str, requests: Option<&[TraceRequest]>, mut synthesis: Synthesis) -> JobComparison {
    let bytes = requests.map(|requests| ("t".to_owned(), encoded(requests).into()));
    let runner = model().with_traces(Arc::new(MemoryTraces(bytes.into_iter().collect())));
    let path = requests.map(|_| "t").ok_or_else(|| Problem::error(ProblemCode::Trace, "not asked for"));
    let file = JobFile { job: &synthesis.job, name: "t.fio" };
    let done = file.compare(&synthesis.text, path, &mut synthesis.report, &runner, &Uninterrupted);
    done.unwrap_or_else(|error| panic!("{name}: {error:?}\n{}", synthesis.text));
    let comparison = *synthesis.report.job.expect("a job");
    for one in &comparison.differences {
        let value = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let mark = if one.is_matched { "" } else { "not matched" };
        let code = one.dimension.code();
        println!(
            "{name}: {code:20} {:>16.4} {:>16.4} {:>+8.3} {mark}",
            value(one.trace),
            value(one.job),
            one.difference
        );
    }
    for one in &comparison.volumes {
        let mark = if one.is_matched() { "" } else { "not matched" };
        let us = |ns: u64| ns / 1000;
        println!(
            "{name}: {:28} IOPS {:8.1} {:8.1} {:+.3}, p50 {:6} {:6} us, p99 {:8} {:8} us {:+.3} {mark}",
            one.volume,
            one.trace.iops,
            one.job.iops,
            one.iops_difference(),
            us(one.trace.p50_ns),
            us(one.job.p50_ns),
            us(one.trace.p99_ns),
            us(one.job.p99_ns),
            one.p99_difference()
        );
    }
    comparison
}

/// Checks that fio takes jobs, by one start of it.
fn check_with_fio(name: &str, texts: &[String]) {
    call_fio(name, texts, "exec fio --clocksource=clock_gettime --parse-only", true);
}

/// Checks that fio runs the sections of a job, each for a moment and without data: some options are parsed, and end it by
/// a signal.
fn run_with_fio(name: &str, text: &str) {
    let is_kept = |line: &&str| !["startdelay=", "time_based", "runtime="].iter().any(|start| line.starts_with(start));
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    let short = kept.join("\n").replace("ioengine=libaio", "ioengine=null\nfilesize=1t\ntime_based\nruntime=300ms");
    // Sections that sleep for long between batches are interrupted.
    call_fio(name, &[short], "exec timeout --signal=INT 3 fio --clocksource=clock_gettime", false);
}

fn call_fio(name: &str, texts: &[String], command: &str, must_succeed: bool) {
    let folder = std::env::temp_dir().join(format!("fathom-synthesis-{}-{}", std::process::id(), name.len()));
    std::fs::create_dir_all(&folder).unwrap();
    texts.iter().enumerate().for_each(|(at, text)| std::fs::write(folder.join(format!("{at:03}.fio")), text).unwrap());
    let command = format!("cd {} && {command} *.fio", folder.display());
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.code() == Some(127) {
        assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "fio is not installed");
        eprintln!("skipped: fio is not installed");
        return;
    }
    assert!(output.status.success() || !must_succeed, "{name}: {said}\n{}", texts.join("\n\n"));
    assert!(!said.contains("got signal"), "{name}: {said}\n{}", texts.join("\n\n"));
}

/// Synthesizes and compares a load, and checks that it matches on all volumes.
fn check_load(name: &str, requests: &[TraceRequest], not_matched: &[LoadDimension]) {
    let synthesis = synthesized(requests).unwrap();
    println!("{name}: {} sections, left out: {:?}", synthesis.job.sections.len(), synthesis.job.omissions);
    run_with_fio(name, &synthesis.text);
    let comparison = compared(name, Some(requests), synthesis);
    assert_eq!((comparison.volumes.len(), &comparison.not_simulated), (3, &None), "{name}");
    for volume in &comparison.volumes {
        assert!(volume.is_matched(), "{name}: {volume:?}");
    }
    for one in comparison.differences.iter().filter(|one| !not_matched.contains(&one.dimension)) {
        assert!(one.is_matched, "{name}: {one:?}");
    }
}

#[test]
fn an_open_loop_matches_on_all_volumes() {
    check_load("poisson", &loads::plain_reads(1, 1000.0, 60, true), &[]);
    check_load("mixed", &loads::mixed(2, 1500.0, 60), &[]);
}

#[test]
fn a_database_matches_on_all_volumes() {
    // Gaps of its log writes vary, and those of sections with flushes are even because of fio.
    let waits = [BacklogLimit::Requests(4000), BacklogLimit::Bytes(32 << 20)].map(LoadDimension::Wait);
    check_load("database", &loads::database(3, 60), &waits);
}

#[test]
fn compactions_match_on_all_volumes() {
    // The busiest time has 90 % of this rate, so the wait depends on chance.
    let near_limit = LoadDimension::Wait(BacklogLimit::Bytes(64 << 20));
    check_load("compaction", &loads::compaction(4, 60), &[near_limit]);
}

#[test]
fn bursts_match_on_all_volumes() {
    check_load("bursts", &loads::bursts(5, 30, true), &[]);
    check_load("random bursts", &loads::bursts(6, 50, false), &[]);
}

/// More than some ten thousand batches were joined to one, and the bursts averaged (p99 -94 %).
#[test]
fn many_bursts_are_not_averaged() {
    let requests = loads::many_bursts(7, cases(14_000).min(40_000));
    let synthesis = synthesized(&requests).unwrap();
    check_ends("many bursts", &synthesis.job);
    let comparison = compared("many bursts", Some(&requests), synthesis);
    for volume in &comparison.volumes {
        assert!(volume.iops_difference().abs() <= 0.03 && volume.p99_difference().abs() <= 0.2, "{volume:?}");
    }
}

/// Checks that all batches of a job are due before the end of its trace.
fn check_ends(name: &str, job: &SynthesizedJob) {
    for section in &job.sections {
        let SectionPace::Batches { requests, interval_ns, requests_max: Some(all) } = section.pace else { continue };
        let last_ns = section.start_ns + (all.div_ceil(requests.into()) - 1) * interval_ns;
        assert!(last_ns <= job.runtime_ns, "{name}: {last_ns} of {}: {section:?}", job.runtime_ns);
    }
}

/// A few reads in rare bursts beside those, some of them in a class of their own that is joined with the others: batches
/// that were more instead of larger lasted beyond the end.
#[test]
fn repeated_bursts_end_with_the_trace() {
    for seed in 30..30 + cases(1) {
        let mut requests = loads::write_back(seed, 60);
        let mut random = Random::new(seed, 1);
        for burst in 0..12 {
            let begin = (burst * 5 + 1) * loads::S + random.below(2 * loads::S);
            for number in 0..10 + random.below(3) {
                let read = loads::read(random.below(1 << 18) << 13, 8192, 200_000);
                requests.push(TraceRequest { issued_ns: begin + number * 50_000, ..read });
            }
            let large = loads::read(random.below(1 << 11) << 20, 512 << 10, 900_000);
            requests.push(TraceRequest { issued_ns: begin + 3 * loads::MS, ..large });
        }
        requests.sort_by_key(|request| request.issued_ns);
        let name = format!("rare reads {seed}");
        let synthesis = synthesized(&requests).unwrap();
        check_ends(&name, &synthesis.job);
        let comparison = compared(&name, None, synthesis);
        let rate = comparison.differences.iter().find(|one| one.dimension == LoadDimension::Rate).unwrap();
        assert!(rate.is_matched, "{name}: {rate:?}");
    }
}

/// Bursts that are too many for a section each: volumes match, or a rate or a wait says what is missing.
#[test]
fn bursts_of_written_back_pages_match_or_are_named() {
    let (all, mut missed) = (cases(1).min(4), 0);
    for seed in 20..20 + all {
        let name = format!("write back {seed}");
        let requests = loads::write_back(seed, 60);
        let synthesis = synthesized(&requests).unwrap();
        run_with_fio(&name, &synthesis.text);
        check_ends(&name, &synthesis.job);
        assert!(synthesis.job.sections.len() <= 160, "{name}: {}", synthesis.job.sections.len());
        let left_out = synthesis.job.omissions.clone();
        assert!(left_out.iter().any(|one| matches!(one, JobOmission::RepeatedBursts { .. })), "{name}: {left_out:?}");
        let comparison = compared(&name, Some(&requests), synthesis);
        let named = |one: &&LoadDifference| {
            !one.is_matched && matches!(one.dimension, LoadDimension::Rate | LoadDimension::Wait(_))
        };
        for volume in &comparison.volumes {
            assert!(volume.iops_difference().abs() <= 0.03, "{name}: {volume:?}");
            missed += u64::from(!volume.is_matched());
            let is_named = comparison.differences.iter().any(|one| named(&one));
            assert!(volume.is_matched() || is_named, "{name}: {volume:?}");
        }
        let flushes = comparison.differences.iter().find(|one| one.dimension == LoadDimension::FlushRate).unwrap();
        assert!(flushes.is_matched, "{name}: {flushes:?}");
    }
    // One of four.
    assert!(4 * missed <= 3 * all, "{missed} of {} volumes", 3 * all);
}

/// Think times of a job are constant, so its counts vary less.
#[test]
fn a_closed_loop_matches_on_all_volumes() {
    let steadier = [1, 10, 100, 1000].map(LoadDimension::Dispersion);
    check_load("closed", &loads::closed(6, 30, 1, 70, 300e3), &steadier);
    check_load("eight workers", &loads::closed(7, 30, 8, 100, 1e6), &steadier);
}

/// Reads of one size at equal intervals are one section with that rate.
#[test]
fn parameters_of_a_plain_load_come_back() {
    let Synthesis { job, text, .. } = synthesized(&loads::plain_reads(1, 1000.0, 20, false)).unwrap();
    assert_eq!((job.sections.len(), job.job_loop, &job.omissions), (1, JobLoop::Open, &Vec::new()));
    let options: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("[random-reads]")).collect();
    let size = options.iter().find(|line| line.starts_with("size=")).copied().unwrap();
    let wanted = [
        "[random-reads]",
        "rw=randread",
        "bs=4k",
        size,
        "norandommap",
        "rate_iops=1000",
        "iodepth=64",
        "time_based",
        "runtime=20s",
    ];
    assert_eq!(options, wanted, "{text}");
    // 1 GiB, of which the last blocks were not drawn.
    assert!((job.bytes as f64 / (1u64 << 30) as f64 - 1.0).abs() < 0.001, "{}", job.bytes);
}

/// Rates, percentages and sizes of random loads, for printed seeds.
#[test]
fn parameters_of_random_loads_come_back() {
    for seed in 100..100 + cases(3).min(12) {
        let mut random = Random::new(seed, 0);
        let rate = (100 + random.below(2000)) as f64;
        let (reads, small) = (10 + random.below(81), 1 + random.below(98));
        let sizes = [4096u32 << random.below(2), 32_768];
        let arrivals = loads::Arrivals { begin: 0, end: 40 * loads::S, rate };
        let mut requests = Vec::new();
        loads::poisson(&mut requests, &mut random, &arrivals, |random, _| TraceRequest {
            operation: if random.below(100) < reads { TraceOperation::Read } else { TraceOperation::Write },
            length: sizes[usize::from(random.below(100) >= small)],
            offset: random.below(1 << 20) << 15,
            service_ns: Some(100_000),
            ..TraceRequest::default()
        });
        let synthesis = synthesized(&requests).unwrap();
        let name = format!("seed {seed}: {rate}/s, {reads} % reads, {small} % of {}", sizes[0]);
        assert_eq!(synthesis.job.sections.len(), 1, "{name}\n{}", synthesis.text);
        let SectionPace::Rate { per_s, is_poisson: true, .. } = synthesis.job.sections[0].pace else {
            panic!("{name}\n{}", synthesis.text)
        };
        let all: f64 = per_s.iter().sum();
        let exact = requests.len() as f64 / (requests.last().unwrap().issued_ns - requests[0].issued_ns) as f64 * 1e9;
        assert!((all / exact - 1.0).abs() < 0.002, "{name}: {per_s:?} for {exact}");
        let comparison = compared(&name, None, synthesis);
        for one in comparison.differences.iter().filter(|one| {
            matches!(one.dimension, LoadDimension::Rate | LoadDimension::ReadFraction | LoadDimension::Sizes)
        }) {
            assert!(one.is_matched, "{name}: {one:?}");
        }
    }
}

#[test]
fn equal_traces_have_equal_jobs() {
    let requests = loads::database(9, 20);
    let (one, other) = (synthesized(&requests).unwrap(), synthesized(&requests).unwrap());
    assert_eq!((one.text, one.job), (other.text, other.job));
}

fn request(operation: TraceOperation, issued_ns: u64, offset: u64, length: u32) -> TraceRequest {
    TraceRequest { operation, issued_ns, offset, length, ..TraceRequest::default() }
}

/// Traces at the edge of what there is; all have jobs that fio and this program take.
#[test]
fn extreme_traces_have_jobs() {
    use TraceOperation::{Discard, Flush, Other, Read, Write, WriteZeroes};
    let one = |operation, length| vec![request(operation, 5, 1 << 40, length)];
    let many = |count: u64, of: &dyn Fn(u64) -> TraceRequest| (0..count).map(of).collect::<Vec<_>>();
    let all = [
        ("one read", one(Read, 4096)),
        ("one write of an odd length", one(Write, 1)),
        ("one giant write", one(Write, u32::MAX)),
        ("one discard", one(Discard, u32::MAX)),
        ("only discards", many(500, &|n| request(Discard, n * 1_000_000, n << 20, 1 << 20))),
        ("writes of zeroes", many(500, &|n| request(WriteZeroes, n * 1_000_000, n << 16, 1 << 16))),
        ("zero duration", many(300, &|n| request(Read, 77, n << 12, 4096))),
        ("two requests in a year", many(2, &|n| request(Read, n * 31_536_000_000_000_000, n << 12, 4096))),
        ("end of the address space", many(100, &|n| request(Write, n * 1000, u64::MAX - n, 4096))),
        (
            "100,000 processes",
            many(100_000, &|n| TraceRequest {
                process: (n % 65_536) as u16,
                service_ns: Some(50_000),
                ..request(Read, n * 100_000, (n * 7919 % 5000) << 12, 4096)
            }),
        ),
        (
            "flushes after each write",
            many(2000, &|n| match n % 2 {
                0 => request(Write, n * 500_000, (n / 2) << 13, 8192),
                _ => request(Flush, n * 500_000, 0, 0),
            }),
        ),
        ("mostly unknown", many(1000, &|n| request(if n == 0 { Write } else { Other }, n * 1000, n << 12, 4096))),
        ("instants out of order", many(1000, &|n| request(Read, (1000 - n) * 1_000_000, n << 12, 4096))),
        ("sizes of all kinds", many(5000, &|n| request(Write, n * 200_000, n << 20, 1 + (n * n % 1_000_000) as u32))),
    ];
    let mut texts = Vec::new();
    for (name, requests) in &all {
        let synthesis = synthesized(requests).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        texts.push(synthesis.text.clone());
        compared(name, None, synthesis);
    }
    check_with_fio("extreme traces", &texts);
    let flushes = many(100, &|n| request(Flush, n * 1_000_000, 0, 0));
    assert_eq!(synthesized(&flushes).err(), Some(SynthesisError::NoData));
    assert_eq!(synthesized(&[]).err(), Some(SynthesisError::NoRequests));
    let early = [&flushes[..], &one(Write, 4096)].concat();
    let omissions = synthesized(&early).unwrap().job.omissions;
    assert_eq!(omissions, [JobOmission::FlushesWithoutWrites { flushes: 100 }]);
}

/// Requests drawn from all values make a job, or an error.
#[test]
fn wild_traces_never_panic() {
    let mut texts = Vec::new();
    for seed in 0..cases(20) {
        let mut random = Random::new(seed, 0);
        let mut wide = |bits: u64| random.bits() >> (64 - random.below(bits + 1)).min(63);
        let count = 1 + wide(9);
        let requests: Vec<TraceRequest> = (0..count)
            .map(|_| {
                let flags = wide(12);
                TraceRequest {
                    issued_ns: wide(62),
                    service_ns: Some(wide(62)).filter(|_| flags & 1 == 1),
                    offset: wide(63),
                    length: wide(32) as u32,
                    operation: [
                        TraceOperation::Read,
                        TraceOperation::Write,
                        TraceOperation::Flush,
                        TraceOperation::Discard,
                    ][(flags >> 1 & 3) as usize],
                    is_sync: flags & 8 > 0,
                    is_fua: flags & 16 > 0,
                    process: wide(16) as u16,
                    device: wide(4) as u16,
                    ..TraceRequest::default()
                }
            })
            .collect();
        if let Ok(synthesis) = synthesized(&requests) {
            texts.push(format!("# seed {seed}\n{}", synthesis.text));
        }
    }
    check_with_fio("wild traces", &texts);
}
