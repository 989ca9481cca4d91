//! `fathom compare` on simulated runs: verdicts, errors and exit codes.

use serde_json::Value;

use crate::common::{Outcome, Scratch, fathom, run, run_saved, run_with_input, words};
use crate::runs::{LOAD, disk, simulated};

#[track_caller]
fn compare(text: &str) -> Outcome {
    run(&mut fathom(words(&format!("compare {text}"))))
}

/// Returns the answer, on one line.
fn answer(page: &str) -> String {
    let first = page.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("ANSWER").split_whitespace().collect();
    words.join(" ")
}

/// Writes a changed copy of a record.
fn changed(scratch: &Scratch, from: &str, name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(from).unwrap()).unwrap();
    change(&mut record);
    scratch.write(name, record.to_string())
}

#[test]
fn a_slower_volume_is_worse_and_an_equal_one_the_same() {
    let scratch = Scratch::new();
    let (a, b) = (simulated(&scratch, "a.json", 10_000, 1, LOAD), simulated(&scratch, "b.json", 10_000, 2, LOAD));
    let slow = simulated(&scratch, "slow.json", 11_000, 3, LOAD);
    let page = compare(&format!("{a} {b}")).expect_clean().stdout;
    assert!(answer(&page).starts_with("No difference on reads: IOPS the same within 2%"), "{page}");
    for part in ["baseline", "candidate", "reads", "  IOPS", "  latency mean", "  latency p99 ", "same"] {
        assert!(page.contains(part), "`{part}` is missing:\n{page}");
    }
    assert!(!page.contains("bandwidth"), "with one block size, bandwidth repeats IOPS:\n{page}");
    let page = compare(&format!("{a} {slow}")).expect_clean().stdout;
    assert!(
        answer(&page).contains("disk11000.toml is ") && answer(&page).contains("slower than disk10000.toml on reads: "),
        "{page}"
    );
    assert!(page.lines().filter(|line| line.ends_with("worse")).count() >= 4, "{page}");
    let document: Value =
        serde_json::from_str(&compare(&format!("{a} {slow} --force --format json")).expect_clean().stdout).unwrap();
    let figures = document["jobs"][0]["figures"].as_array().unwrap();
    let p50 = figures.iter().find(|row| row["figure"] == "read.latency_p50").unwrap();
    assert_eq!(p50["verdict"], "worse");
    let percent = p50["change"]["percent"].as_f64().unwrap();
    assert!((percent - 10.0).abs() < 2.0, "the median is 10 % longer: {p50}");
    assert_eq!((&document["schema"], &document["options"]["threshold_percent"]), (&Value::from(1), &Value::from(2.0)));
}

#[test]
fn the_exit_code_follows_fail_on() {
    let scratch = Scratch::new();
    let (a, slow) = (simulated(&scratch, "a.json", 10_000, 1, LOAD), simulated(&scratch, "slow.json", 11_000, 3, LOAD));
    compare(&format!("{a} {slow} --force")).expect_clean();
    compare(&format!("{a} {slow} --force --fail-on worse")).expect_code(1);
    compare(&format!("{slow} {a} --force --fail-on worse")).expect_clean();
    let short = "--name=reads --rw=randread --iodepth=1 --runtime=3 --time_based";
    let (b, c) = (simulated(&scratch, "b.json", 10_000, 1, short), simulated(&scratch, "c.json", 10_000, 2, short));
    compare(&format!("{b} {c} --fail-on worse")).expect_clean();
    let undecided = compare(&format!("{b} {c} --fail-on undecided")).expect_code(1);
    assert!(undecided.stdout.contains("undecided"), "{}", undecided.stdout);
}

#[test]
fn every_format_is_written_by_its_file_extension() {
    let scratch = Scratch::new();
    let (a, b) = (simulated(&scratch, "a.json", 10_000, 1, LOAD), simulated(&scratch, "b.json", 10_000, 2, LOAD));
    let out = ["c.json", "c.md", "c.csv", "c.txt"].map(|name| scratch.text(name));
    let all: String = out.iter().map(|path| format!(" -o {path}")).collect();
    let page = compare(&format!("{a} {b} --format md{all}")).expect_clean().stdout;
    let [json, markdown, csv, text] = out.map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(page, markdown);
    assert!(markdown.starts_with("**No difference on reads"), "{markdown}");
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer(&text), document["answer"]["verdict"].as_str().unwrap());
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 8 && lines.iter().all(|line| line.len() == 11), "seven figures: {csv}");
    assert_eq!(lines[1][..3], ["reads", "read", "iops"]);
    let page = scratch.text("c.html");
    compare(&format!("{a} {b} -o {page}")).expect_clean();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("candidate ") && page.contains("b.json"), "{page}");
    let refused = compare(&format!("{a} {b} -o c.svg")).expect_code(2);
    assert!(refused.stderr.contains("use one of .json .csv .md .txt"), "{}", refused.stderr);
}

#[test]
fn runs_of_different_workloads_are_refused_with_every_reason() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let other = "--name=reads --rw=randrw --bs=8k --iodepth=8 --numjobs=2 --group_reporting --runtime=20 --time_based";
    let b = simulated(&scratch, "b.json", 10_000, 1, other);
    let refused = compare(&format!("{a} {b}")).expect_code(2);
    assert_eq!(refused.stdout, "");
    for reason in [
        "job reads: rw is randread in the baseline and randrw in the candidate",
        "the block size of reads is 4 KiB in the baseline and 8 KiB in the candidate",
        "iodepth is 4 in the baseline and 8 in the candidate",
        "the number of workers is 1 in the baseline and 2 in the candidate",
        "the measured time is 60.0 s in the baseline and 20.0 s in the candidate",
        "--force",
    ] {
        assert!(refused.stderr.contains(reason), "`{reason}` is missing:\n{}", refused.stderr);
    }
    let page = compare(&format!("{a} {b} --force")).expect_clean().stdout;
    assert!(page.contains("BASIS     job reads: rw is randread"), "{page}");
}

#[test]
fn repeats_are_given_with_commas_or_with_options() {
    let scratch = Scratch::new();
    let short = "--name=reads --rw=randread --iodepth=4 --runtime=10 --time_based";
    let side = |name: &str, median_us: u32, seed: u64| -> Vec<String> {
        (0..5).map(|n| simulated(&scratch, &format!("{name}{n}.json"), median_us, seed + n, short)).collect()
    };
    let (a, b) = (side("a", 10_000, 10).join(","), side("b", 11_000, 20).join(","));
    let first = compare(&format!("{a} {b} --force")).expect_clean().stdout;
    let second = compare(&format!("--baseline {a} --candidate {b} --force")).expect_clean().stdout;
    let third = compare(&format!("{b} --baseline {a} --force")).expect_clean().stdout;
    assert_eq!((&first, &first), (&second, &third));
    assert!(answer(&first).contains("slower than disk10000.toml on reads"), "{first}");
    assert!(!first.contains("fewer than five"), "{first}");
    let document = compare(&format!("{a} {b} --force --format json")).expect_clean().stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["jobs"][0]["figures"][0]["basis"]["runs"], 5);
    assert_eq!(document["baseline"].as_array().unwrap().len(), 5);
    let few = compare(&format!(
        "{scratch_a},{scratch_b} {b} --force",
        scratch_a = scratch.text("a0.json"),
        scratch_b = scratch.text("a1.json")
    ));
    assert!(few.expect_clean().stdout.contains("fewer than five"));
}

/// A series that `--repeat` saves has one name.
#[test]
fn a_series_is_all_of_its_repeats() {
    let scratch = Scratch::new();
    let (home, file) = (scratch.text("home"), scratch.sparse("data", 4 << 20));
    let job = format!(
        "--name=reads --ioengine=psync --rw=randread --filename={file} --rate_iops=200 --runtime=1 --time_based"
    );
    let mut names = Vec::new();
    for _ in 0..2 {
        let words = words(&format!("run --repeat 2 --progress off --format json {job}"));
        let outcome = run_saved(fathom(words).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home));
        let told = format!("{}{}", outcome.stdout, outcome.stderr);
        let name = told.split(|c: char| !c.is_alphanumeric() && c != '-').find(|word| word.contains("-series-"));
        names.push(name.unwrap_or_else(|| panic!("no series: {outcome:?}")).to_owned());
    }
    let words = words(&format!("compare {} {} --format json --force", names[0], names[1]));
    let document = run(fathom(words).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", &home)).expect_clean().stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["baseline"].as_array().map(Vec::len), Some(2), "{document}");
    assert_eq!(document["jobs"][0]["figures"][0]["basis"]["of"], "repeats");
}

#[test]
fn all_reasons_against_a_comparison_are_reported_together() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, LOAD);
    let text = std::fs::read_to_string(&a).unwrap();
    let truncated = scratch.write("truncated.json", &text[..text.len() / 2]);
    let empty = changed(&scratch, &a, "empty.json", |record| record["jobs"] = Value::Array(Vec::new()));
    let idle = changed(&scratch, &a, "idle.json", |record| record["jobs"][0]["result"]["read"]["ios"] = 0.into());
    let newer = changed(&scratch, &a, "newer.json", |record| record["schema"] = 999.into());
    let none = scratch.text("none.json");
    for (other, why) in [
        (&truncated, "truncated.json"),
        (&empty, "no measurement"),
        (&idle, "no measurement"),
        (&newer, "use a newer fathom"),
        (&none, "none.json"),
        (&a, "given twice"),
    ] {
        let refused = compare(&format!("{a} {other}")).expect_code(2);
        assert!(refused.stderr.contains(why) && refused.stdout.is_empty(), "{other}: {}", refused.stderr);
    }
    let all = compare(&format!("{none} {empty} --threshold fast -o {empty}")).expect_code(2);
    for reason in ["none.json", "no measurement", "--threshold fast: not a percentage", "one of the compared runs"] {
        assert!(all.stderr.contains(reason), "`{reason}` is missing:\n{}", all.stderr);
    }
    assert!(std::fs::read_to_string(&empty).unwrap().len() > 100, "it was not overwritten");
    let one = compare(&a).expect_code(2);
    assert!(one.stderr.contains("two runs are needed"), "{}", one.stderr);
    let reads = simulated(&scratch, "w.json", 10_000, 1, &LOAD.replace("randread", "randwrite"));
    let nothing = compare(&format!("{a} {reads} --force")).expect_code(2);
    assert!(nothing.stderr.contains("nothing to compare"), "{}", nothing.stderr);
}

/// Three volumes under one load, without `--force`: each against the first, and the best named with its numbers.
#[test]
fn several_runs_are_compared_with_the_first_and_named_by_what_differs() {
    let scratch = Scratch::new();
    let load = "--name=reads --rw=randread --iodepth=2 --runtime=20 --time_based --seed=1";
    let on = |name: &str, volume: &str| {
        let path = scratch.text(name);
        run(&mut fathom(words(&format!("sim --on {volume} {load} --progress off --no-record -o {path}"))))
            .expect_code(0);
        path
    };
    let (a, b) = (on("a.json", "aws/gp3"), on("b.json", "aws/io2,iops=6000"));
    let c = on("c.json", "gcp/pd-ssd,size=500GiB");
    let [page, json, csv] = ["c.html", "c.json.json", "c.csv"].map(|name| scratch.text(name));
    let text = compare(&format!("{a} {b} {c} -o {page} -o {json} -o {csv}")).expect_clean().stdout;
    assert!(text.starts_with("ANSWER    aws/io2,iops=6000 is the fastest of 3 on reads: 4.4"), "{text}");
    assert!(text.contains(" IOPS of aws/gp3 (+12") && text.lines().count() <= 24, "{text}");
    let row = |name: &str| text.lines().filter(|line| line.starts_with(&format!("  {name} "))).count();
    assert_eq!(["aws/gp3", "aws/io2,iops=6000", "gcp/pd-ssd,size=500GiB"].map(row), [1; 3], "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["comparisons"][1]["candidate"][0]["label"], "gcp/pd-ssd,size=500GiB");
    let csv = std::fs::read_to_string(csv).unwrap();
    assert!(csv.lines().count() == 15 && csv.contains("\n\"aws/io2,iops=6000\",reads,read,iops,"), "{csv}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("<h1>aws/io2,iops=6000 is the fastest of 3"), "{html}");
    // The two worse ones fail, the better one does not; the candidates are given in any order.
    compare(&format!("{b} {a} {c} --fail-on worse")).expect_code(1);
    compare(&format!("{a} {b} {c} --fail-on worse")).expect_clean();
    // One of another load is refused by name, and nothing is compared.
    let deep = scratch.text("deep.json");
    run(&mut fathom(words(&format!("sim --on aws/gp3 {} -o {deep}", load.replace("iodepth=2", "iodepth=8")))))
        .expect_code(0);
    let refused = compare(&format!("{a} {b} {deep}")).expect_code(2);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("iodepth is 2"), "{}", refused.stderr);
    let forced = compare(&format!("{a} {deep} {b} --force")).expect_clean().stdout;
    assert!(forced.contains("  aws/gp3, iodepth=8 "), "{forced}");
}

type Change<'a> = &'a dyn Fn(&mut Value);

#[test]
fn implausible_records_cause_no_panic_and_no_nan() {
    let scratch = Scratch::new();
    let a = simulated(&scratch, "a.json", 10_000, 1, &LOAD.replace("runtime=60", "runtime=10"));
    let result = |record: &mut Value, change: Change<'_>| change(&mut record["jobs"][0]["result"]);
    let implausible: [(&str, Change<'_>); 6] = [
        ("no-time", &|result| result["read"]["runtime_ns"] = 0.into()),
        ("no-series", &|result| result["series"]["intervals"] = Value::Array(Vec::new())),
        ("no-width", &|result| result["series"]["width_ns"] = 0.into()),
        ("no-blocks", &|result| result["blocks"] = Value::Array(Vec::new())),
        ("huge", &|result| result["read"]["ios"] = u64::MAX.into()),
        ("end-of-time", &|result| result["blocks"][0]["end_ns"] = u64::MAX.into()),
    ];
    for (name, change) in implausible {
        let b = changed(&scratch, &a, &format!("{name}.json"), |record| result(record, change));
        for order in [format!("{a} {b}"), format!("{b} {a}")] {
            let outcome = compare(&format!("{order} --force"));
            assert!(
                matches!(outcome.code(), Some(0 | 2)) && !outcome.stderr.contains("panicked"),
                "{name}: {outcome:?}"
            );
            assert!(!outcome.stdout.contains("NaN") && !outcome.stdout.contains("inf"), "{name}: {}", outcome.stdout);
        }
    }
    let second = "--name=reads --rw=randread --iodepth=1 --runtime=1 --time_based";
    let (b, c) = (simulated(&scratch, "b.json", 10_000, 1, second), simulated(&scratch, "c.json", 10_000, 2, second));
    let page = compare(&format!("{b} {c}")).expect_clean().stdout;
    assert!(answer(&page).starts_with("Cannot tell on reads"), "one second decides nothing: {page}");
}

#[test]
fn output_of_fio_and_standard_input_are_accepted() {
    let scratch = Scratch::new();
    let article = include_str!("../../../record/tests/data/first_try.txt");
    let a = scratch.write("fio.txt", article);
    let outcome = run_with_input(&mut fathom(["compare", &a, "-"]), &article.replace("iops=24.1k", "iops=25.1k"));
    let page = outcome.expect_code(0).stdout;
    assert!(page.contains("standard input") && page.contains("more runs of each"), "figures without a course: {page}");
}

/// No command could read a file that `--repeat` wrote: a file of three runs was no baseline.
#[test]
fn every_command_reads_all_repeats_of_a_file() {
    let scratch = Scratch::new();
    let volume = disk(&scratch, 10_000);
    let file = |name: &str, seed: &str| {
        let path = scratch.text(name);
        let line = format!("sim --on {volume} {LOAD} --repeat 3 --seed {seed} --progress off -o {path}");
        run(&mut fathom(words(&line))).expect_code(0);
        path
    };
    let (base, new) = (file("base.json", "1"), file("new.json", "9"));
    let document = run(&mut fathom(words(&format!("compare {base} {new} --format json")))).expect_clean().stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["baseline"].as_array().map(Vec::len), Some(3), "{document}");
    assert_eq!(document["candidate"].as_array().map(Vec::len), Some(3), "{document}");
    assert_eq!(document["jobs"][0]["figures"][0]["basis"]["of"], "repeats");
    let gate = format!("gate {new} --baseline {base} --assert read.iops>=95% --assert read.iops>=300");
    assert!(run(&mut fathom(words(&gate))).expect_clean().stdout.contains("all 2 assertions hold"));
    let page = scratch.text("page.html");
    run(&mut fathom(words(&format!("report {base} -o {page}")))).expect_clean();
    let text = std::fs::read_to_string(page).unwrap();
    assert!(["base.json#1", "base.json#2", "base.json#3"].iter().all(|name| text.contains(name)), "three runs");
    let explained = run(&mut fathom(words(&format!("explain {base} --details")))).expect_clean().stdout;
    assert_eq!((1..=3).filter(|n| explained.contains(&format!("base.json#{n}:"))).count(), 3, "{explained}");
    // One repeat by its number, and all of them from standard input.
    let one = run(&mut fathom(words(&format!("gate {base}#2 --assert read.iops>=300")))).expect_clean();
    assert!(one.stdout.contains("base.json#2"), "{}", one.stdout);
    let text = std::fs::read_to_string(&base).unwrap();
    let piped = run_with_input(&mut fathom(words("gate - --assert read.iops>=300")), &text).expect_clean();
    assert!(piped.stdout.contains("standard input#3"), "{}", piped.stdout);
    let none = run(&mut fathom(words(&format!("gate {base}#4 --assert read.iops>=300")))).expect_code(2);
    assert!(none.stderr.contains("`") && none.stderr.contains("base.json#3"), "{}", none.stderr);
}

/// Repeats of two job files in one file are two series that no command mixes.
#[test]
fn two_series_in_one_file_are_not_mixed() {
    let scratch = Scratch::new();
    let volume = disk(&scratch, 10_000);
    let job = |name: &str, depth: u32| {
        scratch
            .write(&format!("{name}.fio"), format!("[{name}]\nrw=randread\niodepth={depth}\nruntime=1\ntime_based\n"))
    };
    let (a, b, path) = (job("a", 1), job("b", 4), scratch.text("both.json"));
    run(&mut fathom(words(&format!("sim --on {volume} {a} {b} --repeat 2 --progress off -o {path}")))).expect_code(0);
    let refused = run(&mut fathom(words(&format!("gate {path} --assert read.iops>=1")))).expect_code(2);
    assert!(refused.stderr.contains("both.json#4"), "{}", refused.stderr);
    run(&mut fathom(words(&format!("gate {path}#1,{path}#2 --assert read.iops>=1")))).expect_clean();
    run(&mut fathom(words(&format!("gate {path}#1,{path}#3 --assert read.iops>=1")))).expect_code(2);
    assert!(
        run(&mut fathom(words(&format!("explain {path} --details")))).expect_clean().stdout.contains("both.json#4:")
    );
}
