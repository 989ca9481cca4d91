//! Gates and comparisons of any output of fio, against what its workers did.

use analyse::Verdict;
use analyse::compare::{ComparisonSettings, compare};
use analyse::gate::{Assertion, GateInputs, GateOutcome, UnknownReason};
use record::{Input, Run, read_input};
use units::random::Random;

use crate::cases::cases;
use crate::fio_truths::{Truth, output};

fn judged(text: &str, run: &Run) -> (Option<f64>, GateOutcome) {
    let assertion = Assertion::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    let verdicts: Vec<Verdict> = Vec::new();
    let judged = assertion.judge(&GateInputs { runs: &[(run, &verdicts)], baseline: &[], comparison: None });
    (judged.measured, judged.outcome)
}

fn rates(truth: &Truth) -> impl Iterator<Item = (&'static str, f64)> + '_ {
    let rate = |kind: usize| truth.ios[kind] as f64 * 1000.0 / truth.runtime_ms[kind].max(1) as f64;
    let used = |kind: &usize| truth.ios[*kind] > 0;
    [0, 1].into_iter().filter(used).map(move |kind| (["read", "write"][kind], rate(kind)))
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 0.005 * expected.abs() + 1e-9
}

/// Groups of several sections, jobs one after the other, and syncs passed gates by figures of other loads.
#[test]
fn gates_and_comparisons_have_the_figures_of_the_workers() {
    const SEED: u64 = 57;
    for seed in SEED..SEED + cases(300) {
        let made = output(&mut Random::new(seed, 0));
        let Ok(Input::Run(run)) = read_input("fio", made.text.as_bytes(), None) else { panic!("seed {seed}") };
        let compared = compare(&[&run], &[&run], &ComparisonSettings::default());
        assert!(!compared.is_worse(), "seed {seed}");
        for (job, truth) in run.jobs.iter().zip(&made.truths) {
            if run.jobs.iter().filter(|other| other.name == job.name).count() > 1 {
                continue;
            }
            let of = format!("seed {seed}, {}: {truth:?}", job.name);
            let figures = &compared.jobs.iter().find(|compared| compared.job == job.name).unwrap().figures;
            for (kind, rate) in rates(truth) {
                let figure = format!("{kind}.iops");
                let (measured, outcome) = judged(&format!("job({}).{figure}>={}", job.name, rate * 0.98), &run);
                assert!(
                    is_near(measured.unwrap(), rate) && outcome == GateOutcome::Passed,
                    "{figure} {measured:?}: {of}"
                );
                let (_, outcome) = judged(&format!("job({}).{figure}>={}", job.name, rate * 1.02), &run);
                assert_eq!(outcome, GateOutcome::Failed, "{figure}: {of}");
                let found = figures.iter().find(|found| found.figure.to_string() == figure).unwrap();
                assert!(is_near(found.baseline, rate) && is_near(found.candidate, rate), "{found:?}: {of}");
            }
            if job.result.sync.count > 0 {
                let mean_ns = truth.sync_ns / truth.syncs as f64;
                let assertion = format!("job({}).sync.lat.mean<={}ns", job.name, mean_ns * 1.02);
                let (measured, outcome) = judged(&assertion, &run);
                assert!(is_near(measured.unwrap(), mean_ns) && outcome == GateOutcome::Passed, "{measured:?}: {of}");
            }
        }
        let (_, all) = judged("all.iops>=1", &run);
        let is_known = run.phases().len() == 1;
        assert_eq!(all == GateOutcome::Passed, is_known, "seed {seed}: {all:?}");
        assert!(is_known || matches!(all, GateOutcome::Unknown(reason) if reason != UnknownReason::NoSuchJob));
    }
}
