//! Assertions: parsing, errors and judgement.

use analyse::compare::{ComparisonSettings, compare};
use analyse::gate::{Assertion, GateInputs, GateOutcome, JudgedAssertion, UnknownReason};
use analyse::{Code, Severity, analyse};
use record::Run;
use units::{Problem, random::Random};

use crate::loads;
use crate::loads::{latency, queue_full};

fn parsed(text: &str) -> Assertion {
    Assertion::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn parse_error(text: &str) -> Problem {
    Assertion::parse(text).expect_err(text)
}

fn judged(text: &str, run: &Run, baseline: Option<&Run>) -> JudgedAssertion {
    let (verdicts, baseline) = (analyse(run), baseline.into_iter().collect::<Vec<_>>());
    parsed(text).judge(&GateInputs { runs: &[(run, &verdicts)], baseline: &baseline, comparison: None })
}

#[test]
fn units_and_short_names_are_equivalent() {
    let same = [
        ("read.iops>=150k", "read.iops>=150000"),
        ("read.iops >= 1.5e5", "read.iops>=150000"),
        ("write.lat.p99<=2ms", "write.latency_p99<=2000000ns"),
        ("write.lat.p99.9<2.5us", "write.latency_p99.9<2500ns"),
        ("read.bw>=400MiB/s", "read.bytes_per_second>=419430400B"),
        ("read.bw>=400MB", "read.bytes_per_second>=400000000B"),
        ("findings.warnings == 0", "findings.warnings==0"),
        ("findings.short_run!=1", "findings.short_run!=1"),
        ("read.iops>=0.98*baseline", "read.iops>=0.98*baseline"),
        ("read.iops>=98% * baseline", "read.iops>=0.98*baseline"),
        ("read.iops >= 95%", "read.iops>=0.95*baseline"),
        ("read.response.p99<=110%", "read.response_p99<=1.1*baseline"),
        ("all.lat<=baseline*1.05", "all.latency_mean<=1.05*baseline"),
        ("read.iops>baseline", "read.iops>1*baseline"),
        ("job( a b ).read.iops>1_000", "job(a b).read.iops>1000"),
        ("job(\"a)b\").read.iops>1", "job(\"a)b\").read.iops>1"),
    ];
    for (text, canonical) in same {
        assert_eq!(parsed(text).to_string(), canonical);
        assert_eq!(parsed(canonical), parsed(text));
    }
}

#[test]
fn errors_have_a_place_and_a_remedy() {
    let cases = [
        ("read.iosp>=1", "read.iosp", "unknown figure", "`read.iops`"),
        ("write.lat.pp9>=1ms", "write.lat.pp9", "unknown figure", "did you mean `write.lat.p9"),
        ("findings.warning==0", "findings.warning", "unknown figure", "`findings.warnings`"),
        ("speed>=1", "speed", "unknown figure", "`iops`"),
        ("", "", "a figure name", "read.iops"),
        ("read.iops", "", "comparison", "`>=`"),
        ("read.iops=1", "=", "comparison", "`==`"),
        ("read.iops>=", "", "a number", "150k"),
        ("read.iops>=fast", "f", "a number", "150k"),
        ("read.iops>=1.2.3", "1.2.3", "`1.2.3`", "150k"),
        ("read.iops>=2ms", "2ms", "`ms`", "`k`"),
        ("read.lat.p99<=2", "2", "needs a unit", "`ms`"),
        ("read.bw>=400MiB/h", "400MiB/h", "`MiB/h`", "`MiB`"),
        ("read.lat<=1e308s", "1e308s", "`s`", "`ms`"),
        ("read.iops>=2*median", "m", "`baseline`", "0.98*baseline"),
        ("read.iops>=2k*baseline", "2k*", "`k`", "0.98*baseline"),
        ("findings.warnings<=baseline", "baseline", "findings", "findings.warnings==0"),
        ("read.iops>=1 and write.iops>=1", "and write.iops>=1", "unexpected text", "one expectation"),
        ("job(a.read.iops>=1", "", "`).`", "job(NAME)"),
        ("job().read.iops>=1", "job().", "no name", "job(NAME)"),
        ("job(\"a).read.iops>=1", "job(\"a).read.iops>=1", "not closed", "job(NAME)"),
        ("read.iops>=é", "é", "a number", "150k"),
    ];
    for (text, place, what, remedy) in cases {
        let error = parse_error(text);
        assert_eq!(error.place.as_ref().expect("a place").marked(), place, "{text}: {error:?}");
        assert!(
            error.what.contains(what) && error.help.as_ref().is_some_and(|help| help.contains(remedy)),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn run_is_judged_by_values_with_a_margin() {
    let run = queue_full(32, 1_000_000);
    let passed = judged("read.iops>=30k", &run, None);
    assert_eq!((passed.outcome, passed.measured, passed.bound), (GateOutcome::Passed, Some(32_000.0), Some(30_000.0)));
    assert!((passed.margin_percent.unwrap() - 100.0 / 15.0).abs() < 1e-9, "{passed:?}");
    let failed = judged("read.lat.p99<=500us", &run, None);
    assert_eq!(failed.outcome, GateOutcome::Failed);
    assert!((failed.margin_percent.unwrap() + 100.0).abs() < 1.0, "{failed:?}");
    let bytes = judged("read.bw>125MiB", &run, None);
    assert_eq!(bytes.outcome, GateOutcome::Failed, "throughput is exactly that: {bytes:?}");
    assert_eq!(judged("read.bw==125MiB/s", &run, None).outcome, GateOutcome::Passed);
    assert_eq!(judged("read.bw!=125MiB/s", &run, None).outcome, GateOutcome::Failed);
    assert_eq!(judged("read.bw<1GB", &run, None).outcome, GateOutcome::Passed);
}

#[test]
fn run_is_judged_by_its_baseline() {
    let (run, baseline) = (queue_full(32, 1_000_000), queue_full(32, 980_000));
    let passed = judged("read.iops>=0.97*baseline", &run, Some(&baseline));
    assert_eq!(passed.outcome, GateOutcome::Passed, "{passed:?}");
    assert_eq!(judged("read.iops>=99%*baseline", &run, Some(&baseline)).outcome, GateOutcome::Failed);
    assert_eq!(judged("read.iops>=baseline", &run, None).outcome, GateOutcome::Unknown(UnknownReason::NoBaseline));
    let empty = Run::default();
    assert_eq!(
        judged("read.iops>=baseline", &run, Some(&empty)).outcome,
        GateOutcome::Unknown(UnknownReason::NotInBaseline)
    );
}

/// A run of so many seconds whose throughput wanders by a tenth.
fn wandering(iops: f64, seconds: usize, random: &mut Random) -> Run {
    let mut run = queue_full(32, 1_000_000);
    let (mut wander, result) = (loads::Wander::new(0.3, random), &mut run.jobs[0].result);
    let ios: Vec<u64> = (0..seconds).map(|_| (iops * (1.0 + 0.1 * wander.next(random))) as u64).collect();
    result.series.intervals =
        ios.iter().map(|&ios| record::IntervalRecord { ios: [ios, 0, 0], ..Default::default() }).collect();
    result.runtime_ns = seconds as u64 * loads::SECOND_NS;
    (result.read.ios, result.read.runtime_ns) = (ios.iter().sum(), result.runtime_ns);
    run
}

#[test]
fn fraction_of_the_baseline_fails_only_beyond_noise() {
    let seed = 92;
    let mut random = Random::new(seed, 0);
    let judge = |text: &str, run: &Run, baseline: &Run| {
        let (verdicts, comparison) = (analyse(run), compare(&[baseline], &[run], &ComparisonSettings::default()));
        parsed(text).judge(&GateInputs {
            runs: &[(run, &verdicts)],
            baseline: &[baseline],
            comparison: Some(&comparison),
        })
    };
    let mut counts = [0; 3];
    for _ in 0..300 {
        let (run, baseline) = (wandering(10_000.0, 60, &mut random), wandering(10_000.0, 60, &mut random));
        let judged = judge("read.iops>=99%", &run, &baseline);
        match judged.outcome {
            GateOutcome::Passed => counts[0] += 1,
            GateOutcome::WithinNoise => counts[1] += 1,
            _ => counts[2] += 1,
        }
        assert!(judged.more.is_none() || judged.outcome == GateOutcome::WithinNoise, "seed {seed}: {judged:?}");
    }
    // About a third of equal pairs miss the bound of 99 % by chance.
    assert!(counts[1] > 60 && counts[2] <= 10, "seed {seed}: {counts:?}");
    let (slow, baseline) = (wandering(9_000.0, 60, &mut random), wandering(10_000.0, 60, &mut random));
    assert_eq!(judge("read.iops>=97%", &slow, &baseline).outcome, GateOutcome::Failed);
    assert_eq!(judge("all.iops>=97%", &slow, &baseline).outcome, GateOutcome::Failed);
    assert_eq!(judge("read.iops<=97%", &slow, &baseline).outcome, GateOutcome::Passed);
    assert_eq!(judge("read.iops==baseline", &slow, &slow).outcome, GateOutcome::Passed);
}

#[test]
fn repeats_are_judged_by_their_mean_and_maximum_of_findings() {
    let (fast, mut slow) = (queue_full(32, 1_000_000), queue_full(1, 100_000));
    let declared = &mut slow.jobs[0].declared;
    (declared.iodepth, declared.in_flight_asked, declared.queues) = (32, Some(32), false);
    let verdicts = [analyse(&fast), analyse(&slow)];
    let runs: Vec<(&Run, &[analyse::Verdict])> = vec![(&fast, &verdicts[0]), (&slow, &verdicts[1])];
    let inputs = GateInputs { runs: &runs, baseline: &[&fast, &slow], comparison: None };
    assert_eq!(parsed("read.iops>0").judge(&inputs).measured, Some(21_000.0));
    assert_eq!(parsed("read.iops>=baseline").judge(&inputs).bound, Some(21_000.0));
    let one = parsed("findings.engine_not_asynchronous==1").judge(&inputs);
    assert_eq!(one.measured, Some(1.0), "{one:?}");
}

#[test]
fn unknown_values_do_not_pass() {
    let run = queue_full(32, 1_000_000);
    assert_eq!(judged("write.iops<=1", &run, None).outcome, GateOutcome::Unknown(UnknownReason::NotMeasured));
    assert_eq!(judged("job(other).read.iops<=1", &run, None).outcome, GateOutcome::Unknown(UnknownReason::NoSuchJob));
    let nothing = judged("job(other).findings.warnings==0", &run, None);
    assert_eq!((nothing.outcome, nothing.measured), (GateOutcome::Unknown(UnknownReason::NoSuchJob), None));
}

#[test]
fn named_job_is_judged_alone() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs.push(queue_full(32, 2_000_000).jobs.remove(0));
    run.jobs[1].name = "slow".to_owned();
    let measured = |text: &str| judged(text, &run, None).measured.unwrap();
    assert_eq!(measured("read.iops>0"), 48_000.0);
    assert_eq!(measured("job(slow).read.iops>0"), 16_000.0);
    assert!(measured("job(slow).read.lat.p99>0ns") > 1.9 * measured("job(job).read.lat.p99>0ns"));
}

#[test]
fn findings_are_counted_by_severity_and_by_code() {
    let mut run = queue_full(1, 100_000);
    assert_eq!(judged("findings.warnings==0", &run, None).outcome, GateOutcome::Passed);
    let declared = &mut run.jobs[0].declared;
    (declared.iodepth, declared.in_flight_asked, declared.queues) = (32, Some(32), false);
    let warned = judged("findings.warnings==0", &run, None);
    assert_eq!((warned.outcome, warned.measured, warned.margin_percent), (GateOutcome::Failed, Some(1.0), None));
    assert_eq!(judged("findings.engine_not_asynchronous==1", &run, None).outcome, GateOutcome::Passed);
    assert_eq!(judged("findings.distrusts==0", &run, None).outcome, GateOutcome::Passed);
    // Distrust is worse than a warning, and counts as one.
    run.jobs[0].result.errors = 1;
    run.jobs[0].result.read.latency = latency(1, 1, 0);
    let severe = analyse(&run)[0].findings().filter(|one| one.severity == Severity::Distrust).count() as f64;
    assert!(severe >= 1.0 && analyse(&run)[0].findings().any(|one| one.code == Code::ErrorsSeen));
    assert_eq!(judged("findings.distrusts>0", &run, None).measured, Some(severe));
    assert_eq!(judged("findings.warnings>0", &run, None).measured, Some(severe + 1.0));
}

/// Valid and invalid tokens to build assertions from.
const PIECES: &[&str] = &[
    "read",
    "write",
    "all",
    "trim",
    ".",
    "iops",
    "bw",
    "lat",
    "p99",
    "p99.9",
    "latency_mean",
    "findings",
    "warnings",
    "short_run",
    "job(",
    "a b",
    "\"",
    ")",
    ").",
    ">=",
    "<=",
    "==",
    "!=",
    ">",
    "<",
    "=",
    "0.98",
    "150",
    "k",
    "ms",
    "MiB",
    "/s",
    "%",
    "*",
    "baseline",
    "1e6",
    "e",
    "-",
    "_",
    " ",
    "é",
    "\u{0}",
    "1e308",
    "read.iops",
    ">=1",
    "read.bw>=1GiB",
];

#[test]
fn random_assertions_round_trip_or_fail_at_a_place() {
    let seed = 91;
    let mut random = Random::new(seed, 0);
    let mut read = 0;
    for turn in 0..20_000 {
        let count = 1 + random.below(9);
        let text: String = (0..count).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect();
        match Assertion::parse(&text) {
            Ok(assertion) => {
                let again = Assertion::parse(&assertion.to_string());
                assert_eq!(again, Ok(assertion), "seed {seed}, turn {turn}: `{text}`");
                read += 1;
            }
            Err(error) => {
                assert!(
                    error.place.as_ref().is_some_and(|place| place.column <= text.chars().count() + 1),
                    "seed {seed}, turn {turn}: `{text}`: {error:?}"
                );
                assert!(!error.what.is_empty() && error.help.is_some(), "`{text}`");
            }
        }
    }
    assert!(read > 20, "seed {seed}: only {read} were valid");
}

fn read(text: &str) -> Run {
    match record::read_input("input", text.as_bytes(), None) {
        Ok(record::Input::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

/// The rates of two groups that ran one after the other were added, and passed.
#[test]
fn rates_of_results_that_did_not_run_together_cannot_be_judged() {
    let run = read(include_str!("../../record/tests/data/phases.json"));
    let outcome = |text: &str| judged(text, &run, None).outcome;
    assert_eq!(outcome("read.iops>=1500"), GateOutcome::Unknown(UnknownReason::NotTogether));
    assert_eq!(outcome(&format!("job({}).read.iops>=990", run.jobs[0].name)), GateOutcome::Passed);
}

/// A percentile of more than 17 s passed every bound above that.
#[test]
fn percentiles_without_upper_bound_pass_no_upper_bound() {
    let run = read(include_str!("../../record/tests/data/saturated.txt"));
    let outcome = |text: &str| judged(text, &run, None).outcome;
    assert_eq!(outcome("write.lat.p99<=20s"), GateOutcome::Unknown(UnknownReason::Saturated));
    assert_eq!(outcome("write.lat.p99<=10s"), GateOutcome::Failed);
    assert_eq!(outcome("write.lat.p99>=10s"), GateOutcome::Passed);
    assert_eq!(outcome("write.lat.p1<=1s"), GateOutcome::Passed);
}

#[test]
fn syncs_are_judged() {
    let run = read(include_str!("../../record/tests/data/sync_slow.txt"));
    assert_eq!(judged("sync.lat.p99<=10ms", &run, None).outcome, GateOutcome::Failed);
    assert_eq!(judged("sync.lat.p99.99<=200ms", &run, None).outcome, GateOutcome::Passed);
}
