//! Parses any bytes as an input and, if they are text, as a claim. The result is runs, reports, figures or located
//! errors, never a panic. Parsed values are usable: derived figures, records, and the text of claims.

#![no_main]

use libfuzzer_sys::fuzz_target;
use record::{Claim, Input, Run, read_input};
use units::Place;

fuzz_target!(|bytes: &[u8]| {
    match read_input("fuzz", bytes, None) {
        Ok(Input::Run(run)) => use_run(&run),
        Ok(Input::Iostat(iostat)) => {
            let devices = || iostat.reports.iter().flat_map(|report| &report.devices);
            assert!(devices().next().is_some());
            assert!(devices().all(|device| device.iops() >= 0.0 && device.bytes_per_second() >= 0.0));
        }
        Err(error) => {
            let lines = bytes.split(|&byte| byte == b'\n').count();
            let is_within = |place: &Place| (1..=lines).contains(&place.line) && place.column >= 1;
            assert!(error.place.as_deref().is_some_and(is_within), "{error:?}");
            assert!(!error.what.is_empty() && error.help.as_ref().is_some_and(|help| !help.is_empty()));
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        match Claim::parse(text) {
            Ok(claim) => {
                assert_eq!(Claim::parse(&claim.to_string()).map(|again| again.to_string()), Ok(claim.to_string()))
            }
            Err(problems) => assert!(problems.iter().all(|problem| problem.place.is_some())),
        }
    }
});

fn use_run(run: &Run) {
    for job in &run.jobs {
        assert!(job.quotes.iter().all(|quote| quote.step >= 0.0 && quote.value.is_finite()));
        let _ = (job.result.in_flight(), job.result.cpu_share(), job.result.latency_shares());
    }
    let _ = record::to_json(run);
}
