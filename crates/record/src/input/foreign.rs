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
        "this looks like a table (CSV), which may be of anything"
    } else {
        "this is neither fio's output nor a record nor `iostat -x`"
    };
    text.error(first, line, what, MAKE)
}

/// Reason and remedy of a job file.
const JOB_FILE: (&str, &str) =
    ("this is a job file, not what came out of it", "run it first: `fathom run FILE -o FILE.json`");

/// Reason and remedy of a command line.
const COMMAND: (&str, &str) = (
    "this is a command line of fio, not what came out of it",
    "run it first, also with `fathom fio` in place of `fio`, and give what it prints",
);

const JSON_REMEDY: &str = "run fio again with `--output-format=json`, or `normal`";
const IOSTAT_REMEDY: &str = "use `iostat -x -o JSON 1 30`, or `iostat -x 1 30`, while the load runs";

/// A program whose output is not read, by words of one of its lines in lower case: what it is, and what a user can give
/// instead.
type ForeignProgram = (&'static [&'static str], &'static str, &'static str);

const CLAIM: &str = "give its figures: `fathom explain --claim 'iops=10k,lat=3ms,qd=32,bs=4k'`";
const BSD_REMEDY: &str = "give the figures of a row: `fathom explain --claim 'iops=1200,lat=2.5ms,bs=16k'`";

const WHOLE: &str = "give its whole output, or its figures: `fathom explain --claim 'iops=10k,lat=3ms,qd=32,bs=4k'`";
const MEASURE: &str = "measure with `fio` or `fathom run`";
const ETCD: &str =
    "give its histograms: `curl -s http://HOST:2381/metrics | grep -E 'etcd_disk_(wal_fsync|backend_commit)'`";
const DATABASE: &str = "give what the disk did meanwhile: `iostat -x -o JSON 1 30`";

const DD: &str = "this is from `dd`, and no command line right above a result shows that it bypassed the page cache";
const DD_REMEDY: &str =
    "give both: `oflag=dsync` times a sync after each write, `oflag=direct` and `iflag=direct` time the device";

const GROUPS: &str = "this is the status of fio's groups, without the results above it, which have IOPS and latencies";
const GROUPS_REMEDY: &str = "give the whole output, with the lines from `NAME: (groupid=0, jobs=1)` on";

const PROGRAMS: &[ForeignProgram] = &[
    (
        &["reads queued:", "writes queued:"],
        "this is the summary of `blkparse`, without its events",
        "give the events, or the trace: `fathom trace FILE`, as `blkparse -i FILE` prints them",
    ),
    (&["extended device statistics"], "this is from `iostat` of FreeBSD or Solaris", BSD_REMEDY),
    (&["kb/t", "tps", "mb/s"], "this is from `iostat` of macOS or BSD, which has no latencies", BSD_REMEDY),
    (&["-total-cpu-usage-"], "this is from `dstat`", IOSTAT_REMEDY),
    (&["dsk/", "read", "writ"], "this is from `dstat`", IOSTAT_REMEDY),
    (&["fio disk speed tests"], "this is from YABS, without its table of IOPS", WHOLE),
    (&["ioping statistics"], "this is from `ioping`, without its last lines", WHOLE),
    (&["requests completed in", "iops"], "this is from `ioping`, without its last lines", WHOLE),
    (&["fsyncs/s:"], "this is from `sysbench fileio`, without a rate", WHOLE),
    (&["sysbench", "fileio"], "this is from `sysbench fileio`, without a rate", WHOLE),
    (&["elbencho"], "this is from `elbencho`, without its table of results", WHOLE),
    (&["bytes", "copied", "/s"], DD, DD_REMEDY),
    (&["bytes transferred in", "bytes/sec"], DD, DD_REMEDY),
    (&["bytes", "copied"], "this is from `dd`, without a time", MEASURE),
    (&["big blocks:"], "this is from `juicefs bench`, which counts files and blocks of its own", CLAIM),
    (&["operation: get"], "this is from a benchmark of object stores", CLAIM),
    (&["mlpstorage"], "this is from MLPerf Storage, which counts samples", IOSTAT_REMEDY),
    (&["dlio"], "this is from DLIO, which counts samples", IOSTAT_REMEDY),
    (&["crystaldiskmark"], "this is from CrystalDiskMark, without a row of a test", WHOLE),
    (&["diskspd"], "this is from DiskSpd, without the line `total:` of a table", WHOLE),
    (
        &["ops/sec", "usecs/op"],
        "this is from `pg_test_fsync`, without its section on one write",
        "give its whole output, or measure with `fathom run`, and `fdatasync=1`",
    ),
    (&["maintaining", "concurrent", "objects"], "this is from `rados bench`, without its summary", WHOLE),
    (&["cur ops", "last lat(s)"], "this is from `rados bench`, without its summary", WHOLE),
    (&["bench", "io_size", "io_threads"], "this is from `rbd bench`, without the line `elapsed:`", WHOLE),
    (&["ops/sec:", "bytes/sec:"], "this is from `rbd bench`, without the line `elapsed:`", WHOLE),
    (&["timing buffered disk reads"], "this is from `hdparm`, which says nothing of latency", MEASURE),
    (&["bonnie++"], "this is from `bonnie++`", MEASURE),
    (&["sequential output", "sequential input"], "this is from `bonnie++`", MEASURE),
    (&["access", "bw(mib/s)", "xfer(kib)"], "this is from IOR before version 3.3", CLAIM),
    (&["max write:", "mib/sec"], "this is from IOR, without its table of results", WHOLE),
    (&["starting rd="], "this is from `vdbench`, without the line `avg_` of a run", WHOLE),
    (&["iozone"], "this is from `iozone`", MEASURE),
    (
        &["total disk read", "total disk write"],
        "this is from `iotop`, which counts what processes do, not devices",
        IOSTAT_REMEDY,
    ),
    (&["kb_rd/s", "kb_wr/s"], "this is from `pidstat`, which counts what processes do, not devices", IOSTAT_REMEDY),
    (&["i/o per s", "avglat"], "this is from DiskSpd, without the line `total:` of a table", WHOLE),
    (&["thread", "bytes", "i/os", "i/o per s"], "this is from DiskSpd, without the line `total:` of a table", WHOLE),
    (&["run status group"], GROUPS, GROUPS_REMEDY),
    (&["aggrb=", "mint="], GROUPS, GROUPS_REMEDY),
    (&[": bw=", " run=", "msec"], GROUPS, GROUPS_REMEDY),
    (&["compare file sync methods"], "this is from `pg_test_fsync`, with lines that were changed", WHOLE),
    (&["(q=", "t=", "mb/s"], "this is from CrystalDiskMark, with rows that were changed", CLAIM),
    (&["i/o speed("], "this is from bench.sh, which has no rates of requests", MEASURE),
    (&["slowest request took"], "this is from `etcdctl check perf`, which times requests to etcd", ETCD),
    (&["slow fdatasync", "took"], "this is a log of etcd, which names slow syncs only", ETCD),
    (&["micros/op"], "this is from `db_bench` of RocksDB or LevelDB", DATABASE),
    (&["number of transactions actually processed"], "this is from `pgbench`", DATABASE),
    (&["hammerdb"], "this is from HammerDB", DATABASE),
    (&["[overall],", "throughput(ops/sec)"], "this is from YCSB", DATABASE),
    (&["ycsb client"], "this is from YCSB", DATABASE),
    (&["partition rate", ":"], "this is from `cassandra-stress`", DATABASE),
    (&["queries performed:"], "this is from a database test of `sysbench`", DATABASE),
    (&["ios/call="], "this is from `t/io_uring`, which has no latencies", CLAIM),
    (&["mib/sec and", "ops/sec)"], "this is from `xfs_io`, which may be of the page cache", MEASURE),
    (&["fsuse%", "files/sec"], "this is from `fs_mark`, which counts files", IOSTAT_REMEDY),
    (&["file creation", "."], "this is from `mdtest`, which counts operations on names", IOSTAT_REMEDY),
    (&["io summary:", "ops/s"], "this is from `filebench`, which counts opens and closes too", IOSTAT_REMEDY),
    (&["stress-ng:"], "this is from `stress-ng`", IOSTAT_REMEDY),
    (&["obj/s"], "this is from a benchmark of object stores", CLAIM),
    (&["phoronix test suite"], "this is from the Phoronix Test Suite", CLAIM),
    (&["> disk", "mb/s"], "this is from `winsat`", CLAIM),
    (&["as ssd benchmark"], "this is from AS SSD", CLAIM),
    (&["reclen", "rewrite", "reread"], "this is from `iozone`", MEASURE),
    (&["<results>"], "this is XML, as DiskSpd prints with `-Rxml`", "give its text: `diskspd -Rtext -L …`"),
    (&["timing cached reads"], "this is from `hdparm`, which says nothing of latency", MEASURE),
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
        ("this is a web page or XML", "save the output itself as text, not the page around it")
    } else if starts(&["procs ---", "procs  ---", "--procs--"]) || has(&["r", "b", "swpd", "free", "buff", "cache"]) {
        ("this is from `vmstat`, which does not distinguish devices", IOSTAT_REMEDY)
    } else if has(&["total reads"]) || has(&["merged reads"]) {
        ("this is from `vmstat -D`, which adds up all devices", "give `vmstat -d -t 1 30`, with a table of each")
    } else if has(&["capacity", "operations", "bandwidth"]) {
        ("this is from `zpool iostat`, which counts what a pool does, not its devices", IOSTAT_REMEDY)
    } else if starts(&["3;fio-", "4;fio-", "5;fio-", "2;"]) || has(&[";fio-"]) {
        ("this is fio's terse output of version 2, which has no IOPS, or its fields were changed", JSON_REMEDY)
    } else if has(&["iops=", "bw="]) || starts(&["lat (usec)", "lat (msec)", "clat (", "read: iops", "write: iops"]) {
        (
            "this is a part of fio's normal output, without the jobs it belongs to",
            "give the whole output, or its figures: `--claim 'iops=10k,lat=3ms,qd=32'`",
        )
    } else if starts(&["# hostname;interval;timestamp;", "# uptime_cs; "]) {
        ("this is from `sadf`", "give `sar -d -p -f FILE`, which prints the same as a table")
    } else if starts(&["# help ", "# type "]) {
        (
            "these are metrics of Prometheus, but neither counters of disks nor histograms of times",
            "give the lines of `node_disk_*`, or of a histogram such as `etcd_disk_wal_fsync_duration_seconds`",
        )
    } else if has(&["blks_read"]) || has(&["blk_read_time"]) || has(&["buffers_checkpoint"]) || has(&["wal_sync_time"])
    {
        (
            "this is a view of PostgreSQL that does not tell how long requests of each kind took",
            "give `psql --csv -c 'SELECT * FROM pg_stat_io'`, of version 16 or later",
        )
    } else if has(&["%usr", "%idle"]) || has(&["%user", "%idle"]) {
        ("this is from `mpstat` or `sar`, which do not distinguish devices", IOSTAT_REMEDY)
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
