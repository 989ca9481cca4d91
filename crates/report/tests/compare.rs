//! Comparisons and gates, compared verbatim.

use analyse::compare::{
    Aspect, Basis, Caution, Change, Comparison, ComparisonSettings, ConditionMismatch, FigureComparison, JobComparison,
    Judgement, MismatchValue, More, Side,
};
use analyse::gate::{Assertion, GateOutcome, JudgedAssertion, UnknownReason};
use record::{Figure, Run};
use report::SheetStyle;
use report::{compare, gate};
use results::compare::{ComparisonResult, NamedRun};
use results::gate::{GateCheck, GateResult};

fn row(name: &str, values: [f64; 2], change: Option<[f64; 2]>, judgement: Judgement) -> FigureComparison {
    let change = change.map(|[percent, half]| Change {
        percent,
        low_percent: percent - half,
        high_percent: percent + half,
        widened: false,
    });
    FigureComparison {
        figure: Figure::named(name).expect(name),
        baseline: values[0],
        candidate: values[1],
        change,
        basis: change.map(|_| Basis::Intervals { seconds: 60.0 }),
        independent: 60.0,
        judgement,
    }
}

fn named(name: &str) -> Vec<NamedRun> {
    let load = "randread 4 KiB, io_uring, depth 32, direct".to_owned();
    vec![NamedRun {
        name: name.to_owned(),
        label: None,
        load,
        tail_assumed: false,
        began: Some("2026-11-21 12:50:13".to_owned()),
    }]
}

fn document() -> ComparisonResult {
    let open = |more| Judgement::Undecided { more };
    let figures = vec![
        row("read.iops", [152_300.0, 161_600.0], Some([6.1, 1.2]), Judgement::Better),
        row("read.bytes_per_second", [152_300.0 * 4096.0, 161_600.0 * 4096.0], Some([6.1, 1.2]), Judgement::Better),
        row("read.latency_mean", [209_000.0, 197_000.0], Some([-5.7, 1.1]), Judgement::Better),
        row("read.latency_p50", [190_000.0, 190_100.0], Some([0.0, 0.4]), Judgement::Same),
        row("read.latency_p99", [1_200_000.0, 1_300_000.0], Some([8.3, 4.2]), Judgement::Worse),
        row("read.latency_p99.9", [3e6, 2.9e6], None, open(Some(More::Seconds(1_200)))),
    ];
    let cautions = vec![Caution::CreditsRanOut { side: Side::Baseline }, Caution::RepeatsOnOneSide];
    let job = JobComparison { job: "a, b".to_owned(), figures, cautions };
    let word = |word: &str| MismatchValue::Word(word.to_owned());
    let kernel = ConditionMismatch {
        aspect: Aspect::Kernel,
        job: None,
        baseline: word("6.1"),
        candidate: word("6.18"),
        blocking: false,
    };
    let comparison = Comparison { mismatches: vec![kernel], jobs: vec![job] };
    compare::result(named("before"), named("after"), ComparisonSettings::default(), comparison)
}

#[test]
fn comparison_text_is_verbatim() {
    let expected = "\
ANSWER    after is 6.1% faster than before on reads: 162k against 152k IOPS (± 1.2%); latency p99
          worse (+8.3% ± 4.2%); latency p99.9 undecided: 20 min more would decide it.
BASIS     the kernel is 6.1 in the baseline and 6.18 in the candidate; burst credits ran out in the
          baseline only, so its mean covers two phases; only one side has repeats; the other is
          assumed to vary as much from run to run.

baseline   before  randread 4 KiB, io_uring, depth 32, direct, 2026-11-21 12:50:13
candidate  after  randread 4 KiB, io_uring, depth 32, direct, 2026-11-21 12:50:13

reads             baseline  candidate        change
  IOPS                152k       162k  +6.1% ± 1.2%  better
  latency mean      209 us     197 us  -5.7% ± 1.1%  better
  latency p50       190 us     190 us   0.0% ± 0.4%  same
  latency p99      1.20 ms    1.30 ms  +8.3% ± 4.2%  worse
  latency p99.9    3.00 ms    2.90 ms             ?  undecided: 20 min more
";
    assert_eq!(compare::text(&document(), SheetStyle { width: 100, ..SheetStyle::default() }), expected);
}

#[test]
fn comparison_tables_are_verbatim() {
    let csv = compare::csv(&document());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[1], "\"a, b\",read,iops,152300,161600,6.1,4.8999999999999995,7.3,better,,");
    assert_eq!(lines[6], "\"a, b\",read,latency_p99.9,3000000,2900000,,,,undecided,1200,");
    let markdown = compare::markdown(&document());
    assert!(markdown.contains("| a, b | reads | latency p99 | 1.20 ms | 1.30 ms | +8.3% ± 4.2% | **worse** |\n"));
    assert!(markdown.contains("Basis: the kernel is 6.1 in the baseline and 6.18 in the candidate;"));
}

fn check(text: &str, outcome: GateOutcome, values: [Option<f64>; 3], strict: bool) -> GateCheck {
    let change = (outcome == GateOutcome::WithinNoise).then_some(Change {
        percent: -3.0,
        low_percent: -7.0,
        high_percent: 1.0,
        widened: false,
    });
    let more = change.map(|_| More::Seconds(120));
    let [measured, bound, margin_percent] = values;
    let judged = JudgedAssertion { outcome, measured, bound, margin_percent, change, more };
    gate::check(text, Assertion::parse(text).expect(text), judged, strict)
}

fn gated(strict: bool) -> GateResult {
    let run = Run::default();
    let checks = vec![
        check("read.iops>=150k", GateOutcome::Passed, [Some(161_600.0), Some(150_000.0), Some(7.73)], strict),
        check("read.lat.p99<=1ms", GateOutcome::Failed, [Some(1.3e6), Some(1e6), Some(-30.0)], strict),
        check("write.iops>=99%", GateOutcome::WithinNoise, [Some(970.0), Some(990.0), Some(-2.02)], strict),
        check("trim.iops>=1", GateOutcome::Unknown(UnknownReason::NotMeasured), [None, Some(1.0), None], strict),
    ];
    gate::result(vec![(named("after").remove(0), &run)], named("before"), Vec::new(), checks, Vec::new())
}

#[test]
fn gate_text_is_verbatim() {
    let expected = "\
ANSWER    Fail: 2 of 4 assertions, the first read.lat.p99<=1ms: it is 1.30 ms, 30.0% off.

✓ read.iops>=150k       162k       7.73% headroom
✗ read.lat.p99<=1ms  1.30 ms       30.0% off
~ write.iops>=99%        970  990  within noise (change -3.0% ± 4.0%): 120 s more would decide it
? trim.iops>=1             ?       the run does not have this figure

run        after  randread 4 KiB, io_uring, depth 32, direct, 2026-11-21 12:50:13
baseline   before  randread 4 KiB, io_uring, depth 32, direct, 2026-11-21 12:50:13
";
    assert_eq!(gate::text(&gated(false), SheetStyle { width: 100, ..SheetStyle::default() }), expected);
    let strict = gate::text(&gated(true), SheetStyle { width: 100, ..SheetStyle::default() });
    assert!(strict.contains("✗ write.iops>=99%") && strict.contains("3 of 4 assertions"), "{strict}");
}

#[test]
fn gates_are_written_as_junit_and_markdown() {
    let junit = gate::junit(&gated(false));
    assert!(junit.contains("<testsuites name=\"fathom gate\" tests=\"4\" failures=\"1\" errors=\"1\""), "{junit}");
    assert!(junit.contains("timestamp=\"2026-11-21T12:50:13\""), "{junit}");
    assert!(junit.contains("message=\"expected read.lat.p99&lt;=1ms, measured 1.30 ms: 30.0% off\""), "{junit}");
    let markdown = gate::markdown(&gated(false));
    assert!(markdown.contains("| ➖ | `write.iops>=99%` | 970 | 990 | within noise"), "{markdown}");
}
