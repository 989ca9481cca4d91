//! Pages in a browser: narrow and wide, light and dark.

use std::path::{Path, PathBuf};

use crate::common::{Scratch, fathom, require, run, words};
use crate::report::chromium::Chromium;

/// Returns the directory for screenshots.
fn screenshots() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&place).expect("the build directory is writable");
    place
}

/// Opens a page in each width and theme, and checks that it requests nothing, has no problems and shows all charts. A page
/// with problems leaves a screenshot.
#[track_caller]
fn check_page(browser: &mut Chromium, name: &str, page: &Path, titles: &[&str]) {
    let mut wrong = Vec::new();
    for width in [320, 400, 1400] {
        for theme in ["light", "dark"] {
            browser.open(page, width, theme);
            let seen = browser.evaluate(include_str!("look.js"));
            let place = format!("{name}, {width} px, {theme}");
            let found = seen["complaints"].as_array().expect("a list").iter().map(|one| format!("{place}: {one}"));
            let told = browser.complaints().into_iter().map(|text| format!("{place}: the console says {text}"));
            let before = wrong.len();
            wrong.extend(found.chain(told));
            if wrong.len() > before {
                browser.screenshot(&screenshots().join(format!("{name}-{width}-{theme}.png")));
            }
            assert_eq!(browser.requests().len(), 1, "{place}: {:?}", browser.requests());
            assert_eq!(seen["dark"], serde_json::json!(theme == "dark"), "{place}");
            for title in titles {
                let there = seen["titles"].as_array().expect("a list").iter().any(|one| one == title);
                assert!(there, "{place}: no chart `{title}` among {}", seen["titles"]);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes the page of a command's results and checks it.
#[track_caller]
fn page_of(browser: &mut Chromium, name: &str, command: &str, titles: &[&str]) {
    page_in(browser, &Scratch::new(), (name, command), titles);
}

/// Does the same in a directory with files that the command reads.
#[track_caller]
fn page_in(browser: &mut Chromium, scratch: &Scratch, (name, command): (&str, &str), titles: &[&str]) {
    let page = scratch.path("page.html");
    let outcome = run(fathom(words(command)).current_dir(scratch).arg("-o").arg(&page));
    assert!(matches!(outcome.code(), Some(0 | 1 | 4)), "{outcome:?}");
    let size = std::fs::metadata(&page).expect("it was written").len();
    assert!(size < 300_000, "{name}: {size} bytes");
    check_page(browser, name, &page, titles);
}

const OVER_TIME: [&str; 3] = ["IOPS", "Throughput", "Latency over time"];

/// Runs on a real file, simulations with burst credits and with several jobs, and overlaid runs.
#[test]
fn runs() {
    require!(Chromium);
    let browser = &mut Chromium::start();
    let command = "run --progress off --name=mix --filename=data --size=8m --rw=randrw --bs=4k --iodepth=8 --runtime=3 \
                   --time_based --ioengine=io_uring --rate_iops=2000";
    page_of(browser, "run", command, &[&OVER_TIME[..], &["Percentiles of latency", "Service and response"]].concat());
    let command =
        "sim --progress off --seed 1 --on vultr/hdd-block --name=burst --rw=randread --iodepth=64 --runtime=180";
    let of_model = ["Latency heat map", "Percentiles of latency", "Where the time went", "Credit balance"];
    page_of(browser, "sim", command, &[&OVER_TIME[..], &of_model].concat());
    let job = "--size=1g --rw=randrw --iodepth=4 --runtime=30 --time_based";
    let jobs: String = ["database", "log", "a-backup-with-a-name-that-is-longer-than-any-column-of-a-chart"]
        .map(|name| format!(" --name={name} {job}"))
        .concat();
    page_of(browser, "jobs", &format!("sim --progress off --seed 1 --on aws/gp3{jobs}"), &OVER_TIME);

    let scratch = Scratch::new();
    for (name, depth) in [("before.json", 2), ("after.json", 8)] {
        let command = format!(
            "sim --seed 1 --progress off --on aws/gp3 --name=reads --rw=randread --iodepth={depth} --runtime=30"
        );
        run(fathom(words(&command)).current_dir(&scratch).args(["-o", name])).expect_clean();
    }
    let page = scratch.path("both.html");
    run(fathom(["report", "before.json", "after.json", "-o"]).arg(&page).current_dir(&scratch)).expect_clean();
    check_page(browser, "overlay", &page, &OVER_TIME);
}

/// Several results on one page, and answers without a run of their own.
#[test]
fn comparisons_and_answers() {
    require!(Chromium);
    let browser = &mut Chromium::start();
    let simulate = "sim --seed 1 --progress off --rw=randread --runtime=20";
    let curves = ["IOPS", "Mean latency", "p99 latency"];
    page_of(browser, "vary", &format!("{simulate} --on aws/gp3 --vary iodepth=1..64x2"), &curves);
    let names = format!("{simulate} --on aws/gp3 --vary rw=randread,randwrite");
    page_of(browser, "names", &names, &[&curves[..], &OVER_TIME].concat());
    let scratch = &Scratch::new();
    for (name, volume) in [("a", "aws/gp3"), ("b", "aws/io2,iops=6000"), ("c", "gcp/pd-ssd,size=500GiB")] {
        let line = format!("{simulate} --on {volume} --iodepth=2 -o {name}.json");
        run(fathom(words(&line)).current_dir(scratch)).expect_clean();
    }
    page_in(browser, scratch, ("compare", "compare a.json b.json c.json"), &OVER_TIME);
    page_in(browser, scratch, ("explain", "explain a.json b.json"), &[]);
    page_in(browser, scratch, ("gate", "gate a.json --assert read.iops>=1k --assert write.iops>=1"), &[]);
    page_in(browser, scratch, ("doctor", "doctor ."), &[]);
    page_of(browser, "plan", "plan --iops 20000 --bs 16k --capacity 1TiB --p99 2ms", &[]);
    scratch.write("need.toml", NEEDS);
    page_in(browser, scratch, ("needs", "plan need.toml"), &[]);
}

/// Needs that are met with and without a machine, that are not met, and whose names are long or have markup.
const NEEDS: &str = "[defaults]
provider = \"aws,gcp,azure\"
[need.orders]
workload = \"oltp\"
capacity = \"500GiB\"
[need.a-search-index-with-a-name-that-is-longer-than-any-column]
iops = \"30k\"
bs = \"16k\"
capacity = \"2TiB\"
p99 = \"5ms\"
vcpus = 8
[need.\"<b>&markup\"]
iops = 1000
machines = 12
[need.impossible]
iops = \"9M\"
";

#[test]
fn sweeps_and_suites() {
    require!(Chromium);
    let browser = &mut Chromium::start();
    let titles = ["IOPS against depth", "Latency against depth", "Latency against IOPS"];
    for (name, volume) in [
        ("sweep", "gcp/hyperdisk-balanced,size=1TiB,iops=10000"),
        ("hdd", "hdd/7200rpm --depth-max 64"),
        ("sweeps", "aws/gp3 --vary bs=4k,16k,64k"),
    ] {
        page_of(browser, name, &format!("sweep --progress off --seed 1 --on {volume}"), &titles);
    }
    let command = "suite run vultr --on vultr/nvme-block --scale 0.02 --seed 1 --progress off --state state.json";
    page_of(browser, "suite", command, &["IOPS", "Throughput", "Latency"]);
}
