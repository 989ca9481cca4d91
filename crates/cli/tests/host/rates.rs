//! Rates in real time, and thousands of jobs or files. Tests run one at a time, so that they do not compete for processors.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::common::host::{Miss, timed};
use crate::common::json::Json;
use crate::common::{Running, Scratch, fathom, fio, require, run, with_more_time, words};

fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the IOPS of the null engine with options of a rate.
fn achieved(seconds: u32, rate: &str) -> f64 {
    let line = format!(
        "fio --output-format=json --name=paced --ioengine=null --size=1g --rw=randread --bs=4k --iodepth=64 \
         --time_based --runtime={seconds} {rate}"
    );
    let outcome = run(&mut fathom(words(&line))).expect_clean();
    let document = Json::read(&outcome.stdout);
    document.number("jobs/0/read/total_ios") * 1000.0 / document.number("jobs/0/read/runtime")
}

/// Checks that a rate is kept within 0.5 %, plus the random variation of Poisson arrivals.
fn keeps(offered: u64, process: &str, seconds: u32) {
    let _alone = alone();
    let count = (offered * u64::from(seconds)) as f64;
    let variation = if process == "poisson" { 4.0 / count.sqrt() } else { 0.0 };
    timed(&format!("rates::{offered} a second, {process}"), || {
        let offered = offered as f64;
        let error = achieved(seconds, &format!("--rate_iops={offered} --rate_process={process}")) / offered - 1.0;
        if error.abs() <= 0.005 + variation {
            return Ok(());
        }
        let possible = achieved(1, "");
        let miss = format!("off by {error}, with {possible} a second without a rate");
        Err(if possible < 1.5 * offered { Miss::Host(miss) } else { Miss::Failed(miss) })
    });
}

macro_rules! rates {
    ($($name:ident: $asked:literal, $process:literal, $seconds:literal;)+) => {
        $(#[test]
        fn $name() {
            keeps($asked, $process, $seconds);
        })+
    };
}

rates! {
    a_thousand_a_second_are_kept: 1_000, "linear", 4;
    a_thousand_random_arrivals_a_second_are_kept: 1_000, "poisson", 4;
    fifty_thousand_a_second_are_kept: 50_000, "linear", 2;
    fifty_thousand_random_arrivals_a_second_are_kept: 50_000, "poisson", 2;
    four_hundred_thousand_a_second_are_kept: 400_000, "linear", 2;
    four_hundred_thousand_random_arrivals_a_second_are_kept: 400_000, "poisson", 2;
}

#[test]
#[ignore = "needs a release build and an idle machine: .ci/nightly runs it"]
fn a_million_a_second_are_kept() {
    keeps(1_000_000, "linear", 4);
}

const JOBS: usize = 1000;
const DEPTH: u64 = 32;
const BLOCK_BYTES: u64 = 4096;

/// Memory limit of a thousand jobs, without their I/O buffers.
const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// Runs a thousand jobs, and checks that all have results and that memory is bounded.
fn a_thousand_jobs(engine: &str) {
    let _alone = alone();
    with_more_time(|factor| a_thousand_jobs_for(factor, engine));
}

/// Runs them for some seconds. Fails if the time was too short for some of them to begin.
fn a_thousand_jobs_for(seconds: u32, engine: &str) -> Result<(), String> {
    let scratch = Scratch::new();
    scratch.write("shared", vec![7; 1 << 20]);
    let line = format!(
        "fio --output-format=json --name=many --filename=shared --size=1m --ioengine={engine} --rw=randread \
         --bs={BLOCK_BYTES} --iodepth={DEPTH} --numjobs={JOBS} --time_based --runtime={seconds}"
    );
    let mut running = Running::start(fathom(words(&line)).current_dir(&scratch));
    let mut peak_bytes = 0;
    while !running.has_ended() {
        peak_bytes = high_water_bytes(running.pid()).unwrap_or(0).max(peak_bytes);
        std::thread::sleep(Duration::from_millis(20));
    }
    let outcome = running.end().expect_clean();
    let document = Json::read(&outcome.stdout);
    let jobs = document.items("jobs");
    assert_eq!(jobs.len(), JOBS);
    assert!(jobs.iter().all(|job| job.whole("error") == 0));
    let buffers = JOBS as u64 * DEPTH * BLOCK_BYTES;
    println!("{engine}: {} MiB at most, {} MiB of them buffers, {:?}", peak_bytes >> 20, buffers >> 20, outcome.took);
    assert!(peak_bytes > 0);
    assert!(peak_bytes < buffers + MEMORY_MAX_BYTES, "{} MiB", peak_bytes >> 20);
    let idle = jobs.iter().filter(|job| job.whole("read/total_ios") == 0).count();
    if idle == 0 { Ok(()) } else { Err(format!("{idle} jobs did nothing")) }
}

fn high_water_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
fn a_thousand_jobs_without_a_device_are_reported() {
    a_thousand_jobs("null");
}

#[test]
fn a_thousand_jobs_with_rings_are_reported() {
    a_thousand_jobs("io_uring");
}

/// Revision 5b7d257b looked through all loop devices of the host for each file, and opened each before the run.
#[test]
fn a_job_with_many_files_took_seven_times_as_long_as_in_fio() {
    require!(Fio);
    let _alone = alone();
    // In memory, where the time is that of the programs.
    let directory = format!("/dev/shm/fathom-many-{}", std::process::id());
    let line = format!(
        "--name=f --directory={directory} --nrfiles=20000 --filesize=4k --bs=4k --rw=write --ioengine=psync --openfiles=100"
    );
    std::fs::create_dir_all(&directory).expect("there is a filesystem in memory");
    let begun = run(&mut fio(words(&line))).expect_code(0);
    println!("fio created them in {:?}", begun.took);
    timed("rates::many files", || {
        let theirs = run(&mut fio(words(&line))).expect_code(0).took;
        let ours = run(&mut fathom(words(&format!("fio {line}")))).expect_code(0);
        assert!(ours.stdout.contains("total=0,20000,0,0"), "{}", ours.stdout);
        println!("{:?}, fio {theirs:?}", ours.took);
        if ours.took < theirs * 2 { Ok(()) } else { Err(format!("{:?}, and fio {theirs:?}", ours.took)) }
    });
    std::fs::remove_dir_all(&directory).expect("the files are ours");
}
