//! The write gate used by several workers at once.

use std::sync::Barrier;

use engine::gate::{Denied, Permissions, Permit, WriteGate};

use crate::loops::Loop;
use crate::scratch::Scratch;

/// Creates a gate that admits everything that is not in use, whatever its content.
pub(crate) fn gate_of_any_content() -> WriteGate {
    WriteGate::new(Permissions { any_content: true, ..Permissions::default() }, None)
}

const WORKERS: usize = 8;

/// Returns the permits of several workers that request them from a gate at once.
fn concurrently(
    gate: &WriteGate,
    request: impl Fn(&WriteGate) -> Result<Option<Permit>, Denied> + Sync,
) -> Vec<Permit> {
    let barrier = Barrier::new(WORKERS);
    let work = || {
        barrier.wait();
        request(gate).unwrap().unwrap()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

fn gate() -> WriteGate {
    WriteGate::new(Permissions::default(), None)
}

fn are_equal(permits: &[Permit]) -> bool {
    permits.iter().all(|permit| permit.identity() == permits[0].identity())
}

/// Revision 692e655 checked and admitted in two steps, so each worker found the lock of the other.
#[test]
fn concurrent_workers_were_refused_a_new_file() {
    let scratch = Scratch::new("gate-new");
    for number in 0..100 {
        let path = scratch.path(&number.to_string());
        let permits = concurrently(&gate(), |gate| gate.create(&path).map(|(permit, _)| Some(permit)));
        assert!(are_equal(&permits));
    }
}

/// Revision 692e655 did the same with existing files and with devices, which one of the workers had claimed
/// exclusively.
#[test]
fn concurrent_workers_were_refused_an_existing_file_or_device() {
    let scratch = Scratch::new("gate-there");
    for number in 0..100 {
        let file = scratch.file(&number.to_string(), 0);
        assert!(are_equal(&concurrently(&gate(), |gate| gate.admit(&file))));
    }
    let Some(device) = Loop::over(&scratch.file("image", 1 << 20)) else { return };
    // Only once: a child process of another test inherits the device until it executes its program.
    assert!(are_equal(&concurrently(&gate(), |gate| gate.admit(device.path()))));
}

/// Those who create files do not wait for each other, and an admission under another name must not find their locks.
#[test]
fn files_that_are_created_under_two_names_at_once_are_admitted() {
    const FILES: usize = 500;
    let scratch = Scratch::new("two-names");
    std::fs::create_dir(scratch.path("own")).unwrap();
    std::os::unix::fs::symlink("own", scratch.path("link")).unwrap();
    let gate = gate_of_any_content();
    let create_all = |folder: &str| {
        let create = |number: usize| gate.create(&scratch.path(&format!("{folder}/{number}"))).unwrap();
        (0..FILES).map(create).collect::<Vec<_>>()
    };
    let (own, linked) = std::thread::scope(|scope| {
        let others = scope.spawn(|| create_all("link"));
        (create_all("own"), others.join().unwrap())
    });
    for ((own, is_new), (linked, is_linked_new)) in own.iter().zip(&linked) {
        assert!(own.identity() == linked.identity() && is_new != is_linked_new);
    }
}
