//! `ioengine=nbd` against servers that are slow, endless or nonsensical: each ends with an error that names the address,
//! the reason and the remedy, in a bounded time and with little memory.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use common::{Outcome, Running, fathom, words};

/// The handshake may take 10 s, reading what an export holds 30 s.
const TIME_MOST: Duration = Duration::from_secs(45);
const MEMORY_MOST: u64 = 64 << 20;

const GO: u32 = 7;
const LIST: u32 = 3;
const STRUCTURED: u32 = 8;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    /// Says nothing at all.
    Silent,
    /// Sends one byte a second of its greeting and all that follows.
    Slow,
    /// Sends without end instead of the replies to an option.
    Endless(u32, &'static [u8]),
    /// Says that the reply to `NBD_OPT_GO` has so many bytes.
    Length(u32),
    /// The size of the export.
    Size(u64),
    /// Least, preferred and largest block.
    Blocks([u32; 3]),
    /// Closes after so many bytes of all that it says.
    Closes(usize),
    /// Answers reads with this, again and again; `COOKIE` and `OFFSET` are filled in.
    Answers(&'static [u8]),
    /// Answers reads with one byte a second.
    Drips,
    /// Never answers a request.
    Mute,
}

/// A connection of such a server.
struct Talk {
    stream: TcpStream,
    wrong: Wrong,
    said: usize,
}

impl Talk {
    fn say(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.wrong == Wrong::Slow {
            for byte in bytes {
                std::thread::sleep(Duration::from_secs(1));
                self.stream.write_all(&[*byte])?;
            }
            return Ok(());
        }
        if let Wrong::Closes(most) = self.wrong
            && self.said + bytes.len() > most
        {
            self.stream.write_all(&bytes[..most - self.said])?;
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.said += bytes.len();
        self.stream.write_all(bytes)
    }

    fn hear(&mut self, bytes: usize) -> std::io::Result<Vec<u8>> {
        let mut heard = vec![0; bytes];
        self.stream.read_exact(&mut heard).map(|()| heard)
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) -> std::io::Result<()> {
        self.say(&reply(option, kind, data))
    }

    fn serve(mut self) -> std::io::Result<()> {
        if self.wrong == Wrong::Silent {
            return self.stream.read_to_end(&mut Vec::new()).map(drop);
        }
        self.say(b"NBDMAGICIHAVEOPT\0\x03")?;
        self.hear(4)?;
        while !self.option()? {}
        while self.request()? {}
        Ok(())
    }

    /// Answers an option; whether that was the last one.
    fn option(&mut self) -> std::io::Result<bool> {
        let head = self.hear(16)?;
        let (option, length) = (number(&head[8..12]), number(&head[12..]));
        self.hear(length as usize)?;
        match self.wrong {
            Wrong::Endless(at, bytes) if at == option => loop {
                self.stream.write_all(&bytes.repeat(1000))?;
            },
            // Only who finds no export asks for the list of them.
            Wrong::Endless(LIST, _) if option == GO => {
                self.reply(option, 0x8000_0006, &[])?;
                return Ok(false);
            }
            Wrong::Length(length) if option == GO => {
                let mut head = reply(option, 3, &[]);
                head[16..20].copy_from_slice(&length.to_be_bytes());
                self.say(&head)?;
                loop {
                    self.say(&[0; 4096])?;
                }
            }
            _ => {}
        }
        match option {
            GO => {
                let size = if let Wrong::Size(size) = self.wrong { size } else { 16 << 20 };
                self.reply(option, 3, &[&[0, 0][..], &size.to_be_bytes(), &[0, 5]].concat())?;
                if let Wrong::Blocks(blocks) = self.wrong {
                    let blocks = blocks.map(u32::to_be_bytes);
                    self.reply(option, 3, &[&[0, 3][..], blocks.as_flattened()].concat())?;
                }
                self.reply(option, 1, &[])?;
                Ok(true)
            }
            STRUCTURED => self.reply(option, 1, &[]).map(|()| false),
            _ => self.reply(option, 0x8000_0001, &[]).map(|()| false),
        }
    }

    /// Answers a request; whether another may follow.
    fn request(&mut self) -> std::io::Result<bool> {
        let head = self.hear(28)?;
        let (command, cookie, offset, length) = (head[7], &head[8..16], &head[16..24], number(&head[24..]));
        match (command, self.wrong) {
            (1, _) => {
                self.hear(length as usize)?;
                self.say(&[&b"\x67\x44\x66\x98\0\0\0\0"[..], cookie].concat())?;
            }
            (2, _) => return Ok(false),
            (0, Wrong::Answers(pattern)) => {
                let answer = filled(pattern, cookie, offset);
                loop {
                    self.stream.write_all(&answer.repeat(100))?;
                }
            }
            (0, Wrong::Drips | Wrong::Mute) => {
                while self.wrong == Wrong::Drips {
                    std::thread::sleep(Duration::from_secs(1));
                    self.stream.write_all(b"\x66")?;
                }
                self.stream.read_to_end(&mut Vec::new())?;
            }
            _ => {
                let chunk = [&b"\x66\x8e\x33\xef\0\x01\0\x01"[..], cookie, &(length + 8).to_be_bytes(), offset];
                self.say(&chunk.concat())?;
                self.say(&vec![0; length as usize])?;
            }
        }
        Ok(true)
    }
}

/// A pattern with what it leaves open.
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

/// Starts such a server; its address.
fn serve(wrong: Wrong) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || Talk { stream, wrong, said: 0 }.serve());
        }
    });
    format!("nbd://{address}/disk")
}

/// Runs a job to its end; the most memory that it had, in bytes.
fn measured(uri: &str, line: &str) -> (Outcome, u64) {
    let all = format!("run --name=a --ioengine=nbd --uri={uri} --bs=4k --iodepth=4 --progress=off {line}");
    let mut program = Running::start(fathom(words(&all)).stdin(std::process::Stdio::null()));
    let (began, mut most) = (Instant::now(), 0);
    while !program.has_ended() && began.elapsed() < TIME_MOST + Duration::from_secs(10) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or_default() << 10);
        std::thread::sleep(Duration::from_millis(5));
    }
    (program.end(), most)
}

#[track_caller]
fn fails(wrong: Wrong, line: &str, code: i32, parts: &[&str]) {
    let uri = serve(wrong);
    let (outcome, memory) = measured(&uri, line);
    let outcome = outcome.expect_code(code);
    for part in parts.iter().chain([&uri.as_str()]) {
        assert!(outcome.stderr.contains(part), "{wrong:?}: `{part}` is missing from {}", outcome.stderr);
    }
    assert!(outcome.took < TIME_MOST, "{wrong:?}: {:?}", outcome.took);
    assert!(memory < MEMORY_MOST, "{wrong:?}: {} MiB", memory >> 20);
}

/// `NBD_REP_INFO` with words, `NBD_REP_SERVER` with a name, and an error that is longer than any.
const INFO: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x07\0\0\0\x03\0\0\0\x06\0\x02word";
const SERVER: &[u8] = b"\0\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\x03\0\0\0\x02\0\0\0\x08\0\0\0\x04name";
const READ: &str = "--rw=randread --size=1m";

#[test]
fn handshakes_that_go_wrong_end_with_the_address_and_a_remedy() {
    let broken = ["the server breaks the protocol", "use a newer or another server"];
    let cases = [
        (Wrong::Endless(GO, INFO), &["the replies to one option do not end", broken[1]][..]),
        (Wrong::Endless(LIST, SERVER), &["has no such export"]),
        (Wrong::Endless(STRUCTURED, b"\xff"), &broken),
        (Wrong::Length(u32::MAX), &["a reply to an option is longer than the longest strings", broken[1]]),
        (Wrong::Length(4096), &broken),
        (Wrong::Size(u64::MAX), &["its size is beyond 2^63 - 1 bytes", broken[1]]),
        (Wrong::Size(1 << 63), &["its size is beyond 2^63 - 1 bytes"]),
        (Wrong::Size(0), &["is empty"]),
        (Wrong::Blocks([0, 0, 0]), &["its block sizes contradict each other"]),
        (Wrong::Blocks([u32::MAX; 3]), &["its block sizes contradict each other"]),
        (Wrong::Blocks([4096, 512, 512]), &["its block sizes contradict each other"]),
        (Wrong::Blocks([1 << 16, 1 << 16, 1 << 16]), &["takes multiples of 65536 bytes"]),
    ];
    for (wrong, parts) in cases {
        let line = if wrong == Wrong::Size(0) { "--rw=randread" } else { READ };
        fails(wrong, line, 2, parts);
    }
}

#[test]
fn a_connection_may_be_closed_at_every_byte() {
    // What a good server says until the first request: greeting, three replies.
    let whole = 18 + 20 + 32 + 20;
    for bytes in 0..whole {
        fails(
            Wrong::Closes(bytes),
            READ,
            2,
            &["the server closed the connection during the handshake", "see the server's log"],
        );
    }
    fails(Wrong::Closes(whole + 100), READ, 3, &["check that the server still runs"]);
}

#[test]
fn silent_and_slow_handshakes_end_after_ten_seconds_in_all() {
    std::thread::scope(|scope| {
        for wrong in [Wrong::Silent, Wrong::Slow] {
            scope.spawn(move || fails(wrong, READ, 2, &["does not go on with the handshake"]));
        }
    });
}

/// f52613e read on for ever where chunks did not end.
#[test]
fn replies_that_make_no_sense_end_the_job() {
    let byte = b"\x66\x8e\x33\xef\0\0\0\x01__COOKIE\0\0\0\x09__OFFSETx".as_slice();
    let hole = b"\x66\x8e\x33\xef\0\0\0\x02__COOKIE\0\0\0\x0c__OFFSET\0\0\0\x01";
    let error = b"\x66\x8e\x33\xef\0\0\x80\x01__COOKIE\0\0\0\x08\0\0\0\x05\0\x02no";
    let huge = b"\x66\x8e\x33\xef\0\0\x80\x01__COOKIE\xff\xff\xff\xff\0\0\0\x05\xff\xff";
    let stranger = b"\x67\x44\x66\x98\0\0\0\0whatever";
    let unknown = b"\x66\x8e\x33\xef\0\0\x00\x77__COOKIE\0\0\0\0";
    let long = b"\x66\x8e\x33\xef\0\0\0\x01__COOKIE\x7f\xff\xff\xff__OFFSET";
    for answer in [byte, hole, error, huge, stranger, unknown, long] {
        fails(Wrong::Answers(answer), READ, 3, &["this one violated the protocol, and the connection was closed"]);
    }
}

/// What an export holds is read before it is written: f52613e let each read take ten seconds.
#[test]
fn an_export_that_cannot_be_read_is_not_written() {
    std::thread::scope(|scope| {
        for wrong in [Wrong::Mute, Wrong::Drips] {
            scope.spawn(move || fails(wrong, "--rw=randwrite --size=1m", 2, &["cannot read", "see the server's log"]));
        }
    });
}

#[test]
fn a_good_server_is_measured() {
    let (outcome, _) = measured(&serve(Wrong::Nothing), "--rw=randrw --size=1m");
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
}
