//! `fathom explain` on `iostat -x` output of devices under databases: operations in flight, achieved and needed.

#![allow(clippy::literal_string_with_formatting_args, reason = "texts of iostat")]

use serde_json::Value;

use crate::common;
use crate::common::{fathom, flat, run, run_with_input, words};

const GP3: &str = "aws/gp3,size=1TiB,iops=16000";

/// <https://www.brendangregg.com/HeatMaps/latency.html>: a disk drive under random reads.
const HEAT_MAP: &str = "\
Device: rrqm/s wrqm/s    r/s   w/s   rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm  %util
vdb       0.00   0.00 334.00  0.00 2672.00  0.00    16.00     2.97  9.01    9.01    0.00  2.99 100.00

";

/// etcd-io/etcd#7048, 2016-12-23: the volume of an etcd member.
const ETCD: &str = "\
Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
vdb               0.00   210.20    0.00  627.11     0.00 11599.13    36.99     0.15    0.24    8.24    0.24   0.27  17.07

";

/// etcd-io/etcd#9427: three reports of a slow disk under an etcd member, without idle devices.
const SLOW_ETCD: &str = "\
Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0.00     0.00    0.00   13.00     0.00    52.00     8.00     0.10    7.69    0.00    7.69   7.69  10.00

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0.00     3.00    0.00    3.00     0.00    20.00    13.33     0.26   86.00    0.00   86.00  86.00  25.80

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda               0.00     2.00    0.00   20.00     0.00    88.00     8.80     0.22   11.10    0.00   11.10  10.95  21.90

";

/// Reads of 8 KiB at 1 ms, 3.5 in flight.
const DATABASE: &str = "\
Linux 6.1.0 (db) \t11/21/2026 \t_x86_64_\t(8 CPU)

11/21/2026 10:00:01 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          12.00    0.00    6.00   20.00    0.00   62.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
nvme1n1        900.00   7200.00     0.00   0.00    1.00     8.00    0.00      0.00     0.00   0.00    0.00     0.00    0.90  20.00

11/21/2026 10:00:11 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          22.00    0.00    8.00   30.00    0.00   40.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
nvme1n1       3500.00  28000.00     0.00   0.00    1.00     8.00    0.00      0.00     0.00   0.00    0.00     0.00    3.50  99.80

";

#[track_caller]
fn explained(arguments: &[&str], iostat: &str) -> Vec<Value> {
    let mut command = fathom(["explain", "--format", "json"]);
    let outcome = run_with_input(command.args(arguments), iostat).expect_code(0);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let subjects = document["inputs"].as_array().into_iter().flatten();
    subjects.flat_map(|input| input["subjects"].as_array().cloned().unwrap_or_default()).collect()
}

#[track_caller]
fn finding(subject: &Value, code: &str) -> Value {
    let all = subject["findings"].as_array().expect("there are findings");
    let found = all.iter().find(|finding| finding["code"] == code);
    found.unwrap_or_else(|| panic!("no {code} in {:?}", codes(subject))).clone()
}

fn codes(subject: &Value) -> Vec<String> {
    let all = subject["findings"].as_array().into_iter().flatten();
    all.map(|finding| finding["code"].as_str().unwrap_or_default().to_owned()).collect()
}

fn figure(finding: &Value, quantity: &str) -> f64 {
    let evidence = finding["evidence"].as_array().into_iter().flatten();
    let found = evidence.into_iter().find(|one| one["quantity"] == quantity);
    found.and_then(|one| one["value"].as_f64()).unwrap_or_else(|| panic!("no {quantity} in {finding}"))
}

#[track_caller]
fn assert_near(name: &str, found: f64, expected: f64) {
    common::model::assert_near(name, found, expected, 1e-6);
}

/// There was no finding for a database with too few requests in flight for its volume.
#[test]
fn a_database_with_too_few_requests_in_flight_is_reported() {
    let subject = explained(&["-", "--volume", GP3, "--database", "postgresql"], DATABASE).remove(0);
    assert_eq!(subject["subject"], "nvme1n1");
    let found = finding(&subject, "queue_too_shallow");
    assert_near("in flight", figure(&found, "in_flight_achieved"), 3.5);
    assert_near("needed", figure(&found, "in_flight_needed"), 16.0);
    let text = found["text"].as_str().unwrap();
    let sentence = "3.50 requests in flight; 16 would reach 16.0k IOPS at 1.00 ms. PostgreSQL does not issue more.";
    assert!(text.starts_with(sentence), "{text}");
    assert!(text.contains("Keep 16 reads in flight") && text.contains("effective_io_concurrency"), "{text}");
    assert_eq!(found["remedy"]["action"], "more_in_flight");
    assert_eq!((&found["remedy"]["in_flight"], &found["remedy"]["reads"]), (&16.into(), &true.into()));
    let settings = found["settings"].as_array().expect("there are settings");
    let workers = settings.iter().find(|one| one["name"] == "io_workers").expect("a setting of that name");
    assert_eq!((&workers["database"], &workers["edition"]), (&"postgresql".into(), &"version 18".into()));
    assert!(workers["url"].as_str().unwrap().starts_with("https://www.postgresql.org/"), "{workers}");
    // In text, each setting is on its own line with its document.
    let words = ["explain", "-", "--volume", GP3, "--database", "postgres"];
    let answer = flat(&run_with_input(&mut fathom(words), DATABASE).expect_clean().stdout);
    assert!(answer.starts_with("ANSWER No: nvme1n1 is used to 21.9%, 3.50k of 16,000 IOPS."), "{answer}");
    assert!(answer.contains("Keep 16 reads in flight") && !answer.contains("iodepth"), "{answer}");
    let page = run_with_input(fathom(words).arg("--details"), DATABASE).expect_clean().stdout;
    assert!(page.contains("\n    - effective_io_concurrency: set 16 or more;"), "{page}");
    assert!(flat(&page).contains("(PostgreSQL Documentation, Resource Consumption, version 18)"), "{page}");
}

#[test]
fn without_a_database_name_all_settings_are_listed() {
    let subject = explained(&["-", "--volume", GP3], DATABASE).remove(0);
    let text = finding(&subject, "queue_too_shallow")["text"].as_str().unwrap().to_owned();
    for word in
        ["the application does not issue more", "PostgreSQL", "innodb_read_io_threads", "async_io", "--database NAME"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// The same figures from the columns in `--claim`.
#[test]
fn a_row_of_iostat_can_be_claimed() {
    let columns = "r/s=3500,rkB/s=28000,r_await=1.00,rareq-sz=8.00,w/s=0,w_await=0,aqu-sz=3.50,%util=99.80";
    let subject = explained(&["--claim", columns, "--volume", GP3, "--database", "mysql"], "").remove(0);
    let found = finding(&subject, "queue_too_shallow");
    assert_near("in flight", figure(&found, "in_flight_achieved"), 3.5);
    assert_near("needed", figure(&found, "in_flight_needed"), 16.0);
    assert!(found["text"].as_str().unwrap().contains("MySQL does not issue more."), "{found}");
    assert!(codes(&subject).contains(&"util_misread".to_owned()), "{:?}", codes(&subject));
    // With a depth it is the claim of a job that keeps its queue full.
    let closed = explained(&["--claim", "r/s=3500,r_await=1.00,qd=4", "--volume", GP3], "").remove(0);
    assert_eq!(finding(&closed, "queue_too_shallow")["remedy"]["action"], "raise_depth");
    // Reads and writes count by their rates: 1 ms and 2 ms make 1.25 ms.
    let mixed = explained(&["--claim", "r/s=3000,r_await=1.00,w/s=1000,w_await=2.00", "--volume", GP3], "").remove(0);
    assert_near("needed", figure(&finding(&mixed, "queue_too_shallow"), "in_flight_needed"), 20.0);
}

#[test]
fn an_idle_device_is_recognized_by_its_idle_time() {
    let subject = explained(&["-", "--volume", "aws/gp3,size=1TiB", "--database", "etcd"], ETCD).remove(0);
    let found = finding(&subject, "queue_too_shallow");
    assert_near("in flight", figure(&found, "in_flight_achieved"), 0.15);
    assert_near("needed", figure(&found, "in_flight_needed"), 0.72);
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("etcd does not issue more. The device was idle 82.9% of the time."), "{text}");
    assert_eq!(found["remedy"]["reads"], false);
    let named: Vec<&str> =
        found["settings"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["latency, not depth", "etcd_disk_wal_fsync_duration_seconds"]);
}

/// A device that was never idle and is nine times slower than the volume does not have too shallow a queue.
#[test]
fn a_slow_device_has_no_too_shallow_queue() {
    let subject = explained(&["-", "--volume", GP3], HEAT_MAP).remove(0);
    let found = finding(&subject, "below_expectation");
    assert_near("latency", figure(&found, "latency_mean"), 9.01e6);
    assert!(!codes(&subject).contains(&"queue_too_shallow".to_owned()), "{:?}", codes(&subject));
}

/// The disk is idle most of the time and requests take 14 ms: they arrive in bursts and wait for each other.
#[test]
fn waiting_requests_do_not_give_the_service_time() {
    let subject = explained(&["-", "--volume", "aws/gp3,size=1TiB"], SLOW_ETCD).remove(0);
    let found = finding(&subject, "queue_too_shallow");
    // The mean over the requests of three reports: (13 x 7.69 + 3 x 86.00 + 20 x 11.10) / 36.
    assert_near("latency", figure(&found, "latency_mean"), (13.0 * 7.69 + 3.0 * 86.0 + 20.0 * 11.1) / 36.0 * 1e6);
    assert_near("in flight", figure(&found, "in_flight_achieved"), (0.10 + 0.26 + 0.22) / 3.0);
    let alone_ns = figure(&found, "service_mean");
    assert!(alone_ns < 2e6, "the service time, without the wait: {alone_ns}");
    assert_near("needed", figure(&found, "in_flight_needed"), 3000.0 * alone_ns / 1e9);
    assert!(found["text"].as_str().unwrap().contains("they arrived in bursts and queued"), "{found}");
}

#[test]
fn a_saturated_processor_is_reported() {
    let busy = DATABASE.replace(
        "          22.00    0.00    8.00   30.00    0.00   40.00",
        "          88.00    0.00    9.00    1.00    0.00    2.00",
    );
    let found = finding(&explained(&["-", "--volume", GP3], &busy)[0], "queue_too_shallow");
    assert_near("processors", figure(&found, "host_cpu_share"), 0.97);
    assert!(found["text"].as_str().unwrap().contains("CPUs were 97.0% busy"), "{found}");
    let idle = finding(&explained(&["-", "--volume", GP3], DATABASE)[0], "queue_too_shallow");
    assert!(!idle["text"].as_str().unwrap().contains("CPUs"), "{idle}");
}

/// 30 s each of pgbench without and with read-ahead, on a disk of 45,000 IOPS and 80 us.
const PGBENCH: &str = include_str!("../../../../examples/iostat-pgbench.json");
const PGBENCH_64: &str = include_str!("../../../../examples/iostat-pgbench-64.json");

#[test]
fn read_ahead_is_what_postgresql_lacked() {
    let volume = "custom,iops=45000,latency=80us";
    let subject = explained(&["-", "--volume", volume, "--database", "postgresql"], PGBENCH).remove(0);
    let found = finding(&subject, "queue_too_shallow");
    let reports: Value = serde_json::from_str(PGBENCH).expect("iostat prints JSON");
    let reports = reports["sysstat"]["hosts"][0]["statistics"].as_array().expect("there are reports");
    let mean = |of: &dyn Fn(&Value) -> f64| reports.iter().map(of).sum::<f64>() / reports.len() as f64;
    let disk = |name: &'static str| move |report: &Value| report["disk"][0][name].as_f64().expect("a number");
    assert_eq!(reports.len(), 30);
    assert_near("in flight", figure(&found, "in_flight_achieved"), mean(&disk("aqu-sz")));
    assert_near("needed", figure(&found, "in_flight_needed"), 3.6);
    assert_near("busy", figure(&found, "busy_share"), mean(&disk("util")) / 100.0);
    // With effective_io_concurrency=64 enough is in flight, and the processors are the bottleneck.
    let subject = explained(&["-", "--volume", volume, "--database", "postgresql"], PGBENCH_64).remove(0);
    let found = finding(&subject, "queue_not_filled");
    assert!(!codes(&subject).contains(&"queue_too_shallow".to_owned()), "{:?}", codes(&subject));
    assert!(figure(&found, "in_flight_achieved") > 20.0, "{found}");
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("arrived in bursts") && text.contains("CPUs were 98.6% busy and may be the limit"), "{text}");
}

/// Averages since the boot describe no workload.
#[test]
fn nothing_is_advised_from_averages_since_the_boot() {
    let first = &DATABASE[..DATABASE.find("11/21/2026 10:00:11").expect("there are two reports")];
    let found = codes(&explained(&["-", "--volume", GP3], first)[0]);
    assert!(found.contains(&"since_boot".to_owned()) && !found.contains(&"queue_too_shallow".to_owned()), "{found:?}");
}

#[test]
fn a_volume_at_its_limit_has_no_too_shallow_queue() {
    let full = "r/s=15980,rkB/s=127840,r_await=2.00,rareq-sz=8.00,aqu-sz=31.96,%util=100.00";
    let found = codes(&explained(&["--claim", full, "--volume", GP3], "")[0]);
    assert!(!found.contains(&"queue_too_shallow".to_owned()), "{found:?}");
    assert!(found.iter().any(|code| code.ends_with("_cap")), "{found:?}");
}

/// The same finding for a run of fio whose depth is too small for the volume.
#[test]
fn a_run_with_too_small_a_depth_has_its_own_remedy() {
    let line = "sim --on custom,iops=100000,latency=1ms --name=a --rw=randread --bs=8k --ioengine=libaio --direct=1 --iodepth=4 \
                --runtime=2 --time_based";
    let record = run(fathom(words(line)).args(["--format", "fio-json"])).expect_clean().stdout;
    let subject = explained(&["-", "--volume", GP3, "--database", "postgresql"], &record).remove(0);
    let found = finding(&subject, "queue_too_shallow");
    assert_near("in flight", figure(&found, "in_flight_needed").round(), 16.0);
    assert_eq!((&found["remedy"]["action"], &found["remedy"]["iodepth"]), (&"raise_depth".into(), &16.into()));
    assert_eq!(found["settings"], Value::Null, "a job has iodepth and no database settings");
}
