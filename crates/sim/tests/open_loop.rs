//! Random arrivals at a limit: they wait as queueing theory says.

mod common;

use common::{constant, run};
use units::Nanos;
use volume::PerKind;
use volume::spec::{Burst, Counted, Limit, Scope, Source, Spec};

/// Requests a second that the limit lets through.
const LIMIT: u64 = 10_000;
/// What a request takes once it is admitted.
const LATENCY: Nanos = Nanos::from_millis(1);
/// Arrivals; at 90 % of the limit one wait is like those of some hundred arrivals around it.
const ARRIVALS: u64 = 4_000_000;

/// One server that takes 1 / [`LIMIT`] of each, and lets nothing through early.
fn strict() -> Spec {
    let limit = Limit {
        name: "IOPS".to_owned(),
        scope: Scope::Volume,
        counted: Counted::Operations { unit: None, merged: false },
        rate: PerKind { read: Some(LIMIT), write: Some(LIMIT), ..PerKind::default() },
        larger_than: 0,
        burst: Burst::Jitter(Nanos::ZERO),
        rule: String::new(),
        source: Source::default(),
    };
    Spec { limits: vec![limit], ..constant(LATENCY) }
}

fn assert_near(what: &str, found: f64, wanted: f64, share: f64) {
    assert!((found / wanted - 1.0).abs() <= share, "{what}: {found} for {wanted}");
}

/// M/D/1: with service `S` and utilisation `ρ`, the mean wait is `ρ S / 2 (1 − ρ)` and its variance the square of
/// that plus `ρ S² / 3 (1 − ρ)`; a share `ρ` of all has to wait (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_wait_at_a_limit_as_in_m_d_1() {
    for percent in [50, 70, 90] {
        let rate = LIMIT * percent / 100;
        let text = format!(
            "[test]\nioengine=model\nrw=randread\nbs=4k\nfilename=/dev/volume\niodepth=4096\nrate_iops={rate}\n\
             rate_process=poisson\ntime_based\nruntime={}\n",
            ARRIVALS / rate
        );
        let outcome = run(&strict(), &text, 20_261_121);
        let load = percent as f64 / 100.0;
        let service = 1e9 / LIMIT as f64;
        let mean = load * service / 2.0 / (1.0 - load);
        let variance = mean * mean + load * service * service / 3.0 / (1.0 - load);
        let stage = &outcome.stages[0];
        let what = |figure: &str| format!("{figure} at {percent} %");
        assert_near(&what("arrivals"), stage.requests as f64, ARRIVALS as f64, 0.002);
        assert_near(&what("share that waits"), stage.delayed as f64 / stage.requests as f64, load, 0.005);
        assert_near(&what("mean wait"), stage.delay_ns as f64 / stage.requests as f64, mean, 0.03);
        let latency = &outcome.summaries[0].directions[0].latency.moments;
        assert_near(&what("mean latency"), latency.mean_ns() - LATENCY.get() as f64, mean, 0.03);
        assert_near(&what("deviation"), latency.stddev_ns(), variance.sqrt(), 0.05);
        assert_eq!(latency.min(), LATENCY, "nobody is admitted early, and many at once");
    }
}
