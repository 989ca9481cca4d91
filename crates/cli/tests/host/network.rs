//! The engines `net` and `netsplice` send to fio and receive from it. Only loopback and Unix sockets are used.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, fio, require, run, wait_for, words};

type Program = fn(Vec<String>) -> Command;

const OURS: Program = |words| fathom(["fio".to_owned()].into_iter().chain(words));

/// One job of a pair.
struct Finished {
    outcome: Outcome,
}

impl Finished {
    /// Returns reads, bytes read, writes, bytes written, short operations and the error.
    fn counts(&self) -> [u64; 6] {
        let json = Json::read_after_notes(&self.outcome.stdout);
        let job = &json.items("jobs")[0];
        let of = |path: &str| job.whole(path);
        [
            of("read/total_ios"),
            of("read/io_bytes"),
            of("write/total_ios"),
            of("write/io_bytes"),
            of("read/short_ios") + of("write/short_ios"),
            of("error"),
        ]
    }
}

fn begin(program: Program, line: &str) -> Finished {
    let scratch = Scratch::new();
    let command = format!("--output-format=json --bs=4k --size=16k {line}");
    Finished { outcome: run(program(words(&command)).current_dir(&scratch)) }
}

/// Runs a receiver and, once it waits at `place`, a sender.
fn pair(place: &str, receiver: (Program, &str), sender: (Program, &str)) -> [Finished; 2] {
    let (program, line) = (receiver.0, receiver.1.to_owned());
    let waiting = thread::spawn(move || begin(program, &line));
    wait_for("a receiver", || is_awaited(place) || waiting.is_finished());
    let sent = begin(sender.0, sender.1);
    [waiting.join().expect("the receiver ends"), sent]
}

/// Reports whether a socket is bound to this port or path, and listens there if it is of streams.
fn is_awaited(place: &str) -> bool {
    let Ok(port) = place.parse::<u16>() else {
        let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
        // The flag of a listening socket.
        return sockets.lines().any(|line| line.ends_with(place) && line.contains(" 00010000 "));
    };
    let bound = |(table, state): (&str, &str)| {
        let sockets = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        let is_bound = |line: &str| {
            let fields: Vec<_> = line.split_whitespace().collect();
            fields[1].ends_with(&format!(":{port:04X}")) && fields[3] == state
        };
        sockets.lines().skip(1).any(is_bound)
    };
    [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")].into_iter().any(bound)
}

/// Returns a port that is free now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

const RECEIVED: [u64; 6] = [4, 16384, 0, 0, 0, 0];
const SENT: [u64; 6] = [0, 0, 4, 16384, 0, 0];

/// Sends four blocks from Fathom to fio, and from fio to Fathom.
#[track_caller]
fn both_ways(both: &str, receiver: &str, sender: &str) {
    for (to, from) in [(OURS, fio as Program), (fio as Program, OURS)] {
        let port = free_port().to_string();
        let both = both.replace("PORT", &port);
        let ran = pair(
            &port,
            (to, &format!("--name=r --rw=read {both} {receiver}")),
            (from, &format!("--name=s --rw=write {both} {sender}")),
        );
        let [received, sent] = &ran;
        assert_eq!(received.counts(), RECEIVED, "{both} {receiver}\n{}", received.outcome.stderr);
        assert_eq!(sent.counts(), SENT, "{both} {sender}\n{}", sent.outcome.stderr);
    }
}

#[test]
fn tcp_is_that_of_fio() {
    require!(Fio);
    let to = "--hostname=127.0.0.1";
    both_ways("--ioengine=net --port=PORT", "--listen", to);
    both_ways("--ioengine=net --port=PORT --nodelay=1 --window_size=65536", "--listen", to);
    both_ways("--ioengine=net --port=PORT --pingpong", "--listen", to);
    both_ways("--ioengine=netsplice --port=PORT --proto=tcp", "--listen", to);
    both_ways("--ioengine=net --port=PORT --verify=crc32c", "--listen", to);
}

#[test]
fn tcp_of_ipv6_is_that_of_fio() {
    require!(Fio);
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    both_ways("--ioengine=net --port=PORT --protocol=tcpv6", "--listen", "--hostname=::1");
    both_ways("--ioengine=net --port=PORT --protocol=udpv6", "", "--hostname=::1");
}

#[test]
fn udp_is_that_of_fio() {
    require!(Fio);
    both_ways("--ioengine=net --port=PORT --protocol=udp", "", "--hostname=127.0.0.1");
    both_ways("--ioengine=netsplice --port=PORT --protocol=udp --pingpong", "", "--hostname=127.0.0.1");
    let group = "--ioengine=net --port=PORT --protocol=udp --hostname=239.7.7.7 --interface=127.0.0.1";
    both_ways(group, "", "--ttl=1");
}

/// fio 3.33 counts a block that arrives in two parts wrongly, so that only its sender is used.
#[test]
fn small_segments_make_no_short_reads() {
    require!(Fio);
    for from in [OURS, fio as Program] {
        let port = free_port();
        let both = format!("--ioengine=net --port={port} --mss=1000");
        let ran = pair(
            &port.to_string(),
            (OURS, &format!("--name=r --rw=read {both} --listen")),
            (from, &format!("--name=s --rw=write {both} --hostname=127.0.0.1")),
        );
        assert_eq!([ran[0].counts(), ran[1].counts()], [RECEIVED, SENT], "{}", ran[0].outcome.stderr);
    }
}

/// fio fails after everything was transferred, because it sends the end to an address that the socket does not have.
#[test]
fn unix_sockets_are_those_of_fio() {
    require!(Fio);
    for (to, from) in [(OURS, fio as Program), (fio as Program, OURS)] {
        let scratch = Scratch::new();
        let place = scratch.path("socket").display().to_string();
        let both = format!("--ioengine=net --protocol=unix --hostname={place}");
        let ran =
            pair(&place, (to, &format!("--name=r --rw=read {both}")), (from, &format!("--name=s --rw=write {both}")));
        assert_eq!(ran[0].counts()[..5], RECEIVED[..5], "{}", ran[0].outcome.stderr);
        assert_eq!(ran[1].counts()[..5], SENT[..5], "{}", ran[1].outcome.stderr);
    }
    // A name that is no socket stays.
    let scratch = Scratch::new();
    scratch.write("socket", b"data");
    let line =
        format!("--name=r --rw=read --ioengine=net --protocol=unix --hostname={}", scratch.path("socket").display());
    let refused = begin(OURS, &line);
    assert!(refused.outcome.stderr.contains("this one is in use"), "{}", refused.outcome.stderr);
    assert_eq!(scratch.read("socket"), "data");
}

#[test]
fn a_receiver_ends_with_its_sender() {
    require!(Fio);
    for (to, from) in [(OURS, fio as Program), (fio as Program, OURS)] {
        let port = free_port();
        let ran = pair(
            &port.to_string(),
            (to, &format!("--name=r --rw=read --ioengine=net --port={port} --listen --size=64k")),
            (from, &format!("--name=s --rw=write --ioengine=net --port={port} --hostname=127.0.0.1")),
        );
        assert_eq!([ran[0].counts(), ran[1].counts()], [RECEIVED, SENT], "{}", ran[0].outcome.stderr);
    }
}

#[test]
fn both_ends_may_be_jobs_of_one_run() {
    let port = free_port();
    let job = |name: &str, rest: &str| format!("--name={name} --ioengine=net --port={port} --bs=1k --size=64k {rest}");
    let (receiver, sender) = (job("r", "--rw=read --listen"), job("s", "--rw=write --hostname=localhost"));
    let outcome = run(&mut fathom(words(&format!("fio --output-format=json {sender} {receiver}"))));
    let json = Json::read_after_notes(&outcome.stdout);
    let jobs = json.items("jobs");
    assert_eq!((jobs[0].whole("write/total_ios"), jobs[1].whole("read/total_ios")), (64, 64), "{}", outcome.stderr);
}

#[test]
fn rates_are_in_bits_as_in_fio() {
    require!(Fio);
    for (to, from) in [(OURS, fio as Program), (fio as Program, OURS)] {
        let port = free_port();
        let both = format!("--ioengine=net --port={port} --output-format=normal");
        let ran = pair(
            &port.to_string(),
            (to, &format!("{both} --name=r --rw=read --listen")),
            (from, &format!("{both} --name=s --rw=write --hostname=127.0.0.1")),
        );
        for one in &ran {
            let rate = one.outcome.stdout.lines().find(|line| line.contains("BW=")).expect("a rate");
            assert!(rate.contains("bit/s ("), "{rate}");
        }
    }
}

/// A signal that came while a job waited for its peer was an error of the job.
#[test]
fn a_wait_for_a_peer_can_be_interrupted() {
    let port = free_port();
    let scratch = Scratch::new();
    let line = format!("fio --name=r --rw=read --ioengine=net --listen --port={port} --size=4k --output-format=json");
    let mut command = fathom(words(&line));
    let child = command.current_dir(&scratch).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a receiver", || is_awaited(&port.to_string()));
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&ended.stdout);
    let json = Json::read_after_notes(&text);
    let job = &json.items("jobs")[0];
    assert_eq!((job.whole("error"), job.whole("read/total_ios")), (0, 0), "{text}");
}

/// Connects to a receiver as soon as it listens.
fn connected(port: u16) -> TcpStream {
    let mut stream = None;
    wait_for("a listener", || {
        stream = TcpStream::connect(("127.0.0.1", port)).ok();
        stream.is_some()
    });
    stream.expect("it was waited for")
}

/// Sends these bytes to a receiver.
fn receive(port: u16, line: &str, bytes: &[u8]) -> Finished {
    let line = format!("--name=r --rw=read --ioengine=net --listen --port={port} {line}");
    let waiting = thread::spawn(move || begin(OURS, &line));
    connected(port).write_all(bytes).unwrap();
    waiting.join().unwrap()
}

#[test]
fn received_blocks_are_verified() {
    let damaged = receive(free_port(), "--verify=crc32c", &[7; 16384]);
    assert_eq!(damaged.counts()[5], 84, "EILSEQ: {}", damaged.outcome.stdout);
}

#[test]
fn a_connection_that_breaks_is_an_error() {
    let broken = receive(free_port(), "", &[7; 4096]);
    assert_eq!((broken.counts()[0], broken.counts()[5]), (1, 104), "ECONNRESET: {}", broken.outcome.stdout);
}

#[test]
fn listening_to_any_host_is_permitted_or_warned_of() {
    let line =
        format!("--name=a --ioengine=net --rw=read --listen --port={} --bs=4k --size=4k --runtime=1", free_port());
    let warning = "listens on all addresses of this host";
    let refused = run(&mut fathom(words(&format!("run {line}")))).expect_code(2);
    assert!(refused.stderr.contains(warning), "{}", refused.stderr);
    let permitted = run(&mut fathom(words(&format!("run {line} --insecure")))).expect_code(3);
    assert!(permitted.stderr.contains("cannot wait for a peer at port"), "{}", permitted.stderr);
    let warned = begin(OURS, &line).outcome.expect_code(1);
    assert!(warned.stderr.contains(&format!("fio: warning: job a {warning}")), "{}", warned.stderr);
}

/// fio waits for its peer for ever, whatever the runtime.
#[test]
fn a_receiver_without_data_ends_with_its_runtime() {
    let port = free_port();
    let line = format!("--name=r --rw=read --ioengine=net --listen --port={port} --runtime=1 --time_based");
    let waiting = thread::spawn(move || begin(OURS, &line));
    let stream = connected(port);
    let idle = waiting.join().unwrap();
    drop(stream);
    assert_eq!(idle.counts(), [0; 6], "{}", idle.outcome.stderr);
}

#[test]
fn impossible_connections_are_refused_as_in_fio() {
    require!(Fio);
    let lines = [
        "--rw=randwrite --hostname=127.0.0.1 --port=9",
        "--rw=rw --protocol=udp --hostname=127.0.0.1 --port=9",
        "--rw=read --protocol=udp --listen --port=9",
        "--rw=read --protocol=unix --filename=x --port=9",
        "--rw=read --listen",
        "--rw=read --listen --hostname=127.0.0.1 --port=9",
        "--rw=write --port=9",
    ];
    for line in lines {
        let line = format!("--name=a --ioengine=net {line}");
        let [ours, theirs] = [OURS, fio as Program].map(|program| begin(program, &line).outcome);
        assert_eq!(theirs.code(), Some(1), "{line}: {}", theirs.stdout);
        assert_eq!(ours.code(), Some(1), "{line}: {}", ours.stdout);
        assert!(ours.stderr.contains("help: "), "{}", ours.stderr);
    }
}

/// Hosts have names, and contexts have numbers.
#[test]
fn the_host_of_vsock_is_a_number() {
    for (host, is_refused) in [("localhost", true), ("-1", true), ("4294967296", true), ("2", false)] {
        let line =
            format!("fio --name=a --ioengine=net --protocol=vsock --port=9 --rw=write --hostname={host} --parse-only");
        let outcome = run(&mut fathom(words(&line)));
        assert_eq!(
            outcome.stderr.contains("is not a context ID (CID), which is a number"),
            is_refused,
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.code() == Some(0), !is_refused, "{line}: {}", outcome.stderr);
    }
}
