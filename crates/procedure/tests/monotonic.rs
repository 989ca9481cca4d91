//! More evidence never makes a plan cheaper than the need it shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use job::ReplayLoop;
use plan::replay::{ReplayBounds, ReplayTrial};
use plan::{LatencyCache, Need};
use procedure::purchase::need_of;
use procedure::trace_purchase::PreparedTrace;
use runner::Uninterrupted;
use trace::{TraceInfo, TraceRequest, TraceWriter, TraceWriterOptions};
use units::random::Random;

use crate::model::{MemoryTraces, model};

/// Number of random sources, by day and by night.
const SOURCES: u64 = 500;

/// Runs `test` with each seed, on all processors.
fn for_each(test: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= SOURCES {
                return;
            }
            test(seed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.unit())
}

/// Returns the cheapest price of some types in US dollars, by the closed form.
fn price(need: &Need) -> f64 {
    let volumes = ["aws/gp3", "azure/premium-ssd-v2"].map(str::to_owned).to_vec();
    let need = Need { volumes, capacity: Some(100 << 30), headroom: 0.2, stripe_max: 1, ..need.clone() };
    let found = plan::candidates(&need, &mut LatencyCache::default());
    let meeting = found.iter().filter(|candidate| candidate.meets());
    meeting.filter_map(|candidate| Some(candidate.known_price()?.usd_per_month)).fold(f64::INFINITY, f64::min)
}

/// The plan was for the mean of all intervals, which quiet ones lower.
#[test]
fn more_intervals_are_never_cheaper() {
    for_each(|seed| {
        let random = &mut Random::new(seed, 11);
        // Sizes of requests that are equal in all intervals make needs comparable; others must still be covered.
        let (is_equal, kib) = (seed % 2 == 0, 4_u64 << random.below(6));
        let size = |random: &mut Random| if is_equal { kib } else { 4 << random.below(6) };
        let count = 2 + random.below(28) as usize;
        let intervals: Vec<(f64, u64)> = (0..count)
            .map(|_| {
                let rate = if random.unit() < 0.3 { 0.0 } else { between(random, 10.0, 20_000.0).round() };
                (rate, size(random))
            })
            .collect();
        let prefix = 1 + random.below(count as u64 - 1) as usize;
        let need = |intervals: &[(f64, u64)]| {
            let report = |(rate, kib): &(f64, u64)| {
                let queue = rate / 10_000.0;
                format!(
                    "Device r/s rkB/s r_await rareq-sz aqu-sz %util\nsda {rate:.2} {:.2} 0.10 {kib}.00 {queue:.2} 50.00\n\n",
                    rate * *kib as f64
                )
            };
            // The first report has the averages since boot.
            let first = format!("Linux 6.8 (h) \t11/29/26 \t_x86_64_\t(8 CPU)\n\n{}", report(&(7.0, 4)));
            let text = first + &intervals.iter().map(report).collect::<String>();
            let found = need_of("input", text.as_bytes(), (None, Some("sda")), &job::EmptySource);
            found.ok().map(|derived| derived.need)
        };
        let (Some(less), Some(more)) = (need(&intervals[..prefix]), need(&intervals)) else { return };
        let said = format!("seed {seed}: {intervals:?}, the first {prefix}");
        for (need, shown) in [(&less, &intervals[..prefix]), (&more, &intervals[..])] {
            let (rate, block) = (need.iops.unwrap_or(0.0), f64::from(need.block.unwrap_or(4096)));
            for (iops, kib) in shown {
                assert!(rate >= iops - 1e-6, "{said}: {rate} for {iops} IOPS");
                let bytes = iops * (kib * 1024) as f64;
                assert!(rate * block >= bytes * (1.0 - 1e-3), "{said}: {rate} of {block} for {bytes} bytes/s");
            }
        }
        let rates = [&less, &more].map(|need| need.iops.unwrap_or(0.0));
        assert!(!is_equal || rates[1] >= rates[0], "{said}: {rates:?}");
        if rates[1] >= rates[0] && more.block >= less.block {
            let (before, after) = (price(&less), price(&more));
            assert!(after >= before - 1e-9, "{said}: {before} becomes {after}");
        }
    });
}

/// Returns random requests of 100 to 200 s, with bursts and quiet times.
fn requests(random: &mut Random) -> Vec<TraceRequest> {
    let end = between(random, 100.0, 200.0);
    let (mut at, mut found) = (0.0, Vec::new());
    while at < end {
        let (length, rate) = (between(random, 1.0, 20.0), between(random, 1.0, 120.0));
        let stop = (at + length).min(end);
        while at < stop {
            found.push(TraceRequest {
                issued_ns: (at * 1e9) as u64,
                service_ns: Some(200_000),
                offset: random.below(100_000) * 4096,
                length: 4096,
                ..TraceRequest::default()
            });
            at += 2.0 * random.unit() / rate;
        }
    }
    found
}

/// A volume that fell behind by minutes in the middle of a trace kept up, if it had caught up at the end.
#[test]
fn a_volume_for_a_trace_keeps_up_with_each_part_of_it() {
    let kept = AtomicU64::new(0);
    let missed = AtomicU64::new(0);
    for_each(|seed| {
        let random = &mut Random::new(seed, 12);
        let all = requests(random);
        let least = all.iter().position(|request| request.issued_ns >= 100_000_000_000).unwrap_or(all.len());
        let prefix = least + random.below((all.len() - least) as u64 + 1) as usize;
        // Sizes around those that sustain the mean rate.
        let mean = all.len() as f64 / (all.last().map_or(1, |last| last.issued_ns) as f64 / 1e9);
        let size = (between(random, 0.8, 4.0) * mean / 0.75).ceil().max(10.0);
        let keeps_up = |requests: &[TraceRequest]| {
            let info = TraceInfo { devices: vec![("sda".to_owned(), Some(1 << 40))], ..TraceInfo::default() };
            let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
            requests.iter().for_each(|request| writer.push(request));
            let traces = Arc::new(MemoryTraces(BTreeMap::from([("t".to_owned(), writer.finish().into())])));
            let trace = PreparedTrace::read("t", (true, ReplayLoop::Open), traces, |_| true).unwrap().unwrap();
            let runner = model().with_traces(trace.traces());
            let replayer = trace.replayer(&runner, 1, &Uninterrupted);
            let volume = format!("gcp/pd-standard,size={size}GiB");
            let result = replayer.replay(&ReplayTrial { volume, speed: 1.0, until_missed: None }).unwrap();
            result.shortfalls(&ReplayBounds::default()).is_empty()
        };
        let (whole, part) = (keeps_up(&all), keeps_up(&all[..prefix]));
        assert!(
            part || !whole,
            "seed {seed}: {size} GiB keep up with {} requests, not with the first {prefix}",
            all.len()
        );
        if whole { &kept } else { &missed }.fetch_add(1, Ordering::Relaxed);
    });
    // Both outcomes are common.
    let [kept, missed] = [kept, missed].map(AtomicU64::into_inner);
    assert!(kept > SOURCES / 10 && missed > SOURCES / 10, "{kept} kept up, {missed} did not");
}
