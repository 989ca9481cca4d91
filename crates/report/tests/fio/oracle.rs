//! Comparison with fio: it prints one run in several formats, its `json+` is parsed, and all formats are written again
//! from the record. The output must equal fio's, character by character. The text is parsed, too.

use crate::fio::installed::{Fio, installed_fio};
use crate::fio::reading;
use job::OutputFormat;
use report::fio::{FioOptions, Terse, document};

/// Jobs that cover every part of the output, each as short as its samples allow.
const JOBS: &[(&str, &[&str])] = &[
    ("mix", &["--name=a", "--description=two words", "--ioengine=null", "--size=100m", "--rw=randrw", "--iodepth=8"]),
    ("plain", &["--name=a", "--ioengine=null", "--size=1m"]),
    ("trims", &["--name=a", "--ioengine=null", "--size=1m", "--rw=trimwrite", "--kb_base=1000"]),
    (
        "samples",
        &[
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--time_based=1",
            "--runtime=300ms",
            "--bwavgtime=60",
            "--iopsavgtime=60",
            "--iodepth=4",
        ],
    ),
    (
        "clones",
        &[
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--time_based=1",
            "--runtime=300ms",
            "--bwavgtime=60",
            "--iopsavgtime=60",
            "--numjobs=2",
            "--thread=1",
        ],
    ),
    (
        "merged",
        &["--name=a", "--ioengine=null", "--size=20m", "--rw=rw", "--numjobs=3", "--group_reporting=1", "--iodepth=2"],
    ),
    (
        "groups",
        &[
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--bs=4k:8k-16k",
            "--name=b",
            "--ioengine=null",
            "--size=3m",
            "--rw=write",
            "--stonewall",
            "--bsrange=10235-20000",
            "--bs_unaligned=1",
            "--name=c",
            "--ioengine=null",
            "--size=3m",
            "--rw=randwrite",
            "--thread=1",
        ],
    ),
    (
        "percentiles",
        &[
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--percentile_list=50:99.9:99.999:100",
            "--lat_percentiles=1",
            "--slat_percentiles=1",
            "--iodepth=3",
        ],
    ),
    ("whole percentiles", &["--name=a", "--ioengine=null", "--size=1m", "--percentile_list=1:5:10:20:30:40:99"]),
    ("fine percentiles", &["--name=a", "--ioengine=null", "--size=1m", "--percentile_list=1:5:10:20:30:99.9999"]),
    // 95, 99.5 and 99.95 per cent of 2000 are integers, which reveals how fio compares.
    ("round", &["--name=a", "--ioengine=null", "--size=8000k"]),
    ("unlisted", &["--name=a", "--ioengine=null", "--size=1m", "--clat_percentiles=0", "--disable_slat=1"]),
    ("bits", &["--name=a", "--ioengine=null", "--size=9m", "--unit_base=1", "--continue_on_error=all"]),
    (
        "device",
        &[
            "--name=a",
            "--filename=f",
            "--ioengine=libaio",
            "--iodepth=16",
            "--size=8m",
            "--rw=randrw",
            "--direct=1",
            "--time_based=1",
            "--runtime=1",
            "--bwavgtime=200",
            "--iopsavgtime=200",
        ],
    ),
    (
        "synced",
        &[
            "--name=a",
            "--filename=f",
            "--ioengine=psync",
            "--size=4m",
            "--rw=randwrite",
            "--fsync=16",
            "--time_based=1",
            "--runtime=1",
        ],
    ),
    ("data synced", &["--name=a", "--filename=f", "--ioengine=psync", "--size=4m", "--rw=randwrite", "--fdatasync=16"]),
    (
        "slow",
        &[
            "--name=a",
            "--filename=f",
            "--ioengine=psync",
            "--size=1m",
            "--rate_iops=200",
            "--rw=read",
            "--write_lat_log=x",
            "--thinktime=3000",
        ],
    ),
];

#[test]
fn rewritten_formats_equal_fios_output() {
    let Some(fio) = installed_fio() else { return };
    // All at once, because fio mostly waits.
    std::thread::scope(|scope| {
        for (label, arguments) in JOBS {
            scope.spawn(|| check(&fio, label, arguments));
        }
    });
}

fn check(fio: &Fio, label: &str, arguments: &[&str]) {
    let arguments = [&["--output-format=terse,json+,normal", "--eta=never"], arguments].concat();
    let printed = fio.output(&arguments);
    reading::agree_in(label, &without(&printed, |line| line.starts_with("3;fio-")));
    let run = record::fio::from_fio(&printed).expect(label);
    let options = FioOptions { version: fio.version, ..FioOptions::default() };
    let written = document(&run, &[OutputFormat::Normal, OutputFormat::Terse, OutputFormat::JsonPlus], options);
    assert_same(label, &without_layout(&printed), &written.replace(fio.version.name(), &fio.name));
}

#[test]
fn terse_lines_of_other_versions_equal_fios_output() {
    let Some(fio) = installed_fio() else { return };
    for (number, terse) in [("2", Terse::V2), ("4", Terse::V4), ("5", Terse::V5)] {
        let version = format!("--terse-version={number}");
        let job = ["--name=a", "--description=d", "--ioengine=null", "--size=1m", "--rw=randrw", "--iodepth=2"];
        let arguments = [&["--output-format=terse,json+", &version], &job[..]].concat();
        let printed = fio.output(&arguments);
        let run = record::fio::from_fio(&printed).expect("fio's own JSON");
        let options = FioOptions { version: fio.version, terse };
        let written = document(&run, &[OutputFormat::Terse, OutputFormat::JsonPlus], options);
        assert_same(number, &printed, &written.replace(fio.version.name(), &fio.name));
    }
}

/// Removes the lines about files that fio lays out, which depend on whether the files exist.
fn without_layout(printed: &str) -> String {
    without(printed, |line| line.contains("Laying out IO file"))
}

fn without(printed: &str, is_removed: impl Fn(&str) -> bool) -> String {
    printed.lines().filter(|line| !is_removed(line)).map(|line| format!("{line}\n")).collect()
}

/// Compares line by line. A decimal fraction may differ by one in its last digit, because fio rounds once and values
/// from JSON were rounded twice. Process numbers are not in the JSON, and the time beside them may be a second before
/// the JSON's.
fn assert_same(label: &str, printed: &str, written: &str) {
    let mut lines = written.lines();
    for (number, line) in printed.lines().enumerate() {
        let ours = lines.next().unwrap_or("(nothing)");
        assert!(same(line, ours), "{label}, line {}:\n fio: {line}\nours: {ours}", number + 1);
    }
    assert_eq!(lines.next(), None, "{label}: more lines than fio");
}

fn same(theirs: &str, ours: &str) -> bool {
    let before_process = |line: &str| line.split(" pid=").next().map(tokens).unwrap_or_default();
    let (theirs, ours) = (before_process(theirs), before_process(ours));
    theirs.len() == ours.len() && theirs.iter().zip(&ours).all(|(theirs, ours)| same_token(theirs, ours))
}

/// Splits a line into numbers and the text between them.
fn tokens(line: &str) -> Vec<String> {
    let of_number = |c: char| c.is_ascii_digit() || c == '.';
    let chars: Vec<char> = line.chars().collect();
    chars.chunk_by(|a, b| of_number(*a) == of_number(*b)).map(|chunk| chunk.iter().collect()).collect()
}

fn same_token(theirs: &str, ours: &str) -> bool {
    if theirs == ours {
        return true;
    }
    let (Some((_, fraction)), Ok(a), Ok(b)) = (theirs.split_once('.'), theirs.parse::<f64>(), ours.parse::<f64>())
    else {
        return false;
    };
    let last_place = 0.1f64.powi(fraction.len() as i32);
    ours.split_once('.').is_some_and(|(_, ours)| ours.len() == fraction.len()) && (a - b).abs() < 1.5 * last_place
}
