//! Compares the fio dialect with the installed fio.
//!
//! fio's `--debug=parse` prints each number that it parsed, so the tests compare values, not only acceptance.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "runs the installed program on files of its own"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use job::{BlockSizes, Dialect, Job, Size, parse_command_line, table};

use crate::support::{World, fio_job, lines, parse, words};

/// Returns the installed fio. Without one, prints that the test is skipped, or fails under `FATHOM_NO_SKIP`.
fn fio() -> Option<PathBuf> {
    let program = std::env::var_os("FIO").map_or_else(|| PathBuf::from("fio"), PathBuf::from);
    if Command::new(&program).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "fio is not installed");
    println!("skipped: fio is not installed");
    None
}

/// A directory that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fathom-job-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory");
        Self(path)
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.0.join("test.fio");
        std::fs::write(&path, text).expect("a job file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(program: &Path, arguments: &[&str], file: &Path) -> (bool, String) {
    // With a clock given, it calibrates that of the processor once instead of twice.
    let clock = "--clocksource=clock_gettime";
    let output = Command::new(program).arg(clock).args(arguments).arg(file).output().expect("fio runs");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Returns fio's encoding of `size=`: bytes, or -1 - per cent.
fn size(size: Option<Size>) -> i128 {
    match size {
        None => 0,
        Some(Size::Bytes(bytes)) => i128::from(bytes.get() as i64),
        Some(Size::Percent(share)) => -1 - i128::from(share),
        Some(Size::Zones(_)) => panic!("no job has a size in zones"),
    }
}

fn block(job: &Job) -> i128 {
    match &job.pattern.block_sizes.read {
        BlockSizes::Fixed(size) => i128::from(*size),
        other => panic!("{other:?}"),
    }
}

/// An option, the number to compare, and values.
type Numbers = (&'static str, fn(&Job) -> i128, &'static [&'static str]);

const NUMBERS: &[Numbers] = &[
    (
        "bs",
        block,
        &[
            "4k", "4K", "4kb", "4ki", "4Ki", "4KiB", "4kib", "1m", "1MiB", "1Mi", "0x1000", "0X10", "010", "+4", "4b",
            "4bk", "4 k", " 8k", "4kfoo", "4k/50", "4e3", "4*1024", "1.5k", "8kk", "8mk", "0x1k", "0x1b", "0xfk",
            "12a", "1eb", "4k,8k", "4k:8k", "4-8k", "4k,foo", "4k,", "8kibx", "8kbb", "4k 8k", "1e-3", "16,0x10",
            "300xff", "16,0x10", "16:0x10",
        ],
    ),
    (
        "size",
        |job| size(job.extent.size),
        &[
            "1g", "1GiB", "2t", "1p", "50%", "0x10%", "12.5%", "20 %", "5%%", "101%", "125%", "-1m", "1.5m", "4096",
            "100%", "-64k", "4k,8k", "8k-4k",
        ],
    ),
    (
        "runtime",
        |job| i128::from(job.extent.runtime.micros()),
        &[
            "10", "10s", "10S", "1M", "1m", "10sec", "1min", "1.5s", "5ms", "5msec", "5msx", "5us", "5usec", "1h",
            "1d", "1hr", "1 s", "1ns", "1k", "0x10", "1:30", "10-20", "10-20ms", "1.5ms", "5m,1", "5s:1", " 10s",
            "10.", "10u", "10US", "0x10s", "+5s", "5-1s",
        ],
    ),
    ("thinktime", |job| i128::from(job.pace.thinktime.micros()), &["10", "10s", "1ms", "1M", "1.5s", " 5s", "5k"]),
    ("iodepth", |job| i128::from(job.pace.iodepth), &["8", "1k", "8foo", "0x8", " 8", "4,8", "4-8", "4:8"]),
    ("number_ios", |job| i128::from(job.extent.number_ios.unwrap_or(0)), &["100", "1k", "2m", "3,5", "3-5"]),
    (
        "rwmixread",
        |job| i128::from(job.pattern.read_ppm / 10_000),
        &["70", "0x32", "70foo", "20,80", "20:80", "-20", "20,30,90,10"],
    ),
    ("loops", |job| i128::from(job.extent.loops), &["3", "1k"]),
    ("direct", |job| i128::from(job.engine.direct), &["1", "0", "1foo", " 1", "0x1", "1k"]),
];

#[test]
fn numbers_match_fio() {
    let Some(fio) = fio() else { return };
    let scratch = Scratch::new("numbers");
    let cases: Vec<_> =
        NUMBERS.iter().flat_map(|(name, read, texts)| texts.iter().map(move |t| (*name, *read, *t))).collect();
    let mut text = String::from("[global]\nioengine=null\n");
    for (index, (name, _, value)) in cases.iter().enumerate() {
        text.push_str(&format!("[job{index}]\n{name}={value}\n"));
    }
    let (ok, output) = run(&fio, &["--debug=parse", "--parse-only"], &scratch.file(&text));
    assert!(ok, "{output}");
    let theirs = numbers(&output);
    assert_eq!(theirs.len(), cases.len());
    for ((name, read, value), theirs) in cases.into_iter().zip(theirs) {
        let ours = read(&fio_job(&format!("[a]\nioengine=null\n{name}={value}\n")));
        // fio uses the first number of a list, but the last one for these options.
        let kept = if ["size", "rwmixread"].contains(&name) { theirs.last() } else { theirs.first() };
        assert_eq!(ours, kept.copied().unwrap_or(0), "{name}={value:?}");
    }
}

/// Parses the numbers that fio printed for each section but the global one.
fn numbers(output: &str) -> Vec<Vec<i128>> {
    let number = |line: &str| line.split("out=").nth(1)?.trim().parse::<u64>().ok().map(|n| i128::from(n as i64));
    let sections = output.split("Parsing section [job").skip(1);
    sections.map(|text| text.lines().filter(|line| line.contains("  ret=0")).filter_map(number).collect()).collect()
}

/// Options that fio refuses, some for reasons that `--parse-only` does not check.
const REFUSED: &[&str] = &[
    "bs=0",
    "bs=k",
    "bs=",
    "bs=foo",
    "bs=4z",
    "bs=(4*1024)",
    "bs=99999999999999999999",
    "size=zz",
    "io_size=150%",
    "iodepth=0",
    "rwmixread=101",
    "direct=true",
    "direct=2",
    "direct=",
    "direct",
    "thread=true",
    "thread=",
    "nice=-50",
    "percentile_list=101",
    "percentile_list=foo",
    "bsrange=4k",
    "bsrange=4k-foo",
    "rw=RandRead",
    "rw= read",
    "rw=readx",
    "rw=",
    "rw=write:1k,4",
    "random_distribution=pareto:2",
    "random_distribution=zipf:1",
    "random_distribution=zipf:foo",
    "random_distribution=zipf:",
    "random_distribution=zipf:1.2,pareto:0.2",
    "random_distribution=zoned",
    "random_distribution=sequence",
    "bssplit=foo",
    "filesize=0",
    "verify=1",
    "verify_pattern=abc",
    "sync=2",
    "kb_base=512",
    "percentage_random=101",
    "nosuch=1",
    "Direct=1",
    "name",
    "filename=",
    "description=",
    "=5",
    "size",
    "runtime=foo",
    "verify_interval=10",
];

/// Options that fio accepts.
const ACCEPTED: &[&str] = &[
    "thread",
    "thread=0",
    "thread=2",
    "bsrange=8k-4k",
    "bsrange=4k:8k",
    "bsrange=4k-8k,",
    "bsrange=4k-8k,foo",
    "bssplit=4k/60:8k/60",
    "bssplit=4k:8k",
    "bssplit=",
    "bssplit=4k/x:8k/10",
    "rw=randread:8",
    "rw=read:-4k",
    "rw=read,4",
    "percentile_list=99,50",
    "percentile_list=1:0:3",
    "continue_on_error=read,write",
    "fallocate=1",
    "mem=mmap:/tmp/x",
    "file_service_type=roundrobin:foo",
    "verify_pattern=0xff%o\"abcd\"-12",
    "random_distribution=zipf",
    "random_distribution=zoned:60/10:40/90",
    "write_bw_log",
    "size=-1",
    "startdelay=1-5",
    "threads=1",
    "verifysort=1",
    "cpus_allowed=",
    "cpus_allowed=1-0",
    "ioengine=linuxaio",
    "iodepth=0,5",
    "random_distribution=zipf,zipf:1.2",
    "random_distribution=zipf:1.2x",
    "rw=randread:0",
    "rwmixread=101,50",
    "unified_rw_reporting=0",
    "include_me_not=1\nbs=4k",
];

#[test]
fn options_that_fio_refuses_are_refused() {
    let Some(fio) = fio() else { return };
    let scratch = Scratch::new("refused");
    for option in REFUSED {
        let text = format!("[a]\nioengine=null\nsize=1m\n{option}\n");
        // Run fio, because `--parse-only` omits some checks. It refuses these options before the job starts.
        let (accepted, output) = run(&fio, &[], &scratch.file(&text));
        assert!(!accepted, "fio accepts {option}: {output}");
        assert!(parse(&text, Dialect::Fio).has_errors(), "{option} is not refused");
    }
}

#[test]
fn options_that_fio_accepts_are_accepted() {
    let Some(fio) = fio() else { return };
    let scratch = Scratch::new("accepted");
    let section = |option: &str| format!("[a]\nioengine=null\nsize=1m\n{option}\n");
    let options: Vec<&str> = ACCEPTED.iter().copied().filter(|option| !option.starts_with("include")).collect();
    // One start of fio for all of them: it fails if it drops one section, and names what it refused.
    let all: String = options.iter().map(|option| section(option)).collect();
    let (accepted, output) = run(&fio, &["--parse-only"], &scratch.file(&all));
    assert!(accepted, "fio refuses an option: {output}");
    for option in options {
        let parsed = parse(&section(option), Dialect::Fio);
        assert!(!parsed.has_errors(), "{option}: {:?}", lines(&parsed.diagnostics));
    }
}

const FILES: &[&str] = &[
    "[a\nsize=1m",
    "[]\nsize=1m",
    "[a]x\nsize=1m",
    " [a]  ; x\nsize=1m",
    "[globals]\nsize=1m\n[x]\n",
    "[a]\nsize=1m\n[a]\nsize=2m",
    "[a]\nsize =1m",
    "[a]\nsize= 1m",
    "[a]\n size\t=\t1m",
    "[a]\nsize=1m;foo",
    "[a]\nsize=$pagesize",
    "[a]\nsize=10*$pagesize",
    "[a]\nsize=${NOPE}1m",
    "[a]\nname=$ncpusfoo\nsize=1m",
    "[a]\r\nsize=1m\r\n\r\n[b]\r\nsize=2m",
    "[global]\nname=zz\n[a]\nsize=1m",
    "[a]\nsize=2m\n[global]\nsize=1m\n[b]\nbs=512",
    "[a]size=5m\nsize=1m",
    "[A;b]\nsize=1m",
    "#[x]\n[b]\nsize=1m\nbs=4k #8k",
    "[a]\nhipri\nfilename=x\nioengine=io_uring\nblocksize=1k\nfixedbufs\nsize=1m\ndescription=a b",
    "[a]\nfilename=x\nbs=1k\nkb_base=1000\ndirectory=/tmp\ncpus_allowed=0\ncpus_allowed_policy=split\nreadwrite=read",
    "[a]\nfilename=/x#y\nsize=1m",
    "[global]\nbs=4k\n[a]\n[global]\nsize=1m\n[global]\niodepth=2\n[b]\nrw=write",
    "[global]\nfilename=q\nbs=4k\n[a]\n[global]\nkb_base=1000\nbs=2k\n[b]",
    "[global]\nbs=4k",
];

#[test]
fn showcmd_matches_fio() {
    let Some(fio) = fio() else { return };
    let scratch = Scratch::new("files");
    // One start of fio for all files: it prints a line for each.
    let mut command = Command::new(&fio);
    command.arg("--showcmd");
    for (number, text) in FILES.iter().enumerate() {
        let path = scratch.0.join(format!("{number}.fio"));
        std::fs::write(&path, text).expect("a job file");
        command.arg(path);
    }
    let output = command.output().expect("fio runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs: Vec<&str> = printed.lines().filter(|line| line.starts_with("fio")).map(str::trim_end).collect();
    assert_eq!(theirs.len(), FILES.len(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    for (text, theirs) in FILES.iter().zip(theirs) {
        let world = Host(World::default().with_file("test.fio", text));
        let ours = parse_command_line(&words("--showcmd test.fio"), Dialect::Fio, &world).value.showcmd;
        assert_eq!(ours.iter().map(|line| line.trim_end()).collect::<Vec<_>>(), [theirs], "{text:?}");
    }
}

/// A `World` with the number of processors that fio sees: all that are online, whichever it may use.
struct Host(World);

impl job::HostSource for Host {
    fn read(&self, path: &str) -> Result<Vec<u8>, units::Problem> {
        self.0.read(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }

    fn cpus(&self) -> u64 {
        let known = std::fs::read_to_string("/proc/cpuinfo").expect("Linux");
        known.lines().filter(|line| line.starts_with("processor")).count() as u64
    }
}

/// Other versions of fio may have more or fewer options; those of this one must be in the table.
#[test]
fn the_table_knows_every_option_of_fio() {
    let Some(fio) = fio() else { return };
    let output = Command::new(&fio).arg("--cmdhelp=all").output().expect("fio runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<&str> = text.lines().filter_map(|line| line.trim_start().split([' ', ':']).next()).collect();
    assert!(names.len() > 200, "{text}");
    let missing: Vec<_> = names.into_iter().filter(|name| table::find_all(name).is_empty()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn only_flags_accept_an_empty_value_on_the_command_line() {
    for option in ["bssplit", "cpus_allowed", "size", "write_bw_log", "description", "name"] {
        let parsed =
            parse_command_line(&words(&format!("--name=a --size=1m --{option}=")), Dialect::Fio, &World::default());
        assert!(parsed.has_errors(), "--{option}= is accepted");
    }
    assert!(!parse("[a]\nsize=1m\nbssplit=\n", Dialect::Fio).has_errors(), "a file may say `bssplit=`");
}

#[test]
fn command_line_jobs_not_named_by_an_earlier_section_option_only_set_defaults() {
    let names = |text: &str| {
        let parsed = parse_command_line(&words(text), Dialect::Fio, &World::default());
        let plan = parsed.value.plan;
        let names: Vec<_> = plan.jobs.into_iter().map(|job| job.name).collect();
        (names.join(" "), plan.globals)
    };
    assert_eq!(names("--name=x --size=1m --section=y").0, "x");
    assert_eq!(names("--section=x --name=x --size=1m").0, "x");
    // The options of an excluded job change the defaults.
    let size = vec![("size".to_owned(), "1m".to_owned())];
    assert_eq!(names("--section=y --name=x --size=1m --name=y --bs=4k"), ("y".to_owned(), size));
}

#[test]
fn warnings_match_fio() {
    let Some(fio) = fio() else { return };
    let scratch = Scratch::new("warned");
    let verified = "rw=randwrite\nverify=crc32c\n";
    let cases = [
        ("time_based\n".to_owned(), true),
        ("time_based\nruntime=1ms\n".to_owned(), false),
        (format!("{verified}norandommap\nbsrange=4k-8k\n"), true),
        (format!("{verified}norandommap\n"), false),
        (format!("{verified}random_distribution=zipf\nbsrange=4k-8k\n"), false),
        (format!("{verified}numjobs=2\nfilename=f\n"), true),
        (format!("{verified}numjobs=2\n"), false),
        (format!("{verified}numjobs=2\nfilename=f\ndo_verify=0\n"), false),
    ];
    for (options, warned) in cases {
        let text = format!("[a]\nioengine=null\nsize=64k\n{options}");
        let aux = format!("--aux-path={}", scratch.0.display());
        let (accepted, output) = run(&fio, &["--warnings-fatal", &aux], &scratch.file(&text));
        assert_eq!(accepted, !warned, "{options}: {output}");
        assert_eq!(parse(&text, Dialect::Fio).has_warnings(), warned, "{options}");
    }
}

/// The page for users of fio said that traces, zoned devices and `http` were missing.
#[test]
fn what_the_page_for_users_of_fio_calls_missing_is_refused() {
    const PAGE: &str = include_str!("../../../docs/manual/from-fio.md");
    let missing = PAGE.split("## What is not here").nth(1).unwrap().split("Simulation").next().unwrap();
    let names: Vec<&str> = missing.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        let line = match name.starts_with("--") {
            true => format!("{name}=host --name=a --size=1m"),
            false => format!("--name=a --size=1m --ioengine={name}"),
        };
        let parsed = parse_command_line(&words(&line), Dialect::Fio, &World::default());
        assert!(parsed.into_result().is_err(), "{name} is accepted");
    }
}
