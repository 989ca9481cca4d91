//! Options of single engines: their effects, counts and errors are fio's.

use crate::common::json::Json;
use crate::common::pair::{PairedRun, expect_same, pair, pair_in};
use crate::common::{Scratch, fathom, fio, flat, require, run, words};

/// Creates files with data that are not in the page cache.
fn with_data(scratch: &Scratch, names: &[&str]) {
    for name in names {
        let path = scratch.write(name, vec![7; 1 << 20]);
        let file = std::fs::File::open(path).expect("it was written");
        file.sync_all().expect("it can be written back");
    }
}

const READS: &str = "--name=j --filename=data --rw=randread --bs=4k";

/// Runs jobs with one start of each program. The file of each is named after it.
fn pair_of_jobs(options: &str, lines: &[String]) -> [PairedRun; 2] {
    let names: Vec<String> = (0..lines.len()).map(|job| format!("data{job}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let jobs = names.iter().zip(lines).map(|(name, line)| format!("--name={name} --filename={name} {options} {line} "));
    pair_in(&jobs.collect::<String>(), |scratch| with_data(scratch, &names))
}

#[test]
fn operations_are_those_of_fio_with_every_option() {
    require!(Fio);
    let lines = [
        "--ioengine=io_uring --force_async=4 --iodepth=4",
        "--ioengine=io_uring --force_async=1",
        "--ioengine=io_uring --nonvectored=0",
        "--ioengine=io_uring --nonvectored=0 --fixedbufs --direct=1 --iodepth=8",
        "--ioengine=io_uring --nonvectored=1",
        "--ioengine=libaio --nowait=1 --direct=1 --iodepth=4",
        "--ioengine=libaio --userspace_reap --iodepth_batch_complete=0",
        "--ioengine=pvsync2 --nowait=0",
        "--ioengine=pvsync2 --hipri=1 --hipri_percentage=30 --direct=1",
        "--ioengine=mmap --thp=1",
        "--ioengine=psync --hugepage-size=4m",
        "--ioengine=splice",
        "--ioengine=splice --bs=256k --direct=1",
        "--ioengine=splice --rw=write",
        "--ioengine=vsync",
        "--ioengine=pvsync",
    ];
    let lines = lines.map(str::to_owned);
    expect_same(&pair_of_jobs("--rw=randread --bs=4k", &lines), 0, &format!("{lines:#?}"));
}

#[test]
fn reads_that_would_block_end_the_job_as_in_fio() {
    require!(Fio);
    for engine in ["io_uring", "libaio", "pvsync2"] {
        let line = format!("{READS} --ioengine={engine} --nowait=1");
        let [ours, theirs] = pair_in(&line, |scratch| with_data(scratch, &["data"]));
        assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)), "{line}");
        for run in [&ours, &theirs] {
            assert_eq!(run.json().whole("jobs/0/error"), 11, "{line}: EAGAIN");
            assert_eq!(run.json().whole("jobs/0/read/io_bytes"), 0, "{line}");
        }
        assert!(flat(&ours.outcome.stderr).contains("omit nowait=1"), "{}", ours.outcome.stderr);
    }
}

#[test]
fn missing_huge_pages_are_an_error_as_in_fio() {
    require!(Fio);
    let reserved = std::fs::read_to_string("/proc/sys/vm/nr_hugepages").unwrap_or_default();
    if reserved.trim() != "0" {
        return eprintln!("skipped: this host has huge pages");
    }
    let [ours, theirs] = pair("--name=j --size=64k --rw=write --ioengine=psync --mem=mmaphuge --hugepage-size=2m");
    assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)));
    assert!(ours.outcome.stderr.contains("vm.nr_hugepages"), "{}", ours.outcome.stderr);
}

#[test]
fn options_without_effect_are_refused() {
    for (line, part) in [
        ("--ioengine=psync --rw=write --atomic=1", "the engine `psync` does not support atomic writes"),
        ("--ioengine=io_uring --rw=read --uncached=1 --direct=1", "`uncached` has no effect on direct operations"),
        ("--ioengine=psync --hugepage-size=3m", "3145728 bytes is not a huge page size"),
    ] {
        let mut command = fathom(["run", "--name=j", "--size=64k"]);
        let text = flat(&run(command.args(words(line))).expect_code(2).stderr);
        assert!(text.contains(part), "{text}");
    }
}

/// Returns class, level and number of operations of each priority that fio's JSON lists for a direction.
fn priorities(json: &Json, direction: &str) -> Vec<[u64; 3]> {
    let path = format!("{direction}/prios");
    if json.find(&path).is_none() {
        return Vec::new();
    }
    let number = |one: &Json| {
        let latency = if one.find("lat_ns").is_some() { "lat_ns" } else { "clat_ns" };
        [one.whole("prioclass"), one.whole("prio"), one.whole(&format!("{latency}/N"))]
    };
    json.items(&path).iter().map(number).collect()
}

const DIRECT: &str = "--size=1m --bs=4k --direct=1 --norandommap";

#[test]
fn operations_have_priorities_as_in_fio() {
    require!(Fio);
    let halves = "--bssplit=4k/50:8k/50";
    let lines = [
        ("--rw=randread --cmdprio_percentage=0", &["read"][..]),
        ("--rw=randread --cmdprio_percentage=50 --cmdprio=3", &["read"]),
        ("--rw=randread --cmdprio_percentage=30 --cmdprio_class=2", &["read"]),
        ("--rw=randread --cmdprio_percentage=100", &["read"]),
        ("--rw=randread --cmdprio_percentage=50 --disable_clat=1", &["read"]),
        ("--rw=randread --cmdprio_percentage=50 --lat_percentiles=1", &["read"]),
        ("--rw=randrw --cmdprio_percentage=20,60", &["read", "write"]),
        (&format!("--rw=randread {halves} --cmdprio_bssplit=4k/50:8k/100/2/1"), &["read"]),
        (&format!("--rw=randread {halves} --cmdprio_bssplit=4k/30/1/0:4k/20/2/3:8k/40/3/0"), &["read"]),
        (&format!("--rw=randrw {halves} --cmdprio_bssplit=4k/50:8k/20,8k/50"), &["read", "write"]),
        ("--rw=randread --cmdprio_bssplit=8k/60", &["read"]),
    ];
    let jobs: Vec<_> = lines.iter().flat_map(|job| ["libaio", "io_uring"].map(|engine| (engine, job))).collect();
    let all: Vec<String> = jobs.iter().map(|(engine, (line, _))| format!("--ioengine={engine} {line}")).collect();
    let [ours, theirs] = pair_of_jobs(DIRECT, &all);
    assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(0), Some(0)), "{}", ours.outcome.stderr);
    let [ours, theirs] = [ours.json(), theirs.json()].map(|json| json.items("jobs").to_vec());
    assert_eq!((ours.len(), theirs.len()), (all.len(), all.len()));
    for (((_, (_, directions)), line), (ours, theirs)) in jobs.iter().zip(&all).zip(ours.iter().zip(&theirs)) {
        for direction in *directions {
            let (of_ours, of_theirs) = (priorities(ours, direction), priorities(theirs, direction));
            let names = |all: &[[u64; 3]]| all.iter().map(|[class, level, _]| (*class, *level)).collect::<Vec<_>>();
            assert_eq!(names(&of_ours), names(&of_theirs), "{line}");
            let total = ours.whole(&format!("{direction}/total_ios"));
            let sum: u64 = of_ours.iter().map(|[.., count]| count).sum();
            assert!(of_ours.is_empty() || sum == total, "{line}: {of_ours:?} of {total}");
            for ([.., ours], [.., theirs]) in of_ours.iter().zip(&of_theirs) {
                assert!(ours.abs_diff(*theirs) <= 60, "{line}: {of_ours:?} and {of_theirs:?}");
            }
        }
        assert_eq!(ours.at("read").shape(), theirs.at("read").shape(), "{line}");
    }
}

#[test]
fn impossible_priorities_are_refused_as_by_fio() {
    require!(Fio);
    for line in [
        "--cmdprio_percentage=50 --cmdprio_bssplit=4k/50",
        "--cmdprio_bssplit=4k/60:4k/60",
        "--cmdprio_bssplit=4k/60/1",
        "--cmdprio_class=4 --cmdprio_percentage=50",
    ] {
        let line = format!("--name=j --filename=data {DIRECT} --ioengine=libaio --rw=randread {line}");
        let [ours, theirs] = pair_in(&line, |scratch| with_data(scratch, &["data"]));
        assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)), "{line}");
    }
    let mut command = fathom(["run", "--name=j", "--size=64k", "--ioengine=libaio", "--cmdprio=3"]);
    let text = flat(&run(&mut command).expect_code(2).stderr);
    assert!(text.contains("`cmdprio` has no effect: no operation has a priority"), "{text}");
}

#[test]
fn the_normal_output_lists_latencies_of_priorities() {
    require!(Fio);
    let words =
        words(&format!("--name=j --filename=data {DIRECT} --ioengine=libaio --rw=randread --cmdprio_percentage=50"));
    let outputs = [fathom(std::iter::once("fio".to_owned()).chain(words.clone())), fio(&words)].map(|mut command| {
        let scratch = Scratch::new();
        with_data(&scratch, &["data"]);
        run(command.current_dir(&scratch)).expect_code(0).stdout
    });
    let titles = |text: &str| {
        let lines = text.lines().filter(|line| line.contains(" prio "));
        lines.map(|line| line.split(['(', '=']).next().unwrap_or("").trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&outputs[0]), ["clat prio 0/0", "clat prio 1/0", "clat prio 0/0", "clat prio 1/0"]);
    assert_eq!(titles(&outputs[0]), titles(&outputs[1]));
    assert!(outputs.iter().all(|text| text.contains("% of IOs) percentiles (")));
}
