//! Simulations whose points are divided among ranks under `mpirun`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

use crate::fleet::{PATIENT, await_that, with_growing_timeout};
use crate::launcher::Launcher;

const FLEET: &str = env!("CARGO_BIN_EXE_fathom-fleet");

fn words(text: &str) -> std::str::SplitWhitespace<'_> {
    text.split_whitespace()
}

/// Returns the output of the command on this many ranks.
fn on_ranks(home: &Path, ranks: u32, arguments: &str) -> Output {
    let mut command = Launcher::new().command(home);
    command.args(["-n", &ranks.to_string(), FLEET]).args(words(arguments)).arg(PATIENT);
    command.output().expect("mpirun: ./test installs it")
}

/// Returns the output of the same command of `fathom`.
fn alone(home: &Path, arguments: &str) -> Output {
    let program: PathBuf = Path::new(FLEET).with_file_name("fathom");
    let output = Command::new(program).args(words(arguments)).env("FATHOM_HOME", home).output();
    output.expect("fathom: ./test builds it")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GRID: &str = "sim --on gcp/pd-ssd,size=1TiB --name=a --rw=randread --runtime=300ms";

#[test]
fn ranks_together_give_what_one_process_gives() {
    let home = TempDir::new().unwrap();
    for (ranks, arguments) in [
        (3, format!("{GRID} --vary iodepth=1..64 --vary bs=4k,16k")),
        // More ranks than points.
        (4, format!("{GRID} --vary hosts=1,2,4")),
        // The variable is the number of a simulated host, not of the rank that simulates it.
        (2, format!("{GRID} --filename=data.${{RANK}} --size=1g --vary hosts=2,3")),
        // So is the work that is divided.
        (2, format!("{GRID} --size=1g --vary hosts=2,3 --split offsets")),
        (3, "sweep --on gcp/pd-ssd,size=1TiB --vary bs=4k,16k,64k,256k".to_owned()),
        (3, "plan --iops 15k --capacity 1TiB --latency 2ms".to_owned()),
        (2, "plan --iops 15k --capacity 1TiB --no-simulation".to_owned()),
    ] {
        let (many, one) = (on_ranks(home.path(), ranks, &arguments), alone(home.path(), &arguments));
        assert!(one.status.success() && many.status.success(), "{arguments}: {}", text(&many.stderr));
        assert_eq!(text(&many.stdout), text(&one.stdout), "{arguments}");
    }
    // Rank 0 has saved each grid and sweep once.
    let saved = std::fs::read_dir(home.path().join("runs")).unwrap();
    let names: Vec<String> = saved.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.iter().filter(|name| name.contains("-sweep-")).count(), 10, "{names:?}");
}

#[test]
fn what_cannot_be_divided_is_refused_once() {
    let home = TempDir::new().unwrap();
    for (arguments, message) in [
        (GRID.to_owned(), "one simulation cannot be divided among ranks"),
        ("sweep --on gcp/pd-ssd".to_owned(), "one search on a model cannot be divided among ranks"),
        (
            "sweep --on gcp/pd-ssd --real-time --vary bs=4k,8k".to_owned(),
            "each rank would have its own modelled volume",
        ),
        (
            "sweep --ioengine=model --volume=gcp/pd-ssd --vary bs=4k,8k".to_owned(),
            "each rank would have its own modelled volume",
        ),
        (
            "run --name=a --ioengine=model --volume=gcp/pd-ssd".to_owned(),
            "each rank would have its own modelled volume",
        ),
        ("plan --iops 15k --split size".to_owned(), "--split: each rank simulates different points"),
        (format!("{GRID} --vary iodepth=1,2 --shard 1/2"), "the points are already divided among the ranks"),
        (format!("{GRID} --vary iodepth=1,x"), "`x` is not a number"),
    ] {
        let refused = on_ranks(home.path(), 3, &arguments);
        let errors = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments}: {errors}");
        assert_eq!(errors.matches(message).count(), 1, "{arguments}: {errors}");
        assert!(refused.stdout.is_empty(), "{}", text(&refused.stdout));
    }
}

/// Returns the processor time of a process in seconds, of `proc_pid_stat(5)`.
fn processor_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // A clock tick is 10 ms.
    [11, 12].iter().filter_map(|index| fields.get(*index)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[test]
fn points_of_a_killed_rank_are_simulated_by_rank_0() {
    let launcher = Launcher::new();
    let Some(options) = launcher.keep_others() else { return };
    with_growing_timeout(|timeout_s| without_rank_1(launcher, options, timeout_s));
}

fn without_rank_1(launcher: Launcher, options: &[&str], timeout_s: u64) {
    let home = TempDir::new().unwrap();
    // Each point takes seconds, and more of them if the kill came too late.
    let runtime_s = 12 + 6 * timeout_s;
    let arguments = format!(
        "sim --on custom,size=1TiB,iops=200000,latency=100us --name=a --rw=randread --iodepth=64 --runtime={runtime_s} \
         --vary bs=4k,8k,16k --no-record"
    );
    let mut command = launcher.command(home.path());
    command.args(options).args(["-n", "3", FLEET]).args(words(&arguments));
    command.arg(format!("--rank-timeout={timeout_s}s"));
    let running = command.spawn().expect("mpirun: ./test installs it");
    let pid = launcher.process_of_rank(home.path(), 1);
    // It has joined and simulates.
    await_that("rank 1 simulates", || {
        assert!(Path::new(&format!("/proc/{pid}")).exists(), "rank 1 ended before it was killed");
        (processor_seconds(pid) >= 0.3).then_some(())
    });
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
    let ended = running.wait_with_output().unwrap();
    let errors = text(&ended.stderr);
    assert!(errors.contains("rank 1 on ") && errors.contains("is lost: rank 0 computes its points"), "{errors}");
    let one = alone(home.path(), &arguments);
    assert_eq!(text(&ended.stdout), text(&one.stdout));
}
