//! Unavailable resources are refused before the first operation, with a remedy.

use crate::scratch::Scratch;
use engine::files::{self, Access, File};
use engine::{Error, ErrorKind, MonotonicClock, Opening, Visitor, thread, with_target};
use target::Target;
use target::spec::EngineKind;

/// A visitor that must not be called.
struct Never;

impl Visitor for Never {
    type Output = ();

    fn visit<T: Target>(self, _: T) {
        panic!("a target was created");
    }
}

fn refusal(setup: &Opening, files: Vec<File>) -> Error {
    with_target(setup, files, Never).unwrap_err()
}

fn setup(engine: EngineKind, depth: u32) -> Opening {
    Opening::new(engine, depth, 512, MonotonicClock::start())
}

#[test]
fn too_many_native_operations() {
    let error = refusal(&setup(EngineKind::Libaio, 1 << 30), Vec::new());
    assert_eq!(error.kind, ErrorKind::Engine);
    assert!(error.to_string().contains("iodepth"), "{error}");
    let limit: u32 = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap().trim().parse().unwrap();
    let error = refusal(&setup(EngineKind::Libaio, limit + 1), Vec::new());
    assert!(error.to_string().contains("raise sysctl fs.aio-max-nr"), "{error}");
}

#[test]
fn a_ring_above_the_maximum_size() {
    let error = refusal(&setup(EngineKind::IoUring, 1 << 20), Vec::new());
    assert!(error.to_string().starts_with("cannot set up io_uring: "), "{error}");
    assert!(error.problem.help.is_some_and(|remedy| remedy.contains("iodepth")));
}

#[test]
fn polling_of_a_buffered_file() {
    let scratch = Scratch::new("polled");
    let path = scratch.file("data", 4096);
    let file = files::open(&path, Access { read: true, ..Access::default() }).unwrap();
    let error = refusal(&setup(EngineKind::IoUring, 1).with(|spec| spec.hipri = true), vec![file]);
    assert!(error.to_string().contains("add direct=1 or remove hipri=1"), "{error}");
}

#[test]
fn buffers_beyond_the_address_space() {
    let error = refusal(&Opening { buffer_bytes: u32::MAX, ..setup(EngineKind::Null, u32::MAX) }, Vec::new());
    assert_eq!(error.kind, ErrorKind::Memory);
}

#[test]
fn processors_that_do_not_exist() {
    for cpu in [1023, u32::MAX] {
        let error = thread::pin(&[cpu]).unwrap_err();
        assert!(error.to_string().contains(&format!("CPUs {cpu}")), "{error}");
    }
    thread::pin(&[]).unwrap();
    thread::exact_timers().unwrap();
}

#[test]
fn pinning_restricts_only_the_calling_thread() {
    let allowed = |_| std::thread::available_parallelism().unwrap().get();
    let before = allowed(());
    let inside = std::thread::spawn(move || thread::pin(&[0]).map(allowed)).join().unwrap();
    match inside {
        Ok(count) => assert_eq!(count, 1),
        // Processor 0 may be forbidden to this process.
        Err(error) => assert_eq!(error.kind, ErrorKind::Host),
    }
    assert_eq!(allowed(()), before, "another thread was pinned");
}
