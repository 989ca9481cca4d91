//! The write gate used by several workers at once, and what it reads.

use std::path::Path;
use std::process::Command;
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

/// What a loop device is over was unknown while another program attached or detached it.
#[test]
fn files_were_refused_while_a_device_of_their_size_was_attached_or_detached() {
    let scratch = Scratch::new("gate-attached");
    let (own, other) = (scratch.file("own", 1 << 20), scratch.file("other", 1 << 20));
    if Loop::over(&other).is_none() {
        return;
    }
    // Not by children of this process, which inherit the locks of files until they execute their program.
    let script = "for i in $(seq 50); do losetup --detach $(losetup --find --show \"$0\"); done";
    let mut others = Command::new("sh").args(["-c", script]).arg(&other).spawn().unwrap();
    while others.try_wait().unwrap().is_none() {
        gate_of_any_content().admit(&own).unwrap();
    }
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

/// Returns the calls with which this thread has read so far, and the bytes that they returned (`proc_pid_io(5)`).
fn reads_of_thread() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/thread-self/io").expect("this kernel counts calls of threads");
    let figure = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    (figure("syscr:").unwrap(), figure("rchar:").unwrap())
}

/// Returns the calls and bytes that the gate reads for a file or device that it may not trust: the least of three
/// attempts, because other programs attach devices meanwhile.
fn reads_of_the_gate(path: &Path) -> (u64, u64) {
    let cost = |_| {
        let before = reads_of_thread();
        // A device is examined even if it may be destroyed.
        let permissions = Permissions { destroy: vec![path.to_owned()], ..Permissions::default() };
        drop(WriteGate::new(permissions, None).admit(path).unwrap());
        let after = reads_of_thread();
        (after.0 - before.0, after.1 - before.1)
    };
    (0..3).map(cost).min().unwrap()
}

/// The gate takes no more than milliseconds: a few calls for each device of the host, and the parts of the file or device
/// that show what it holds. Time itself would depend on what else the host does.
#[test]
fn the_gate_reads_little() {
    const BYTES: u64 = 64 << 20;
    let scratch = Scratch::new("gate-reads");
    let file = scratch.file("data", BYTES);
    let device = Loop::over(&file);
    let own = scratch.path("own");
    let gate = gate();
    gate.create(&own).unwrap();
    gate.begin();
    std::fs::write(&own, vec![1; BYTES as usize]).unwrap();
    drop(gate);
    for path in [Some(own.as_path()), device.as_ref().map(Loop::path)].into_iter().flatten() {
        let (calls, bytes) = reads_of_the_gate(path);
        let devices = std::fs::read_dir("/sys/block").unwrap().count() as u64;
        println!("{}: {calls} calls and {bytes} bytes on a host with {devices} devices", path.display());
        // 24 parts of 1.4 MiB together, the lists of mounts and swap, and up to ten reads for each loop device.
        assert!(calls <= 200 + 10 * devices, "{}: {calls} calls for {devices} devices", path.display());
        assert!(bytes <= 2 << 20, "{}: {bytes} bytes", path.display());
    }
}
