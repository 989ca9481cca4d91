//! Every format of a report, to the letter: simulations have no date and no host, so that they never change.

use std::path::Path;
use std::time::Duration;

use crate::common::host::{timed, within};
use crate::common::{Outcome, Scratch, fathom, run, words};

const SIMULATE: &str = "sim --seed 1 --progress off --on aws/gp3 --name=reads --rw=randread --bs=4k --runtime=20";

/// A scratch directory with two records, a sweep and a suite.
fn measured() -> Scratch {
    let scratch = Scratch::new();
    let commands = [
        format!("{SIMULATE} --iodepth=2 -o before.json"),
        format!("{SIMULATE} --iodepth=8 -o after.json"),
        "sweep --seed 1 --progress off --on aws/gp3 --depth-max 64 -o sweep.json".to_owned(),
        "suite run vultr --seed 1 --progress off --on vultr/nvme-block --scale 0.02 --state state.json -o suite.json"
            .to_owned(),
    ];
    for command in commands {
        let outcome = run(fathom(words(&command)).current_dir(&scratch));
        assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:?}");
    }
    scratch
}

fn report(scratch: &Scratch, line: &str) -> Outcome {
    run(fathom(words(&format!("report {line}"))).current_dir(scratch))
}

/// What a report of these writes to a file of this name.
#[track_caller]
fn written(scratch: &Scratch, of: &str, name: &str) -> String {
    let outcome = report(scratch, &format!("{of} -o {name}")).expect_clean();
    assert_eq!(outcome.stdout, "", "a file was asked for, not standard output");
    std::fs::read_to_string(scratch.path(name)).expect("it was written")
}

/// Holds a text against the one that is kept; `FATHOM_WRITE_EXPECTED=1` keeps it instead.
#[track_caller]
fn assert_kept(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/expected").join(name);
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, text).expect("the sources can be written to");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{}: it is now\n{text}", path.display());
}

/// The words of a page that are seen, a line for each element.
fn words_of(page: &str) -> String {
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
    let scratch = measured();
    for name in ["run.csv", "run.md", "run.prom", "run.txt", "run.fio.json"] {
        assert_kept(name, &written(&scratch, "before.json", name));
    }
    assert_kept("run.html.txt", &words_of(&written(&scratch, "before.json", "run.html")));
    let text = report(&scratch, "before.json").expect_clean().stdout;
    assert!(text.contains("reads  randread 4 KiB"), "{text}");
}

#[test]
fn several_runs_in_every_format() {
    let scratch = measured();
    for name in ["both.csv", "both.md", "both.prom"] {
        assert_kept(name, &written(&scratch, "before.json after.json", name));
    }
    assert_kept("both.html.txt", &words_of(&written(&scratch, "before.json after.json", "both.html")));
}

#[test]
fn sweeps_and_suites_are_read_back() {
    let scratch = measured();
    for (kind, endings) in [("sweep", &["csv", "txt", "svg"][..]), ("suite", &["md", "txt"][..])] {
        let file = format!("{kind}.json");
        for ending in endings {
            let name = format!("{kind}.{ending}");
            assert_kept(&name, &written(&scratch, &file, &name));
        }
        let name = format!("{kind}.html");
        assert_kept(&format!("{name}.txt"), &words_of(&written(&scratch, &file, &name)));
        assert_eq!(written(&scratch, &file, "again.json"), std::fs::read_to_string(scratch.path(&file)).unwrap());
    }
    let all = written(&scratch, "before.json sweep.json suite.json", "all.html");
    assert!(all.contains("IOPS against depth") && all.contains("Against what was published"), "{all}");
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is() {
    let scratch = measured();
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
fn ten_hours_are_drawn_in_well_under_a_second() {
    let scratch = Scratch::new();
    let hours =
        "sim --seed 1 --progress off --on aws/gp3 --name=slow --rw=randread --rate_iops=5 --runtime=10h --time_based";
    run(fathom(words(hours)).current_dir(&scratch).args(["-o", "slow.json"])).expect_clean();
    // Reading the record is most of it.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
    timed("report::ten_hours_are_drawn_in_well_under_a_second", || {
        within(report(&scratch, "slow.json -o slow.html").expect_clean().took, most)
    });
    let size = std::fs::metadata(scratch.path("slow.html")).expect("it was written").len();
    assert!(size < 200_000, "{size} bytes");
}

#[test]
fn the_course_of_credits_is_the_same_every_time_and_ends_where_they_do() {
    let scratch = Scratch::new();
    let levels = |name: &str, seconds: u32| {
        let command = format!(
            "sim --seed 1 --progress off --no-record --on vultr/nvme-block --name=burst --rw=randread --iodepth=64 \
             --runtime={seconds} -o {name}"
        );
        run(fathom(words(&command)).current_dir(&scratch)).expect_clean();
        let text = std::fs::read_to_string(scratch.path(name)).expect("it was written");
        let model = record::from_json(&text).expect("a record").model.expect("a simulation");
        let stage = model.stages.into_iter().find(|stage| stage.name == "volume IOPS").expect("it has such a limit");
        (stage.credits.expect("it has credits"), stage.levels)
    };
    let (credits, course) = levels("one.json", 90);
    assert_eq!(course, levels("two.json", 90).1);
    assert_eq!(course[0], (0, credits.most));
    assert!(course.len() > 60 && course.len() < 300, "{} instants", course.len());
    // Once they are gone, what is earned is spent at once.
    let falls = |pair: &[(u64, f64)]| pair[0].0 < pair[1].0 && pair[1].1 < pair[0].1 + 0.01 * credits.most;
    assert!(course.windows(2).all(falls), "{course:?}");
    let gone = course.iter().find(|(_, left)| *left < 0.01 * credits.most).expect("they run out").0;
    let told = credits.empty_at_ns.expect("they ran out");
    assert!((gone as f64 / told as f64 - 1.0).abs() < 0.05, "{gone} and {told}");
}
