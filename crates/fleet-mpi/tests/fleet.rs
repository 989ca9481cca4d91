//! Ranks of `fathom-fleet` under `mpirun`: on one host, on three hosts with networks and clocks of their own, and with
//! ranks that die, stop or run out of space.

use record::{DataKind, Run};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

use crate::host::{Miss, timed, within};
use crate::hosts::Hosts;
use crate::launcher::Launcher;

pub(crate) const FLEET: &str = env!("CARGO_BIN_EXE_fathom-fleet");
/// Ends only what hangs.
const TIME_LIMIT: Duration = Duration::from_secs(400);
/// Option of ranks none of which is lost: one that is only slow must not count as lost.
pub(crate) const PATIENT: &str = "--rank-timeout=300s";

pub(crate) fn mpirun(home: &Path) -> Command {
    Launcher::new().command(home)
}

/// Waits until something has come about, and returns it.
#[track_caller]
pub(crate) fn await_that<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < TIME_LIMIT, "waited for {TIME_LIMIT:?} until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Calls a test that loses a rank with one time limit of ranks after the other, in seconds, until it succeeds: a busy host
/// may keep a living rank silent for the shorter ones. It fails as it does with the last.
pub(crate) fn with_growing_timeout(test: impl Fn(u64)) {
    let succeeds = |seconds: u64| {
        let outcome = catch_unwind(AssertUnwindSafe(|| test(seconds)));
        outcome.inspect_err(|_| eprintln!("repeated with more than {seconds} s")).is_ok()
    };
    if ![2, 8].into_iter().any(succeeds) {
        test(32);
    }
}

/// A program that is killed when the test fails, and what it prints.
struct Running {
    child: Child,
    stdout: Printed,
    stderr: Printed,
}

impl Running {
    #[track_caller]
    fn start(command: &mut Command) -> Self {
        let child = command.spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}: ./test builds or installs it"));
        let (stdout, stderr) = (Printed::by(child.stdout.take()), Printed::by(child.stderr.take()));
        Self { child, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What comes out of a pipe, read by a thread.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Printed {
    fn by(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let read = |mut pipe: Box<dyn Read + Send>| {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(count @ 1..) = pipe.read(&mut part) {
                    bytes.lock().unwrap().extend_from_slice(&part[..count]);
                }
            })
        };
        let thread = pipe.map(|pipe| read(Box::new(pipe)));
        Self { bytes, thread }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn finish(&mut self) -> String {
        self.thread.take().into_iter().for_each(|thread| thread.join().unwrap());
        self.so_far()
    }
}

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    took: Duration,
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Ended {
    end(Running::start(command))
}

#[track_caller]
fn end(mut running: Running) -> Ended {
    let started = Instant::now();
    let status = await_that("the command ends", || running.child.try_wait().unwrap());
    let (stdout, stderr) = (running.stdout.finish(), running.stderr.finish());
    Ended { code: status.code(), stdout, stderr, took: started.elapsed() }
}

/// Reads the record that rank 0 wrote, and those that the ranks wrote by themselves.
pub(crate) fn records(home: &Path, merged: &Path) -> (Run, Vec<Run>) {
    let read = |path: &Path| record::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let run = read(merged);
    let folder = home.join("ranks").join(&run.fleet.as_ref().unwrap().id);
    (run, store::rank_files(&folder).iter().map(|path| read(path)).collect())
}

/// Checks that a record is the sum of the ranks' own, to the operation and to the bucket.
fn check_merged(merged: &Run, own: &[Run]) {
    assert_eq!(merged.fleet.as_ref().unwrap().members.len(), own.len());
    for kind in DataKind::ALL {
        let of = |run: &Run| run.jobs[0].result.kind(kind).clone();
        assert_eq!(of(merged).ios, own.iter().map(|run| of(run).ios).sum::<u64>());
        assert_eq!(of(merged).bytes, own.iter().map(|run| of(run).bytes).sum::<u64>());
        let mut concatenated = meter::Latency::default();
        own.iter().for_each(|run| concatenated.merge(&(&of(run).service).into()));
        let concatenated = record::LatencyStats::from(&concatenated);
        assert_eq!(of(merged).service.buckets, concatenated.buckets);
        for percent in [50.0, 90.0, 99.0, 99.9] {
            assert_eq!(of(merged).service.percentile_ns(percent), concatenated.percentile_ns(percent));
        }
    }
}

/// The volume of the tests: its limit is the only thing that matters.
const VOLUME_IOPS: f64 = 4_000.0;

/// Serves a volume at an address.
fn serve(home: &Path, address: &str) -> Running {
    let volume = format!("aws/gp3,size=1TiB,iops={VOLUME_IOPS}");
    let program = Path::new(FLEET).with_file_name("fathom");
    let mut command = Command::new(&program);
    command.args(["serve", &volume, "--listen", address, "--insecure", "--progress", "off"]).env("FATHOM_HOME", home);
    let server = Running::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
    await_that(&format!("something listens at {address}"), || std::net::TcpStream::connect(address).ok());
    server
}

/// Compares the shares of ranks in the limit of a served volume.
fn compare_shares(run: &Run, ranks: u32) -> Result<(), String> {
    let fleet = run.fleet.as_ref().unwrap();
    assert_eq!((fleet.ranks, fleet.missing()), (ranks, vec![]));
    let total = run.jobs[0].result.iops();
    if (total / VOLUME_IOPS - 1.0).abs() > 0.02 {
        return Err(format!("{ranks} ranks have {total} IOPS of {VOLUME_IOPS}"));
    }
    for member in &fleet.members {
        let share = member.ios() as f64 * f64::from(ranks) / run.jobs[0].result.ios() as f64;
        if (share - 1.0).abs() > 0.05 {
            return Err(format!("rank {} has {share} of its share", member.rank));
        }
    }
    Ok(())
}

/// Time within which ranks of an idle host start, and plain threads wake up.
const SKEW: Duration = Duration::from_millis(1);

/// Returns how far apart this many plain threads return that wait for the same instant, as ranks do for their start: the
/// most of several rounds.
fn spread_of_threads(count: u32) -> Duration {
    /// Ranks poll for the last microseconds.
    const POLLED: Duration = Duration::from_micros(60);
    let round = |_| {
        let due = Instant::now() + Duration::from_millis(20);
        let wait = || {
            std::thread::sleep(due.saturating_duration_since(Instant::now()).saturating_sub(POLLED));
            while Instant::now() < due {
                std::hint::spin_loop();
            }
            Instant::now()
        };
        let woken: Vec<Instant> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(wait)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        woken.iter().max().unwrap().duration_since(*woken.iter().min().unwrap())
    };
    (0..5).map(round).max().unwrap()
}

/// Explains a failure by the host if its plain threads wake up far apart.
fn miss(spread: Duration, failure: String) -> Miss {
    if spread > SKEW { Miss::Host(format!("plain threads wake up within {spread:?}")) } else { Miss::Failed(failure) }
}

#[test]
fn ranks_of_one_host_share_a_served_volume_and_their_records_add_up() {
    for ranks in [2, 4, 8] {
        let name = format!("fleet::ranks_of_one_host_share_a_served_volume_and_their_records_add_up, {ranks} ranks");
        timed(&name, || share_on_one_host(ranks));
    }
}

fn share_on_one_host(ranks: u32) -> Result<(), Miss> {
    let home = TempDir::new().unwrap();
    let address = "127.0.0.1:10877";
    let _server = serve(home.path(), address);
    let spread = spread_of_threads(ranks);
    let output = home.path().join("run.json");
    let ended = run(mpirun(home.path())
        .args(["-n", &ranks.to_string(), FLEET, "run", PATIENT, "--name=shared", "--ioengine=nbd"])
        .args([
            &format!("--uri=nbd://{address}/"),
            "--rw=randread",
            "--bs=4k",
            "--iodepth=8",
            "--runtime=2",
            "--time_based",
            "-o",
            output.to_str().unwrap(),
        ]));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let (merged, own) = records(home.path(), &output);
    check_merged(&merged, &own);
    // What is printed names every rank, and `fathom report` merges the records of ranks to the same figures.
    assert!(ended.stdout.contains(&format!("{ranks} of {ranks} on 1 host")), "{}", ended.stdout);
    let folder = home.path().join("ranks").join(&merged.fleet.as_ref().unwrap().id);
    let (again, problems) = store::read_ranks(&folder).unwrap();
    assert_eq!((again.jobs[0].result.ios(), problems), (merged.jobs[0].result.ios(), vec![]));
    let skew = Duration::from_nanos(merged.fleet.as_ref().unwrap().start_skew_ns().unwrap());
    println!("{ranks} ranks started within {skew:?}, plain threads within {spread:?}");
    let started = within(skew, SKEW + 10 * spread).map_err(|failure| format!("start of {ranks} ranks: {failure}"));
    compare_shares(&merged, ranks).and(started).map_err(|failure| miss(spread, failure))
}

#[test]
fn ranks_of_three_hosts_agree_on_their_clocks_and_share_a_volume() {
    if !Launcher::new().starts_on_hosts() {
        return skip(Launcher::new(), "is not tested on several hosts");
    }
    let Some(hosts) = Hosts::new(3) else { return };
    let name = "fleet::ranks_of_three_hosts_agree_on_their_clocks_and_share_a_volume";
    timed(name, || share_on_three_hosts(&hosts));
}

fn share_on_three_hosts(hosts: &Hosts) -> Result<(), Miss> {
    const RANKS: u32 = 6;
    let home = TempDir::new().unwrap();
    let address = format!("{}:10878", hosts.bridge());
    let _server = serve(home.path(), &address);
    let spread = spread_of_threads(RANKS);
    let output = home.path().join("run.json");
    let mut command = mpirun(home.path());
    hosts.launch(Launcher::new(), &mut command, 2);
    command.args([
        FLEET,
        "run",
        PATIENT,
        "--name=shared",
        "--ioengine=nbd",
        "--rw=randread",
        "--bs=4k",
        "--iodepth=8",
        "--runtime=3",
    ]);
    command.args(["--time_based", &format!("--uri=nbd://{address}/"), "-o", output.to_str().unwrap()]);
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let (merged, own) = records(home.path(), &output);
    check_merged(&merged, &own);
    let shares = compare_shares(&merged, RANKS);
    let fleet = merged.fleet.unwrap();
    assert_eq!(fleet.hosts(), 3);
    let mut farthest = Ok(());
    for member in &fleet.members {
        let host = member.rank / 2;
        assert_eq!(member.hostname, format!("node{}", host + 1));
        // A clock that is not measured within a second has no offset.
        let clock = member.clock.ok_or_else(|| miss(spread, format!("rank {} has no clock", member.rank)))?;
        let error_ns = clock.offset_ns.abs_diff(i64::from(host) * Hosts::CLOCK_STEP_NS);
        assert!(error_ns <= clock.error_ns, "rank {}: off by {error_ns} ns", member.rank);
        farthest = farthest.and(within(Duration::from_nanos(error_ns), Duration::from_micros(50) + 10 * spread));
    }
    shares.and(farthest).map_err(|failure| miss(spread, failure))
}

fn skip(launcher: Launcher, reason: &str) {
    eprintln!("skipped: {launcher:?} {reason}");
}

/// Arguments of a run of twice the time limit of ranks, which depend on nothing but themselves, with the result in
/// `home/run.json`.
fn alone(home: &Path, timeout_s: u64) -> Vec<String> {
    let (file, output) = (home.join("data.${RANK}"), home.join("run.json"));
    let words = ["run", "--name=a", "--ioengine=psync", "--rw=write", "--bs=512", "--size=64m", "--fallocate=none"];
    let own = [
        format!("--rank-timeout={timeout_s}s"),
        format!("--runtime={}", 2 * timeout_s),
        format!("--filename={}", file.display()),
        format!("--output={}", output.display()),
    ];
    let rate = ["--rate_iops=2000", "--time_based"];
    words.into_iter().chain(rate).map(str::to_owned).chain(own).collect()
}

/// Waits until all ranks of a run that [`alone`] describes have written a thousand blocks.
fn await_begin(home: &Path, ranks: u32) {
    let is_written = |rank: u32| written_bytes(&home.join(format!("data.{rank}"))) >= 1_000 * 512;
    await_that("all ranks write", || (0..ranks).all(is_written).then_some(()));
}

/// Returns the bytes of a file that have data, which may be fewer than its size.
fn written_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| 512 * metadata.blocks())
}

#[test]
fn a_killed_rank_of_one_host_leaves_the_others() {
    let launcher = Launcher::new();
    if launcher.keep_others().is_none() {
        return skip(launcher, "ends all ranks with one");
    }
    if !launcher.starts_on_hosts() {
        return skip(launcher, "is not tested on several hosts");
    }
    let Some(hosts) = Hosts::new(3) else { return };
    with_growing_timeout(|timeout_s| without_rank_4_of_three_hosts(&hosts, timeout_s));
}

fn without_rank_4_of_three_hosts(hosts: &Hosts, timeout_s: u64) {
    let (home, launcher) = (TempDir::new().unwrap(), Launcher::new());
    let output = home.path().join("run.json");
    let mut command = mpirun(home.path());
    hosts.launch(launcher, &mut command, 2);
    command.args(launcher.keep_others().unwrap()).arg(FLEET).args(alone(home.path(), timeout_s));
    let running = Running::start(&mut command);
    let pid = launcher.process_of_rank(home.path(), 4);
    await_begin(home.path(), 6);
    signal(pid, "KILL");
    await_that("rank 0 writes a result", || output.exists().then_some(()));
    if launcher == Launcher::OpenMpi4 {
        // On several hosts it waits for the dead rank forever, also after rank 0 has printed.
        await_that("rank 0 prints", || running.stdout.so_far().contains("rank 4: no heartbeat").then_some(()));
        signal(running.child.id(), "TERM");
    }
    let ended = end(running);
    let text = format!("{}{}", ended.stdout, ended.stderr);
    assert!(text.contains("5 of 6 on 3 hosts") && text.contains("rank 4: no heartbeat"), "{text}");
    let (merged, own) = records(home.path(), &output);
    check_merged(&merged, &own);
    assert_eq!(merged.fleet.unwrap().missing().into_iter().flat_map(|lost| lost.ranks).collect::<Vec<_>>(), [4]);
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

/// Ends one rank of eight by a signal when all have begun.
fn without_rank(rank: u32, name: &str, options: &[&str], timeout_s: u64) -> (TempDir, Ended) {
    let home = TempDir::new().unwrap();
    let mut command = mpirun(home.path());
    command.args(options).args(["-n", "8", FLEET]).args(alone(home.path(), timeout_s));
    let running = Running::start(&mut command);
    let pid = Launcher::new().process_of_rank(home.path(), rank);
    await_begin(home.path(), 8);
    signal(pid, name);
    (home, end(running))
}

/// Checks that the others have not waited for a lost rank much longer than the time limit asks of them, which is twice
/// that for the load, and twice to miss the rank.
fn check_delay(ended: &Ended, timeout_s: u64) {
    assert!(ended.took < Duration::from_secs(10 * timeout_s), "{:?} with {timeout_s} s", ended.took);
}

#[test]
fn a_killed_rank_loses_only_its_own_results() {
    let launcher = Launcher::new();
    let Some(options) = launcher.keep_others() else { return skip(launcher, "ends all ranks with one") };
    with_growing_timeout(|timeout_s| others_continue_without_rank_4(launcher, options, timeout_s));
}

fn others_continue_without_rank_4(launcher: Launcher, options: &[&str], timeout_s: u64) {
    // Rank 4 is in the middle of the tree.
    let (home, ended) = without_rank(4, "KILL", options, timeout_s);
    assert_eq!(ended.code, Some(if launcher.keeps_exit_code() { 3 } else { 0 }), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("error[connection]: rank 4 on ") && ended.stderr.contains("is lost: no heartbeat for")
    );
    assert!(ended.stdout.contains("7 of 8 on 1 host") && ended.stdout.contains("rank 4: no heartbeat"));
    let (merged, own) = records(home.path(), &home.path().join("run.json"));
    check_merged(&merged, &own);
    assert_eq!(merged.fleet.unwrap().missing().into_iter().flat_map(|lost| lost.ranks).collect::<Vec<_>>(), [4]);
    check_delay(&ended, timeout_s);
}

#[test]
fn a_killed_rank_under_a_launcher_that_aborts_leaves_the_records_of_the_others() {
    if !Launcher::new().warns_before_killing() {
        return skip(Launcher::new(), "kills the others at once");
    }
    with_growing_timeout(others_leave_records_without_rank_4);
}

fn others_leave_records_without_rank_4(timeout_s: u64) {
    // The first time it is the second that the launcher gives them by itself.
    let options = Launcher::new().seconds_before_killing(timeout_s / 2);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let (home, ended) = without_rank(4, "KILL", &options, timeout_s);
    assert_ne!(ended.code, Some(0));
    let folders: Vec<PathBuf> =
        std::fs::read_dir(home.path().join("ranks")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let report = Command::new(Path::new(FLEET).with_file_name("fathom"))
        .args(["report", folders[0].to_str().unwrap()])
        .env("FATHOM_HOME", home.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&report.stdout);
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    assert!(text.contains("7 of 8 on 1 host") && text.contains("rank 4: it left no result"), "{text}");
    assert!(text.contains("Interrupted"), "{text}");
}

#[test]
fn a_stopped_rank_does_not_delay_the_others() {
    with_growing_timeout(|timeout_s| {
        let (home, ended) = without_rank(6, "STOP", &[], timeout_s);
        assert!(ended.stdout.contains("7 of 8 on 1 host") && ended.stdout.contains("rank 6: no heartbeat"));
        let (merged, _) = records(home.path(), &home.path().join("run.json"));
        assert_eq!(merged.fleet.unwrap().members.len(), 7);
        check_delay(&ended, timeout_s);
    });
}

/// A small disk that is unmounted when it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts 8 MiB at a new directory; `None` if this user may not.
    fn new(at: PathBuf) -> Option<Self> {
        std::fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "none"]).arg(&at).status().unwrap();
        mounted.success().then_some(Self(at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn a_full_disk_of_one_rank_is_named_and_the_others_are_reported() {
    // The load takes 4 s, 16 s or 64 s, in which the disk is filled.
    with_growing_timeout(|seconds| rank_2_fills_its_disk(3_000 / seconds));
}

fn rank_2_fills_its_disk(rate_kib: u64) {
    let home = TempDir::new().unwrap();
    let Some(small) = SmallDisk::new(home.path().join("small")) else {
        assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "a tmpfs cannot be mounted");
        return;
    };
    (0..4).filter(|rank| *rank != 2).for_each(|rank| std::fs::create_dir(home.path().join(format!("{rank}"))).unwrap());
    std::os::unix::fs::symlink(&small.0, home.path().join("2")).unwrap();
    let mut command = mpirun(home.path());
    command.args(["-n", "4", FLEET, "run", PATIENT, "--name=fill", "--ioengine=psync", "--rw=write", "--bs=64k"]);
    command.args(["--size=6m", &format!("--rate={rate_kib}k"), "--fallocate=none", "-o"]);
    command.arg(home.path().join("run.json")).arg(format!("--directory={}/${{RANK}}", home.path().display()));
    let running = Running::start(&mut command);
    let files = || std::fs::read_dir(&small.0).unwrap().flatten();
    await_that("rank 2 writes", || files().any(|file| written_bytes(&file.path()) > 0).then_some(()));
    // Something else fills the disk.
    let filled = std::fs::write(small.0.join("other"), vec![1; 8 << 20]);
    assert!(filled.is_err(), "the disk has 8 MiB");
    let ended = end(running);
    let output = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, Some(3), "{output}");
    assert!(output.contains("rank 2 on ") && output.contains("No space left on device"), "{output}");
    let (merged, own) = records(home.path(), &home.path().join("run.json"));
    check_merged(&merged, &own);
    let failed: Vec<u32> = merged
        .fleet
        .unwrap()
        .members
        .iter()
        .filter(|member| member.failure.is_some())
        .map(|member| member.rank)
        .collect();
    assert_eq!(failed, [2]);
}

#[test]
fn a_mistake_is_printed_once() {
    let home = TempDir::new().unwrap();
    let mut command = mpirun(home.path());
    let ended = run(command.args(["-n", "3", FLEET, "run", PATIENT, "--name=a", "--ioengine=null", "--rw=randred"]));
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("error[").count(), 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("rank 1"), "{}", ended.stderr);
}

#[test]
fn a_shared_file_that_does_not_exist_is_laid_out_once() {
    let home = TempDir::new().unwrap();
    let wanted: u64 = 16 << 20;
    for (round, ranks) in [4, 8].into_iter().enumerate() {
        let (data, output) = (home.path().join(format!("data.{round}")), home.path().join(format!("{round}.json")));
        let ended = run(mpirun(home.path())
            .args(["-n", &ranks.to_string(), FLEET, "run", "--name=shared", "--ioengine=psync", "--rw=randread"])
            .args(["--bs=4k", "--size=16m", "--number_ios=100", &format!("--filename={}", data.display()), PATIENT])
            .arg("-o")
            .arg(&output));
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let (merged, own) = records(home.path(), &output);
        check_merged(&merged, &own);
        assert_eq!(merged.jobs[0].result.kind(DataKind::Read).ios, 100 * ranks);
        let content = std::fs::read(&data).unwrap();
        assert_eq!(content.len() as u64, wanted);
        assert!(content.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "a block of zeroes");
    }
}
