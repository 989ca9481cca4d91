//! `fathom gate` on simulated runs: verdicts, errors, exit codes, JUnit and Markdown.

use serde_json::Value;
use std::fmt::Write;

use crate::common::{Outcome, Scratch, fathom, require, run, run_saved, words};
use crate::runs::{LOAD, simulated};

#[track_caller]
fn gate(text: &str) -> Outcome {
    run(&mut fathom(words(&format!("gate {text}"))))
}

#[test]
fn expectations_that_do_not_hold_exit_with_1() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let page = gate(&format!("{a} --assert read.iops>=300 --assert read.lat.p99<=1s")).expect_clean().stdout;
    assert!(page.starts_with("ANSWER    Pass: all 2 assertions hold.\n"), "{page}");
    assert!(page.contains("✓ read.iops>=300") && page.contains("22.1% headroom"), "{page}");
    let failed = gate(&format!("{a} --assert read.iops>=300 --assert read.lat<=1us")).expect_code(1);
    assert_eq!(failed.stderr, "");
    assert!(failed.stdout.contains("✗ read.lat<=1us"), "{}", failed.stdout);
    let answer = "ANSWER    Fail: 1 of 2 assertions, read.lat<=1us: it is ";
    assert!(failed.stdout.starts_with(answer), "{}", failed.stdout);
    let unknown = gate(&format!("{a} --assert write.iops<=1 --assert job(x).read.iops>0")).expect_code(1).stdout;
    assert!(unknown.contains("the run does not have this figure") && unknown.contains("no job `x`"), "{unknown}");
    let findings = gate(&format!("{a} --assert findings.warnings==0 --assert findings.short_run<1")).expect_clean();
    assert!(findings.stdout.contains("all 2"), "{}", findings.stdout);
}

#[test]
fn a_page_that_cannot_be_made_is_refused_before_anything_is_judged() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    for option in ["--junit missing/x.xml", "-o missing/x.md"] {
        let refused = gate(&format!("{a} --assert read.iops<=1 {option}")).expect_code(2);
        assert!(refused.stderr.contains("create its directory") && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    let full = gate(&format!("{a} --assert read.iops<=1 --junit /dev/full")).expect_code(3);
    assert!(full.stderr.contains("--junit /dev/full: No space left"), "{}", full.stderr);
}

#[test]
fn expectations_of_files_and_of_the_command_line_are_combined() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let file = scratch.write("limits.txt", "read.iops>=1 # at least\n");
    let page = gate(&format!("{a} --assert read.iops>=300 --assert-file {file}")).expect_clean().stdout;
    assert!(page.starts_with("ANSWER    Pass: all 2 assertions hold.\n"), "{page}");
    gate(&format!("{a} --assert read.iops<=1")).expect_code(1);
}

#[test]
fn noise_alone_does_not_fail_a_percentage_of_the_baseline() {
    let scratch = Scratch::new();
    let short = "--name=reads --rw=randread --iodepth=1 --runtime=10 --time_based";
    let [one, other] = [1, 2].map(|seed| simulated(&scratch, &format!("{seed}.json"), 10_000, seed, short));
    let of_baseline = format!("{one} --baseline {other} --assert read.iops>=100%");
    let passed = gate(&of_baseline).expect_clean().stdout;
    assert!(passed.contains("within noise"), "this run is below the baseline: {passed}");
    gate(&format!("{of_baseline} --strict")).expect_code(1);
    let slow = simulated(&scratch, "slow.json", 11_000, 9, LOAD);
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let failed = gate(&format!("{slow} --baseline {a} --assert read.iops>=97% --force")).expect_code(1).stdout;
    assert!(failed.contains("off (change -"), "{failed}");
    gate(&format!("{a} --baseline {slow} --assert read.iops>=97% --force")).expect_clean();
}

#[test]
fn a_baseline_of_another_workload_is_refused() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let b = simulated(&scratch, "b.json", 10_000, 1, &LOAD.replace("iodepth=4", "iodepth=64"));
    let refused = gate(&format!("{a} --baseline {b} --assert read.iops>=95%")).expect_code(2);
    assert!(refused.stderr.contains("iodepth is 64 in the baseline and 4 in the candidate"), "{}", refused.stderr);
    let anyway = gate(&format!("{a} --baseline {b} --assert read.iops>=1% --force")).expect_clean().stdout;
    assert!(anyway.contains("BASIS     not the same: "), "{anyway}");
    gate(&format!("{a} --baseline {b} --assert read.iops>=1")).expect_clean();
    let none = gate(&format!("{a} --assert read.iops>=95%")).expect_code(2);
    assert!(none.stderr.contains("--baseline RUN") && none.stderr.contains("read.iops>=95%"), "{}", none.stderr);
}

/// The mean over runs of different depths was judged.
#[test]
fn runs_of_different_options_are_no_repeats() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let b = simulated(&scratch, "b.json", 10_000, 1, &LOAD.replace("iodepth=4", "iodepth=64"));
    let refused = gate(&format!("{a},{b} --assert read.iops>=1")).expect_code(2);
    assert!(refused.stderr.contains(&format!("iodepth is 4 in {a} and 64 in another run")), "{}", refused.stderr);
    gate(&format!("{a},{b} --assert read.iops>=1 --force")).expect_clean();
    gate(&format!("{a} --baseline {a},{b} --assert read.iops>=1")).expect_code(2);
}

#[test]
fn all_errors_are_reported_with_their_places() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let file = scratch.write("limits.txt", "# limits\nread.iops>=300\n  write.lat.p99<=2   # no unit\nread.speed>1\n");
    let refused = gate(&format!("{a} --assert read.iops>=fast --assert-file {file}")).expect_code(2);
    assert_eq!(refused.stdout, "");
    for part in [
        "--assert=read.iops>=fast",
        "limits.txt:3:18",
        "limits.txt:4:1",
        "needs a unit",
        "3 errors; nothing was touched",
    ] {
        assert!(refused.stderr.contains(part), "`{part}` is missing:\n{}", refused.stderr);
    }
    let none = scratch.text("none.txt");
    for (words, why) in [
        (a.clone(), "no expectations specified"),
        (format!("{a} --assert-file {none}"), "none.txt"),
        (format!("{a} --assert-file {}", scratch.as_ref().display()), "--assert-file"),
        (format!("{none} --assert read.iops>1"), "none.txt"),
        (format!("{a} --assert read.iops>1 --junit {a}"), "one of the compared runs"),
        (format!("{a} --assert read.iops>=1% --baseline {a}"), "given twice"),
    ] {
        let refused = gate(&words).expect_code(2);
        assert!(refused.stderr.contains(why), "{words}: {}", refused.stderr);
    }
    let comments = scratch.write("comments.txt", "# nothing\n\n");
    let refused = gate(&format!("{a} --assert-file {comments}")).expect_code(2);
    assert!(refused.stderr.contains("contains no expectations"), "{}", refused.stderr);
}

#[test]
fn a_thousand_expectations_are_checked() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let mut text = String::new();
    (1..=1000).for_each(|n| writeln!(text, "read.lat<={n}s").unwrap());
    let file = scratch.write("many.txt", &text);
    let page = gate(&format!("{a} --assert-file {file}")).expect_clean().stdout;
    assert!(page.starts_with("ANSWER    Pass: all 1000 assertions hold.\n"), "{}", &page[..200]);
}

#[test]
fn untrustworthy_figures_exit_with_4_unless_findings_are_expected() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    record["jobs"][0]["result"]["errors"] = 7.into();
    record["jobs"][0]["result"]["first_error"] = 5.into();
    let failed = scratch.write("errors.json", record.to_string());
    let page = gate(&format!("{failed} --assert read.iops>=1")).expect_code(4).stdout;
    assert!(page.starts_with("ANSWER    Cannot tell: read.iops>=1 holds, but the figures are unreliable: "), "{page}");
    gate(&format!("{failed} --assert read.iops>=1 --assert findings.warnings<=1")).expect_clean();
    gate(&format!("{failed} --assert read.iops>=1T")).expect_code(2);
    gate(&format!("{failed} --assert read.iops>=1G")).expect_code(1);
}

#[test]
fn junit_and_markdown_are_valid() {
    require!(Python);
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    record["jobs"][0]["name"] = "a<b>&\"c\"\u{1}".into();
    record["host"]["hostname"] = "h&h".into();
    let special = scratch.write("odd&.json", record.to_string());
    let (junit, markdown, json) = (scratch.text("gate.xml"), scratch.text("gate.md"), scratch.text("gate.json"));
    let mut all = words(&format!("gate {special} --junit {junit} -o {markdown} -o {json}"));
    for expectation in ["read.iops>=300", "job(a<b>&\"c\"\u{1}).read.lat<=1us", "write.iops>=1"] {
        all.extend(["--assert".to_owned(), expectation.to_owned()]);
    }
    run(&mut fathom(all)).expect_code(1);
    let script = "import sys, xml.etree.ElementTree as tree\n\
                  root = tree.parse(sys.argv[1]).getroot()\n\
                  suite = root.find('testsuite')\n\
                  print(root.tag, suite.get('tests'), suite.get('failures'), suite.get('errors'), suite.get('hostname'))\n\
                  for case in suite.iter('testcase'): print(case.get('classname'), case.get('name'), [child.tag for child in case])";
    let printed =
        run(std::process::Command::new("/usr/bin/python3").args(["-c", script, &junit])).expect_clean().stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines,
        [
            "testsuites 3 1 1 h&h",
            "fathom.gate read.iops>=300 ['system-out']",
            "fathom.gate.a<b>&\"c\"\\u0001 job(a<b>&\"c\"\\u0001).read.lat<=1us ['failure']",
            "fathom.gate write.iops>=1 ['error']"
        ]
    );
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(markdown.starts_with("### ❌ Fail: 2 of 3 assertions"), "{markdown}");
    assert_eq!(markdown.lines().filter(|line| line.starts_with("| ✅") || line.starts_with("| ❌")).count(), 3);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!((&document["passed"], document["checks"][0]["outcome"].as_str()), (&Value::from(false), Some("passed")));
}

/// Each probe of a sweep is a job in the saved record.
#[test]
fn a_probe_of_a_sweep_is_selected_by_name() {
    let scratch = Scratch::new();
    let home = scratch.text("home");
    let sweep = words("sweep --on custom,iops=10000,latency=1ms --progress off");
    run_saved(fathom(sweep).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home)).expect_code(0);
    let gate = |expectation: &str| {
        let words = ["gate", "last", "--assert", expectation, "--format", "json"];
        run(fathom(words).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home))
    };
    let one = gate("job(depth=5).read.iops>=1").expect_code(0).stdout;
    let document: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(document["checks"][0]["outcome"], "passed", "{document}");
    // They ran one after another.
    let all = gate("read.iops>=1").expect_code(1).stdout;
    assert!(all.contains("not_together"), "{all}");
    let wrong = gate("job(no such probe).read.iops>=1").expect_code(1).stdout;
    assert!(wrong.contains("no_such_job"), "{wrong}");
}
