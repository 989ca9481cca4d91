//! Jobs with extreme numbers in every option run or fail quickly and in little memory, and never panic. What is quick,
//! the same host shows with plain jobs, by their processor time.

use job::limits::{self, Capacity, HostLimit};
use job::table::{OPTIONS, OptionKind, OptionSpec, Status};
use job::{Dialect, EmptySource, Parsed, Plan};
use rustix::time::{ClockId, clock_gettime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use units::random::Random;
use workload::{FileFact, Issuer, WorkerIndex, map_bytes, plan_files};

use crate::common;
use crate::common::cases::cases;
use crate::common::{Outcome, Running, Scratch, require};

/// The first seed; every failure prints its seed.
const SEED: u64 = 14;
/// Jobs parsed and planned within this process by day.
const JOBS: u64 = 2_000;
/// Jobs given to the program by day.
const PROCESSES: u64 = 60;
/// Memory limit of the plans of this test.
const MEMORY: u64 = 64 << 20;
/// A refusal takes less processor time than this number of plain jobs that are only checked: about three seconds on an
/// idle host, where unlimited jobs take minutes.
const PLAIN_JOBS: f64 = 300.0;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "512",
    "4k",
    "1m",
    "1g",
    "100",
    "101",
    "100%",
    "101%",
    "30000",
    "65536",
    "1000000",
    "1000000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1t",
    "1p",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999",
    "1e9",
    "1e308",
    "NaN",
    "inf",
    "-inf",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
    "1000000d",
    "",
];
const WORDS: &[&str] =
    &["x", "a:b:c", "${A}", "$ncpus*$mb_memory*999999999999", "/dev/null", ".", "..", "0-8191", "4294967295", "é"];

/// Returns a value of an option: a number, one of its words, a list of either, or a very long value.
fn value(spec: &OptionSpec, random: &mut Random) -> String {
    let pick = |list: &[&str], random: &mut Random| list[random.below(list.len() as u64) as usize].to_owned();
    let one = |random: &mut Random| match spec.kind {
        OptionKind::Word(words) if random.below(3) > 0 => {
            let word = words[random.below(words.len() as u64) as usize];
            if random.below(2) == 0 { word.to_owned() } else { format!("{word}:{}", pick(NUMBERS, random)) }
        }
        OptionKind::Text if random.below(2) == 0 => pick(WORDS, random),
        _ => pick(NUMBERS, random),
    };
    match random.below(12) {
        0 => {
            let separator = [",", ":", "-", "/"][random.below(4) as usize];
            (0..2 + random.below(40)).map(|_| one(random)).collect::<Vec<_>>().join(separator)
        }
        1 => vec![one(random); 900].join([",", ":"][random.below(2) as usize]).chars().take(8000).collect(),
        // Lets some jobs get past their first option.
        2..6 if !spec.default.is_empty() => spec.default.to_owned(),
        _ => one(random),
    }
}

/// Engines that need no server.
const ENGINES: &[&str] = &["null", "psync", "io_uring", "libaio", "mmap", "pvsync2"];

/// Returns a job as options, with engine and size first so that most other options are reached.
fn options(random: &mut Random) -> Vec<(String, String)> {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut given = vec![pair("ioengine", ENGINES[random.below(ENGINES.len() as u64) as usize])];
    if random.below(4) > 0 {
        given.push(pair("size", ["64k", "1m", "1t", "8000p"][random.below(4) as usize]));
    }
    let rw = ["randrw", "randread", "write", "randwrite", "trimwrite", "read"];
    given.push(pair("rw", rw[random.below(6) as usize]));
    let good: Vec<&OptionSpec> = OPTIONS.iter().filter(|spec| spec.status == Status::Supported).collect();
    for _ in 0..1 + random.below(4) {
        let any = &OPTIONS[random.below(OPTIONS.len() as u64) as usize];
        let spec = if random.below(4) == 0 { any } else { good[random.below(good.len() as u64) as usize] };
        // No file outside of the test's directory is touched.
        if !["ioengine", "name", "directory", "volume", "uri", "filename"].contains(&spec.name) {
            given.push((spec.name.to_owned(), value(spec, random)));
        }
    }
    given
}

fn read(random: &mut Random, given: &[(String, String)], dialect: Dialect) -> Parsed<Plan> {
    if random.below(2) == 0 {
        let lines: String = given.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        return job::parse_file_text("job.fio", format!("[a]\n{lines}").as_bytes(), dialect, &EmptySource);
    }
    let words: Vec<String> = ["--name=a".to_owned()]
        .into_iter()
        .chain(given.iter().map(|(key, value)| format!("--{key}={value}")))
        .collect();
    job::parse_job_arguments(&words, &[], &job::InjectedOptions::default(), dialect, &EmptySource)
}

/// Plans the first operations of a plan's workers, if it is within the limits. Returns whether it is.
fn plan(plan: &Plan, dialect: Dialect, size: Option<u64>) -> bool {
    let limit = |most, source: &str| Some(HostLimit { most, source: source.to_owned() });
    let capacity = Capacity {
        threads: limit(1000, "threads"),
        memory: limit(MEMORY, "memory"),
        buffers: true,
        stack_bytes: 512 << 10,
        ..Capacity::default()
    };
    if !limits::check(plan, &capacity).is_empty() {
        return false;
    }
    let existing = |_: &str| size.map(|size| FileFact { size, block_device: size % 2 == 0, ..FileFact::default() });
    for job in &plan.jobs {
        for clone in 0..job.grouping.numjobs.min(3) {
            let worker = WorkerIndex { index: clone, clone };
            let Ok(files) = plan_files(job, dialect, worker, SEED, &existing) else { continue };
            let layout = files.layout();
            let fits = map_bytes(job, &layout).is_ok_and(|bytes| bytes <= MEMORY);
            if let Some(Ok(mut issuer)) = fits.then(|| Issuer::new(job, worker, &layout, SEED)) {
                for _ in 0..4 {
                    let _ = issuer.next(units::Nanos::ZERO);
                }
            }
        }
    }
    true
}

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Returns the peak memory of this process, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

/// f52613e panicked, hung or ran out of memory with options such as `numjobs=1e9`, `nrfiles=1e9` and `iodepth=1e9`.
#[test]
fn thousands_of_jobs_with_extreme_numbers_are_parsed_and_planned() {
    let jobs = cases(JOBS);
    println!("{jobs} jobs; the first seed is {SEED}");
    let (mut planned, mut refused, mut slowest, mut all) = (0, 0, (0.0, 0), 0.0);
    for seed in SEED..SEED + jobs {
        let mut random = Random::new(seed, 0);
        let given = options(&mut random);
        let dialect = if random.below(2) == 0 { Dialect::Fio } else { Dialect::Strict };
        let size = (random.below(2) == 0).then(|| [0, 1 << 20, u64::MAX][random.below(3) as usize]);
        let began = cpu_seconds();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let parsed = read(&mut random, &given, dialect);
            !parsed.has_errors() && plan(&parsed.value, dialect, size)
        }));
        let took = cpu_seconds() - began;
        match outcome {
            Ok(true) => planned += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("seed {seed}: {given:?}"),
        }
        all += took;
        slowest = if took > slowest.0 { (took, seed) } else { slowest };
    }
    // One of thousands that takes as long as the others together has no limit.
    assert!(slowest.0 < all / 2.0, "seed {} took {:.2} of {all:.2} s of processor time", slowest.1, slowest.0);
    println!(
        "{planned} planned, {refused} refused; slowest {:.3} s (seed {}); {} MiB",
        slowest.0,
        slowest.1,
        peak_mib()
    );
    assert!(planned > jobs / 20 && refused > jobs / 20, "{planned} planned, {refused} refused");
    assert!(peak_mib() < 256, "{} MiB", peak_mib());
}

/// Runs a program, sends SIGINT some time after it handles that, and prints its resource usage as the last line of
/// standard error.
const TIMED: &str = "
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
def handles_signals():
    try:
        lines = open(f'/proc/{pid}/status').readlines()
    except OSError:
        return False
    masks = [int(line.split()[1], 16) for line in lines if line.startswith('SigCgt:')]
    return any(mask >> signal.SIGINT - 1 & 1 for mask in masks)
next_at = None
while True:
    ended, status, used = os.wait4(pid, os.WNOHANG)
    if ended:
        break
    if next_at is None and handles_signals():
        next_at = time.monotonic() + float(sys.argv[1])
    if next_at is not None and time.monotonic() >= next_at:
        os.kill(pid, signal.SIGINT)
        next_at = time.monotonic() + 60
    time.sleep(0.01)
sys.stderr.write(f'rusage {used.ru_utime} {used.ru_stime} {used.ru_maxrss}\\n')
sys.stderr.flush()
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 200 - code)
";

/// Returns the processor time in seconds and the memory in MiB of a program, as printed by [`TIMED`].
fn measured(outcome: &Outcome) -> (f64, u64) {
    let line =
        outcome.stderr.lines().rev().find(|line| line.starts_with("rusage ")).expect("the last line of standard error");
    let figures: Vec<f64> = line.split(' ').skip(1).map(|figure| figure.parse().expect("a number")).collect();
    (figures[0] + figures[1], figures[2] as u64 / 1024)
}

/// Returns the processor time of a plain job that is only checked, in seconds: the mean of ten.
fn plain_cpu_seconds() -> f64 {
    let scratch = Scratch::new();
    let words = common::words("run --dry-run --name=a --ioengine=null --size=64k --rw=randread");
    let one = |_| measured(&Running::start(&mut timed(&words, NEVER, &scratch)).end().expect_code(0)).0;
    (0..10).map(one).sum::<f64>() / 10.0
}

/// Seconds after which a program is only ended because it hangs.
const NEVER: &str = "3600";

/// Returns a command that measures Fathom's resource usage and ends it after `seconds`, without an error.
fn timed(words: &[String], seconds: &str, scratch: &Scratch) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-ISc", TIMED, seconds, env!("CARGO_BIN_EXE_fathom")]).args(words).current_dir(scratch);
    command.env("FATHOM_NO_RECORD", "1").env("FATHOM_HOME", scratch.path("home")).env("NO_COLOR", "1");
    command.stdin(std::process::Stdio::null());
    command
}

#[test]
fn the_program_refuses_extreme_numbers_quickly_and_in_little_memory() {
    require!(Python);
    let (mut refusals, mut worst, cpu_max) = (0, (0.0, 0), PLAIN_JOBS * plain_cpu_seconds());
    let processes = cases(PROCESSES);
    for seed in SEED..SEED + processes {
        let scratch = Scratch::new();
        let mut random = Random::new(seed, 1);
        let given = options(&mut random);
        let faces: [&[&str]; 4] = [
            &["run", "--dry-run"],
            &["fio", "--parse-only"],
            &["sim", "--dry-run", "--on", "custom,iops=5000,latency=1ms,size=1TiB"],
            &["run", "--progress=off"],
        ];
        let face = faces[random.below(4) as usize];
        let measures = face[0] == "run" && face[1] != "--dry-run";
        let mut words: Vec<String> = face.iter().map(|word| (*word).to_owned()).collect();
        if random.below(2) == 0 {
            let lines: String = given.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
            std::fs::write(scratch.path("job.fio"), format!("[a]\n{lines}")).expect("a scratch file");
            words.push("job.fio".to_owned());
        } else {
            words.push("--name=a".to_owned());
            words.extend(given.iter().map(|(key, value)| format!("--{key}={value}")));
        }
        if measures {
            // Only operations that touch no device; the others are for `--dry-run`.
            words.push("--name=b".to_owned());
            words.extend(["--ioengine=null", "--size=64k"].map(str::to_owned));
        }
        let outcome = Running::start(&mut timed(&words, "0.1", &scratch)).end();
        let description = format!("seed {seed}: {words:?}: {outcome:#?}");
        let code = outcome.code().unwrap_or_else(|| panic!("{description}"));
        assert!(code != 101 && code < 200 && !outcome.stderr.contains("panicked"), "{description}");
        if code == 2 || (face[0] == "fio" && code == 1) {
            let (cpu, mib) = measured(&outcome);
            assert!(cpu < cpu_max && mib < 256, "{cpu} of {cpu_max} s, {mib} MiB: {description}");
            worst = (f64::max(worst.0, cpu), u64::max(worst.1, mib));
            refusals += 1;
        }
    }
    println!("{refusals} refused, with {:.2} s and {} MiB at most", worst.0, worst.1);
    assert!(refusals > processes / 8, "{refusals}");
}

/// A command line, the standard input, the exit code and a part of the message.
type Case<'a> = (&'a str, &'a str, i32, &'a str);

/// Comments state the behaviour of f52613e.
const CASES: &[Case<'_>] = &[
    // Read until out of memory.
    ("run /dev/zero", "", 2, "larger than 4 MiB"),
    ("run /dev/urandom", "", 2, "larger than 4 MiB"),
    ("fio /dev/zero", "", 1, "larger than 4 MiB"),
    ("run -", "/dev/zero", 2, "larger than 4 MiB"),
    ("run sparse", "", 2, "larger than 4 MiB"),
    // Waited forever.
    ("run pipe", "", 2, "no program writes to this pipe"),
    ("run .", "", 2, "Is a directory"),
    // Read 65,536 files.
    ("run loop.fio", "", 2, "includes are nested too deep"),
    // Took more than 15 s.
    ("run many.fio", "", 2, "larger than 4 MiB"),
    ("fio options.fio", "", 1, "more than 50000 options"),
    // Panicked when the kernel refused another mapping.
    ("run --name=a --ioengine=null --size=1m --numjobs=30000", "", 2, "the jobs need "),
    ("fio --name=a --ioengine=null --size=1m --numjobs=30000", "", 1, "command line:1:46: the jobs need "),
    ("fio --name=a --ioengine=null --size=1m --numjobs=10000 --write_lat_log=x", "", 1, "the jobs need "),
    // Did not end.
    (
        "run --dry-run --name=a --ioengine=null --size=1m --numjobs=1000000000",
        "",
        2,
        "the jobs need 1,000,000,000 workers",
    ),
    ("sim --on aws/gp3 --name=a --size=1m --numjobs=1000000000", "", 2, "the jobs need 1,000,000,000 workers"),
    // Out of memory.
    ("run --name=a --ioengine=null --size=1m --nrfiles=1000000000", "", 2, "the jobs need 1,000,000,000 files"),
    ("run --name=a --ioengine=io_uring --size=1m --iodepth=1000000000", "", 2, "but a ring holds 32,768"),
    ("fio --name=a --ioengine=null --size=1m --iodepth=1000000000", "", 1, "1,000,000,000 operations in flight"),
    ("run --name=a --ioengine=null --size=4g --bs=1g --iodepth=10000", "", 2, "9.77 TiB of memory"),
    // Failed in the worker, after all preparations.
    (
        "run --name=a --ioengine=null --size=8000p --rw=randread --bssplit=512/50:4k/50",
        "",
        2,
        "too many blocks for a map",
    ),
    ("run --name=a --ioengine=null --size=1m --startdelay=10000000d", "", 2, "longer than 366 days"),
    ("explain -", "/dev/zero", 2, "larger than 32 MiB"),
    ("explain pipe", "", 2, "no program writes to this pipe"),
    ("gate /dev/null --assert-file /dev/zero", "", 2, "larger than 1 MiB"),
    ("plan --from /dev/zero", "", 2, "larger than 32 MiB"),
    ("plan --iops 1e30 --bs 4k", "", 2, ""),
    ("sim --on aws/gp3 --name=a --size=1m --vary iodepth=1..1000000000/1", "", 2, "more than 100000 values"),
    ("run --repeat 1000000000 --name=a --ioengine=null --size=1m", "", 2, "1000"),
];

#[test]
fn each_limit_is_reported_quickly_and_in_64_mib() {
    require!(Python);
    let (scratch, cpu_max) = (Scratch::new(), PLAIN_JOBS * plain_cpu_seconds());
    scratch.sparse("sparse", 10 << 30);
    scratch.write("loop.fio", "[a]\ninclude loop.fio\ninclude loop.fio\n");
    scratch.write("many.fio", format!("[a]\nioengine=null\n{}", "bs=4k\n".repeat(1_000_000)));
    scratch.write("options.fio", format!("[a]\nioengine=null\n{}", "bs=4k\n".repeat(60_000)));
    let made = Command::new("mkfifo").arg(scratch.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    for (line, input, code, message) in CASES {
        let words = common::words(line);
        let mut command = timed(&words, NEVER, &scratch);
        if !input.is_empty() {
            command.stdin(std::fs::File::open(input).expect("a device"));
        }
        let outcome = Running::spawn(&mut command).end();
        assert_eq!(outcome.code(), Some(*code), "{line}: {outcome:#?}");
        assert!(outcome.stderr.contains(message), "{line}: {outcome:#?}");
        let (cpu, mib) = measured(&outcome);
        println!("{cpu:.2} s {mib:3} MiB  {line}");
        assert!(cpu < cpu_max && mib < 64 + 16, "{cpu} of {cpu_max} s, {mib} MiB: {line}");
    }
}

/// The allocator reserved 64 MiB for each of its arenas, and the program aborted.
#[test]
fn workers_under_a_limit_of_address_space_aborted() {
    let scratch = Scratch::new();
    let program = common::fathom([""; 0]).get_program().to_owned();
    let line = "run --no-record --name=a --ioengine=io_uring --rw=randread --bs=4k --size=64k --iodepth=16 --numjobs=64 \
                --filename=data --runtime=100ms --time_based";
    for kib in [80_000, 100_000, 150_000, 200_000, 300_000, 400_000] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]).arg(&program);
        let outcome = common::run(command.args(common::words(line)).current_dir(&scratch));
        let is_refused = outcome.code() == Some(2) && outcome.stderr.contains("RLIMIT_AS, see `ulimit -v`");
        assert!(is_refused || matches!(outcome.code(), Some(0 | 4)), "{kib} KiB: {outcome:#?}");
    }
}
