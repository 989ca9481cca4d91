//! Recognizes output of other programs and suggests remedies.

use super::text::InputText;
use super::{InputError, MAKE};

/// Returns an error that guesses the program which wrote a text.
pub(super) fn refuse(text: &InputText) -> InputError {
    let all = || text.lines().enumerate().filter_map(|(index, line)| Some((index, known(line.trim())?)));
    // A job file may stand above what came out of it.
    let found = all().find(|(_, reason)| *reason != JOB_FILE).or_else(|| all().next());
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

const JSON_REMEDY: &str = "run fio again with `--output-format=json`, or `normal`";
const IOSTAT_REMEDY: &str = "use `iostat -x -o JSON 1 30`, or `iostat -x 1 30`, while the load runs";

/// Recognizes a line that identifies its program.
fn known(line: &str) -> Option<(&'static str, &'static str)> {
    let lower = line.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let has = |words: &[&str]| words.iter().all(|word| lower.contains(word));
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
    } else if has(&["bytes", "copied"]) && has(&["/s"]) {
        ("this is from `dd`, which says nothing of latency", "measure with `fio` or `fathom run`")
    } else if starts(&["[global]"]) || (starts(&["rw=", "ioengine=", "iodepth=", "filename="])) {
        JOB_FILE
    } else {
        return None;
    })
}
