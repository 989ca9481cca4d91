//! Changes to a running server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nbd::server::ControlChange;
use nbd::store::faults::{FaultRates, FaultyStore};
use nbd::store::{FaultKind, MemoryStore};

use crate::client::{Client, EIO, ENOSPC, FLUSH, READ, WRITE};
use crate::host::{Miss, timed, within};
use crate::hosted::{Hosted, SIZE, attachment};

/// Starts a server with faults to be changed.
fn faulty(on: Option<&str>) -> Hosted {
    Hosted::with(on, |config| {
        config.faults = Some((FaultRates::default(), 5));
        config.stores =
            vec![Box::new(FaultyStore::new(Box::new(MemoryStore::new(SIZE, SIZE)), FaultRates::default(), 5))];
    })
}

fn faults(words: &str) -> Option<ControlChange> {
    Some(ControlChange::Faults(FaultRates::parse("faults", words).expect("rates")))
}

#[test]
fn fault_changes_apply_between_requests_and_faults_are_counted() {
    let server = faulty(None);
    let (controller, mut client) = (server.controller(), server.client());
    client.write(0, &[3; 4096]);
    let outcomes = |client: &mut Client| {
        [(READ, 0, &[][..]), (WRITE, 4096, &[9; 512][..]), (FLUSH, 0, &[][..])].map(|(command, offset, data)| {
            let length = if command == READ { 512 } else { data.len() as u32 };
            let error = client.ask(command, 0, offset, length, data);
            let bytes = if command == READ && error == 0 { client.bytes(512) } else { Vec::new() };
            (error, bytes.iter().filter(|byte| **byte != 3).count())
        })
    };
    let mut changed = |words: &str| {
        controller.carry_out(faults(words)).expect("a server");
        outcomes(&mut client)
    };
    assert_eq!(changed("eio=1"), [(EIO, 0), (EIO, 0), (0, 0)]);
    assert_eq!(changed("flush_eio=1"), [(0, 0), (0, 0), (EIO, 0)]);
    assert_eq!(changed("enospc=1"), [(0, 0), (ENOSPC, 0), (0, 0)]);
    assert_eq!(changed("corrupt=1"), [(0, 1), (0, 0), (0, 0)]);
    assert_eq!(changed("flush_stall=1:50ms"), [(0, 0); 3]);
    assert_eq!(changed("eio=0"), [(0, 0); 3]);
    let injected = controller.carry_out(None).expect("a server").exports[0].1.injected;
    let counts = FaultKind::ALL.map(|kind| injected.of(kind));
    assert_eq!(counts, [2, 1, 1, 0, 0, 1, 0, 1, 0], "{injected:?}");
    assert_eq!(server.end().exports[0].1.injected, injected);
}

#[test]
fn flush_stalls_have_the_requested_duration() {
    let server = faulty(None);
    server.controller().carry_out(faults("flush_stall=1:200ms,flush_eio=1")).expect("a server");
    let mut client = server.client();
    timed("controlled::flush_stalls_have_the_requested_duration", || {
        let began = Instant::now();
        assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]), EIO, "it fails after the stall");
        assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
        let began = Instant::now();
        client.read(0, 512);
        within(began.elapsed(), Duration::from_millis(150))
    });
}

#[test]
fn faults_changed_under_load_are_counted_as_clients_see_them() {
    let server = faulty(None);
    let (controller, socket) = (server.controller(), server.socket());
    let finished = AtomicBool::new(false);
    let (seen, served) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = Client::connect(&socket, "disk");
            while !finished.load(Ordering::Relaxed) {
                (0..16).for_each(|cookie| client.send(READ, 0, cookie, 0, 512, &[]));
                for _ in 0..16 {
                    let (error, _) = client.reply();
                    assert!(error == 0 || error == EIO, "error {error}");
                    if error == 0 {
                        client.bytes(512);
                    }
                    if error == EIO { &seen } else { &served }.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        // On a busy host 300 changes can be over before the client's first request.
        for step in 0..100_000 {
            controller.carry_out(faults(if step % 2 == 0 { "eio=50%" } else { "eio=0" })).expect("a server");
            if step >= 300 && seen.load(Ordering::Relaxed) > 0 && served.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
        finished.store(true, Ordering::Relaxed);
    });
    let (seen, served) = (seen.into_inner(), served.into_inner());
    let done = server.end();
    let tally = &done.exports[0].1;
    assert_eq!((tally.injected.of(FaultKind::Eio), tally.kinds[0].errors), (seen, seen), "of {}", seen + served);
    assert!(seen > 0 && served > 0, "{seen} failed, {served} were served");
}

#[test]
fn requests_in_flight_keep_their_due_times_when_the_model_changes() {
    let server = Hosted::new(Some("custom,latency=1s"));
    let (controller, mut early, mut late) = (server.controller(), server.client(), server.client());
    timed("controlled::requests_in_flight_keep_their_due_times_when_the_model_changes", || {
        controller.carry_out(Some(ControlChange::Model(vec![attachment("custom,latency=1s")]))).expect("a server");
        let began = Instant::now();
        early.send(READ, 0, 1, 0, 512, &[]);
        let seen = server.await_in_flight(1, Duration::from_secs(1));
        controller.carry_out(Some(ControlChange::Model(vec![attachment("custom,latency=1ms")]))).expect("a server");
        let changed = Instant::now();
        late.read(0, 512);
        let short = within(changed.elapsed(), Duration::from_millis(500));
        assert_eq!(early.reply(), (0, 1));
        early.bytes(512);
        assert!(began.elapsed() >= Duration::from_millis(999), "{:?}", began.elapsed());
        seen.and(short.map_err(Miss::Failed))
    });
}

#[test]
fn a_controller_of_an_ended_server_gets_no_report() {
    let server = Hosted::new(None);
    let controller = server.controller();
    assert!(controller.carry_out(None).is_some());
    server.end();
    assert!(controller.carry_out(faults("eio=1")).is_none());
}
