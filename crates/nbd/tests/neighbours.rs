//! Misbehaving clients do not affect others.

use std::io::Write;
use std::time::{Duration, Instant};

use nbd::store::faults::FaultRates;

use crate::client::{Client, DISCONNECT, EIO, READ, WRITE, request};
use crate::host::{Miss, timed};
use crate::hosted::{Hosted, SIZE};

/// Checks that another client is served while the first misbehaves, which it does for as long as this takes.
fn others_are_served(server: &Hosted) {
    let mut client = server.client();
    client.write(12345, b"still here");
    assert_eq!(client.read(12345, 10), b"still here");
}

/// Checks that a server, which has waited since `began`, used little of a processor: polling would take all of it.
fn was_idle(busy: Duration, began: Instant) -> Result<(), Miss> {
    let elapsed = began.elapsed();
    if busy < elapsed / 4 { Ok(()) } else { Err(Miss::Failed(format!("busy for {busy:?} of {elapsed:?}"))) }
}

#[test]
fn serves_two_hundred_and_fifty_six_connections_at_once() {
    let server = Hosted::new(None);
    let mut clients: Vec<Client> = (0..256).map(|_| server.client()).collect();
    for (number, client) in (0u64..).zip(&mut clients) {
        client.send(WRITE, 0, number, number * 4096, 4096, &[number as u8; 4096]);
    }
    for (number, client) in (0u64..).zip(&mut clients) {
        assert_eq!(client.reply(), (0, number));
    }
    for (number, client) in (0u64..).zip(&mut clients) {
        assert_eq!(client.read((255 - number) * 4096, 4096), [(255 - number) as u8; 4096]);
    }
    server.until(|shown| shown.exports[0].1.connected == 256);
    drop(clients);
    let mut client = server.client();
    client.read(0, 1);
    server.until(|shown| shown.exports[0].1.connected == 1);
}

#[test]
fn a_client_that_stops_reading() {
    let server = Hosted::new(None);
    let mut client = server.client();
    client.stream.set_write_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    // Half a terabyte of replies, if the server accepted all requests.
    let requests: Vec<u8> = (0..1024).flat_map(|cookie| request(READ, 0, cookie, 0, 32 << 20, &[])).collect();
    for _ in 0..16 {
        let _ = client.stream.write(&requests);
    }
    others_are_served(&server);
}

#[test]
fn a_client_that_never_reads_replies_without_data() {
    let server = Hosted::new(None);
    let mut client = server.client();
    client.stream.set_write_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    // The replies take 36 MB, a ninth of which fits into the kernel's buffers.
    let requests: Vec<u8> = (0..1 << 16).flat_map(|cookie| request(99, 0, cookie, 0, 0, &[])).collect();
    let sent = (0..36).try_for_each(|_| client.stream.write_all(&requests));
    assert!(sent.is_err(), "the server keeps all replies in memory");
    others_are_served(&server);
}

#[test]
fn a_client_that_sends_half_a_header() {
    let server = Hosted::new(None);
    let mut client = server.client();
    let whole = request(WRITE, 0, 9, 0, 8, b"in parts");
    client.stream.write_all(&whole[..13]).expect("a connection");
    others_are_served(&server);
    client.stream.write_all(&whole[13..30]).expect("a connection");
    others_are_served(&server);
    client.stream.write_all(&whole[30..]).expect("a connection");
    assert_eq!(client.reply(), (0, 9));
    assert_eq!(client.read(0, 8), b"in parts");
}

#[test]
fn a_client_that_requests_or_announces_four_gibibytes() {
    let server = Hosted::new(None);
    let mut client = server.client();
    assert_ne!(client.ask(READ, 0, 0, u32::MAX, &[]), 0);
    client.send(WRITE, 0, 1, 0, u32::MAX, &[]);
    let _ = client.stream.write_all(&[0; 1 << 16]);
    assert!(client.is_closed());
    others_are_served(&server);
}

#[test]
fn a_client_that_sends_invalid_requests() {
    let server = Hosted::new(None);
    let mut client = server.client();
    client.stream.write_all(&[0xa5; 4096]).expect("a connection");
    assert!(client.is_closed());
    others_are_served(&server);
}

#[test]
fn a_client_that_disconnects_with_requests_in_flight() {
    let server = Hosted::new(Some("custom,latency=100ms"));
    for round in 0..20 {
        let mut client = server.client();
        (0..50).for_each(|cookie| client.send(READ, 0, cookie, round * 4096, 4096, &[]));
        (0..50).for_each(|cookie| client.send(WRITE, 0, cookie, SIZE - 512, 512, &[1; 512]));
        drop(client);
    }
    server.until(|shown| shown.exports[0].1.in_flight == 0 && shown.exports[0].1.connections == 20);
    others_are_served(&server);
}

#[test]
fn a_disconnected_client_uses_no_processor_time() {
    timed("neighbours::a_disconnected_client_uses_no_processor_time", || {
        let server = Hosted::new(Some("custom,latency=2s"));
        let mut client = server.client();
        let began = Instant::now();
        client.send(READ, 0, 1, 0, 4096, &[]);
        client.send(DISCONNECT, 0, 0, 0, 0, &[]);
        server.await_in_flight(1, Duration::from_secs(2))?;
        drop(client);
        server.until_now(|shown| shown.exports[0].1.connected == 0);
        if server.in_flight() != 1 {
            return Err(Miss::Host("the request ended before its client was gone".to_owned()));
        }
        server.until_now(|shown| shown.exports[0].1.in_flight == 0);
        let (_, busy) = server.end_timed();
        was_idle(busy, began)
    });
}

#[test]
fn a_stopping_server_waits_for_requests_without_using_processor_time() {
    timed("neighbours::a_stopping_server_waits_for_requests_without_using_processor_time", || {
        let server = Hosted::new(Some("custom,latency=3s"));
        let mut client = server.client();
        let began = Instant::now();
        client.send(READ, 0, 1, 0, 4096, &[]);
        server.await_in_flight(1, Duration::from_secs(3))?;
        let (done, busy) = server.end_timed();
        if done.exports[0].1.kinds[0].operations != 1 {
            return Err(Miss::Failed("the request was not answered".to_owned()));
        }
        was_idle(busy, began)
    });
}

#[test]
fn one_client_above_the_limit_is_disconnected() {
    let server = Hosted::with(None, |config| config.clients_most = 2);
    let (one, _two) = (server.client(), server.client());
    server.until(|shown| shown.exports[0].1.connected == 2);
    let mut third = std::os::unix::net::UnixStream::connect(server.socket()).expect("a listener");
    assert_eq!(std::io::Read::read(&mut third, &mut [0; 8]).expect("an end"), 0);
    drop(one);
    server.until(|shown| shown.exports[0].1.connected == 1);
    others_are_served(&server);
}

#[test]
fn disconnections_and_errors_have_their_rates() {
    let rates = FaultRates::parse("--faults", "disconnect=0.01").expect("rates");
    let server = Hosted::with(None, move |config| config.faults = Some((rates, 3)));
    let lost = (0..100).filter(|_| lost_within(&mut server.client(), 20)).count();
    // 1 - 0.99^20 = 18 %.
    assert!((5..=35).contains(&lost), "{lost} of 100");

    let failing = FaultRates::parse("--faults", "eio=0.5").expect("rates");
    let server = Hosted::with(None, move |config| {
        let below = config.stores.remove(0);
        config.stores.push(Box::new(nbd::store::FaultyStore::new(below, failing, 3)));
    });
    let mut client = server.client();
    let errors = (0..200).filter(|_| client.ask(WRITE, 0, 0, 1, b"x") == EIO).count();
    assert!((60..=140).contains(&errors), "{errors} of 200");
}

fn lost_within(client: &mut Client, requests: u64) -> bool {
    (0..requests).any(|cookie| {
        let _ = client.stream.write_all(&request(WRITE, 0, cookie, 0, 1, b"x"));
        client.closes()
    })
}
