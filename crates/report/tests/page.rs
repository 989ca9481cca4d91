//! The report of a run and its tables, compared verbatim.

use analyse::analyse;
use record::{
    CpuUse, Declared, DeclaredSizes, DirectionResult, DiskUse, EstimatedLoad, HostRecord, JobResult, LatencyStats,
    Measured, Note, Run, RunOutcome, SCHEMA, Tool, from_json,
};
use report::{ResultDocument, ResultFormat, SheetStyle, csv, markdown, open_metrics, text};
use results::run::RunResult;
use results::stored::pretty;
use units::PerKind;

/// Returns latencies around 1.3 ms with a tail.
fn latency(count: u64, mean_ns: f64) -> LatencyStats {
    LatencyStats {
        count,
        min_ns: 860_000,
        max_ns: 4_210_000,
        mean_ns,
        stddev_ns: 211_020.0,
        buckets: vec![
            (975, count * 60 / 100),
            (990, count * 35 / 100),
            (1018, count * 49 / 1000),
            (1088, count / 1000),
        ],
        quoted: Vec::new(),
    }
}

fn direct_random_read() -> JobResult {
    let read = DirectionResult {
        ios: 722_944,
        bytes: 722_944 * 4096,
        runtime_ns: 30_000_000_000,
        service: latency(722_944, 1_314_620.0),
        ..DirectionResult::default()
    };
    let cpu = CpuUse { user_ns: 900_000_000, system_ns: 800_000_000, ..CpuUse::default() };
    let result = Measured { read, runtime_ns: 30_000_000_000, cpu, workers: 1, ..Measured::default() };
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
    JobResult { name: "first-try".to_owned(), workers: 1, declared, result, ..JobResult::default() }
}

fn run(jobs: Vec<JobResult>) -> Run {
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fathom".to_owned(), version: "0.1.0".to_owned() },
        taken_unix_ms: 1_795_257_536_410,
        seed: Some(42),
        host: HostRecord { hostname: "box".to_owned(), kernel: "Linux 6.1".to_owned(), cpus: 2 },
        jobs,
        disks: vec![DiskUse { name: "vda".to_owned(), read_ios: 84_236, util_percent: 89.246, ..DiskUse::default() }],
        ..Run::default()
    }
}

fn page(run: &Run, width: usize) -> String {
    text(run, &analyse(run), SheetStyle { width, ..SheetStyle::default() })
}

#[test]
fn a_closed_loop_at_80_columns() {
    assert_eq!(page(&run(vec![direct_random_read()]), 80), include_str!("expected/closed_loop.txt"));
}

/// The title of the result that fio gives for two unlike sections together read `jobs  0 B, , depth 0, 2 workers`.
#[test]
fn unknown_parameters_of_a_group_are_left_out() {
    let mut group = JobResult { workers: 2, ..direct_random_read() };
    group.declared = Declared::default();
    assert!(page(&run(vec![group]), 80).contains("first-try  2 workers\n"));
}

/// A result with total latencies alone (`disable_clat`) had no table of latencies.
#[test]
fn total_latencies_alone_are_shown() {
    let mut job = direct_random_read();
    job.result.read.latency = std::mem::take(&mut job.result.read.service);
    (job.result.read.latency.buckets, job.result.read.latency.count) = (Vec::new(), 722_944);
    let run = run(vec![job]);
    let shown = page(&run, 100);
    assert!(shown.contains("  latency          1.31 ms ± 211 us "), "{shown}");
    let table = markdown(&run, &analyse(&run));
    assert!(table.contains("| latency | 1.31 ms | - |") && !table.contains("| service |"), "{table}");
}

/// A depth and workers that follow from the result, or from nothing, were printed as if they were asked for.
#[test]
fn estimates_of_the_load_are_said_or_left_out() {
    let mut job = JobResult { workers: 2, ..direct_random_read() };
    (job.declared.estimated, job.declared.in_flight_asked) = (EstimatedLoad::DepthAndWorkers, Some(64));
    let shown = page(&run(vec![job.clone()]), 100);
    assert!(
        shown.contains("depth 32, 2 workers (estimated), direct") && shown.contains(" of 64 (estimated)"),
        "{shown}"
    );
    job.declared.estimated = EstimatedLoad::Depth;
    assert!(page(&run(vec![job.clone()]), 100).contains("depth 32 (estimated), 2 workers, direct"));
    job.declared.estimated = EstimatedLoad::DepthAndWorkers;
    (job.declared.in_flight_asked, job.declared.in_flight_possible) = (None, None);
    let shown = page(&run(vec![job]), 100);
    assert!(!shown.contains("depth 32") && !shown.contains("workers"), "{shown}");
}

#[test]
fn a_paced_mix_with_all_problems() {
    let mut job = direct_random_read();
    job.name = "mix".to_owned();
    job.workers = 2;
    job.declared.rw = "randrw".to_owned();
    job.declared.rate_iops = PerKind { read: Some(40_000), ..PerKind::default() };
    job.declared.poisson = true;
    (job.declared.in_flight_asked, job.declared.in_flight_possible) = (Some(64), Some(64));
    job.result.workers = 2;
    job.result.runtime_ns *= 2;
    job.result.read.response = latency(722_944, 1_514_620.0);
    job.result.write = job.result.read.clone();
    job.result.sync = latency(7, 1_000_000.0);
    job.result.lateness = latency(722_944, 400_000.0);
    (job.result.errors, job.result.first_error) = (3, 5);
    let mut run = run(vec![direct_random_read(), job]);
    run.outcome = RunOutcome::Failed;
    run.notes = vec![Note {
        job: Some("mix".to_owned()),
        text: "posixaio is done by io_uring.".to_owned(),
        ..record::Note::default()
    }];
    assert_eq!(page(&run, 100), include_str!("expected/paced_mix.txt"));
}

#[test]
fn text_fits_the_width_and_is_unchanged_by_colours() {
    let run = run(vec![direct_random_read()]);
    for width in [60, 72, 80, 100, 120] {
        let page = page(&run, width);
        assert!(page.lines().all(|line| line.chars().count() <= width), "{width}:\n{page}");
        let painted = text(&run, &analyse(&run), SheetStyle { width, colour: true, ..SheetStyle::default() });
        assert!(painted.contains("\u{1b}["));
        assert_eq!(without_colours(&painted), page);
    }
}

fn without_colours(painted: &str) -> String {
    let mut parts = painted.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.filter_map(|part| part.split_once('m')).map(|(_, text)| text).collect::<String>()
}

#[test]
fn own_json_can_be_parsed_and_contains_the_verdict() {
    let run = run(vec![direct_random_read()]);
    let document = pretty(&RunResult::new(&run, &analyse(&run)));
    assert_eq!(from_json(&document).unwrap(), run);
    let parsed: serde_json::Value = serde_json::from_str(&document).unwrap();
    let headline = &parsed["verdicts"][0]["headline"];
    assert_eq!(headline["code"], "queue_full");
    assert_eq!(headline["remedy"]["action"], "compare_depth");
    let in_flight = headline["evidence"].as_array().unwrap().iter().find(|e| e["quantity"] == "in_flight_achieved");
    assert!((in_flight.unwrap()["value"].as_f64().unwrap() - 31.68).abs() < 0.01);
}

#[test]
fn tables_are_verbatim() {
    let mut run = run(vec![direct_random_read()]);
    run.jobs[0].name = "a,\"b\"|c".to_owned();
    assert_eq!(csv(&run), include_str!("expected/table.csv"));
    assert_eq!(markdown(&run, &analyse(&run)), include_str!("expected/table.md"));
    assert_eq!(open_metrics(&run), include_str!("expected/table.prom"));
}

/// Returns the run that another program printed.
fn printed_run(printed: &str) -> Run {
    match record::read_input("input", printed.as_bytes(), None) {
        Ok(record::Input::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

const KBENCH: &str = "FIO Benchmark Summary\nIOPS (Read/Write)\n Random: 28,832 / 5,730\nBandwidth in KiB/sec \
                      (Read/Write)\n Random: 1,024 / 2,048\nLatency in ns (Read/Write)\n Random: 303,098 / 1,029,192\n";

#[test]
fn what_other_programs_do_not_print_is_not_made_up() {
    let run = printed_run(KBENCH);
    let details = SheetStyle { width: 100, details: true, ..SheetStyle::default() };
    let kbench = page(&run, 100) + &text(&run, &analyse(&run), details);
    for printed in [
        "random read iops  randread\n  read          28.8k IOPS\n",
        "  write         2 MiB/s (2.10 MB/s)\n",
        "303 us ± -",
    ] {
        assert!(kbench.contains(printed), "{printed}\n{kbench}");
    }
    for made_up in ["16 min 40 s", "operations,", "1970", "CPU", "0 ns", " 0 IOPS", "No operation"] {
        assert!(!kbench.contains(made_up), "{made_up}\n{kbench}");
    }
    let etcd =
        page(&printed_run("x_fsync_seconds_bucket{le=\"0.1\"} 995\nx_fsync_seconds_bucket{le=\"+Inf\"} 1000\n"), 100);
    assert!(!etcd.contains("0 ns") && !etcd.contains("No operation completed"), "{etcd}");
    assert!(etcd.replace('\n', " ").contains("Only syncs were measured"), "{etcd}");
}

/// Tables and pages had the nominal time of such results, counts that follow from it, and zeros.
#[test]
fn tables_and_pages_leave_out_what_other_programs_do_not_print() {
    let run = printed_run(KBENCH);
    let row = |name: &str| csv(&run).lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("random read iops").starts_with("random read iops,0,1,read,,,,28832.0,,"), "{}", csv(&run));
    assert!(row("random write bandwidth").contains(",write,,,,,2097152,,"), "{}", csv(&run));
    assert!(row("random read latency").contains(",read,,,,,,303098,,"), "{}", csv(&run));
    let markdown = markdown(&run, &analyse(&run));
    assert!(
        markdown.contains("| random read latency | read | - | - | service | 303 us | - | - | - | - | - |"),
        "{markdown}"
    );
    let metrics = open_metrics(&run);
    assert!(!metrics.contains("fathom_operations_total{") && !metrics.contains("_count{"), "{metrics}");
    assert_eq!(metrics.lines().filter(|line| line.starts_with("fathom_iops{")).count(), 2, "{metrics}");
    let verdicts = analyse(&run);
    let html = ResultDocument::Run(&run, &verdicts)
        .render(ResultFormat::Html, SheetStyle { width: 100, ..SheetStyle::default() });
    assert!(html.contains("random read iops") && html.contains("28.8k") && html.contains("2 MiB/s"), "{html}");
    for made_up in ["16 min 40 s", "28.8M", "0 ns", "0 B", ">0<"] {
        assert!(!html.contains(made_up), "{made_up}");
    }
}
