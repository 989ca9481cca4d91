use trace::TraceOperation;

use super::*;
use RequestAction::{Complete, FlushDone, FrontMerge, Insert, Issue, Merge, Requeue};

fn event(time_ns: u64, action: RequestAction, sector: u64, length: u32) -> RequestEvent {
    let request = TraceRequest { offset: sector * 512, length, process: action as u16, ..TraceRequest::default() };
    RequestEvent { time_ns, action, place: RequestPlace::Sector(sector), request }
}

fn run(events: &[RequestEvent]) -> (Vec<TraceRequest>, PairingCounts) {
    let mut pairing = RequestPairing::default();
    let mut requests = Vec::new();
    for event in events {
        pairing.add(event, &mut requests);
    }
    pairing.finish(&mut requests);
    (requests, pairing.counts())
}

/// Issue, time in the queue, service time, sector and length.
type Times = (u64, Option<u64>, Option<u64>, u64, u32);

fn times(events: &[(u64, RequestAction, u64, u32)]) -> Vec<Times> {
    let events: Vec<_> = events.iter().map(|(time, action, at, length)| event(*time, *action, *at, *length)).collect();
    let of = |request: &TraceRequest| {
        (request.issued_ns, request.queued_ns, request.service_ns, request.offset / 512, request.length)
    };
    run(&events).0.iter().map(of).collect()
}

#[test]
fn events_of_a_request_are_paired() {
    assert_eq!(times(&[(20, Issue, 8, 512), (50, Complete, 8, 512)]), [(20, None, Some(30), 8, 512)]);
    let queued = [(12, Insert, 8, 512), (20, Issue, 8, 512), (50, Complete, 8, 512)];
    assert_eq!(times(&queued), [(20, Some(8), Some(30), 8, 512)]);
    let in_parts = [(20, Issue, 8, 8192), (40, Complete, 8, 4096), (50, Complete, 16, 4096)];
    assert_eq!(times(&in_parts), [(20, None, Some(30), 8, 8192)]);
    let requeued =
        [(10, Insert, 8, 512), (20, Issue, 8, 512), (25, Requeue, 8, 512), (30, Issue, 8, 512), (50, Complete, 8, 512)];
    assert_eq!(times(&requeued), [(30, Some(20), Some(20), 8, 512)]);
    let (_, counts) = run(&requeued.map(|(time, action, at, length)| event(time, action, at, length)));
    assert_eq!(counts, PairingCounts { issued: 1, completed: 1, requeued: 1, ..PairingCounts::default() });
    let longer = [(1, Issue, 8, 4096), (3, Complete, 8, 8192)];
    assert_eq!(times(&longer), [(1, None, Some(2), 8, 4096)]);
}

#[test]
fn merges_in_the_queue_keep_its_times() {
    let in_front = [(10, Insert, 16, 4096), (12, FrontMerge, 8, 4096), (20, Issue, 8, 8192), (50, Complete, 8, 8192)];
    assert_eq!(times(&in_front), [(20, Some(10), Some(30), 8, 8192)]);
    // The request at 16 became a part of the one at 8: a later one there was never in the queue.
    let merged = [
        (10, Insert, 8, 4096),
        (11, Insert, 16, 4096),
        (12, Merge, 16, 4096),
        (20, Issue, 8, 8192),
        (50, Complete, 8, 8192),
        (60, Issue, 16, 4096),
        (61, Complete, 16, 4096),
    ];
    assert_eq!(times(&merged), [(20, Some(10), Some(30), 8, 8192), (60, None, Some(1), 16, 4096)]);
}

#[test]
fn the_process_is_the_one_that_queued() {
    let (requests, _) = run(&[event(1, Insert, 8, 512), event(2, Issue, 8, 512), event(3, Complete, 8, 512)]);
    assert_eq!(requests[0].process, Insert as u16);
}

#[test]
fn requests_come_in_the_order_of_issue() {
    let events = [
        (1, Issue, 8, 512),
        (2, Issue, 16, 512),
        (3, Issue, 24, 512),
        (4, Complete, 24, 512),
        (5, Complete, 16, 512),
        (6, Complete, 8, 512),
        (7, Issue, 32, 512),
    ];
    let issues: Vec<_> = times(&events).into_iter().map(|(issued, _, service, ..)| (issued, service)).collect();
    assert_eq!(issues, [(1, Some(5)), (2, Some(3)), (3, Some(1)), (7, None)]);
}

#[test]
fn requests_at_one_place_are_told_apart() {
    let same = [(1, Issue, 8, 512), (2, Issue, 8, 512), (3, Complete, 8, 512), (5, Complete, 8, 512)];
    assert_eq!(times(&same), [(1, None, Some(2), 8, 512), (2, None, Some(3), 8, 512)]);
    let mut events = vec![event(1, Issue, 8, 4096), event(2, Issue, 8, 512), event(3, Issue, 8, 4096)];
    events[2].request.operation = TraceOperation::Write;
    let mut write_done = event(4, Complete, 8, 4096);
    write_done.request.operation = TraceOperation::Write;
    events.extend([write_done, event(6, Complete, 8, 512), event(9, Complete, 8, 4096)]);
    let service: Vec<_> = run(&events).0.iter().map(|request| request.service_ns).collect();
    assert_eq!(service, [Some(8), Some(4), Some(1)]);
    // A flush has sector 0, as has what is written there.
    let flush = |time, action| RequestEvent { place: RequestPlace::Flush, ..event(time, action, 0, 0) };
    let events = [
        event(1, Issue, 0, 4096),
        flush(2, Issue),
        flush(3, Complete),
        event(4, FlushDone, 0, 0),
        event(9, Complete, 0, 4096),
    ];
    let (requests, counts) = run(&events);
    assert_eq!(requests.iter().map(|request| request.service_ns).collect::<Vec<_>>(), [Some(8), Some(1)]);
    assert_eq!((counts.flush_waits, counts.unmatched), (1, 0));
}

#[test]
fn bios_that_their_driver_advances_are_found_by_their_end() {
    let advanced = [(1, Issue, 8, 4096), (2, Issue, 16, 4096), (5, Complete, 24, 0), (6, Complete, 16, 0)];
    assert_eq!(times(&advanced), [(1, None, Some(5), 8, 4096), (2, None, Some(3), 16, 4096)]);
}

#[test]
fn requests_from_before_are_counted() {
    let (requests, counts) = run(&[event(5, Complete, 64, 512), event(20, Issue, 16, 4096)]);
    assert_eq!(requests.len(), 1);
    assert_eq!(counts, PairingCounts { issued: 1, unmatched: 1, ..PairingCounts::default() });
    // A completion that was read before its issue is not from before.
    assert_eq!(times(&[(9, Complete, 8, 512), (4, Issue, 8, 512)]), [(4, None, Some(5), 8, 512)]);
    assert_eq!(times(&[(3, Complete, 8, 512), (4, Issue, 8, 512)]), [(4, None, None, 8, 512)]);
}

#[test]
fn one_that_is_late_delays_no_others_for_long() {
    let mut pairing = RequestPairing::default();
    let mut requests = Vec::new();
    pairing.add(&event(0, Issue, 0, 512), &mut requests);
    for second in 1..30 {
        let time = second * 1_000_000_000;
        pairing.add(&event(time, Issue, second * 8, 512), &mut requests);
        pairing.add(&event(time + 1, Complete, second * 8, 512), &mut requests);
    }
    assert_eq!(requests.len(), 29);
    pairing.add(&event(40_000_000_000, Complete, 0, 512), &mut requests);
    assert_eq!(requests.last().map(|request| request.service_ns), Some(Some(40_000_000_000)));
    assert_eq!(pairing.counts().completed, 30);
}

#[test]
fn memory_is_bounded() {
    let mut pairing = RequestPairing::default();
    let mut requests = Vec::new();
    for number in 0..220_000_u64 {
        // The same few places, so that forgetting has lists to shorten.
        pairing.add(&event(number, Issue, number % 170_000 * 8, 512), &mut requests);
        pairing.add(&event(number, Insert, number * 8 + 1, 512), &mut requests);
        pairing.add(&event(number, Complete, number * 8 + 2, 512), &mut requests);
        assert!(pairing.window.len() <= WINDOW_MAX + 1 && pairing.late.len() <= OUTSIDE_MAX + 1);
        assert!(pairing.queued.len() <= OUTSIDE_MAX && pairing.orphans.len() <= ORPHANS_MAX);
    }
    pairing.finish(&mut requests);
    assert_eq!(requests.len(), 220_000);
    assert_eq!(pairing.counts().unmatched, 220_000);
}

#[test]
fn random_events_lose_no_request() {
    let mut random = units::random::Random::new(3, 0);
    for _ in 0..200 {
        let mut pairing = RequestPairing::default();
        let mut requests = Vec::new();
        for time in 0..400 {
            let action = [Issue, Issue, Complete, Complete, Insert, Requeue, Merge, FrontMerge, FlushDone]
                [random.below(9) as usize];
            let length = [0, 512, 4096][random.below(3) as usize];
            let mut one = event(time * 100_000_000, action, random.below(6) * 8, length);
            one.place = match random.below(6) {
                0 => RequestPlace::Flush,
                1 => RequestPlace::Command,
                _ => one.place,
            };
            pairing.add(&one, &mut requests);
        }
        pairing.finish(&mut requests);
        let counts = pairing.counts();
        assert_eq!(requests.len() as u64, counts.issued);
        assert_eq!(requests.iter().filter(|request| request.service_ns.is_some()).count() as u64, counts.completed);
    }
}
