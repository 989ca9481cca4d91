//! Results collected from workers.

use job::{Dialect, EmptySource, Job, parse_file_text};
use meter::{Meter, MeterOptions, Sample, Summary};
use record::{Declared, JobResult, TargetFacts, TargetKind, WorkerRecord, collect};
use units::{DataKind, Nanos};

fn jobs(text: &str) -> Vec<Job> {
    let parsed = parse_file_text("test", text.as_bytes(), Dialect::Fio, &EmptySource);
    assert_eq!(parsed.diagnostics, []);
    parsed.value.jobs
}

fn worker(job: &Job, number: u32, group: u32) -> WorkerRecord<'_> {
    let mut summary = Summary { workers: 1, runtime: Nanos::from_secs(1), ..Summary::default() };
    summary.directions[0].ios = 10 + u64::from(number);
    summary.directions[0].runtime = Nanos::from_secs(1);
    summary.directions[0].service.add(1_000 * (1 + u64::from(number)), 10 + u64::from(number));
    let result =
        JobResult { number, group, pid: 100 + number, started_unix_ms: 5, elapsed_s: 2, ..JobResult::default() };
    WorkerRecord { job, result, summary }
}

fn names_and_workers(results: &[JobResult]) -> Vec<(&str, u32)> {
    results.iter().map(|result| (result.name.as_str(), result.workers)).collect()
}

/// With the same file, fio 3.33 reports a (4 workers), d, e and f.
#[test]
fn workers_join_the_previous_result_as_in_fio() {
    let text = "[global]\nioengine=null\nsize=1m\n[a]\n[b]\ngroup_reporting\n[c]\ngroup_reporting\nnumjobs=2\n[d]\n[e]\n\
                group_reporting\nstonewall\n[f]\n";
    let jobs = jobs(text);
    let [a, b, c, d, e, f] = &jobs[..] else { panic!("{} jobs", jobs.len()) };
    let workers = [(a, 0), (b, 0), (c, 0), (c, 0), (d, 0), (e, 1), (f, 1)];
    let workers: Vec<WorkerRecord<'_>> =
        workers.iter().enumerate().map(|(number, &(job, group))| worker(job, number as u32, group)).collect();
    let results = collect(&workers);
    assert_eq!(names_and_workers(&results), [("a", 4), ("d", 1), ("e", 1), ("f", 1)]);
    assert_eq!(results[0].result.read.ios, 10 + 11 + 12 + 13);
    assert_eq!(results[0].declared.numjobs, 2, "options are those of the last worker");
    assert_eq!((results[0].pid, results[1].number), (100, 4));
}

#[test]
fn merged_result_sums_requests_and_keeps_the_first_error() {
    let jobs =
        jobs("[a]\nioengine=libaio\niodepth=8\nnumjobs=2\ngroup_reporting\nrate_iops=100\nsize=1m\nrw=randread\n");
    let mut workers = [worker(&jobs[0], 0, 0), worker(&jobs[0], 1, 0)];
    workers[1].result.error = 5;
    let target = |path: &str| TargetFacts {
        path: path.to_owned(),
        kind: TargetKind::Regular,
        size: 1,
        allocated: None,
        cached_before: None,
        cached_after: None,
    };
    workers[0].result.evidence.targets = vec![target("x"), target("y")];
    workers[1].result.evidence.targets = vec![target("y"), target("z")];
    let results = collect(&workers);
    let result = &results[0];
    assert_eq!((result.declared.in_flight_asked, result.declared.iodepth), (Some(16), 8));
    assert_eq!(result.declared.rate_iops.sum(), Some(200), "reads only, because there are no writes");
    assert_eq!(result.error, 5);
    let paths: Vec<&str> = result.evidence.targets.iter().map(|target| target.path.as_str()).collect();
    assert_eq!(paths, ["x", "y", "z"]);
}

#[test]
fn result_of_different_jobs_lists_the_settings_of_each() {
    let text = "[global]\nioengine=null\nsize=1m\ngroup_reporting\n[reads]\nrw=randread\niodepth=8\nnumjobs=2\n\
                [more_reads]\nrw=randread\niodepth=8\n[writes]\nrw=write\nbs=128k\n";
    let jobs = jobs(text);
    let [reads, more, writes] = &jobs[..] else { panic!("{} jobs", jobs.len()) };
    let collected = |jobs: &[&Job]| {
        let workers: Vec<WorkerRecord<'_>> = jobs.iter().zip(0..).map(|(job, number)| worker(job, number, 0)).collect();
        let [result] = &collect(&workers)[..] else { panic!("several results") };
        let settings = |one: &record::Mixed| (one.name.clone(), one.workers, one.rw.clone(), one.iodepth);
        result.declared.mixed.iter().map(settings).collect::<Vec<_>>()
    };
    let expected = |name: &str, workers, rw: &str, iodepth| (name.to_owned(), workers, rw.to_owned(), iodepth);
    assert_eq!(
        collected(&[reads, reads, more, writes]),
        [expected("reads", 3, "randread", 8), expected("writes", 1, "write", 1)]
    );
    assert_eq!(collected(&[reads, reads, more]), []);
}

#[test]
fn measurements_are_preserved() {
    let jobs = jobs("[a]\nioengine=psync\niodepth=4\nsize=1m\n");
    let results = collect(&[worker(&jobs[0], 0, 0)]);
    let (declared, read) = (&results[0].declared, &results[0].result.read);
    assert_eq!((declared.iodepth, declared.iodepth_effective, declared.queues), (4, 1, false));
    assert_eq!((read.service.count, read.service.mean_ns, read.service.stddev_ns), (10, 1_000.0, 0.0));
    assert_eq!(read.service.percentile_ns(50.0), Some(1_000), "never beyond the extremes");
    assert_eq!(read.service.fio_percentiles_ns(&[50.0]), [(50.0, 1_004)], "the representative value of the bucket");
    // 10 operations of 1 µs in a second.
    assert!((results[0].result.in_flight().unwrap() - 1e-5).abs() < 1e-12);
}

#[test]
fn rate_of_varying_block_sizes_is_in_bytes() {
    let declared = |options: &str| {
        let text = format!("[a]\nioengine=null\nsize=1m\nrw=randread\nrate_iops=100\n{options}\n");
        let declared = Declared::of(&jobs(&text)[0]);
        (declared.rate_iops.sum(), declared.rate_bytes.sum())
    };
    assert_eq!(declared("bs=8k"), (Some(100), None));
    assert_eq!(declared("bsrange=8k-64k"), (None, Some(819_200)));
    assert_eq!(declared("bssplit=8k/10:4k/90"), (None, Some(409_600)));
    assert_eq!(declared("bsrange=8k-64k\nrate_process=poisson"), (Some(100), None));
}

/// A worker's summary after a number of seconds with scattered latencies.
fn scattered(seconds: u64) -> Summary {
    let mut meter = Meter::new(MeterOptions::default());
    meter.begin(Nanos::ZERO);
    for operation in 0..seconds * 200 {
        let (started, latency) = (operation * 5_000_000, 50_000 + operation % 200 * 10_000);
        meter.record(&Sample {
            direction: DataKind::Read,
            priority: 0,
            bytes: 4096,
            offset: 0,
            intended: Nanos::new(started),
            started: Nanos::new(started),
            submitted: Nanos::new(started + 1_000),
            completed: Nanos::new(started + latency),
        });
    }
    meter.summary(Nanos::from_secs(seconds))
}

#[test]
fn blocks_are_merged_per_result_and_bounded_over_all() {
    let text = "[a]\nioengine=null\nsize=1m\n";
    let (apart, together) = (jobs(text), jobs(&format!("{text}group_reporting\n")));
    let summary = scattered(100);
    let collected = |jobs: &[Job], workers: u32| {
        let of = |number| WorkerRecord { summary: summary.clone(), ..worker(&jobs[0], number, 0) };
        collect(&(0..workers).map(of).collect::<Vec<_>>())
    };
    let one = collected(&apart, 1).remove(0).result;
    assert_eq!((one.blocks.len(), one.blocks[99].end_ns), (100, 100_000_000_000));
    let counted = |result: &record::Measured| -> u64 {
        result.blocks.iter().flat_map(|block| block.of(record::DataKind::Read)).map(|(_, count)| count).sum()
    };
    assert_eq!((counted(&one), one.read.service.count), (20_000, 20_000));
    let ten = collected(&together, 10).remove(0).result;
    assert_eq!((ten.blocks.len(), counted(&ten)), (100, 200_000));
    let many = collected(&apart, 30);
    let written: usize = many.iter().map(|job| serde_json::to_string(&job.result.blocks).unwrap().len()).sum();
    assert!(written < 1_000_000 && counted(&many[7].result) == 20_000, "{written} bytes");
    assert!(collected(&apart, 1_000).iter().all(|job| job.result.blocks.is_empty()), "no space is left");
}
