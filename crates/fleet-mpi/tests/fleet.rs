//! Ranks of `fathom-fleet` under `mpirun`: on one host, on three hosts with networks and clocks of their own, and with
//! ranks that die, stop or run out of space.

mod hosts;
mod launcher;
mod work;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hosts::Hosts;
use launcher::Launcher;
use record::{DataKind, Run};
use tempfile::TempDir;

const FLEET: &str = env!("CARGO_BIN_EXE_fathom-fleet");
/// Time limit of a command. Those that wait for a lost rank take ten seconds.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn mpirun(home: &Path) -> Command {
    Launcher::new().command(home)
}

/// A program that is killed when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    took: Duration,
}

/// Runs a command to its end.
#[track_caller]
fn run(command: &mut Command) -> Ended {
    end(Running(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}: ./test installs it"))))
}

#[track_caller]
fn end(mut running: Running) -> Ended {
    let started = Instant::now();
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = pipe.read_to_string(&mut text);
            text
        })
    };
    let stdout = read(Box::new(running.0.stdout.take().unwrap()));
    let stderr = read(Box::new(running.0.stderr.take().unwrap()));
    loop {
        if let Some(status) = running.0.try_wait().unwrap() {
            let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
            return Ended { code: status.code(), stdout, stderr, took: started.elapsed() };
        }
        assert!(started.elapsed() < TIME_LIMIT, "not finished after {TIME_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads the record that rank 0 wrote, and those that the ranks wrote by themselves.
fn records(home: &Path, merged: &Path) -> (Run, Vec<Run>) {
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
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = Running(child.unwrap_or_else(|error| panic!("{}: {error}", program.display())));
    let until = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < until, "nothing listens at {address}");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

/// Checks that ranks share the limit of a served volume evenly.
fn check_shares(run: &Run, ranks: u32) {
    let fleet = run.fleet.as_ref().unwrap();
    assert_eq!((fleet.ranks, fleet.missing()), (ranks, vec![]));
    let total = run.jobs[0].result.iops();
    assert!((total / VOLUME_IOPS - 1.0).abs() <= 0.02, "{ranks} ranks have {total} IOPS of {VOLUME_IOPS}");
    for member in &fleet.members {
        let share = member.ios() as f64 * f64::from(ranks) / run.jobs[0].result.ios() as f64;
        assert!((share - 1.0).abs() <= 0.05, "rank {} has {share} of its share", member.rank);
    }
}

#[test]
fn ranks_of_one_host_share_a_served_volume_and_their_records_add_up() {
    let home = TempDir::new().unwrap();
    let address = "127.0.0.1:10877";
    let _server = serve(home.path(), address);
    for ranks in [2, 4, 8] {
        let output = home.path().join(format!("{ranks}.json"));
        let ended = run(mpirun(home.path())
            .args(["-n", &ranks.to_string(), FLEET, "run", "--name=shared", "--ioengine=nbd"])
            .args([
                &format!("--uri=nbd://{address}/"),
                "--rw=randread",
                "--bs=4k",
                "--iodepth=8",
                "--runtime=3",
                "--time_based",
                "-o",
                output.to_str().unwrap(),
            ]));
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let (merged, own) = records(home.path(), &output);
        check_merged(&merged, &own);
        check_shares(&merged, ranks);
        let skew_ns = merged.fleet.as_ref().unwrap().start_skew_ns().unwrap();
        assert!(skew_ns <= 1_000_000, "{ranks} ranks started within {skew_ns} ns");
        // What is printed names every rank, and `fathom report` merges the records of ranks to the same figures.
        assert!(ended.stdout.contains(&format!("{ranks} of {ranks} on 1 host")), "{}", ended.stdout);
        let folder = home.path().join("ranks").join(&merged.fleet.as_ref().unwrap().id);
        let (again, problems) = store::read_ranks(&folder).unwrap();
        assert_eq!((again.jobs[0].result.ios(), problems), (merged.jobs[0].result.ios(), vec![]));
    }
}

#[test]
fn ranks_of_three_hosts_agree_on_their_clocks_and_share_a_volume() {
    if !Launcher::new().starts_on_hosts() {
        return skip(Launcher::new(), "is not tested on several hosts");
    }
    let Some(hosts) = Hosts::new(3) else { return };
    let home = TempDir::new().unwrap();
    let address = format!("{}:10878", hosts.bridge());
    let _server = serve(home.path(), &address);
    let output = home.path().join("run.json");
    let mut command = mpirun(home.path());
    hosts.launch(Launcher::new(), &mut command, 2);
    command.args([
        FLEET,
        "run",
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
    check_shares(&merged, 6);
    let fleet = merged.fleet.unwrap();
    assert_eq!(fleet.hosts(), 3);
    for member in &fleet.members {
        let host = member.rank / 2;
        let (clock, injected_ns) = (member.clock.unwrap(), i64::from(host) * Hosts::CLOCK_STEP_NS);
        let error_ns = clock.offset_ns.abs_diff(injected_ns);
        assert!(error_ns <= 50_000 && error_ns <= clock.error_ns, "rank {}: off by {error_ns} ns", member.rank);
        assert_eq!(member.hostname, format!("node{}", host + 1));
    }
}

fn skip(launcher: Launcher, reason: &str) {
    eprintln!("skipped: {launcher:?} {reason}");
}

/// Options of a run whose ranks depend on nothing but themselves.
const ALONE: &[&str] = &[
    "run",
    "--rank-timeout=2s",
    "--name=a",
    "--ioengine=null",
    "--rw=randread",
    "--size=64m",
    "--rate_iops=2000",
    "--time_based",
    "-o",
];

#[test]
fn a_killed_rank_of_one_host_leaves_the_others() {
    let (home, launcher) = (TempDir::new().unwrap(), Launcher::new());
    let Some(options) = launcher.keep_others() else { return skip(launcher, "ends all ranks with one") };
    if !launcher.starts_on_hosts() {
        return skip(launcher, "is not tested on several hosts");
    }
    let Some(hosts) = Hosts::new(3) else { return };
    let output = home.path().join("run.json");
    let mut command = mpirun(home.path());
    hosts.launch(launcher, &mut command, 2);
    command.args(options).arg(FLEET).args(ALONE).arg(&output).arg("--runtime=6");
    let running = Running(command.spawn().unwrap());
    let pid = launcher.process_of_rank(home.path(), 4);
    std::thread::sleep(Duration::from_millis(4_000));
    signal(pid, "KILL");
    let until = Instant::now() + Duration::from_secs(20);
    while !output.exists() {
        assert!(Instant::now() < until, "rank 0 writes no result");
        std::thread::sleep(Duration::from_millis(50));
    }
    if launcher == Launcher::OpenMpi4 {
        // On several hosts it waits for the dead rank forever: time for rank 0 to print, and an end.
        std::thread::sleep(Duration::from_millis(1_000));
        signal(running.0.id(), "TERM");
    }
    let ended = end(running);
    let text = format!("{}{}", ended.stdout, ended.stderr);
    assert!(text.contains("5 of 6 on 3 hosts") && text.contains("rank 4: no heartbeat"), "{text}");
    let (merged, own) = records(home.path(), &output);
    check_merged(&merged, &own);
    assert_eq!(merged.fleet.unwrap().missing().iter().map(|lost| lost.rank).collect::<Vec<_>>(), [4]);
}

/// Starts eight ranks that run for four seconds, with records in `home/ranks`.
fn begin_eight(home: &Path, options: &[&str]) -> Running {
    let mut command = mpirun(home);
    command.args(options).args(["-n", "8", FLEET]).args(ALONE).arg(home.join("run.json")).arg("--runtime=4");
    Running(command.spawn().expect("mpirun: ./test installs it"))
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

/// Ends one rank of eight in the middle of the run by a signal.
fn without_rank(rank: u32, name: &str, options: &[&str]) -> (TempDir, Ended) {
    let home = TempDir::new().unwrap();
    let running = begin_eight(home.path(), options);
    let pid = Launcher::new().process_of_rank(home.path(), rank);
    std::thread::sleep(Duration::from_millis(2_500));
    signal(pid, name);
    (home, end(running))
}

#[test]
fn a_killed_rank_loses_only_its_own_results() {
    let launcher = Launcher::new();
    let Some(options) = launcher.keep_others() else { return skip(launcher, "ends all ranks with one") };
    // Rank 4 is in the middle of the tree.
    let (home, ended) = without_rank(4, "KILL", options);
    assert_eq!(ended.code, Some(if launcher.keeps_exit_code() { 3 } else { 0 }), "{}", ended.stderr);
    assert!(ended.stderr.contains("error: rank 4 on ") && ended.stderr.contains("is lost: no heartbeat for"));
    assert!(ended.stdout.contains("7 of 8 on 1 host") && ended.stdout.contains("rank 4: no heartbeat"));
    let (merged, own) = records(home.path(), &home.path().join("run.json"));
    check_merged(&merged, &own);
    assert_eq!(merged.fleet.unwrap().missing().iter().map(|lost| lost.rank).collect::<Vec<_>>(), [4]);
    assert!(ended.took < Duration::from_secs(20), "{:?}", ended.took);
}

#[test]
fn a_killed_rank_under_a_launcher_that_aborts_leaves_the_records_of_the_others() {
    if !Launcher::new().warns_before_killing() {
        return skip(Launcher::new(), "kills the others at once");
    }
    let (home, ended) = without_rank(4, "KILL", &[]);
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
    assert!(text.contains("7 of 8 on 1 host") && text.contains("rank 4: there is no result of it"), "{text}");
    assert!(text.contains("Interrupted"), "{text}");
}

#[test]
fn a_stopped_rank_does_not_delay_the_others() {
    let (home, ended) = without_rank(6, "STOP", &[]);
    assert!(ended.stdout.contains("7 of 8 on 1 host") && ended.stdout.contains("rank 6: no heartbeat"));
    let (merged, _) = records(home.path(), &home.path().join("run.json"));
    assert_eq!(merged.fleet.unwrap().members.len(), 7);
    assert!(ended.took < Duration::from_secs(20), "{:?}", ended.took);
}

#[test]
fn a_full_disk_of_one_rank_is_named_and_the_others_are_reported() {
    let home = TempDir::new().unwrap();
    let small = home.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "none"]).arg(&small).status().unwrap();
    if !mounted.success() {
        assert!(std::env::var_os("FATHOM_NO_SKIP").is_none(), "a tmpfs cannot be mounted");
        return;
    }
    (0..4).filter(|rank| *rank != 2).for_each(|rank| std::fs::create_dir(home.path().join(format!("{rank}"))).unwrap());
    std::os::unix::fs::symlink(&small, home.path().join("2")).unwrap();
    let mut command = mpirun(home.path());
    command.args(["-n", "4", FLEET, "run", "--name=fill", "--ioengine=psync", "--rw=write", "--bs=64k"]);
    command.args(["--size=6m", "--rate=1500k", "--fallocate=none", "-o"]).arg(home.path().join("run.json"));
    command.arg(format!("--directory={}/${{RANK}}", home.path().display()));
    let running = Running(command.spawn().expect("mpirun: ./test installs it"));
    let _ = Launcher::new().process_of_rank(home.path(), 2);
    std::thread::sleep(Duration::from_millis(2_000));
    // Something else fills the disk.
    let filled = std::fs::write(small.join("other"), vec![1; 8 << 20]);
    assert!(filled.is_err(), "the disk has 8 MiB");
    let ended = end(running);
    let unmounted = Command::new("umount").arg(&small).status().unwrap();
    assert!(unmounted.success());
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
    let ended = run(mpirun(home.path()).args(["-n", "3", FLEET, "run", "--name=a", "--ioengine=null", "--rw=randred"]));
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("error[").count(), 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("rank 1"), "{}", ended.stderr);
}

#[test]
fn a_shared_file_that_does_not_exist_is_laid_out_once() {
    let home = TempDir::new().unwrap();
    let wanted: u64 = 64 << 20;
    for (round, ranks) in [4, 8, 8].into_iter().enumerate() {
        let (data, output) = (home.path().join(format!("data.{round}")), home.path().join(format!("{round}.json")));
        let ended = run(mpirun(home.path())
            .args(["-n", &ranks.to_string(), FLEET, "run", "--name=shared", "--ioengine=psync", "--rw=randread"])
            .args(["--bs=4k", "--size=64m", "--number_ios=100", &format!("--filename={}", data.display()), "-o"])
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
