//! The conformance suite for every engine, on files and on a block device, and with injected faults.

use std::path::Path;

use crate::gate::gate_of_any_content;
use crate::loops::Loop;
use crate::scratch::Scratch;
use engine::files::{self, Access};
use engine::{MonotonicClock, Opening, Visitor, with_target};
use target::conformance::{TestedTarget, check};
use target::spec::{BufferMemory, CacheAdvice, EngineKind, EngineSpec};
use target::testing::{FaultPlan, FaultyTarget};
use target::{Op, Tag, Target};
use units::{Nanos, OpKind};

const FILE_BYTES: u64 = 1 << 20;

/// Returns what the suite expects of an engine with this setup on a file of [`FILE_BYTES`].
fn subject(setup: &Opening) -> TestedTarget {
    let real = setup.spec.kind != EngineKind::Null;
    TestedTarget {
        depth: setup.depth,
        buffer_bytes: setup.buffer_bytes,
        file_bytes: FILE_BYTES,
        unit_bytes: 512,
        // Tells a hang from a busy host. How late deadlines are is measured by `timing`.
        lateness: Nanos::from_secs(60),
        keeps_bytes: real,
        has_end: real,
        trims: true,
        faulty: false,
    }
}

struct Check(TestedTarget);

impl Visitor for Check {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        check(&mut target, &self.0);
    }
}

struct CheckWithFaults(TestedTarget);

impl Visitor for CheckWithFaults {
    type Output = ();

    fn visit<T: Target>(self, target: T) {
        let mut faulty = FaultyTarget::new(target, FaultPlan { seed: 1, ..FaultPlan::default() });
        check(&mut faulty, &TestedTarget { faulty: true, ..self.0 });
        assert!(faulty.injected().short > 0);
    }
}

fn access(direct: bool) -> Access {
    Access { read: true, write: true, direct, punch_holes: true, ..Access::default() }
}

fn setup(engine: EngineKind) -> Opening {
    Opening::new(engine, 16, 4096, MonotonicClock::start())
}

fn check_on(path: &Path, direct: bool, setup: &Opening) {
    let file = gate_of_any_content().open(path, access(direct)).unwrap();
    println!("{} direct={direct} on {}", setup.spec.kind.name(), path.display());
    with_target(setup, vec![file], Check(subject(setup))).unwrap();
}

#[test]
fn every_engine_conforms_on_a_buffered_file() {
    let scratch = Scratch::new("buffered");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ON_FILES {
        check_on(&path, false, &setup(engine));
    }
}

#[test]
fn every_engine_conforms_on_a_direct_file() {
    let scratch = Scratch::new("direct");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ON_FILES {
        check_on(&path, true, &setup(engine));
    }
}

#[test]
fn every_engine_conforms_on_a_block_device() {
    let scratch = Scratch::new("block");
    let Some(device) = Loop::over(&scratch.file("data", FILE_BYTES)) else {
        return;
    };
    for engine in EngineKind::ON_FILES {
        for direct in [false, true] {
            check_on(device.path(), direct, &setup(engine));
        }
    }
}

#[test]
fn every_engine_conforms_with_injected_faults() {
    let scratch = Scratch::new("faulty");
    let path = scratch.file("data", FILE_BYTES);
    for engine in EngineKind::ON_FILES {
        let setup = setup(engine);
        let file = gate_of_any_content().open(&path, access(false)).unwrap();
        with_target(&setup, vec![file], CheckWithFaults(subject(&setup))).unwrap();
    }
}

#[test]
fn helper_threads_conform_with_every_engine() {
    let scratch = Scratch::new("offload");
    let path = scratch.file("data", FILE_BYTES);
    // The helpers of `mmap` would not see that a mapping has ended.
    for engine in EngineKind::ON_FILES.into_iter().filter(|&engine| engine != EngineKind::Mmap) {
        for direct in [false, true] {
            check_on(&path, direct, &setup(engine).with(|spec| spec.offloads = true));
        }
        let setup = setup(engine).with(|spec| spec.offloads = true);
        let file = gate_of_any_content().open(&path, access(false)).unwrap();
        with_target(&setup, vec![file], CheckWithFaults(subject(&setup))).unwrap();
    }
}

/// Reads and writes a file once, and returns the results.
struct Transfer;

impl Visitor for Transfer {
    type Output = Vec<i32>;

    fn visit<T: Target>(self, mut target: T) -> Vec<i32> {
        let mut done = Vec::new();
        for (kind, offset) in [(OpKind::Read, 0), (OpKind::Write, 8192)] {
            target.submit(Op { tag: Tag(0), kind, file: 0, offset, length: 4096, skip: 0 });
            target.wait(1, Nanos::MAX, &mut done);
        }
        done.iter().map(|completion| completion.result).collect()
    }
}

fn transfer(path: &Path, engine: EngineKind, flags: impl FnOnce(&mut EngineSpec)) -> Vec<i32> {
    let file = gate_of_any_content().open(path, access(false)).unwrap();
    let _ = files::invalidate(&file, 0, 0);
    // Without it, the kernel reads ahead, and what it reads ahead stays until it is used.
    files::advise(&file, CacheAdvice::Random);
    with_target(&setup(engine).with(flags), vec![file], Transfer).unwrap()
}

#[test]
fn uncached_transfers_leave_nothing_in_the_page_cache() {
    let scratch = Scratch::new("uncached");
    let path = scratch.file("data", FILE_BYTES);
    std::fs::write(&path, vec![1; FILE_BYTES as usize]).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    for engine in [EngineKind::IoUring, EngineKind::Pvsync2] {
        let plain = transfer(&path, engine, |_| ());
        assert_eq!(plain, [4096, 4096], "{}", engine.name());
        let resident = || files::resident_bytes(&files::open(&path, Access::default()).unwrap()).unwrap();
        assert!(resident() >= 8192, "{}: {}", engine.name(), resident());
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        let uncached = transfer(&path, engine, |spec| spec.uncached = true);
        if uncached == [-libc::EOPNOTSUPP; 2] {
            return eprintln!("skipped: this kernel or filesystem has no RWF_DONTCACHE");
        }
        assert_eq!(uncached, [4096, 4096], "{}", engine.name());
        // Some kernels keep a written page whose write-back ended in an interrupt.
        assert!(resident() <= 4096, "{}: {} bytes stay", engine.name(), resident());
    }
}

#[test]
fn reads_that_would_block_fail_with_nowait() {
    let scratch = Scratch::new("nowait");
    let path = scratch.file("data", FILE_BYTES);
    std::fs::write(&path, vec![1; FILE_BYTES as usize]).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    for engine in [EngineKind::IoUring, EngineKind::Libaio, EngineKind::Pvsync2] {
        let read = || transfer(&path, engine, |spec| spec.nowait = true)[0];
        // The kernel may keep a page in its cache that another processor has just used.
        assert!((0..10).any(|_| read() == -libc::EAGAIN), "{}", engine.name());
    }
}

#[test]
fn atomic_writes_need_a_device_that_has_them() {
    let scratch = Scratch::new("atomic");
    let path = scratch.file("data", FILE_BYTES);
    for engine in [EngineKind::IoUring, EngineKind::Libaio, EngineKind::Pvsync2] {
        let results = transfer(&path, engine, |spec| spec.atomic = true);
        assert_eq!(results[0], 4096, "{}: reads are not affected", engine.name());
        // No write to the page cache is atomic.
        assert!([-libc::EOPNOTSUPP, -libc::EINVAL].contains(&results[1]), "{}: {results:?}", engine.name());
    }
}

/// Reports whether the kernel was advised to use huge pages for a mapping of the file.
struct AdvisedHuge<'a>(&'a Path);

impl Visitor for AdvisedHuge<'_> {
    type Output = bool;

    fn visit<T: Target>(self, _: T) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let path = self.0.canonicalize().unwrap();
        let mapping = maps.split_once(path.to_str().unwrap()).map_or("", |(_, rest)| rest);
        let flags = mapping.lines().find(|line| line.starts_with("VmFlags:")).unwrap_or("");
        flags.split(' ').any(|flag| flag == "hg")
    }
}

#[test]
fn mappings_use_transparent_huge_pages_on_request() {
    let scratch = Scratch::new("thp");
    let path = scratch.file("data", FILE_BYTES);
    for thp in [false, true] {
        let file = gate_of_any_content().open(&path, access(false)).unwrap();
        let setup = setup(EngineKind::Mmap).with(|spec| spec.thp = thp);
        match with_target(&setup, vec![file], AdvisedHuge(&path)) {
            Ok(advised) => assert_eq!(advised, thp),
            Err(error) => assert!(thp && error.to_string().contains("omit thp=1"), "{error}"),
        }
    }
}

#[test]
fn queues_conform_with_every_option() {
    let scratch = Scratch::new("options");
    let path = scratch.file("data", FILE_BYTES);
    let plain = setup(EngineKind::IoUring);
    let options = [
        Opening { depth: 1, ..plain.clone() },
        Opening { depth: 100, buffer_bytes: 8192, ..plain.clone() },
        plain.clone().with(|spec| {
            spec.fixedbufs = true;
            spec.registerfiles = true;
        }),
        plain.clone().with(|spec| {
            spec.sqthread_poll = true;
            spec.sqthread_poll_cpu = Some(0);
        }),
        plain.clone().with(|spec| {
            spec.sqthread_poll = true;
            spec.fixedbufs = true;
        }),
        plain.clone().with(|spec| {
            spec.mem = BufferMemory::Shm;
            spec.fixedbufs = true;
        }),
        plain.clone().with(|spec| {
            spec.vectored = true;
            spec.force_async = 3;
        }),
        plain.clone().with(|spec| {
            spec.vectored = true;
            spec.sqthread_poll = true;
        }),
        plain.clone().with(|spec| {
            spec.force_async = 1;
            spec.fixedbufs = true;
        }),
        setup(EngineKind::Pvsync2).with(|spec| spec.hipri = true),
        setup(EngineKind::Pvsync2).with(|spec| {
            spec.hipri = true;
            spec.hipri_percentage = 30;
        }),
        setup(EngineKind::Libaio).with(|spec| spec.vectored = true),
        Opening { depth: 100, ..setup(EngineKind::Libaio) }.with(|spec| spec.vectored = true),
        Opening { depth: 1, ..setup(EngineKind::Libaio) },
        Opening { depth: 100, ..setup(EngineKind::Libaio) }.with(|spec| spec.mem = BufferMemory::MmapShared),
    ];
    for setup in options {
        println!("{setup:?}");
        check_on(&path, true, &setup);
        check_on(&path, false, &setup);
    }
}

/// Writes to one file after the other, closes each, and reads them all back.
struct OneAtATime {
    files: u32,
    name: String,
}

impl OneAtATime {
    fn execute(target: &mut impl Target, kind: OpKind, file: u32) {
        let op = Op { tag: Tag(0), kind, file, offset: 0, length: 4096, skip: 0 };
        let length = if kind == OpKind::Sync { 0 } else { 4096 };
        target.submit(Op { length, ..op });
        let mut done = Vec::new();
        if kind == OpKind::Sync {
            // Closes the file while the operation may be in flight.
            target.close(file);
        }
        while done.is_empty() {
            target.wait(1, Nanos::MAX, &mut done);
        }
        assert_eq!(done[0].result, length as i32, "{kind:?} on file {file}");
    }

    fn open_descriptors(&self) -> usize {
        let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let files = links.filter_map(|link| std::fs::read_link(link.path()).ok());
        files.filter(|path| path.to_string_lossy().contains(&self.name)).count()
    }
}

impl Visitor for OneAtATime {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        // Each permit holds one descriptor.
        let held = self.files as usize;
        for file in 0..self.files {
            target.buffer(Tag(0)).unwrap().fill(file as u8 + 1);
            for kind in [OpKind::Write, OpKind::Sync] {
                Self::execute(&mut target, kind, file);
            }
            assert_eq!(self.open_descriptors(), held, "file {file} is still open");
        }
        for file in 0..self.files {
            Self::execute(&mut target, OpKind::Read, file);
            assert!(target.buffer(Tag(0)).unwrap().iter().all(|&byte| byte == file as u8 + 1));
            assert_eq!(self.open_descriptors(), held + 1);
            target.close(file);
            // A synchronous engine took the lock of the file twice to reopen it for a trim, and waited for ever.
            Self::execute(&mut target, OpKind::Trim, file);
            target.close(file);
        }
    }
}

#[test]
fn closed_files_are_reopened_on_use() {
    let scratch = Scratch::new("reopened");
    let sqpoll = setup(EngineKind::IoUring).with(|spec| spec.sqthread_poll = true);
    let setups = EngineKind::ON_FILES.into_iter().filter(|&engine| engine != EngineKind::Null).map(setup);
    for (number, setup) in setups.chain([sqpoll]).enumerate() {
        let name = format!("reopened-{number}-");
        let file = |file: u32| {
            let file =
                gate_of_any_content().open(&scratch.file(&format!("{name}{file}"), 4096), access(false)).unwrap();
            file.close();
            file
        };
        println!("{setup:?}");
        with_target(&setup, (0..4).map(file).collect(), OneAtATime { files: 4, name: name.clone() }).unwrap();
    }
    let missing = scratch.file("missing", 4096);
    let file = files::open(&missing, Access { read: true, ..Access::default() }).unwrap();
    file.close();
    std::fs::remove_file(&missing).unwrap();
    let setup = setup(EngineKind::IoUring).with(|spec| spec.registerfiles = true);
    let error = with_target(&setup, vec![file], Check(subject(&setup))).unwrap_err();
    assert!(error.to_string().contains("omit registerfiles=1 or openfiles"), "{error}");
}
