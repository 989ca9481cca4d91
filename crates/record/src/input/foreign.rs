//! What something else looks like, and how to make what can be read.

use super::InputError;
use super::text::{InputText, MAKE};

/// Bytes at the start of files that are no text.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "compressed with gzip", "unpack it: `gunzip FILE`"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it: `unzstd FILE`"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it: `unxz FILE`"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it: `unzip FILE`"),
    (b"%PDF", "a PDF document", MAKE),
    (b"\x7fELF", "a program", MAKE),
    (b"\x89PNG", "a picture", "give the text itself, not a picture of it"),
    (b"\xff\xd8\xff", "a picture", "give the text itself, not a picture of it"),
    (b"\xff\xfe", "UTF-16 text", "turn it into UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
    (b"\xfe\xff", "UTF-16 text", "turn it into UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
];

/// What refuses bytes that are no text; single bytes of another encoding pass, for figures are ASCII.
pub(super) fn refuse_binary(name: &str, bytes: &[u8]) -> Option<InputError> {
    let at = |offset: usize, what: &str, remedy: &str| {
        let before = &bytes[..offset];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        InputError {
            name: name.to_owned(),
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            length: 0,
            text: String::new(),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        }
    };
    if let Some((_, what, remedy)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Some(at(0, &format!("this is {what}"), remedy));
    }
    let nul = bytes.iter().position(|&b| b == 0);
    nul.map(|offset| at(offset, "this is no text: it has a NUL byte in it", MAKE))
}

/// What a text looks like by its lines, and how to make what can be read instead.
pub(super) fn refuse(text: &InputText) -> InputError {
    let found = text.lines().enumerate().find_map(|(index, line)| Some((index, known(line.trim())?)));
    if let Some((index, (what, remedy))) = found {
        return text.fault(index, text.line(index).trim(), what, remedy);
    }
    let first = text.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let line = text.line(first).trim();
    let commas = line.matches(',').count().max(line.matches(';').count());
    let what = if commas >= 2 {
        "this looks like a table (CSV), which may be of anything"
    } else {
        "this is neither fio's output nor a record nor `iostat -x`"
    };
    text.fault(first, line, what, MAKE)
}

const JSON_REMEDY: &str = "run fio again with `--output-format=json`, or `normal`";
const IOSTAT_REMEDY: &str = "use `iostat -x -o JSON 1 30`, or `iostat -x 1 30`, while the load runs";

/// A line that gives away what it stands in.
fn known(line: &str) -> Option<(&'static str, &'static str)> {
    let lower = line.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let has = |words: &[&str]| words.iter().all(|word| lower.contains(word));
    Some(if starts(&["<!doctype", "<html", "<?xml", "<head", "<body"]) {
        ("this is a web page or XML", "save the output itself as text, not the page around it")
    } else if starts(&["procs ---", "procs  ---"]) || has(&["r", "b", "swpd", "free", "buff", "cache"]) {
        ("this is from `vmstat`, which does not tell devices apart", IOSTAT_REMEDY)
    } else if starts(&["3;fio-", "4;fio-", "5;fio-", "2;"]) || has(&[";fio-"]) {
        ("this is fio's terse output of version 2, which has no IOPS, or its fields were changed", JSON_REMEDY)
    } else if has(&["iops=", "bw="]) || starts(&["lat (usec)", "lat (msec)", "clat (", "read: iops", "write: iops"]) {
        (
            "this is a part of fio's normal output, without the jobs it belongs to",
            "give the whole output, or its figures: `--claim 'iops=10k,lat=3ms,qd=32'`",
        )
    } else if has(&["tps", "_read/s"]) || has(&["device", "tps"]) {
        ("this is from `iostat` without `-x`, which leaves out latencies and queues", IOSTAT_REMEDY)
    } else if has(&["%usr", "%idle"]) {
        ("this is from `mpstat` or `sar`, which do not tell devices apart", IOSTAT_REMEDY)
    } else if has(&["avg-cpu:"]) {
        ("`iostat` was asked for processors alone", IOSTAT_REMEDY)
    } else if has(&["bytes", "copied"]) && has(&["/s"]) {
        ("this is from `dd`, which says nothing of latency", "measure with `fio` or `fathom run`")
    } else if starts(&["[global]"]) || (starts(&["rw=", "ioengine=", "iodepth=", "filename="])) {
        ("this is a job file, not what came out of it", "run it first: `fathom run FILE -o FILE.json`")
    } else {
        return None;
    })
}
