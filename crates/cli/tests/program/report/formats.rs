//! Exact texts of every report format. Simulations have no date and no host, so they never change.

use std::path::Path;

use crate::common::host::{timed, within};
use crate::common::{Outcome, Scratch, fathom, run, words};

const SIMULATE: &str = "sim --seed 1 --progress off --on aws/gp3 --name=reads --rw=randread --bs=4k --runtime=20";

/// Returns a scratch directory with some of two records, a sweep and a suite.
fn measured(names: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    for name in names {
        let command = match *name {
            "before" => format!("{SIMULATE} --iodepth=2"),
            "after" => format!("{SIMULATE} --iodepth=8"),
            "sweep" => "sweep --seed 1 --progress off --on aws/gp3 --depth-max 64".to_owned(),
            _ => "suite run vultr --seed 1 --progress off --on vultr/nvme-block --scale 0.02 --state state.json"
                .to_owned(),
        };
        let outcome = run(fathom(words(&format!("{command} -o {name}.json"))).current_dir(&scratch));
        assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:?}");
    }
    scratch
}

fn report(scratch: &Scratch, line: &str) -> Outcome {
    run(fathom(words(&format!("report {line}"))).current_dir(scratch))
}

/// Writes a report and returns its text.
#[track_caller]
fn written(scratch: &Scratch, of: &str, name: &str) -> String {
    let outcome = report(scratch, &format!("{of} -o {name}")).expect_clean();
    assert_eq!(outcome.stdout, "", "the report goes to a file only");
    scratch.read(name)
}

/// Compares a text with the expected file; `FATHOM_WRITE_EXPECTED=1` updates the file.
#[track_caller]
fn assert_expected(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/report/expected").join(name);
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, text).expect("the sources can be written to");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{}: it is now\n{text}", path.display());
}

/// Returns the visible text of a page, one line per element.
fn visible_text(page: &str) -> String {
    let body = page.split_once("</head>").expect("a page has a head").1;
    let body: String = body
        .split("<svg")
        .enumerate()
        .map(|(index, part)| match index {
            0 => part,
            _ => part.split_once("</svg>").map_or("", |(_, after)| after),
        })
        .collect();
    let texts = body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text).trim());
    texts.filter(|text| !text.is_empty()).map(|text| format!("{text}\n")).collect()
}

#[test]
fn a_run_in_every_format() {
    let scratch = measured(&["before"]);
    for name in ["run.csv", "run.md", "run.prom", "run.txt", "run.fio.json"] {
        assert_expected(name, &written(&scratch, "before.json", name));
    }
    assert_expected("run.html.txt", &visible_text(&written(&scratch, "before.json", "run.html")));
    let text = report(&scratch, "before.json").expect_clean().stdout;
    assert!(text.contains("reads  randread 4 KiB"), "{text}");
}

#[test]
fn several_runs_in_every_format() {
    let scratch = measured(&["before", "after"]);
    for name in ["both.csv", "both.md", "both.prom"] {
        assert_expected(name, &written(&scratch, "before.json after.json", name));
    }
    assert_expected("both.html.txt", &visible_text(&written(&scratch, "before.json after.json", "both.html")));
}

#[test]
fn sweeps_and_suites_are_read_back() {
    let scratch = measured(&["before", "sweep", "suite"]);
    for (kind, endings) in [("sweep", &["csv", "txt", "svg"][..]), ("suite", &["md", "txt"][..])] {
        let file = format!("{kind}.json");
        for ending in endings {
            let name = format!("{kind}.{ending}");
            assert_expected(&name, &written(&scratch, &file, &name));
        }
        let name = format!("{kind}.html");
        assert_expected(&format!("{name}.txt"), &visible_text(&written(&scratch, &file, &name)));
        assert_eq!(written(&scratch, &file, "again.json"), scratch.read(&file));
    }
    let all = written(&scratch, "before.json sweep.json suite.json", "all.html");
    assert!(all.contains("IOPS against depth") && all.contains("Against published figures"), "{all}");
}

#[test]
fn unwritable_reports_are_refused_before_writing() {
    let scratch = measured(&["before", "after", "sweep"]);
    let refused = |line: &str, what: &[&str]| {
        let outcome = report(&scratch, line).expect_code(2);
        assert!(what.iter().all(|what| outcome.stderr.contains(what)), "{line}: {}", outcome.stderr);
    };
    refused("before.json after.json -o x.json", &["x.json", ".csv .md .txt .prom .html"]);
    refused("sweep.json before.json -o x.csv", &["x.csv", ".txt .html"]);
    refused("before.json nothing.json ./neither.json -o x.html", &["nothing.json", "neither.json"]);
    scratch.write("later.json", "{\"fathom_sweep\": 99, \"command_line\": [], \"seed\": 1, \"sweeps\": []}");
    refused("later.json -o x.html", &["later.json", "schema 99", "use a newer fathom"]);
    assert!(!scratch.path("x.html").exists() && !scratch.path("x.json").exists());
    let outcome = report(&scratch, "").expect_code(2);
    assert!(outcome.stderr.contains("<RUN>..."), "{}", outcome.stderr);
}

#[test]
fn ten_hours_take_hardly_longer_to_render_than_to_read() {
    let scratch = Scratch::new();
    let hours =
        "sim --seed 1 --progress off --on aws/gp3 --name=slow --rw=randread --rate_iops=5 --runtime=10h --time_based";
    run(fathom(words(hours)).current_dir(&scratch).args(["-o", "slow.json"])).expect_clean();
    // Reading the record takes most of the time, and a table in text has no charts.
    timed("report::ten_hours_take_hardly_longer_to_render_than_to_read", || {
        let took = |line: &str| (0..3).map(|_| report(&scratch, line).expect_clean().took).min().unwrap_or_default();
        within(took("slow.json -o slow.html"), took("slow.json -o slow.txt") * 4)
    });
    let size = std::fs::metadata(scratch.path("slow.html")).expect("it was written").len();
    assert!(size < 200_000, "{size} bytes");
}

#[test]
fn the_credit_balance_is_reproducible_and_ends_when_credits_do() {
    let scratch = Scratch::new();
    let levels = |name: &str, seconds: u32| {
        let command = format!(
            "sim --seed 1 --progress off --no-record --on vultr/hdd-block --name=burst --rw=randread --iodepth=64 \
             --runtime={seconds} -o {name}"
        );
        run(fathom(words(&command)).current_dir(&scratch)).expect_clean();
        let model = record::from_json(&scratch.read(name)).expect("a record").model.expect("a simulation");
        let stage = model.stages.into_iter().find(|stage| stage.name == "volume IOPS").expect("it has such a limit");
        (stage.credits.expect("it has credits"), stage.levels)
    };
    let (credits, balance) = levels("one.json", 90);
    assert_eq!(balance, levels("two.json", 90).1);
    assert_eq!(balance[0], (0, credits.most));
    assert!(balance.len() > 60 && balance.len() < 300, "{} instants", balance.len());
    // Once credits are exhausted, earned ones are spent at once.
    let falls = |pair: &[(u64, f64)]| pair[0].0 < pair[1].0 && pair[1].1 < pair[0].1 + 0.01 * credits.most;
    assert!(balance.windows(2).all(falls), "{balance:?}");
    let exhausted_ns = balance.iter().find(|(_, left)| *left < 0.01 * credits.most).expect("they run out").0;
    let reported_ns = credits.empty_at_ns.expect("they ran out");
    assert!((exhausted_ns as f64 / reported_ns as f64 - 1.0).abs() < 0.05, "{exhausted_ns} and {reported_ns}");
}
