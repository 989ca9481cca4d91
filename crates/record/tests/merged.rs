//! Results of several jobs: merged by fio, or next to each other.

use record::{Figure, FigureValue, NoFigure, Run};

use crate::inputs::run;

const TWO_SECTIONS: &str = include_str!("data/two_sections.json");
const PHASES: &str = include_str!("data/phases.json");
const FIO_31: &str = include_str!("data/fio31.json");
const CLONES_END_APART: &str = include_str!("data/clones_end_apart.json");
const FOUR_CLONES: &str = include_str!("data/four_clones.json");
const SYNC_SLOW: &str = include_str!("data/sync_slow.txt");
const SATURATED: &str = include_str!("data/saturated.txt");

#[track_caller]
fn figure(run: &Run, name: &str) -> Result<f64, NoFigure> {
    Figure::named(name).expect(name).of(run).map(|figure| figure.value)
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.005, "{value} instead of {expected}");
}

/// The IOPS of a group of two sections were divided by two, and the depth of the last section was taken for both.
#[test]
fn a_group_of_sections_has_the_iops_of_fio_and_no_known_depth() {
    let run = run(TWO_SECTIONS);
    let job = &run.jobs[0];
    assert_near(job.result.iops(), 40_000.0);
    assert_near(job.result.in_flight().unwrap(), 40_000.0 * 395e-6);
    assert_eq!((job.declared.in_flight_asked, job.declared.in_flight_possible), (None, None));
    assert_eq!((job.declared.rw.as_str(), job.echo.len()), ("", 0));
    assert!(run.notes.iter().any(|note| note.text.contains("several sections are merged")), "{:?}", run.notes);
}

/// The reads were taken for a verification after the writes, which halved the IOPS, and clones for a job of its own.
#[test]
fn reads_of_other_sections_are_no_verification() {
    let text = "\
log: (g=0): rw=write, bs=512-1K/512-1K/512-1K, ioengine=sync, iodepth=1
...
log: (g=0): rw=write, bs=512-1K/512-1K/512-1K, ioengine=sync, iodepth=1
data: (g=0): rw=randrw, bs=16K-16K/16K-16K/16K-16K, ioengine=psync, iodepth=1
...
data: (g=0): rw=randrw, bs=16K-16K/16K-16K/16K-16K, ioengine=psync, iodepth=1
fio-2.0.13
Starting 8 processes

log: (groupid=0, jobs=8): err= 0: pid=9: Tue Jan  7 16:55:33 2014
  read : io=480000KB, bw=16000KB/s, iops=1000 , runt= 30000msec
    clat (msec): min=1 , max=9 , avg= 4.00, stdev= 1.00
  write: io=480000KB, bw=16000KB/s, iops=1000 , runt= 30000msec
    clat (msec): min=1 , max=9 , avg= 4.00, stdev= 1.00
     issued    : total=r=30000/w=30000/d=0, short=r=0/w=0/d=0
";
    let run = run(text);
    let job = &run.jobs[0];
    assert_near(job.result.iops(), 2_000.0);
    assert_near(job.result.in_flight().unwrap(), 8.0);
    assert_eq!((job.declared.in_flight_possible, job.declared.verify), (Some(8), false));
    assert_eq!(job.declared.mixed.iter().map(|mixed| mixed.name.as_str()).collect::<Vec<_>>(), ["log", "data"]);
}

/// Reads of 4 KiB were assumed, and contradicted by the bytes.
#[test]
fn options_of_all_jobs_do_not_tell_those_of_a_job_without_any() {
    let run = run(r#"{
        "fio version": "fio-2.6",
        "global options": {"unified_rw_reporting": "1"},
        "client_stats": [{
            "jobname": "a", "groupid": 0, "error": 0,
            "mixed": {"io_bytes": 8000, "bw": 80, "iops": 10.0, "runtime": 100000, "total_ios": 1000,
                      "lat": {"min": 1, "max": 9, "mean": 5.0, "stddev": 1.0}}
        }]
    }"#);
    let declared = &run.jobs[0].declared;
    assert_eq!((declared.rw.as_str(), declared.block_sizes, declared.engine.as_str()), ("", Default::default(), ""));
    assert_eq!(declared.in_flight_possible, None);
    assert!(!run.notes.iter().any(|note| note.text.contains("issues reads only")), "{:?}", run.notes);
}

/// Groups that may have run one after the other were summed.
#[test]
fn results_that_are_not_known_to_overlap_have_no_rate_together() {
    let run = run(PHASES);
    assert_eq!(run.phases(), [[0], [1]]);
    assert_eq!(figure(&run, "read.iops"), Err(NoFigure::NotTogether));
    assert_eq!(figure(&run, "all.bw"), Err(NoFigure::NotTogether));
    assert!(figure(&run, "read.lat.mean").is_ok(), "latencies of all operations");
    for job in &run.jobs {
        assert_near(Figure::named("read.iops").unwrap().of_result(job).unwrap().value, 1_000.0);
    }
}

#[test]
fn clones_of_one_group_run_together() {
    let run = run(FOUR_CLONES);
    assert_eq!(run.phases(), [[0, 1, 2, 3]]);
    assert_near(figure(&run, "read.iops").unwrap(), 16_000.0);
    let together = run.together(&[0, 1, 2, 3]);
    assert_near(together.result.iops(), 16_000.0);
    assert_eq!((together.workers, together.declared.in_flight_possible), (4, Some(32)));
}

/// Jobs that ran for 60 and 10 s had twice the IOPS of one; fio counts both over the time of the longer one.
#[test]
fn jobs_that_end_apart_are_counted_over_the_longest() {
    let mut run = run(FOUR_CLONES);
    run.jobs.truncate(2);
    for (job, seconds) in run.jobs.iter_mut().zip([60, 10]) {
        let read = &mut job.result.read;
        (read.ios, read.runtime_ns) = (1_000 * seconds, seconds * 1_000_000_000);
        job.result.runtime_ns = read.runtime_ns;
    }
    assert_near(figure(&run, "read.iops").unwrap(), 70_000.0 / 60.0);
    assert_near(run.together(&[0, 1]).result.iops(), 70_000.0 / 60.0);
}

/// Before fio 3.7 the time over which all workers were active is not printed; latencies are.
#[test]
fn results_of_fio_3_1_have_operations_in_flight() {
    let run = run(FIO_31);
    let result = &run.jobs[0].result;
    assert_near(result.iops(), 20_000.0);
    assert_near(result.in_flight().unwrap(), 7.9);
    assert_eq!(run.jobs[0].declared.in_flight_possible, Some(8));
    // Without the depth that fio searched for, the option says it.
    let text = FIO_31.lines().filter(|line| !line.contains("\"latency_depth\"")).collect::<Vec<_>>().join("\n");
    assert_eq!(self::run(&text).jobs[0].declared.in_flight_possible, Some(8), "{text}");
    // A group that fio up to 3.1 does not mention has more in flight than one worker can have.
    let deep = FIO_31
        .replace("\"iodepth\": \"8\"", "\"iodepth\": \"2\"")
        .replace("\"latency_depth\": 8", "\"latency_depth\": 2");
    assert_eq!(self::run(&deep).jobs[0].declared.in_flight_possible, None);
}

/// Operations in flight were computed over the mean time of a worker, and the product printed beside them was not theirs.
#[test]
fn operations_in_flight_are_iops_times_latency() {
    let run = run(CLONES_END_APART);
    let result = &run.jobs[0].result;
    assert_near(result.iops(), 25_000.0);
    assert_near(result.in_flight().unwrap(), result.iops() * result.service_mean_ns().unwrap() / 1e9);
    assert_near(result.in_flight().unwrap(), 13.9);
    assert!(result.active_workers() < 0.5 * f64::from(result.workers), "{}", result.active_workers());
}

#[test]
fn latencies_of_syncs_are_figures() {
    let run = run(SYNC_SLOW);
    assert_near(figure(&run, "sync.lat.mean").unwrap(), 6.69e6);
    assert_near(figure(&run, "sync.lat.p99").unwrap(), 28e6);
    assert_near(figure(&run, "sync.latency_p99.99").unwrap(), 121e6);
    assert_eq!(figure(&run, "sync.lat.p42"), Err(NoFigure::Absent));
    assert!(figure(&run, "sync.iops").unwrap() > 0.0);
}

/// Percentiles of 41 s on average were 17.1 s, the start of the last class of fio's histogram.
#[test]
fn percentiles_in_the_last_class_are_lower_bounds() {
    let run = run(SATURATED);
    let value = |name: &str| Figure::named(name).unwrap().of(&run).unwrap();
    assert_eq!(value("write.lat.p99"), FigureValue { value: 17_113e6, at_least: true });
    assert_eq!(value("write.lat.p5"), FigureValue { value: 10_402e6, at_least: false });
    assert!(!value("write.lat.mean").at_least);
}

/// A job that reads back what it wrote took the time of both, which is not that of two workers.
#[test]
fn reading_back_is_no_second_worker() {
    for global in [true, false] {
        let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
        let job = &mut document["jobs"][0];
        job["write"] = job["read"].clone();
        let at = if global { &mut document["global options"] } else { &mut job["job options"] };
        at["verify"] = "crc32c".into();
        let run = run(&document.to_string());
        let job = &run.jobs[0];
        assert_eq!((job.workers, job.declared.in_flight_possible), (1, Some(8)), "{global}");
        assert_near(job.result.iops(), 40_000.0);
    }
}

/// Times of some milliseconds are rounded by more than a fiftieth.
#[test]
fn reading_back_within_milliseconds_is_no_second_worker() {
    let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
    let job = &mut document["jobs"][0];
    job["job options"]["verify"] = "crc32c".into();
    job["read"]["runtime"] = 20.into();
    job["write"] = job["read"].clone();
    job["write"]["runtime"] = 21.into();
    job["job_runtime"] = 40.into();
    let run = run(&document.to_string());
    let is_merged = run.notes.iter().any(|note| note.text.contains("sections"));
    assert_eq!((run.jobs[0].workers, is_merged), (1, false), "{:?}", run.notes);
}

/// Without `job_runtime` (up to fio 3.6) the writes of another section show that the options are not those of all.
#[test]
fn operations_that_the_options_cannot_do_are_of_other_sections() {
    let kind = |ios: u64| {
        format!(
            "{{\"io_bytes\": {}, \"io_kbytes\": {}, \"bw\": {}, \"runtime\": 2000, \"total_ios\": {ios}, \"iops\": {}, \
             \"clat_ns\": {{\"mean\": 1000.0, \"max\": 2000, \"N\": {ios}}}, \"lat_ns\": {{\"mean\": 1000.0, \"max\": 2000, \"N\": {ios}}}}}",
            ios * 4096,
            ios * 4,
            ios * 2,
            ios / 2
        )
    };
    let output = |writes: u64| {
        let (read, write) = (kind(6000), kind(writes));
        format!(
            "{{\"fio version\": \"fio-3.1\", \"jobs\": [{{\"jobname\": \"a\", \"groupid\": 0, \"error\": 0, \"job options\": \
             {{\"rw\": \"randread\", \"bs\": \"4k\", \"ioengine\": \"libaio\", \"numjobs\": \"3\", \"rate_iops\": \"1000\"}}, \
             \"read\": {read}, \"write\": {write}}}]}}"
        )
    };
    let sections = run(&output(2000));
    assert_eq!((sections.jobs[0].declared.rw.as_str(), sections.jobs[0].declared.in_flight_possible), ("", None));
    // Each of three clones has the rate.
    let clones = run(&output(0));
    assert_eq!(clones.jobs[0].declared.rate_iops.read, Some(3000));
}

/// `new_group` begins a group beside the one before, which `stonewall` waits for.
#[test]
fn a_new_group_runs_beside_the_one_before() {
    let job = |group: u32, options: &str| {
        let kind = "{\"io_bytes\": 4096000, \"io_kbytes\": 4000, \"bw\": 400, \"runtime\": 10000, \"total_ios\": 1000, \"iops\": 100.0}";
        format!(
            "{{\"jobname\": \"j{group}\", \"groupid\": {group}, \"error\": 0, \"job options\": {{\"rw\": \"read\", \"bs\": \"4k\"{options}}}, \
             \"read\": {kind}}}"
        )
    };
    for (options, phases) in
        [(", \"new_group\": \"1\"", 1), (", \"new_group\": \"0\"", 2), (", \"stonewall\": \"1\"", 2), ("", 2)]
    {
        let text = format!("{{\"fio version\": \"fio-3.1\", \"jobs\": [{}, {}]}}", job(0, ""), job(1, options));
        assert_eq!(run(&text).phases().len(), phases, "{options}");
    }
}

/// Other programs sort the keys of a document as text: `16` before `2`.
#[test]
fn classes_of_a_document_are_in_the_order_of_their_numbers() {
    let kind = "{\"io_bytes\": 4096000, \"io_kbytes\": 4000, \"bw\": 4000, \"runtime\": 1000, \"total_ios\": 1000, \"iops\": 1000.0, \
                \"clat_ns\": {\"mean\": 15990000.0, \"max\": 20000000, \"N\": 1000}, \"lat_ns\": {\"mean\": 15990000.0, \"max\": 20000000, \
                \"N\": 1000}}";
    let text = format!(
        "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"a\", \"groupid\": 0, \"error\": 0, \"iodepth_level\": {{\"1\": 0.1, \
         \"16\": 99.6, \"2\": 0.1, \"32\": 0.0, \"4\": 0.1, \"8\": 0.1, \">=64\": 0.0}}, \"read\": {kind}}}]}}"
    );
    assert_eq!(run(&text).jobs[0].declared.in_flight_possible, Some(16));
}

/// Without `ioengine` a job with 32 operations in flight was taken for one of psync, which cannot have them.
#[test]
fn an_engine_without_a_name_queues_if_the_depths_show_it() {
    let declared = |latency_ns: u64, levels: &str| {
        let kind = format!(
            "{{\"io_bytes\": 4096000, \"io_kbytes\": 4000, \"bw\": 4000, \"runtime\": 1000, \"total_ios\": 1000, \"iops\": 1000.0, \
             \"clat_ns\": {{\"mean\": {latency_ns}, \"max\": {latency_ns}, \"N\": 1000}}}}"
        );
        let text = format!(
            "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"a\", \"groupid\": 0, \"error\": 0, \"job_runtime\": 1000, \
             \"job options\": {{\"name\": \"a\", \"rw\": \"randread\", \"iodepth\": \"32\"}}, \"latency_depth\": 32, \
             \"iodepth_level\": {levels}, \"read\": {kind}}}]}}"
        );
        let declared = run(&text).jobs[0].declared.clone();
        (declared.engine, declared.in_flight_possible)
    };
    assert_eq!(declared(32_000_000, "{\"1\": 0.1, \"32\": 99.9}"), (String::new(), Some(32)));
    assert_eq!(declared(990_000, "{\"1\": 100.0, \"32\": 0.0}"), ("psync".to_owned(), Some(1)));
}

/// Merged clones of two clients of one server were taken for single workers, which halved the rate.
#[test]
fn two_clients_of_one_server_have_the_iops_of_fio() {
    let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
    let job = &mut document["jobs"][0];
    (job["hostname"], job["port"]) = ("node".into(), 8765.into());
    job["job options"]["numjobs"] = "2".into();
    let clients = vec![job.clone(), job.clone()];
    document.as_object_mut().unwrap().remove("jobs");
    document["client_stats"] = clients.into();
    let run = run(&document.to_string());
    for job in &run.jobs {
        assert_eq!((job.workers, job.declared.in_flight_possible), (2, Some(16)));
        assert_near(job.result.iops(), 40_000.0);
    }
    assert_near(figure(&run, "read.iops").unwrap(), 80_000.0);
}

/// Reads between writes had millions of IOPS: fio times only those behind the last write.
#[test]
fn reads_between_writes_count_for_the_time_of_both() {
    let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
    let job = &mut document["jobs"][0];
    job["job options"] = serde_json::json!({ "rw": "randwrite", "verify": "crc32c", "verify_backlog": "64" });
    job["latency_depth"] = 32.into();
    job["write"] = job["read"].clone();
    (job["read"]["runtime"], job["job_runtime"]) = (2.into(), 60_002.into());
    let found = run(&document.to_string());
    assert_near(figure(&found, "read.iops").unwrap(), 40_000.0);
    assert_near(figure(&found, "all.iops").unwrap(), 80_000.0);
    assert!(found.notes[0].text.contains("between writes"), "{:?}", found.notes);
    let text = "\
ver: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=8
fio-2.0.13
Starting 1 process

ver: (groupid=0, jobs=1): err= 0: pid=9: Tue Jan  7 16:55:33 2014
  read : io=32768KB, bw=16384MB/s, iops=4096.0K, runt=     2msec
    clat (usec): min=1 , max=900 , avg=100.00, stdev= 1.00
  write: io=32768KB, bw=160627KB/s, iops=40156 , runt=   204msec
    clat (usec): min=1 , max=900 , avg=100.00, stdev= 1.00
     issued    : total=r=8192/w=8192/d=0, short=r=0/w=0/d=0
";
    let found = run(text);
    assert_near(figure(&found, "read.iops").unwrap(), 8192.0 / 0.206);
    assert_near(figure(&found, "all.iops").unwrap(), 16_384.0 / 0.206);
}

/// fio truncates the name of an entry to 127 bytes, and the whole name was taken for that of another section.
#[test]
fn a_truncated_name_is_no_other_section() {
    let named = |entry: &str, option: &str| {
        let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
        let job = &mut document["jobs"][0];
        (job["jobname"], job["job options"]["name"]) = (entry.into(), option.into());
        job["job_runtime"] = job["read"]["runtime"].clone();
        run(&document.to_string()).notes.len()
    };
    let long = "x".repeat(127);
    assert_eq!((named(&long, &format!("{long}yz")), named(&long, "z"), named("x", "xy")), (0, 1, 1));
}

/// Times of some milliseconds are rounded: 31 ms of 30 ms were two workers.
#[test]
fn a_runtime_that_is_rounded_up_is_no_second_worker() {
    let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
    let job = &mut document["jobs"][0];
    (job["read"]["runtime"], job["job_runtime"]) = (30.into(), 31.into());
    assert_eq!(run(&document.to_string()).jobs[0].workers, 1);
}

/// The search for a steady state was read from fio's text alone, so that its JSON had no word of one that failed.
#[test]
fn the_search_for_a_steady_state_is_read() {
    let mut document: serde_json::Value = serde_json::from_str(TWO_SECTIONS).unwrap();
    document["jobs"][0]["steadystate"] = serde_json::json!({
        "ss": "iops_slope:0.250000%", "duration": 2, "attained": 0, "criterion": "3.609707%", "max_deviation": 0.0,
        "slope": 2206.0, "data": { "bw_mean": 2, "iops_mean": 2, "iops": [1, 3], "bw": [1, 3] }
    });
    let found = run(&document.to_string());
    let steady = found.jobs[0].steady.as_ref().unwrap();
    assert_eq!(
        (steady.measure.as_str(), steady.is_slope, steady.is_attained, steady.limit),
        ("iops", true, false, 0.25)
    );
    assert_eq!((steady.duration_ns, steady.criterion, steady.iops_mean()), (2_000_000_000, 3.609707, 2));
    let said = "attained=no, iops slope=3.610% (limit 0.25%)";
    assert!(found.notes.iter().any(|note| note.text.ends_with(said)), "{:?}", found.notes);
    let line = "  steadystate  : attained=yes, bw=257MiB/s (264MB/s), iops=65.9k, bw mean dev=3.931%\n";
    let (before, after) = SYNC_SLOW.split_once("  cpu ").unwrap();
    let found = run(&format!("{before}{line}  cpu {after}"));
    let steady = found.jobs[0].steady.as_ref().unwrap();
    assert_eq!((steady.measure.as_str(), steady.is_slope, steady.is_attained), ("bw", false, true));
    assert_eq!((steady.criterion, steady.iops_mean(), steady.bytes_per_second_mean()), (3.931, 65_900, 257 << 20));
}
