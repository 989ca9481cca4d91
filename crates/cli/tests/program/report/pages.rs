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

/// Opens a page in each width and theme, and checks that it requests nothing, has no problems and shows all charts.
#[track_caller]
fn check_page(name: &str, page: &Path, titles: &[&str]) {
    let mut browser = Chromium::start();
    let mut wrong = Vec::new();
    for width in [400, 1400] {
        for theme in ["light", "dark"] {
            browser.open(page, width, theme);
            let seen = browser.evaluate(include_str!("look.js"));
            browser.screenshot(&screenshots().join(format!("{name}-{width}-{theme}.png")));
            let place = format!("{name}, {width} px, {theme}");
            let found = seen["complaints"].as_array().expect("a list");
            wrong.extend(found.iter().map(|complaint| format!("{place}: {complaint}")));
            wrong.extend(browser.complaints().into_iter().map(|text| format!("{place}: the console says {text}")));
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
fn page_of(name: &str, command: &str, titles: &[&str]) {
    require!(Chromium);
    let scratch = Scratch::new();
    let page = scratch.path("page.html");
    let outcome = run(fathom(words(command)).current_dir(&scratch).arg("-o").arg(&page));
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:?}");
    let size = std::fs::metadata(&page).expect("it was written").len();
    assert!(size < 300_000, "{name}: {size} bytes");
    check_page(name, &page, titles);
}

const OVER_TIME: [&str; 3] = ["Operations a second", "Throughput", "Latency over time"];

#[test]
fn a_run_on_a_real_file() {
    let command = "run --progress off --name=mix --filename=data --size=8m --rw=randrw --bs=4k --iodepth=8 --runtime=3 \
                   --time_based --ioengine=io_uring --rate_iops=2000";
    page_of("run", command, &[&OVER_TIME[..], &["Percentiles of latency", "Service and response"]].concat());
}

#[test]
fn a_simulation_with_credits() {
    let command =
        "sim --progress off --seed 1 --on vultr/nvme-block --name=burst --rw=randread --iodepth=64 --runtime=180";
    page_of(
        "sim",
        command,
        &[&OVER_TIME[..], &["Latency heat map", "Percentiles of latency", "Where the time went", "Credit balance"]]
            .concat(),
    );
}

#[test]
fn a_simulation_of_several_jobs() {
    let job = "--size=1g --rw=randrw --iodepth=4 --runtime=30 --time_based";
    let jobs: String = ["database", "log", "a-backup-with-a-name-that-is-longer-than-any-column-of-a-chart"]
        .map(|name| format!(" --name={name} {job}"))
        .concat();
    page_of("jobs", &format!("sim --progress off --seed 1 --on aws/gp3{jobs}"), &OVER_TIME);
}

#[test]
fn a_sweep() {
    let titles = ["IOPS against depth", "Latency against depth", "Latency against IOPS"];
    page_of("sweep", "sweep --progress off --seed 1 --on gcp/hyperdisk-balanced,size=1TiB,iops=160000", &titles);
    page_of("hdd", "sweep --progress off --seed 1 --on hdd/7200rpm --depth-max 64", &titles);
    page_of("sweeps", "sweep --progress off --seed 1 --on aws/gp3 --vary bs=4k,16k,64k", &titles);
}

#[test]
fn a_suite() {
    let command = "suite run vultr --on vultr/nvme-block --scale 0.02 --seed 1 --progress off --state state.json";
    page_of("suite", command, &["IOPS", "Throughput", "Latency"]);
}

#[test]
fn overlaid_runs() {
    require!(Chromium);
    let scratch = Scratch::new();
    let record = |name: &str, depth: u32| {
        let command = format!(
            "sim --seed 1 --progress off --on aws/gp3 --name=reads --rw=randread --iodepth={depth} --runtime=30"
        );
        run(fathom(words(&command)).current_dir(&scratch).args(["-o", name])).expect_clean();
    };
    record("before.json", 2);
    record("after.json", 8);
    let page = scratch.path("both.html");
    run(fathom(["report", "before.json", "after.json", "-o"]).arg(&page).current_dir(&scratch)).expect_clean();
    check_page("overlay", &page, &OVER_TIME);
}
