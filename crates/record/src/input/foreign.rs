//! Recognizes output of other programs and suggests remedies.

use units::Problem;

use super::MAKE;
use super::text::InputText;

/// Returns an error that guesses the program which wrote a text.
pub(super) fn refuse(text: &InputText) -> Problem {
    let all = || text.lines().enumerate().filter_map(|(index, line)| Some((index, known(line.trim())?)));
    // A job file or a command may stand above what came out of it.
    let found = all().find(|(_, reason)| ![JOB_FILE, COMMAND].contains(reason)).or_else(|| all().next());
    if let Some((index, (what, remedy))) = found {
        return text.error(index, text.line(index).trim(), what, remedy);
    }
    let first = text.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let line = text.line(first).trim();
    // Text may have commas too, but not as many in the next line.
    let commas = |line: &str| line.matches(',').count().max(line.matches(';').count());
    let next = text.lines().skip(first + 1).find(|line| !line.trim().is_empty());
    let what = if commas(line) >= 2 && next.is_none_or(|next| commas(next) == commas(line)) {
        "this looks like CSV of an unknown kind"
    } else {
        "this is neither fio output, nor a Fathom record, nor `iostat -x` output"
    };
    text.error(first, line, what, MAKE)
}

/// Reason and remedy of a job file.
const JOB_FILE: (&str, &str) = ("this is a job file, not a result", "run it first: `fathom run FILE -o FILE.json`");

/// Reason and remedy of a command line.
const COMMAND: (&str, &str) = (
    "this is a fio command line, not its output",
    "run it first (`fathom fio` accepts the same arguments) and pass its output",
);

const JSON_REMEDY: &str = "run fio again with `--output-format=json`, or `normal`";
const IOSTAT_REMEDY: &str = "use `iostat -x -o JSON 1 30`, or `iostat -x 1 30`, while the load runs";

/// A program whose output is not read, by words of one of its lines in lower case: what it is, and what a user can give
/// instead.
type ForeignProgram = (&'static [&'static str], &'static str, &'static str);

const CLAIM: &str = "pass its figures: `fathom explain --claim 'iops=10k,lat=3ms,qd=32,bs=4k'`";
const BSD_REMEDY: &str = "pass the figures of a row: `fathom explain --claim 'iops=1200,lat=2.5ms,bs=16k'`";

const WHOLE: &str = "pass its whole output, or its figures: `fathom explain --claim 'iops=10k,lat=3ms,qd=32,bs=4k'`";
const MEASURE: &str = "measure with `fio` or `fathom run`";
const ETCD: &str =
    "pass its histograms: `curl -s http://HOST:2381/metrics | grep -E 'etcd_disk_(wal_fsync|backend_commit)'`";
const DATABASE: &str = "pass the disk's figures from the same time: `iostat -x -o JSON 1 30`";

const DD: &str = "this is `dd` output that may show the page cache: no command line directly above a result says \
                  otherwise";
const DD_REMEDY: &str =
    "pass both: `oflag=dsync` times a sync after each write, `oflag=direct` and `iflag=direct` time the device";

const GROUPS: &str = "this is fio's group status without the results above it, which contain IOPS and latencies";
const GROUPS_REMEDY: &str = "pass the whole output, from the line `NAME: (groupid=0, jobs=1)` on";

const PROGRAMS: &[ForeignProgram] = &[
    (
        &["reads queued:", "writes queued:"],
        "this is a `blkparse` summary without events",
        "pass the events that `blkparse -i FILE` prints, or the trace itself, to `fathom trace`",
    ),
    (&["extended device statistics"], "this is `iostat` output from FreeBSD or Solaris", BSD_REMEDY),
    (&["kb/t", "tps", "mb/s"], "this is `iostat` output from macOS or BSD, which has no latencies", BSD_REMEDY),
    (&["-total-cpu-usage-"], "this is `dstat` output", IOSTAT_REMEDY),
    (&["dsk/", "read", "writ"], "this is `dstat` output", IOSTAT_REMEDY),
    (&["fio disk speed tests"], "this is YABS output without its IOPS table", WHOLE),
    (&["ioping statistics"], "this is `ioping` output without its last lines", WHOLE),
    (&["requests completed in", "iops"], "this is `ioping` output without its last lines", WHOLE),
    (&["fsyncs/s:"], "this is `sysbench fileio` output without a rate", WHOLE),
    (&["sysbench", "fileio"], "this is `sysbench fileio` output without a rate", WHOLE),
    (&["elbencho"], "this is `elbencho` output without its result table", WHOLE),
    (&["bytes", "copied", "/s"], DD, DD_REMEDY),
    (&["bytes transferred in", "bytes/sec"], DD, DD_REMEDY),
    (&["bytes", "copied"], "this is `dd` output without a time", MEASURE),
    (&["big blocks:"], "this is `juicefs bench` output, which counts its own files and blocks", CLAIM),
    (&["operation: get"], "this is from an object store benchmark", CLAIM),
    (&["mlpstorage"], "this is from MLPerf Storage, which counts samples", IOSTAT_REMEDY),
    (&["dlio"], "this is from DLIO, which counts samples", IOSTAT_REMEDY),
    (&["crystaldiskmark"], "this is CrystalDiskMark output without a test row", WHOLE),
    (&["diskspd"], "this is DiskSpd output without a `total:` line", WHOLE),
    (
        &["ops/sec", "usecs/op"],
        "this is `pg_test_fsync` output without its section on one write",
        "pass its whole output, or measure with `fathom run` and `fdatasync=1`",
    ),
    (&["maintaining", "concurrent", "objects"], "this is `rados bench` output without its summary", WHOLE),
    (&["cur ops", "last lat(s)"], "this is `rados bench` output without its summary", WHOLE),
    (&["bench", "io_size", "io_threads"], "this is `rbd bench` output without its `elapsed:` line", WHOLE),
    (&["ops/sec:", "bytes/sec:"], "this is `rbd bench` output without its `elapsed:` line", WHOLE),
    (&["timing buffered disk reads"], "this is `hdparm` output, which has no latencies", MEASURE),
    (&["bonnie++"], "this is `bonnie++` output", MEASURE),
    (&["sequential output", "sequential input"], "this is `bonnie++` output", MEASURE),
    (&["access", "bw(mib/s)", "xfer(kib)"], "this is IOR output from before version 3.3", CLAIM),
    (&["max write:", "mib/sec"], "this is IOR output without its result table", WHOLE),
    (&["starting rd="], "this is `vdbench` output without the `avg_` line of a run", WHOLE),
    (&["iozone"], "this is `iozone` output", MEASURE),
    (
        &["total disk read", "total disk write"],
        "this is `iotop` output, which counts I/O of processes, not of devices",
        IOSTAT_REMEDY,
    ),
    (&["kb_rd/s", "kb_wr/s"], "this is `pidstat` output, which counts I/O of processes, not of devices", IOSTAT_REMEDY),
    (&["i/o per s", "avglat"], "this is DiskSpd output without a `total:` line", WHOLE),
    (&["thread", "bytes", "i/os", "i/o per s"], "this is DiskSpd output without a `total:` line", WHOLE),
    (&["run status group"], GROUPS, GROUPS_REMEDY),
    (&["aggrb=", "mint="], GROUPS, GROUPS_REMEDY),
    (&[": bw=", " run=", "msec"], GROUPS, GROUPS_REMEDY),
    (&["compare file sync methods"], "this is modified `pg_test_fsync` output", WHOLE),
    (&["(q=", "t=", "mb/s"], "this is modified CrystalDiskMark output", CLAIM),
    (&["i/o speed("], "this is bench.sh output, which has no request rates", MEASURE),
    (&["slowest request took"], "this is `etcdctl check perf` output, which times requests to etcd", ETCD),
    (&["slow fdatasync", "took"], "this is an etcd log, which lists only slow syncs", ETCD),
    (&["micros/op"], "this is `db_bench` output from RocksDB or LevelDB", DATABASE),
    (&["number of transactions actually processed"], "this is `pgbench` output", DATABASE),
    (&["hammerdb"], "this is HammerDB output", DATABASE),
    (&["[overall],", "throughput(ops/sec)"], "this is YCSB output", DATABASE),
    (&["ycsb client"], "this is YCSB output", DATABASE),
    (&["partition rate", ":"], "this is `cassandra-stress` output", DATABASE),
    (&["queries performed:"], "this is from a `sysbench` database test", DATABASE),
    (&["ios/call="], "this is `t/io_uring` output, which has no latencies", CLAIM),
    (&["mib/sec and", "ops/sec)"], "this is `xfs_io` output, which may show the page cache", MEASURE),
    (&["fsuse%", "files/sec"], "this is `fs_mark` output, which counts files", IOSTAT_REMEDY),
    (&["file creation", "."], "this is `mdtest` output, which counts metadata operations", IOSTAT_REMEDY),
    (&["io summary:", "ops/s"], "this is `filebench` output, which counts opens and closes too", IOSTAT_REMEDY),
    (&["stress-ng:"], "this is `stress-ng` output", IOSTAT_REMEDY),
    (&["obj/s"], "this is from an object store benchmark", CLAIM),
    (&["phoronix test suite"], "this is from the Phoronix Test Suite", CLAIM),
    (&["> disk", "mb/s"], "this is `winsat` output", CLAIM),
    (&["as ssd benchmark"], "this is AS SSD output", CLAIM),
    (&["reclen", "rewrite", "reread"], "this is `iozone` output", MEASURE),
    (&["<results>"], "this is XML, as printed by DiskSpd with `-Rxml`", "pass its text output: `diskspd -Rtext -L …`"),
    (&["timing cached reads"], "this is `hdparm` output, which has no latencies", MEASURE),
];

/// Recognizes a line that identifies its program.
fn known(line: &str) -> Option<(&'static str, &'static str)> {
    let lower = line.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let has = |words: &[&str]| words.iter().all(|word| lower.contains(word));
    if let Some((_, what, remedy)) = PROGRAMS.iter().find(|(words, ..)| has(words)) {
        return Some((what, remedy));
    }
    Some(if starts(&["<!doctype", "<html", "<?xml", "<head", "<body"]) {
        ("this is a web page or XML", "save only the output, as text")
    } else if starts(&["procs ---", "procs  ---", "--procs--"]) || has(&["r", "b", "swpd", "free", "buff", "cache"]) {
        ("this is `vmstat` output, which does not distinguish devices", IOSTAT_REMEDY)
    } else if has(&["total reads"]) || has(&["merged reads"]) {
        ("this is `vmstat -D` output, which adds up all devices", "use `vmstat -d -t 1 30`, which prints each device")
    } else if has(&["capacity", "operations", "bandwidth"]) {
        ("this is `zpool iostat` output, which counts I/O of a pool, not of its devices", IOSTAT_REMEDY)
    } else if starts(&["3;fio-", "4;fio-", "5;fio-", "2;"]) || has(&[";fio-"]) {
        ("this is fio terse output of version 2, which has no IOPS, or its fields were modified", JSON_REMEDY)
    } else if has(&["iops=", "bw="]) || starts(&["lat (usec)", "lat (msec)", "clat (", "read: iops", "write: iops"]) {
        (
            "this is a part of fio's normal output without its jobs",
            "pass the whole output, or its figures: `--claim 'iops=10k,lat=3ms,qd=32'`",
        )
    } else if starts(&["# hostname;interval;timestamp;", "# uptime_cs; "]) {
        ("this is `sadf` output", "use `sar -d -p -f FILE`, which prints the same data as a table")
    } else if starts(&["# help ", "# type "]) {
        (
            "these are Prometheus metrics, but neither disk counters nor latency histograms",
            "pass the lines of `node_disk_*`, or of a histogram such as `etcd_disk_wal_fsync_duration_seconds`",
        )
    } else if has(&["blks_read"]) || has(&["blk_read_time"]) || has(&["buffers_checkpoint"]) || has(&["wal_sync_time"])
    {
        (
            "this PostgreSQL view has no times for each kind of request",
            "use `psql --csv -c 'SELECT * FROM pg_stat_io'` on version 16 or later",
        )
    } else if has(&["%usr", "%idle"]) || has(&["%user", "%idle"]) {
        ("this is `mpstat` or `sar` output, which does not distinguish devices", IOSTAT_REMEDY)
    } else if has(&["avg-cpu:"]) {
        ("`iostat` printed CPU figures only", IOSTAT_REMEDY)
    } else if starts(&["[global]"]) || (starts(&["rw=", "ioengine=", "iodepth=", "filename="])) {
        JOB_FILE
    } else if has(&["fio ", " --"]) && (has(&["--name"]) || has(&["--filename"])) {
        COMMAND
    } else {
        return None;
    })
}
