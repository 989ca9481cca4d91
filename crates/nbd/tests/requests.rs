//! Valid and invalid requests.

use std::io::Write;
use std::time::{Duration, Instant};

use nbd::store::{Content, PatternStore};

use crate::client::{
    BLOCK_STATUS, Client, DISCONNECT, EINVAL, ENOSPC, EPERM, ESHUTDOWN, FLUSH, READ, TRIM, WRITE, WRITE_ZEROES, request,
};
use crate::host::{Miss, timed};
use crate::hosted::{Hosted, SIZE, export};

const FUA: u16 = 1;
const DF: u16 = 4;

#[test]
fn written_data_is_read_by_all_and_zero_after_zeroing() {
    let server = Hosted::new(None);
    let (mut one, mut other) = (server.client(), server.client());
    one.write(5000, b"fathom");
    assert_eq!(one.ask(FLUSH, 0, 0, 0, &[]), 0);
    assert_eq!(other.read(4998, 10), b"\0\0fathom\0\0");
    assert_eq!(other.ask(WRITE_ZEROES, FUA, 5000, 3, &[]), 0);
    assert_eq!(one.read(5000, 6), b"\0\0\0hom");
    assert_eq!(one.ask(TRIM, 0, 0, 1 << 20, &[]), 0);
    assert_eq!(one.ask(WRITE, FUA, SIZE - 2, 2, b"ab"), 0);
    assert_eq!(other.read(SIZE - 3, 3), b"\0ab");
}

/// A snapshot was dropped if a reader held the previous one, and an idle server never published another.
#[test]
fn a_snapshot_is_published_after_a_reader_held_the_previous_one() {
    let server = Hosted::new(None);
    let mut client = server.client();
    client.read(0, 4096);
    server.until(|shown| shown.exports[0].1.kinds[0].operations == 1);
    client.read(4096, 4096);
    server.hold_shown(Duration::from_millis(1_500));
    server.until(|shown| shown.exports[0].1.kinds[0].operations == 2);
}

#[test]
fn refuses_invalid_requests_and_serves_the_next_one() {
    let server = Hosted::new(None);
    let mut client = server.client();
    let cases = [
        (READ, 0, SIZE, 1, [].as_slice(), EINVAL),
        (READ, 0, SIZE - 1, 2, &[], EINVAL),
        (READ, 0, u64::MAX, 4096, &[], EINVAL),
        (WRITE, 0, SIZE - 1, 2, b"ab", ENOSPC),
        (WRITE_ZEROES, 0, SIZE - 1, 2, &[], ENOSPC),
        (TRIM, 0, SIZE, 4096, &[], EINVAL),
        (READ, 0, 0, u32::MAX, &[], EINVAL),
        (READ, 0, 0, (32 << 20) + 1, &[], EINVAL),
        (BLOCK_STATUS, 0, 0, 4096, &[], EINVAL),
        (99, 0, 0, 0, &[], EINVAL),
        (READ, 1 << 9, 0, 4096, &[], EINVAL),
        (FLUSH, DF, 0, 0, &[], EINVAL),
    ];
    for (command, flags, offset, length, payload, error) in cases {
        assert_eq!(client.ask(command, flags, offset, length, payload), error, "{command} {flags} {offset} {length}");
    }
    assert_eq!(client.read(SIZE - 4096, 4096), vec![0; 4096]);
    let done = server.end();
    let errors: u64 = done.exports[0].1.kinds.iter().map(|kind| kind.errors).sum();
    assert_eq!(errors, cases.len() as u64);
}

#[test]
fn requests_of_zero_bytes_succeed() {
    let server = Hosted::new(Some("custom,iops=10,latency=1ms"));
    let mut client = server.client();
    assert_eq!(client.ask(READ, 0, 0, 0, &[]), 0);
    assert_eq!(client.ask(WRITE, 0, SIZE, 0, &[]), 0);
    assert_eq!(client.ask(TRIM, 0, 12, 0, &[]), 0);
    assert_eq!(client.read(0, 1), [0]);
}

#[test]
fn the_largest_request_passes_in_both_directions() {
    let server = Hosted::new(None);
    let mut client = server.client();
    let data: Vec<u8> = (0..32u32 << 20).map(|at| (at / 4096 + at) as u8).collect();
    client.write(1 << 20, &data);
    assert_eq!(client.read(1 << 20, 32 << 20), data);
}

#[test]
fn a_read_only_export_refuses_writes() {
    let server = Hosted::with(None, |config| {
        config.stores = vec![Box::new(PatternStore::new(Content::Zeroes, SIZE))];
    });
    let mut client = server.client();
    for command in [WRITE_ZEROES, TRIM] {
        assert_eq!(client.ask(command, 0, 0, 4096, &[]), EPERM);
    }
    assert_eq!(client.ask(WRITE, 0, 0, 4, b"abcd"), EPERM);
    assert_eq!(client.read(0, 4), [0; 4]);
}

#[test]
fn exports_are_selected_by_name_and_can_share_a_store() {
    let server = Hosted::with(None, |config| {
        let mut again = config.exports[0].clone();
        again.export = export("again", SIZE);
        config.exports.push(again);
    });
    server.client().write(0, b"shared");
    assert_eq!(Client::connect(&server.socket(), "again").read(0, 6), b"shared");
    // Without a name, the first export is selected.
    assert_eq!(Client::connect(&server.socket(), "").read(0, 6), b"shared");
    let done = server.end();
    assert_eq!(done.exports.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["disk", "again"]);
    assert_eq!(done.exports.iter().map(|(_, tally)| tally.connections).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn buffered_requests_start_once_earlier_ones_are_answered() {
    // A busy host may need longer to read the requests before the first is answered.
    let mut outcomes = [2, 8, 32].into_iter().map(buffered_requests_start);
    assert!(outcomes.any(|outcome| outcome.is_ok()), "the requests are not in flight at once");
}

fn buffered_requests_start(latency_s: u64) -> Result<(), Miss> {
    let server = Hosted::new(Some(&format!("custom,latency={latency_s}s")));
    let mut client = server.client();
    let flush = |cookie: u64| request(FLUSH, 0, cookie, 0, 0, &[]);
    // Of odd length, so that no later read ends at the end of a request.
    let mut first = request(WRITE, 0, 0, 0, (1 << 20) + 1, &[1; (1 << 20) + 1]);
    first.extend((1..16_000).flat_map(flush));
    let rest: Vec<u8> = (16_000..17_000).flat_map(flush).collect();
    // Ends with half a request, so that some input is always incomplete.
    first.extend_from_slice(&rest[..10]);
    client.stream.write_all(&first).expect("a connection");
    server.await_in_flight(16_000, Duration::from_secs(latency_s))?;
    client.stream.write_all(&rest[10..]).expect("a connection");
    for _ in 0..17_000 {
        assert_eq!(client.reply().0, 0);
    }
    Ok(())
}

#[test]
fn a_disconnecting_client_gets_its_replies_first() {
    let server = Hosted::new(Some("custom,latency=50ms"));
    let mut client = server.client();
    (0..20).for_each(|cookie| client.send(READ, 0, cookie, cookie * 4096, 4096, &[]));
    client.send(DISCONNECT, 0, 0, 0, 0, &[]);
    for _ in 0..20 {
        assert_eq!(client.reply().0, 0);
        client.bytes(4096);
    }
    assert!(client.is_closed());
}

#[test]
fn a_stopping_server_answers_earlier_requests_and_refuses_later_ones() {
    timed("requests::a_stopping_server_answers_earlier_requests_and_refuses_later_ones", || {
        const LATENCY: Duration = Duration::from_secs(1);
        let server = Hosted::new(Some("custom,latency=1s"));
        let mut client = server.client();
        let began = Instant::now();
        client.send(READ, 0, 1, 0, 4096, &[]);
        server.await_in_flight(1, LATENCY)?;
        server.stopper().stop();
        // It removes its socket when it begins to refuse requests.
        while server.socket().exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let sent = client.stream.write_all(&request(READ, 0, 2, 0, 4096, &[]));
        if sent.is_err() || began.elapsed() >= LATENCY {
            return Err(Miss::Host(format!("the second request was sent {:?} after the first", began.elapsed())));
        }
        assert_eq!(client.reply(), (ESHUTDOWN, 2));
        assert_eq!(client.reply(), (0, 1));
        client.bytes(4096);
        assert!(client.is_closed());
        Ok(())
    });
}

#[test]
fn an_unused_server_publishes_its_exports() {
    let server = Hosted::new(None);
    server.until(|shown| shown.exports.len() == 1 && shown.exports[0].1.connections == 0);
}
