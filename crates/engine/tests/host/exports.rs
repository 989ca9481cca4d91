//! The NBD target, with correct servers and with broken ones.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::scratch::Scratch;
use crate::served::{ABLE, Plain, Served};
use engine::{EngineKind, MonotonicClock, Setup, Visitor, exports, with_target};
use nbd::wire::{NbdRequest, ReplyStyle, TransmissionFlags as Flags};
use target::conformance::{TestedTarget, check};
use target::testing::{FaultPlan, Faulty};
use target::{Completion, Op, Tag, Target};
use units::Nanos;
use units::OpKind;

const BYTES: u64 = 8 << 20;

fn uri(socket: &Path, export: &str) -> String {
    format!("nbd+unix:///{export}?socket={}", socket.display())
}

fn setup(socket: &Path, depth: u32, buffer_bytes: u32) -> Setup {
    let uri = Some(uri(socket, ""));
    Setup { uri, writes: true, ..Setup::new(EngineKind::Nbd, depth, buffer_bytes, MonotonicClock::start()) }
}

/// Passes a target to a closure.
struct With<F>(F);

impl<F: FnOnce(&mut dyn DynTarget)> Visitor for With<F> {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        self.0(&mut target);
    }
}

/// The subset of a target that these tests need, as a trait object.
trait DynTarget {
    fn submit(&mut self, op: Op);
    fn drain(&mut self, count: usize) -> Vec<Completion>;
    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]>;
}

impl<T: Target> DynTarget for T {
    fn submit(&mut self, op: Op) {
        Target::submit(self, op);
    }

    fn drain(&mut self, count: usize) -> Vec<Completion> {
        let (mut done, until) = (Vec::new(), self.now() + Nanos::from_secs(20));
        while done.len() < count && self.now() < until {
            self.wait((count - done.len()) as u32, until, &mut done);
        }
        assert_eq!(done.len(), count, "operations that never ended");
        done
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        Target::buffer(self, tag)
    }
}

/// Runs the conformance suite twice, without and with injected faults.
struct Conforms(TestedTarget);

impl Visitor for Conforms {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        check(&mut target, &self.0);
        let mut faulty = Faulty::new(target, FaultPlan { seed: 1, ..FaultPlan::default() });
        check(&mut faulty, &TestedTarget { faulty: true, ..self.0 });
    }
}

fn conforms(setup: &Setup) {
    let subject = TestedTarget {
        depth: setup.depth,
        buffer_bytes: setup.buffer_bytes,
        file_bytes: BYTES,
        unit_bytes: 512,
        // A busy machine may delay a thread.
        lateness: Nanos::from_millis(900),
        keeps_bytes: true,
        has_end: true,
        trims: true,
        faulty: false,
    };
    println!("{setup:?}");
    with_target(setup, Vec::new(), Conforms(subject)).unwrap();
}

fn read(tag: u32) -> Op {
    Op { tag: Tag(tag), kind: OpKind::Read, file: 0, offset: u64::from(tag) * 4096, length: 4096, skip: 0 }
}

#[test]
fn conforms_with_both_styles_of_replies_at_every_depth_and_size() {
    let scratch = Scratch::new("styles");
    for style in [ReplyStyle::Simple, ReplyStyle::Extended] {
        let socket = scratch.path("s");
        let _served = Served::start(&socket, style, &[""], BYTES, ABLE);
        for (depth, bytes) in [(16, 4096), (1, 4096), (100, 8192), (600, 1024), (4, 1 << 20)] {
            conforms(&setup(&socket, depth, bytes));
        }
        conforms(&Setup { durable: true, ..setup(&socket, 16, 4096) });
    }
}

#[test]
fn conforms_where_the_export_name_is_all_that_a_server_knows() {
    let scratch = Scratch::new("plain");
    let socket = scratch.path("s");
    let server = Plain::start(&socket, BYTES, |plain| plain.serve(BYTES));
    conforms(&setup(&socket, 16, 4096));
    server.join().unwrap();
}

#[test]
fn what_a_server_says_of_an_export_is_told() {
    let scratch = Scratch::new("told");
    let socket = scratch.path("s");
    let _served = Served::start(&socket, ReplyStyle::Extended, &["a", "b"], BYTES, ABLE.with(Flags::READ_ONLY));
    let export = exports::look(&uri(&socket, "b")).unwrap();
    assert_eq!((export.bytes, export.block_least, export.block_most), (BYTES, 1, 32 << 20));
    assert!(export.read_only && !export.multi_conn);
    let error = exports::look(&uri(&socket, "c")).unwrap_err().to_string();
    assert!(error.contains("name one of its exports: `a`, `b`"), "{error}");
    assert!(error.contains("/c?socket="), "{error}");
}

#[test]
fn data_on_an_export_is_found_by_its_marks() {
    let scratch = Scratch::new("marks");
    let socket = scratch.path("s");
    let _served = Served::start(&socket, ReplyStyle::Extended, &[""], BYTES, ABLE);
    let found = exports::examine(&uri(&socket, "")).unwrap();
    assert_eq!((found.signatures, found.first_data), (vec![], None));
    let write = |target: &mut dyn DynTarget| {
        target.submit(Op { tag: Tag(0), kind: OpKind::Write, file: 0, offset: 0, length: 4096, skip: 0 });
        assert_eq!(target.drain(1)[0].result, 4096);
    };
    let luks = |target: &mut dyn DynTarget| {
        target.buffer(Tag(0)).unwrap()[..6].copy_from_slice(b"LUKS\xba\xbe");
        write(target);
    };
    with_target(&setup(&socket, 1, 4096), Vec::new(), With(luks)).unwrap();
    let found = exports::examine(&uri(&socket, "")).unwrap();
    let names: Vec<String> = found.signatures.iter().map(ToString::to_string).collect();
    assert_eq!((names.as_slice(), found.first_data), (&["LUKS encrypted volume".to_owned()][..], Some(0)));
}

/// Checks that four concurrent reads, and another one after them, fail with `errno` at a broken server.
fn all_fail(
    name: &str,
    errno: i32,
    script: impl FnOnce(&mut Plain, NbdRequest) -> std::io::Result<()> + Send + 'static,
) {
    let scratch = Scratch::new(name);
    let socket = scratch.path("s");
    let server = Plain::start(&socket, BYTES, |plain| {
        let (first, _) = plain.next()?;
        script(plain, first)
    });
    let reads = |target: &mut dyn DynTarget| {
        (0..4).for_each(|tag| target.submit(read(tag)));
        let done = target.drain(4);
        assert!(done.iter().all(|done| done.result == -errno), "{name}: {done:?}");
        target.submit(read(1));
        assert_eq!(target.drain(1)[0].result, -errno, "{name}: after the end");
    };
    with_target(&setup(&socket, 4, 4096), Vec::new(), With(reads)).unwrap();
    server.join().unwrap();
}

#[test]
fn a_connection_that_is_gone_fails_what_is_in_flight() {
    const ENOTCONN: i32 = 107;
    all_fail("closed", ENOTCONN, |_, _| Ok(()));
    all_fail("short-head", ENOTCONN, |plain, _| plain.0.write_all(&[0x67, 0x44]));
    all_fail("short-data", ENOTCONN, |plain, first| plain.done(&first, &[7; 4095]));
}

#[test]
fn replies_that_make_no_sense_end_the_connection() {
    const EPROTO: i32 = 71;
    /// Stays connected until the client disconnects, so that the client sees the reply and not the end of the
    /// connection.
    fn stay(plain: &mut Plain) -> std::io::Result<()> {
        std::io::copy(&mut plain.0, &mut std::io::sink()).map(drop)
    }
    all_fail("garbled", EPROTO, |plain, _| {
        plain.0.write_all(b"SSH-2.0-OpenSSH_9.2 and so on")?;
        stay(plain)
    });
    all_fail("unasked", EPROTO, |plain, first| {
        plain.done(&NbdRequest { cookie: first.cookie ^ 1 << 40, ..first }, &[7; 4096])?;
        stay(plain)
    });
    all_fail("foreign-tag", EPROTO, |plain, first| {
        plain.done(&NbdRequest { cookie: u64::MAX, ..first }, &[7; 4096])?;
        stay(plain)
    });
    all_fail("structured-unasked", EPROTO, |plain, first| {
        let mut reply = Vec::new();
        ReplyStyle::Structured.done(&first, &mut reply);
        plain.0.write_all(&reply)?;
        stay(plain)
    });
}

#[test]
fn an_answer_that_comes_twice_is_none_to_the_next_request() {
    let scratch = Scratch::new("twice");
    let socket = scratch.path("s");
    let server = Plain::start(&socket, BYTES, |plain| {
        let (first, _) = plain.next()?;
        plain.done(&first, &[7; 4096])?;
        plain.next()?;
        plain.done(&first, &[7; 4096])
    });
    let twice = |target: &mut dyn DynTarget| {
        for result in [4096, -71] {
            target.submit(read(0));
            assert_eq!(target.drain(1)[0].result, result);
        }
    };
    with_target(&setup(&socket, 1, 4096), Vec::new(), With(twice)).unwrap();
    server.join().unwrap();
}

#[test]
fn errors_of_the_server_are_those_of_single_operations() {
    const EIO: i32 = 5;
    let scratch = Scratch::new("errors");
    let socket = scratch.path("s");
    let server = Plain::start(&socket, BYTES, |plain| {
        for answer in [true, false, true] {
            let (request, _) = plain.next()?;
            let mut reply = Vec::new();
            match answer {
                true => plain.done(&request, &[7; 4096])?,
                false => {
                    ReplyStyle::Simple.error(&request, nbd::wire::Errno::Io, "", &mut reply);
                    plain.0.write_all(&reply)?;
                }
            }
        }
        Ok(())
    });
    let three = |target: &mut dyn DynTarget| {
        for result in [4096, -EIO, 4096] {
            target.submit(read(0));
            assert_eq!(target.drain(1)[0].result, result);
        }
    };
    with_target(&setup(&socket, 1, 4096), Vec::new(), With(three)).unwrap();
    server.join().unwrap();
}

#[test]
fn what_an_export_cannot_do_is_not_asked_of_it() {
    const EPERM: i32 = 1;
    const EOPNOTSUPP: i32 = 95;
    let scratch = Scratch::new("unable");
    let socket = scratch.path("s");
    let able = |flags| Served::start(&socket, ReplyStyle::Extended, &[""], BYTES, Flags::HAS_FLAGS.with(flags));
    for (flags, kind, errno) in [
        (Flags::READ_ONLY, OpKind::Write, EPERM),
        (Flags::default(), OpKind::Trim, EOPNOTSUPP),
        (Flags::default(), OpKind::Sync, EOPNOTSUPP),
    ] {
        let _served = able(flags);
        let one = |target: &mut dyn DynTarget| {
            target.submit(Op { kind, ..read(0) });
            assert_eq!(target.drain(1)[0].result, -errno, "{kind:?}");
        };
        with_target(&setup(&socket, 1, 4096), Vec::new(), With(one)).unwrap();
    }
    let _served = able(Flags::default());
    let nothing = |_: &mut dyn DynTarget| {};
    let durable = Setup { durable: true, ..setup(&socket, 1, 4096) };
    let error = with_target(&durable, Vec::new(), With(nothing)).unwrap_err().to_string();
    assert!(error.contains("use fsync=1 in place of sync="), "{error}");
    let error = with_target(&setup(&socket, 1, 64 << 20), Vec::new(), With(nothing)).unwrap_err().to_string();
    assert!(error.contains("at most 33554432 bytes, and blocks have 67108864; use bs=33554432 or less"), "{error}");
}

#[test]
fn every_way_not_to_get_an_export_is_told_with_its_remedy() {
    let scratch = Scratch::new("refused");
    let socket = scratch.path("s");
    let told = |uri: &str| exports::look(uri).unwrap_err().to_string();
    let long = format!("nbd+unix:///?socket=/{}", "x".repeat(200));
    for (uri, parts) in [
        ("http://h/x", &["cannot use http://h/x", "nbd+unix://", "write nbd://HOST"][..]),
        ("nbds://localhost/", &["not encrypted", "without TLS"]),
        ("nbd+unix:///?socket=/nowhere", &["cannot connect to nbd+unix:///?socket=/nowhere", "No such file", "start"]),
        ("nbd://127.0.0.1:1/", &["nbd://127.0.0.1:1/", "refused", "start the server"]),
        (&long, &["at most 107 bytes, and this one has 201"]),
    ] {
        let error = told(uri);
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing from {error}"));
    }
    for (says, parts) in [
        (&b"SSH-2.0-OpenSSH_9.2"[..], &["0x5353482d322e302d", "correct the address"][..]),
        (b"NBDMAGIC\0\0\x42\x02\x81\x86\x12\x53", &["oldstyle", "start it without"]),
        (b"NBDMAGIC", &["closed the connection", "server's log"]),
        (b"", &["closed the connection"]),
    ] {
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(says).unwrap());
        let error = told(&uri(&socket, ""));
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing from {error}"));
        server.join().unwrap();
    }
}
