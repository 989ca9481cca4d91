//! Timing of replies: never early, and late only on a busy host.

use std::io::Write;
use std::time::{Duration, Instant};

use nbd::store::faults::FaultRates;

use crate::client::{Client, READ, WRITE_ZEROES, request};
use crate::host::{timed, within};
use crate::hosted::Hosted;

/// Measures `count` reads at queue depth `depth`.
fn reads(client: &mut Client, count: u64, depth: u64) -> Duration {
    let began = Instant::now();
    (0..depth).for_each(|cookie| client.send(READ, 0, cookie, cookie * 4096, 4096, &[]));
    for sent in depth..count + depth {
        assert_eq!(client.reply().0, 0);
        client.bytes(4096);
        if sent < count {
            client.send(READ, 0, sent, (sent % 1000) * 4096, 4096, &[]);
        }
    }
    began.elapsed()
}

/// Checks the duration of reads. A shorter one is wrong on any host, a longer one only on an idle host.
fn between(name: &str, least_ms: u64, most_ms: u64, mut reads: impl FnMut() -> Duration) {
    timed(name, || {
        let time = reads();
        assert!(time >= Duration::from_millis(least_ms), "{time:?}");
        within(time, Duration::from_millis(most_ms))
    });
}

#[test]
fn reads_of_holes_are_charged() {
    let server = Hosted::new(Some("custom,iops=1000,latency=100us"));
    let mut client = server.client();
    let name = "timing::reads_of_holes_are_charged";
    // A limit admits 5 ms worth of requests in advance: five.
    between(name, 480, 1000, || reads(&mut client, 500, 16));
    assert_eq!(client.ask(WRITE_ZEROES, 0, 0, 1 << 20, &[]), 0);
    between(name, 480, 1000, || reads(&mut client, 500, 16));
}

#[test]
fn the_rate_is_exact_even_if_replies_are_late() {
    let server = Hosted::new(Some("custom,iops=5000,latency=100us"));
    let name = "timing::the_rate_is_exact_even_if_replies_are_late";
    between(name, 1980, 2300, || reads(&mut server.client(), 10_000, 64));
}

#[test]
fn replies_leave_when_due_not_in_request_order() {
    let server = Hosted::new(Some("aws/gp3,size=100GiB"));
    let mut client = server.client();
    (0..200).for_each(|cookie| client.send(READ, 0, cookie, 0, 512, &[]));
    let order: Vec<u64> = (0..200)
        .map(|_| {
            let (error, cookie) = client.reply();
            client.bytes(512);
            assert_eq!(error, 0);
            cookie
        })
        .collect();
    assert!(!order.is_sorted(), "{order:?}");
    let mut sorted = order;
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..200));
}

#[test]
fn a_stall_delays_only_its_own_request() {
    let rates = FaultRates::parse("--faults", "stall=0.05:400ms").expect("rates");
    let server = Hosted::with(None, move |config| config.faults = Some((rates, 11)));
    let mut client = server.client();
    let began = Instant::now();
    // In one piece, so that all arrive at once. Replies to later requests overtake those that are stalled.
    let requests: Vec<u8> = (0..100).flat_map(|cookie| request(READ, 0, cookie, 0, 512, &[])).collect();
    client.stream.write_all(&requests).expect("a connection");
    let (mut latest, mut late) = (0, 0);
    for _ in 0..100 {
        let (_, cookie) = client.reply();
        client.bytes(512);
        if cookie < latest {
            late += 1;
            assert!(began.elapsed() >= Duration::from_millis(390), "{cookie} after {:?}", began.elapsed());
        }
        latest = latest.max(cookie);
    }
    assert!((1..=15).contains(&late), "{late} of 100");
}

#[test]
fn reports_operations_and_punctuality() {
    let server = Hosted::new(Some("custom,iops=1000,latency=1ms"));
    reads(&mut server.client(), 300, 8);
    let done = server.end();
    let tally = &done.exports[0].1;
    assert_eq!((tally.kinds[0].operations, tally.kinds[0].bytes), (300, 300 * 4096));
    assert_eq!(done.punctuality.replies, 300);
    assert_eq!(done.punctuality.late.total(), 300);
    let charged: u64 = done.stages.iter().map(|stage| stage.requests).sum();
    assert!(charged >= 300, "{:?}", done.stages);
}
