//! The engine `exec` runs programs as fio does, and none of them outlives its run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common;
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{PairedRun, pair_in};
use crate::common::{Scratch, fathom, require, run, wait_for, with_more_time, words};

/// Writes an executable script.
fn script(scratch: &Scratch, text: &str) {
    let path = scratch.path("program");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    let made = Command::new("chmod").arg("755").arg(&path).status().unwrap();
    assert!(made.success());
}

fn both(line: &str, text: &str) -> [PairedRun; 2] {
    pair_in(&format!("--name=a --ioengine=exec {line}"), |scratch| script(scratch, text))
}

/// fio prints lines before its JSON.
fn result(run: &PairedRun) -> Json {
    let begin = run.outcome.stdout.find('{').unwrap_or_else(|| panic!("{}", run.outcome.stderr));
    Json::read_after_notes(&run.outcome.stdout[begin..]).items("jobs")[0].clone()
}

/// Returns what a program has written to a file; nothing if it had no time for it.
fn content(run: &PairedRun, name: &str) -> String {
    std::fs::read_to_string(run.scratch.path(name)).unwrap_or_default()
}

#[test]
fn output_and_arguments_are_those_of_fio() {
    require!(Fio);
    let arguments = "--arguments=%n-%r  <%r> %x 'b' %%n --program=./program --runtime=2500ms --time_based=1";
    let mut line: Vec<String> = words("--output-format=json --name=a --ioengine=exec");
    line.extend(["--arguments=%n-%r  <%r> %x 'b c' %%n".to_owned()]);
    line.extend(words("--program=./program --runtime=2500ms --time_based=1"));
    let text = "for word in \"$@\"; do echo \"$word\"; done; echo error >&2";
    timed("programs::output_and_arguments_are_those_of_fio", || {
        let runs =
            [fathom(["fio".to_owned()].into_iter().chain(line.clone())), common::fio(&line)].map(|mut command| {
                let scratch = Scratch::new();
                script(&scratch, text);
                let outcome = run(command.current_dir(&scratch));
                PairedRun { scratch, outcome }
            });
        let printed = runs.each_ref().map(|run| ["a.stdout", "a.stderr"].map(|name| content(run, name)));
        let expected = ["a-2\n<2>\n%x\n'b\nc'\n%a\n", "error\n"];
        if printed[0] != expected || printed[1] != expected {
            return Err(format!("{arguments}: {printed:?}"));
        }
        let slices = runs.each_ref().map(|run| {
            let job = result(run);
            let nothing = ["read/io_bytes", "write/total_ios", "error"];
            assert_eq!(nothing.map(|path| job.whole(path)), [0; 3]);
            assert!(job.whole("job_runtime") >= 2400, "{}", job.whole("job_runtime"));
            job.whole("read/total_ios")
        });
        // Slices of 50 ms.
        let are_whole = slices.iter().all(|slices| (20..=50).contains(slices));
        if are_whole { Ok(()) } else { Err(format!("{slices:?} slices")) }
    });
}

#[test]
fn output_without_files_is_that_of_the_run() {
    require!(Fio);
    with_more_time(|seconds| {
        let line = format!("--program=./program --std_redirect=0 --runtime={seconds} --time_based");
        for run in both(&line, "echo said; echo warned >&2") {
            assert_eq!(run.scratch.names(), ["program"]);
            let has_said = run.outcome.stdout.lines().any(|line| line == "said");
            if !has_said || !run.outcome.stderr.lines().any(|line| line == "warned") {
                return Err(format!("{:#?}", run.outcome));
            }
        }
        Ok(())
    });
}

#[test]
fn a_program_gets_sigterm_at_the_end_of_its_job() {
    require!(Fio);
    let text = "trap 'echo term; exit' TERM; while true; do sleep 0.1; done";
    let is_told = |run: &PairedRun| content(run, "a.stdout").starts_with("term\n");
    // On a busy host, fio 3.33 ends one program in ten before it has printed.
    let is_as_in_fio = (0..10).any(|_| {
        // The program has to begin within the runtime, and to print within the grace period.
        let [ours, theirs] = with_more_time(|seconds| {
            let times = format!("--runtime={seconds} --time_based --grace_time={}", 4 * seconds);
            let both = both(&format!("--program=./program {times}"), text);
            if is_told(&both[0]) { Ok(both) } else { Err(content(&both[0], "a.stdout")) }
        });
        assert_eq!([result(&ours).whole("error"), result(&theirs).whole("error")], [0, 0]);
        is_told(&theirs)
    });
    assert!(is_as_in_fio);
}

#[test]
fn an_exit_code_matters_to_run_only() {
    require!(Fio);
    for run in both("--program=./program --runtime=1 --time_based", "exit 3") {
        assert_eq!((run.outcome.code(), result(&run).whole("error")), (Some(0), 0));
    }
    let scratch = Scratch::new();
    let line = words("run --name=a --ioengine=exec --program=false --runtime=3000");
    let outcome = run(fathom(line).current_dir(&scratch));
    assert_ne!(outcome.code(), Some(0));
    assert!(outcome.stderr.contains("cannot complete false: it exited with code 1"), "{}", outcome.stderr);
}

/// No program may take as long as the runtime.
#[test]
fn a_missing_program_is_an_error_at_once() {
    for command in ["fio", "run"] {
        let scratch = Scratch::new();
        let line =
            words(&format!("{command} --name=a --ioengine=exec --program=./missing --runtime=3000 --time_based"));
        let outcome = run(fathom(line).current_dir(&scratch));
        assert_ne!(outcome.code(), Some(0));
        assert!(outcome.stderr.contains("cannot run ./missing: No such file"), "{}", outcome.stderr);
    }
    let outcome = run(&mut fathom(words("run --name=a --ioengine=exec --runtime=1")));
    assert!(outcome.stderr.contains("`exec` needs a program"), "{}", outcome.stderr);
    let quoted = ["run", "--name=a", "--ioengine=exec", "--program=sh", "--arguments=-c 'sleep 1'", "--runtime=1"];
    let outcome = run(&mut fathom(quoted));
    assert!(outcome.stderr.contains("split at spaces only"), "{}", outcome.stderr);
}

#[test]
fn a_job_ends_with_its_program_unless_it_is_time_based() {
    let scratch = Scratch::new();
    for (options, least_ms) in [("", 0), ("--runtime=3000", 0), ("--runtime=2 --time_based", 1900)] {
        let line = format!("run --format=json --name=a --ioengine=exec --program=true {options}");
        let begin = Instant::now();
        let outcome = run(fathom(words(&line)).current_dir(&scratch));
        assert_eq!(outcome.code(), Some(0), "{line}\n{}", outcome.stderr);
        let took = begin.elapsed();
        assert!(took >= Duration::from_millis(least_ms), "{line}: {took:?}");
    }
}

#[test]
fn clones_write_files_of_their_own_and_a_dry_run_runs_nothing() {
    let scratch = Scratch::new();
    let line = "run --name=a --ioengine=exec --program=pwd --numjobs=2";
    let outcome = run(fathom(words(&format!("{line} --dry-run"))).current_dir(&scratch));
    assert!(outcome.stdout.contains("a.1: runs pwd\n"), "{}", outcome.stdout);
    assert_eq!(scratch.names(), [""; 0]);
    let outcome = run(fathom(words(line)).current_dir(&scratch));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    assert_eq!(scratch.names(), ["a.1.stderr", "a.1.stdout", "a.stderr", "a.stdout"]);
    let names = ["a.1.stdout", "a.stdout"].map(|name| std::fs::read_to_string(scratch.path(name)).unwrap());
    assert!(names.iter().all(|text| text.trim().len() > 1), "{names:?}");
}

fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn await_file(path: &Path) -> String {
    let text = || std::fs::read_to_string(path).unwrap_or_default();
    wait_for("a file of the program", || text().ends_with('\n'));
    text()
}

/// The program ignores SIGTERM and has a child; both are gone after the run ends, however it ends. If Fathom is killed,
/// only the kernel is left to kill the program, and it knows nothing of the child.
#[test]
fn no_program_outlives_its_run() {
    for (signal, ends_child) in [("INT", true), ("TERM", true), ("KILL", false)] {
        let scratch = Scratch::new();
        script(&scratch, "trap '' TERM INT HUP; sleep 3000 & echo $! > child; echo $$ > pid; wait; sleep 3000");
        let line = words("run --name=a --ioengine=exec --program=./program --runtime=3000 --time_based --grace_time=1");
        let mut fathom =
            fathom(line).current_dir(&scratch).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (pid, child) = (await_file(&scratch.path("pid")), await_file(&scratch.path("child")));
        assert!(is_alive(&pid) && is_alive(&child), "{signal}");
        let sent = Command::new("kill").args([format!("-{signal}"), fathom.id().to_string()]).status().unwrap();
        assert!(sent.success());
        fathom.wait().unwrap();
        wait_for("the end of the program", || !is_alive(&pid));
        if ends_child {
            wait_for("the end of its child", || !is_alive(&child));
        } else {
            assert!(is_alive(&child), "{signal}");
            Command::new("kill").arg("-KILL").arg(child.trim()).status().unwrap();
        }
    }
}
