//! The lines of each program.

/// What a line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Names the columns or the section of the lines below.
    Head,
    /// Begins a result.
    Begins,
    /// Belongs to the current result.
    Says,
    /// Ends the current result.
    Ends,
}

use Role::{Begins, Ends, Head, Says};

/// A line of a program.
pub(super) struct BenchLine {
    pub(super) role: Role,
    /// Text with fields, as [`super::pattern::scan`] reads it. A field `write.mean` is of writes, `mean` of the kind that the
    /// result has reached.
    pub(super) words: &'static str,
    /// What the last head contains, in lower case.
    pub(super) under: &'static str,
}

/// A program that measures storage.
pub(super) struct BenchFormat {
    pub(super) program: &'static str,
    pub(super) lines: &'static [BenchLine],
    /// Operations in flight for each worker, if the program always has as many.
    pub(super) depth: Option<f64>,
    pub(super) workers: Option<f64>,
    /// Whether it makes one operation after the other.
    pub(super) is_serial: bool,
    /// Whether it keeps its queue full.
    pub(super) keeps_full: bool,
    /// Whether all its offsets are random, if they always are or never.
    pub(super) is_random: Option<bool>,
    /// Whether what was said of the load holds for several results.
    pub(super) keeps_settings: bool,
    /// What a reader has to know of its figures.
    pub(super) note: Option<&'static str>,
}

const fn line(role: Role, words: &'static str) -> BenchLine {
    BenchLine { role, words, under: "" }
}

const fn under(under: &'static str, role: Role, words: &'static str) -> BenchLine {
    BenchLine { role, words, under }
}

const fn format(program: &'static str, lines: &'static [BenchLine]) -> BenchFormat {
    BenchFormat {
        program,
        lines,
        depth: None,
        workers: None,
        is_serial: false,
        keeps_full: false,
        is_random: None,
        keeps_settings: false,
        note: None,
    }
}

/// The script of YABS runs fio with `iodepth=64`, `numjobs=2` and `rw=randrw`.
const YABS: BenchFormat = BenchFormat {
    depth: Some(64.0),
    workers: Some(2.0),
    keeps_full: true,
    is_random: Some(true),
    ..format("YABS", &[])
};

pub(super) const FORMATS: [BenchFormat; 14] = [
    BenchFormat {
        depth: Some(1.0),
        is_serial: true,
        ..format(
            "ioping",
            &[
                line(Says, "{block} <<< {}"),
                line(Says, "{block} >>> {}"),
                line(Says, "{block} from {}: request={} time={}"),
                line(Begins, "--- {name} ioping statistics ---"),
                line(Begins, "ioping: {name}"),
                line(Says, "{} requests completed in {}, {} {kind}, {iops} iops, {bw}/s"),
                line(Says, "{} requests completed in {}, {iops} iops, {bw}/s"),
                line(Says, "generated {} requests in {}, {}, {pace} iops, {pace_bw}/s"),
                line(Ends, "min/avg/max/mdev = {min ms} / {mean ms} / {max ms} / {deviation ms}"),
            ],
        )
    },
    BenchFormat {
        depth: Some(1.0),
        is_serial: true,
        note: Some(
            "pg_test_fsync waits for each write and its sync before the next: 1 in flight. Only its first section, \
             with one write per sync, is used",
        ),
        keeps_settings: true,
        ..format(
            "pg_test_fsync",
            &[
                line(Says, "{seconds} seconds per test"),
                line(Head, "Compare {}:"),
                line(Head, "Test {}:"),
                line(Head, "Non-sync'ed {}:"),
                under("using one 8kb write", Ends, "{name} {sync.iops comma} ops/sec {} usecs/op"),
                under("using one 8kb write", Ends, "{name} {sync.iops comma} ops/sec"),
            ],
        )
    },
    BenchFormat {
        depth: Some(1.0),
        is_serial: true,
        note: Some("pveperf writes and syncs a file repeatedly, one at a time: 1 in flight"),
        ..format("pveperf", &[line(Ends, "FSYNCS/SECOND: {sync.iops}")])
    },
    BenchFormat {
        depth: Some(1.0),
        ..format(
            "sysbench fileio",
            &[
                line(Begins, "Number of threads: {jobs}"),
                line(Says, "Block size {block}"),
                line(Says, "Extra file open flags: {flags}"),
                line(Says, "Using {queueing} I/O mode"),
                line(Says, "Doing {order} test"),
                line(Begins, "File operations:"),
                line(
                    Begins,
                    "Operations performed: {read.count} Read, {write.count} Write, {sync.count} Other = {} Total",
                ),
                line(
                    Begins,
                    "Operations performed: {read.count} reads, {write.count} writes, {sync.count} Other = {} Total",
                ),
                line(Says, "Read {} Written {} Total transferred {} ({all.bw MiB}Mb/sec)"),
                line(Says, "read: IOPS={read.iops} {read.bw MiB} MiB/s ({})"),
                line(Says, "write: IOPS={write.iops} {write.bw MiB} MiB/s ({})"),
                line(Says, "fsync: IOPS={sync.iops}"),
                line(Says, "reads/s: {read.iops}"),
                line(Says, "writes/s: {write.iops}"),
                line(Says, "fsyncs/s: {sync.iops}"),
                line(Says, "read, MiB/s: {read.bw MiB}"),
                line(Says, "written, MiB/s: {write.bw MiB}"),
                line(Says, "total time: {seconds}"),
                line(Says, "total number of events: {events}"),
                line(Says, "min: {all.min ms}"),
                line(Says, "avg: {all.mean ms}"),
                line(Says, "max: {all.max ms}"),
                line(Says, "sum: {sum ms}"),
                line(Says, "approx. {percent} percentile: {all.p ms}"),
                line(Says, "{percent} percentile: {all.p ms}"),
            ],
        )
    },
    BenchFormat {
        ..format(
            "DiskSpd",
            &[
                line(Begins, "Input parameters:"),
                line(Begins, "{}.exe {}"),
                line(Says, "{}.exe {} -b{block} {}"),
                line(Says, "{}.exe {} -o{depth} {}"),
                line(Says, "{}.exe {} -S{flags} {}"),
                line(Says, "{}.exe {} -w{writes %} {}"),
                line(Says, "{}.exe {} -r{random} {}"),
                line(Says, "software cache {flags}"),
                line(Says, "block size: {block}"),
                line(Says, "using {order} I/O (alignment: {})"),
                line(Says, "using {order} I/O (stride: {})"),
                line(Says, "using {order} I/O (stride size: {})"),
                line(Says, "number of outstanding I/O operations: {depth}"),
                line(Says, "number of outstanding I/O operations per thread: {depth}"),
                line(Says, "actual test time: {seconds}"),
                line(Says, "thread count: {jobs}"),
                line(Begins, "Total IO"),
                line(Says, "{kind} IO"),
                line(Head, "thread | bytes | I/Os | {}"),
                under(
                    "i/o per s | avglat | latstddev",
                    Says,
                    "total: {} | {} | {bw MiB} | {iops} | {mean ms} | {deviation ms}",
                ),
                under("i/o per s | avglat", Says, "total: {} | {} | {bw MiB} | {iops} | {mean ms} | {}"),
                under("i/o per s", Says, "total: {} | {} | {bw MiB} | {iops}"),
                under("i/o per s | iopsstddev", Says, "total: {} | {} | {bw MiB} | {iops} | {}"),
                line(Says, "{percent} | {read.p ms} | {write.p ms} | {}"),
                line(Says, "min | {read.min ms} | {write.min ms} | {}"),
                line(Says, "max | {read.max ms} | {write.max ms} | {}"),
            ],
        )
    },
    BenchFormat {
        keeps_settings: true,
        keeps_full: true,
        workers: Some(1.0),
        ..format(
            "CrystalDiskMark",
            &[
                line(Says, "[{kind}]"),
                line(Says, "[{kind}] Read {share %}%/{}"),
                line(Ends, "{order} {block} (Q={depth}, T={jobs}): {bw MB} MB/s [{iops} IOPS] <{mean us} us>"),
                line(Ends, "{order} {block} (Q={depth}, T={jobs}): {bw MB} MB/s [{iops} IOPS]"),
                line(Ends, "{order} {kind} {block} (Q={depth}, T={jobs}) : {bw MB} MB/s [{iops} IOPS]"),
                line(Ends, "{order} {kind} {block} (QD={depth}) : {bw MB} MB/s [{iops} IOPS]"),
                line(Ends, "{order} {kind} (Q={depth}, T={jobs}) : {bw MB} MB/s"),
                line(Ends, "{order} {kind} (T={depth}) : {bw MB} MB/s"),
                line(Ends, "{order} {kind} {block} : {bw MB} MB/s"),
                line(Ends, "{order} {kind} : {bw MB} MB/s"),
            ],
        )
    },
    BenchFormat {
        note: Some("YABS runs fio with 2 jobs of depth 64 and mixed reads and writes, one block size after another"),
        lines: &[
            line(Says, "Block Size | {block} (IOPS) | {} (IOPS)"),
            line(Says, "Read | {read.kib_rate} ({read.iops}) | {} ({})"),
            line(Says, "Write | {write.kib_rate} ({write.iops}) | {} ({})"),
            line(Ends, "Total | {} ({}) | {} ({})"),
        ],
        ..YABS
    },
    BenchFormat {
        lines: &[
            line(Says, "Block Size | {} (IOPS) | {block} (IOPS)"),
            line(Says, "Read | {} ({}) | {read.kib_rate} ({read.iops})"),
            line(Says, "Write | {} ({}) | {write.kib_rate} ({write.iops})"),
            line(Ends, "Total | {} ({}) | {} ({})"),
        ],
        ..YABS
    },
    BenchFormat {
        note: Some("rados bench transfers objects; the disks of the cluster may store each in several requests"),
        workers: Some(1.0),
        ..format(
            "rados bench",
            &[
                line(Begins, "Maintaining {depth} concurrent {kind} of {block} bytes {}"),
                line(Begins, "{}rados bench {}"),
                line(Begins, "{}rados {} bench {}"),
                line(Says, "{}rados {} -t {depth} {}"),
                line(Says, "{}rados {} -t {depth}"),
                line(Begins, "Total time run: {seconds}"),
                line(Begins, "Total {kind} made: {count}"),
                line(Says, "Object size: {block}"),
                line(Says, "Write size: {block}"),
                line(Says, "Read size: {block}"),
                line(Says, "Bandwidth (MB/sec): {bw MiB}"),
                line(Says, "Average Latency(s): {mean s}"),
                line(Says, "Stddev Latency(s): {deviation s}"),
                line(Says, "Stddev Latency: {deviation s}"),
                line(Says, "Max latency(s): {max s}"),
                line(Says, "Min latency(s): {min s}"),
                line(Says, "Average Latency: {mean s}"),
                line(Says, "Max latency: {max s}"),
                line(Says, "Min latency: {min s}"),
            ],
        )
    },
    BenchFormat {
        keeps_full: true,
        note: Some("rbd bench measures an image through librbd, whose cache may absorb writes"),
        workers: Some(1.0),
        ..format(
            "rbd bench",
            &[
                line(Begins, "bench-{kind} io_size {block} io_threads {depth} bytes {} pattern {order}"),
                line(Begins, "bench type {kind} io_size {block} io_threads {depth} bytes {} pattern {order}"),
                line(Ends, "elapsed: {seconds s} ops: {} ops/sec: {iops} bytes/sec: {bw}"),
            ],
        )
    },
    BenchFormat {
        keeps_settings: true,
        ..format(
            "vdbench",
            &[
                line(Begins, "{} Starting RD={name}; {}"),
                line(Head, "{} interval i/o MB/sec bytes read resp {}"),
                under("i/o mb/sec bytes read resp", Ends, "{} avg_{} {iops} {bw MiB} {block} {share %} {mean ms} {}"),
            ],
        )
    },
    BenchFormat {
        note: Some("of elbencho's two columns, the one of the last worker to finish is used"),
        ..format(
            "elbencho",
            &[
                line(Begins, "{kind} Elapsed time : {}"),
                line(Begins, "{kind} Elapsed ms : {}"),
                line(Says, "IOPS : {} {iops}"),
                line(Says, "Throughput MiB/s : {} {bw MiB}"),
                line(Says, "IO latency : [ min={min us} avg={mean us} max={max us} ]"),
            ],
        )
    },
    BenchFormat {
        depth: Some(1.0),
        keeps_settings: true,
        note: Some("IOR's column `Latency(s)` is not the mean time of a transfer and is ignored"),
        ..format(
            "IOR",
            &[
                line(Says, "tasks : {jobs}"),
                line(Says, "xfersize : {block}"),
                line(Says, "ordering in a file : {order}"),
                line(Head, "access bw(MiB/s) IOPS {}"),
                line(Head, "access bw(MiB/s) IOPS"),
                // The summary repeats the results above it.
                line(Head, "Operation Max(MiB) {}"),
                under("access bw(mib/s) iops", Ends, "{kind} {bw MiB} {iops}"),
                under("access bw(mib/s) iops", Ends, "{kind} {bw MiB} {iops} {} {} {} {} {} {} {seconds s} {}"),
            ],
        )
    },
    BenchFormat {
        keeps_full: true,
        workers: Some(1.0),
        ..format(
            "qemu-img bench",
            &[
                line(Begins, "Sending {count} {kind} requests, {block} bytes each, {depth} in parallel {}"),
                line(Ends, "Run completed in {seconds} seconds."),
            ],
        )
    },
];
