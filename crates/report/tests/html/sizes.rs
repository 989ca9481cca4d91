//! Sizes of pages, and the notes about missing data.

use record::{DirectionResult, Measured, RunOutcome};

use crate::html::documents::{job, page_of, run};
use crate::html::wellformed;

#[track_caller]
fn size_of(page: &str) -> usize {
    wellformed::check(page).unwrap_or_else(|error| panic!("{error}"));
    page.len()
}

#[test]
fn the_page_of_one_job_is_small_for_any_runtime() {
    for seconds in [3, 60, 36_000] {
        let size = size_of(&page_of(&[("a", &run(vec![job("reads", seconds)]))]));
        assert!(size < 120_000, "{seconds} s: {size} bytes");
    }
}

#[test]
fn pages_of_many_jobs_and_of_many_runs_are_smaller_than_a_megabyte() {
    let many = run((0..40).map(|number| job(&format!("reader-{number}"), 3_600)).collect());
    let size = size_of(&page_of(&[("a", &many)]));
    assert!(size < 1_000_000, "40 jobs: {size} bytes");
    let one = run(vec![job("reads", 3_600)]);
    let names: Vec<String> = (0..12).map(|number| format!("run-{number}")).collect();
    let runs: Vec<_> = names.iter().map(|name| (name.as_str(), &one)).collect();
    let size = size_of(&page_of(&runs));
    assert!(size < 300_000, "12 runs: {size} bytes");
    let many_jobs = run((0..400).map(|number| job(&format!("reader-{number}"), 60)).collect());
    let size = size_of(&page_of(&[("a", &many_jobs)]));
    assert!(size < 1_000_000, "400 jobs: {size} bytes");
}

#[test]
fn missing_data_are_mentioned_and_not_drawn() {
    let mut silent = job("no latencies", 20);
    silent.result.read.service = Default::default();
    silent
        .result
        .series
        .intervals
        .iter_mut()
        .for_each(|interval| (interval.service_ns, interval.service_ns_max) = (0, 0));
    let page = page_of(&[("a", &run(vec![silent]))]);
    assert!(size_of(&page) > 0 && page.contains("Latencies were not kept") && !page.contains("Latency over time"));

    let mut imported = job("sums only", 20);
    imported.result.series = Default::default();
    let page = page_of(&[("a", &run(vec![imported]))]);
    assert!(
        size_of(&page) > 0 && page.contains("totals only, no time series") && page.contains("Percentiles of latency")
    );

    let mut writes = job("writes", 20);
    writes.result.write = std::mem::take(&mut writes.result.read);
    writes.result.series.intervals.iter_mut().for_each(|interval| {
        interval.ios.swap(0, 1);
        interval.bytes.swap(0, 1);
    });
    let mut cut = run(vec![writes]);
    cut.outcome = RunOutcome::Interrupted;
    let page = page_of(&[("a", &cut)]);
    assert!(
        size_of(&page) > 0 && page.contains("write IOPS") && page.contains("interrupted: results up to the signal")
    );

    let mut nothing = job("nothing", 0);
    nothing.result = Measured { read: DirectionResult::default(), ..Measured::default() };
    assert!(size_of(&page_of(&[("a", &run(vec![nothing]))])) > 0);
    assert!(size_of(&page_of(&[("a", &run(Vec::new()))])) > 0);
}
