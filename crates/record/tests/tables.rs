//! Tables that other programs print of devices and their times.

use record::{CounterFormat, Figure, Input, Iostat, IostatDevice, JobResult, Run, read_input, read_inputs};
use units::Problem;

fn counters(text: &str) -> Iostat {
    match read_input("input", text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}")) {
        Input::Iostat(iostat) => iostat,
        Input::Run(run) => panic!("no counters: {run:?}"),
    }
}

fn run(name: &str, text: &str) -> Run {
    match read_input(name, text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}")) {
        Input::Run(run) => *run,
        Input::Iostat(iostat) => panic!("no run: {iostat:?}"),
    }
}

fn refused(name: &str, text: &str) -> Problem {
    read_input(name, text.as_bytes(), None).err().unwrap_or_else(|| panic!("read: {text}"))
}

fn figure(run: &Run, job: usize, name: &str) -> Option<f64> {
    let figure = Figure::named(name).unwrap_or_else(|| panic!("{name} is not accepted"));
    figure.of_jobs(run, &[job]).ok().map(|value| value.value)
}

fn job<'a>(run: &'a Run, name: &str) -> &'a JobResult {
    run.jobs.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("no {name} in {:?}", run.jobs))
}

const SAR: &str = "\
Linux 5.14.0 (db1) \t11/29/2026 \t_x86_64_\t(8 CPU)

10:00:01 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
10:00:11 AM   nvme0n1    500.00   1500.00    500.00      0.00      4.00      1.00      2.00     40.00
10:00:11 AM      dm-0    500.00   1500.00    500.00      0.00      4.00      1.00      2.00     40.00

10:00:11 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
10:00:21 AM   nvme0n1   1000.00   3000.00   1000.00      0.00      4.00      4.00      4.00     90.00
10:00:21 AM      dm-0   1000.00   3000.00   1000.00      0.00      4.00      4.00      4.00     90.00

Average:          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
Average:      nvme0n1    750.00   2250.00    750.00      0.00      4.00      2.50      3.33     65.00
Average:         dm-0    750.00   2250.00    750.00      0.00      4.00      2.50      3.33     65.00
";

#[test]
fn sar_has_intervals_of_devices() {
    let iostat = counters(SAR);
    assert_eq!((iostat.format, iostat.cpus, iostat.host.as_deref()), (CounterFormat::Sar, Some(8), Some("db1")));
    assert_eq!(iostat.reports.len(), 2, "averages repeat the intervals");
    assert_eq!(iostat.reports.iter().map(|report| report.seconds).collect::<Vec<_>>(), [Some(10.0); 2]);
    let device = &iostat.reports[1].devices[0];
    assert_eq!(
        (device.name.as_str(), device.all.per_second, device.all.await_ns),
        ("nvme0n1", Some(1000.0), Some(4e6))
    );
    assert_eq!(device.bytes_per_second(), 4000.0 * 1024.0);
    assert_eq!((device.in_flight, device.util), (Some(4.0), Some(0.9)));
    let disks = iostat.disks();
    assert_eq!(
        (disks.len(), disks[0].name.as_str(), disks[0].above.as_slice()),
        (1, "nvme0n1", &["dm-0".to_owned()][..])
    );
}

/// Refused: no device stood below the names of the columns.
#[test]
fn tables_that_mails_wrapped_and_pages_spaced_are_read() {
    let wrapped = "00:00:01          DEV       tps     rkB/s     wkB/s   areq-sz\naqu-sz     await     svctm     %util\n\
                   00:05:01       dev7-0      1.74      0.92      6.02      4.00\n0.29    184.17     28.01      4.86\n\
                   00:15:01       dev7-0      4.77      3.35     15.74      4.00\n0.53    119.11     14.67      7.00\n";
    let iostat = counters(wrapped);
    let device = &iostat.reports[1].devices[0];
    assert_eq!((iostat.reports.len(), device.all.per_second, device.util), (2, Some(4.77), Some(0.07)));
    let spaced = counters(&SAR.replace("%util\n", "%util\n\n").replace("40.00\n10", "40.00\n\n10"));
    assert_eq!(spaced.reports[0].devices[0], IostatDevice { line: 5, ..counters(SAR).reports[0].devices[0].clone() });
    let iostat = "Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n\n\
                  sdb               0.00     0.00    0.00    2.00     0.00     6.50     3.25     0.01    5.75   5.75   1.15\n";
    assert_eq!(counters(iostat).reports[0].devices[0].write.per_second, Some(2.0));
}

/// sysstat 12.1.5 divided sizes of requests by 1,024 once too often.
#[test]
fn rates_and_sizes_that_contradict_each_other_are_noted() {
    let text = |size: &str| {
        format!(
            "Device            r/s     w/s     rMB/s     wMB/s  rareq-sz  wareq-sz\nnvme0n1 0.00 31.00 0.00 248.00 0.00 {size}\n"
        )
    };
    let notes = |size| counters(&text(size)).notes;
    assert!(notes("4.00").iter().any(|note| note.contains("31.0 writes of 4 KiB on nvme0n1")), "{:?}", notes("4.00"));
    assert!(!notes("8192.00").iter().any(|note| note.contains("disagree")));
}

#[test]
fn old_sar_counts_sectors_and_averages_alone_are_read() {
    let text = "\
Average:          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
Average:       dev8-0    100.00    800.00      0.00      8.00      0.50      5.00      3.00     30.00
";
    let iostat = counters(text);
    let device = &iostat.reports[0].devices[0];
    assert_eq!((device.iops(), device.bytes_per_second(), device.all.request_bytes), (100.0, 409_600.0, Some(4096.0)));
}

#[test]
fn sar_that_is_cut_off_counts_as_far_as_it_goes() {
    let cut = &SAR[..SAR.find("10:00:21 AM      dm-0").unwrap() + 30];
    let iostat = counters(cut);
    assert_eq!((iostat.reports.len(), iostat.notes.len()), (1, 1), "{:?}", iostat.notes);
}

/// Values with units, and comments within a table, refused the text.
#[test]
fn sar_may_print_units_and_comments() {
    let text = "10:00:01 AM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util\n\
                10:00:11 AM       sda     16.00      1.5M      0.5k      4.0k      1.00      2.50     40.0%\n\
                10:00:15 AM  COM the load begins\n\
                10:00:21 AM       sda     32.00      0.0k     64.0k      2.0k      2.00      2.50     80.0%\n";
    let iostat = counters(text);
    let devices: Vec<_> = iostat.reports.iter().flat_map(|report| &report.devices).collect();
    assert_eq!(devices.iter().map(|device| device.iops()).collect::<Vec<_>>(), [16.0, 32.0]);
    assert_eq!((devices[0].bytes_per_second(), devices[1].util), (1536.5 * 1024.0, Some(0.8)));
    assert_eq!(iostat.reports[1].seconds, Some(10.0));
}

const VMSTAT: &str = "\
disk- ------------reads------------ ------------writes----------- -----IO------
       total merged sectors      ms  total merged sectors      ms    cur    sec
sda     1000      0    8000    2000      0      0       0       0      0      2
";
const VMSTAT_LATER: &str = "sda    11000      0   88000   22000   5000      0   40000   25000      0      7\n";

#[test]
fn vmstat_of_disks_has_rates_if_its_interval_is_known() {
    let with_command = format!("$ vmstat -d 5 2\n{VMSTAT}{VMSTAT_LATER}");
    let iostat = counters(&with_command);
    let device = &iostat.reports[0].devices[0];
    assert_eq!((iostat.format, iostat.reports.len()), (CounterFormat::Vmstat, 1));
    assert_eq!((device.read.per_second, device.read.await_ns), (Some(2000.0), Some(2e6)));
    assert_eq!((device.write.per_second, device.write.await_ns, device.util), (Some(1000.0), Some(5e6), None));
    let timed = |line: &str, time: &str| format!("{} {time}\n", line.trim_end());
    let with_times = format!("{}{}", timed(VMSTAT, "2026-11-29 10:00:00"), timed(VMSTAT_LATER, "2026-11-29 10:00:10"));
    assert_eq!(counters(&with_times).reports[0].devices[0].read.per_second, Some(1000.0));
}

/// Rows of plain `vmstat` in one text with `vmstat -d` were taken as devices named `0` and `1`.
#[test]
fn rows_of_processors_beside_vmstat_of_disks_are_no_devices() {
    let plain = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n \
                 1  0      0 193758  18432 239795    0    0     3     5   36   79  1  1 98  0  0\n 0  0      0 193758  18432 239795    0    0     0     0  214  412  1  0 99  0  0\n";
    for text in [format!("{plain}\n{VMSTAT}"), format!("{VMSTAT}\n$ vmstat 2 5\n{plain}")] {
        let run = run("vmstat.txt", &text);
        assert!(run.jobs.iter().all(|job| !["0", "1"].contains(&job.name.as_str())), "{:?}", run.jobs);
        assert!(run.notes.iter().any(|note| note.text.contains("since boot")), "{:?}", run.notes);
    }
}

#[test]
fn vmstat_of_disks_without_an_interval_has_times_but_no_rates() {
    let since_boot = run("vmstat.txt", VMSTAT);
    assert_eq!(figure(&since_boot, 0, "read.lat.mean"), Some(2e6));
    assert_eq!((figure(&since_boot, 0, "read.iops"), since_boot.tool.name.as_str()), (None, "vmstat"));
    assert!(since_boot.notes[0].text.contains("since boot"), "{:?}", since_boot.notes);
    let between = run("vmstat.txt", &format!("{VMSTAT}{VMSTAT_LATER}"));
    assert_eq!(figure(&between, 0, "write.lat.mean"), Some(5e6));
    assert_eq!(job(&between, "sda").result.read.ios, 10_000, "the increase, not the sum since boot");
}

#[test]
fn perf_of_spdk_tells_rate_and_latency_of_each_device() {
    let text = "\
# build/bin/spdk_nvme_perf -q 32 -o 4096 -w randread -t 10 -r 'trtype:PCIe traddr:0000:01:00.0'
========================================================
                                                                           Latency(us)
Device Information                     :       IOPS      MiB/s    Average        min        max
PCIE (0000:01:00.0) NSID 1 from core  0:  400000.00    1562.50      80.00      10.00    1000.00
PCIE (0000:02:00.0) NSID 1 from core  0:  200000.00     781.25     160.00      10.00    2000.00
========================================================
Total                                  :  600000.00    2343.75     106.67      10.00    2000.00

Summary latency data for PCIE (0000:01:00.0) NSID 1                  from core 0:
=================================================================================
 50.00000% :    75.000us
 99.00000% :   150.500us
";
    let run = run("perf.txt", text);
    assert_eq!(run.jobs.len(), 2, "the total repeats the devices");
    assert_eq!((figure(&run, 0, "read.iops"), figure(&run, 0, "read.lat.mean")), (Some(400_000.0), Some(80_000.0)));
    assert_eq!(figure(&run, 0, "read.lat.p99"), Some(150_500.0));
    assert_eq!((run.jobs[1].declared.in_flight_possible, run.jobs[1].result.in_flight()), (Some(32), Some(32.0)));
    let together = Figure::named("all.iops").unwrap().of(&run).unwrap().value;
    assert_eq!(together, 600_000.0);
}

#[test]
fn bdevperf_tells_the_load_of_each_job() {
    let text = "\
Running I/O for 10 seconds...

                                                                                                  Latency(us)
 Device Information          : runtime(s)       IOPS      MiB/s     Fail/s     TO/s    Average        min        max
 Job: Nvme0n1 (Core Mask 0x1, workload: randrw, percentage: 70, depth: 16, IO size: 8192)
\t Nvme0n1             :      10.00   20000.00     156.25       0.00     0.00     800.00     100.00    9000.00
 ===================================================================================================================
 Total                       :              20000.00     156.25       0.00     0.00     800.00     100.00    9000.00
";
    let run = run("bdevperf.txt", text);
    assert_eq!(run.jobs.len(), 1);
    assert_eq!((figure(&run, 0, "read.iops"), figure(&run, 0, "write.iops")), (Some(14_000.0), Some(6_000.0)));
    assert_eq!((run.jobs[0].result.in_flight().map(f64::round), run.jobs[0].untimed), (Some(16.0), false));
    let old = " NVMe0n1             :  103938.83 IO/s     406.01 MB/s\n Total : 103938.83 IO/s 406.01 MB/s\n";
    let old = self::run("bdevperf.txt", old);
    assert_eq!((old.jobs.len(), figure(&old, 0, "read.iops").map(f64::round)), (1, Some(103_939.0)));
    assert!(old.jobs[0].untimed && !old.notes.is_empty());
}

/// The 99th percentile was taken for the mean.
#[test]
fn kbench_prints_percentiles_below_a_title_of_their_own() {
    let text = "FIO Benchmark Summary\nIOPS in ops (Read/Write)\n  Random: 15,013 / 8,874\nFIO Benchmark Latency P99 \
                Summary\nLatency in ns (Read/Write)\n  Random: 667,648 / 1,028,096\n";
    let read = record::read_inputs("kbench", text.as_bytes()).unwrap();
    let [record::Input::Run(rates), record::Input::Run(latencies)] = [0, 1].map(|part: usize| &read.parts[part].input)
    else {
        panic!("no two runs")
    };
    assert_eq!(rates.jobs[0].result.read.iops().round(), 15_013.0);
    let latency = &latencies.jobs[0].result.read;
    assert_eq!(latency.with_percentiles().percentile_ns(99.0), Some(667_648));
    assert_eq!(latency.latency.mean_ns, 0.0);
}

#[test]
fn kbench_ran_each_test_alone() {
    let text = "\
=========================
FIO Benchmark Summary
For: test_device
Size: 30G
Quick Mode: disabled
=========================
IOPS (Read/Write)
        Random:         10,000 / 5,000
    Sequential:         20,000 / 8,000

Bandwidth in KiB/sec (Read/Write)
        Random:        300,000 / 150,000

Latency in ns (Read/Write)
        Random:        500,000 / 700,000
    Sequential:        400,000 / 600,000
";
    let run = run("kbench.txt", text);
    assert_eq!(run.jobs.len(), 10);
    let at = |name: &str| run.jobs.iter().position(|job| job.name == name).unwrap();
    assert_eq!(figure(&run, at("random read iops"), "read.iops"), Some(10_000.0));
    assert_eq!(figure(&run, at("random write bandwidth"), "write.bw"), Some(153_600_000.0));
    let latency = at("sequential write latency");
    assert_eq!((figure(&run, latency, "write.lat.mean"), figure(&run, latency, "write.iops")), (Some(600_000.0), None));
    assert_eq!(run.phases().len(), 10, "one test ran after the other");
    let compared = "FIO Benchmark Comparison Summary\nFor: a vs b\nIOPS (Read/Write)\n   Random:  96,735 / 89,565  vs  90,000 / 80,000 :  -6% / -10%\n";
    let compared = self::run("kbench.txt", compared);
    assert_eq!(compared.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>()[2], "b: random read iops");
}

const ETCD: &str = r#"# HELP etcd_disk_wal_fsync_duration_seconds The latency distributions of fsync called by WAL.
# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 0
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.002"} 500
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.004"} 950
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.008"} 1000
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 1000
etcd_disk_wal_fsync_duration_seconds_sum 2.5
etcd_disk_wal_fsync_duration_seconds_count 1000
grpc_server_started_total{grpc_method="Put"} 17
"#;

#[test]
fn histograms_of_etcd_have_percentiles_of_syncs() {
    let run = run("metrics.txt", ETCD);
    assert_eq!((run.jobs.len(), run.jobs[0].result.sync.count), (1, 1000));
    assert_eq!(figure(&run, 0, "sync.lat.mean"), Some(2_500_000.0));
    // 990 of 1,000 lie four fifths into the class from 4 to 8 ms.
    assert_eq!((figure(&run, 0, "sync.lat.p50"), figure(&run, 0, "sync.lat.p99")), (Some(2e6), Some(7_200_000.0)));
    assert_eq!(figure(&run, 0, "sync.iops"), None);
    let judged = |run: &Run, words: &str| run.notes.iter().any(|note| note.text.ends_with(words));
    assert!(judged(&run, "below 10 ms for log syncs: it is 7.20 ms"), "{:?}", run.notes);
    let slow = self::run("metrics.txt", &ETCD.replace("0.008", "0.08"));
    assert!(judged(&slow, "below 10 ms for log syncs"), "{:?}", slow.notes);
    let beyond = ETCD.replace("le=\"0.008\"} 1000", "le=\"0.008\"} 960");
    let beyond = self::run("metrics.txt", &beyond);
    assert_eq!(figure(&beyond, 0, "sync.lat.p99"), None);
    assert!(beyond.notes.iter().any(|note| note.text.contains("beyond the last bucket")), "{:?}", beyond.notes);
}

const NODE: &str = r#"node_boot_time_seconds 1.7e+09
node_time_seconds 1.7001e+09
node_disk_reads_completed_total{device="sda"} 1e+06
node_disk_read_bytes_total{device="sda"} 4.096e+09
node_disk_read_time_seconds_total{device="sda"} 500
node_disk_writes_completed_total{device="sda"} 0
node_disk_io_time_seconds_total{device="sda"} 300
node_disk_io_time_weighted_seconds_total{device="sda"} 500
"#;

#[test]
fn counters_of_node_exporter_are_those_of_the_kernel() {
    let iostat = counters(NODE);
    assert_eq!((iostat.format, iostat.reports[0].since_boot), (CounterFormat::NodeExporter, true));
    let device = &iostat.reports[0].devices[0];
    assert_eq!((device.read.per_second, device.read.await_ns), (Some(10.0), Some(500_000.0)));
    let later = NODE
        .replace("1.7001e+09", "1.70010001e+09")
        .replace("\"} 1e+06", "\"} 1.02e+06")
        .replace("} 500\nnode_disk_w", "} 520\nnode_disk_w");
    let iostat = counters(&format!("{NODE}{later}"));
    let device = &iostat.reports[0].devices[0];
    assert_eq!((device.read.per_second, device.read.await_ns), (Some(2000.0), Some(1e6)));
    assert!(!iostat.reports[0].since_boot);
    let without: String =
        NODE.lines().filter(|line| !line.contains("time_seconds 1")).map(|line| format!("{line}\n")).collect();
    let without = run("metrics.txt", &without);
    assert_eq!((figure(&without, 0, "read.lat.mean"), figure(&without, 0, "read.iops")), (Some(500_000.0), None));
}

const POSTGRES: &str = "\
    backend_type    |  object  | context | reads | read_time | writes | write_time | op_bytes | fsyncs | fsync_time |          stats_reset
--------------------+----------+---------+-------+-----------+--------+------------+----------+--------+------------+-------------------------------
 checkpointer       | relation | normal  |       |           |   1000 |        500 |     8192 |     10 |        250 | 2026-11-01 08:00:00.000000+00
 client backend     | relation | normal  | 20000 |     40000 |      0 |          0 |     8192 |      0 |          0 | 2026-11-01 08:00:00.000000+00
 autovacuum worker  | relation | vacuum  |     0 |         0 |      0 |          0 |     8192 |        |            | 2026-11-01 08:00:00.000000+00
(3 rows)
";

#[test]
fn pg_stat_io_has_times_of_each_kind_of_backend() {
    let run = run("pg.txt", POSTGRES);
    assert_eq!(run.jobs.len(), 2, "rows without operations are left out");
    let at = |name: &str| run.jobs.iter().position(|job| job.name == name).unwrap();
    let (backend, checkpointer) = (at("client backend, relation, normal"), at("checkpointer, relation, normal"));
    assert_eq!(figure(&run, backend, "read.lat.mean"), Some(2e6));
    assert_eq!(run.jobs[backend].result.read.bytes, 20_000 * 8192);
    assert_eq!(
        (figure(&run, checkpointer, "write.lat.mean"), figure(&run, checkpointer, "sync.lat.mean")),
        (Some(5e5), Some(2.5e7))
    );
    assert_eq!(figure(&run, backend, "read.iops"), None);
    assert!(run.notes[0].text.contains("2026-11-01 08:00:00"), "{:?}", run.notes);
}

#[test]
fn pg_stat_io_is_read_in_every_layout_of_psql() {
    let csv = "backend_type,object,context,reads,read_time,writes\nclient backend,relation,normal,100,50,0\n";
    assert_eq!(figure(&run("pg.csv", csv), 0, "read.lat.mean"), Some(5e5));
    let expanded =
        "-[ RECORD 1 ]-+--------\nbackend_type | client backend\ncontext | normal\nreads | 100\nread_time | 50\n";
    assert_eq!(figure(&run("pg.txt", expanded), 0, "read.lat.mean"), Some(5e5));
    let untracked = csv.replace("100,50,0", "100,0,0");
    assert!(run("pg.csv", &untracked).notes.iter().any(|note| note.text.contains("track_io_timing")));
    let watched =
        |at: &str, reads: u32| format!("{at} (every 10s)\n\n{}", csv.replace("100,50", &format!("{reads},{reads}")));
    let watched = run(
        "pg.txt",
        &format!("{}\n{}", watched("Sun Nov 29 10:00:00 2026", 100), watched("Sun Nov 29 10:00:10 2026", 5100)),
    );
    assert_eq!((figure(&watched, 0, "read.iops"), figure(&watched, 0, "read.lat.mean")), (Some(500.0), Some(1e6)));
}

#[test]
fn logs_of_fio_have_the_course_and_percentiles() {
    let lines: String = (1..=1000)
        .map(|at| format!("{at}, {}, 0, 4096, 0, 0\n", if at % 50 == 0 { 900_000 } else { 100_000 }))
        .collect();
    let log = run("db_clat.1.log", &lines);
    assert_eq!((log.jobs[0].name.as_str(), log.tool.name.as_str()), ("db", "fio log"));
    assert_eq!((figure(&log, 0, "read.iops"), figure(&log, 0, "read.bw")), (Some(1000.0), Some(4_096_000.0)));
    let percentile = |percent: f64| log.jobs[0].result.read.service.percentile_ns(percent).unwrap() as f64;
    assert!((percentile(50.0) / 1e5 - 1.0).abs() < 0.008 && (percentile(99.0) / 9e5 - 1.0).abs() < 0.008);
    let total = run("db_lat.1.log", &lines);
    assert_eq!(figure(&total, 0, "read.lat.p99"), figure(&log, 0, "read.lat.p99"), "the only percentiles of this log");
    // fio 2 logs microseconds in four columns.
    let old: String = (1..=100).map(|at| format!("{at}, 150, 1, 8192\n")).collect();
    assert_eq!(figure(&run("x_lat.log", &old), 0, "write.lat.mean"), Some(150_000.0));
}

#[test]
fn averaged_logs_of_fio_have_rates_or_means() {
    let iops: String =
        (1..=20).map(|at| format!("{}, 3000, 0, 0, 0\n{}, 1000, 1, 0, 0\n", at * 500, at * 500)).collect();
    let iops = run("db_iops.1.log", &iops);
    assert_eq!((figure(&iops, 0, "read.iops"), figure(&iops, 0, "all.iops")), (Some(3000.0), Some(4000.0)));
    assert_eq!(iops.jobs[0].known_transfers(&iops.jobs[0].result.read).bytes, None, "a log of IOPS has no bytes");
    assert_eq!((iops.jobs[0].result.series.width_ns, iops.jobs[0].result.series.iops().len()), (500_000_000, 20));
    let early: String = (0..20).map(|at| format!("{}, 3000, 0, 0\n", 1000 + at * 1000 - u32::from(at > 0))).collect();
    let early = run("db_iops.1.log", &early);
    assert!(
        early.jobs[0].result.series.iops().iter().all(|iops| (*iops - 3000.0).abs() < 1.0),
        "999 ms are a window too"
    );
    let bandwidth = run("db_bw.1.log", "1000, 2048, 1, 0, 0\n2000, 2048, 1, 0, 0\n");
    assert_eq!(figure(&bandwidth, 0, "write.bw"), Some(2_097_152.0));
    let latency = run("db_lat.1.log", "1000, 200000, 0, 0, 0\n2000, 400000, 0, 0, 0\n");
    assert_eq!((figure(&latency, 0, "read.lat.mean"), figure(&latency, 0, "read.iops")), (Some(300_000.0), None));
    assert_eq!(figure(&latency, 0, "read.lat.p99"), None, "means have no percentiles");
    let read = &latency.jobs[0].result.read;
    assert_eq!(
        (latency.jobs[0].known_transfers(read).ios, read.latency.max_ns),
        (None, 0),
        "windows are no operations"
    );
    let submission = run("db_slat.1.log", "1000, 2000, 0, 0, 0\n2000, 4000, 0, 0, 0\n");
    assert_eq!(figure(&submission, 0, "read.lat.mean"), None, "submission is a part of it");
    assert!(submission.notes[0].text.contains("3.00 us"), "{:?}", submission.notes);
    let both = run("db_iops.1.log", "1000, 3000, 3500, 0, 0, 0\n2000, 3000, 3500, 0, 0, 0\n");
    assert_eq!(figure(&both, 0, "read.iops"), Some(3000.0));
}

#[test]
fn logs_of_histograms_have_percentiles() {
    let line = |time: u32, at: usize| {
        let counts: Vec<String> = (0..1856).map(|class| u32::from(class == at).to_string()).collect();
        format!("{time}, 0, 4096, {}\n", counts.join(", "))
    };
    let text = format!("{}{}", line(1000, meter::bucket_of(100_000)), line(2000, meter::bucket_of(100_000)));
    let log = run("db_clat_hist.1.log", &text);
    assert_eq!((log.jobs[0].result.read.ios, figure(&log, 0, "read.iops")), (2, Some(1.0)));
    let p50 = log.jobs[0].result.read.service.percentile_ns(50.0).unwrap() as f64;
    assert!((p50 / 1e5 - 1.0).abs() < 0.016, "{p50}");
    let by_unix_time = |ms: u64| line(1000, meter::bucket_of(100_000)).replace("1000, 0", &format!("{ms}, 0"));
    let times = [1_796_016_326_459, 1_796_016_327_459, 1_796_016_328_459];
    let text: String = times.into_iter().map(by_unix_time).collect();
    assert_eq!(figure(&run("db_clat_hist.1.log", &text), 0, "read.iops"), Some(1.0));
}

/// `lat_percentiles=1` and `clat_percentiles=0` leave service times without percentiles.
#[test]
fn percentiles_of_the_total_latency_alone_are_percentiles() {
    let log: String = (1..=1000).map(|at| format!("{at}, {}, 0, 4096, 0, 0\n", 1000 * at)).collect();
    let mut made = run("db_lat.1.log", &log);
    let read = &mut made.jobs[0].result.read;
    read.service = record::LatencyStats { buckets: Vec::new(), mean_ns: 400_000.0, ..read.latency.clone() };
    assert!((figure(&made, 0, "read.lat.p99").unwrap() / 990_000.0 - 1.0).abs() < 0.01);
}

/// A sum of them overflowed.
#[test]
fn histograms_with_impossible_counts_are_refused() {
    let counts = |at: usize, count: u64| {
        let counts: Vec<String> = (0..1856).map(|class| if class == at { count } else { 0 }.to_string()).collect();
        format!("1000, 0, 4096, {}\n", counts.join(", "))
    };
    for text in [counts(5, 1 << 58), counts(5, u64::MAX) + &counts(6, u64::MAX)] {
        let error = refused("db_clat_hist.1.log", &text);
        assert!(error.what.contains("more operations than can complete in 1000 ms"), "{error}");
    }
}

#[test]
fn a_log_of_fio_under_another_name_is_named() {
    let error = refused("load.csv", "1, 200, 0, 4096, 0\n2, 200, 0, 4096, 0\n");
    assert!(
        error.what.contains("fio log") && error.help.as_deref().unwrap_or_default().contains("_lat.1.log"),
        "{error}"
    );
}

#[test]
fn tables_that_are_cut_off_never_panic() {
    let texts = [SAR, VMSTAT, ETCD, NODE, POSTGRES];
    for text in texts {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            for name in ["input", "a_lat.1.log", "a_clat_hist.1.log"] {
                let _ = read_inputs(name, &text.as_bytes()[..end]);
            }
        }
    }
}

#[test]
fn sar_with_the_device_last_is_read() {
    let text = "\
12:27:11          tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV
12:27:12        10.00     40.00      0.00      0.00      4.00      0.02      2.00      4.00 sda
12:27:12        40.00      0.00    160.00      0.00      4.00      0.04      1.00      5.00 sdc

12:27:12          tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV
12:27:13        20.00     80.00      0.00      0.00      4.00      0.02      2.00      4.00 sda
12:27:13        60.00      0.00    240.00      0.00      4.00      0.04      1.00      5.00 sdc
";
    let iostat = counters(text);
    assert_eq!(iostat.reports.iter().map(|report| report.seconds).collect::<Vec<_>>(), [Some(1.0); 2]);
    let names = |report: &record::IostatReport| {
        report.devices.iter().map(|device| (device.name.clone(), device.iops())).collect::<Vec<_>>()
    };
    assert_eq!(names(&iostat.reports[1]), [("sda".to_owned(), 20.0), ("sdc".to_owned(), 60.0)]);
    let without_times: String = text.lines().map(|line| format!("{}\n", line.get(8..).unwrap_or_default())).collect();
    let iostat = counters(&without_times);
    assert_eq!((iostat.reports.len(), iostat.reports[0].when.as_deref()), (2, None));
    assert_eq!(names(&iostat.reports[0]), [("sda".to_owned(), 10.0), ("sdc".to_owned(), 40.0)]);
    let averages = text.replace("12:27:11", "Average:").replace("12:27:12 ", "Average: ");
    assert_eq!(names(&counters(&averages[..averages.find("\n\n").unwrap() + 1]).reports[0])[1].1, 40.0);
}

#[test]
fn averages_of_sar_stand_below_times_with_am_and_pm() {
    let text = "\
10:00:00 AM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
10:10:00 AM      dm-0      8.00      0.00     32.00      4.00      0.02      2.00      2.00
Average:         dm-0      8.00      0.00     32.00      4.00      0.02      2.00      2.00
";
    let iostat = counters(text);
    assert_eq!((iostat.reports.len(), iostat.reports[0].devices.len()), (1, 1));
}

/// Where rows were left out, the interval to the next one was taken for as long as all of them.
#[test]
fn averages_of_sar_count_where_rows_between_are_missing() {
    let excerpt = |before: &str, average: &str| {
        format!(
            "05:30:02 AM       DEV       tps     rkB/s     await     %util\n\
             {before} AM      dm-0      8.26      0.00      2.04      2.13\n\
             10:30:16 AM      dm-0      7.06      0.06      9.04     17.34\n\
             Average:         dm-0      {average}      0.04      3.81     15.32\n"
        )
    };
    let within = counters(&excerpt("10:10:10", "7.39"));
    assert_eq!((within.reports.len(), within.reports[0].devices[0].iops()), (1, 7.39));
    assert_eq!(within.reports[0].seconds, Some(5.0 * 3600.0 + 14.0));
    assert!(
        within.notes[0].contains("8.18")
            && within.notes[0].ends_with(
                "the averages are \
                                                                           used"
            ),
        "{:?}",
        within.notes
    );
    let outside = counters(&excerpt("08:00:09", "5.39"));
    assert_eq!((outside.reports.len(), outside.notes.len()), (2, 1));
    assert!(outside.notes[0].ends_with("the rows are used"), "{:?}", outside.notes);
    assert_eq!(counters(&excerpt("08:00:09", "7.66")).notes, Vec::<String>::new());
}

#[test]
fn rows_of_sar_before_a_cut_count() {
    let lines = SAR.lines().take(5).collect::<Vec<_>>().join("\n");
    for cut in [lines.len() - 3, lines.len() - 4, lines.len() - 20, lines.len() - 70] {
        let iostat = counters(&lines[..cut]);
        assert_eq!((iostat.reports[0].devices.len(), iostat.notes.len()), (1, 1), "{:?}", &lines[..cut]);
    }
}

/// Returns the rate of the first device in each part of an input.
fn rates(text: &str) -> Vec<Vec<f64>> {
    let parts = read_inputs("input", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")).parts;
    let rates = |part: record::InputResult| match part.input {
        Input::Iostat(iostat) => iostat.reports.iter().map(|report| report.devices[0].iops()).collect(),
        Input::Run(run) => run.jobs.iter().map(|job| job.result.iops().round()).collect(),
    };
    parts.into_iter().map(rates).collect()
}

const TABLE: &str = "\
Device            r/s     rkB/s r_await rareq-sz  aqu-sz  %util
sda           1000.00   4000.00    1.00     4.00    1.00  90.00
";

#[test]
fn rows_of_one_device_below_one_header_are_intervals() {
    let row = |rate: &str| TABLE.lines().nth(1).unwrap().replace("1000.00", rate);
    let text = format!("{TABLE}{}\n{}\n", row("3000.00"), row("2000.00"));
    assert_eq!(rates(&text), [[1000.0, 3000.0, 2000.0]]);
    let timed = TABLE.replace("sda ", "10:00:01 sda ") + "10:00:11 " + &row("3000.00") + "\nsomething else\n";
    assert_eq!(rates(&timed), [[1000.0, 3000.0]]);
    assert_eq!(counters(&timed).reports[1].seconds, Some(10.0));
    let sar = SAR.replace("10:00:11 AM      dm-0", "10:00:11 AM   nvme0n1");
    assert_eq!(rates(&sar), [[500.0, 500.0, 1000.0]]);
}

#[test]
fn tables_below_titles_are_separate() {
    let second = TABLE.replace("1000.00", "5000.00");
    let separate = [vec![1000.0], vec![5000.0]];
    assert_eq!(rates(&format!("# iodepth=1\n{TABLE}\n# iodepth=32\n{second}")), separate);
    // A log around one series of tables.
    for between in ["", "10:00:11 of a long run\n", "----\n"] {
        assert_eq!(rates(&format!("{between}{TABLE}\n{between}{second}")), [[1000.0, 5000.0]], "{between}");
    }
    let noted = format!("{TABLE}\nstarted\n{TABLE}\nstarted\n{second}");
    assert_eq!(rates(&noted), [[1000.0, 1000.0, 5000.0]]);
    let averages = &SAR[SAR.find("Average").unwrap()..];
    assert_eq!(rates(&format!("before:\n{averages}\nafter the change\n{averages}")), [[750.0], [750.0]]);
    let banner = "Linux 6.1.0 (a) \t02/14/2026 \t_x86_64_\t(8 CPU)\n\n\n";
    let hosts = format!("{banner}{TABLE}\n{}{second}", banner.replace("(a)", "(b)"));
    assert_eq!(rates(&hosts), separate);
}

/// Series of copies below titles were read as one, with an interval from the end of one to the begin of the next.
#[test]
fn series_below_titles_are_separate() {
    let copy = |second: u32, reads: u32| format!("{second}\n8 0 sda {reads} 0 {reads} 10 0 0 0 0 0 0 0\n");
    let one = copy(10, 0) + &copy(11, 100);
    let other = copy(90, 500) + &copy(91, 700);
    assert_eq!(rates(&format!("$ run 1\n{one}$ run 2\n{other}")), [[100.0], [200.0]]);
    let saved = |series: &str| format!("# fathom capture --sample 1s: counters of sda\n# host: vm\n{series}");
    assert_eq!(rates(&(saved(&one) + &saved(&other))), [[100.0], [200.0]]);
    assert_eq!(rates(&format!("before\n{}after\n{}", copy(10, 0), copy(20, 100))), [[10.0]], "one interval");
    let vmstat = |command: &str| format!("$ {command}\n{VMSTAT}{VMSTAT_LATER}");
    assert_eq!(rates(&(vmstat("vmstat -d 5 2") + &vmstat("vmstat -d 10 2"))), [[3000.0], [1500.0]]);
}

/// Counts that fell were taken as no operations at all.
#[test]
fn views_of_pg_stat_io_that_fell_are_of_separate_servers() {
    let view = |reads: u32| {
        format!("backend_type,context,reads,read_time\nclient backend,normal,{reads},{reads}\nchecker,normal,9,9\n")
    };
    let reads = |text: &str| {
        let parts = read_inputs("pg.csv", text.as_bytes()).unwrap().parts;
        let reads = |part: record::InputResult| match part.input {
            Input::Run(run) => (part.line, run.jobs[0].result.read.ios),
            Input::Iostat(_) => panic!("no run"),
        };
        parts.into_iter().map(reads).collect::<Vec<_>>()
    };
    assert_eq!(reads(&(view(100) + "\n" + &view(700))), [(1, 600)]);
    assert_eq!(reads(&(view(700) + "\n" + &view(100))), [(1, 700), (5, 100)]);
    let pair = view(100) + "\n" + &view(700);
    assert_eq!(reads(&format!("first run\n{pair}\nsecond run\n{pair}")), [(2, 600), (11, 600)]);
}

#[test]
fn rows_of_iostat_before_a_cut_count() {
    let text = format!("{TABLE}sdb           5000.00   4000.00    1.00     4.00    1.00  9");
    let iostat = counters(&text);
    assert_eq!(iostat.reports[0].devices.len(), 1);
    assert!(iostat.notes.iter().any(|note| note.contains("the last line is truncated")), "{:?}", iostat.notes);
}

#[test]
fn a_histogram_without_a_sum_has_no_mean() {
    let buckets = "x_fsync_seconds_bucket{le=\"0.1\"} 90\nx_fsync_seconds_bucket{le=\"+Inf\"} 100\n";
    let alone = run("metrics", buckets);
    assert_eq!((figure(&alone, 0, "sync.lat.mean"), figure(&alone, 0, "sync.lat.p50")), (None, Some(55_555_556.0)));
    let summed = run("metrics", &format!("{buckets}x_fsync_seconds_sum 20\n"));
    assert_eq!(figure(&summed, 0, "sync.lat.mean"), Some(2e8));
}

#[test]
fn tables_of_spdk_are_of_a_call_each() {
    let table = |iops: &str| {
        format!(
            "Device Information       :       IOPS      MiB/s    Average   Latency(us) min        max\n\
             PCIE (0000:86:00.0) from core 0:  {iops}     400.00     320.00      19.03    1761.46\n\
             Total                    :  {iops}     400.00     320.00      19.03    1761.46\n"
        )
    };
    let command = |depth: u32| format!("$ ./perf -q {depth} -o 4096 -w randread -t 10\n");
    let text = format!("{}{}{}{}", command(32), table("100000.00"), command(64), table("200000.00"));
    assert_eq!(rates(&text), [[100_000.0], [200_000.0]]);
    let depths = |text: &str| {
        let parts = read_inputs("input", text.as_bytes()).unwrap().parts.into_iter();
        let depth = |part: record::InputResult| match part.input {
            Input::Run(run) => run.jobs[0].declared.in_flight_possible,
            Input::Iostat(_) => None,
        };
        parts.map(depth).collect::<Vec<_>>()
    };
    assert_eq!(depths(&text), [Some(32), Some(64)]);
    assert_eq!(depths(&format!("{}{}{}", command(32), table("100000.00"), table("200000.00"))), [Some(32), None]);
}

#[test]
fn numbers_at_a_cut_do_not_count() {
    let kbench = "FIO Benchmark Summary\nIOPS (Read/Write)\n Random: 28,832 / 5,730\n Sequential: 51,415 / 11";
    let read = run("kbench", kbench);
    assert_eq!((read.jobs.len(), read.notes.iter().any(|note| note.text.contains("no newline"))), (2, true));
    assert_eq!(run("kbench", &format!("{kbench},329\n")).jobs.len(), 4);

    let compared = "FIO Benchmark Summary\nFor: a vs b\nIOPS (Read/Write)\n Random: 28,832 / 5,730 vs 2";
    for end in ["\n", "8,832\n", "8,832 / 5,7\n"] {
        assert_eq!(run("kbench", &format!("{compared}{end}")).jobs.len(), 2, "{end}");
    }
    assert_eq!(run("kbench", &format!("{compared}8,832 / 5,730 : 0.00% / 0.00%\n")).jobs.len(), 4);

    let buckets = "x_fsync_seconds_bucket{le=\"0.1\"} 90\nx_fsync_seconds_bucket{le=\"+Inf\"} 100\n";
    for count in ["x_fsync_seconds_count 10", "x_fsync_seconds_count 10\n", "x_fsync_seconds_count 100\n"] {
        let read = run("metrics", &format!("{buckets}x_fsync_seconds_sum 20\n{count}"));
        assert_eq!(figure(&read, 0, "sync.lat.mean"), Some(2e8), "{count}");
    }
    let excerpt = refused("metrics", &buckets[..buckets.len() - 3]);
    assert!(excerpt.what.contains("+Inf"), "{excerpt}");

    let spdk = "Device Information : IOPS MiB/s Average min max\n\
                a from core 0: 100000.00 400.00 320.00 19.03 1761.46\n\
                b from core 0: 100000.00 400.00 320.00 19.03 1761.46";
    for cut in 1..40 {
        assert_eq!(run("perf", &spdk[..spdk.len() - cut]).jobs.len(), 1, "{cut}");
    }
    assert_eq!(run("perf", spdk).jobs.len(), 2);
}

#[test]
fn devices_on_disks_do_not_count_twice_in_counters_since_boot() {
    let text = format!("{VMSTAT}sda1    1000      0    8000    2000      0      0       0       0      0      2\n");
    let read = run("vmstat.txt", &text.replace("sda1", "dm-0"));
    assert_eq!(read.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["sda"]);
    assert!(read.notes.iter().any(|note| note.text.ends_with("dm-0")), "{:?}", read.notes);
    assert_eq!(run("vmstat.txt", &text.replace("sda1", "sdb")).jobs.len(), 2);
}

#[test]
fn tables_that_mails_wrap_are_read() {
    let wrapped = TABLE.replace("r_await", "\nr_await").replace("    1.00     4.00", "\n1.00     4.00");
    let text = format!("avg-cpu:  %user   %nice    %sys %iowait   %idle\n 10.00 0.00 5.00 0.05 84.95\n\n{wrapped}\n");
    let iostat = counters(&text);
    let (read, plain) = (&iostat.reports[0].devices[0], &counters(TABLE).reports[0].devices[0]);
    assert_eq!((read.read, read.util), (plain.read, plain.util));
    assert_eq!(iostat.reports[0].cpu.map(|cpu| (cpu.system, cpu.steal)), Some((0.05, 0.0)));
    let encoded = TABLE.replace("areq-sz", "areq=\n-sz").replace(" 1000.00", " 100=\n0.00");
    assert_eq!(rates(&encoded), [[1000.0]]);
}

#[test]
fn pg_stat_io_in_a_comment_keeps_its_first_column() {
    let view = "\
--   backend_type  | object   | context | reads | read_time\n\
-- ----------------+----------+---------+-------+----------\n\
--  client backend | relation | normal  |    10 |       50\n";
    let names = |text: &str| run("view.sql", text).jobs.into_iter().map(|job| job.name).collect::<Vec<_>>();
    assert_eq!(names(view), ["client backend, relation, normal"]);
    assert_eq!(names(&view.replace("--", "")), names(view));
}

#[test]
fn summaries_of_kbench_are_of_a_call_each_and_stand_beside_runs_of_fio() {
    let summary = |iops: &str| format!("FIO Benchmark Summary\nFor: a\nIOPS (Read/Write)\n Random: {iops} / 5,730\n");
    let two = format!("{}\n{}", summary("28,832"), summary("1,000"));
    assert_eq!(rates(&two), [[28_832.0, 5730.0], [1000.0, 5730.0]]);
    let fio = "{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"a\", \"read\": {\"total_ios\": 1000, \
               \"runtime\": 1000, \"iops\": 1000.0}}]}\n";
    assert_eq!(rates(&format!("{}{fio}", summary("28,832"))), [vec![28_832.0, 5730.0], vec![1000.0]]);
    assert_eq!(rates(&format!("{fio}\n{TABLE}")), [[1000.0]], "a device under the load of fio");
}

#[test]
fn tables_that_cannot_be_read_are_refused_by_their_name() {
    for (text, what) in [
        ("$ vmstat -D\n  3 disks\n  173461 total reads\n", "vmstat -D"),
        ("--procs-- ---memory---\n r b swpd free\n 1 0 0 9 9 9 0 0 10 10 1 1 1 1 1 0 0\n", "`vmstat`"),
        ("      capacity     operations     bandwidth\npool  alloc free read write read write\n", "zpool iostat"),
        ("On Thu, Mar 31, 2022 at 11:22, Michael wrote:\n> a\n", "neither fio output"),
        ("a,b,c\n1,2,3\n", "CSV"),
        ("disk- ---reads---\n total\nsda 0 0 0 0 0 0 0 0 0 0\n", "no device had a request"),
        ("node_disk_read_bytes_total{device=\"sda\"} 3.1e+08\n", "request count"),
        ("[2023-11-20 23:29:08.711158] Starting\n", "neither fio output"),
    ] {
        let error = refused("input", text);
        assert!(error.what.contains(what), "{text}: {error}");
    }
}

/// One idle server made the others unreadable.
#[test]
fn an_idle_view_of_pg_stat_io_is_left_out() {
    let view = |reads: u32| format!("backend_type,context,reads,read_time\nclient backend,normal,{reads},{reads}\n");
    let text = format!("server one\n{}\nserver two\n{}\nserver three\n{}", view(900), view(0), view(40));
    let inputs = read_inputs("input", text.as_bytes()).unwrap();
    assert_eq!((inputs.parts.len(), inputs.unreadable.len()), (2, 0));
    assert!(refused("input", &view(0)).what.contains("no row of `pg_stat_io`"));
}

const BDEVS: &str = r#"{
  "tick_rate": 2000000000,
  "ticks": 10000000000,
  "bdevs": [
    {"name": "Nvme0n1", "bytes_read": 4096000, "num_read_ops": 1000, "bytes_written": 0, "num_write_ops": 0,
     "read_latency_ticks": 200000000, "write_latency_ticks": 0, "queue_depth": 0},
    {"name": "Malloc0", "bytes_read": 0, "num_read_ops": 0}
  ]
}
"#;

#[test]
fn counters_of_spdk_are_read() {
    let once = run("bdevs.json", BDEVS);
    assert_eq!((once.jobs.len(), once.jobs[0].name.as_str()), (1, "Nvme0n1"));
    assert_eq!((figure(&once, 0, "read.iops"), figure(&once, 0, "read.lat.mean")), (None, Some(100_000.0)));
    let later = BDEVS.replace("10000000000", "30000000000").replace("1000,", "3000,").replace("4096000", "12288000");
    let later = later.replace("200000000,", "800000000,");
    let answer = format!("{{\n\"jsonrpc\": \"2.0\",\n\"result\": {later}\n}}\n");
    for text in [format!("{BDEVS}{later}"), format!("{BDEVS}{answer}")] {
        let both = run("bdevs.json", &text);
        assert_eq!((figure(&both, 0, "read.iops"), figure(&both, 0, "read.lat.mean")), (Some(200.0), Some(150_000.0)));
        assert_eq!(figure(&both, 0, "read.bw"), Some(819_200.0));
    }
}

#[test]
fn rows_of_pgstat_are_intervals_after_the_first() {
    let head = "----- timestamp ----- reads read_time writes write_time op_bytes fsyncs fsync_time\n";
    let rows =
        "2026-03-29 20:38:43 900000 90000.00 7 7.00 8192 9 9.00\n2026-03-29 20:38:45 4000 8.00 0 0.00 8192 2 5.00\n";
    let both = run("pgstat.txt", &format!("{head}{rows}"));
    assert_eq!((figure(&both, 0, "read.iops"), figure(&both, 0, "read.lat.mean")), (Some(2000.0), Some(2_000.0)));
    assert_eq!(figure(&both, 0, "sync.lat.mean"), Some(2_500_000.0));
    let first = run("pgstat.txt", &format!("{head}{}\n", rows.lines().next().unwrap()));
    assert_eq!((figure(&first, 0, "read.iops"), figure(&first, 0, "read.lat.mean")), (None, Some(100_000.0)));
}

#[test]
fn results_of_kubestr_have_rates_and_depths() {
    let text = "JobName: read_iops\n  blocksize=4K filesize=2G iodepth=64 rw=randread\nread:\n  \
                IOPS=146.500000 BW(KiB/s)=586\n  iops: min=3 max=4 avg=3.5\n\nJobName: write_bw\n  \
                blocksize=128K filesize=2G iodepth=64 rw=randwrite\nwrite:\n  IOPS=20.000000 BW(KiB/s)=2560\n";
    let run = run("kubestr.txt", text);
    assert_eq!((run.jobs.len(), run.jobs[1].name.as_str()), (2, "write_bw"));
    assert_eq!((figure(&run, 0, "read.iops"), run.jobs[0].declared.in_flight_asked), (Some(146.5), Some(64)));
    assert_eq!(figure(&run, 1, "write.bw"), Some(2560.0 * 1024.0));
    assert_eq!(run.jobs[1].declared.block_sizes.write.min, 128 * 1024);
}

#[test]
fn other_programs_are_refused_by_their_names() {
    for (text, name) in [
        ("                        extended device statistics\ndevice r/s w/s kr/s kw/s\n", "FreeBSD"),
        ("  disk0\n    KB/t  tps  MB/s\n   21.10   35  0.72\n", "macOS"),
        ("----total-cpu-usage---- -dsk/total-\nusr sys idl\n", "dstat"),
        ("fio Disk Speed Tests (Mixed R/W 50/50):\nBlock Size | 4k (IOPS)\n", "YABS"),
        ("    fsyncs/s: 3225.90\n", "sysbench"),
        ("# hostname;interval;timestamp;DEV;tps\n", "sadf"),
        ("# HELP go_goroutines Number\ngo_goroutines 7\n", "Prometheus"),
        ("relid | heap_blks_read | heap_blks_hit\n1 | 2 | 3\n", "PostgreSQL"),
    ] {
        let error = refused("input", text);
        assert!(error.what.contains(name) && error.help.is_some(), "{text}: {error}");
    }
}

#[test]
fn summaries_of_dbench_are_read_without_the_runs_above() {
    let text = "= Dbench Summary =\n==================\nRandom Read/Write IOPS: 29.3k/7500. BW: 1139MiB/s / 281MiB/s\nAverage \
                Latency (usec) Read/Write: 812.26/2712.31\nSequential Read/Write: 1201MiB/s / 1139MiB/s\nMixed Random \
                Read/Write IOPS: 20.1k/6710\n";
    let run = run("dbench.txt", text);
    let names: Vec<&str> = run.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!((names.len(), names[1], names[9]), (10, "random write iops", "mixed random write iops"));
    assert_eq!((figure(&run, 0, "read.iops"), figure(&run, 1, "write.iops")), (Some(29_300.0), Some(7_500.0)));
    assert_eq!(figure(&run, 3, "write.bw"), Some(281.0 * 1_048_576.0));
    assert_eq!(figure(&run, 4, "read.lat.mean"), Some(812_260.0));
}

/// Logs of test programs in Python print the document with single quotes.
#[test]
fn fio_documents_printed_by_python_are_read() {
    let text = "22:44:28 - root - INFO - {'fio version': 'fio-3.7', 'jobs': [{'jobname': 'a', 'error': 0, 'read': \
                {'io_bytes': 4096000, 'io_kbytes': 4000, 'bw': 400, 'iops': 100.0, 'runtime': 10000, 'total_ios': \
                1000}}]}\n22:44:28 - root - INFO - done\n";
    assert_eq!(figure(&run("test.log", text), 0, "read.iops"), Some(100.0));
}

/// A view without the columns of times was said to be of a server that does not measure them.
#[test]
fn columns_that_were_not_selected_are_not_said_to_be_off() {
    let view = "backend_type,context,reads,writes\nclient backend,normal,64,1860\n";
    let notes = run("pg.csv", view).notes;
    let has = |text: &str| notes.iter().any(|note| note.text.contains(text));
    assert!(has("`read_time` and `write_time` are not among the columns") && !has("was off"), "{notes:?}");
}

/// A histogram without its last line was left out, even if its last class had hardly any values.
#[test]
fn a_histogram_without_its_last_line_counts_if_its_last_class_is_almost_empty() {
    let bucket = |le: &str, count: u64| format!("etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"{le}\"}} {count}\n");
    let text =
        bucket("0.064", 99_000) + &bucket("0.128", 99_980) + &bucket("0.256", 99_999) + &bucket("0.512", 100_000);
    let read = run("etcd.prom", &text);
    let sync = &read.jobs[0].result.sync;
    assert_eq!((sync.percentile_ns(50.0), sync.percentile_ns(99.9).map(|ns| ns / 1_000_000)), (None, Some(122)));
    assert!(read.notes.iter().any(|note| note.text.contains("its p99 is at most 64.0 ms")), "{:?}", read.notes);
    let refused = refused("etcd.prom", &(bucket("0.001", 10_000) + &bucket("0.002", 60_000)));
    assert!(refused.what.contains("+Inf"), "{refused}");
}

/// Results of fio without their first lines were lost beside a table of its device.
#[test]
fn results_of_fio_without_their_header_precede_the_counters_of_its_device() {
    let fio = "  write: IOPS=3535, BW=13.8MiB/s (14.5MB/s)(829MiB/60005msec); 0 zone resets\n\
               \x20    lat (usec): min=569, max=193220, avg=4524.55, stdev=11409.00\n";
    let table = "\nDevice r/s w/s rkB/s wkB/s await aqu-sz %util\nsdb 0.00 3560.00 0.00 14240.00 4.53 16.14 101.60\n\n";
    for text in [format!("{fio}{table}"), format!("{table}{fio}")] {
        let run = run("page.md", &text);
        assert!((run.jobs[0].result.iops() / 3535.0 - 1.0).abs() < 0.01, "{run:?}");
    }
}

const SAR_CUT: &str = "Linux 6.12.46 (h) \t10/31/25 \t_x86_64_\t(2 CPU)\n
21:15:28          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
21:15:29      nvme0n1     22.00      0.00    244.00      0.00     11.09      0.02      0.91      2.00
21:15:29      nvme1n1   1059.00      0.00 262688.00      0.00    248.05     16.35     15.44    100.00

21:15:29          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
21:15:30      nvme0n1     20.00      0.00    224.00      0.00     11.20      0.02      0.95      2.00
21:15:30      nvme1n1   1022.00      0.00 2546";

/// The device whose row was cut off counted as idle in that interval, so that it had half its rate.
#[test]
fn an_interval_of_sar_that_is_cut_within_a_row_is_left_out() {
    let iostat = counters(SAR_CUT);
    assert_eq!(iostat.reports.len(), 1);
    assert!(iostat.notes.iter().any(|note| note.contains("truncated within a row")), "{:?}", iostat.notes);
    // Where idle devices have rows, one without a row is not taken for idle, and the others count.
    let with_idle = SAR_CUT.replace(
        "     22.00      0.00    244.00      0.00     11.09      0.02      0.91      2.00",
        "      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00",
    );
    assert_eq!(counters(&with_idle).reports.len(), 2);
}

/// Refused, although only the last of several rows that a mail wrapped was cut off.
#[test]
fn a_wrapped_row_of_sar_that_is_cut_off_is_left_out() {
    let text = "00:00:01          DEV       tps     rkB/s     wkB/s   areq-sz\naqu-sz     await     svctm     %util\n\
                00:05:01       dev7-0      1.74      0.92      6.02      4.00\n0.29    184.17     28.01      4.86\n\
                00:15:01       dev7-0      4.77      3.35     15.74      4.00\n128.00      0\n";
    assert_eq!(counters(text).reports.len(), 1);
}

/// Only the averages since boot were read, and the interval of the other program was lost without a word.
#[test]
fn intervals_count_more_than_averages_since_boot_and_what_is_unused_is_named() {
    let iostat = "$ iostat -x -d 1\nLinux 3.10.0 (h)  01/15/2021  _x86_64_  (4 CPU)\n\nDevice:         rrqm/s   wrqm/s     \
                  r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util\nsda               \
                  0.00     0.09    0.07   13.91     6.83    81.26    12.61     0.01    0.93   11.40    0.88   0.38   0.53\n";
    let sar = "05:44:20 AM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util\n05:44:21 \
               AM       sda    863.00  47048.00      0.00     54.52      2.86      3.33      0.16     14.20\n";
    let read = counters(&format!("{iostat}\n$ sar -dp 1\n{sar}"));
    assert_eq!((read.format, read.reports[0].devices[0].iops()), (CounterFormat::Sar, 863.0));
    assert!(read.notes.iter().any(|note| note.contains("figures of iostat")), "{:?}", read.notes);
    assert!(counters(sar).notes.is_empty());
}

/// Intervals were taken for a second each, although totals and rates tell how long they were.
#[test]
fn totals_and_rates_tell_the_length_of_intervals() {
    let head = "Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n";
    let rows = "mmcblk1          95.15      3558.20      4072.60      71164      81452\n\
                mmcblk1         187.70        67.40      7887.80       1348     157756\n";
    let lengths = |text: &str| counters(text).reports.iter().map(|report| report.seconds).collect::<Vec<_>>();
    assert_eq!(lengths(&format!("{head}{rows}")), [Some(20.0), Some(20.0)]);
    // Of too few requests nothing follows.
    let few = "mmcblk1           0.45         0.20         2.20          4         44\n";
    assert_eq!(lengths(&format!("{head}{rows}{few}")), [Some(20.0); 3]);
    assert_eq!(lengths(&format!("{head}mmcblk1  0.05  0.05  0.00  1  0\n")), [None]);
    // The first one is since boot.
    let boot = "mmcblk1         214.00     10296.19        69.67     132409000        896000\n";
    let iostat = counters(&format!("{head}{boot}{rows}"));
    assert_eq!((iostat.reports[0].since_boot, iostat.intervals().count()), (true, 2));
}

/// The mean of the reads was shown as that of all requests.
#[test]
fn times_that_a_scrape_leaves_out_follow_from_those_of_all_requests() {
    let metric = |name: &str, value: &str| format!("node_disk_{name}{{device=\"sda\"}} {value}\n");
    let scrape = metric("read_time_seconds_total", "10.128")
        + &metric("reads_completed_total", "7567")
        + &metric("writes_completed_total", "7851");
    let alone = run("metrics", &scrape);
    assert_eq!(alone.jobs[0].result.service_mean_ns(), None);
    assert!(alone.notes.iter().any(|note| note.text.contains("its writes have no times")));
    let all = run("metrics", &(scrape + &metric("io_time_weighted_seconds_total", "17.712")));
    assert_eq!(all.jobs[0].result.service_mean_ns().map(|ns| (ns / 1e4).round()), Some(115.0));
}

/// They were left out without a word.
#[test]
fn rows_above_the_names_of_their_columns_are_named() {
    let head = "Device            r/s     rkB/s     w/s     wkB/s  r_await w_await  aqu-sz  %util\n";
    let row = "sda              1.00      4.00    2.00      8.00     1.00    1.00    0.00   0.10\n";
    let notes = counters(&format!("{row}\n{head}{row}\n{head}{row}")).notes;
    assert!(notes.iter().any(|note| note.contains("above the first column header")), "{notes:?}");
}
