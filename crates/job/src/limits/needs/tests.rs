use super::*;
use crate::{Dialect, EmptySource, parse_file_text};

fn plan(text: &str) -> Plan {
    let parsed = parse_file_text("a.fio", text.as_bytes(), Dialect::Strict, &EmptySource);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.value
}

fn limit(most: u64, source: &str) -> Option<HostLimit> {
    Some(HostLimit { most, source: source.to_owned() })
}

fn host() -> Capacity {
    Capacity {
        threads: limit(10_000, "kernel.threads-max"),
        descriptors: limit(4096, "RLIMIT_NOFILE"),
        held_files: 1024,
        mappings: limit(65_530, "vm.max_map_count"),
        memory: limit(8 << 30, "MemAvailable"),
        address_space: None,
        ring_entries: limit(32_768, "IORING_MAX_ENTRIES"),
        stack_bytes: 512 << 10,
        buffers: true,
    }
}

/// Returns the only problem as `LINE CODE: message`.
fn problem(text: &str, capacity: &Capacity) -> String {
    let found = check(&plan(text), capacity);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    let reported = &found[0];
    assert!(reported.help.is_some());
    format!("{} {}: {}", reported.place.as_ref().map_or(0, |place| place.line), reported.code, reported.what)
}

#[test]
fn an_exceeded_limit_is_reported_at_its_option() {
    let on_file = "[a]\nioengine=io_uring\nsize=1m\n";
    let cases = [
        (
            "numjobs=30000",
            "4 too-many-workers: the jobs need 30,000 threads, but the limit is 10,000 (kernel.threads-max)",
        ),
        ("numjobs=1000000000", "4 too-many-workers: the jobs need 1,000,000,000 workers, but the limit is 1,048,576"),
        ("nrfiles=1000000000", "4 too-many-files: the jobs need 1,000,000,000 files, but the limit is 1,048,576"),
        ("nrfiles=5000", "4 too-many-files: the jobs need 5,014 open files, but the limit is 4,096 (RLIMIT_NOFILE)"),
        (
            "iodepth=1000000000",
            "4 too-many-in-flight: job `a` keeps 1,000,000,000 operations in flight, but a ring holds",
        ),
        ("numjobs=2000", "4 too-many-files: the jobs need 6,012 open files, but the limit is 4,096"),
        ("iomem_align=1g\niodepth=16", "4 too-much-memory: the jobs need 16.0 GiB of memory, but the limit is 8 GiB"),
        (
            "bs=1g\niodepth=9",
            "4 too-much-memory: the jobs need 9.00 GiB of memory, but the limit is 8 GiB (MemAvailable)",
        ),
        ("startdelay=1000000d", "4 out-of-range: job `a`: startdelay is "),
        ("thinktime=1000000d", "4 out-of-range: job `a`: thinktime is "),
        ("thinktime=1s\nthinktime_iotime=1000000d", "5 out-of-range: job `a`: thinktime_iotime is "),
    ];
    for (option, expected) in cases {
        let reported = problem(&format!("{on_file}{option}\n"), &host());
        assert!(
            reported.starts_with(expected) || reported.contains("GiB of memory, but") && expected.contains("memory"),
            "{reported}"
        );
        assert_eq!(reported.split(':').next(), expected.split(':').next(), "{reported}");
    }
}

#[test]
fn concurrent_jobs_add_up_and_the_largest_are_listed() {
    let job = |name: &str, rest: &str| format!("[{name}]\nioengine=io_uring\nsize=8g\nbs=1g\n{rest}");
    let together = format!("{}{}{}", job("a", "iodepth=2\n"), job("b", "iodepth=5\n"), job("c", "iodepth=3\n"));
    let found = check(&plan(&together), &host());
    assert!(found[0].notes[0].starts_with("job `b` needs 5"), "{found:?}");
    assert_eq!(found[0].notes.len(), 3);
    assert_eq!(found[0].place.as_ref().map(|place| place.line), Some(9), "{found:?}");
    let apart = together.replace("bs=1g", "bs=1g\nstonewall");
    assert_eq!(check(&plan(&apart), &host()), []);
}

#[test]
fn modelled_workers_need_no_threads_or_buffers() {
    let memory = Capacity { memory: limit(8 << 30, "MemAvailable"), ..Capacity::default() };
    let many = "[a]\nioengine=null\nsize=1m\niodepth=8\nnumjobs=20000\n";
    assert_eq!(check(&plan(many), &memory), []);
    assert!(problem(&many.replace("20000", "900000"), &memory).contains("of memory"));
    assert!(problem(&many.replace("=8\n", "=100000\n"), &memory).contains("operations in flight"));
}

/// They took 5 GiB and gave no result.
#[test]
fn a_hundred_thousand_modelled_workers_were_started() {
    let memory = Capacity { memory: limit(20 << 30, "MemAvailable"), ..Capacity::default() };
    let many = |options: &str| format!("[a]\nioengine=null\nsize=1m\nnumjobs=100000\n{options}");
    let expected = "4 too-much-memory: the jobs need 8.27 GiB of memory in addition to buffers, but the limit is 5 GiB \
                    (a quarter of MemAvailable)";
    assert_eq!(problem(&many(""), &memory), expected);
    let histograms = problem(&many("rw=randrw\nlat_percentiles=1"), &memory);
    assert!(histograms.contains("the jobs need 16.9 GiB of memory in addition to buffers"), "{histograms}");
    let long = problem(&many("runtime=1h\ntime_based").replace("100000", "10000"), &memory);
    assert!(long.contains("the jobs need 7.04 GiB of memory in addition to buffers"), "{long}");
    let short = many("runtime=1s\ntime_based").replace("100000", "70000");
    assert_eq!(check(&plan(&short), &memory), []);
    let stages = |count: usize| -> String {
        (0..count).map(|name| format!("[{name}]\nstonewall\nioengine=null\nsize=1m\nnumjobs=50000\n")).collect()
    };
    assert_eq!(check(&plan(&stages(3)), &memory), []);
    let results = problem(&stages(4), &memory);
    assert!(results.contains("the jobs need 5.72 GiB of memory for results, but the limit is 5 GiB"), "{results}");
}

#[test]
fn the_lower_one_of_memory_and_address_space_is_divided() {
    let little = Capacity { address_space: limit(100 << 20, "RLIMIT_AS"), stack_bytes: 0, ..host() };
    let jobs = "[a]\nioengine=null\nsize=1m\nnumjobs=200\n";
    let expected = "4 too-much-memory: the jobs need 38.6 MiB of memory in addition to buffers, but the limit is 25 MiB \
                    (a quarter of RLIMIT_AS)";
    assert_eq!(problem(jobs, &little), expected);
    // Buffers may take more.
    assert_eq!(check(&plan("[a]\nioengine=null\nsize=1m\nbs=10m\niodepth=8\n"), &little), []);
    let files = "[a]\nioengine=filestat\nsize=1g\nbs=4k\nnrfiles=200000\n";
    assert!(problem(files, &little).starts_with("5 too-much-memory: "), "its line is that of nrfiles");
}

#[test]
fn overflowing_sums_exceed_the_limit() {
    let text = "[a]\nioengine=null\nsize=1m\nbs=1g\niodepth=2147483647\nnumjobs=2147483647\nnrfiles=2147483647\n";
    assert_eq!(check(&plan(text), &host()).len(), 1);
    let little = Capacity { memory: limit(1, "MemAvailable"), buffers: true, ..Capacity::default() };
    let buffers = "[a]\nioengine=null\nsize=1m\nbs=1g\niodepth=16000000\n";
    assert!(problem(buffers, &little).starts_with("5 too-much-memory: the jobs need 15.3 PiB of memory"));
    let threads = "[a]\nioengine=psync\nsize=1m\nnumjobs=8000\n";
    let few = Capacity { descriptors: None, mappings: limit(40_000, "vm.max_map_count"), ..host() };
    assert!(problem(threads, &few).starts_with("4 too-many-workers: the jobs need 49,024 memory mappings"));
}

#[test]
fn helper_threads_and_their_files_count() {
    let job = |options: &str| format!("[a]\nioengine=psync\nsize=1m\nio_submit_mode=offload\n{options}\n");
    let host = Capacity { descriptors: limit(1 << 20, "RLIMIT_NOFILE"), mappings: None, ..host() };
    let reported = problem(&job("iodepth=10000"), &host);
    assert_eq!(
        reported,
        "5 too-many-workers: the jobs need 10,001 threads, but the limit is 10,000 (kernel.threads-max)"
    );
    let few = Capacity { descriptors: limit(1024, "RLIMIT_NOFILE"), ..host.clone() };
    let reported = problem(&job("iodepth=100\nnrfiles=20"), &few);
    assert!(reported.contains("the jobs need 2,032 open files"), "{reported}");
    assert_eq!(check(&plan(&job("iodepth=9000")), &host), []);
    // In virtual time there are no threads.
    let modelled = Capacity { buffers: false, ..host };
    assert_eq!(check(&plan(&job("iodepth=10000")), &modelled), []);
}

/// Descriptors in use by the process count once, not for each job. The write gate held 256 that were not counted, so
/// workers failed with EMFILE.
#[test]
fn descriptors_held_by_the_write_gate_count() {
    let host = Capacity { descriptors: limit(1024, "RLIMIT_NOFILE"), held_files: 256, ..host() };
    let on_files = |options: &str| format!("[a]\nioengine=psync\nsize=4g\n{}\n", options.replace(' ', "\n"));
    let reported = problem(&on_files("rw=write nrfiles=1000"), &host);
    assert_eq!(reported, "5 too-many-files: the jobs need 1,268 open files, but the limit is 1,024 (RLIMIT_NOFILE)");
    let fits = [
        "rw=write nrfiles=756",
        "rw=read nrfiles=1000",
        "rw=write nrfiles=1000 openfiles=700",
        "rw=write numjobs=100 filename=a",
    ];
    for options in fits.into_iter().chain(["rw=write nrfiles=1000 verify=crc32c verify_only=1"]) {
        assert_eq!(check(&plan(&on_files(options)), &host), [], "{options}");
    }
}

#[test]
fn two_hundred_small_jobs_fit() {
    let text: String = (0..200).map(|i| format!("[{i}]\nioengine=io_uring\nsize=1m\n")).collect();
    assert_eq!(check(&plan(&text), &host()), []);
}
