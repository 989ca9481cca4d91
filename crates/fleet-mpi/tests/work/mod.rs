//! Work that ranks of one host do together: one shared file, a suite, a stage that a job ends, and output for programs.

use std::path::Path;

use record::{DataKind, Input, Run};
use tempfile::TempDir;

use crate::fleet::{Ended, FLEET, PATIENT, mpirun, records, run};

const KIB: u64 = 1024;

/// Runs ranks with their output in `home/run.json`.
fn run_ranks(home: &Path, ranks: &str, words: &[&str]) -> (Ended, Run) {
    let output = home.join("run.json");
    let ended = run(mpirun(home).args(["-n", ranks, FLEET]).args(words).args([PATIENT, "-o"]).arg(&output));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let (merged, own) = records(home, &output);
    assert_eq!(own.len().to_string(), ranks);
    (ended, merged)
}

/// Words of a job that writes ten blocks of 64 KiB to a file that all ranks share.
fn shared_write(home: &Path) -> Vec<String> {
    let file = format!("--filename={}", home.join("shared").display());
    let job =
        ["run", "--split=offsets", "--name=a", "--rw=write", "--bs=64k", "--size=640k", "--ioengine=psync", &file];
    job.map(str::to_owned).to_vec()
}

fn borrowed(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn each_byte_of_a_shared_file_is_written_by_the_rank_that_owns_it() {
    let home = TempDir::new().unwrap();
    let words = shared_write(home.path());
    // The content of a block names its rank.
    let pattern = ["--verify=pattern", "--verify_pattern=0xa${RANK}"];
    let (_, merged) = run_ranks(home.path(), "3", &[&borrowed(&words)[..], &pattern].concat());
    let verified = merged.jobs[0].verified.as_ref().unwrap();
    assert_eq!((verified.written, verified.checked, verified.mismatches), (10, 10, 0), "{verified:?}");
    let content = std::fs::read(home.path().join("shared")).unwrap();
    assert_eq!(content.len() as u64, 640 * KIB);
    let regions: Vec<(u8, u64)> =
        content.chunk_by(|a, b| a == b).map(|region| (region[0], region.len() as u64)).collect();
    let written = merged.fleet.unwrap().members.into_iter().map(|member| (0xa0 + member.rank as u8, member.bytes[1]));
    assert_eq!(regions, written.collect::<Vec<_>>());
    assert!(regions.iter().all(|(_, bytes)| (3 * 64 * KIB..=4 * 64 * KIB).contains(bytes) && bytes % (64 * KIB) == 0));
}

#[test]
fn ranks_verify_what_they_wrote_to_a_shared_file() {
    let home = TempDir::new().unwrap();
    let words = shared_write(home.path());
    let (_, merged) = run_ranks(home.path(), "3", &[&borrowed(&words)[..], &["--verify=crc32c"]].concat());
    let job = &merged.jobs[0];
    let verified = job.verified.as_ref().unwrap();
    assert_eq!((verified.written, verified.checked, verified.mismatches), (10, 10, 0), "{verified:?}");
    assert_eq!((verified.unchecked, job.result.kind(DataKind::Read).bytes), (None, 640 * KIB));
    // A later run of other ranks finds a byte that changed: in the region of the second of three ranks.
    let path = home.path().join("shared");
    let mut content = std::fs::read(&path).unwrap();
    content[5 * 64 * 1024 + 1_000] ^= 1;
    std::fs::write(&path, content).unwrap();
    let check = ["--verify=crc32c", "--verify_only", PATIENT];
    let ended = run(mpirun(home.path()).args(["-n", "3", FLEET]).args(&words).args(check));
    let text = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, Some(1), "{text}");
    let mismatches: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("wrong data at offset")).collect();
    assert_eq!(mismatches.len(), 1, "{text}");
    assert!(
        mismatches[0].starts_with("error[operation]: rank 1 on ") && mismatches[0].contains("offset 328680"),
        "{text}"
    );
}

#[test]
fn a_suite_runs_on_all_ranks() {
    let home = TempDir::new().unwrap();
    let (state, output) = (home.path().join("state.json"), home.path().join("suite.json"));
    let target = format!("{}/${{RANK}}", home.path().display());
    let mut command = mpirun(home.path());
    command.args(["-n", "2", FLEET, "suite", "run", "hyperdisk", "--target", &target, "--size=4m", "--scale=0.005"]);
    let ended = run(command.arg(PATIENT).arg("--state").arg(&state).arg("-o").arg(&output));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(text.contains("\"finished\": true"), "{text}");
    // Each rank has run each step.
    let mut steps = Vec::new();
    for folder in std::fs::read_dir(home.path().join("ranks")).unwrap() {
        let files = store::rank_files(&folder.unwrap().path());
        let runs = files.iter().map(|file| record::from_json(&std::fs::read_to_string(file).unwrap()).unwrap());
        let jobs: Vec<(String, bool)> =
            runs.map(|run: Run| (run.jobs[0].name.clone(), run.jobs[0].result.ios() > 0)).collect();
        assert_eq!(jobs, vec![(jobs[0].0.clone(), true); 2]);
        steps.push(jobs[0].0.clone());
    }
    steps.sort_unstable();
    assert_eq!(steps, ["mixed", "random-read", "sequential-read"]);
    for rank in 0..2 {
        assert_eq!(std::fs::metadata(home.path().join(rank.to_string())).unwrap().len(), 4 * KIB * KIB);
    }
}

#[test]
fn a_job_with_exitall_ends_the_jobs_of_all_ranks() {
    let home = TempDir::new().unwrap();
    let jobs = "[global]\nioengine=null\nsize=1m\nthinktime=1000\ntime_based\nruntime=300\n\
                [short]\nranks=2\nruntime=1\nexitall\n[long]\n[next]\nstonewall\nruntime=1\n";
    let file = home.path().join("job.fio");
    std::fs::write(&file, jobs).unwrap();
    let (_, merged) = run_ranks(home.path(), "4", &["run", file.to_str().unwrap()]);
    let wall = |name: &str| {
        let job = merged.jobs.iter().find(|job| job.name == name).unwrap();
        (job.workers, job.result.elapsed_ns() as f64 / 1e9)
    };
    // Half of the runtime of a job that nothing ends. One that another ends may begin late on a busy host.
    for (name, workers, least) in [("short", 1, 0.9), ("long", 4, 0.0), ("next", 4, 0.9)] {
        let (found, seconds) = wall(name);
        assert_eq!(found, workers, "{name}");
        assert!((least..150.0).contains(&seconds), "{name} ran for {seconds} s");
    }
}

#[test]
fn programs_read_what_fios_client_would_print() {
    let home = TempDir::new().unwrap();
    let job = [
        "--name=a",
        "--ioengine=null",
        "--rw=randread",
        "--size=1m",
        "--thinktime=1000",
        "--runtime=1",
        "--time_based",
    ];
    let words = [&["run", "--format=fio-json"], &job[..]].concat();
    let (ended, merged) = run_ranks(home.path(), "3", &words);
    let Input::Run(read) = record::read_input("stdout", ended.stdout.as_bytes(), None).unwrap() else {
        panic!("{}", ended.stdout)
    };
    assert_eq!(ended.stdout.matches("\"jobname\" : \"a\"").count(), 3, "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("\"jobname\" : \"All clients\"").count(), 1);
    let members = merged.fleet.unwrap().members;
    let host = &members[0].hostname;
    for (member, job) in members.iter().zip(&read.jobs) {
        assert_eq!(job.name, format!("{host} rank {}/a", member.rank));
        assert_eq!((job.result.ios(), job.result.bytes()), (member.ios(), member.bytes.iter().sum()));
    }
    assert_eq!(merged.jobs[0].result.ios(), read.jobs.iter().map(|job| job.result.ios()).sum::<u64>());
}
