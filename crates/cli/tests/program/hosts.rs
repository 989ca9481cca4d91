//! `fathom sim --hosts`: many hosts in virtual time.

use record::Run;
use std::process::Command;

use crate::common::{Outcome, Scratch, fathom, run, words};

const JOB: &str = "--name=a --rw=randread --bs=4k --iodepth=16 --runtime=500ms --time_based";

fn sim(options: &str) -> Outcome {
    run(fathom(["sim"]).args(words(options)).args(words(JOB)))
}

#[test]
fn a_thousand_hosts_take_less_than_a_gibibyte_and_have_a_row_each() {
    let scratch = Scratch::new();
    let output = scratch.path("run.json");
    let program = fathom([""; 0]).get_program().to_owned();
    let mut command = Command::new("sh");
    // A limit of the address space, which the program cannot exceed.
    command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""]).arg(program).args(["sim", "--no-record"]);
    command.args(["--on", "aws/io2,size=1TiB,iops=64000,machine=m5.large", "--hosts", "1000", "-o"]).arg(&output);
    command.args(words(JOB)).args(["--numjobs=3", "--group_reporting"]);
    let ended = run(&mut command).expect_clean();
    assert!(ended.stdout.contains("1000 of 1000 on 1000 hosts") && ended.stdout.contains("984 more between these"));
    assert!(ended.stdout.contains("limit is volume IOPS shared by 1000 hosts"), "{}", ended.stdout);
    let run: Run = record::from_json(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let fleet = run.fleet.unwrap();
    assert_eq!((fleet.members.len(), run.jobs.len(), run.jobs[0].workers), (1000, 1, 3000));
    assert_eq!(fleet.members.iter().map(record::RankRecord::ios).sum::<u64>(), run.jobs[0].result.ios());
    let model = run.model.unwrap();
    assert!(model.stages.len() < 10 && fleet.members.iter().all(|member| member.series.intervals.len() <= 30));
}

#[test]
fn a_grid_of_hosts_shows_where_the_volume_is_the_limit() {
    let grid = sim("--no-record --on aws/io2,size=1TiB,iops=64000,machine=m5.large --vary hosts=1..8").expect_clean();
    let answer = "ANSWER    hosts=4 is enough: 64.6k IOPS at 990 us (limit: volume IOPS shared by 4 hosts); hosts=8";
    assert!(grid.stdout.starts_with(answer), "{}", grid.stdout);
    let rows: Vec<&str> = grid.stdout.lines().skip_while(|line| !line.trim_start().starts_with("hosts ")).collect();
    let limits = [
        "machine maximum IOPS",
        "machine maximum IOPS per host",
        "volume IOPS shared by 4 hosts",
        "volume IOPS shared by 8 hosts",
    ];
    assert_eq!(rows.len(), limits.len() + 1, "{}", grid.stdout);
    for (row, limit) in rows[1..].iter().zip(limits) {
        assert!(row.ends_with(limit), "{}", grid.stdout);
    }
    let both = sim("--no-record --on custom,iops=1000,latency=1ms --hosts 3 --vary iodepth=1,2").expect_clean();
    assert!(both.stdout.contains("volume IOPS shared by 3 hosts"), "{}", both.stdout);
}

#[test]
fn numbers_of_hosts_are_checked_and_real_time_has_one_host() {
    for (options, expected) in [
        ("--on custom,iops=1000 --hosts 0", "0 is not in 1..=10000"),
        ("--on custom,iops=1000 --hosts 10001", "10001 is not in 1..=10000"),
        ("--on custom,iops=1000 --vary hosts=2,0", "hosts=0 is not a number from 1 to 10000"),
        ("--on custom,iops=1000 --hosts 10000 --numjobs=2147483647", "simulate fewer hosts"),
    ] {
        let refused = sim(options);
        let refused = refused.expect_code(2);
        assert!(refused.stderr.contains(expected), "{options}: {}", refused.stderr);
    }
    for on in ["--on custom,iops=1000", "--filename=/dev/null --ioengine=io_uring"] {
        let refused = run(fathom(["run", "--hosts", "2"]).args(words(on)).args(words(JOB))).expect_code(2);
        let help = ["fathom sim --hosts N", "mpirun -n N fathom-fleet run"];
        assert!(help.iter().all(|text| refused.stderr.contains(text)), "{}", refused.stderr);
        assert!(refused.stderr.contains("fathom: 1 error; nothing was touched"), "{}", refused.stderr);
    }
}

#[test]
fn a_dry_run_describes_hosts_and_their_volumes_once() {
    let shared = sim("--on custom,iops=1000 --hosts 3 --dry-run").expect_clean();
    assert!(shared.stdout.starts_with("on 3 simulated hosts, each with its own machine and page cache\n"));
    assert_eq!(shared.stdout.matches("/dev/modelled").count(), 1, "{}", shared.stdout);
    let own = sim("--on custom,iops=1000 --hosts 3 --dry-run --filename=/dev/${HOST}").expect_clean();
    assert!(
        ["/dev/host0:", "/dev/host1:", "/dev/host2:"].iter().all(|path| own.stdout.contains(path)),
        "{}",
        own.stdout
    );
}

#[test]
fn a_job_file_of_a_run_on_many_hosts_is_predicted() {
    let scratch = Scratch::new();
    let file = scratch.path("job.fio");
    let text = "[global]\nrw=randread\nruntime=2\ntime_based\niodepth=4\n[few]\nranks=0-1\n[all]\nstonewall\n";
    std::fs::write(&file, text).unwrap();
    let base = "--no-record --on custom,iops=1000,latency=1ms,jitter=0ms";
    let of_file = |options: &str| run(fathom(["sim"]).args(words(&format!("{base} {options}"))).arg(&file));
    let ended = of_file("--hosts 4").expect_clean();
    assert!(ended.stdout.contains("4 of 4 on 4 hosts"), "{}", ended.stdout);
    for (job, workers) in [("few", 2), ("all", 4)] {
        let line = ended.stdout.lines().find(|line| line.starts_with(&format!("{job}  randread"))).unwrap_or_default();
        assert!(line.ends_with(&format!("depth 4, {workers} workers")), "{}", ended.stdout);
    }
    let refused = of_file("");
    assert!(refused.expect_code(2).stderr.contains("or `fathom sim --hosts N`"));
    std::fs::write(&file, text.replace("0-1", "4")).unwrap();
    let refused = of_file("--hosts 4").expect_code(2);
    let messages = ["none of the 4 simulated hosts is selected by `ranks`", "job.fio:7", "simulate more hosts"];
    assert!(messages.iter().all(|text| refused.stderr.contains(text)), "{}", refused.stderr);
    let grid = of_file("--vary hosts=5,1").expect_code(2);
    assert!(grid.stderr.contains("the only simulated host is not selected by `ranks`"), "{}", grid.stderr);
}

#[test]
fn work_is_divided_among_hosts() {
    let write = |options: &str| {
        let job =
            "--no-record --on custom,size=10GiB,iops=100,latency=1ms,jitter=0ms --name=a --rw=write --bs=1m --size=1g";
        run(fathom(["sim"]).args(words(job)).args(words(options)))
    };
    for kind in ["size", "offsets"] {
        let ended = write(&format!("--hosts 4 --split {kind} --filename=/dev/x")).expect_clean();
        assert!(ended.stdout.contains("1,024 operations, 1 GiB in 10.2 s"), "{}", ended.stdout);
    }
    let grid = write("--vary hosts=1,2 --split files --nrfiles=4").expect_clean();
    let rows = grid.stdout.lines().skip_while(|line| !line.trim_start().starts_with("hosts ")).skip(1);
    assert_eq!(rows.filter(|line| line.contains(" 100 ")).count(), 2, "{}", grid.stdout);
    let refused = write("--split size").expect_code(2);
    let messages = ["--split needs simulated hosts", "add `--hosts N` or `--vary hosts=RANGE`"];
    assert!(messages.iter().all(|text| refused.stderr.contains(text)), "{}", refused.stderr);
    let refused = write("--hosts 4 --split files").expect_code(2);
    assert!(refused.stderr.contains("1 files cannot be divided among 4 ranks"), "{}", refused.stderr);
}
