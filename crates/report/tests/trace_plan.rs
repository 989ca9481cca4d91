//! Plans for traces in all formats, with replays whose results follow from the limits of the volume.

#![expect(clippy::disallowed_methods, reason = "the expected outputs are files of the tests")]

use std::path::Path;

use plan::replay::{ReplayBounds, ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult, ReplaySearch, ReplayTrial};
use plan::{LatencyCache, Need, named, rank_by};
use report::{ResultDocument, ResultFormat, SheetStyle};
use results::plan::{PlannedPart, PlannedTrace, TracePlanResult};
use units::Nanos;
use volume::catalogue;
use volume::closed::{Load, caps};

const IOPS: f64 = 2_500.0;

/// Returns the result of reads of 8 KiB: a limit below the rate delays all of them.
fn scripted(trial: &ReplayTrial) -> Option<ReplayResult> {
    let spec = catalogue::resolve_all(&[&trial.volume], &catalogue::no_files).ok()?.remove(0).spec;
    let caps = caps(&spec, &Load::mixed(1.0, 8192, f64::INFINITY));
    let given = caps.iter().filter(|cap| cap.bucket.is_none()).map(|cap| cap.iops).fold(f64::INFINITY, f64::min);
    let enough = given >= IOPS * trial.speed;
    let p99 = if enough { 0.001_4 } else { 0.25 };
    let limits = caps.iter().map(|cap| ReplayLimit {
        name: cap.name.clone(),
        delayed: if cap.iops < 1.3 * IOPS { 0.021 } else { 0.0 },
        delay_secs: if cap.iops < 1.3 * IOPS { 3.0 } else { 0.0 },
        throttled: if cap.iops < 1.3 * IOPS { 0.012 } else { 0.0 },
        utilisation: IOPS * trial.speed / cap.iops,
        credits: cap.bucket.map(|bucket| ReplayCredits {
            in_bytes: false,
            capacity: bucket.most,
            low: (0.34 * bucket.most, 2_700.0),
            left: 0.5 * bucket.most,
            empty_at_secs: None,
            levels: vec![(0.0, bucket.most), (2_700.0, 0.34 * bucket.most), (3_600.0, 0.5 * bucket.most)],
        }),
    });
    let course = (0..60_u32).map(|minute| ReplayInterval {
        from_secs: 60.0 * f64::from(minute),
        to_secs: 60.0 * f64::from(minute + 1),
        iops: IOPS * (0.8 + 0.4 * f64::from(minute % 7) / 6.0),
        p50_secs: 0.0006,
        p99_secs: p99 * (0.7 + 0.6 * f64::from(minute % 11) / 10.0),
    });
    Some(ReplayResult {
        requests: if enough { 9_000_000 } else { 120_000 },
        planned: 9_000_000,
        was_stopped: !enough && trial.until_missed.is_some(),
        intended_secs: 3_600.0 / trial.speed,
        elapsed_secs: 3_600.0 / trial.speed,
        mean_secs: 0.0007,
        percentiles: vec![(0.5, 0.0006), (0.9, 0.0009), (0.99, p99), (0.999, 3.0 * p99), (0.9999, 4.0 * p99)],
        max_secs: 8.0 * p99,
        limits: limits.collect(),
        course: course.collect(),
    })
}

fn report(volumes: &[&str], bounds: ReplayBounds) -> TracePlanResult {
    let need = Need {
        capacity: Some(400 << 30),
        headroom: 0.2,
        volumes: volumes.iter().map(|volume| (*volume).to_owned()).collect(),
        ..Need::default()
    };
    let start = Need { iops: Some(3_000.0), block: Some(8192), headroom: 0.0, ..need.clone() };
    let search = ReplaySearch { need: &need, start: &start, bounds: &bounds, speed: 1.0, resolution: 0.005 };
    let mut laws = LatencyCache::default();
    let mut replay = |trial: &ReplayTrial| scripted(trial);
    let volumes = named(&need).unwrap();
    let candidates: Vec<_> = volumes.iter().filter_map(|origin| search.find(origin, &mut laws, &mut replay)).collect();
    let plain: Vec<_> = candidates.iter().map(|one| one.candidate.clone()).collect();
    let ranking = rank_by(&plain, &plan::Candidate::has_known_latency, |candidate| candidate.percentile_secs);
    let next_step = candidates.first().filter(|one| one.candidate.meets()).cloned();
    let trace = PlannedTrace {
        name: "db<1>.trace".to_owned(),
        source: "fathom capture".to_owned(),
        requests: 61_000_000,
        secs: 86_400.0,
        replayed: PlannedPart {
            secs: Some((36_000.0, 39_600.0)),
            requests: 9_000_000,
            iops: IOPS,
            bytes_per_sec: IOPS * 8192.0,
            read_share: 0.7,
        },
        service_secs: Some([0.000_11, 0.000_9, 0.004]),
        notes: vec!["3 requests were lost when the trace was captured".to_owned()],
        ..PlannedTrace::default()
    };
    TracePlanResult { trace, need, bounds, candidates, ranking, next_step, resolution: 0.005, seed: 1 }
}

fn p99(ms: u64) -> ReplayBounds {
    ReplayBounds { mean: None, percentiles: vec![(0.99, Nanos::from_millis(ms))] }
}

const VOLUMES: [&str; 6] =
    ["aws/gp3", "aws/gp2", "aws/io2", "gcp/pd-ssd", "gcp/hyperdisk-balanced", "gcp/local-ssd-nvme"];

/// Compares a text with the expected file, which `FATHOM_WRITE_EXPECTED=1` writes.
fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/trace_plan").join(name);
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
}

fn rendered(report: &TracePlanResult, format: ResultFormat) -> String {
    ResultDocument::TracePlan(report).render(format, SheetStyle::default())
}

#[test]
fn every_format_has_the_figures_of_the_replays() {
    let report = report(&VOLUMES, p99(2));
    expect("plan.txt", &rendered(&report, ResultFormat::Text));
    expect("plan.md", &rendered(&report, ResultFormat::Markdown));
    expect("plan.csv", &rendered(&report, ResultFormat::Csv));
    let json: serde_json::Value = serde_json::from_str(&rendered(&report, ResultFormat::Json)).unwrap();
    let best = &json["meeting"][0];
    assert_eq!(json["best"], best["volume"]);
    assert_eq!(
        (best["latency"]["percentiles"][2]["share"].as_f64(), json["trace"]["loop"].as_str()),
        (Some(0.99), Some("open"))
    );
    assert!(best["headroom"]["factor"].as_f64().unwrap() >= 1.2, "{best}");
    assert!(best["course"].as_array().unwrap().len() == 60);
}

#[test]
fn the_page_compares_volumes_and_escapes_names() {
    let report = report(&VOLUMES, p99(2));
    let page = rendered(&report, ResultFormat::Html);
    for part in ["Price against latency", "The best volumes", "Burst credits", "Not enough", "db&lt;1&gt;.trace"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("db<1>") && !page.contains("<script"));
    if let Some(path) = std::env::var_os("FATHOM_WRITE_PAGE") {
        std::fs::write(path, &page).unwrap();
    }
    assert!(rendered(&report, ResultFormat::Svg).starts_with("<svg xmlns="));
}

#[test]
fn a_plan_without_a_volume_says_what_is_nearest_and_why() {
    let report = report(&["aws/gp2,size=100GiB", "aws/gp3,iops=3000"], p99(1));
    let text = rendered(&report, ResultFormat::Text);
    expect("impossible.txt", &text);
    assert!(rendered(&report, ResultFormat::Html).contains("Nearest is"));
    assert!(rendered(&report, ResultFormat::Markdown).contains("No volume meets the need"));
}

#[test]
fn lower_confidence_is_stated() {
    let mut report = report(&["aws/gp3"], ReplayBounds::default());
    report.trace = PlannedTrace {
        is_derived: true,
        is_closed: true,
        service_secs: None,
        replayed: PlannedPart { secs: None, read_share: 0.0, ..report.trace.replayed },
        ..report.trace
    };
    let text = rendered(&report, ResultFormat::Text);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["only means over intervals are known", "closed loop", "all writes", "no bound on latency"] {
        assert!(flat.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&rendered(&report, ResultFormat::Json)).unwrap();
    assert_eq!(json["trace"]["confidence"], "assumed");
}
