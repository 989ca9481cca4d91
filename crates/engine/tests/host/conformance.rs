//! The conformance suite over every engine, on files and on a block device, and with faults on top.

use std::path::Path;

use crate::loops::Loop;
use crate::scratch::Scratch;
use engine::files::{self, Access};
use engine::{Clock, EngineKind, MemoryKind, Setup, Visitor, with_target};
use target::Target;
use target::conformance::{Subject, check};
use target::testing::{Faults, Faulty};
use units::Nanos;

const FILE_BYTES: u64 = 1 << 20;

/// What the suite expects of an engine with this setup on a file of [`FILE_BYTES`].
fn subject(setup: &Setup) -> Subject {
    let real = setup.engine != EngineKind::Null;
    Subject {
        depth: setup.depth,
        buffer_bytes: setup.buffer_bytes,
        file_bytes: FILE_BYTES,
        unit_bytes: 512,
        // A busy machine may keep a thread waiting.
        lateness: Nanos::from_millis(900),
        keeps_bytes: real,
        has_end: real,
        trims: true,
        faulty: false,
    }
}

struct Check(Subject);

impl Visitor for Check {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        check(&mut target, &self.0);
    }
}

struct CheckWithFaults(Subject);

impl Visitor for CheckWithFaults {
    type Output = ();

    fn visit<T: Target>(self, target: T) {
        let mut faulty = Faulty::new(target, Faults { seed: 1, ..Faults::default() });
        check(&mut faulty, &Subject { faulty: true, ..self.0 });
        assert!(faulty.injected().short > 0);
    }
}

fn access(direct: bool) -> Access {
    Access { read: true, write: true, direct, punch_holes: true, ..Access::default() }
}

fn setup(engine: EngineKind) -> Setup {
    Setup::new(engine, 16, 4096, Clock::start())
}

fn check_on(path: &Path, direct: bool, setup: &Setup) {
    let file = files::open(path, access(direct)).unwrap();
    println!("{} direct={direct} on {}", setup.engine.name(), path.display());
    with_target(setup, vec![file], Check(subject(setup))).unwrap();
}

#[test]
fn every_engine_conforms_on_a_buffered_file() {
    let scratch = Scratch::new("buffered");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ALL {
        check_on(&path, false, &setup(engine));
    }
}

#[test]
fn every_engine_conforms_on_a_direct_file() {
    let scratch = Scratch::new("direct");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ALL {
        check_on(&path, true, &setup(engine));
    }
}

#[test]
fn every_engine_conforms_on_a_block_device() {
    let scratch = Scratch::new("block");
    let Some(device) = Loop::over(&scratch.file("data", FILE_BYTES)) else {
        return;
    };
    for engine in EngineKind::ALL {
        for direct in [false, true] {
            check_on(device.path(), direct, &setup(engine));
        }
    }
}

#[test]
fn every_engine_conforms_when_it_fails() {
    let scratch = Scratch::new("faulty");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ALL {
        let setup = setup(engine);
        let file = files::open(&path, access(false)).unwrap();
        with_target(&setup, vec![file], CheckWithFaults(subject(&setup))).unwrap();
    }
}

#[test]
fn queues_conform_with_every_option() {
    let scratch = Scratch::new("options");
    let path = scratch.file("data", FILE_BYTES);
    let plain = setup(EngineKind::IoUring);
    let options = [
        Setup { depth: 1, ..plain.clone() },
        Setup { depth: 100, buffer_bytes: 8192, ..plain.clone() },
        Setup { fixedbufs: true, registerfiles: true, ..plain.clone() },
        Setup { sqpoll: true, sqpoll_cpu: Some(0), ..plain.clone() },
        Setup { sqpoll: true, fixedbufs: true, ..plain.clone() },
        Setup { memory: MemoryKind::Shm, fixedbufs: true, ..plain.clone() },
        Setup { hipri: true, ..setup(EngineKind::Pvsync2) },
        Setup { depth: 1, ..setup(EngineKind::Libaio) },
        Setup { depth: 100, memory: MemoryKind::MmapShared, ..setup(EngineKind::Libaio) },
    ];
    for setup in options {
        println!("{setup:?}");
        check_on(&path, true, &setup);
        check_on(&path, false, &setup);
    }
}
