//! `ioengine=nbd` against slow, endless and invalid servers: each run fails with the address, the reason and the
//! remedy, and ends by itself with little memory.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::host::{timed, within};
use crate::common::{Outcome, Running, TIME_LIMIT, fathom, words};

/// Reading the data of an export may take 30 s.
const READ_MAX: Duration = Duration::from_secs(45);
const MEMORY_MAX: u64 = 64 << 20;

const GO: u32 = 7;
const LIST: u32 = 3;
const STRUCTURED: u32 = 8;

/// Faults of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Sends nothing.
    Silent,
    /// Sends one byte per second.
    Slow,
    /// Replies to an option without end.
    Endless(u32, &'static [u8]),
    /// Declares this length of the reply to `NBD_OPT_GO`.
    Length(u32),
    /// Declares this size of the export.
    Size(u64),
    /// Declares these minimum, preferred and maximum block sizes.
    Blocks([u32; 3]),
    /// Closes the connection after this many bytes.
    Closes(usize),
    /// Replies to reads with these bytes repeatedly; `__COOKIE` and `__OFFSET` are filled in.
    Answers(&'static [u8]),
    /// Replies to reads with one byte per second.
    Drips,
    /// Never replies to a request.
    Mute,
}

/// A connection to a faulty server.
struct FaultyConnection {
    stream: TcpStream,
    fault: Fault,
    sent: usize,
    /// Whether the client has asked for structured replies.
    structured: bool,
}

impl FaultyConnection {
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.fault == Fault::Slow {
            for byte in bytes {
                std::thread::sleep(Duration::from_secs(1));
                self.stream.write_all(&[*byte])?;
            }
            return Ok(());
        }
        if let Fault::Closes(limit) = self.fault
            && self.sent + bytes.len() > limit
        {
            self.stream.write_all(&bytes[..limit - self.sent])?;
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.sent += bytes.len();
        self.stream.write_all(bytes)
    }

    fn receive(&mut self, bytes: usize) -> std::io::Result<Vec<u8>> {
        let mut received = vec![0; bytes];
        self.stream.read_exact(&mut received).map(|()| received)
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) -> std::io::Result<()> {
        self.send(&reply(option, kind, data))
    }

    fn serve(mut self) -> std::io::Result<()> {
        if self.fault == Fault::Silent {
            return self.stream.read_to_end(&mut Vec::new()).map(drop);
        }
        self.send(b"NBDMAGICIHAVEOPT\0\x03")?;
        self.receive(4)?;
        while !self.option()? {}
        while self.request()? {}
        Ok(())
    }

    /// Replies to an option. Returns whether it was the last one.
    fn option(&mut self) -> std::io::Result<bool> {
        let head = self.receive(16)?;
        let (option, length) = (number(&head[8..12]), number(&head[12..]));
        self.receive(length as usize)?;
        match self.fault {
            Fault::Endless(at, bytes) if at == option => loop {
                self.stream.write_all(&bytes.repeat(1000))?;
            },
            // A client requests the list only if the export is not found.
            Fault::Endless(LIST, _) if option == GO => {
                self.reply(option, 0x8000_0006, &[])?;
                return Ok(false);
            }
            Fault::Length(length) if option == GO => {
                let mut head = reply(option, 3, &[]);
                head[16..20].copy_from_slice(&length.to_be_bytes());
                self.send(&head)?;
                loop {
                    self.send(&[0; 4096])?;
                }
            }
            _ => {}
        }
        match option {
            GO => {
                let size = if let Fault::Size(size) = self.fault { size } else { 16 << 20 };
                self.reply(option, 3, &[&[0, 0][..], &size.to_be_bytes(), &[0, 5]].concat())?;
                if let Fault::Blocks(blocks) = self.fault {
                    let blocks = blocks.map(u32::to_be_bytes);
                    self.reply(option, 3, &[&[0, 3][..], blocks.as_flattened()].concat())?;
                }
                self.reply(option, 1, &[])?;
                Ok(true)
            }
            STRUCTURED => {
                self.structured = true;
                self.reply(option, 1, &[]).map(|()| false)
            }
            _ => self.reply(option, 0x8000_0001, &[]).map(|()| false),
        }
    }

    /// Replies to a request. Returns whether another may follow.
    fn request(&mut self) -> std::io::Result<bool> {
        let head = self.receive(28)?;
        let (command, cookie, offset, length) = (head[7], &head[8..16], &head[16..24], number(&head[24..]));
        match (command, self.fault) {
            (1, _) => {
                self.receive(length as usize)?;
                self.send(&[&b"\x67\x44\x66\x98\0\0\0\0"[..], cookie].concat())?;
            }
            (2, _) => return Ok(false),
            (0, Fault::Answers(pattern)) => {
                let answer = filled(pattern, cookie, offset);
                loop {
                    self.stream.write_all(&answer.repeat(100))?;
                }
            }
            (0, Fault::Drips | Fault::Mute) => {
                while self.fault == Fault::Drips {
                    std::thread::sleep(Duration::from_secs(1));
                    self.stream.write_all(b"\x66")?;
                }
                self.stream.read_to_end(&mut Vec::new())?;
            }
            _ if !self.structured => {
                self.send(&[&b"\x67\x44\x66\x98\0\0\0\0"[..], cookie].concat())?;
                self.send(&vec![0; length as usize])?;
            }
            _ => {
                let chunk = [&b"\x66\x8e\x33\xef\0\x01\0\x01"[..], cookie, &(length + 8).to_be_bytes(), offset];
                self.send(&chunk.concat())?;
                self.send(&vec![0; length as usize])?;
            }
        }
        Ok(true)
    }
}

/// Fills cookie and offset into a pattern.
fn filled(pattern: &[u8], cookie: &[u8], offset: &[u8]) -> Vec<u8> {
    let mut answer = pattern.to_vec();
    for (name, value) in [(b"__COOKIE", cookie), (b"__OFFSET", offset)] {
        if let Some(at) = answer.windows(8).position(|part| part == name) {
            answer[at..at + 8].copy_from_slice(value);
        }
    }
    answer
}

fn reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let numbers = [option, kind, data.len() as u32].map(u32::to_be_bytes);
    [&0x0003_e889_0455_65a9_u64.to_be_bytes()[..], numbers.as_flattened(), data].concat()
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}

/// Starts a faulty server and returns its address.
fn serve(fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || FaultyConnection { stream, fault, sent: 0, structured: false }.serve());
        }
    });
    format!("nbd://{address}/disk")
}

/// Runs a job to its end. Returns its peak memory, in bytes.
fn measured(uri: &str, line: &str) -> (Outcome, u64) {
    let all = format!("run --name=a --ioengine=nbd --uri={uri} --bs=4k --iodepth=4 --progress=off {line}");
    let mut program = Running::start(&mut fathom(words(&all)));
    let (began, mut peak) = (Instant::now(), 0);
    while !program.has_ended() && began.elapsed() < TIME_LIMIT {
        let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or_default() << 10);
        std::thread::sleep(Duration::from_millis(5));
    }
    (program.end(), peak)
}

#[track_caller]
fn fails(fault: Fault, line: &str, code: i32, parts: &[&str]) -> Outcome {
    let uri = serve(fault);
    let (outcome, memory) = measured(&uri, line);
    let outcome = outcome.expect_code(code);
    for part in parts.iter().chain([&uri.as_str()]) {
        assert!(outcome.stderr.contains(part), "{fault:?}: `{part}` is missing from {}", outcome.stderr);
    }
    assert!(memory < MEMORY_MAX, "{fault:?}: {} MiB", memory >> 20);
    outcome
}

/// `NBD_REP_INFO` with a description, and `NBD_REP_SERVER` with a name.
const INFO: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x07\0\0\0\x03\0\0\0\x06\0\x02word";
const SERVER: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x03\0\0\0\x02\0\0\0\x08\0\0\0\x04name";
const READ: &str = "--rw=randread --size=1m";

#[test]
fn invalid_handshakes_fail_with_address_and_remedy() {
    let broken = ["the server violates the protocol", "use a newer or different server"];
    let cases = [
        (Fault::Endless(GO, INFO), &["too many replies to one option", broken[1]][..]),
        (Fault::Endless(LIST, SERVER), &["has no such export"]),
        (Fault::Endless(STRUCTURED, b"\xff"), &broken),
        (Fault::Length(u32::MAX), &["an option reply is too long", broken[1]]),
        (Fault::Length(4096), &broken),
        (Fault::Size(u64::MAX), &["the export is larger than 2^63 - 1 bytes", broken[1]]),
        (Fault::Size(1 << 63), &["the export is larger than 2^63 - 1 bytes"]),
        (Fault::Size(0), &["is empty"]),
        (Fault::Blocks([0, 0, 0]), &["its block sizes are inconsistent"]),
        (Fault::Blocks([u32::MAX; 3]), &["its block sizes are inconsistent"]),
        (Fault::Blocks([4096, 512, 512]), &["its block sizes are inconsistent"]),
        (Fault::Blocks([1 << 16, 1 << 16, 1 << 16]), &["accepts multiples of 65536 bytes"]),
    ];
    for (fault, parts) in cases {
        let line = if fault == Fault::Size(0) { "--rw=randread" } else { READ };
        fails(fault, line, 2, parts);
    }
}

#[test]
fn a_connection_may_be_closed_in_every_part() {
    // A valid server sends this until the first request: greeting and three replies.
    let handshake = 18 + 20 + 32 + 20;
    for bytes in [0, 17, 18, 38, 70, handshake - 1] {
        fails(
            Fault::Closes(bytes),
            READ,
            2,
            &["the server closed the connection during the handshake", "see the server log"],
        );
    }
    fails(Fault::Closes(handshake + 100), READ, 3, &["check that the server is running"]);
}

#[test]
fn silent_and_slow_handshakes_end_after_ten_seconds() {
    std::thread::scope(|scope| {
        for fault in [Fault::Silent, Fault::Slow] {
            scope.spawn(move || fails(fault, READ, 2, &["did not complete the handshake"]));
        }
    });
}

#[test]
fn a_job_ends_with_its_runtime_although_the_server_never_answers() {
    fails(Fault::Mute, &format!("{READ} --runtime=1 --grace=1s"), 3, &["has not completed after"]);
}

/// f52613e read endless chunks forever.
#[test]
fn invalid_replies_end_the_job() {
    let byte = b"\x66\x8e\x33\xef\0\0\0\x01__COOKIE\0\0\0\x09__OFFSETx".as_slice();
    let hole = b"\x66\x8e\x33\xef\0\0\0\x02__COOKIE\0\0\0\x0c__OFFSET\0\0\0\x01";
    let error = b"\x66\x8e\x33\xef\0\0\x80\x01__COOKIE\0\0\0\x08\0\0\0\x05\0\x02no";
    let huge = b"\x66\x8e\x33\xef\0\0\x80\x01__COOKIE\xff\xff\xff\xff\0\0\0\x05\xff\xff";
    let stranger = b"\x67\x44\x66\x98\0\0\0\0whatever";
    let unknown = b"\x66\x8e\x33\xef\0\0\x00\x77__COOKIE\0\0\0\0";
    let long = b"\x66\x8e\x33\xef\0\0\0\x01__COOKIE\x7f\xff\xff\xff__OFFSET";
    for answer in [byte, hole, error, huge, stranger, unknown, long] {
        fails(Fault::Answers(answer), READ, 3, &["this one violated the protocol, and the connection was closed"]);
    }
}

/// The data of an export is read before it is written; with f52613e each read could take ten seconds.
#[test]
fn an_export_that_cannot_be_read_is_not_written() {
    std::thread::scope(|scope| {
        for fault in [Fault::Mute, Fault::Drips] {
            scope.spawn(move || {
                timed("hostile_servers::an_export_that_cannot_be_read_is_not_written", || {
                    let parts = ["cannot read", "see the server log"];
                    within(fails(fault, "--rw=randwrite --size=1m", 2, &parts).took, READ_MAX)
                });
            });
        }
    });
}

#[test]
fn a_valid_server_is_measured() {
    let (outcome, _) = measured(&serve(Fault::None), "--rw=randrw --size=1m");
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
}
