//! The NBD target, with correct servers and with broken ones.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::scratch::Scratch;
use crate::served::{EXPORT_FLAGS, MinimalServer, NbdTestServer};
use engine::{MonotonicClock, Opening, Visitor, exports, with_target};
use nbd::wire::{NbdRequest, ReplyStyle, TransmissionFlags as Flags};
use target::conformance::{TestedTarget, check};
use target::spec::EngineKind;
use target::testing::{FaultPlan, FaultyTarget};
use target::{Completion, Op, Tag, Target};
use units::{Nanos, OpKind};

const BYTES: u64 = 8 << 20;

fn uri(socket: &Path, export: &str) -> String {
    format!("nbd+unix:///{export}?socket={}", socket.display())
}

fn setup(socket: &Path, depth: u32, buffer_bytes: u32) -> Opening {
    let uri = Some(uri(socket, ""));
    Opening { writes: true, ..Opening::new(EngineKind::Nbd, depth, buffer_bytes, MonotonicClock::start()) }
        .with(|spec| spec.uri = uri)
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
        let (mut done, until) = (Vec::new(), self.now() + Nanos::from_secs(300));
        while done.len() < count && self.now() < until {
            self.wait((count - done.len()) as u32, until, &mut done);
        }
        assert_eq!(done.len(), count, "some operations did not complete");
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
        let mut faulty = FaultyTarget::new(target, FaultPlan { seed: 1, ..FaultPlan::default() });
        check(&mut faulty, &TestedTarget { faulty: true, ..self.0 });
    }
}

fn conforms(setup: &Opening) {
    let subject = TestedTarget {
        depth: setup.depth,
        buffer_bytes: setup.buffer_bytes,
        file_bytes: BYTES,
        unit_bytes: 512,
        // Tells a hang from a busy host. How late deadlines are is measured by `timing`.
        lateness: Nanos::from_secs(60),
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
fn conforms_with_both_reply_styles_at_every_depth_and_size() {
    let scratch = Scratch::new("styles");
    for style in [ReplyStyle::Simple, ReplyStyle::Extended] {
        let socket = scratch.path("s");
        let _served = NbdTestServer::start(&socket, style, &[""], BYTES, EXPORT_FLAGS);
        for (depth, bytes) in [(16, 4096), (1, 4096), (100, 8192), (600, 1024), (4, 1 << 20)] {
            conforms(&setup(&socket, depth, bytes));
        }
        conforms(&Opening { durable: true, ..setup(&socket, 16, 4096) });
    }
}

#[test]
fn conforms_with_a_server_that_supports_only_export_name() {
    let scratch = Scratch::new("server");
    let socket = scratch.path("s");
    let server = MinimalServer::start(&socket, BYTES, |server| server.serve(BYTES));
    conforms(&setup(&socket, 16, 4096));
    server.join().unwrap();
}

#[test]
fn properties_of_an_export_are_reported() {
    let scratch = Scratch::new("error_of");
    let socket = scratch.path("s");
    let _served =
        NbdTestServer::start(&socket, ReplyStyle::Extended, &["a", "b"], BYTES, EXPORT_FLAGS.with(Flags::READ_ONLY));
    let export = exports::look(&uri(&socket, "b")).unwrap();
    assert_eq!((export.bytes, export.min_block_bytes, export.max_request_bytes), (BYTES, 1, 32 << 20));
    assert!(export.read_only && !export.multi_conn);
    let error = exports::look(&uri(&socket, "c")).unwrap_err().to_string();
    assert!(error.contains("specify one of its exports: `a`, `b`"), "{error}");
    assert!(error.contains("/c?socket="), "{error}");
}

#[test]
fn data_on_an_export_is_found_by_its_signature() {
    let scratch = Scratch::new("marks");
    let socket = scratch.path("s");
    let _served = NbdTestServer::start(&socket, ReplyStyle::Extended, &[""], BYTES, EXPORT_FLAGS);
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
    script: impl FnOnce(&mut MinimalServer, NbdRequest) -> std::io::Result<()> + Send + 'static,
) {
    let scratch = Scratch::new(name);
    let socket = scratch.path("s");
    let server = MinimalServer::start(&socket, BYTES, |server| {
        let (first, _) = server.next()?;
        script(server, first)
    });
    let reads = |target: &mut dyn DynTarget| {
        (0..4).for_each(|tag| target.submit(read(tag)));
        let done = target.drain(4);
        assert!(done.iter().all(|done| done.result == -errno), "{name}: {done:?}");
        target.submit(read(1));
        assert_eq!(target.drain(1)[0].result, -errno, "{name}: after the connection was lost");
    };
    with_target(&setup(&socket, 4, 4096), Vec::new(), With(reads)).unwrap();
    server.join().unwrap();
}

#[test]
fn a_lost_connection_fails_operations_in_flight() {
    const ENOTCONN: i32 = 107;
    all_fail("closed", ENOTCONN, |_, _| Ok(()));
    all_fail("short-head", ENOTCONN, |server, _| server.0.write_all(&[0x67, 0x44]));
    all_fail("short-data", ENOTCONN, |server, first| server.done(&first, &[7; 4095]));
}

#[test]
fn invalid_replies_end_the_connection() {
    const EPROTO: i32 = 71;
    /// Stays connected until the client disconnects, so that the client sees the reply and not the end of the
    /// connection.
    fn stay(server: &mut MinimalServer) -> std::io::Result<()> {
        std::io::copy(&mut server.0, &mut std::io::sink()).map(drop)
    }
    all_fail("garbled", EPROTO, |server, _| {
        server.0.write_all(b"SSH-2.0-OpenSSH_9.2 and so on")?;
        stay(server)
    });
    all_fail("unasked", EPROTO, |server, first| {
        server.done(&NbdRequest { cookie: first.cookie ^ 1 << 40, ..first }, &[7; 4096])?;
        stay(server)
    });
    all_fail("foreign-tag", EPROTO, |server, first| {
        server.done(&NbdRequest { cookie: u64::MAX, ..first }, &[7; 4096])?;
        stay(server)
    });
    all_fail("structured-unasked", EPROTO, |server, first| {
        let mut reply = Vec::new();
        ReplyStyle::Structured.done(&first, &mut reply);
        server.0.write_all(&reply)?;
        stay(server)
    });
}

#[test]
fn a_repeated_answer_does_not_answer_the_next_request() {
    let scratch = Scratch::new("twice");
    let socket = scratch.path("s");
    let server = MinimalServer::start(&socket, BYTES, |server| {
        let (first, _) = server.next()?;
        server.done(&first, &[7; 4096])?;
        server.next()?;
        server.done(&first, &[7; 4096])
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
fn server_errors_fail_single_operations() {
    const EIO: i32 = 5;
    let scratch = Scratch::new("errors");
    let socket = scratch.path("s");
    let server = MinimalServer::start(&socket, BYTES, |server| {
        for answer in [true, false, true] {
            let (request, _) = server.next()?;
            let mut reply = Vec::new();
            match answer {
                true => server.done(&request, &[7; 4096])?,
                false => {
                    ReplyStyle::Simple.error(&request, nbd::wire::Errno::Io, "", &mut reply);
                    server.0.write_all(&reply)?;
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
fn unsupported_operations_are_not_sent() {
    const EPERM: i32 = 1;
    const EOPNOTSUPP: i32 = 95;
    let scratch = Scratch::new("unable");
    let socket = scratch.path("s");
    let able = |flags| NbdTestServer::start(&socket, ReplyStyle::Extended, &[""], BYTES, Flags::HAS_FLAGS.with(flags));
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
    let durable = Opening { durable: true, ..setup(&socket, 1, 4096) };
    let error = with_target(&durable, Vec::new(), With(nothing)).unwrap_err().to_string();
    assert!(error.contains("use fsync=1 instead of sync="), "{error}");
    let error = with_target(&setup(&socket, 1, 64 << 20), Vec::new(), With(nothing)).unwrap_err().to_string();
    assert!(
        error.contains("at most 33554432 bytes, but the block size is 67108864; use bs=33554432 or less"),
        "{error}"
    );
}

#[test]
fn unavailable_exports_are_reported_with_a_remedy() {
    let scratch = Scratch::new("refused");
    let socket = scratch.path("s");
    let error_of = |uri: &str| exports::look(uri).unwrap_err().to_string();
    let long = format!("nbd+unix:///?socket=/{}", "x".repeat(200));
    for (uri, parts) in [
        ("http://h/x", &["cannot use http://h/x", "nbd+unix://", "use nbd://HOST"][..]),
        ("nbds://localhost/", &["does not support TLS", "listen without"]),
        ("nbd+unix:///?socket=/nowhere", &["cannot connect to nbd+unix:///?socket=/nowhere", "No such file", "start"]),
        ("nbd://127.0.0.1:1/", &["nbd://127.0.0.1:1/", "refused", "start the server"]),
        (&long, &["limited to 107 bytes, this one has 201"]),
    ] {
        let error = error_of(uri);
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing from {error}"));
    }
    for (says, parts) in [
        (&b"SSH-2.0-OpenSSH_9.2"[..], &["0x5353482d322e302d", "correct the address"][..]),
        (b"NBDMAGIC\0\0\x42\x02\x81\x86\x12\x53", &["oldstyle", "start the server without"]),
        (b"NBDMAGIC", &["closed the connection", "server log"]),
        (b"", &["closed the connection"]),
    ] {
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(says).unwrap());
        let error = error_of(&uri(&socket, ""));
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing from {error}"));
        server.join().unwrap();
    }
}
