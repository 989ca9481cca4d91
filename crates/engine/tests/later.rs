//! Files that the first operation opens.

use std::fs;
use std::path::Path;

use crate::gate::gate_of_any_content;
use crate::scratch::Scratch;
use engine::files::{self, Access, FileKind};
use engine::gate::{Permissions, WriteGate};
use engine::{MonotonicClock, Opening, Visitor, with_target};
use target::spec::{CacheAdvice, EngineKind};
use target::{Op, Tag, Target};
use units::{Nanos, OpKind};

const MIB: u64 = 1 << 20;
const BLOCK: u32 = 4096;

/// One operation on the only file. Returns its result.
struct One(OpKind, u64);

impl Visitor for One {
    type Output = i32;

    fn visit<T: Target>(self, mut target: T) -> i32 {
        let mut done = Vec::new();
        target.submit(Op { tag: Tag(0), kind: self.0, file: 0, offset: self.1, length: BLOCK, skip: 0 });
        while done.is_empty() {
            target.wait(1, Nanos::MAX, &mut done);
        }
        done[0].result
    }
}

fn setup(engine: EngineKind) -> Opening {
    Opening::new(engine, 1, BLOCK, MonotonicClock::start())
}

fn one(setup: &Opening, file: files::File, kind: OpKind, offset: u64) -> i32 {
    with_target(setup, vec![file], One(kind, offset)).unwrap()
}

fn descriptors_of(path: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    links.filter_map(|link| fs::read_link(link.path()).ok()).filter(|target| target == path).count()
}

const ENGINES: [EngineKind; 5] =
    [EngineKind::Psync, EngineKind::IoUring, EngineKind::Libaio, EngineKind::Mmap, EngineKind::Splice];

#[test]
fn files_are_opened_and_leave_the_page_cache_with_the_first_operation() {
    let scratch = Scratch::new("later");
    let offloaded = setup(EngineKind::Psync).with(|spec| spec.offloads = true);
    for setup in ENGINES.map(setup).into_iter().chain([offloaded]) {
        // The cache may keep its pages in blocks of up to 2 MiB and drops only whole blocks.
        let path = scratch.path("data");
        fs::write(&path, vec![1; 16 << 20]).unwrap();
        fs::File::open(&path).unwrap().sync_all().unwrap();
        let file = files::open_later(&path, Access::default()).unwrap();
        assert_eq!((file.kind(), file.bytes(), descriptors_of(&path)), (FileKind::Regular, 16 * MIB, 0));
        let cached = || files::resident_bytes(&files::open(&path, Access::default()).unwrap()).unwrap();
        files::advise(&file, CacheAdvice::Random);
        files::invalidate(&file, 4 * MIB, 4 * MIB).unwrap();
        assert_eq!(cached(), 16 * MIB);
        assert_eq!(one(&setup, file, OpKind::Read, 12 * MIB), 4096, "{setup:?}");
        assert_eq!(cached(), 12 * MIB, "{setup:?}");
    }
}

#[test]
fn different_ranges_to_be_dropped_are_all_dropped() {
    let scratch = Scratch::new("ranges");
    let path = scratch.file("data", 8 * MIB);
    fs::write(&path, vec![1; 8 << 20]).unwrap();
    fs::File::open(&path).unwrap().sync_all().unwrap();
    let file = files::open_later(&path, Access::default()).unwrap();
    files::advise(&file, CacheAdvice::Random);
    for offset in [0, 4 * MIB] {
        files::invalidate(&file, offset, 4 * MIB).unwrap();
    }
    assert_eq!(one(&setup(EngineKind::Psync), file, OpKind::Read, 0), 4096);
    let cached = files::resident_bytes(&files::open(&path, Access::default()).unwrap()).unwrap();
    assert!(cached < 4 * MIB, "{cached} bytes");
}

#[test]
fn what_cannot_be_read_is_refused_at_once() {
    let scratch = Scratch::new("unusable");
    for path in [scratch.path("missing"), scratch.path("")] {
        assert!(files::open_later(&path, Access::default()).is_err(), "{}", path.display());
    }
    let path = scratch.file("data", MIB);
    // The granularity of direct operations must be known.
    let direct = files::open_later(&path, Access { direct: true, ..Access::default() });
    assert!(direct.is_err() || descriptors_of(&path) == 1);
}

#[test]
fn a_file_in_place_of_the_admitted_one_is_not_written() {
    // Mappings are read, too.
    let write = Access { read: true, write: true, ..Access::default() };
    for engine in ENGINES {
        let scratch = Scratch::new(&format!("replaced-{}", engine.name()));
        let path = scratch.file("data", u64::from(BLOCK));
        let gate = gate_of_any_content();
        gate.admit(&path).unwrap();
        let file = gate.open_later(&path, write).unwrap();
        assert_eq!(file.bytes(), u64::from(BLOCK));
        let first = scratch.path("first");
        fs::rename(&path, &first).unwrap();
        fs::write(&path, vec![7; BLOCK as usize]).unwrap();
        assert_eq!(one(&setup(engine), file, OpKind::Write, 0), BLOCK as i32, "the admitted file is held open");
        assert_eq!(fs::read(&path).unwrap(), vec![7; BLOCK as usize], "{}", engine.name());
    }
}

#[test]
fn files_that_were_not_admitted_are_admitted_first() {
    let scratch = Scratch::new("unadmitted");
    let path = scratch.path("data");
    fs::write(&path, b"precious").unwrap();
    let gate = WriteGate::new(Permissions::default(), None);
    let write = Access { write: true, ..Access::default() };
    assert!(gate.open_later(&path, write).is_err(), "its content is another program's");
    let new = gate.open_later(&scratch.path("new"), write).unwrap();
    assert_eq!((new.bytes(), fs::read(&path).unwrap()), (0, b"precious".to_vec()));
}
