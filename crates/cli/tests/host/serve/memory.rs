//! Memory limits of servers, and throughput next to clients that never read.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::{Client, READ, WRITE, request};
use super::place::{Place, python, stopped};
use crate::common::devices::tool;
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::{Running, Scratch, fathom, require, run, wait_for, words};

const CLIENTS: usize = 100;
const MIB: u64 = 1 << 20;

/// A client that sends requests and never reads a reply. It reconnects when it is disconnected.
struct NonReader {
    stream: UnixStream,
    number: usize,
    export: String,
    requests: Vec<u8>,
    sent: usize,
}

impl NonReader {
    fn new(socket: &Path, export: &str, number: usize, requests: Vec<u8>) -> Self {
        let stream = Self::connect(socket, export);
        Self { stream, number, export: export.to_owned(), requests, sent: 0 }
    }

    /// Connects and selects the export with `NBD_OPT_EXPORT_NAME`, without reading.
    fn connect(socket: &Path, export: &str) -> UnixStream {
        let mut stream = UnixStream::connect(socket).expect("a server");
        let name = export.as_bytes();
        let hello =
            [&3u32.to_be_bytes()[..], b"IHAVEOPT", &1u32.to_be_bytes(), &(name.len() as u32).to_be_bytes(), name];
        let _ = stream.write_all(&hello.concat());
        stream.set_nonblocking(true).expect("a socket");
        stream
    }

    /// Sends as much as the server currently accepts.
    fn send(&mut self, socket: &Path) {
        for _ in 0..64 {
            match self.stream.write(&self.requests[self.sent..]) {
                Ok(bytes) => self.sent = (self.sent + bytes) % self.requests.len(),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    (self.stream, self.sent) = (Self::connect(socket, &self.export), 0);
                    return;
                }
            }
        }
    }
}

/// Returns requests of one of five kinds: long, longest and short reads, half a long write after reads, and writes.
fn requests(number: usize) -> Vec<u8> {
    let read = |length: u32| move |cookie: u64| request(READ, 0, cookie, cookie % 4 * u64::from(length), length, &[]);
    match number % 5 {
        0 => (0..2000).flat_map(read(1 << 20)).collect(),
        1 => (0..2000).flat_map(read(8 << 20)).collect(),
        2 => (0..2000).flat_map(read(4096)).collect(),
        3 => {
            let mut all: Vec<u8> = (0..20).flat_map(read(64 << 10)).collect();
            all.extend(&request(WRITE, 0, 1, 0, 8 << 20, &vec![1; 4 << 20]));
            // The other half is never sent; later requests are taken for it.
            all
        }
        _ => (0..64).flat_map(|cookie| request(WRITE, 0, cookie, cookie * 65536, 65536, &[7; 65536])).collect(),
    }
}

/// Returns the resident memory of a process, in bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

/// Returns the duration of the load: `FATHOM_TEST_SECS`, or 10 s.
fn duration() -> Duration {
    Duration::from_secs(std::env::var("FATHOM_TEST_SECS").map_or(10, |secs| secs.parse().expect("a number")))
}

/// On f52613e, 20 clients that never read took 5.1 GiB, and 60 took 15.4 GiB.
#[test]
fn clients_that_never_read_stay_within_the_limit() {
    let (place, scratch) = (Place::new(), Scratch::new());
    let (file, image) = (scratch.sparse("disk", 64 * MIB), scratch.sparse("image", 64 * MIB));
    let limit = 256;
    let mut server = place.serve(&format!(
        "--export file= --export pattern= --export memory= --export copy= --backing file=file:{file} \
         --backing pattern=pattern --backing copy=copy:{image} --size memory=1GiB --size pattern=64MiB --memory-limit {limit}MiB"
    ));
    let (socket, exports) = (place.path("s"), ["file", "pattern", "memory", "copy"]);
    let mut non_readers: Vec<NonReader> =
        (0..CLIENTS).map(|number| NonReader::new(&socket, exports[number / 5 % 4], number, requests(number))).collect();
    let (began, mut peak) = (Instant::now(), 0);
    while began.elapsed() < duration() {
        non_readers.iter_mut().for_each(|client| client.send(&socket));
        // Some disconnect and connect again.
        let leaving = (began.elapsed().as_millis() / 50) as usize % (2 * CLIENTS);
        if let Some(client) = non_readers.get_mut(leaving).filter(|client| client.number % 3 == 0) {
            *client = NonReader::new(&socket, exports[leaving % 4], leaving, requests(leaving + 1));
        }
        peak = peak.max(resident(server.pid()));
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("resident at most {:.1} MiB under a limit of {limit} MiB", peak as f64 / MIB as f64);
    assert!(peak > 0 && peak <= (limit + 64) * MIB, "{} MiB", peak / MIB);
    Client::connect(&socket, "pattern").read(0, 4096);
    drop(non_readers);
    server.signal("TERM");
    // The time limit of programs does not apply to a server with a long load.
    wait_for("the end of the server", || server.has_ended());
    server.end().expect_code(0);
}

/// Returns the reads per second of a client.
fn rate(socket: &Path, depth: u64, length: u32) -> f64 {
    let mut client = Client::connect(socket, "");
    (0..depth).for_each(|cookie| client.send(READ, 0, cookie, 0, length, &[]));
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_millis(700) {
        let (error, cookie) = client.reply();
        client.bytes(length as usize);
        assert_eq!(error, 0);
        client.send(READ, 0, cookie, (cookie % 16) << 20, length, &[]);
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

#[test]
fn a_client_keeps_its_throughput_next_to_a_hundred_that_never_read() {
    let (place, scratch) = (Place::new(), Scratch::new());
    let file = scratch.sparse("disk", 64 * MIB);
    let _server = place.serve(&format!("--backing file:{file} --memory-limit 256MiB"));
    let socket = place.path("s");
    for (depth, length) in [(16, 4096), (8, 256 << 10)] {
        timed("a_client_keeps_its_throughput_next_to_a_hundred_that_never_read", || {
            let alone = rate(&socket, depth, length);
            let mut non_readers: Vec<NonReader> = (0..CLIENTS)
                .map(|number| NonReader::new(&socket, "", number, requests(number % 5 / 4 * 5 + number % 4)))
                .collect();
            for _ in 0..20 {
                non_readers.iter_mut().for_each(|client| client.send(&socket));
                std::thread::sleep(Duration::from_millis(10));
            }
            let fraction = rate(&socket, depth, length) / alone;
            println!("{depth} reads of {length}: {fraction:.2} of the rate alone");
            let starved = || format!("{depth} reads of {length}: {fraction:.2} of the rate alone");
            if fraction < 0.9 { Err(starved()) } else { Ok(()) }
        });
    }
}

#[test]
fn connections_beyond_the_limit_are_refused_with_a_reason() {
    let place = Place::new();
    let server = place.serve("--size 1MiB --memory-limit 16MiB");
    let socket = place.path("s");
    let mut first = Client::connect(&socket, "");
    let silent: Vec<NonReader> = (0..40).map(|number| NonReader::new(&socket, "", number, vec![0])).collect();
    first.write(0, b"still served");
    let reason = "clients: --memory-limit allows 14 connections\n |\n = help: raise it, or connect fewer";
    wait_for("the reason", || server.messages_so_far().contains(reason));
    drop(silent);
    wait_for("a free connection", || place.stats().whole("exports/0/connected") <= 1);
    assert_eq!(Client::connect(&socket, "").read(0, 12), b"still served");
    stopped(server).expect_code(0);
}

/// On f52613e each export had its own limit.
#[test]
fn exports_share_the_limit() {
    require!(NbdPython);
    let place = Place::new();
    let _server = place.serve("--export a= --export b= --size 1GiB --memory-limit 32MiB");
    let script = format!(
        "o = nbd.NBD(); o.connect_uri('{}')\n\
         try:\n\x20   for at in range(512): h.pwrite(b'x' * 65536, at << 16); o.pwrite(b'x' * 65536, at << 16)\n\
         except nbd.Error as e: print(e.errno, 100 < at < 200)",
        place.uri("b")
    );
    assert_eq!(python(&place.uri("a"), &script), "ENOSPC True\n");
}

#[test]
fn too_little_memory_is_refused() {
    let said = run(&mut Place::new().command("--size 1MiB --memory-limit 1MiB")).expect_code(2).stderr;
    for part in ["--memory-limit=1MiB", "less than 16 MiB", "use 16MiB or more"] {
        assert!(said.contains(part), "`{part}` is missing from:\n{said}");
    }
}

fn many_exports(place: &Place, count: usize) -> Running {
    let exports: String = (0..count).map(|number| format!("--export disk{number}= ")).collect();
    place.serve(&format!("{exports} --size 1MiB --memory-limit 256MiB"))
}

/// f52613e closed the connection of `nbdinfo --list` with more than about a hundred exports.
#[test]
fn every_export_is_listed() {
    require!(NbdTools, NbdPython);
    for count in [1, 140, 1000] {
        let place = Place::new();
        let server = many_exports(&place, count);
        let list = Json::read(&tool("nbdinfo", &["--list", "--json", &place.uri("")]));
        assert_eq!(list.items("exports").len(), count);
        let last = list.items("exports").last().expect("one");
        assert_eq!(last.text("export-name"), format!("disk{}", count - 1));
        assert_eq!(last.whole("export-size"), MIB);
        let script = "o = nbd.NBD(); o.set_opt_mode(True); o.connect_unix(h.get_uri().split('socket=')[1])\n\
                      names = []; print(o.opt_list(lambda name, words: names.append(name)), names[-1])\n\
                      o.opt_abort()";
        assert_eq!(python(&place.uri("disk0"), script), format!("{count} disk{}\n", count - 1));
        let job = format!("run --name=a --rw=read --ioengine=nbd --uri={}", place.uri("none"));
        let said = run(&mut fathom(words(&job))).expect_code(2).stderr;
        assert!(said.contains("specify one of its exports: `disk0`"), "{said}");
        assert!(resident(server.pid()) < 128 * MIB, "{} MiB", resident(server.pid()) / MIB);
    }
}
