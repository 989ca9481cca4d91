//! Results of other benchmarks of storage.

use record::{Run, read_input};

use crate::inputs::run;

/// Returns names, IOPS of reads and writes, mean latency in microseconds, and operations that may be in flight.
fn results(run: &Run) -> Vec<(&str, [u64; 2], u64, Option<u64>)> {
    let result = |job: &'_ record::JobResult| {
        let iops = [job.result.read.iops(), job.result.write.iops()].map(|iops| iops.round() as u64);
        let mean = job.result.service_mean_ns().unwrap_or(0.0) / 1e3;
        (iops, mean.round() as u64, job.declared.in_flight_possible)
    };
    run.jobs
        .iter()
        .map(|job| {
            let (iops, mean, in_flight) = result(job);
            (job.name.as_str(), iops, mean, in_flight)
        })
        .collect()
}

/// Returns the mean time of a sync of each job in microseconds.
fn syncs(run: &Run) -> Vec<(&str, u64)> {
    run.jobs.iter().map(|job| (job.name.as_str(), (job.result.sync.mean_ns / 1e3).round() as u64)).collect()
}

#[track_caller]
fn refused(text: &str) -> String {
    read_input("input", text.as_bytes(), None).unwrap_err().what
}

fn has_note(run: &Run, words: &str) -> bool {
    run.notes.iter().any(|note| note.text.contains(words))
}

const IOPING: &str = "\
4 KiB <<< /srv (ext4 /dev/sdq1 9.1 GiB): request=1 time=301.2 us (warmup)
4 KiB <<< /srv (ext4 /dev/sdq1 9.1 GiB): request=2 time=250.0 us

--- /srv (ext4 /dev/sdq1 9.1 GiB) ioping statistics ---
9 requests completed in 2.25 ms, 36 KiB read, 4 k iops, 15.6 MiB/s
generated 10 requests in 9.00 s, 40 KiB, 1 iops, 4.44 KiB/s
min/avg/max/mdev = 200.5 us / 250.0 us / 301.2 us / 31.0 us
";

#[test]
fn ioping_makes_one_request_at_a_time() {
    let read = run(IOPING);
    assert_eq!(results(&read), [("/srv (ext4 /dev/sdq1 9.1 GiB)", [4000, 0], 250, Some(1))]);
    assert!(has_note(&read, "paused between requests"), "{:?}", read.notes);
    assert_eq!(read.jobs[0].result.read.latency.max_ns, 301_200);
    let written = run(&IOPING.replace("read,", "written,").replace("1 iops", "3.9 k iops"));
    assert_eq!(results(&written)[0].1, [0, 4000]);
    assert!(!has_note(&written, "paused"));
    let old = "--- /dev/sdq (device 9.1 GiB) ioping statistics ---\n50 requests completed in 3000.0 ms, 125 iops, \
               0.5 MiB/s\nmin/avg/max/mdev = 6.4/8.0/26.8/4.7 ms\n";
    assert_eq!(results(&run(old)), [("/dev/sdq (device 9.1 GiB)", [125, 0], 8000, Some(1))]);
    let nench = "    ioping: seek rate\n    min/avg/max/mdev = 90.0 us / 200.0 us / 3.71 ms / 57.3 us\n    ioping: \
                 sequential read speed\n    generated 4.02 k requests in 5.00 s, 1005.5 MiB, 800 iops, 200.0 MiB/s\n";
    let read = run(nench);
    let expected = [("seek rate", [5000, 0], 200, Some(1)), ("sequential read speed", [800, 0], 1250, Some(1))];
    assert_eq!(results(&read), expected);
    assert!(refused("rtt min/avg/max/mdev = 0.031/0.040/0.051/0.006 ms\n").contains("neither"));
}

const PG_TEST_FSYNC: &str = "\
5 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                       800.000 ops/sec    1250 usecs/op
        fdatasync                          1000.000 ops/sec    1000 usecs/op
        fsync_writethrough                              n/a

Compare file sync methods using two 8kB writes:
        fdatasync                           500.000 ops/sec    2000 usecs/op

Non-sync'ed 8kB writes:
        write                            700000.000 ops/sec       1 usecs/op
";

#[test]
fn pg_test_fsync_and_pveperf_time_syncs() {
    let read = run(PG_TEST_FSYNC);
    assert_eq!(syncs(&read), [("open_datasync", 1250), ("fdatasync", 1000)]);
    assert_eq!((read.jobs[0].result.ios(), read.jobs[0].declared.in_flight_possible), (0, Some(1)));
    let old = PG_TEST_FSYNC.replace("1000 usecs/op", "").replace("1250 usecs/op", "");
    assert_eq!(syncs(&run(&old)), syncs(&read));
    assert_eq!(syncs(&run("HD SIZE:  64.27 GB (pve)\nFSYNCS/SECOND:     800.00\n")), [("pveperf", 1250)]);
}

const SYSBENCH: &str = "\
Number of threads: 16
Extra file open flags: directio
Block size 16KiB
Using synchronous I/O mode
Doing random r/w test
File operations:
    reads/s:                      600.00
    writes/s:                     400.00
    fsyncs/s:                     0.00
Throughput:
    read, MiB/s:                  9.38
    written, MiB/s:               6.25
General statistics:
    total time:                          10.0000s
    total number of events:              10000
Latency (ms):
         min:                                    0.50
         avg:                                   15.00
         max:                                  340.58
         95th percentile:                       92.42
";

#[test]
fn latencies_of_sysbench_are_of_all_its_operations() {
    let read = run(SYSBENCH);
    assert_eq!(results(&read), [("randrw, 16 KiB, 16 workers", [600, 400], 15_000, Some(16))]);
    assert_eq!(read.jobs[0].declared.known_direct(), Some(true));
    assert_eq!(read.jobs[0].result.read.service.percentile_ns(95.0), Some(92_420_000));
    assert!((read.jobs[0].result.in_flight().unwrap() - 15.0).abs() < 0.01);
    let synced =
        run(&SYSBENCH.replace("fsyncs/s:                     0.00", "fsyncs/s:  1000.0").replace("10000\n", "20000\n"));
    assert_eq!(results(&synced)[0].2, 0, "no latency of reads and writes alone");
    assert!(has_note(&synced, "15.000 ms covers reads, writes and syncs, 2000 per second or 30.00 in"));
    let excerpt = run(&SYSBENCH[SYSBENCH.find("File").unwrap()..]);
    assert_eq!(excerpt.jobs[0].declared.in_flight_possible, None, "the number of threads is not known");
    let old = "Number of threads: 4\nBlock size 16Kb\nUsing synchronous I/O mode\nDoing random read test\nOperations \
               performed:  5000 Read, 0 Write, 0 Other = 5000 Total\n  500.00 Requests/sec executed\n    total time:  \
               10.0000s\n         min:  0.01ms\n         avg:   8.00ms\n         max:   1105.16ms\n         approx.  95 \
               percentile:  18.46ms\n";
    assert_eq!(results(&run(old)), [("randread, 16 KiB, 4 workers", [500, 0], 8000, Some(4))]);
    let database = "Number of threads: 8\nSQL statistics:\n    queries performed:\n        read:  9\nLatency (ms):\n  avg:  0.25\n";
    assert!(refused(database).contains("`sysbench` database test"));
}

const DISKSPD: &str = "\
Command Line: diskspd.exe -b8K -r -t2 -o4 -w50 -Sh -L io.dat
actual test time:       10.00s
thread count:           2
Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |        81920000 |        10000 |       7.81 |    1000.00 |    4.000 |     0.086 | io.dat (10MiB)
total:         163840000 |        20000 |      15.63 |    2000.00 |    4.000 |     0.086

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:         122880000 |        15000 |      11.72 |    1500.00 |    3.000 |     0.086

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:          40960000 |         5000 |       3.91 |     500.00 |    7.000 |     0.086

total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
----------------------------------------------
    min |      0.036 |      1.209 |      0.036
   50th |      2.800 |      6.900 |      3.000
3-nines |      9.100 |        N/A |      9.100
    max |     17.990 |     35.257 |     35.257
";

#[test]
fn diskspd_has_reads_and_writes_of_one_job() {
    let read = run(DISKSPD);
    assert_eq!(results(&read), [("randrw, 8 KiB, depth 4, 2 workers", [1500, 500], 4000, Some(8))]);
    let [reads, writes] = [&read.jobs[0].result.read, &read.jobs[0].result.write];
    assert_eq!((reads.latency.mean_ns, writes.latency.mean_ns), (3e6, 7e6));
    assert_eq!(
        (reads.service.percentile_ns(99.9), writes.service.percentile_ns(50.0)),
        (Some(9_100_000), Some(6_900_000))
    );
    assert_eq!((writes.latency.max_ns, read.jobs[0].declared.known_direct()), (35_257_000, Some(true)));
    let unmeasured = DISKSPD.replace("  AvgLat  | LatStdDev |", " IopsStdDev |").replace(" |     0.086\n", "\n");
    assert_eq!(results(&run(&unmeasured))[0].2, 0, "the deviation of IOPS is no latency");
    let read_table = &DISKSPD[DISKSPD.find("Read IO").unwrap()..DISKSPD.find("Write IO").unwrap()];
    let two = format!("D:\n{read_table}SMB:\n{}", read_table.replace("1500.00", "1200.00"));
    assert_eq!(results(&run(&two)).iter().map(|result| result.1).collect::<Vec<_>>(), [[1500, 0], [1200, 0]]);
    let prompt = format!("C:\\> .\\DiskSpd.exe -d10 -w0 -si -o32 -b64K -Rtext -L x.dat\nthread count: 1\n{read_table}");
    let of_prompt = run(&prompt);
    assert_eq!((of_prompt.jobs[0].declared.in_flight_possible, of_prompt.jobs[0].declared.rw.as_str()), (Some(32), ""));
}

#[test]
fn rows_of_crystaldiskmark_have_queues_and_threads() {
    let rows = "[Read]\n  SEQ    1MiB (Q=  8, T= 1):  1048.576 MB/s [   1000.0 IOPS] <  7500.00 us>\n  RND    4KiB (Q= 32, \
                T=16):   409.600 MB/s [ 100000.0 IOPS] <  5000.00 us>\n[Write]\n  RND    4KiB (Q=  1, T= 1):    40.960 \
                MB/s [  10000.0 IOPS] <   100.00 us>\n[Mix] Read 70%/Write 30%\n  RND    4KiB (Q=  1, T= 1):    40.960 \
                MB/s [  10000.0 IOPS] <   100.00 us>\n";
    let expected = [
        ("read, 1 MiB, depth 8", [1000, 0], 7500, Some(8)),
        ("randread, 4 KiB, depth 32, 16 workers", [100_000, 0], 5000, Some(512)),
        ("randwrite, 4 KiB", [0, 10_000], 100, Some(1)),
        ("randrw, 4 KiB", [7000, 3000], 100, Some(1)),
    ];
    assert_eq!(results(&run(rows)), expected);
    let old =
        run("   Sequential Read (Q= 32,T= 1) :   500.000 MB/s\n  Random Write 4KiB (Q= 32,T= 1) :   409.600 MB/s \
                   [100000.0 IOPS]\n");
    assert_eq!(results(&old)[1], ("randwrite, 4 KiB, depth 32", [0, 100_000], 0, Some(32)));
    assert!(old.jobs[1].declared.keeps_queue_full);
    assert_eq!(old.jobs[0].result.read.bytes_per_second().round(), 500e6);
}

#[test]
fn yabs_has_a_result_for_each_size_at_a_known_depth() {
    let table = "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vdq1):\n\
                 Block Size | 4k            (IOPS) | 64k           (IOPS)\n\
                 \x20 ------   | ---            ----  | ----           ----\n\
                 Read       | 40.96 MB/s   (10.0k) | 1.02 GB/s    (16.0k)\n\
                 Write      | 40.96 MB/s   (10.1k) | 1.02 GB/s      (900)\n\
                 Total      | 81.92 MB/s   (20.1k) | 2.04 GB/s    (16.9k)\n";
    let read = run(table);
    let names: Vec<_> = results(&read).iter().map(|(name, iops, ..)| (*name, *iops)).collect();
    let at = |size: &'static str, iops| (size, iops);
    let expected = [
        at("randrw, 4 KiB, depth 64, 2 workers", [10_000, 10_100]),
        at("randrw, 64 KiB, depth 64, 2 workers", [16_000, 900]),
    ];
    assert_eq!(names, expected);
    assert_eq!((read.jobs[0].declared.in_flight_possible, read.jobs[0].group != read.jobs[1].group), (Some(128), true));
    assert_eq!(read.jobs[0].result.read.bytes_per_second().round(), 10_000.0 * 4096.0);
}

/// Rates were those of IOPS that are printed with two digits, and megabytes those of other programs.
#[test]
fn yabs_has_the_rates_of_its_bytes_where_iops_are_rounded() {
    let read = run("Block Size | 512k          (IOPS) | 1m            (IOPS)\n\
                    Read       | 618.86 MB/s   (1.2k) | 593.61 MB/s    (579)\n\
                    Write      | 651.74 MB/s   (1.2k) | 633.14 MB/s    (618)\n\
                    Total      | 1.27 GB/s     (2.4k) | 1.22 GB/s     (1.1k)\n");
    assert_eq!(results(&read)[0].1, [1209, 1273]);
    let bytes = read.jobs[0].result.read.bytes_per_second() + read.jobs[0].result.write.bytes_per_second();
    assert_eq!((bytes / 1.024e6).round(), 1271.0);
}

/// Rates of bytes were those of one digit, and only a mean was said to be known.
#[test]
fn ioping_has_requests_of_whole_sizes_and_a_slowest_one() {
    let read =
        run("--- /dev/sda (device 465.8 GiB) ioping statistics ---\n186 requests completed in 3004.6 ms, 62 iops, \
                    0.2 MiB/s\nmin/avg/max/mdev = 6.4/16.0/26.8/4.7 ms\n");
    let of_reads = &read.jobs[0].result.read;
    assert_eq!((of_reads.bytes_per_second().round(), read.jobs[0].declared.block_sizes.read.max), (253_952.0, 4096));
    assert_eq!((of_reads.latency.max_ns, of_reads.latency.stddev_ns), (26_800_000, 4.7e6));
    assert!(has_note(&read, "the slowest took 26.8 ms"), "{:?}", read.notes);
    let large = run("--- /dev/sda ioping statistics ---\n837 requests completed in 3004.1 ms, 292 iops, 72.9 MiB/s\n\
                     min/avg/max/mdev = 2.0/3.4/28.9/2.0 ms\n");
    assert_eq!(large.jobs[0].declared.block_sizes.read.max, 262_144);
}

/// A gigabyte in 53 s was a sync of 53 s, and its rate was lost.
#[test]
fn large_synced_writes_of_dd_have_the_rate_of_their_bytes() {
    let text = "# dd if=/dev/zero of=x bs=1G count=1 oflag=dsync\n1+0 records in\n1+0 records out\n1073741824 bytes (1.1 GB) \
                copied, 53.4011 s, 20.1 MB/s\n";
    let write = &run(text).jobs[0].result.write;
    assert_eq!((write.bytes_per_second() / 1e5).round(), 201.0);
    assert!(syncs(&run(text)).iter().all(|(_, us)| *us == 0));
}

#[test]
fn dd_counts_with_the_command_that_made_it() {
    let result = |count: u32| {
        format!("{0}+0 records in\n{0}+0 records out\n{1} bytes (1 MB) copied, 2.0 s, 1 MB/s\n", count, count * 4096)
    };
    let synced = format!("$ dd if=/dev/zero of=x bs=4k count=1000 oflag=dsync\n{}", result(1000));
    assert_eq!(syncs(&run(&synced)), [("writes 4k oflag=dsync", 2000)]);
    let direct = run(&format!("# dd if=/dev/sdq of=/dev/null bs=4k iflag=direct\n{}", result(1000)));
    assert_eq!(results(&direct), [("reads 4k iflag=direct", [500, 0], 2000, Some(1))]);
    let cached = format!("dd if=/dev/zero of=x bs=4k\n{}", result(1000));
    let unclear = format!("dd if=/dev/zero of=x bs=4k oflag=dsync\ndd if=/dev/zero of=y bs=1M\n{}", result(1000));
    for text in [&cached, &unclear, &result(1000)] {
        assert!(refused(text).contains("`dd`"), "{text}");
    }
    let both = run(&format!("{synced}{cached}"));
    assert_eq!(both.jobs.len(), 1);
    assert!(has_note(&both, "ignored: 1 dd result without `direct`"), "{:?}", both.notes);
}

#[test]
fn benchmarks_of_clusters_and_images_are_read() {
    let rados = "Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds\nTotal \
                 time run:         10.0\nTotal writes made:      2000\nWrite size:  4194304\nBandwidth (MB/sec):  800\n\
                 Average IOPS:   200\nAverage Latency(s):     0.08\nMax latency(s):  0.22\nMin latency(s):  0.01\n";
    assert_eq!(results(&run(rados)), [("writes, 4 MiB, depth 16", [0, 200], 80_000, Some(16))]);
    let old = "Total writes made:      1000\nWrite size:  4194304\nBandwidth (MB/sec):  400\nAverage Latency:  0.16\n";
    assert_eq!(results(&run(old)), [("writes, 4 MiB", [0, 100], 160_000, None)]);
    assert!(
        refused("Compare file sync methods using one 8kB write:\n  fsync  9.7 ops/\nsec   146 usecs/op\n")
            .contains("pg_test")
    );
    let rbd = "bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern random\n  SEC       OPS\n\
               elapsed: 33   ops: 262144   ops/sec: 8000.00   bytes/sec: 31 MiB/s\n";
    assert_eq!(results(&run(rbd)), [("randwrite, 4 KiB, depth 16", [0, 8000], 0, Some(16))]);
    let qemu = "Sending 75000 read requests, 4096 bytes each, 64 in parallel (starting at offset 0, step size 4096)\nRun \
                completed in 3.000 seconds.\n";
    assert_eq!(results(&run(qemu)), [("reads, 4 KiB, depth 64", [25_000, 0], 0, Some(64))]);
    let vdbench = "10:00:01.001 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None\nJan 24, 2025    interval    i/o   \
                   MB/sec   bytes   read     resp     read    write     read\n   rate  1024**2     i/o    pct     time\n\
                   10:00:06.020     avg_2-5    20000.0   156.25    8192  75.00    1.500    1.500    1.500\n";
    assert_eq!(results(&run(vdbench)), [("rd1", [15_000, 5000], 1500, None)]);
    let elbencho = "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\nWRITE       Elapsed time     :    2m3.241s    \
                    2m5.755s\n            IOPS             :       33395       32000\n            Throughput MiB/s :       \
                    33395       32000\n            IO latency       : [ min=108us avg=3.00ms max=14.5ms ]\n";
    assert_eq!(results(&run(elbencho)), [("writes", [0, 32_000], 3000, None)]);
    let ior = "tasks               : 10\nxfersize            : 1 MiB\nordering in a file  : sequential\naccess    \
               bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
               write     678.00     678.00     0.118931    16384      1024.00    0.770489   3.78       3.59       3.78  0\n\
               remove    -          -          -           -          -          -          -          -          3.20  0\n";
    assert_eq!(results(&run(ior)), [("write, 1 MiB, 10 workers", [0, 678], 0, Some(10))]);
}

#[test]
fn cut_results_of_benchmarks_have_no_wrong_figure() {
    for text in [IOPING, PG_TEST_FSYNC, SYSBENCH, DISKSPD] {
        let whole = run(text);
        for end in 0..text.len() {
            let Ok(record::Input::Run(part)) = read_input("input", &text.as_bytes()[..end], None) else { continue };
            for job in &part.jobs {
                let of_whole = whole.jobs.iter().any(|known| {
                    let same = |a: f64, b: f64| a == 0.0 || (a - b).abs() <= 0.001 * b;
                    let (a, b) = (&job.result, &known.result);
                    [(&a.read, &b.read), (&a.write, &b.write)].into_iter().all(|(a, b)| {
                        text == DISKSPD || same(a.iops(), b.iops()) && same(a.latency.mean_ns, b.latency.mean_ns)
                    }) && same(a.sync.mean_ns, b.sync.mean_ns)
                });
                assert!(of_whole, "cut at {end}: {:?}", results(&part));
            }
        }
    }
}

/// The row of the summary, of bytes in its columns of rates, was a result of its own.
#[test]
fn the_summary_of_ior_is_no_result() {
    let text = "tasks : 1\nxfersize : 1 GiB\naccess    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   \
                total(s)   iter\n------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   \
                --------   ----\nwrite     1290.00    1.26       0.79        1048576    1048576    0.01       7.90       0.01       7.94       \
                0\nSummary of all tests:\nOperation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    \
                Mean(s)\nwrite        1290.00    1290.00    1290.00       0.00       1.26       1.26       1.26       0.00    7.94000\n";
    let read = run(text);
    assert_eq!((read.jobs.len(), (read.jobs[0].result.write.iops() * 100.0).round()), (1, 126.0));
}

/// The second replaced the first, and times of a test of the processor became those of files.
#[test]
fn results_without_a_line_between_them_are_told_apart() {
    let twice = "10 requests completed in 9.0 s, 233 iops, 233.1 MiB/s\n10 requests completed in 9.0 s, 3.2 k iops, 3.1 GiB/s\n";
    let iops: Vec<u64> = run(twice).jobs.iter().map(|job| job.result.ios()).collect();
    assert_eq!(iops.len(), 2, "{iops:?}");
    let files = SYSBENCH.replace("fsyncs/s:                     0.00\n", "");
    let processor = "Number of threads: 1\nLatency (ms):\n         avg:                                    3.11\n";
    assert_eq!(results(&run(&(processor.to_owned() + &files)))[0].2, 15_000);
}

#[test]
fn old_and_new_lines_of_sysbench_are_read() {
    let old = "Block size 16Kb\nUsing synchronous I/O mode\nDoing random r/w test\nOperations performed:  600 reads, 400 writes, 10 Other = \
               1010 Total\ntotal time: 10.0s\n";
    assert_eq!(results(&run(old))[0].1, [60, 40]);
    let new = "Number of threads: 4\nBlock size 16KiB\nDoing sequential write (creation) test\nThroughput:\n  read:  IOPS=0.00 0.00 MiB/s \
               (0.00 MB/s)\n  write: IOPS=1000.00 15.62 MiB/s (16.38 MB/s)\n  fsync: IOPS=9000.00\nLatency (ms):\n  avg: 0.40\n";
    let read = run(new);
    assert_eq!((results(&read)[0].1, results(&read)[0].2), ([0, 1000], 0), "0.40 ms are of writes and syncs");
    assert!(has_note(&read, "10000 per second or 4.00 in flight"), "{:?}", read.notes);
}

/// A row without a block size had that of the row above, and a rounded product was more than the one in flight.
#[test]
fn figures_of_one_row_are_not_those_of_the_next() {
    let rows = "CrystalDiskMark 5.1.0 x64\n   Random Read 4KiB (Q= 32,T= 1) :   281.9 MB/s [ 68823.2 IOPS]\n      Sequential Read (T= 1) :   \
                529.1 MB/s\n";
    let read = run(rows);
    assert_eq!(read.jobs[1].declared.block_sizes.read.max, 0, "{:?}", results(&read));
    let rounded = run(
        "--- /dev/sdq ioping statistics ---\n9 requests completed in 12.2 ms, 36 KiB read, 738 iops, 2.88 MiB/s\nmin/avg/max/mdev \
                       = 1.0 ms / 1.4 ms / 2.0 ms / 0.1 ms\n",
    );
    assert_eq!(results(&rounded)[0].2, 1355);
}

/// The block size of the next run was taken for that of the last one, and its latency from the line below.
#[test]
fn runs_of_ioping_end_with_their_latencies() {
    let small =
        IOPING.replace("4 KiB <<<", "512 B <<<").replace("36 KiB read", "4.50 KiB read").replace("15.6 M", "1.95 M");
    let read = run(&format!("{small}{IOPING}{small}"));
    let blocks: Vec<u32> = read.jobs.iter().map(|job| job.declared.block_sizes.read.min).collect();
    assert_eq!(blocks, [512, 4096, 512]);
    assert!(results(&read).iter().all(|result| result.2 == 250), "{:?}", results(&read));
}

/// Events of reads and writes alone were said to have syncs among them.
#[test]
fn events_of_old_sysbench_are_reads_and_writes() {
    let text = "Number of threads: 8\nBlock size 16KiB\nUsing synchronous I/O mode\nDoing random r/w test\nFile \
                operations:\n    reads/s:  6000.00\n    writes/s: 4000.00\n    fsyncs/s: 12000.00\nGeneral statistics:\n    \
                total time:  1.0000s\n    total number of events:  10000\n    response time:\n         avg:  0.18ms\n";
    assert_eq!(results(&run(text)), [("randrw, 16 KiB, 8 workers", [6000, 4000], 180, Some(8))]);
}

/// The progress of a command was taken for its result, and the result for one without a command.
#[test]
fn progress_of_dd_is_no_result() {
    let command = "# dd if=/dev/zero of=/dev/sdq bs=16M count=512 status=progress oflag=direct\n";
    let progress = "7063207936 bytes (7.1 GB) copied, 4.0 s, 1.8 GB/s\n";
    let end = "512+0 records in\n512+0 records out\n8589934592 bytes (8.6 GB) copied, 8.0 s, 1.1 GB/s\n";
    let read = run(&format!("{command}{progress}{end}{command}{progress}{end}"));
    assert_eq!(read.jobs.len(), 2);
    assert!(read.jobs.iter().all(|job| job.result.write.iops().round() == 64.0), "{:?}", results(&read));
    assert!(!has_note(&read, "left out"), "{:?}", read.notes);
}

/// Results of dd beside those of another program were lost without a word.
#[test]
fn results_of_dd_that_do_not_count_are_mentioned() {
    let dd = "$ dd if=/dev/zero of=/srv/x bs=1M count=100\n104857600 bytes (105 MB) copied, 0.1 s, 1.0 GB/s\n";
    assert!(has_note(&run(&format!("{IOPING}{dd}")), "ignored: 1 dd result"));
}

#[test]
fn decimal_commas_of_pg_test_fsync_are_read() {
    let text = "Compare file sync methods using one 8kB write:\n   fdatasync   55,117 ops/sec   18143 usecs/op\n   \
                fsync   25325,369 ops/sec   39 usecs/op\n";
    assert_eq!(syncs(&run(text)), [("fdatasync", 18_143), ("fsync", 39)]);
}

/// The second table of reads was said to be of reads and writes that are not told apart.
#[test]
fn a_second_table_of_one_kind_is_another_result() {
    let table = "Read IO\nthread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  |  file\n-----\ntotal:       \
                 409600000 |       100000 |      39.06 |   10000.00 |    0.100 |\n";
    let read = run(&format!("{table}\n{table}"));
    assert_eq!(results(&read), [("reads", [10_000, 0], 100, None), ("reads", [10_000, 0], 100, None)]);
    assert!(!has_note(&read, "not separated"), "{:?}", read.notes);
}

/// The bytes of excerpts without a block size, and syncs, were lost.
#[test]
fn excerpts_of_old_sysbench_have_bytes_and_syncs() {
    let text = "Operations performed:  30000 Read, 20000 Write, 60000 Other = 110000 Total\nRead 468.75Mb  Written 312.5Mb  \
                Total transferred 781.25Mb  (78.125Mb/sec)\n    total time:    10.0s\n    total number of events: 50000\n   \
                avg:   0.18ms\n";
    let read = run(text);
    assert_eq!(results(&read)[0].1, [3000, 2000]);
    assert_eq!(read.jobs[0].result.bytes_per_second().round(), 78.125 * 1024.0 * 1024.0);
}

#[test]
fn results_of_dd_in_other_languages_are_read() {
    for end in [
        "8192000000 Bytes (8,2 GB, 7,6 GiB) kopiert, 4,0 s, 2,0 GB/s",
        "8192000000 octets (8,2 GB) copiés, 4,0 s, 2,0 GB/s",
        "8192000000字节(8.2 GB)已复制，4.0 秒，2.0 GB/秒",
    ] {
        let read = run(&format!(
            "# dd if=/dev/zero of=/srv/x bs=8192000 count=1000 oflag=direct\n1000+0 Datensätze aus\n{end}\n"
        ));
        assert_eq!(read.jobs[0].result.write.iops().round(), 250.0, "{end}");
    }
}

/// Writes counted as reads, or rows were lost.
#[test]
fn earlier_forms_of_benchmarks_are_read() {
    let rbd = "bench-write  io_size 4096 io_threads 1 bytes 1073741824 pattern seq\n  SEC       OPS   OPS/SEC   BYTES/SEC\n    1     \
               21868  21869.58  89577801.04\nelapsed:    17  ops:   262144  ops/sec: 15000.00  bytes/sec: 61440000.00\n";
    let read = run(rbd);
    assert_eq!((read.jobs[0].declared.rw.as_str(), results(&read)[0].1), ("write", [0, 15_000]));
    let elbencho = "SYNC      Elapsed ms       :          0          1\n---\nWRITE     Elapsed ms       :      45247      45259\n          \
                    IOPS             :       5998       6043\n          Throughput MiB/s :       5998       6043\n";
    assert_eq!(results(&run(elbencho))[0].1, [0, 6043]);
    let crystal = "CrystalDiskMark 3.0.1 x64\n           Sequential Read :   500.000 MB/s\n        Random Write 512KB :   200.000 \
                   MB/s\n    Random Read 4KB (QD=1) :    24.576 MB/s [  6000.0 IOPS]\n";
    let read = run(crystal);
    let rates: Vec<f64> = read.jobs.iter().map(|job| job.result.bytes_per_second()).collect();
    assert_eq!(rates, [500e6, 200e6, 24.576e6]);
    assert_eq!(
        read.jobs.iter().map(|job| job.declared.rw.as_str()).collect::<Vec<_>>(),
        ["read", "randwrite", "randread"]
    );
}

/// "Only the mean is known" stood below deviations, percentiles and maxima.
#[test]
fn deviations_and_sums_of_latencies_are_read() {
    let diskspd = run(DISKSPD);
    assert!(diskspd.jobs[0].result.read.service.stddev_ns > 0.0);
    let rados = "Total time run:         10.0\nTotal writes made:      1000\nWrite size:             4096\nBandwidth (MB/sec):     \
                 0.39\nAverage Latency(s):     0.16\nStddev Latency(s):      0.05\nMax latency(s):         0.9\nMin \
                 latency(s):         0.01\n";
    let service = &run(rados).jobs[0].result.write.service;
    assert_eq!((service.stddev_ns, service.max_ns), (50_000_000.0, 900_000_000));
    let sysbench = "sysbench 1.0.20\nNumber of threads: 4\nFile operations:\n    reads/s:                      1000.00\n    \
                    writes/s:                     0.00\nGeneral statistics:\n    total time:                          \
                    10.0s\n    total number of events:              10000\nLatency (ms):\n         min:  0.00\n         avg:  \
                    0.11\n         max:  16.29\n         95th percentile:  1.23\n         sum:  1149.0\n";
    let service = &run(sysbench).jobs[0].result.read.service;
    assert_eq!((service.mean_ns.round(), service.max_ns), (114_900.0, 16_290_000));
}

/// Writes counted as reads, although the command says that all of them were.
#[test]
fn the_command_of_diskspd_tells_the_share_of_writes() {
    let table = &DISKSPD[DISKSPD.find("Total IO").unwrap()..DISKSPD.find("Read IO").unwrap()];
    let read = run(&format!("diskspd.exe -b256K -t1 -w100 -W5 -o64 -r -d600 #2\n\n{table}"));
    assert_eq!(read.jobs[0].result.read.ios, 0);
    assert!(
        read.jobs[0].result.write.ios > 0 && read.jobs[0].declared.rw == "randwrite",
        "{:?}",
        read.jobs[0].declared.rw
    );
}

/// Refused: a mail had wrapped the unit of each row.
#[test]
fn wrapped_rows_of_pg_test_fsync_are_read() {
    let text = "5 seconds per test\n\nCompare file sync methods using one 8kB write:\n          fdatasync                                   \
                6845.727 ops/sec           146 usecs/\nop\n          fsync                                       3685.769 \
                ops/sec           271 usecs/\nop\n";
    assert_eq!(syncs(&run(text)).len(), 2);
}
